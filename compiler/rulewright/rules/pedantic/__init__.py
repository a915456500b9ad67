"""Rules of the category `pedantic`: correct, but rarely worth a change."""
