"""Exports of finished runs: flat records, Parquet, OpenTelemetry events, Every Eval Ever reports."""
