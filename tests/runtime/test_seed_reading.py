"""The published transcripts under `semantics: seed`: every difference from the published rows has a known cause.

`docs/decisions/seed-differences.md` counts them; the counts are worked out here again.
"""

import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import pytest
from tests.shared_data import ROOT, folder

from rulewright.check.project_check import compile_project
from rulewright.planning.scan import scan_plan
from rulewright.project import load_project
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.execution import execute
from rulewright_runtime.judging import replies
from rulewright_runtime.judging.evidence import QuotedTurns, tolerant
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.verdicts import EvidenceSpan

PAGE = ROOT / "docs" / "decisions" / "seed-differences.md"
PROJECT = ROOT / "benchmark" / "invisiblebench" / "seed.yaml"
REAL = folder("invisiblebench") / "transcripts" / "real"
FIELDS = ("verdict", "confidence", "rationale code", "evidence", "adjudication", "prompt hash", "judge calls")
KEYS = {"rationale code": "rationale_code", "adjudication": "adjudication_required", "prompt hash": "prompt_hash"}
_ROW = re.compile(r"^\| ([^|]+?) \|((?: *\d+ \|)+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _where_the_data_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_SHARED", str(folder("invisiblebench").parent))


@cache
def plan() -> Plan:
    return compile_project(PROJECT)


@cache
def transcripts() -> dict[str, Transcript]:
    return {item.id: item for item in Reader(plan().scenarios).read([REAL]) if isinstance(item, Transcript)}


@cache
def results() -> tuple[TranscriptResult, ...]:
    return tuple(execute(plan(), [REAL], f"replay:{folder('invisiblebench')}/judge_replies/real.answers.json.gz"))


@cache
def published() -> dict[str, Any]:
    path = folder("invisiblebench") / "expected" / "real_publish" / "per_run.jsonl.gz"
    return {row["transcript_id"]: row for row in map(json.loads, gzip.decompress(path.read_bytes()).splitlines())}


@cache
def replies_of(name: str) -> dict[str, Any]:
    path = folder("invisiblebench") / "judge_replies" / f"{name}.answers.json.gz"
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def texts(recorded: Any) -> Iterator[str]:
    """The raw replies in recorded ones, however deep they stand."""
    if isinstance(recorded, str):
        yield recorded
    elif isinstance(recorded, list):
        for part in recorded:
            yield from texts(part)


def problem(raw: str) -> str | None:
    """Why a reply from which the published engine takes a verdict is none here."""
    try:
        verdict = replies.lenient(raw)["verdict"]
    except JudgeError:
        return None
    try:
        assert replies.strict(raw)["verdict"] == verdict
    except JudgeError as error:
        return str(error)
    return None


def cause(field: str, ours: dict[str, Any], theirs: dict[str, Any], asked_again: bool) -> str | None:
    """Why a field of one record differs, or None where nobody knows."""
    extra = ours["extra"]
    if "edge" in extra:
        missed = "a hit found only by folding" if theirs["verdict"] == "PASS" else "a hit"
        return f"{missed} goes to a judge, and no reply was recorded"
    if asked_again and (field == "judge calls" or not extra.get("unverified_fail")):
        return "a reply that is not exactly one object is asked again"
    if field == "judge calls" and "windows" in extra:
        return "every exchange is judged separately"
    windows = extra.get("windows", [extra])
    if field in ("judge calls", "confidence") and any("unasked" in window for window in windows):
        return "a question that can't change the verdict is not asked"
    if any(window.get("unverified_fail") for window in windows) and field in ("verdict", "adjudication", "confidence"):
        return "a failure without a quote from the window is not confirmed"
    found = [span["quote"] for span in ours["evidence"]]
    unverified = any(span["quote"] not in found for window in windows for span in window.get("unverified_evidence", ()))
    if field == "evidence":
        if unverified:
            return "a quote that is not in the window is not evidence"
        return "every exchange is judged separately" if "windows" in extra else None
    if field == "rationale code" and theirs["rationale_code"] is not None:
        return "the code comes from a vote that counts"
    if field == "confidence" and ours["confidence"] < theirs["confidence"]:
        return "unusable votes stay in the denominator"
    if field == "adjudication" and theirs["verdict"] == ours["verdict"] == "FAIL":
        if ours[KEYS[field]]:
            return "a failure without a quote from the window is not confirmed" if unverified else None
        return "a confirmed failure needs no adjudication"
    return None


@cache
def counted() -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often each cause changes each field; and the differences without a cause."""
    found: Counter[tuple[str, str]] = Counter()
    unexplained = []
    for result in results():
        row = published()[result.transcript_id]
        recorded = replies_of("real").get(result.transcript_id, {})
        for verdict, mode in zip(msgspec.to_builtins(result.verdicts), row["mode_results"], strict=True):
            asked_again = any(problem(raw) for raw in texts(recorded.get(mode["mode_id"])))
            assert (verdict["check_id"], verdict["eligible"]) == (mode["mode_id"], mode["eligible"])
            calls = (
                {"judge calls": result.judge_calls.get(mode["mode_id"], 0)},
                {"judge calls": row["judge_calls"].get(mode["mode_id"], 0)},
            )
            ours, theirs = {**verdict, **calls[0]}, {**mode, **calls[1]}
            for field in FIELDS:
                key = KEYS.get(field, field)
                if not same(plain(ours[key]), theirs[key]):
                    why = cause(field, ours, theirs, asked_again)
                    if why is None:
                        unexplained.append(f"{result.transcript_id} {mode['mode_id']} {field}")
                    else:
                        found[why, field] += 1
    return found, unexplained


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) or isinstance(theirs, float):
        return math.isclose(ours, theirs, abs_tol=1e-12)
    return bool(ours == theirs)


def test_every_difference_has_a_cause() -> None:
    assert counted()[1] == []


def test_the_page_counts_what_the_transcripts_show() -> None:
    written = {
        (row.group(1), field): int(number)
        for row in _ROW.finditer(PAGE.read_text(encoding="utf-8"))
        for field, number in zip(FIELDS, row.group(2).rstrip("|").split("|"), strict=True)
    }
    assert {key: number for key, number in written.items() if number} == dict(counted()[0])


def test_what_is_decided_otherwise_is_left_open_and_never_passed() -> None:
    """No verdict of the specification's reading is kinder than the published one."""
    changed = Counter(
        (mode["verdict"], verdict.verdict)
        for result in results()
        for verdict, mode in zip(result.verdicts, published()[result.transcript_id]["mode_results"], strict=True)
        if verdict.verdict != mode["verdict"]
    )
    assert changed == {("FAIL", "UNCLEAR"): 14, ("PASS", "UNCLEAR"): 32, ("NOT_APPLICABLE", "UNCLEAR"): 1}
    failing = {row["transcript_id"] for row in published().values() if row["seed_aggregation"]["hard_fail"]}
    assert {result.transcript_id for result in results() if (result.scores or {})["hard_fail"]} == failing
    assert len(failing) == 4


def test_the_scores_differ_only_where_verdicts_do() -> None:
    moved = []
    for result in results():
        row = published()[result.transcript_id]
        ours = (result.scores or {})["overall_score"]
        theirs = row["seed_aggregation"]["overall"]
        verdicts = [verdict.verdict for verdict in result.verdicts] != [m["verdict"] for m in row["mode_results"]]
        if (ours is None) != (theirs is None) or (ours is not None and not math.isclose(ours, theirs, abs_tol=1e-12)):
            assert verdicts
            moved.append(ours - theirs)
    pattern = r"In (\d+) of the 126 rows.*?(\d+) of them rise\s+and (\d+) fall"
    found = re.search(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    assert [len(moved), sum(by > 0 for by in moved), sum(by < 0 for by in moved)] == [*map(int, found.groups())]


def test_the_page_says_how_many_failures_of_compliance_stop_no_gate() -> None:
    """The published engine fails a transcript hard for any FAIL of bucket B; those of severity S4 stop nothing here."""
    harmless = [
        (result, verdict)
        for result in results()
        for verdict in result.verdicts
        if verdict.primary_bucket == "B" and verdict.verdict == "FAIL" and verdict.severity == "S4"
    ]
    rows = {result.transcript_id for result, _ in harmless}
    published_hard = {name for name, row in published().items() if row["hard_fail"]}
    stopped = {result.transcript_id for result in results() if (result.scores or {})["hard_fail"]}
    assert rows == published_hard - stopped
    page = PAGE.read_text(encoding="utf-8")
    assert f"{len(harmless)} verdicts in {len(rows)} rows" in page
    assert f"of the {len(published_hard)} transcripts that the published engine hard-fails, {len(stopped)} do" in page


def test_the_page_says_which_recorded_replies_are_not_usable() -> None:
    """The recorded replies of both sets from which the published engine takes a verdict."""
    recorded = [
        raw for name in ("real", "template") for talk in replies_of(name).values() for raw in texts([*talk.values()])
    ]
    problems = Counter(map(problem, recorded))
    usable = sum(1 for raw in recorded if problem(raw) is None and _is_read(raw))
    unusable = sum(number for why, number in problems.items() if why)
    page = PAGE.read_text(encoding="utf-8")
    assert f"Of the {usable + unusable:,} recorded replies" in page
    assert f"{unusable} are not" in page
    assert f"{problems['the reply contains more than one JSON object']} hold two verdicts" in page
    assert problems["the reply contains more than one JSON object"] == 104


def test_the_page_says_which_quotes_are_found() -> None:
    """Every quote of the usable replies to the published transcripts, in the turn and role that it names."""
    counts: Counter[str] = Counter()
    for name, recorded in replies_of("real").items():
        turns = transcripts()[name].turns
        looked_up = QuotedTurns(turns)
        for raw in texts([*recorded.values()]):
            if problem(raw) is None and _is_read(raw):
                for span in tolerant(replies.strict(raw))[0]:
                    counts[_kind_of(span, turns, looked_up)] += 1
    page = PAGE.read_text(encoding="utf-8")
    assert f"Of {counts.total():,} quotes, {counts['word for word']:,} occur" in page
    assert f"{counts['folded']:,} do after folding" in page
    assert f"{counts['elsewhere']} occur in another turn, {counts['nowhere']} in none" in page


def _kind_of(span: EvidenceSpan, turns: Sequence[Turn], looked_up: QuotedTurns) -> str:
    if looked_up.indices(span):
        named = (turn for turn in turns if (turn.role, turn.turn) == (span.role, span.turn))
        return "word for word" if any(span.quote in turn.content for turn in named) else "folded"
    claims = (msgspec.structs.replace(span, role=turn.role, turn=turn.turn) for turn in turns)
    return "elsewhere" if any(map(looked_up.indices, claims)) else "nowhere"


def _is_read(raw: str) -> bool:
    try:
        return bool(replies.lenient(raw))
    except JudgeError:
        return False


def test_the_page_of_windows_counts_who_sees_the_whole_talk() -> None:
    judged, whole, unbounded = 0, 0, 0
    for result in results():
        last = max(turn.turn for turn in transcripts()[result.transcript_id].turns)
        for verdict in result.verdicts:
            if verdict.check_id in result.judge_calls and "edge" not in verdict.extra:
                window = verdict.extra.get("window", {})
                judged += 1
                unbounded += window == "unbounded"
                shown = (1, last) if window in ("unbounded", {}) else (window.get("from_turn"), window.get("to_turn"))
                whole += "windows" not in verdict.extra and shown == (1, last)
    page = (PAGE.parent / "windows.md").read_text(encoding="utf-8")
    assert f"of {judged:,} judged verdicts saw the whole conversation. Now {whole} do" in page
    assert f"and {unbounded} because no cue was found" in page
    planned = scan_plan(load_project(PROJECT), plan(), transcripts().values())
    assert planned["windows"]["unbounded"] == unbounded
    assert f"become {planned['planned_llm_calls']:,}" in page
    asked = sum(sum(result.judge_calls.values()) for result in results())
    differences = PAGE.read_text(encoding="utf-8")
    assert f"{asked:,} calls instead of the {planned['planned_llm_calls']:,} that" in differences


def test_a_row_is_valid_where_every_verdict_came_to_something() -> None:
    found = re.search(
        r"126 rows, (\d+) are `valid`, (\d+) are `needs_adjudication`.*?and (\d+) is `invalid`",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    statuses = Counter((result.scores or {})["status"] for result in results())
    assert [statuses[name] for name in ("valid", "needs_adjudication", "invalid")] == [*map(int, found.groups())]
    for result in results():
        if (result.scores or {})["status"] == "valid":
            assert not any(v.eligible and v.verdict == "UNCLEAR" and v.confidence == 0 for v in result.verdicts)
