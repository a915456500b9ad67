"""Rules of the category `suspicious`: it is allowed, but most likely a mistake."""
