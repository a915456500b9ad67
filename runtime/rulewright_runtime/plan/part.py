"""What every part of a plan has in common.

The modules of parts do without `from __future__ import annotations`: annotations that are texts have to be evaluated
one by one before msgspec can decode, which takes several times as long as decoding a plan.
"""

from collections.abc import Iterator
from typing import Final, Literal, get_args

import msgspec

from rulewright_runtime.ir import Program

Verdict = Literal["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"]
ProbeKind = Literal["recall", "abstention", "time", "pronoun_continuity"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
PROBE_KINDS: Final[tuple[ProbeKind, ...]] = get_args(ProbeKind)


class PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts of a plan have in common: they can't be changed, and an unknown key is refused."""


def programs_of(part: object) -> Iterator[Program]:
    """Every expression in a part of a plan, however deep."""
    if isinstance(part, Program):
        yield part
    elif isinstance(part, msgspec.Struct):
        for field in part.__struct_fields__:
            yield from programs_of(getattr(part, field))
    elif isinstance(part, tuple):
        for item in part:
            yield from programs_of(item)
    elif isinstance(part, dict):
        for item in part.values():
            yield from programs_of(item)
