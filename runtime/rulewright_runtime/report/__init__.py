"""Reports: the results of a run as JSON data, as Markdown and as text for a terminal."""
