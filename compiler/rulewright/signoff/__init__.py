"""The page for pending decisions, served to this machine only."""
