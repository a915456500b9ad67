"""The small runtime: executes a compiled plan; knows no YAML, no grammar and no schema."""
