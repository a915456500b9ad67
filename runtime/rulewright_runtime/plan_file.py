"""A plan as a file: sealed with its hashes, written as canonical JSON, read back as if a stranger had written it."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from rulewright_runtime.decisions import decided
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan import FORMAT, VERSION, Check, Plan
from rulewright_runtime.plan_guard import LIMITS, Limits, guard, materials


def seal(plan: Plan) -> Plan:
    """The same plan with what can be decided now decided, and with the hash of every check and its own filled in."""
    checks = tuple(replace(check, decided=word) for check, word in zip(plan.checks, decided(plan), strict=True))
    words = decided(plan, plan.left_out)
    left_out = tuple(replace(part, decided=word) for part, word in zip(plan.left_out, words, strict=True))
    checks = tuple(replace(check, hash=check_hash(check, plan)) for check in checks)
    plan = replace(plan, checks=checks, left_out=left_out)
    return replace(plan, hash=plan_hash(plan))


def check_hash(check: Check, plan: Plan) -> str:
    """The sha256 (hex) of the check's canonical JSON and of the lexicons, state machine and corpus of `plan` that it
    uses, without its own hash and without `decided`: a new scenario leaves the checks as they were, a new word of a
    lexicon changes those that look for it."""
    return _digest([replace(check, hash="", decided=""), materials(check, plan)])


def plan_hash(plan: Plan) -> str:
    """The sha256 (hex) of the plan's canonical JSON without its own hash."""
    return _digest(replace(plan, hash=""))


def encode(plan: Plan) -> bytes:
    """The plan as canonical JSON: fields in declared order, maps in key order, one line, UTF-8."""
    return msgspec.json.encode(plan, order="deterministic")


def _digest(part: Any) -> str:
    return sha256(msgspec.json.encode(part, order="deterministic")).hexdigest()


def decode(data: bytes, limits: Limits = LIMITS) -> Plan:
    """The plan in `data`. Raises PlanError for whatever an honest compiler never writes."""
    if len(data) > limits.size:
        raise PlanError(f"the plan has {len(data)} bytes; at most {limits.size} are accepted")
    try:
        plan = msgspec.json.decode(data, type=Plan)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(_why_undecodable(data, error)) from None
    if plan.format != FORMAT or plan.version != VERSION:
        raise PlanError(f"the plan is `{plan.format}` version {plan.version}; this runtime reads `{FORMAT}` {VERSION}")
    if plan.hash != plan_hash(plan):
        raise PlanError("the plan's hash does not match its content: it was changed or cut after it was compiled")
    guard(plan, limits)
    for check in plan.checks:
        if check.hash != check_hash(check, plan):
            raise PlanError(f"the hash of check `{check.id}` does not match its content")
    return plan


class _Header(msgspec.Struct):
    format: str = FORMAT
    version: int = VERSION


def _why_undecodable(data: bytes, error: Exception) -> str:
    """A plan of another version fails on its first new field; say that instead."""
    try:
        header = msgspec.json.decode(data, type=_Header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        header = _Header()
    if (header.format, header.version) != (FORMAT, VERSION):
        return f"the plan is `{header.format}` version {header.version}; this runtime reads `{FORMAT}` {VERSION}"
    return f"the plan can't be decoded: {error}"
