"""Transcripts: reading conversations, detecting missing parts, and selecting the turns that a check judges."""
