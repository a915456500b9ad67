"""Proofs: what can be said about documents for every input, before anything runs."""
