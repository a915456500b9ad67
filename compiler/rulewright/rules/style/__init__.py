"""Rules of the category `style`: it works, but there is a clearer way to write it."""
