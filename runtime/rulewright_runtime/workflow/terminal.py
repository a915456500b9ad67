"""Text of agents and people on a terminal: nothing in it moves the cursor or passes for a line of ours."""

from __future__ import annotations


def one_line(text: str) -> str:
    """`text` in one line; line breaks, escape codes and what else does not print become spaces."""
    return "".join(char if char.isprintable() else " " for char in text)
