"""Stands in for an agent that writes release notes."""

import json
import sys
from pathlib import Path

NOTES = """# Discounts

## What is new

Orders of 100 or more cost 10 % less, members pay 5 % less, and negative amounts are refused.

## How to go back

Install the version before; no data changes.
"""


def main() -> None:
    """Read the brief, write the notes, answer."""
    json.load(sys.stdin)
    Path("release-notes.md").write_text(NOTES, encoding="utf-8")
    print(json.dumps({"summary": "release notes written"}))


if __name__ == "__main__":
    main()
