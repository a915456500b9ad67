"""`prove`: prove the claims about documents and show the results."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rulewright.claims.documents import provable, prove
from rulewright.commands.output import answer
from rulewright.documents.layout import PROJECT_FILE_NAMES, is_description, nearest_project
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET, UNDECIDED
from rulewright.linting.lint_run import lint
from rulewright.project import Project
from rulewright.proving.results import Property, Proved, Refuted
from rulewright.witnesses.conversation_records import conversation_lines
from rulewright_runtime.english import plural
from rulewright_runtime.report.text import wrapped_lines
from rulewright_runtime.terminal import width_for


def run(args: argparse.Namespace) -> int:
    """Prove every claim and print the results; return the exit code. Raises UsageError."""
    paths = args.paths or [str(nearest_project() or Path())]
    projects: dict[Path, Project] = {}
    found = [(name, prove(Path(name), args.set, args.config, projects)) for path in paths for name in _documents(path)]
    data = [_as_data(name, each) for name, claims in found for each in claims]
    answer(args.format, data, wrapped_lines(_lines(found), width_for(sys.stdout)), indent=2)
    statuses = {_status(each) for _, claims in found for each in claims if each.required}
    if "refuted" in statuses:
        return FAILED
    is_met = statuses == {"proved"} or (args.allow_no_claims and not statuses)
    return MET if is_met else UNDECIDED


def _documents(path: str) -> list[str]:
    """The file at `path`, or those that `lint` reads in the folder or the project there."""
    if Path(path).is_file() and Path(path).name not in PROJECT_FILE_NAMES:
        return [path]
    found = provable(each for each in map(Path, lint([path]).sources) if not is_description(each))
    if not found:
        raise UsageError(f"no document to prove in `{path}`: no scorecard, policy, workflow or check")
    return [str(each) for each in found]


def _lines(found: list[tuple[str, list[Property]]]) -> Iterator[str]:
    """The claims of every document. Of several documents, those without claims are only counted."""
    claimed = found if len(found) == 1 else [(name, claims) for name, claims in found if claims]
    for name, claims in claimed:
        yield from _in_words(name, claims)
    if without := len(found) - len(claimed):
        yield f"{plural(without, 'document')} without conditions: nothing is claimed"
    if len(claimed) > 1:
        yield f"{plural(len(claimed), 'document')}: {_counts([each for _, claims in claimed for each in claims])}"


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
        if isinstance(claim.result, Proved) and claim.result.conversation is not None:
            lines += [f"{'':21}{line}" for line in conversation_lines(**claim.result.conversation)]
    return [*lines, f"  {_counts(claims)}"]


def _counts(claims: list[Property]) -> str:
    counts = Counter(_status(each) for each in claims if each.required)
    return ", ".join(f"{counts[status]} {status}" for status in ("proved", "refuted", "unknown"))


def _details(claim: Property) -> str:
    """The details of a result: an example, a counterexample, a reason."""
    result = claim.result
    match result:
        case Proved(conversation=conversation) if conversation is not None:
            parts = ["for instance"]
        case Proved(witness=witness, remarks=remarks):
            parts = [f"for instance with {witness}"] * (witness is not None) + list(remarks)
        case Refuted(witness=witness, reason=reason):
            parts = [f"not with {witness}"] * (witness is not None) + [reason] * bool(reason)
        case _:
            parts = [result.reason]
    words = "; ".join(parts)
    if not claim.required and not words:
        words = _status(claim)
    return f": {words}" if words else ""


def _as_data(name: str, claim: Property) -> dict[str, object]:
    witness = getattr(claim.result, "witness", None)
    conversation = getattr(claim.result, "conversation", None)
    remarks = claim.result.remarks if isinstance(claim.result, Proved) else (claim.result.reason,)
    return {
        "file": name,
        "line": None if claim.span is None else claim.span.line,
        "column": None if claim.span is None else claim.span.column,
        "claim": claim.claim,
        "result": _status(claim),
        "required": claim.required,
        "witness": conversation if witness is None else dict(witness.values),
        "remarks": [remark for remark in remarks if remark],
    }
