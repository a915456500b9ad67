"""Workflows: tasks as finite state machines, with scoring, a policy gate, pairs, reviews and human sign-off."""
