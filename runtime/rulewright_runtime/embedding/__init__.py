"""Embeddings: texts as vectors with similar directions for similar meanings, from local files only."""
