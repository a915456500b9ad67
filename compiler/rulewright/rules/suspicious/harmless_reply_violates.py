import itertools
import math
import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression.direction import meaning
from rulewright.lower.expressions import build_in
from rulewright.lower.phases import reply_environment
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare

Values = dict[str, tuple[object, ...]]

MOST: Final = 4096  # replies that are tried
NOTHING: Final = "none"
EXCUSES: Final = re.compile("except|excus|exempt|allow")


def harmless_reply_violates(check: CheckDocument) -> Findings:
    """`violates` holds for a reply without a violation, or only for one with an exception or whose kind is `none`.

    Why it matters: what is allowed fails the check, and what is forbidden passes. The rule tries every combination of
    the fields that are `boolean` or a list of words. `none` means nothing; a field named after exceptions excuses.
    Instead: write `reply.violation && reply.exception == "none"`: a violation that no exception excuses.
    """
    violates = check.phases.violates
    values = _values(check)
    if violates is None or math.prod(map(len, values.values())) > MOST:
        return
    found = _violating(check, values)
    failures = [name for name, of in values.items() if of == (False, True) and _is_failure(name, check)]
    if failures and any(not any(reply[name] for name in failures) for reply in found):
        yield warning(violates, f"this also holds where `{failures[0]}` is false")
        return
    for name in (name for name, of in values.items() if NOTHING in of and found):
        is_excuse = EXCUSES.search(name) is not None
        if all((reply[name] == NOTHING) != is_excuse for reply in found):
            yield warning(violates, f"this holds only where `{name}` is {'not ' * is_excuse}`{NOTHING}`")


def _is_failure(field: str, check: CheckDocument) -> bool:
    """Whether a field is named after a failure: by its words, or by those of the check, whose name is the failure."""
    return meaning(field) < 0 or "violat" in field or field in check.name.split("_")


def _values(check: CheckDocument) -> Values:
    """The values of the fields that have a few."""
    fields = check.phases.fields.items()
    return {
        name: kind if isinstance(kind, tuple) else (False, True)
        for name, kind in fields
        if kind == "boolean" or isinstance(kind, tuple)
    }


def _violating(check: CheckDocument, values: Values) -> list[dict[str, object]]:
    """The replies that violate; none where the condition is invalid or reads other fields."""
    written = check.phases.violates
    built = None if written is None else build_in(written, reply_environment(check), [])
    if built is None:
        return []
    evaluate = prepare(built.program)
    replies = [dict(zip(values, each, strict=True)) for each in itertools.product(*values.values())]
    try:
        return [reply for reply in replies if evaluate({"reply": reply}) is True]
    except EvaluationError:
        return []
