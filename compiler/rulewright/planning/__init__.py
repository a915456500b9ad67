"""What a run would do and cost, before anything runs."""
