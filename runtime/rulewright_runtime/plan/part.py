"""The common base of all parts of a plan.

The modules of parts don't use `from __future__ import annotations`: msgspec evaluates string annotations one by one
before it can decode, which takes several times as long as decoding a plan.
"""

from collections.abc import Iterator
from typing import Final, Literal, get_args

import msgspec

from rulewright_runtime.ir import Program

Verdict = Literal["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"]
Answer = Literal["PASS", "FAIL", "NOT_APPLICABLE"]  # what a person says, or a judge that is certain
ProbeKind = Literal["recall", "abstention", "time", "pronoun_continuity"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
GRAVITY: Final[tuple[Verdict, ...]] = ("FAIL", "UNCLEAR", "PASS", "NOT_APPLICABLE")  # the worst first
ANSWERS: Final[tuple[str, ...]] = get_args(Answer)
PROBE_KINDS: Final[tuple[ProbeKind, ...]] = get_args(ProbeKind)


class PlanPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base of all parts of a plan: immutable, and without unknown keys."""


def answer_named(word: object) -> Answer | None:
    """The answer that a person wrote, in any case; None for anything else."""
    written = word.strip().upper() if isinstance(word, str) else ""
    return next((answer for answer in get_args(Answer) if answer == written), None)


def programs_of(part: object) -> Iterator[Program]:
    """Yield every expression in a part of a plan, at any depth."""
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
