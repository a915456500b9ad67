"""The plan of a scan as a file: sealed with its hashes, read back as if a stranger had written it."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import Kind, decode_with_document, digest, encode
from rulewright_runtime.plan.guard import LIMITS, PlanLimits, guard, materials
from rulewright_runtime.plan.scan import FORMAT, VERSION, Check, Plan

KIND: Final = Kind(Plan, FORMAT, VERSION, "rulewright compile")


def seal(plan: Plan) -> Plan:
    """The same plan with the hash of every check and its own filled in."""
    document = msgspec.json.decode(encode(plan))
    checks = tuple(
        replace(check, hash=_check_hash(written, check, plan, document))
        for check, written in zip(plan.checks, document["checks"], strict=True)
    )
    return envelope.seal(replace(plan, checks=checks))


def _check_hash(
    written: dict[str, Any], check: Check, plan: Plan, document: dict[str, Any], readers: tuple[str, ...] = ()
) -> str:
    """The sha256 (hex) of a check as it stands in a document, with an empty hash, and of what it uses of the plan:
    lexicons, state machine, corpus, plug-ins, and the checks whose verdicts it reads. A new scenario leaves the checks
    as they were, a new word of a lexicon changes those that look for it; a key with a default may be added later.

    `readers` are the checks that lead here: in a circle, which no plan may have, the hash ends.
    """
    used: dict[str, Any] = {
        kind: {name: document.get(kind, {}).get(name) for name in sorted(names)}
        for kind, names in materials(check, plan).items()
        if names or kind != "plugins"
    }
    readers = (*readers, check.id)
    if read := {*check.verifier.reads()} - {*readers}:
        places = {each.id: place for place, each in enumerate(plan.checks) if each.id in read}
        used["checks"] = {
            name: _check_hash(document["checks"][place], plan.checks[place], plan, document, readers)
            for name, place in sorted(places.items())
        }
    return digest([{**written, "hash": ""}, used])


def decode(data: bytes, limits: PlanLimits = LIMITS) -> Plan:
    """The plan in `data`. Raises PlanError for whatever an honest compiler never writes."""
    plan, document = decode_with_document(data, replace(KIND, most=limits.size))
    guard(plan, limits)
    for check, written in zip(plan.checks, document["checks"], strict=True):
        if check.hash != _check_hash(written, check, plan, document):
            raise PlanError(f"the hash of check `{check.id}` does not match its content")
    return plan
