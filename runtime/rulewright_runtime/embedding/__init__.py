"""Texts as vectors, whose directions are alike where the texts mean about the same: from local files alone."""
