"""Test cases: the engine's output for each is scored by metrics, labelled by a table and reported as a batch."""
