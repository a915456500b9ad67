"""A gate with a pass rate decides over a whole run: what is unknown counts as failed and as passed, and no run passes
by what it lacks."""

import json
import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.folders import json_lines, write
from tests.rounds import rounds

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.documents.scorecard import read_scorecard
from rulewright.documents.validation import validate
from rulewright.load import load_text
from rulewright.lower.scorecard import lower_scorecard
from rulewright.project import load_project
from rulewright.reporting.stored_run import read_run
from rulewright.whatif.rescoring import policy_of, rated_gates, rescored
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.bounds import answered, is_unknown
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.part import ANSWERS
from rulewright_runtime.report.accumulators import Unresolved, gate_result, pass_rate_lines
from rulewright_runtime.report.summary import Summary, exit_status
from rulewright_runtime.runs.store import run

TINY: Final = Fraction(1, 10**6)
EMPTY: Final = "empty: {not_eligible: passed, not_run: passed}"
GATE: Final = f"stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR, {EMPTY}"
CARD: Final = f"""scorecard: release
parameters: {{least: {{type: score, default: 0.5}}}}
gates:
  safety: {{of: v.primary_bucket == A, {GATE}}}
  helpful: {{of: v.primary_bucket == C, {GATE}, pass_rate: least}}
output: {{gates: gates}}
"""
CHECKS: Final = {
    "a": {"primary_bucket": "A", "severity": "S5"},
    "c": {"primary_bucket": "C", "severity": "S2"},
    "d": {"primary_bucket": "C", "severity": "S2"},
}


def card_of(text: str = CARD, **parameters: object) -> Scorecard:
    document, _ = read_scorecard(load_text(text, "card.yaml").root)
    assert document is not None
    plan, findings = lower_scorecard(document, {}, CHECKS, {})
    assert plan is not None
    assert not findings
    return Scorecard(plan, parameters)


def verdict(check_id: str, word: str, *, eligible: bool = True, cause: str | None = None) -> Any:
    return SimpleNamespace(
        **CHECKS[check_id], check_id=check_id, eligible=eligible, verdict=word, confidence=1.0, evidence=(),
        scorer_version="1", prompt_hash=None, rationale_code=None, adjudication_required=False, secondary_tags=(),
        extra={}, cause=cause,
    )  # fmt: skip


Row = tuple[str, list[Any]]  # the model and the verdicts


def summarised(card: Scorecard, rows: Iterable[Row], refused: int = 0) -> dict[str, Any]:
    """The summary of a run of these rows, in two parts as by two processes."""
    parts = Summary(), Summary()
    for number, (model, verdicts) in enumerate(rows):
        parts[number % 2].add({"transcript_id": f"T{number}", "model": model, **card.score(verdicts)}, [])
    parts[0].merge(parts[1])
    parts[0].refused.count = refused
    return dict(parts[0].result())


def states(summary: dict[str, Any]) -> set[str]:
    return set(summary["unresolved"]["gates"]["helpful"]["states"])


def rows_of(words: str, model: str = "m") -> list[Row]:
    """A row for each letter: passed, failed, unclear, not eligible."""
    made = {"p": ("PASS", True), "f": ("FAIL", True), "u": ("UNCLEAR", True), "n": ("NOT_APPLICABLE", False)}
    return [
        (model, [verdict("a", "PASS"), verdict("c", word, eligible=applies)])
        for word, applies in (made[letter] for letter in words)
    ]


def completed(rows: Sequence[Row]) -> Iterable[list[Row]]:
    """The rows with every combination of answers to their unknown verdicts."""
    places = [(row, at) for row, (_, each) in enumerate(rows) for at, one in enumerate(each) if is_unknown(one)]
    for answers in product(ANSWERS, repeat=len(places)):
        found = [(model, list(each)) for model, each in rows]
        for (row, at), answer in zip(places, answers, strict=True):
            found[row][1][at] = answered(found[row][1][at], answer)
        yield found


def test_the_result_is_that_of_every_completion_of_what_is_unknown() -> None:
    choose = random.Random(20)
    for _ in range(rounds(12, 1000)):
        card = card_of(least=choose.choice(["0.5", "0.6", "0.75", "0.9", "1", "2/3"]))
        rows: list[Row] = []
        for _ in range(choose.randint(1, 9)):
            unknown = sum(is_unknown(one) for _, each in rows for one in each)
            words = ["PASS", "PASS", "FAIL", "NOT_APPLICABLE", *(["UNCLEAR", "unproven"] if unknown < 5 else [])]
            each = [verdict("a", "UNCLEAR" if choose.random() < 0.05 and unknown < 5 else "PASS")]
            for name in ("c", "d"):
                word = choose.choice(words)
                cause = "unverified" if word == "unproven" else None
                each.append(verdict(name, "FAIL" if cause else word, eligible=choose.random() > 0.2, cause=cause))
            rows.append((choose.choice("mn"), each))
        found = summarised(card, rows)
        every = [summarised(card, each) for each in completed(rows)]
        assert states(found) == set().union(*map(states, every))
        rate = found["unresolved"]["gates"]["helpful"]["pass_rate"]
        rates = [each["unresolved"]["gates"]["helpful"]["pass_rate"] for each in every]
        assert rate["passed"] == min(each["passed"] for each in rates)
        assert rate["passed"] + rate["open"] == max(each["passed"] + each["open"] for each in rates)
        assert len(rows) >= rate["passed"] + rate["failed"] + rate["open"]
        codes = {exit_status(each) for each in every}
        assert exit_status(found) == 2 or {exit_status(found)} == codes
        if len({frozenset(states(each)) for each in every}) > 1:
            assert exit_status(found) == 2


@pytest.mark.parametrize(
    ("words", "least", "result", "status"),
    [
        ("ppppppppp" + "f", "0.9", "passed", 0),
        ("pppppppp" + "ff", "0.9", "failed", 1),
        ("pppppppp" + "fu", "0.9", "inconclusive", 2),  # 9 of 10 at best
        ("pppppppp" + "ffu", "0.9", "failed", 1),  # 9 of 11 at best
        ("pp" + "f" * 4 + "p" * 4, "2/3", "failed", 1),
        ("pp" + "f", "2/3", "passed", 0),
        ("ppppp" + "f", "5/6", "passed", 0),  # equal, although no double is
        ("nnnnnnnn" + "pf", "0.9", "failed", 1),  # transcripts to which the gate does not apply are not passes
        ("nnnn", "0.1", "inconclusive", 2),  # an empty selection never passes
        ("uuu", "0.1", "inconclusive", 2),
    ],
)
def test_the_rate_decides_at_the_threshold(words: str, least: str, result: str, status: int) -> None:
    summary = summarised(card_of(least=least), rows_of(words))
    assert gate_result(summary["unresolved"]["gates"]["helpful"]) == result
    assert exit_status(summary) == status
    assert summary["outcomes"]["failed"] == summary["failed"]["count"] == words.count("f")  # still listed


def test_refused_inputs_may_be_of_any_model_and_a_run_of_nothing_else_is_refused() -> None:
    rows = [*rows_of("pppp"), *rows_of("pppp", "n")]
    assert states(summarised(card_of(least="0.8"), rows)) == {"passed"}
    assert states(summarised(card_of(least="0.8"), rows, refused=1)) == {"passed"}  # 4 of 5 of that model
    assert states(summarised(card_of(least="0.81"), rows, refused=1)) == {"passed", "failed"}
    summary = summarised(card_of(least="0.8"), rows, refused=1)
    assert summary["unresolved"]["gates"]["helpful"]["pass_rate"]["open"] == 1
    assert exit_status(summary) == 3
    assert exit_status(summarised(card_of(least="0.1"), [])) == 3


def test_a_good_model_does_not_compensate_for_a_bad_one() -> None:
    summary = summarised(card_of(least="0.7"), [*rows_of("p" * 17 + "f", "good"), *rows_of("pf", "weak")])
    assert exit_status(summary) == 1
    assert pass_rate_lines(summary["unresolved"]) == [
        "gate helpful: failed, 18 of 20 (0.9) pass, 0.7 required; weak 1 of 2 (0.5)"
    ]
    idle = summarised(card_of(least="0.7"), [*rows_of("pp", "good"), *rows_of("nn", "unasked")])
    assert (states(idle), exit_status(idle)) == ({"undecided"}, 2)


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ([verdict("a", "FAIL"), verdict("c", "PASS")], 1),
        ([verdict("a", "FAIL"), verdict("c", "FAIL")], 1),
        ([verdict("a", "UNCLEAR"), verdict("c", "PASS")], 2),
        ([verdict("a", "UNCLEAR"), verdict("c", "FAIL")], 2),
        ([verdict("a", "PASS"), verdict("c", "FAIL")], 0),
        ([verdict("a", "PASS"), verdict("c", "UNCLEAR")], 0),
    ],
)
def test_a_pass_rate_tolerates_nothing_of_the_other_gates(row: list[Any], status: int) -> None:
    assert exit_status(summarised(card_of(), [*rows_of("ppppp"), ("m", row)])) == status


def test_an_incomplete_transcript_and_one_with_too_few_answers_are_not_passes() -> None:
    card = card_of(least="0.9")
    for row, status in ((card.score([verdict("a", "PASS"), verdict("c", "PASS")], incomplete=True), 2), ({}, 0)):
        summary = Summary()
        for model, verdicts in rows_of("pppp"):
            summary.add({"model": model, **card.score(verdicts)}, [])
        if row:
            summary.add({"model": "m", **row}, [])
        assert exit_status(summary.result()) == status
    thin = [verdict("a", "PASS"), verdict("c", "PASS"), verdict("d", "NOT_APPLICABLE")]  # every gate passes it
    assert exit_status(summarised(card, [*rows_of("p" * 8), ("m", thin)])) == 2
    assert exit_status(summarised(card, [*rows_of("p" * 9), ("m", thin)])) == 0
    unasked = [verdict("a", "NOT_APPLICABLE")]  # the rate does not count it, so nothing tolerates it
    assert exit_status(summarised(card, [*rows_of("p" * 50), ("m", unasked)])) == 2


@pytest.mark.parametrize("least", ["0", 0])
def test_a_rate_of_nothing_is_refused(least: object) -> None:
    with pytest.raises(PlanError, match="the pass rate of the gate `helpful` must be above 0"):
        card_of(least=least)
    with pytest.raises(PlanError, match="must be above 0"):
        card_of(CARD.replace("pass_rate: least", "pass_rate: '0.5 - 0.5'"))
    with pytest.raises(PlanError, match="the scorecard's pass rate of the gate `helpful` has no value"):
        card_of(CARD.replace("pass_rate: least", "pass_rate: 'least / (least - least)'"))


@pytest.mark.parametrize(
    ("written", "message", "cure"),
    [
        ("90", "`gates.helpful.pass_rate` must be at most 1, not 90", "did you mean `0.9`?"),
        ("-0.9", "`gates.helpful.pass_rate` must be at least 0, not -0.9", "did you mean `0.9`?"),
        ('"90"', "`90` is outside the range of a score, 0 to 1", "did you mean `0.9`?"),
        ("leest", "unknown name `leest`", "did you mean `least`?"),
        ("true", "must be a number or text", None),
        ("null", "must be a number or text", None),
        (".nan", "must be a number or text", None),
        ("[0.9]", "must be a number or text", None),
    ],
)
def test_a_rate_that_is_none_is_a_finding_at_its_place(written: str, message: str, cure: str | None) -> None:
    text = CARD.replace("pass_rate: least", f"pass_rate: {written}")
    root = load_text(text, "card.yaml").root
    assert root is not None
    document, found = read_scorecard(root)
    assert document is not None
    found = [*validate("scorecard", root), *found] or lower_scorecard(document, {}, CHECKS, {})[1]
    assert message in found[0].message
    assert (found[0].span.line, len(found)) == (5, 1)
    assert cure is None or cure in str(found[0].help or found[0].fix)


def test_a_plan_without_a_pass_rate_is_the_plan_it_was() -> None:
    plain = card_of(CARD.replace(", pass_rate: least", ""))
    assert "pass_rate" not in json.dumps(plain.score([verdict("c", "PASS")]))
    summary = summarised(plain, rows_of("pf"))
    assert "other_gates" not in summary["unresolved"]
    assert exit_status(summary) == 1


def test_the_merged_counts_of_parts_are_those_of_the_whole() -> None:
    card, whole = card_of(least="0.6"), Unresolved()
    rows = [*rows_of("pfupn"), *rows_of("ffp", "n")]
    for number, (model, verdicts) in enumerate(rows):
        whole.add({"transcript_id": f"T{number}", "model": model, **card.score(verdicts)})
    gates = summarised(card, rows)["unresolved"]["gates"]
    assert gates["helpful"]["pass_rate"] == whole.result(0)["gates"]["helpful"]["pass_rate"]
    exact = Fraction(gates["helpful"]["pass_rate"]["passed"], len(rows) - 1)
    assert exact == Fraction(3, 7)


# The commands.

PROJECT: Final = {
    "rulewright.yaml": "project: p\nchecks: checks\nscorecards: scorecards\nscorecard: release\n",
    "scorecards/release.yaml": CARD.replace("{type: score, default: 0.5}", "{type: score, default: 0.8}"),
    "checks/safe.yaml": "id: safe\nprimary_bucket: A\nseverity: S5\nfail: answer.contains('never')\n",
    "checks/short.yaml": (
        "id: short\nprimary_bucket: C\nseverity: S2\nfail: size(answer) > 20\nunclear: answer.contains('maybe')\n"
    ),
}


def chats(answers: Sequence[str]) -> str:
    return json_lines(
        {
            "id": f"T{number}",
            "model": "m",
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}],
        }
        for number, answer in enumerate(answers)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, and 10 chats: 8 pass, one fails, one is undecided."""
    monkeypatch.chdir(write(tmp_path, {**PROJECT, "chats.jsonl": chats(["ok"] * 8 + ["maybe", "x" * 30])}))
    return tmp_path


def test_every_output_shows_the_rate_and_its_result(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "gate helpful: passed, 8 to 9 of 10 (0.8 to 0.9) pass, 0.8 required"
    assert main(["lint", "--no-cache"]) == 0
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 0
    assert line in capsys.readouterr().out
    assert main(["report", "run", "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert "## Rulewright: passed" in text
    assert "1 of 10 transcripts failed (10%); 1 undecided." in text
    assert "- 95% interval of the share that failed: 2% to 51%" in text
    assert line.replace(">", "\\>") in text
    assert line.removeprefix("gate helpful: ") in (folder / "run" / "summary.md").read_text(encoding="utf-8")
    assert main(["report", "run"]) == 0
    assert line.removeprefix("gate helpful: ") in (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert main(["report", "run", "--format", "junit"]) == 0
    text = capsys.readouterr().out
    assert '<testcase classname="gates" name="helpful"/>' in text
    assert text.count("<failure ") == 1  # the transcript's, which is not hidden
    assert main(["report", "run", "--format", "github"]) == 0
    assert "T9" in capsys.readouterr().out


def test_a_straddled_threshold_is_inconclusive_in_every_output(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", "chats.jsonl", "--out", "run", "--set", "least=0.85"]) == 2
    assert main(["report", "run", "--format", "junit"]) == 2
    line = "gate helpful: inconclusive, 8 to 9 of 10 (0.8 to 0.9) pass, 0.85 required; 1 answer decides it: T8 x short"
    assert f'<error message="{line}" type="INCONCLUSIVE"/>' in capsys.readouterr().out
    assert main(["report", "run", "--format", "markdown"]) == 2
    assert "## Rulewright: undecided" in capsys.readouterr().out
    assert main(["adjudicate", "run", "--decide", "T8", "short", "PASS", "--by", "Ada", "--why", "it is short"]) == 0
    assert main(["report", "run/adjudicated", "--format", "markdown"]) == 0
    assert "gate helpful: passed, 9 of 10 (0.9) pass" in capsys.readouterr().out


def test_what_if_shows_another_rate_without_a_scan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 0
    capsys.readouterr()
    assert main(["whatif", "run", "--set", "least=0.95"]) == 1
    said = capsys.readouterr().out
    assert "0 of 10 transcripts would change" in said
    assert "0.8 required -> failed, 8 to 9 of 10 (0.8 to 0.9) pass, 0.95 required" in said
    assert main(["whatif", "run", "--set", "least=0.7"]) == 0
    assert main(["rescore", "run", "--set", "least=0.95", "--out", "again"]) == 1
    capsys.readouterr()
    assert main(["diff", "run", "again"]) == 0
    said = capsys.readouterr().out
    assert "changed   parameters" in said
    assert "after     gate helpful: failed, 8 to 9 of 10 (0.8 to 0.9) pass, 0.95 required" in said


def test_a_sweep_of_a_pass_rate_finds_the_exact_rates_at_which_its_gate_changes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seven = chats(["ok"] * 4 + ["maybe"] + ["x" * 30] * 2).replace('"id": "T', '"id": "S').replace('"m"', '"n"')
    (folder / "chats.jsonl").write_text(chats(["ok"] * 8 + ["maybe", "x" * 30]) + seven, encoding="utf-8")
    main(["scan", "chats.jsonl", "--out", "run"])
    capsys.readouterr()
    main(["whatif", "run", "--sweep", "least"])
    said = capsys.readouterr().out.splitlines()
    assert said[-3:] == [
        "sweep of least (0.8 now): 2 breakpoints",
        "  above 0.571429 (4/7): gate helpful passed -> inconclusive",
        "  above 0.714286 (5/7): gate helpful inconclusive -> failed",
    ]
    main(["whatif", "run", "--sweep", "least", "--format", "json"])
    points = json.loads(capsys.readouterr().out)["sweep"]["breakpoints"]
    recorded = read_run(folder / "run")
    tried = sorted(
        {Fraction(part, of) + beside for of in range(1, 18) for part in range(1, of) for beside in (0, TINY)}
    )
    for least in tried:
        passed = [each for each in points if Fraction(each["fraction"]) < least]
        (gate,) = rated_gates(
            rescored(recorded, policy_of(recorded, None, {}).prepared(least=least)).values(), 0
        ).values()
        assert gate_result(gate) == (passed[-1]["gates"]["helpful"]["after"] if passed else "passed")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("pass_rate: least", "pass_rate: '(1 + least) / 2'"), "from about 0.6: gate helpful passed -> inconclusive"),
        (("pass_rate: least", "pass_rate: 'least < 0.3 ? 0.5 : 0.95'"), "from 0.3: gate helpful passed -> failed"),
        (
            ("{gates: gates}", "{gates: gates, lax: 'least < 0.5'}"),
            "`least` is a pass rate and read by other conditions",
        ),
    ],
)
def test_a_pass_rate_that_is_computed_is_swept_as_well(
    folder: Path, capsys: pytest.CaptureFixture[str], changed: tuple[str, str], said: str
) -> None:
    text = PROJECT["scorecards/release.yaml"].replace(*changed)
    (folder / "scorecards/release.yaml").write_text(text, encoding="utf-8")
    main(["scan", "chats.jsonl", "--out", "run"])
    main(["whatif", "run", "--sweep", "least"])
    assert said in "".join(capsys.readouterr())


def test_policies_with_other_rates_decide_differently(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROJECT["scorecards/release.yaml"]
    write(folder, {"scorecards/lax.yaml": text.replace("pass_rate: least", "pass_rate: 0.7").replace("release", "lax")})
    write(folder, {"scorecards/all.yaml": text.replace(", pass_rate: least", "").replace("release", "all")})
    same = text.replace("pass_rate: least", "pass_rate: '1.6 / 2'").replace("release", "same")
    write(folder, {"scorecards/same.yaml": same})
    assert main(["policy-diff", "scorecards/release.yaml", "scorecards/lax.yaml"]) == 1
    assert "pass_rate.helpful: 0.8 -> 0.7" in capsys.readouterr().out
    assert main(["policy-diff", "scorecards/release.yaml", "scorecards/all.yaml"]) == 1
    assert "pass_rate.helpful: 0.8 -> 'every transcript'" in capsys.readouterr().out
    assert main(["policy-diff", "scorecards/release.yaml", "scorecards/same.yaml"]) == 0


def test_a_resumed_run_has_the_rate_of_a_whole_one(folder: Path) -> None:
    plan = compile_project(load_project(folder))
    whole = run(plan, ["chats.jsonl"], "whole")

    def kill(done: int, _: int | None = None) -> None:
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan, ["chats.jsonl"], "killed", progress=kill)
    again = run(plan, ["chats.jsonl"], "killed", resume=True)
    assert again["unresolved"] == whole["unresolved"]
    assert exit_status(again) == exit_status(whole) == 0


def test_a_gate_over_a_check_that_is_not_there_is_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROJECT["scorecards/release.yaml"].replace("v.primary_bucket == C", "v.check_id == 'shrot'")
    write(folder, {"scorecards/release.yaml": text})
    assert main(["lint", "--no-cache"]) == 1
    assert "shrot" in capsys.readouterr().out
    write(folder, {"scorecards/release.yaml": PROJECT["scorecards/release.yaml"].replace("pass_rate", "pass_rat")})
    assert main(["lint", "--no-cache"]) == 1
    assert "did you mean `pass_rate`?" in capsys.readouterr().out


def test_a_rate_below_a_tenth_is_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROJECT["scorecards/release.yaml"].replace("pass_rate: least", "pass_rate: 0.09")
    write(folder, {"scorecards/release.yaml": text})
    main(["lint", "--no-cache"])
    assert "nearly every score meets a `gates.helpful.pass_rate` of 0.09" in capsys.readouterr().out
