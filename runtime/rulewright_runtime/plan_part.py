"""What every part of a plan has in common.

The modules of parts do without `from __future__ import annotations`: annotations that are texts have to be evaluated
one by one before msgspec can decode, which takes several times as long as decoding a plan.
"""

import msgspec


class PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts of a plan have in common: they can't be changed, and an unknown key is refused."""
