"""Judging: the prompts, replies, quotes and votes of checks that a live or recorded judge decides."""
