"""Two runs compared: every flip has its cause, and the second run is worse, not worse, or nobody can say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.compiler.comparing.planted import (
    ANSWERS,
    FACTORS,
    TRANSCRIPTS,
    WORDS,
    Judge,
    Plants,
    project,
    write_transcripts,
)
from tests.compiler.reporting.test_leaderboard import BAD, GOOD, answers, plan, scan
from tests.folders import json_lines, read_lines, write, write_lines

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.comparing.diff import _score, decide, diff, undetected
from rulewright.comparing.recombine import UNKNOWN, Causes, Pairs, Recombiner, causes
from rulewright.comparing.render import diff_page, markdown, text
from rulewright.errors import UsageError
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.store import run

CHECKS = ("J-1", *WORDS)
SUBSETS = [frozenset(each) for size in range(5) for each in combinations(FACTORS, size)]


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Plants:
    return Plants(tmp_path_factory.mktemp("plants"))


def found_in(folder: Path) -> dict[tuple[str, str], str]:
    """What a run says, by transcript and check, its outcomes under the check `outcome`."""
    verdicts = read_lines(folder / "verdicts.jsonl")
    rows = read_lines(folder / "scores.jsonl")
    found = {(verdict["transcript_id"], verdict["check_id"]): verdict["verdict"] for verdict in verdicts}
    return found | {(row["transcript_id"], "outcome"): row["engine"]["outcome"] for row in rows}


def smallest(factors: frozenset[str], gives: Mapping[frozenset[str], str]) -> set[frozenset[str]]:
    """The smallest sets of factors that give what all of them give, by brute force over real runs."""
    enough = [each for each in gives if gives[each] == gives[factors]]
    return {each for each in enough if len(each) == min(map(len, enough))}


def compared(plants: Plants, *changed: str) -> dict[str, Any]:
    return diff(plants.run(), plants.run(*changed))


@pytest.mark.parametrize("changed", SUBSETS[1:], ids=lambda each: "+".join(sorted(each)))
def test_every_flip_has_the_cause_that_was_planted(plants: Plants, changed: frozenset[str]) -> None:
    found = compared(plants, *changed)
    made = {subset: found_in(plants.run(*subset)) for subset in SUBSETS if subset <= changed}
    flips = {(flip["transcript_id"], flip["check_id"]): flip for flip in found["flips"]}
    pairs = {(name, check) for name in TRANSCRIPTS for check in CHECKS}
    assert flips.keys() == {each for each in pairs if made[changed][each] != made[frozenset()][each]}
    for each, flip in flips.items():
        expected = smallest(changed, {subset: results[each] for subset, results in made.items()})
        if each[1] == "J-1" and {"transcript", "judge reply"} <= changed:  # it replied about another conversation
            expected = {frozenset({"transcript"})}
        assert flip["causes"]["told_apart"]
        assert set(map(frozenset, flip["causes"]["sets"])) == expected, each


@pytest.mark.parametrize("changed", SUBSETS[1:], ids=lambda each: "+".join(sorted(each)))
def test_the_outcome_of_a_transcript_has_its_cause_too(plants: Plants, changed: frozenset[str]) -> None:
    """Here transcript, reply and rule are one change: the verdicts."""
    outcomes = {row["transcript_id"]: row for row in compared(plants, *changed)["outcomes"]}
    threshold = changed & {"threshold"}
    subsets = {
        frozenset(chain(["verdicts"] if take else [], part)): (changed - threshold if take else frozenset()) | part
        for take in (False, True)
        for part in (frozenset[str](), threshold)
    }
    for name in TRANSCRIPTS:
        gives = {key: found_in(plants.run(*subset))[name, "outcome"] for key, subset in subsets.items()}
        everything = frozenset(chain(["verdicts"], threshold))
        if gives[everything] == gives[frozenset()]:
            assert name not in outcomes
        else:
            assert set(map(frozenset, outcomes[name]["causes"]["sets"])) == smallest(everything, gives)


def test_without_the_transcripts_one_change_is_named_and_several_are_left_together(
    plants: Plants, tmp_path: Path
) -> None:
    alone = diff(plants.run(), plants.run("rule"))
    assert {str(flip["causes"]) for flip in alone["flips"]} == {str({"sets": [["rule"]], "told_apart": True})}
    gone = Plants(tmp_path)
    before, after = gone.run(), gone.run("transcript", "rule")
    assert all(flip["causes"]["told_apart"] for flip in diff(before, after)["flips"])
    rmtree(gone.transcripts(changed=False))
    both = diff(before, after)
    sets = {flip["check_id"]: (flip["causes"]["sets"], flip["causes"]["told_apart"]) for flip in both["flips"]}
    assert sets["both"] == ([["transcript", "rule"]], False)
    assert sets["said"] == ([["transcript"]], True)  # its rule did not change
    assert any("transcript or rule" in line for line in text(both, 100))


def test_a_run_compared_with_itself_is_not_worse(plants: Plants) -> None:
    same = diff(plants.run(), plants.run())
    assert (same["verdict"], same["flips"], same["outcomes"]) == ("not worse", [], [])
    assert (same["score"]["mean"], same["failed"]["p"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (["judge reply"], "the judge answered the same question differently"),
        (["judge reply", "transcript"], "the judge was asked about another conversation"),
    ],
)
def test_a_judge_that_reads_another_conversation_is_not_said_to_waver(
    plants: Plants, changed: list[str], note: str
) -> None:
    assert {flip["note"] for flip in compared(plants, *changed)["flips"] if flip["check_id"] == "J-1"} == {note}


def test_another_judge_and_another_conversation_can_not_be_distinguished(tmp_path: Path) -> None:
    plants = Plants(tmp_path)
    plan = compile_project(project(tmp_path / "p", rule=False))
    run(plan, [plants.transcripts(changed=True)], tmp_path / "new", judge=Judge("UNCLEAR", "two"))
    flips = [each for each in diff(plants.run(), tmp_path / "new")["flips"] if each["check_id"] == "J-1"]
    assert {each["note"] for each in flips} == {"another judge answered"}
    assert [each["causes"] for each in flips] == [{"sets": [["transcript", "judge reply"]], "told_apart": False}] * 2


def test_a_judge_that_a_scan_of_gates_only_did_not_ask_is_not_said_to_waver(tmp_path: Path) -> None:
    made = compile_project(project(tmp_path / "p", rule=False))
    talks = write_transcripts(tmp_path / "said", dict.fromkeys(TRANSCRIPTS, "As you like."))
    for name in ("gates", "all"):
        run(made, [talks], tmp_path / name, judge=Judge("FAIL"), gates_only=name == "gates")
    found = diff(tmp_path / "gates", tmp_path / "all")
    flips = [flip for flip in found["flips"] if flip["check_id"] == "J-1"]
    assert {(flip["before"], flip["note"]) for flip in flips} == {("not run", "one of the runs did not ask the judge")}
    assert [flip["causes"]["sets"] for flip in flips] == [[["scan of gates only"]]] * 2
    assert "changed   `--gates-only`" in [*text(found, 200)]


def test_what_an_empty_reply_counts_as_is_a_rule(tmp_path: Path) -> None:
    made = compile_project(project(tmp_path / "p", rule=False))
    talks = write_transcripts(tmp_path / "said", dict.fromkeys(TRANSCRIPTS, " "))
    for name, each in (("error", made), ("reply", seal(replace(made, empty_reply="reply")))):
        run(each, [talks], tmp_path / name, judge=Judge("PASS"))
    flips = [flip for flip in diff(tmp_path / "error", tmp_path / "reply")["flips"] if flip["check_id"] in WORDS]
    assert flips
    assert all(flip["causes"]["sets"] == [["rule"]] for flip in flips)


def test_flips_are_sorted_worst_first(plants: Plants) -> None:
    steps = [(flip["step"], flip["after"], flip["severity"]) for flip in compared(plants, *FACTORS)["flips"]]
    assert steps[0] == ("down", "FAIL", "S5")
    assert [step for step, _, _ in steps] == sorted((step for step, _, _ in steps), key=("down", "level", "up").index)


def test_a_transcript_that_newly_fails_is_worse_and_the_exit_code_says_so(
    plants: Plants, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = str(plants.run()), str(plants.run("transcript"))
    assert main(["diff", before, after]) == 1
    shown = capsys.readouterr().out
    assert "Rulewright diff: worse" in shown
    assert "turn 1, assistant: “You must”" in shown
    assert main(["diff", before, before]) == 0
    assert main(["diff", before, str(plants.run("judge reply", "threshold"))]) == 2
    assert "2 transcripts are undecided now" in capsys.readouterr().out


def test_what_is_missing_in_the_second_run_is_never_not_worse(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    one = write_transcripts(tmp_path / "said", {TRANSCRIPTS[0]: ANSWERS[0]})
    run(plan, [one], tmp_path / "run", judge=Judge("PASS"), parameters={"least": "0.5"})
    found = diff(plants.run(), tmp_path / "run")
    assert (found["verdict"], found["only_before"]) == ("inconclusive", [TRANSCRIPTS[1]])
    assert "1 transcript of the first run is missing in the second" in found["reasons"]


@pytest.mark.parametrize("applies", [True, False])
def test_a_check_that_was_removed_or_no_longer_applies_never_improves_a_run(
    plants: Plants, tmp_path: Path, applies: bool
) -> None:
    folder = project(tmp_path / "p", rule=False)
    mended = folder / "checks/mended.yaml"
    text = mended.read_text(encoding="utf-8")
    mended.unlink()
    if not applies:
        quiet = text.replace("scope: universal", "scope: trigger\neligibility: {scenario_tags_any: [quiet]}")
        mended.write_text(quiet, encoding="utf-8")
    paths = [plants.transcripts(changed=False)]
    run(compile_project(folder), paths, tmp_path / "run", judge=Judge("PASS"), parameters={"least": "0.5"})
    found = diff(plants.run(), tmp_path / "run")
    assert found["score"]["mean"] > 0
    assert (found["verdict"], found["changed"]["scorecard"]) == ("inconclusive", False)
    lost = "2 answers of the first run are not known in the second (model__day x mended, model__night x mended)"
    assert lost in found["reasons"]


@dataclass(frozen=True)
class SilentOf(Judge):
    """Has no clear answer about one transcript."""

    silent: str = ""

    def ask(self, request: Any) -> str:
        verdict = "UNCLEAR" if request.transcript_id == self.silent else "PASS"
        return json.dumps({"verdict": verdict, "rationale_code": "so", "evidence": []})


def test_a_new_transcript_or_check_that_fails_is_never_not_worse(tmp_path: Path) -> None:
    first = plan(tmp_path / "p")
    before = scan(tmp_path / "a", first, answers("old", GOOD, GOOD))
    grown = diff(before, scan(tmp_path / "b", first, answers("old", GOOD, GOOD) | answers("new", GOOD, BAD)))
    assert (grown["verdict"], grown["new_failures"]) == ("inconclusive", ["new__day"])
    assert grown["reasons"] == ["1 transcript only in the second run failed or is undecided (new__day)"]
    passing = diff(before, scan(tmp_path / "c", first, answers("old", GOOD, GOOD) | answers("new", GOOD, GOOD)))
    assert (passing["verdict"], passing["new_failures"]) == ("not worse", [])
    check = (tmp_path / "p/checks/W-1.yaml").read_text(encoding="utf-8")
    (tmp_path / "p/checks/W-2.yaml").write_text(check.replace("W-1", "W-2").replace("words", "more"), encoding="utf-8")
    (tmp_path / "p/lexicons/more.yaml").write_text("patterns:\n  - as you\n", encoding="utf-8")
    failing = diff(before, scan(tmp_path / "d", compile_project(tmp_path / "p"), answers("old", GOOD, GOOD)))
    assert failing["verdict"] == "worse"
    assert {flip["note"] for flip in failing["flips"]} == {"the check is in one of the plans only"}
    lost = {**failing["flips"][0], "check_id": "W-1", "before": "FAIL", "after": "not run"}  # on one transcript
    (line,) = [line for line in text({**failing, "flips": [lost]}, 200) if line.startswith("W-1 ")]
    assert line == f"W-1 (S3) {lost['transcript_id']}: FAIL -> not run"
    (tmp_path / "p/checks/W-1.yaml").unlink()
    renamed = diff(before, scan(tmp_path / "e", compile_project(tmp_path / "p"), answers("old", GOOD, BAD)))
    lines = [*text(renamed, 200)]
    gone, new = (next(line for line in lines if line.startswith(f"W-{n} ") and "only in" in line) for n in (1, 2))
    assert gone == "W-1 (S3) only in the first run: 2 PASS"
    assert new == "W-2 (S3) only in the second run: 1 FAIL, 1 PASS"
    assert f"- {new}" in markdown(renamed)
    assert "W-1 (S3) old__day" not in "".join(lines)
    (listed,) = [line for line in lines if line.startswith("W-2 (S3) old__")]
    assert listed.endswith(": not run -> FAIL")


def test_as_many_missing_answers_in_other_places_are_inconclusive(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    paths = [plants.transcripts(changed=False)]
    for name in TRANSCRIPTS:
        run(plan, paths, tmp_path / name, judge=SilentOf("", silent=name), parameters={"least": "0.5"})
    found = diff(*(tmp_path / name for name in TRANSCRIPTS))
    assert found["before"]["unresolved"]["answers"] == found["after"]["unresolved"]["answers"] == 1
    assert (found["verdict"], found["lost"]) == ("inconclusive", ["model__day x J-1"])


def test_runs_that_both_decide_nothing_are_inconclusive(plants: Plants) -> None:
    undecided = plants.run("judge reply", "threshold")
    assert {found_in(undecided)[name, "outcome"] for name in TRANSCRIPTS} == {"undecided"}
    found = diff(undecided, undecided)
    assert found["verdict"] == "inconclusive"
    assert found["reasons"] == ["no transcript passes or fails in both runs"]


def test_a_laxer_scorecard_does_not_hide_that_transcripts_got_worse(plants: Plants, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", rule=False)
    card = folder / "configs/scorecards/quality.yaml"
    card.write_text(card.read_text().replace("of: v.primary_bucket == 'A'", "of: v.check_id == 'J-1'"))
    run(compile_project(folder), [plants.transcripts(changed=True)], tmp_path / "run", judge=Judge("PASS"))
    found = diff(plants.run(), tmp_path / "run")
    assert {row["outcome"] for row in rows_of(tmp_path / "run")} == {"passed"}
    assert found["verdict"] == "inconclusive"
    assert found["under_first_policy"]["fallen"] == list(reversed(TRANSCRIPTS))
    assert any(
        "under the first run's scorecard and thresholds 2 transcripts would" in each for each in found["reasons"]
    )


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["engine"] for line in (folder / "scores.jsonl").read_text().splitlines()]


def test_runs_of_other_judges_are_reported_and_not_compared_silently(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    paths = [plants.transcripts(changed=False)]
    run(plan, paths, tmp_path / "run", judge=Judge("PASS", "another"), parameters={"least": "0.5"})
    found = diff(plants.run(), tmp_path / "run")
    assert (found["verdict"], found["changed"]["judge"]) == ("inconclusive", ["name"])
    assert "other judges answered (name differ)" in found["reasons"][0]
    assert diff(plants.run(), tmp_path / "run", across_judges=True)["verdict"] == "not worse"


def test_a_run_that_replays_what_the_other_recorded_has_the_same_judge(plants: Plants, tmp_path: Path) -> None:
    recorded, file = plants.run(), tmp_path / "replies.json"
    assert main(["record", str(recorded), "-o", str(file)]) == 0
    plan = compile_project(project(tmp_path / "p", rule=False))
    paths = [plants.transcripts(changed=False)]
    run(plan, paths, tmp_path / "again", judge=f"replay:{file}", parameters={"least": "0.5"})
    for pair in ((recorded, tmp_path / "again"), (tmp_path / "again", recorded)):
        found = diff(*pair)
        assert (found["verdict"], found["changed"]["judge"]) == ("not worse", [])
    file.write_text(file.read_text().replace('\\"so\\"', '\\"as\\"'))
    run(plan, paths, tmp_path / "other", judge=f"replay:{file}", parameters={"least": "0.5"})
    assert "other judges answered" in diff(recorded, tmp_path / "other")["reasons"][0]


def test_a_judge_that_only_one_run_has_is_not_another_judge(plants: Plants, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", rule=False)
    (folder / "checks" / "J-1.yaml").unlink()
    run(compile_project(folder), [plants.transcripts(changed=False)], tmp_path / "run", parameters={"least": "0.5"})
    for pair in ((plants.run(), tmp_path / "run"), (tmp_path / "run", plants.run())):
        found = diff(*pair)
        assert found["changed"]["judge"] == []
        assert found["changed"]["checks_added"] or found["changed"]["checks_removed"]
        assert not any("judges" in reason for reason in found["reasons"])


def test_models_in_runs_of_their_own_are_compared_by_scenario(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    others = write_transcripts(tmp_path / "said", {f"other__{name}": ANSWERS[1] for name in ("night", "day")})
    run(plan, [others], tmp_path / "run", judge=Judge("PASS"), parameters={"least": "0.5"})
    with pytest.raises(UsageError, match="no transcript in common"):
        diff(plants.run(), tmp_path / "run", by="transcript")
    found = diff(plants.run(), tmp_path / "run")
    assert found["paired_by"] == "scenario"
    assert {flip["before_transcript_id"] for flip in found["flips"]} == set(TRANSCRIPTS)
    assert {str(flip["causes"]["sets"]) for flip in found["flips"]} == {"[['transcript']]"}


@pytest.mark.parametrize(
    ("detectable", "told"),
    [(0.4, "a true difference under 0.400 would not be detected"), (1.788, "too few pairs to detect any difference")],
)
def test_so_few_pairs_that_no_difference_could_be_seen_are_reported_as_such(detectable: float, told: str) -> None:
    assert undetected({"detectable": detectable}) == told


def test_transcripts_without_a_scenario_are_not_compared_by_scenario(tmp_path: Path) -> None:
    lines = [{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": c}]} for c in "ab"]
    write_lines(tmp_path / "a.jsonl", lines)
    run(
        compile_project(project(tmp_path / "p", rule=False)),
        [tmp_path / "a.jsonl"],
        tmp_path / "r",
        judge=Judge("PASS"),
    )
    with pytest.raises(UsageError, match=r"several transcripts without a scenario \(`a:1`, `a:2`\); pair them by tr"):
        diff(tmp_path / "r", tmp_path / "r", by="scenario")
    for name in "xy":
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, **lines[0]}), encoding="utf-8")
        plan = compile_project(tmp_path / "p")
        run(plan, [tmp_path / f"{name}.jsonl"], tmp_path / name, judge=Judge("PASS"))
    with pytest.raises(
        UsageError, match=r"no transcript in common: `x` only in `[^`]+` and `y` only in .* chat without an id"
    ):
        diff(tmp_path / "x", tmp_path / "y")


def test_a_changed_conversation_is_not_taken_for_the_one_that_was_read(tmp_path: Path) -> None:
    forged = Plants(tmp_path)
    before, after = forged.run(), forged.run("transcript", "rule")
    write_transcripts(forged.transcripts(changed=False), dict.fromkeys(TRANSCRIPTS, "Something else."))
    assert not all(flip["causes"]["told_apart"] for flip in diff(before, after)["flips"])


def test_a_comparison_for_a_pull_request_keeps_what_was_said_in_its_cell(plants: Plants) -> None:
    page = markdown(compared(plants, *FACTORS))
    assert page.startswith("# Comparison: worse\n")
    assert "| said | S5 | model\\_\\_day | PASS | FAIL | transcript |" in page


def test_a_comparison_is_shown_in_full_on_a_narrow_terminal(plants: Plants) -> None:
    found = compared(plants, *FACTORS)
    wide, narrow = list(text(found, 2_000)), list(text(found, 50))
    assert max(map(len, narrow)) <= 50
    assert len(narrow) > len(wide)
    words = [word for line in wide for word in line.split() if len(word) <= 30]
    assert [word for line in narrow for word in line.split() if word in set(words)] == words


def test_the_page_of_a_comparison_begins_with_its_figures(plants: Plants) -> None:
    found = compared(plants, *FACTORS)
    page = "".join(diff_page(found))
    head = page[page.index('class="figures"') : page.index("<h2")]
    assert f'<dt>Newly failing</dt><dd><b class="bad">{found["failed"]["broken"]}</b>' in head
    assert f'<b class="">{found["score"]["mean"]:+.3f}</b>' in head
    assert f"{len(found['flips'])}</b><span>" in head


@pytest.mark.parametrize("option", [["--margin", "2"], ["--margin", "nan"]])
def test_a_margin_is_a_share(plants: Plants, option: list[str]) -> None:
    assert main(["diff", str(plants.run()), str(plants.run()), *option]) == 3


def test_what_cannot_be_worked_out_is_left_together() -> None:
    assert causes(["a", "b"], lambda _: UNKNOWN) == Causes((("a", "b"),), told_apart=False)
    assert causes([], lambda taken: taken) == Causes(())
    assert causes(["a", "b"], lambda taken: len(taken) == 2) == Causes((("a", "b"),))
    assert causes(["a", "b"], lambda taken: bool(taken)) == Causes((("a",), ("b",)))
    together = {frozenset("a"): UNKNOWN, frozenset("bc"): 2, frozenset("abc"): 2}  # `a` alone may be the cause
    assert causes(["a", "b", "c"], lambda taken: together.get(taken, 1)) == Causes((("a", "b", "c"),), told_apart=False)


def test_a_mean_that_is_surely_lower_by_less_than_the_margin_is_not_worse() -> None:
    nothing: dict[str, Any] = {"outcomes": [], "checks": [], "only_before": [], "new_failures": [], "lost": []}
    side = {"unresolved": {"answers": 0, "refused": 0}}
    about = {"changed": {"judge": []}, "failed": {"decided": 9}, "under_first_policy": None, "margin": 0.05}
    for low, high, verdict in ((-0.04, -0.02, "not worse"), (-0.09, -0.02, "worse"), (-0.09, 0.01, "inconclusive")):
        score = {"mean": -0.03, "low": low, "high": high, "count": 9, "changed": 9, "unscored": 0, "detectable": 0.1}
        scores = {"score": score, "score_at_best": score}
        comparison = {**nothing, **about, **scores, "before": side, "after": side}
        assert decide(comparison, across_judges=False)[0] == verdict


def test_missing_answers_that_may_save_a_lower_mean_leave_a_comparison_open(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    paths = [plants.transcripts(changed=False)]
    least = {"least": "0.5"}
    run(plan, paths, tmp_path / "before", judge=Judge("PASS"), parameters=least)
    run(plan, paths, tmp_path / "after", judge=Judge("UNCLEAR"), parameters=least)
    found = diff(tmp_path / "before", tmp_path / "after")
    bounds = [row["engine"]["bounds"]["overall_score"] for row in read_lines(tmp_path / "after/scores.jsonl")]
    assert all(each["low"] < each["high"] for each in bounds)
    was = [row["overall_score"] for row in read_lines(tmp_path / "before/scores.jsonl")]
    gains = [each["high"] - before for each, before in zip(bounds, was, strict=True)]
    assert found["score_at_best"]["mean"] == pytest.approx(sum(gains) / len(gains))


def test_a_new_transcript_that_is_undecided_is_named(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    run(plan, [plants.transcripts(changed=False) / "model__day.jsonl"], tmp_path / "one", judge=Judge("UNCLEAR"))
    for least, new in (("0.5", []), ("0.95", ["model__night"])):
        out = tmp_path / least
        run(plan, [plants.transcripts(changed=False)], out, judge=Judge("UNCLEAR"), parameters={"least": least})
        assert diff(tmp_path / "one", out)["new_failures"] == new


def test_what_failed_in_the_second_run_anyhow_has_not_fallen_under_the_first_policy(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", rule=False)
    said = [
        write_transcripts(tmp_path / name, dict.fromkeys(TRANSCRIPTS, each))
        for name, each in (("good", "As you like."), ("bad", "You must."))
    ]
    run(compile_project(folder), [said[0]], tmp_path / "before", judge=Judge("PASS"))
    card = folder / "configs/scorecards/quality.yaml"
    card.write_text(card.read_text().replace("not_run: undecided", "not_run: passed"))
    run(compile_project(folder), [said[1]], tmp_path / "after", judge=Judge("PASS"))
    found = diff(tmp_path / "before", tmp_path / "after")
    assert {row["outcome"] for row in rows_of(tmp_path / "after")} == {"failed"}
    assert found["under_first_policy"]["fallen"] == []


def test_facts_that_only_one_of_the_rows_lacks_are_verdicts_that_differ(plants: Plants, tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path / "p", rule=False))
    cut = write_transcripts(tmp_path / "cut", dict.fromkeys(TRANSCRIPTS, ""))
    for name, paths in (("whole", plants.transcripts(changed=False)), ("cut", cut)):
        run(plan, [paths], tmp_path / f"run-{name}", judge=Judge("PASS"))
    found = diff(tmp_path / "run-whole", tmp_path / "run-cut")
    assert [row["causes"]["sets"] for row in found["outcomes"]] == [[["verdicts"]]] * 2

    def side(**facts: object) -> Any:
        plan = SimpleNamespace(scorecard=None)
        return SimpleNamespace(run=SimpleNamespace(rows={"t": facts}, verdicts={"t": {}}, plan=plan, scorecard=None))

    assert Recombiner(side(missing=["a reply"]), side()).causes_of_row(("t", "t")).sets == (("verdicts",),)
    assert Recombiner(side(), side(left_out=["A1"])).causes_of_row(("t", "t")).sets == (("verdicts",),)
    assert Recombiner(side(), side()).causes_of_row(("t", "t")).sets == ()


def test_a_few_equal_falls_of_the_score_show_nothing_and_many_do() -> None:
    def score(count: int, fall: float) -> Any:
        names = [f"t{number}" for number in range(count)]
        rows = {name: {"overall_score": 0.5} for name in names}
        stored: Any = SimpleNamespace(rows=rows, plan=SimpleNamespace(scorecard=None, scenarios={}))
        return _score([stored, stored], Pairs(tuple(zip(names, names, strict=True)), (), ()), [0.5 - fall] * count)

    few, many, same = score(2, 0.04), score(8, 0.04), score(2, 0.0)
    assert few["low"] < -0.05 < few["mean"] < 0 < few["high"]
    assert (many["low"], many["high"]) == (-0.04, -0.04)
    assert (same["low"], same["high"], same["changed"]) == (0.0, 0.0, 0)


def test_an_unproven_failure_does_not_hide_a_proven_one_next_to_it(tmp_path: Path) -> None:
    gate = "of: v.primary_bucket == A, stops: 'v.verdict in [FAIL, UNCLEAR]', undecided: v.verdict == UNCLEAR"
    empty = "empty: {not_eligible: passed, not_run: passed}"
    about = "primary_bucket: A\nseverity: S3\n"
    files = {
        "rulewright.yaml": "project: p\nchecks: checks\nscorecards: cards\nscorecard: s\n",
        "checks/said.yaml": f"id: said\n{about}fail: answer.contains('never')\n",
        "checks/asked.yaml": f"id: asked\n{about}prompt: Is it polite?\n",
        "cards/s.yaml": f"scorecard: s\ngates:\n  g: {{{gate}, {empty}}}\noutput: {{gates: gates}}\n",
    }
    plan = compile_project(write(tmp_path / "project", files))
    runs: list[Path] = []
    for answer, verdict in (("Yes.", "PASS"), ("I never do.", "UNCLEAR"), ("Yes.", "UNCLEAR")):
        messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": answer}]
        said = tmp_path / f"said{len(runs)}.jsonl"
        said.write_text(json.dumps({"id": "day", "model": "m", "messages": messages}), encoding="utf-8")
        runs.append(tmp_path / f"run{len(runs)}")
        run(plan, [said], runs[-1], judge=Judge(verdict))
    both, only = (diff(runs[0], each) for each in runs[1:])
    assert [found["verdict"] for found in (both, only)] == ["worse", "inconclusive"]
    assert [found["outcomes"][0]["unproven"] for found in (both, only)] == [False, True]


def chats(folder: Path, plan: Plan, said: list[str], refused: int = 0) -> Path:
    """A run over one conversation for each answer, and over damaged lines."""
    folder.mkdir()
    hello = {"role": "user", "content": "Hello"}
    records = [
        {"id": f"t{at}", "messages": [hello, {"role": "assistant", "content": answer}]}
        for at, answer in enumerate(said)
    ]
    text = json_lines(records) + "{\n" * refused
    (folder / "said.jsonl").write_text(text, encoding="utf-8")
    run(plan, [folder / "said.jsonl"], folder / "run")
    return folder / "run"


def test_a_check_that_fails_more_often_and_a_lower_mean_make_a_run_worse(tmp_path: Path) -> None:
    compiled = plan(tmp_path / "p")
    before, few, many = (
        chats(tmp_path / name, compiled, [BAD] * bad + [GOOD] * (12 - bad))
        for name, bad in (("none", 0), ("few", 5), ("many", 6))
    )
    assert diff(before, few)["reasons"] == [
        "5 transcripts newly fail",
        "the mean score is lower by 0.417, between 0.089 and 0.744",
    ]
    worse = diff(before, many)
    assert worse["verdict"] == "worse"
    assert worse["reasons"][1] == "the check `W-1` fails more often (p = 0.031 after Holm's correction)"
    better = diff(many, before)
    assert (better["verdict"], better["failed"]["fixed"]) == ("not worse", 6)


def test_more_refused_inputs_are_inconclusive_and_fewer_are_not(tmp_path: Path) -> None:
    compiled = plan(tmp_path / "p")
    none, one, two = (chats(tmp_path / str(refused), compiled, [GOOD], refused) for refused in range(3))
    assert diff(none, one)["reasons"] == ["1 answer or input is missing in the second run, 0 in the first"]
    assert diff(one, two)["reasons"] == ["2 answers or inputs are missing in the second run, 1 in the first"]
    assert [diff(two, each)["verdict"] for each in (none, one, two)] == ["not worse"] * 3


def test_pairs_without_both_scores_and_a_single_cluster_leave_a_comparison_open(tmp_path: Path) -> None:
    compiled = plan(tmp_path / "p")
    check = tmp_path / "p/checks/W-1.yaml"
    unasked = check.read_text().replace("scope: universal", "scope: trigger\neligibility: {scenario_tags_any: [quiet]}")
    check.write_text(unasked, encoding="utf-8")
    before = chats(tmp_path / "before", compiled, [GOOD])
    found = diff(before, chats(tmp_path / "after", compile_project(tmp_path / "p"), [GOOD]))
    assert (found["verdict"], found["reasons"][-1]) == ("inconclusive", "1 pair has a score in one run only")
    turn = {("m", "day"): BAD, ("n", "day"): GOOD}
    mixed, mended = (
        scan(tmp_path / name, compiled, said) for name, said in (("c", turn), ("d", {**turn, ("m", "day"): GOOD}))
    )
    assert diff(mixed, mended)["reasons"] == [
        "all scenarios belong to one cluster, which leaves the error of the mean score unknown"
    ]
