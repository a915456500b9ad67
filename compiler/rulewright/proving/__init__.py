"""Proofs about documents for every input, before anything runs."""
