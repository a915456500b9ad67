"""A finished run as one page: models and checks side by side, contrast sets, and the quotes behind every failure."""
