"""Inputs that show what a proof claims: made of what conditions hold, and executed."""
