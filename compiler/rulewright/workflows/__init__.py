"""Workflows with what surrounds them: loaded, mended, drawn, and how they run here."""
