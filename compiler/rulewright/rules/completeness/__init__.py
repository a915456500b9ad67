"""Rules of the category `completeness`: something is missing or unused."""
