"""The type of a recorded verdict, which has more values than authors can write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rulewright.expression.types import EnumType, RecordType, Type
from rulewright.lower.environments import VERDICT_RECORD
from rulewright_runtime.aggregate.outcome import NO_RECORD


def as_recorded(verdict: RecordType) -> RecordType:
    """The type of a verdict with the additional values of a record: the verdict `NO_RECORD` of a check without a
    required record, and the empty text for a missing bucket or severity. Authors can write neither."""
    additional = {"verdict": NO_RECORD, "primary_bucket": "", "severity": ""}
    fields = dict(verdict.fields)
    for name, word in additional.items():
        type_ = fields[name]
        if isinstance(type_, EnumType):
            fields[name] = EnumType(type_.name, (*type_.members, word))
    return replace(verdict, fields=fields)


def as_seen(variables: Mapping[str, Type]) -> Mapping[str, Type]:
    """The variables with verdicts as they are recorded."""
    return {
        name: as_recorded(type_) if isinstance(type_, RecordType) and type_.name == VERDICT_RECORD else type_
        for name, type_ in variables.items()
    }
