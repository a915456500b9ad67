"""The published transcripts under `semantics: seed`: every difference from the published rows has a known cause.

`docs/decisions/seed-differences.md` counts them; the counts are worked out here again.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.shared_data import ROOT, folder

from rulewright.compiling import compile_project
from rulewright_runtime.execution import TranscriptResult, execute

PAGE = ROOT / "docs" / "decisions" / "seed-differences.md"
FIELDS = ("verdict", "confidence", "rationale code", "evidence", "adjudication", "prompt hash", "judge calls")
KEYS = {"rationale code": "rationale_code", "adjudication": "adjudication_required", "prompt hash": "prompt_hash"}
_ROW = re.compile(r"^\| ([^|]+?) \|((?: *\d+ \|)+)$", re.MULTILINE)


@pytest.fixture(autouse=True)
def _where_the_data_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_SHARED", str(folder("invisiblebench").parent))


@cache
def results() -> tuple[TranscriptResult, ...]:
    data = folder("invisiblebench")
    plan = compile_project(ROOT / "benchmark" / "invisiblebench" / "seed.yaml")
    return tuple(execute(plan, [data / "transcripts" / "real"], f"replay:{data}/judge_replies/real.answers.json.gz"))


@cache
def published() -> dict[str, Any]:
    path = folder("invisiblebench") / "expected" / "real_publish" / "per_run.jsonl.gz"
    return {row["transcript_id"]: row for row in map(json.loads, gzip.decompress(path.read_bytes()).splitlines())}


def cause(field: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Why a field of one record differs, or None where nobody knows."""
    extra = ours["extra"]
    if "edge" in extra:
        return "a hit goes to a judge, and no reply was recorded"
    if field == "judge calls":
        return "every exchange is judged by itself" if "windows" in extra else None
    if extra.get("unverified_fail") and field in ("verdict", "adjudication", "confidence"):
        return "a failure without a quote that stands in the window is open"
    unverified = extra.get("unverified_evidence") or any(
        window.get("unverified_evidence") for window in extra.get("windows", ())
    )
    if field == "evidence":
        if unverified:
            return "a quote that does not stand in the window is no evidence"
        return "every exchange is judged by itself" if "windows" in extra else None
    if field == "rationale code" and theirs["rationale_code"] is not None:
        return "the code comes from a vote that counts"
    if field == "confidence" and ours["confidence"] < theirs["confidence"]:
        return "votes that could not be used stay in the denominator"
    if field == "adjudication" and theirs["verdict"] == ours["verdict"] == "FAIL":
        return "a clear failure needs no second look"
    return None


@cache
def counted() -> tuple[Counter[tuple[str, str]], list[str]]:
    """How often each cause changes each field; and the differences without a cause."""
    found: Counter[tuple[str, str]] = Counter()
    unexplained = []
    for result in results():
        row = published()[result.transcript_id]
        for verdict, mode in zip(msgspec.to_builtins(result.verdicts), row["mode_results"], strict=True):
            assert (verdict["mode_id"], verdict["eligible"]) == (mode["mode_id"], mode["eligible"])
            calls = (
                {"judge calls": result.judge_calls.get(mode["mode_id"], 0)},
                {"judge calls": row["judge_calls"].get(mode["mode_id"], 0)},
            )
            ours, theirs = {**verdict, **calls[0]}, {**mode, **calls[1]}
            for field in FIELDS:
                key = KEYS.get(field, field)
                if not same(plain(ours[key]), theirs[key]):
                    why = cause(field, ours, theirs)
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
    assert changed == {("FAIL", "UNCLEAR"): 16}
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
    found = re.search(r"In (\d+) of the 126 rows", PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert len(moved) == int(found.group(1))


def test_a_row_is_valid_where_every_verdict_came_to_something() -> None:
    found = re.search(
        r"126 rows (\d+) are `valid`, (\d+) are `needs_adjudication`.*?and (\d+) is `invalid`",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    statuses = Counter((result.scores or {})["status"] for result in results())
    assert [statuses[name] for name in ("valid", "needs_adjudication", "invalid")] == [*map(int, found.groups())]
    for result in results():
        if (result.scores or {})["status"] == "valid":
            assert not any(v.eligible and v.verdict == "UNCLEAR" and v.confidence == 0 for v in result.verdicts)


def test_the_project_needs_nothing_that_is_not_there() -> None:
    assert Path(ROOT / "benchmark" / "invisiblebench" / "seed.yaml").is_file()
    assert len(results()) == 126
