"""What-if: recorded verdicts under another policy, breakpoints as by brute force, and never a guess."""

import json
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from tests.attack.test_random_scorecards import SCORING
from tests.compiler.comparing.planted import SCORECARD, TRANSCRIPTS, Judge, Plants, project, write_transcripts
from tests.folders import write_turns
from tests.rounds import rounds
from tests.runtime.aggregate.test_bounds import record
from tests.runtime.judging.test_gates_only import Answering, gated

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.commands import whatif
from rulewright.commands.whatif import score_change
from rulewright.documents.scorecard import read_scorecard
from rulewright.errors import UsageError
from rulewright.load import load_text
from rulewright.lower.scorecard import lower_scorecard
from rulewright.reporting.derived_run import write_derived
from rulewright.reporting.stored_run import decision_of
from rulewright.serving.open_runs import OpenRuns
from rulewright.whatif import rescoring
from rulewright.whatif.rescoring import ScoringPolicy
from rulewright.whatif.sweep import sweep
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.runs.store import run

CARDS: Final = rounds(4, 500)
USES: Final = (
    "lists.bad.exists(each, each.check_id == 'K1') && rates.answers < least ? 'listed' : 'other'",
    "size(lists.bad) > 1 && rates.answers < least ? 'listed' : 'other'",
    "gates.g.failed && rates.answers < least ? 'stopped' : 'other'",
    "size(gates.g.reasons) > 1 && rates.answers < least ? 'reasons' : 'other'",
    "gates.exists(name, gates[name].failed) && rates.answers < least ? 'any' : 'other'",
    "rates.exists(name, rates[name] < least) ? 'any' : 'other'",
    "counts.exists(name, counts[name] > 1) && rates.answers < least ? 'any' : 'other'",
    "rates.answers < least ? 'invalid' : 'valid'",
    "dimensions.two.orValue(score(0)) < least ? 'invalid' : 'valid'",
    "dimensions.one.orValue(score(0)) >= least ? 'valid' : 'invalid'",
    "dimensions.one.orValue(score(1)) > least && dimensions.two.orValue(score(1)) >= least ? 'valid' : 'invalid'",
    "wmean_present(dimensions, weights).orValue(score(0)) >= least ? 'valid' : 'invalid'",
    "least > 0.75 ? 'strict' : 'lax'",
    "counts.sure > 1 ? 'sure' : 'open'",
    "1 - rates.answers < least ? 'invalid' : 'valid'",
    "rates.answers / 2 < least && (1 + rates.answers) / 2 >= least ? 'between' : 'beside'",
)
CHECKS: Final = {
    f"K{number}": {"primary_bucket": "AB"[number % 2], "severity": "S5", "secondary_tags": []} for number in range(6)
}
RATE: Final = '"hit": ["PASS"], "miss": ["FAIL"], "exclude": ["UNCLEAR", "NOT_APPLICABLE"], "error": "adjudicate"'
ROWS: Final = 8
POINTS: Final = sorted(
    {Fraction(part, whole) for whole in range(1, 13) for part in range(whole + 1)} | {Fraction(3, 10)}
)


def card(chance: random.Random, use: str) -> str:
    stops = chance.choice(["== FAIL", "in [FAIL, UNCLEAR]", "in [FAIL, UNCLEAR]", "== FAIL && v.confidence >= least"])
    return f"""
scorecard: card
parameters:
  least: {{type: score, default: 0.5}}
coverage: {{minimum: {chance.choice(["least", "0.5"])}}}
gates:
  g: {{of: "v.primary_bucket == 'A'", stops: "v.verdict {stops}", undecided: v.verdict == UNCLEAR, empty: {{not_eligible: passed, not_run: undecided}}}}
dimensions:
  one: {{rate: {{of: "v.primary_bucket == 'A'", {RATE}, empty: absent}}}}
  two: {{rate: {{of: "v.primary_bucket == 'B'", {RATE}, empty: absent}}}}
rates:
  answers: {{rate: {{of: "true", hit: [PASS, FAIL], miss: [UNCLEAR, NOT_APPLICABLE], exclude: [], error: adjudicate, empty: 0}}}}
lists: {{bad: {{of: "v.verdict == FAIL", each: {{check_id: v.check_id}}}}}}
counts: {{sure: "v.eligible && v.confidence > {chance.choice(["least", "0.5"])}"}}
output:
  status: "{use}"
  overall_score: wmean_present(dimensions, weights)
"""  # noqa: E501


def lowered(text: str) -> ScorecardPlan:
    root = load_text(text, "card.yaml").root
    assert root is not None
    document, _found = read_scorecard(root)
    assert document is not None
    plan, mistakes = lower_scorecard(document, SCORING, CHECKS, {})
    assert plan is not None, mistakes
    return plan


def test_a_gate_that_a_failure_stops_changes_apart_from_one_that_an_unclear_answer_stops() -> None:
    text = """
scorecard: card
parameters: {least: {type: score, default: 0.5}}
coverage: {minimum: 0.5}
gates:
  g: {of: "v.primary_bucket == 'A'", stops: "v.verdict in [FAIL, UNCLEAR]", undecided: "false", empty: {not_eligible: passed, not_run: undecided}}
rates:
  answers: {rate: {of: "true", hit: [PASS, FAIL], miss: [UNCLEAR, NOT_APPLICABLE], exclude: [], error: adjudicate, empty: 0}}
output: {status: "rates.answers < least ? 'invalid' : 'valid'"}
"""  # noqa: E501
    plan, chance = lowered(text), random.Random(1)
    words = {"proven": ("FAIL", "UNCLEAR", *4 * ("PASS",)), "unproven": ("UNCLEAR", "FAIL", *4 * ("PASS",))}
    verdicts = {
        name: {key: record(chance, key, about, word) for (key, about), word in zip(CHECKS.items(), each, strict=True)}
        for name, each in words.items()
    }
    rows = {name: Scorecard(plan).aggregate(list(of.values())) for name, of in verdicts.items()}
    run: Any = SimpleNamespace(summary={}, rows=rows, verdicts=verdicts)
    (change,) = sweep(run, ScoringPolicy(plan, {}), "least")
    assert (change["at"], change["transcripts"]) == (5 / 6, ["proven"]), "the status of the other awaits a person"


def test_breakpoints_equal_brute_force_over_all_stored_values() -> None:
    chance = random.Random(5)
    moved = 0
    for number in range(CARDS):
        plan = lowered(card(chance, USES[number % len(USES)]))
        drawn = [chance.choices(("PASS", "FAIL", "UNCLEAR"), (4, 1, 1), k=len(CHECKS)) for _ in range(ROWS // 2)]
        words = [row for pair in zip(drawn, (each[::-1] for each in drawn), strict=True) for row in pair]
        verdicts = {f"t{at}": _verdicts(chance, row) for at, row in enumerate(words)}
        rows = {name: Scorecard(plan).aggregate(list(of.values())) for name, of in verdicts.items()}
        run: Any = SimpleNamespace(summary={}, rows=rows, verdicts=verdicts)

        @cache
        def results(value: Fraction, plan: Any = plan, verdicts: Any = verdicts) -> list[Any]:
            scorecard = Scorecard(plan, {"least": value})
            return [decision_of(scorecard.aggregate(list(of.values())), plan) for of in verdicts.values()]

        def moves(one: Fraction, other: Fraction, results: Any = results) -> list[str]:
            pairs = zip(results(one), results(other), strict=True)
            return [f"t{number}" for number, pair in enumerate(pairs) if pair[0] != pair[1]]

        expected = []
        for low, high in pairwise(POINTS):
            middle = (low + high) / 2
            expected += [(float(low), "after", moves(low, middle)), (float(high), "at", moves(middle, high))]
        found = sweep(run, ScoringPolicy(plan, {}), "least")
        told = [(point["at"], point["side"], point["transcripts"]) for point in found]
        assert told == [each for each in expected if each[2]]
        assert all(point["exact"] for point in found)
        moved += bool(found)
    assert moved > CARDS / 3


def _verdicts(chance: random.Random, words: Sequence[str]) -> dict[str, Any]:
    found = {}
    for (name, about), word in zip(CHECKS.items(), words, strict=True):
        found[name] = record(chance, name, about, word, lost=word == "FAIL" and chance.random() < 0.2)
        found[name].confidence = chance.choice((0.3, 0.5, 0.75, 1.0))
    return found


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Plants:
    return Plants(tmp_path_factory.mktemp("plants"))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(words)
    return code, capsys.readouterr().out


def test_another_threshold_shows_what_would_change(plants: Plants, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(plants.run("judge reply"))
    assert shown(capsys, "whatif", folder)[0] == 0
    code, said = shown(capsys, "whatif", folder, "--set", "least=0.95")
    assert (code, "2 of 2 transcripts would change" in said) == (1, True)
    assert "model__day: passed -> undecided" in said
    assert "  all: passed 2 -> 0, undecided 0 -> 2\n" in said


def test_lines_are_wrapped_to_the_width_of_the_terminal(
    plants: Plants, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(whatif, "width_for", lambda _: 30)
    lines = shown(capsys, "whatif", str(plants.run("judge reply")), "--set", "least=0.95")[1].splitlines()
    assert max(map(len, lines)) <= 30
    assert "all: passed 2 -> 0, undecided 0 -> 2" in " ".join(map(str.strip, lines))


def test_inputs_that_the_scan_refused_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project(tmp_path / "p", rule=False)
    talks = write_transcripts(tmp_path / "said", dict.fromkeys(TRANSCRIPTS, "As you like."))
    (talks / "broken.jsonl").write_text("{broken\n", encoding="utf-8")
    run(compile_project(folder), [talks], tmp_path / "run", judge=Judge("PASS"))
    for words in ([], ["--sweep", "least"]):
        assert "\nrefused by the scan: 1 input, " in shown(capsys, "whatif", str(tmp_path / "run"), *words)[1]
    assert json.loads(shown(capsys, "whatif", str(tmp_path / "run"), "--format", "json")[1])["refused"] == 1


def test_scores_that_differ_little_are_distinguished() -> None:
    assert score_change(0.5, 1.0) == "0.50 -> 1.00"
    assert score_change(0.9721, 0.9744) == "0.972 -> 0.974"
    assert score_change(None, 0.5) == "– -> 0.50"


def test_a_headline_and_a_label_of_any_name_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rate = (
        '{of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}'
    )
    Path("checks").mkdir()
    Path("scorecards").mkdir()
    Path("rulewright.yaml").write_text("project: p\nscorecards: scorecards\nscorecard: s\n", encoding="utf-8")
    Path("checks/brief.yaml").write_text("id: brief\nfail: word_count(answer) > 1\n", encoding="utf-8")
    Path("scorecards/s.yaml").write_text(
        f"""
scorecard: s
parameters: {{share: {{type: score, default: 1}}}}
rates: {{kept: {{rate: {rate}}}}}
output: {{service: share * rates.kept.orValue(score(0)), grade: "share >= 0.9 ? 'good' : 'poor'"}}
headline: service
label: grade
""",
        encoding="utf-8",
    )
    said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    Path("chats.jsonl").write_text(json.dumps({"id": "one", "messages": said}) + "\n", encoding="utf-8")
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 0
    capsys.readouterr()
    code, shown_as = shown(capsys, "whatif", "run", "--set", "share=0.5")
    assert (code, "  one: good -> poor, score 1.00 -> 0.50" in shown_as) == (1, True)
    assert "one" in shown(capsys, "whatif", "run", "--sweep", "share")[1]


def test_transcripts_in_which_only_gates_differ_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("checks", "scorecards"):
        Path(folder).mkdir()
    Path("rulewright.yaml").write_text("project: p\nscorecards: scorecards\nscorecard: a\n", encoding="utf-8")
    Path("checks/brief.yaml").write_text("id: brief\nfail: word_count(answer) > 1\n", encoding="utf-8")
    Path("checks/polite.yaml").write_text('id: polite\npass: contains_any(answer, ["Hello"])\n', encoding="utf-8")
    for name, check in {"a": "brief", "b": "polite"}.items():
        Path(f"scorecards/{name}.yaml").write_text(
            f"scorecard: {name}\ngates:\n  {name}: {{of: v.check_id == '{check}', stops: v.verdict == FAIL, "
            "undecided: v.verdict == UNCLEAR, empty: {not_eligible: passed, not_run: undecided}}\n"
            "output: {gates: gates}\n",
            encoding="utf-8",
        )
    answers = {"one": "Hello", "two": "Hello", "three": "Hello", "four": "Hello", "five": "No"}
    for name, answer in answers.items():
        said = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}]
        with Path("chats.jsonl").open("a", encoding="utf-8") as chats:
            chats.write(json.dumps({"id": name, "messages": said}) + "\n")
    assert main(["scan", "chats.jsonl", "--out", "run"]) == 0
    capsys.readouterr()
    code, said_then = shown(capsys, "whatif", "run", "--scorecard", "b")
    assert code == 1
    assert said_then.endswith(
        "  five: passed -> failed\n  other states of gates, nothing else: one, two, three and 1 more\n"
    )


def test_a_sweep_names_the_exact_place(plants: Plants, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = shown(capsys, "whatif", str(plants.run("judge reply")), "--sweep", "least")
    assert "above 0.833333: 2 transcripts change (model__day, model__night)" in said
    _, said = shown(capsys, "whatif", str(plants.run()), "--sweep", "least")
    assert "no transcript changes at any value" in said


def test_a_sweep_finds_the_coverage_that_a_scan_of_gates_only_has_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {"X0": "NOT_APPLICABLE", "X1": "NOT_APPLICABLE"}  # 5 of 7 may still turn out PASS or FAIL
    talk = write_turns(tmp_path / "m__s.jsonl", "hello", "a reply of words")
    made = gated("S4_GATE", "S4_GATE", *["S2"] * 5)
    run(made, [talk], tmp_path / "run", judge=Answering(answers), gates_only=True)
    _, said = shown(capsys, "whatif", str(tmp_path / "run"), "--sweep", "minimum_coverage")
    assert "above 0.714286: 1 transcript changes (m__s)" in said


def test_a_rescored_run_is_the_run_of_that_policy_and_says_what_it_came_from(
    plants: Plants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scanned, before = plants.run("judge reply", "threshold"), plants.run("judge reply")
    out = tmp_path / "again"
    assert shown(capsys, "rescore", str(before), "--set", "least=0.95", "--out", str(out))[0] == 2
    for name in ("scores.jsonl", "verdicts.jsonl"):
        assert (out / name).read_bytes() == (scanned / name).read_bytes()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["rescored"]["from"] == str(before)
    assert summary["parameters"] == {"least": "0.95"}
    code, said = shown(capsys, "diff", str(scanned), str(out))
    assert (code, "changed   nothing that the plans or summaries record" in said) == (2, True)  # nothing is decided


def test_a_rescored_run_is_whole_or_not_there(plants: Plants, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["rescore", str(plants.run("judge reply")), "--set", "least=0.95", "--out"]

    def killed(out: Path, *rest: Any) -> None:
        write_derived(out, *rest)
        (out / "decisions.jsonl").write_text("of an earlier run")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rescoring, "write_derived", killed)
        assert main([*words, str(tmp_path / "again")]) == 130
    assert not (tmp_path / "again").exists()
    with pytest.raises(UsageError, match="contains no finished run"):
        OpenRuns([str(tmp_path)])
    main([*words, str(tmp_path / "again")])
    main([*words, str(tmp_path / "other")])
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["again", "other"]
    again, other = (
        {file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("again", "other")
    )
    assert again == other


def test_a_question_that_was_never_asked_is_named_and_not_guessed(
    plants: Plants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = project(tmp_path / "p", rule=False)
    text = (other / "checks" / "said.yaml").read_text().replace("id: said", "id: new").replace("said_said", "new_said")
    (other / "checks" / "new.yaml").write_text(text)
    words = ("--scorecard", "quality", "--project", str(other))
    code, said = shown(capsys, "whatif", str(plants.run()), *words)
    assert (code, "unknown: `new` was not run; scan again" in said) == (2, True)
    assert main(["rescore", str(plants.run()), *words, "--out", str(tmp_path / "out")]) == 3
    assert not (tmp_path / "out").exists()


def test_verdicts_of_changed_rules_are_not_reused(
    plants: Plants, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--scorecard", "quality", "--project", str(project(tmp_path / "p", rule=True)))
    code, said = shown(capsys, "whatif", str(plants.run()), *words)
    assert (code, "unknown: `both` has changed since" in said) == (2, True)


def test_a_run_that_looked_at_gates_only_has_no_scores_after_it_is_rescored_or_decided(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", rule=False)
    talks = write_transcripts(tmp_path / "said", dict.fromkeys(TRANSCRIPTS, "As you like."))
    run(compile_project(folder), [talks], tmp_path / "run", judge=Judge("UNCLEAR"), gates_only=True)
    before = (tmp_path / "run/scores.jsonl").read_bytes()
    assert main(["rescore", str(tmp_path / "run"), "--out", str(tmp_path / "again")]) in (0, 2)
    assert (tmp_path / "again/scores.jsonl").read_bytes() == before
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("run", "again")]
    assert [summary["gates_only"] for summary in summaries] == [True, True]
    assert summaries[0]["overall_score"] == summaries[1]["overall_score"]


def gates_only(tmp_path: Path) -> Path:
    """A run in which the check `J-1` was skipped in every transcript, since no gate holds it, next to scorecards that
    need it: without gates, and with gates that ignore what a profile leaves out."""
    folder = project(tmp_path / "p", rule=False)
    cards = folder / "configs/scorecards"
    ignoring = SCORECARD.replace("bucket == 'A'", "bucket == 'F'").replace(
        "undecided:", "left_out: ignore\n    undecided:"
    )
    (cards / "ignoring.yaml").write_text(ignoring.replace("scorecard: quality", "scorecard: ignoring"))
    (cards / "none.yaml").write_text("scorecard: none\noutput: {passed: 'true'}\n")
    talks = write_transcripts(tmp_path / "said", dict.fromkeys(TRANSCRIPTS, "As you like."))
    run(compile_project(folder), [talks], tmp_path / "run", judge=Judge("FAIL"), gates_only=True)
    return folder


def test_why_says_what_a_scan_of_gates_only_decided_and_did_not_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gates_only(tmp_path)
    row = json.loads((tmp_path / "run/scores.jsonl").read_text("utf-8").splitlines()[0])
    assert shown(capsys, "why", str(tmp_path / "run"), row["transcript_id"])[1].startswith(
        f"outcome: {row['engine']['outcome']} by the gates; coverage at most 100%; not asked: J-1\n"
    )


def test_a_check_that_a_scan_of_gates_only_skipped_passes_no_gate_of_another_scorecard(tmp_path: Path) -> None:
    words = ["--project", str(gates_only(tmp_path)), "--scorecard", "ignoring", "--out", str(tmp_path / "again")]
    assert main(["rescore", str(tmp_path / "run"), *words]) == 2
    engines = [json.loads(line)["engine"] for line in (tmp_path / "again/scores.jsonl").read_text().splitlines()]
    assert [engine["outcome"] for engine in engines] == ["undecided", "undecided"]


@pytest.mark.parametrize("command", [["whatif"], ["rescore", "--out", "again"]])
def test_a_run_of_gates_only_has_no_outcome_under_a_scorecard_without_gates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    words = ["--project", str(gates_only(tmp_path)), "--scorecard", "none"]
    monkeypatch.chdir(tmp_path)
    assert main([*command, "run", *words]) == 3
    assert "no gate of the scorecard `none` selects a check of the run" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("words", [["--set", "most=1"], ["--set", "least"], ["--sweep", "most"], ["--set", "least=2"]])
def test_a_parameter_that_does_not_fit_is_refused(plants: Plants, words: list[str]) -> None:
    assert main(["whatif", str(plants.run()), *words]) == 3


def test_a_parameter_unknown_to_the_run_is_refused_with_a_hint(
    plants: Plants, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whatif", str(plants.run()), "--set", "most=1"]) == 3
    card = json.loads((plants.run() / "plan.json").read_text())["scorecard"]["name"]
    said = capsys.readouterr().err
    assert "the run's scorecard has no parameter `most`; the scorecard declares `least`" in said
    assert f"(`--scorecard {card}` takes the scorecard from the project as it is now)" in said


def test_a_sweep_of_a_parameter_that_a_scorecard_without_parameters_lacks_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "."]) == 0
    assert main(["scan", "transcripts", "--out", "run"]) == 1
    assert main(["whatif", "run", "--sweep", "x"]) == 3
    expected = "error: unknown parameter `x`; the scorecard declares none under `parameters`\n"
    assert capsys.readouterr().err.endswith(expected)
