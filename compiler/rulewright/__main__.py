"""`python -m rulewright` is the `rulewright` command."""

import sys

from rulewright.cli import main

if __name__ == "__main__":
    sys.exit(main())
