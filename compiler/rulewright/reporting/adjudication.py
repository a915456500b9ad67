"""Adjudication: the pending decisions of a run, people's decisions, and the run recomputed with them. The run itself is
never changed: the recomputed run is a separate folder, and the record of every decided verdict holds the previous
verdict, who decided, when and why.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.derived_run import write_derived
from rulewright.reporting.stored_run import FinishedRun, StoredRun, open_run, score_again, skipped_checks, stored
from rulewright.spelling import question
from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.english import reason_of
from rulewright_runtime.files.input_files import read_expanded
from rulewright_runtime.files.json_scanner import BOM
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.judging.independence import spellings
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.plan.part import Answer, answer_named
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.runs.folder import DECISIONS
from rulewright_runtime.strict_json import UNDECODED, JsonObject
from rulewright_runtime.transcripts.turn_lines import printable
from rulewright_runtime.verdicts import VerdictResult

CODE: Final = "adjudicated"
READS_DECIDED: Final = "reads_a_decided_verdict"
SHOWN: Final = ("was", "reason")  # keys of a listed line that are not part of a decision
_KEPT: Final = ("verdict", "rationale_code", "confidence", "adjudication_required", "cause")


class Adjudication(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A person's decision about one verdict: who, when (UTC), why, and its source. `seen` is the `fingerprint` of what
    it is about, empty where that was not recorded."""

    transcript_id: str
    check_id: str
    verdict: Answer
    by: str
    why: str
    at: str = ""
    via: str = ""
    seen: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The transcript and the check."""
        return self.transcript_id, self.check_id

    @property
    def about(self) -> str:
        """The name in messages."""
        return f"the decision about `{self.check_id}` in `{self.transcript_id}`"


def waiting(run: StoredRun) -> list[tuple[str, VerdictResult]]:
    """Return the verdicts of a run that await a person, each after its transcript: by severity, a FAIL before an
    UNCLEAR."""
    found = [(name, each) for name, verdicts in run.verdicts.items() for each in verdicts.values() if waits(each)]
    return sorted(found, key=lambda pair: (-run.plan.gravity(pair[1].severity), pair[1].verdict != "FAIL"))


def fingerprint(transcript: str, conversation: str, check: Check) -> str:
    """Return the fingerprint of a transcript, of its `conversation` (a fingerprint) and of the rules of a check."""
    return sha256(f"{check.hash}\n{conversation}\n{transcript}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def waits(record: VerdictResult) -> bool:
    """Whether a person must decide a verdict: it requires adjudication, or is neither PASS nor FAIL."""
    return record.eligible and (record.adjudication_required or record.verdict == "UNCLEAR")


def original(folder: Path) -> FinishedRun:
    """Return the run in `folder` as it was judged. Raises UsageError for a run that already contains people's
    decisions."""
    run = open_run(folder)
    if run.summary.get("adjudicated"):
        raise UsageError(f"`{folder}` is an adjudicated run; adjudicate `{run.summary['adjudicated']['from']}` instead")
    return run


def known_decisions(out: Path) -> list[Adjudication]:
    """Return the decisions that were taken before."""
    path = out / DECISIONS
    return list(read_decisions(path)) if path.is_file() else []


def read_decisions(path: Path, by: str = "") -> Iterator[Adjudication]:
    """Return the decisions in a JSON Lines file; a line whose `verdict` is null is still open. `by` is the person for
    lines without one. Raises UsageError with the location of a line that is not a decision."""
    try:
        lines = read_expanded(path).removeprefix(BOM).splitlines()
    except OSError as error:
        raise UsageError(f"can't read `{path}`: {reason_of(error)}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = strict_json.decode(line, type=JsonObject)
            _check_keys(data, f"{path}:{number}")
            if data["verdict"] is None:
                continue
            verdict = answer_named(data["verdict"])
            if verdict is None:
                raise UsageError(f"{path}:{number}: this is not a decision: {not_possible(data['verdict'])}")
            fields = {name: data[name] for name in Adjudication.__struct_fields__ if data.get(name) is not None}
            yield msgspec.convert({"by": by, "why": "", **fields, "verdict": verdict}, Adjudication)
        except UNDECODED as error:
            raise UsageError(f"{path}:{number}: this is not a decision: {error}") from None


def not_possible(verdict: object) -> str:
    """Return the message for a verdict that nobody can decide."""
    return f"`{verdict}` is not a possible decision; expected `PASS`, `FAIL` or `NOT_APPLICABLE`"


def _check_keys(data: JsonObject, place: str) -> None:
    """Raise UsageError for a key that nothing reads, and for a line without `verdict`: it would seem to be open."""
    known = (*Adjudication.__struct_fields__, *SHOWN)
    for key in data:
        if key not in known:
            raise UsageError(f"{place}: unknown key `{key}`{question(key, known)}")
    if "verdict" not in data:
        raise UsageError(f"{place}: the key `verdict` is missing; null leaves it open")


def adjudicate(folder: Path, out: Path, new: Sequence[Adjudication], *, again: bool = True) -> JsonObject:
    """Write to `out` the run in `folder` with the decisions that `out` holds and the `new` ones. Return its summary.

    Of several decisions about one verdict the last counts, and all stay on record; without `again`, the one that `out`
    holds counts. Raises UsageError for a new decision that does not count, without a person or a reason, under the name
    of a model, about a verdict that awaits no decision, or about another conversation or other rules than those of the
    run; BusyError if another process writes to `out`.
    """
    run = stored(original(folder))
    _checked(run, new, lambda: known_decisions(out))  # before a folder is made
    with lock_folder(out):  # also while reading: decisions of another process must not be lost
        known = known_decisions(out)
        earlier = {} if again else {each.key: each for each in known}
        kept = [each for each in new if each.key not in earlier]
        summary = _adjudicated(run, out, _checked(run, [*known, *kept]))
    for each in new:
        if decided := earlier.get(each.key):
            raise UsageError(f"`{each.check_id}` was decided by {decided.by} meanwhile: {decided.why}")
    return summary


def _checked(
    run: StoredRun, taken: Sequence[Adjudication], earlier: Callable[[], Sequence[Adjudication]] = tuple
) -> list[Adjudication]:
    """The decisions with the fingerprints of what they are about; `earlier` are those taken before, which may have
    opened a verdict. Raises UsageError as `adjudicate` does."""
    checked: list[Adjudication] = []
    decided = cache(lambda: _by_transcript([*taken, *earlier()]))
    for decision in taken:
        check_person(run, decision.by, decision.about)
        if not folded_name(decision.why):
            raise UsageError(f"{decision.about} names no reason (`why`)")
        record = run.verdicts.get(decision.transcript_id, {}).get(decision.check_id)
        if record is None or not (waits(record) or _is_opened(run, decision, decided()[decision.transcript_id])):
            those = f"`rulewright adjudicate {run.folder}` lists those"
            raise UsageError(f"{decision.about} decides no verdict of the run that waits for a person; {those}")
        seen = fingerprint(
            decision.transcript_id, run.fingerprint(decision.transcript_id), run.checks[decision.check_id]
        )
        if decision.seen not in ("", seen):
            raise UsageError(f"{decision.about} is about another text or other rules than those of `{run.folder}`")
        checked.append(replace(decision, seen=seen))
    return checked


def _adjudicated(run: StoredRun, out: Path, taken: Sequence[Adjudication]) -> JsonObject:
    people, count = sorted({decision.by for decision in taken}), len({decision.key for decision in taken})
    about = {"adjudicated": {"from": printable(str(run.folder)), "decisions": count, "by": people}}
    decisions = b"".join(msgspec.json.encode(decision) + b"\n" for decision in taken)
    return write_derived(out, run, _recomputed(run, taken), about, decisions)


def with_decisions(run: StoredRun, taken: Sequence[Adjudication]) -> StoredRun:
    """Return the run with people's decisions. Raises UsageError as `adjudicate` does."""
    return _recomputed(run, _checked(run, taken)) if taken else run


def _recomputed(run: StoredRun, taken: Sequence[Adjudication]) -> StoredRun:
    rows, verdicts = dict(run.rows), dict(run.verdicts)
    for decision in taken:  # of several about one verdict the last counts
        name, check = decision.key
        verdicts[name] = {**verdicts[name], check: _with(run.verdicts[name][check], decision)}
    for name, decided in _by_transcript(taken).items():
        for check in _readers(run, name, decided) - decided:
            verdicts[name] = {**verdicts[name], check: _reopened(verdicts[name][check])}
        row = run.rows[name]
        rows[name] = score_again(run.scorecard, row, verdicts[name].values(), skipped_checks(run, row))
    return dataclasses.replace(run, rows=rows, verdicts=verdicts)


def check_person(run: FinishedRun, by: str, about: str) -> None:
    """Raise UsageError if `by` is empty or a model of the run."""
    judge = run.summary.get("judge") or {}
    named = (judge.get("requested_model"), judge.get("name"), *judge.get("served_models", ()))
    machines = {str(name) for name in (*run.summary["models"], *run.plan.models, *named) if name}
    if not folded_name(by):
        raise UsageError(f"{about} names no person; name the one who decides with `--by` (`by` in a file)")
    if not spellings(by).isdisjoint(chain.from_iterable(map(spellings, machines))):
        raise UsageError(f"{about} is by `{by}`, a model of this run; a person decides")


def _by_transcript(taken: Iterable[Adjudication]) -> dict[str, set[str]]:
    """The checks of each transcript that were decided."""
    found: dict[str, set[str]] = {}
    for decision in taken:
        found.setdefault(decision.transcript_id, set()).add(decision.check_id)
    return found


def _readers(run: StoredRun, transcript: str, decided: Set[str]) -> set[str]:
    """The checks that applied to a transcript and whose verdicts depend on a decided one, directly or not."""
    stale = {*decided}
    found: set[str] = set()
    while more := {each.id for each in run.plan.checks if each.id not in found and stale & {*each.verifier.reads()}}:
        found |= more
        stale |= more
    return {name for name in found if (record := run.verdicts[transcript].get(name)) is not None and record.eligible}


def _is_opened(run: StoredRun, decision: Adjudication, decided: Set[str]) -> bool:
    return decision.check_id in _readers(run, decision.transcript_id, decided)


def _reopened(record: VerdictResult) -> VerdictResult:
    """The verdict of a check that reads a verdict which a person has decided: a person has to decide it as well."""
    return replace(
        record,
        verdict="UNCLEAR",
        confidence=0.0,
        rationale_code=READS_DECIDED,
        adjudication_required=True,
        cause=None,
        extra={**record.extra, "verdict_before": record.verdict},
    )


def _with(record: VerdictResult, decision: Adjudication) -> VerdictResult:
    before = {name: value for name in _KEPT if (value := getattr(record, name)) is not None}
    about = {"by": decision.by, "at": decision.at, "why": decision.why, "before": before}
    return replace(
        record,
        verdict=decision.verdict,
        confidence=1.0,
        rationale_code=CODE,
        adjudication_required=False,
        cause=None,
        extra={**{key: value for key, value in record.extra.items() if key != "unverified_fail"}, CODE: about},
    )
