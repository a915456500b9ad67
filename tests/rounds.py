"""How often a random test tries: a few times under `make test`, many times under `make torture`."""

from __future__ import annotations

import os
from typing import Final

TORTURE: Final = bool(os.environ.get("RULEWRIGHT_TORTURE"))


def rounds(few: int, many: int) -> int:
    """`few`, or `many` where `make torture` runs the test in its full length."""
    return many if TORTURE else few
