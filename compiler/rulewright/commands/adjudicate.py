"""`adjudicate`: list the waiting verdicts, record decisions, and recompute the run."""

import argparse
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.exit_codes import UNDECIDED
from rulewright.reporting import adjudication
from rulewright.reporting.stored_run import StoredRun, open_run, stored
from rulewright_runtime.english import plural
from rulewright_runtime.plan.part import answer_named
from rulewright_runtime.processes.ancestry import here
from rulewright_runtime.report.summary import UNPROVEN, exit_status
from rulewright_runtime.report.text import reason_words, verdict_rows
from rulewright_runtime.runs.folder import DECIDED
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import complain, one_line, say, width_for, wrapped
from rulewright_runtime.verdicts import VerdictResult

Waiting = tuple[str, VerdictResult]  # a transcript, and a verdict on it that awaits a person


def run(args: argparse.Namespace) -> int:
    """List, decide, recompute."""
    folder = Path(args.run)
    out = Path(args.out) if args.out else folder / DECIDED
    found = stored(adjudication.original(folder))
    known = adjudication.known_decisions(out)
    taken = list(_taken(args))
    if not taken:
        if args.file:
            complain(f"note: `{args.file}` contains no decision; each line needs a `verdict` and its `why`")
        still = adjudication.waiting(adjudication.with_decisions(found, known))
        _list(found, still, len({decision.key for decision in known}), args)
        return UNDECIDED if still else exit_status(open_run(out).summary if known else found.summary)
    summary = adjudication.adjudicate(folder, out, taken)
    decided = {decision.key for decision in taken}
    open_now = adjudication.waiting(adjudication.with_decisions(found, adjudication.known_decisions(out)))
    say(f"{len(decided)} decided, {len(open_now)} still waiting; the recomputed run is in {out}")
    outcomes = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in summary["outcomes"].items() if count)
    say(f"transcripts: {outcomes}")
    say(*_not_to_decide(summary))
    return exit_status(summary) or (UNDECIDED if open_now else 0)


def _not_to_decide(summary: JsonMapping) -> Iterator[str]:
    """What keeps a run from passing that no decision about a verdict changes."""
    if incomplete := summary["incomplete"]["count"]:
        yield f"incomplete: {plural(incomplete, 'transcript')}, which can't pass whatever is decided"
    if refused := summary["refused"]["count"]:
        yield f"refused by the scan: {plural(refused, 'input')}"


def _taken(args: argparse.Namespace) -> Iterator[adjudication.Adjudication]:
    """The decisions given to this command, with the time and the place."""
    given = list(adjudication.read_decisions(Path(args.file), args.by)) if args.file else []
    given += [_decision((transcript, check), verdict, args.by, args.why) for transcript, check, verdict in args.decide]
    _refuse_contradictions(given)
    at, via = datetime.now(UTC).isoformat(timespec="seconds"), here("command").describe()
    for decision in given:
        yield replace(decision, at=decision.at or at, via=via)


def _refuse_contradictions(given: list[adjudication.Adjudication]) -> None:
    """Raise UsageError for two decisions of one command about a verdict: neither is the later one."""
    first: dict[tuple[str, str], adjudication.Adjudication] = {}
    for decision in given:
        earlier = first.setdefault(decision.key, decision)
        if earlier.verdict != decision.verdict:
            raise UsageError(f"{decision.about} is both `{earlier.verdict}` and `{decision.verdict}`")


def _decision(key: tuple[str, str], verdict: str, by: str, why: str | None) -> adjudication.Adjudication:
    named = answer_named(verdict)
    if named is None:
        raise UsageError(adjudication.not_possible(verdict))
    return adjudication.Adjudication(*key, named, by, why or "")


def _list(run: StoredRun, still: list[Waiting], settled: int, args: argparse.Namespace) -> None:
    if args.format == "jsonl":
        for transcript, record in still:
            seen = adjudication.fingerprint(transcript, run.fingerprint(transcript), run.checks[record.check_id])
            keys = {"transcript_id": transcript, "check_id": record.check_id, "verdict": None, "by": args.by or None}
            was = {"why": None, "was": record.verdict, "reason": record.rationale_code, "seen": seen}
            print(json.dumps({**keys, **was}, ensure_ascii=False))
        return
    decided = f"; {settled} decided" if settled else ""
    say(f"{len(still)} {'verdict waits' if len(still) == 1 else 'verdicts wait'} for a person{decided}")
    if still:
        columns = width_for(sys.stdout)
        first = " ".join(map(one_line, _key(still[0])))
        say(*verdict_rows([*map(_cells, still)], columns))
        decide = f"help: `rulewright adjudicate {args.run} --decide {first} PASS --by NAME --why TEXT`, or --file"
        say(*wrapped(decide, columns))


def _key(item: Waiting) -> tuple[str, str]:
    return item[0], item[1].check_id


def _cells(item: Waiting) -> list[str]:
    transcript, record = item
    code = record.rationale_code or ""
    cause = UNPROVEN.get(record.cause or "", record.cause) if reason_words(code) == code else ""
    why = ", ".join(filter(None, (reason_words(code), cause)))
    return [*map(one_line, (record.verdict, record.check_id, transcript, why))]
