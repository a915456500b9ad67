"""The plan of a scan as a file: sealed with its hashes, and decoded as untrusted input."""

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
    """The same plan with its own hash and the hash of every check."""
    document = msgspec.json.decode(encode(plan))
    checks = tuple(
        replace(check, hash=_check_hash(written, check, plan, document))
        for check, written in zip(plan.checks, document["checks"], strict=True)
    )
    return envelope.seal(replace(plan, checks=checks))


def resealed(plan: Plan) -> Plan:
    """The plan with the hashes of what this version writes: a plan of an earlier version lacks the keys that were added
    since, and gets their defaults when it is decoded."""
    return plan if plan.hash in ("", envelope.content_hash(plan)) else seal(plan)


def _check_hash(
    written: dict[str, Any], check: Check, plan: Plan, document: dict[str, Any], readers: tuple[str, ...] = ()
) -> str:
    """The sha256 (hex) of a check in a document, without hash and description, and of the parts of the plan it uses:
    lexicons, state machine, corpus, plug-ins, and the checks whose verdicts it reads. A new scenario does not change
    the hash, a new word of a lexicon changes it for the checks that use it; a key with a default may be added later.

    `readers` are the checks that lead to this one: they end the recursion in a cycle, which no valid plan has.
    """
    used: dict[str, Any] = {
        kind: {name: document.get(kind, {}).get(name) for name in sorted(names)}
        for kind, names in materials(check, plan).items()
        if names or kind != "plugins"
    }
    readers = (*readers, check.id)
    if read := {*check.verifier.reads()} - {*readers}:
        indices = {each.id: index for index, each in enumerate(plan.checks) if each.id in read}
        used["checks"] = {
            name: _check_hash(document["checks"][index], plan.checks[index], plan, document, readers)
            for name, index in sorted(indices.items())
        }
    hashed = {key: value for key, value in written.items() if key != "description"}
    return digest([{**hashed, "hash": ""}, used])


def decode(data: bytes, limits: PlanLimits = LIMITS) -> Plan:
    """The plan in `data`. Raises PlanError for anything that the compiler never writes."""
    plan, document = decode_with_document(data, replace(KIND, max_size=limits.size))
    guard(plan, limits)
    for check, written in zip(plan.checks, document["checks"], strict=True):
        if check.hash != _check_hash(written, check, plan, document):
            raise PlanError(f"the hash of check `{check.id}` does not match its content")
    return plan
