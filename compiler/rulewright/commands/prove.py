"""`prove`: prove the claims about documents and show the results."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.claims.documents import prove
from rulewright.commands.output import answer
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.proving.results import Property, Proved, Refuted


def run(args: argparse.Namespace) -> int:
    """Prove every claim and print the results; return the exit code."""
    for name in (*args.files, *([] if args.config is None else [args.config])):
        if not Path(name).is_file():
            raise UsageError(f"file not found: `{name}`")
    found: list[tuple[str, list[Property]]] = []
    for name in args.files:
        found.append((name, prove(Path(name), args.set, args.config)))
    data = [_as_data(name, each) for name, claims in found for each in claims]
    answer(args.format, data, (line for name, claims in found for line in _in_words(name, claims)), indent=2)
    statuses = {_status(each) for _, claims in found for each in claims if each.required}
    if "refuted" in statuses:
        return FAILED
    return MET if statuses == {"proved"} else UNDECIDED


def _status(claim: Property) -> str:
    return type(claim.result).__name__.lower()


def _in_words(name: str, claims: list[Property]) -> list[str]:
    if not claims:
        return [name, "  no claims: the document has no conditions"]
    lines = [name]
    for claim in claims:
        word = _status(claim) if claim.required else "note"
        place = "" if claim.span is None else f"{claim.span.line}:{claim.span.column}"
        lines.append(f"  {word:<8} {place:>6}  {claim.claim}{_details(claim)}")
    counts = [f"{sum(c.required and _status(c) == s for c in claims)} {s}" for s in ("proved", "refuted", "unknown")]
    return [*lines, f"  {', '.join(counts)}"]


def _details(claim: Property) -> str:
    """The details of a result: an example, a counterexample, a reason."""
    result = claim.result
    match result:
        case Proved(witness=witness, remarks=remarks):
            said = [f"for instance with {witness}"] * (witness is not None) + list(remarks)
        case Refuted(witness=witness, reason=reason):
            said = [f"not with {witness}"] * (witness is not None) + [reason] * bool(reason)
        case _:
            said = [result.reason]
    told = "; ".join(said)
    if not claim.required and not told:
        told = _status(claim)
    return f": {told}" if told else ""


def _as_data(name: str, claim: Property) -> dict[str, object]:
    witness = getattr(claim.result, "witness", None)
    remarks = claim.result.remarks if isinstance(claim.result, Proved) else (claim.result.reason,)
    return {
        "file": name,
        "line": None if claim.span is None else claim.span.line,
        "column": None if claim.span is None else claim.span.column,
        "claim": claim.claim,
        "result": _status(claim),
        "required": claim.required,
        "witness": None if witness is None else dict(witness.values),
        "said": [remark for remark in remarks if remark],
    }
