"""The harness plays scenarios against a model, turn by turn, and records the transcripts."""
