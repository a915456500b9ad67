"""Files: read within limits, written whole or not at all, locked, and databases in files."""
