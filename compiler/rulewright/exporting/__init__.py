"""A finished run as others read it: flat records, Parquet, events of OpenTelemetry, reports of Every Eval Ever."""
