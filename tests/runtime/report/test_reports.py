"""The summary of a scan, the exit status it stands for, and how it is shown."""

import io
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from rulewright_runtime.aggregate.inference import wilson
from rulewright_runtime.cells import width
from rulewright_runtime.errors import InputError
from rulewright_runtime.report.console import scorecard
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.report.summary import Summary, exit_status, failed_interval, status_at
from rulewright_runtime.report.text import escape, p_value
from rulewright_runtime.terminal import SafeStream, center, fit, left, one_line, right, wrapped


@dataclass
class Record:
    check_id: str
    verdict: str = "PASS"
    eligible: bool = True
    severity: str = "S5"
    primary_bucket: str = "A"
    adjudication_required: bool = False
    rationale_code: str | None = None
    cause: str | None = None


def engine(
    outcome: str = "passed",
    state: str = "passed",
    because: tuple[str, ...] = (),
    unproven: dict[str, str] | None = None,
) -> dict[str, Any]:
    gates = {"safety": {"state": state, "reasons": list(because)}}
    about = {"outcome": outcome, "decided_by": "gates", "because": list(because), "unproven": unproven or {}}
    return {**about, "gates": gates, "coverage": 1.0}


def row(name: str = "t1", **changes: Any) -> dict[str, Any]:
    return {
        "transcript_id": name,
        "scenario_id": "s",
        "model": "m",
        "status": "valid",
        "overall_score": 1.0,
        "dimension_scores": {"warmth": 1.0},
        "blindspot_profile": {"harm": False},
        "engine": engine(),
    } | changes


def summary(*rows: dict[str, Any], refused: int = 0) -> dict[str, Any]:
    gathered = Summary({"profile": "smoke", "scorecard": "two-tier"})
    for each in rows:
        gathered.add(each, [Record("A1")])
    for number in range(refused):
        gathered.refuse(InputError("no JSON", "a.jsonl", number + 1))
    return gathered.result()


FAILED = row(engine=engine("failed", "failed", ("A1",)), overall_score=0.0, blindspot_profile={"harm": True})
OPEN = row(engine=engine("undecided", "undecided", ("A1",)), status="needs_adjudication")
NOT_RUN = row(engine=engine(state="not_run"))
NOTHING = row(engine=engine("nothing_applied", "not_run"))


@pytest.mark.parametrize(
    ("rows", "refused", "status"),
    [
        ([row()], 0, 0),
        ([row(), FAILED], 0, 1),
        ([FAILED, OPEN], 0, 1),
        ([row(), OPEN], 0, 2),
        ([NOT_RUN], 0, 0),
        ([row(), NOTHING], 0, 0),
        ([NOTHING], 0, 2),
        ([NOTHING, OPEN], 0, 2),
        ([row()], 1, 3),
        ([FAILED], 1, 3),
        ([], 0, 3),
    ],
)
def test_the_exit_status_follows_the_most_severe_outcome(rows: list[dict[str, Any]], refused: int, status: int) -> None:
    assert exit_status(summary(*rows, refused=refused)) == status


@pytest.mark.parametrize("status", [0, 1, 2])
def test_nothing_that_an_author_outputs_changes_the_exit_status(status: int) -> None:
    """Outputs left out, renamed, constant, inverted, of any type."""
    before = (row(), FAILED, OPEN)[status]
    forged: list[dict[str, Any]] = [
        {key: before[key] for key in ("transcript_id", "scenario_id", "model", "engine")},
        before | {"gates": {"safety": {"passed": True, "reasons": []}}, "hard_fail": False, "status": "valid"},
        before | {"gates": {"safety": {"passed": False, "reasons": ["A1"]}}, "hard_fail": True, "status": "invalid"},
        before | {"gates": "all passed", "status": 0, "dimension_scores": 1.0, "blindspot_profile": "none"},
        before | {"Gates": {}, "outcome": "passed", "outcomes": {"passed": 9}, "hard_fail_reasons": 7},
    ]
    assert [exit_status(summary(each)) for each in forged] == [status] * len(forged)


def test_absent_scores_are_left_out_of_the_mean_and_counted() -> None:
    result = summary(row(overall_score=0.5), row(overall_score=None), row(overall_score=1.0))
    assert result["overall_score"] == {"mean": 0.75, "counted": 2, "absent": 1}


def test_gates_are_counted_by_what_they_answer() -> None:
    result = summary(row(), FAILED, OPEN, NOT_RUN)
    assert result["outcomes"] == {"passed": 2, "failed": 1, "undecided": 1, "nothing_applied": 0}
    assert result["gates"] == {"safety": {"passed": 1, "failed": 1, "undecided": 1, "not_run": 1}}


def test_blindspot_rates_are_failures_among_known_values() -> None:
    result = summary(row(), FAILED, row(blindspot_profile={"harm": None}))
    assert result["blindspots"] == {"rates": {"harm": 0.5}, "known": {"harm": 2}, "n_runs": 3}


def test_every_share_and_mean_of_a_group_says_over_how_many_transcripts_it_is() -> None:
    unknown: dict[str, Any] = {"overall_score": None, "blindspot_profile": {"harm": None}}
    gathered = Summary({}, category_of={"a": "safety", "b": "empathy"})
    for each in (row(scenario_id="a"), {**FAILED, "scenario_id": "b"}, row(scenario_id="b", model="n", **unknown)):
        gathered.add(each, [Record("A1")])
    page, shown = markdown(gathered.result()), scorecard(gathered.result()).splitlines()
    assert "| harm | 50% of 2 | 50% of 2 | – |" in page
    assert "| empathy | 2 | 1 | 0.00 | 1 |" in page
    assert any(line.split()[:1] == ["harm"] and line.split()[-1] == "2" for line in shown)
    assert any(line.split()[:1] == ["empathy"] and line.split()[-2:] == ["1", "1/2"] for line in shown)


def test_what_awaits_a_person_is_listed() -> None:
    gathered = Summary()
    gathered.add(row(), [Record("A1", "UNCLEAR", adjudication_required=True, rationale_code="why")])
    gathered.add(row("t2", undecided=[{"place": "counts.c", "check_id": "A1", "reason": "no such key"}]), [])
    assert gathered.result()["adjudication"]["items"] == [
        {"transcript_id": "t1", "check_id": "A1", "verdict": "UNCLEAR", "reason": "why"},
        {"transcript_id": "t2", "check_id": "A1", "verdict": None, "reason": "counts.c: no such key"},
    ]


def test_the_checks_that_made_transcripts_fail_are_counted() -> None:
    result = summary(FAILED, row(), FAILED)
    assert result["failed"]["by_check"] == [
        {"check_id": "A1", "primary_bucket": "A", "severity": "S5", "count": 2, "unproven": 0}
    ]
    assert result["failed"]["rate"] == pytest.approx(2 / 3)


def test_a_transcript_that_failed_without_a_failure_is_distinguished() -> None:
    outage = row("t2", engine=engine("failed", "failed", ("A1",), {"A1": "error"}))
    partly = row("t3", engine=engine("failed", "failed", ("A1", "B1"), {"A1": "unverified"}))
    result = summary(FAILED, outage, partly)
    assert (result["failed"]["count"], result["failed"]["unproven"]) == (3, 1)
    assert (result["models"]["m"]["failed"], result["models"]["m"]["unproven"]) == (3, 1)
    assert "1 of them unproven: no usable verdict" in scorecard(result)
    assert "A1 (no usable verdict)" in markdown(result)
    assert "A1 (quotes that do not occur), B1" in markdown(result)


def test_without_a_gate_the_report_says_that_checks_decide() -> None:
    bare = {
        "outcome": "failed",
        "decided_by": "checks",
        "because": ["A1"],
        "unproven": {},
        "gates": {},
        "coverage": 1.0,
    }
    result = summary(row(engine=bare))
    assert "1 of 1 (100%) by checks (no gate contains a check)" in scorecard(result)
    assert f"\n{'':20}95% interval 21% to 100%\n" in scorecard(result)
    assert "No gate contains a check" in markdown(result)


def test_what_is_undecided_unproven_or_refused_widens_the_interval_of_failures() -> None:
    undecided = [row(f"u{number}", engine=engine("undecided", "undecided")) for number in range(3)]
    assert f"\n{'':20}95% interval 0% to 100%\n" in scorecard(summary(*undecided))
    outage = engine("failed", "failed", ("A1",), {"A1": "error"})
    result = summary(row(engine=outage), *undecided, row("p"))
    assert failed_interval(result) == {**wilson(0, 5), "high": wilson(4, 5)["high"]}
    result["refused"]["count"] = 3
    assert failed_interval(result) == {**wilson(0, 8), "high": wilson(7, 8)["high"]}


@pytest.mark.parametrize("failed", [False, True])
def test_failures_that_stop_no_gate_are_counted_where_every_gate_passed(failed: bool) -> None:
    gathered = Summary({"profile": "smoke", "scorecard": "two-tier"})
    gathered.add(FAILED if failed else row(), [Record("A1"), Record("F1", "FAIL"), Record("F2", "FAIL")])
    for text in (scorecard(gathered.result()), markdown(gathered.result())):
        assert ("2 FAIL verdicts in checks that stop no gate" in text) is not failed


def test_no_line_of_the_console_is_wider_than_the_terminal() -> None:
    wide = row("非常に長い名前の" * 12, undecided=[{"place": "x" * 90, "check_id": "非" * 60, "reason": "y" * 200}])
    result = summary(FAILED, wide, refused=12)
    for columns in (40, 60, 80, 100):
        shown = scorecard(result, columns=columns)
        assert max(width(line) for line in shown.splitlines()) <= columns
        for head in ("passed", "undecided", "not run", "counted", "absent"):
            assert head in shown


def test_unresolved_gates_are_listed_in_full() -> None:
    names = [f"a-long-name-of-a-transcript-{number}" for number in (1, 2)]
    result = summary(*map(unresolved, names))
    shown = " ".join(scorecard(result).split())
    assert f"2 answers decide it: {names[0]} x A1, {names[1]} x A1 " in shown


def unresolved(name: str) -> dict[str, Any]:
    bounds = {
        "unknown": ["A1"],
        "exact": True,
        "gates": {"safety": {"states": ["failed", "passed"], "decided_by": ["A1"]}},
        "overall_score": {"low": 0.0, "high": 1.0, "absent": False},
    }
    return row(name, engine=engine("undecided", "undecided") | {"bounds": bounds})


def test_lines_are_broken_at_blanks_and_indented() -> None:
    assert wrapped("one two three", 12, "Head ") == ["Head one two", "     three"]
    assert wrapped("", 12, "Head ") == ["Head "]
    assert wrapped("日本 " + "x" * 20, 10) == ["日本 xxxxx", "x" * 10, "xxxxx"]
    assert wrapped("全額返金を保証いたします。ご安心", 12, "Q ") == [
        "Q 全額返金を",
        "  保証いたし",
        "  ます。ご安",
        "  心",
    ]
    assert wrapped("ab 日本日本日本", 4) == ["ab", "日本", "日本", "日本"]
    assert wrapped("日本", 1) == ["", "日", "本"]


def test_the_console_shows_gates_failures_and_refusals_without_colour() -> None:
    shown = scorecard(summary(FAILED, row(), refused=1))
    assert "Failed              1 of 2 (50%) by a gate" in shown
    assert "1 input refused" in shown
    assert "a.jsonl:1: no JSON" in shown
    assert "\x1b" not in shown
    assert "\x1b[31m" in scorecard(summary(FAILED), colour=True)


def test_inputs_that_are_refused_for_one_reason_are_one_entry() -> None:
    shown = scorecard(summary(row(), refused=12))
    assert "a.jsonl:1: no JSON (also 11 other inputs)" in shown
    assert "a.jsonl:2" not in shown
    assert "more input" not in shown


def test_the_console_says_why_a_transcript_is_undecided_although_no_gate_is_open() -> None:
    few = " ".join(scorecard(summary(row(engine=engine("undecided")))).split())
    assert "no gate is undecided, but too few checks were decided" in few
    assert "no gate is open" not in scorecard(summary(row(engine=engine("undecided", "undecided", ("A1",)))))


def test_every_report_names_a_gate_that_no_check_belongs_to_and_the_cure() -> None:
    waiting = summary(row(engine=engine("undecided", "not_run")), row("t2", engine=engine("undecided", "not_run")))
    for text in (scorecard(waiting), markdown(waiting)):
        words = " ".join(text.replace("\\_", "_").split())
        assert (
            "gate safety did not run, so no transcript can pass: no check that ran belongs to it; add a check" in words
        )
        assert "no gate is undecided" not in words
    assert "did not run" not in scorecard(summary(NOT_RUN))
    assert "did not run" not in scorecard(summary(NOTHING))


def test_the_console_cuts_no_reason_behind_a_short_name() -> None:
    gathered = Summary()
    record = Record(
        "is-empathetic", "UNCLEAR", adjudication_required=True, rationale_code="a_reason_of_thirty_characters"
    )
    gathered.add(row("chat-06"), [record])
    assert "  chat-06  UNCLEAR is-empathetic a_reason_of_thirty_characters\n" in scorecard(gathered.result())


def test_the_console_shows_no_table_of_scores_without_a_score() -> None:
    assert "Scores" in scorecard(summary(row()))
    gathered = Summary(headline=None)
    gathered.add({name: each for name, each in row().items() if "score" not in name}, [Record("A1")])
    assert "Scores" not in scorecard(gathered.result())


def test_a_check_that_ran_on_no_transcript_is_named_in_every_report() -> None:
    gathered = Summary()
    for name in ("t1", "t2"):
        records = [Record("A1"), Record("A2", "NOT_APPLICABLE", eligible=False)]
        gathered.add(row(name), [*records, Record("A3", eligible=name == "t1")])
    for text in (scorecard(gathered.result()), markdown(gathered.result())):
        assert "1 of 3 checks ran on no transcript: A2" in text
    assert "ran on no transcript" not in scorecard(summary(row()))
    assert "ran on no transcript" not in scorecard(summary())


def test_an_empty_scan_can_be_shown() -> None:
    assert "0 transcripts" in scorecard(summary())
    assert "no transcript was judged" in scorecard(summary())
    assert "0 transcripts" in markdown(summary())


def test_nothing_in_a_name_breaks_out_of_a_markdown_cell() -> None:
    evil = row("a|b\n# c <script>", engine=engine("failed", "failed", ("A1",)))
    page = markdown(summary(evil))
    assert "a\\|b \\# c \\<script\\>" in page


def test_widths_are_those_of_a_terminal() -> None:
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert fit("日本語", 5) == "日本…"
    assert fit("日本語", 4) == "日…"
    assert fit("abc", 0) == ""
    assert (left("日", 4), right("日", 4), center("日", 5)) == ("日  ", "  日", " 日  ")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_of_progress_is_cleared_before_what_is_printed_after_it() -> None:
    screen = Screen()
    stream = SafeStream(screen, is_output=False)
    stream.show_progress("5 of 60 transcripts")
    stream.write("note: told\n")
    stream.write("warning: told\n")
    assert screen.getvalue() == "\r5 of 60 transcripts\r\x1b[Knote: told\nwarning: told\n"


def test_control_characters_and_direction_marks_do_not_reach_a_terminal() -> None:
    assert one_line("a\x1b[31m\u202eb\tc\nd") == "a\\u001b[31m\\u202eb c d"
    assert escape("`*_[x]`") == "\\`\\*\\_\\[x\\]\\`"


def test_a_name_that_the_locale_could_not_decode_is_shown_as_it_is() -> None:
    assert one_line("Pr\udcc3\udcbcfung") == "Prüfung"
    assert one_line("Pr\udcfcfung\ud800") == "Pr\\udcfcfung\\ud800"


def test_a_small_p_value_is_not_shown_as_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.0004, 0.00099, 0.001, 0.0412, 1.0)] == [
        "p < 0.001", "p < 0.001", "p < 0.001", "p = 0.001", "p = 0.041", "p = 1.000",
    ]  # fmt: skip


def test_a_gate_is_idle_only_if_it_passed_everywhere_without_a_verdict() -> None:
    for rows, idle in (([row(), row("t2")], {"safety": ["A9"]}), ([row(), NOT_RUN], {})):
        gathered = Summary(members={"safety": ["A9"]})
        for each in rows:
            gathered.add(each, [Record("A1")])
        assert gathered.result().get("idle_gates", {}) == idle


def test_a_check_that_does_not_apply_has_a_record_and_is_not_suppressed() -> None:
    gathered = Summary(planned=3)
    gathered.add(row(), [Record("A1"), Record("A2", eligible=False)])
    totals = gathered.result()["totals"]
    assert [totals[name] for name in ("records", "eligible", "not_eligible", "suppressed")] == [3, 1, 1, 1]


def test_a_severity_leaves_a_run_undecided_whose_profile_left_out_a_check() -> None:
    plan: Any = SimpleNamespace(severities=("S1", "S5"), checks=[SimpleNamespace(id="A1", severity="S5")])
    assert status_at(summary(row()), plan, "S5") == 0
    assert status_at(summary(row(left_out=["A2"])), plan, "S5") == 2
