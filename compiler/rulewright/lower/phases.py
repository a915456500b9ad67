"""Lowers a `three_phase` check to its verifier: candidates, a confirmation with typed fields, and a sweep."""

from typing import Final, Literal

import msgspec

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import CheckDocument
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, ERROR, INT, STRING, EnumType, RecordType, Type
from rulewright.lower.expressions import build_in
from rulewright.lower.lowering import LoweringContext
from rulewright_runtime.plan.question import ReplyField
from rulewright_runtime.plan.verifiers import PhasedVerifier

KINDS: Final[dict[str, Literal["integer", "boolean"]]] = {"integer": "integer", "boolean": "boolean"}
TYPES: Final[dict[str, Type]] = {"string": STRING, "integer": INT, "boolean": BOOL}
RESERVED: Final = frozenset({"verdict", "evidence", "rationale_code"})


def lower_phases(check: CheckDocument, lowering: LoweringContext) -> PhasedVerifier | None:
    """Return the verifier, or None with a finding."""
    phases, name = check.phases, check.routing.deterministic_precheck
    has_lexicon = name is not None and lowering.use_lexicon(check, name)
    missing = [
        key
        for key, present in (
            ("routing.deterministic_precheck", name),
            ("phases", "phases" in check.node),
            ("phases.confirm.fields", phases.confirm is None or phases.fields),
        )
        if not present
    ]
    if missing:
        lowering.lacks(check, " and ".join(f"`{key}`" for key in missing), code="missing-phase")
    if missing or name is None or phases.confirm is None or phases.violates is None or phases.sweep is None:
        return None  # schema validation reports keys missing from `phases`
    fields = _fields(check, lowering.findings)
    violates = build_in(phases.violates, reply_environment(check), lowering.findings, expect=BOOL)
    if not has_lexicon or violates is None:
        return None
    confirm = lowering.judging_with(check, phases.confirm)
    return PhasedVerifier(
        candidates=name,
        confirm=msgspec.structs.replace(confirm, fields=fields, violates=violates.program, adaptive_stop=False),
        sweep=lowering.judging_with(check, phases.sweep),
    )


def reply_environment(check: CheckDocument) -> Environment:
    """The environment of `violates`: the fields of a reply, with their words as names. An unknown type is
    reported elsewhere."""
    types = {
        name: EnumType(name, kind) if kind and isinstance(kind, tuple) else TYPES.get(str(kind), ERROR)
        for name, kind in check.phases.fields.items()
    }
    return Environment(variables={"reply": RecordType("reply", types)})


def _fields(check: CheckDocument, findings: list[Diagnostic]) -> tuple[ReplyField, ...]:
    fields = []
    for name, kind in check.phases.fields.items():
        if name in RESERVED:
            place = check.key_place("phases", "confirm", "fields", name)
            findings.append(error(place, f"every reply already has the field `{name}`", code="reserved-field"))
        if isinstance(kind, tuple):
            fields.append(ReplyField(name, "words", kind))
        else:
            fields.append(ReplyField(name, KINDS.get(kind, "string")))
    return tuple(fields)
