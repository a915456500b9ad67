"""Matching: finds lexicons, patterns and phrases in a text, ignoring the differences of folding."""
