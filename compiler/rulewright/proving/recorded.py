"""The type of a verdict as it is recorded, which is more than authors can write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rulewright.expression.types import EnumType, RecordType, Type
from rulewright.lower.environments import VERDICT_RECORD
from rulewright_runtime.aggregate.outcome import NO_RECORD


def as_recorded(verdict: RecordType) -> RecordType:
    """The type of a verdict with what a record may hold besides: a check that owes one has the verdict `NO_RECORD`, and
    a check without bucket or severity has the empty text there. Authors can write neither."""
    besides = {"verdict": NO_RECORD, "primary_bucket": "", "severity": ""}
    fields = dict(verdict.fields)
    for name, word in besides.items():
        of = fields[name]
        if isinstance(of, EnumType):
            fields[name] = EnumType(of.name, (*of.members, word))
    return replace(verdict, fields=fields)


def as_seen(variables: Mapping[str, Type]) -> Mapping[str, Type]:
    """The variables with verdicts as they are recorded."""
    return {
        name: as_recorded(of) if isinstance(of, RecordType) and of.name == VERDICT_RECORD else of
        for name, of in variables.items()
    }
