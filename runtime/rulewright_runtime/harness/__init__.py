"""The harness: scenarios played against a model, turn by turn, so that there are transcripts to judge."""
