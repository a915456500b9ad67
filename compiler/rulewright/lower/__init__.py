"""Lowering: documents become the parts of a plan."""
