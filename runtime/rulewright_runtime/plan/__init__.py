"""The plan of a scan: its parts, its file format, and its validation."""
