"""Reports: what a run found, as JSON data, as Markdown and as a table for people."""
