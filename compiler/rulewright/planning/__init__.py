"""Plans of runs and their cost, before anything runs."""
