"""The findings that are causes: consequences of another finding are removed or become its notes."""
