"""`python -m rulewright` is the `rulewright` command."""

from __future__ import annotations

import sys

from rulewright.cli import main

if __name__ == "__main__":
    sys.exit(main())
