"""The summary of a scan, the exit status it stands for, and how it is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from rulewright_runtime.errors import InputError
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import Summary, exit_status
from rulewright_runtime.report.text import center, clean, escape, fit, left, right, width


@dataclass
class Record:
    mode_id: str
    verdict: str = "PASS"
    eligible: bool = True
    severity: str = "S5"
    primary_bucket: str = "A"
    adjudication_required: bool = False
    rationale_code: str | None = None


def row(name: str = "t1", **changes: Any) -> dict[str, Any]:
    return {
        "transcript_id": name,
        "scenario_id": "s",
        "model": "m",
        "status": "valid",
        "gates": {"safety": {"passed": True, "reasons": []}},
        "overall_score": 1.0,
        "hard_fail": False,
        "hard_fail_reasons": [],
        "dimension_scores": {"warmth": 1.0},
        "blindspot_profile": {"harm": False},
    } | changes


def summary(*rows: dict[str, Any], refused: int = 0) -> dict[str, Any]:
    gathered = Summary({"profile": "smoke", "scorecard": "two-tier"})
    for each in rows:
        gathered.add(each, [Record("A1")])
    for number in range(refused):
        gathered.refuse(InputError("no JSON", "a.jsonl", number + 1))
    return gathered.result()


FAILED = row(
    gates={"safety": {"passed": False, "reasons": ["A1"]}},
    hard_fail=True,
    overall_score=0.0,
    hard_fail_reasons=[{"mode_id": "A1", "reason": "r", "bucket": "A", "severity": "S5"}],
    blindspot_profile={"harm": True},
)
OPEN = row(gates={"safety": {"passed": None, "reasons": ["A1"]}}, status="needs_adjudication")
NOT_RUN = row(gates={"safety": {"passed": None, "reasons": []}})


@pytest.mark.parametrize(
    ("rows", "refused", "status"),
    [
        ([row()], 0, 0),
        ([row(), FAILED], 0, 1),
        ([FAILED, OPEN], 0, 1),
        ([row(), OPEN], 0, 2),
        ([row(status="invalid")], 0, 2),
        ([NOT_RUN], 0, 0),
        ([row()], 1, 3),
        ([FAILED], 1, 3),
        ([], 0, 3),
    ],
)
def test_the_exit_status_follows_the_gravest_finding(rows: list[dict[str, Any]], refused: int, status: int) -> None:
    assert exit_status(summary(*rows, refused=refused)) == status


def test_a_quality_verdict_that_awaits_a_person_leaves_all_gates_passed() -> None:
    assert exit_status(summary(row(status="needs_adjudication"))) == 0


def test_a_scorecard_that_could_not_decide_never_exits_as_passed() -> None:
    undecided = [{"mode_id": "", "place": "status", "reason": "no_such_key"}]
    assert exit_status(summary(row(status="needs_adjudication", undecided=undecided))) == 2


def test_a_status_nobody_knows_never_exits_as_passed() -> None:
    assert exit_status(summary(row(status="fine"))) == 2


def test_absent_scores_are_left_out_of_the_mean_and_counted() -> None:
    result = summary(row(overall_score=0.5), row(overall_score=None), row(overall_score=1.0))
    assert result["overall_score"] == {"mean": 0.75, "counted": 2, "absent": 1}


def test_gates_are_counted_by_what_they_answer() -> None:
    result = summary(row(), FAILED, OPEN, NOT_RUN)
    assert result["gates"] == {"safety": {"passed": 1, "failed": 1, "undecided": 1, "not_run": 1}}


def test_blindspot_rates_are_failures_among_known_values() -> None:
    result = summary(row(), FAILED, row(blindspot_profile={"harm": None}))
    assert result["blindspots"] == {"rates": {"harm": 0.5}, "n_runs": 3}


def test_what_awaits_a_person_is_listed() -> None:
    gathered = Summary()
    gathered.add(row(), [Record("A1", "UNCLEAR", adjudication_required=True, rationale_code="why")])
    gathered.add(row("t2", undecided=[{"place": "counts.c", "mode_id": "A1", "reason": "no such key"}]), [])
    assert gathered.result()["adjudication"]["items"] == [
        {"transcript_id": "t1", "mode_id": "A1", "verdict": "UNCLEAR", "reason": "why"},
        {"transcript_id": "t2", "mode_id": "A1", "verdict": None, "reason": "counts.c: no such key"},
    ]


def test_the_reasons_of_hard_fails_are_counted_by_check() -> None:
    result = summary(FAILED, row(), FAILED)
    assert result["hard_fails"]["by_check"] == [{"mode_id": "A1", "bucket": "A", "severity": "S5", "count": 2}]
    assert result["hard_fails"]["rate"] == pytest.approx(2 / 3)


def test_no_line_of_the_console_is_wider_than_the_terminal() -> None:
    wide = row("非常に長い名前の" * 12, undecided=[{"place": "x" * 90, "mode_id": "非" * 60, "reason": "y" * 200}])
    result = summary(FAILED, wide, refused=12)
    for columns in (80, 100):
        shown = scorecard(result, columns=columns)
        assert max(width(line) for line in shown.splitlines()) <= columns


def test_the_console_shows_gates_hard_fails_and_refusals_without_colour() -> None:
    shown = scorecard(summary(FAILED, row(), refused=1))
    assert "Hard fails          1 of 2 (50%)" in shown
    assert "1 input refused" in shown
    assert "a.jsonl:1: no JSON" in shown
    assert "\x1b" not in shown
    assert "\x1b[31m" in scorecard(summary(FAILED), colour=True)


def test_an_empty_scan_can_be_shown() -> None:
    assert "0 transcripts" in scorecard(summary())
    assert "0 transcripts" in markdown(summary())


def test_nothing_in_a_name_breaks_out_of_a_markdown_cell() -> None:
    evil = row("a|b\n# c <script>", hard_fail=True)
    page = markdown(summary(evil))
    assert "a\\|b \\# c \\<script\\>" in page


def test_widths_are_those_of_a_terminal() -> None:
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert fit("日本語", 5) == "日本…"
    assert fit("日本語", 4) == "日…"
    assert fit("abc", 0) == ""
    assert (left("日", 4), right("日", 4), center("日", 5)) == ("日  ", "  日", " 日  ")


def test_control_characters_and_direction_marks_do_not_reach_a_terminal() -> None:
    assert clean("a\x1b[31m\u202eb\tc\nd") == "a[31mb c d"
    assert escape("`*_[x]`") == "\\`\\*\\_\\[x\\]\\`"
