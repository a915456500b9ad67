"""Rules of the category `correctness`: the document is refused, or does not mean what it says."""
