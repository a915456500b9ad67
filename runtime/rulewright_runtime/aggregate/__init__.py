"""Aggregation: turns the verdicts of a transcript into gates, scores and an outcome."""
