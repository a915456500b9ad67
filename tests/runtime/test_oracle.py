"""The published engine's answers, row by row, against what a compiled plan and the runtime answer."""

from __future__ import annotations

import gzip
import json
import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.shared_data import ROOT, folder
from tests.shipped_plans import shipped_plan

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.report.accumulators import Flags
from rulewright_runtime.transcript_execution import TranscriptResult

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = [
    ("real_publish", "publish", "real", 126, 6664),
    ("template_publish", "publish", "template", 151, 7987),
    ("template_smoke", "smoke", "template", 151, 2249),
    ("template_dev", "dev", "template", 151, 3926),
]
SCORES = (
    "hard_fail", "hard_fail_reasons", "gates", "dimension_scores", "overall_score", "eligible_count", "resolved_count",
    "unclear_count", "coverage_rate", "blindspot_profile",
)  # fmt: skip
# The published rows word these two differently from run to run; only their verdicts are fixed.
FREE_CODES = {"false_human_identity_claim", "identity_question_without_assistant_response"}


@pytest.fixture(autouse=True)
def _where_the_data_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_SHARED", str(folder("invisiblebench").parent))


@cache
def judged(profile: str, kind: str, scorecard: str) -> tuple[TranscriptResult, ...]:
    """All results of one run, over a plan that has been through its file form."""
    data = folder("invisiblebench")
    plan = shipped_plan(profile=profile, scorecard=scorecard, project="invisiblebench")
    replies = f"replay:{data}/judge_replies/{kind}.answers.json.gz"
    return tuple(execute(decode(encode(plan)), [data / "transcripts" / kind], replies))


@cache
def expected(run: str) -> dict[str, Any]:
    """The published rows by transcript."""
    path = folder("invisiblebench") / "expected" / run / "per_run.jsonl.gz"
    rows = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    return {row["transcript_id"]: row for row in rows}


def differences(found: Any, wanted: Any, place: str) -> Iterator[str]:
    """Where two JSON values differ, numbers by more than 1e-12; a key that only one of them has is a difference."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted | found:
            yield from differences(found.get(key, "<absent>"), wanted.get(key, "<absent>"), f"{place}.{key}")
    elif isinstance(wanted, float) and isinstance(found, int | float) and not isinstance(found, bool):
        if not math.isclose(found, wanted, rel_tol=0, abs_tol=1e-12):
            yield f"{place}: {found} is not {wanted}"
    elif found != wanted:
        yield f"{place}: {found!r} is not {wanted!r}"


def plain(value: Any) -> Any:
    """A value as it reads in a file."""
    return json.loads(msgspec.json.encode(value))


@pytest.mark.parametrize(("run", "profile", "kind", "rows", "records"), RUNS)
def test_every_verdict_equals_the_published_one(run: str, profile: str, kind: str, rows: int, records: int) -> None:
    results = judged(profile, kind, "reference-compatible")
    assert len(results) == rows == len(expected(run))
    wrong: list[str] = []
    compared = 0
    for result in results:
        row = expected(run)[result.transcript_id]
        assert [verdict.check_id for verdict in result.verdicts] == [mode["mode_id"] for mode in row["mode_results"]]
        for verdict, mode in zip(plain(result.verdicts), row["mode_results"], strict=True):
            wanted = {"check_id" if key == "mode_id" else key: value for key, value in mode.items()}
            if wanted["rationale_code"] in FREE_CODES:
                del wanted["rationale_code"]
            published = {key: value for key, value in verdict.items() if key in wanted}
            if published != wanted:
                wrong.extend(differences(published, wanted, f"{result.transcript_id} {mode['mode_id']}"))
            compared += 1
        wrong.extend(differences(result.judge_calls, row["judge_calls"], f"{result.transcript_id} calls"))
    assert compared == records
    assert wrong[:5] == []


def test_the_page_about_tests_counts_the_records() -> None:
    rows, records = sum(each[3] for each in RUNS), sum(each[4] for each in RUNS)
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert f"{records:,} records in {rows} rows" in page


@pytest.mark.parametrize(("run", "profile", "kind", "rows", "records"), RUNS)
def test_every_score_equals_the_published_one(run: str, profile: str, kind: str, rows: int, records: int) -> None:
    wrong: list[str] = []
    for result in judged(profile, kind, "reference-compatible"):
        wanted = {key: expected(run)[result.transcript_id][key] for key in SCORES}
        found = {key: value for key, value in plain(result.scores).items() if key in wanted}
        wrong.extend(differences(found, wanted, result.transcript_id))
    assert wrong[:5] == []


def test_a_row_keeps_the_status_of_the_reference_though_its_judge_failed() -> None:
    plan = shipped_plan(profile="publish", scorecard="reference-compatible", project="invisiblebench")
    assert plan.scorecard is not None
    assert plan.scorecard.unproven == "keep"
    results = judged("publish", "real", "reference-compatible")
    assert {(result.scores or {})["status"] for result in results} <= {"valid", "invalid"}


@pytest.mark.parametrize(("run", "profile", "kind", "rows", "records"), RUNS)
def test_the_corpus_rates_equal_the_published_ones(run: str, profile: str, kind: str, rows: int, records: int) -> None:
    flags = Flags()
    for result in judged(profile, kind, "reference-compatible"):
        flags.add((result.scores or {})["blindspot_profile"])
    path: Path = folder("invisiblebench") / "expected" / run / "blindspot_rates.json"
    wanted = json.loads(path.read_text(encoding="utf-8"))
    assert list(differences(flags.rates(), wanted.get("rates", wanted), run)) == []


def test_without_the_prefilter_every_verdict_is_the_same() -> None:
    data = folder("invisiblebench")
    plan = shipped_plan(profile="smoke", scorecard="two-tier", project="invisiblebench")
    with_it = list(execute(plan, [data / "transcripts"]))
    assert with_it == list(execute(plan, [data / "transcripts"], prefilter=False))
    assert sum(verdict.verdict == "FAIL" for result in with_it for verdict in result.verdicts) > 100
