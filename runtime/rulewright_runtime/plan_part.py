"""What every part of a plan has in common."""

from __future__ import annotations

import msgspec


class PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts of a plan have in common: they can't be changed, and an unknown key is refused."""
