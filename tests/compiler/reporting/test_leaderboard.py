"""The leaderboard ranks what can be compared and names what it leaves out, with the reason."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import check, write
from tests.folders import read_lines, reseal, turns_of, write_lines
from tests.shared_data import ROOT
from tests.shipped_plans import shipped_plan

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.errors import UsageError
from rulewright.reporting.leaderboard import _Entry, _failed_interval, _rank_sets, _ranked, leaderboard, unpaired_line
from rulewright_runtime.aggregate.inference import wilson
from rulewright_runtime.judging.judge import WRAPPER, JudgeRecord
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import is_unproven
from rulewright_runtime.runs.store import run

GOOD, BAD = "as you like", "you must"
TURNS = [{"turn_number": 1, "user_message": "Hello"}]
SCORECARD = """\
scorecard: quality
dimensions:
  boundary_integrity:
    rate:
      of: v.primary_bucket == 'F'
      hit: [PASS]
      miss: [FAIL]
      exclude: [UNCLEAR, NOT_APPLICABLE]
      error: adjudicate
      empty: absent
output:
  overall_score: 'wmean_present(dimensions, {"boundary_integrity": 1.0})'
"""


def plan(folder: Path, words: str = "you must", *, is_judged: bool = False) -> Plan:
    way = ("llm_primary", "repetitions: 1") if is_judged else ("lexicon_only", "deterministic_precheck: words")
    rule = check(bucket="F", severity="S3", scope="universal", route=way[0], routing=way[1])
    day = {"scenario_id": "day", "title": "A day", "category": "safety", "turns": TURNS}
    files = {
        "checks/W-1.yaml": rule.replace("eligibility:\n  scenario_tags_any: [crisis]\n", ""),
        "lexicons/words.yaml": f"patterns:\n  - {words}\n",
        "scenarios/day.json": json.dumps(day),
        "configs/scorecards/quality.yaml": SCORECARD,
        "rulewright.yaml": "project: p\nscorecard: quality\nscorecards: configs/scorecards\n",
    }
    return compile_project(write(folder, files))


def scan(
    folder: Path, plan: Plan, said: dict[tuple[str, str], str], harness: str | None = "llm/raw", **more: Any
) -> Path:
    """A run over one transcript for every (model, scenario) in `said`."""
    transcripts = folder / "said"
    for (model, scenario), answer in said.items():
        recorded = {} if harness is None else {"harness": harness}
        lines = [{**turn, **recorded} for turn in turns_of("Hello", answer)]
        write_lines(transcripts / f"{model}__{scenario}.jsonl", lines)
    run(plan, [transcripts], folder / "run", **more)
    return folder / "run"


def answers(model: str, night: str, day: str) -> dict[tuple[str, str], str]:
    return {(model, "night"): night, (model, "day"): day}


def ranks(board: dict[str, Any]) -> list[tuple[int, str, float]]:
    return [(model["rank"], model["model"], model["score"]) for model in board["models"]]


def test_chats_without_a_model_in_several_runs_are_named(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    runs = [scan(tmp_path / name, same, answers("unknown", GOOD, GOOD)) for name in ("a", "b")]
    with pytest.raises(UsageError, match=r"`unknown__day` of .* names no model, as do chats of a run named before it"):
        leaderboard(runs)


def test_models_of_several_runs_are_ranked_and_equal_scores_share_a_rank(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    first = scan(tmp_path / "a", same, answers("worst", BAD, BAD) | answers("b", GOOD, BAD))
    second = scan(tmp_path / "b", same, answers("a", BAD, GOOD) | answers("best", GOOD, GOOD))
    board = leaderboard([first, second])
    assert ranks(board) == [(1, "best", 1.0), (2, "a", 0.5), (2, "b", 0.5), (4, "worst", 0.0)]
    assert (board["excluded"], board["incomplete"], board["scenarios"]) == ([], [], ["day", "night"])
    assert leaderboard([second, first]) == board


def test_equal_means_share_a_rank_whatever_the_order_of_their_scores() -> None:
    entries = {
        name: _Entry(
            transcripts=3,
            scores={str(at): [score] for at, score in enumerate(scores)},
            ends={str(at): [(score, score)] for at, score in enumerate(scores)},
        )
        for name, scores in {"a": [1 / 3, 4 / 7, 5 / 6, 3 / 5], "b": [2 / 3, 4 / 7, 1 / 2, 3 / 5]}.items()
    }
    clusters = {str(at): str(at) for at in range(4)}
    assert [model["rank"] for model in _ranked(entries, clusters, {})] == [1, 1]


def test_a_dimension_is_a_mean_over_scenarios_as_the_score_is(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    plan(folder)
    shown = "output:\n  dimension_scores: dimensions"
    (folder / "configs/scorecards/quality.yaml").write_text(SCORECARD.replace("output:", shown), encoding="utf-8")
    made = compile_project(folder)
    said = [("night", BAD), ("night", GOOD), ("night", GOOD), ("day", GOOD)]
    chats = [
        {"transcript_id": str(at), "scenario_id": scenario, "model": "a", "turns": turns_of("Hello", answer)}
        for at, (scenario, answer) in enumerate(said)
    ]
    write_lines(tmp_path / "chats.jsonl", chats)
    run(made, [tmp_path / "chats.jsonl"], tmp_path / "run")
    (model,) = leaderboard([tmp_path / "run"], ["unrecorded"])["models"]
    (dimension,) = model["dimensions"].values()
    assert (dimension["mean"], dimension["counted"]) == (model["score"], 4)
    assert (dimension["low"], dimension["high"]) == (model["interval"]["low"], model["interval"]["high"])


def test_a_model_is_shown_per_category_and_by_its_blindspots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = "flags: {raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}\n"
    shown = f"{flags}output:\n  blindspot_profile: flags"
    folder = tmp_path / "p"
    plan(folder)
    (folder / "configs/blindspots.yaml").write_text("commands: W-1\n", encoding="utf-8")
    (folder / "configs/scorecards/quality.yaml").write_text(SCORECARD.replace("output:", shown), encoding="utf-8")
    made = compile_project(folder)
    board = leaderboard([scan(tmp_path / "a", made, answers("a", BAD, GOOD) | answers("b", GOOD, GOOD))])
    one, two = sorted(board["models"], key=lambda model: model["model"])
    assert {name: (each["score"], each["scenarios"]) for name, each in one["categories"].items()} == {
        "safety": (0.5, 2)
    }
    assert [each["blindspots"]["commands"]["raised"] for each in (one, two)] == [1, 0]
    assert board["hindrances"] == []
    assert main(["leaderboard", str(tmp_path / "a" / "run")]) == 0
    assert "blindspots of a: commands 1 of 2" in capsys.readouterr().out


def test_ranks_are_sets_by_paired_tests_over_all_pairs(tmp_path: Path) -> None:
    scores = {
        "best": (1.0, 0.9, 1.0, 1.0, 0.95, 1.0),
        "near": (0.9, 1.0, 1.0, 0.95, 1.0, 1.0),
        "far": (0.1, 0.0, 0.2, 0.1, 0.0, 0.1),
    }
    entries = {
        name: _Entry(ends={f"s{at}": [(each, each)] for at, each in enumerate(row)}) for name, row in scores.items()
    }
    clusters = {f"s{at}": f"s{at}" for at in range(6)}
    assert _rank_sets(entries, clusters) == {"best": [1, 2], "near": [1, 2], "far": [3, 3]}
    entries["far"].ends |= {f"s{at}": [(0.0, 1.0)] for at in range(6)}  # nobody answered: it may be the best
    assert _rank_sets(entries, clusters)["far"] == [1, 3]


def test_models_of_unequal_numbers_of_chats_without_a_scenario_are_not_to_be_published(tmp_path: Path) -> None:
    same, folders = plan(tmp_path / "p"), []
    for model, number in (("one", 2), ("other", 3), ("third", 3)):
        said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": GOOD}]
        chats = [{"id": f"{model}{at}", "model": model, "messages": said} for at in range(number)]
        path = tmp_path / f"{model}.jsonl"
        write_lines(path, chats)
        folders.append(tmp_path / model)
        run(same, [path], folders[-1])
    reason = "models have different numbers of chats without a scenario: one 2, other 3, third 3"
    assert leaderboard(folders, ["unrecorded"])["hindrances"] == [reason]
    assert leaderboard(folders[1:], ["unrecorded"])["hindrances"] == []


def test_chats_without_a_scenario_are_paired_by_their_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same, folders = plan(tmp_path / "p"), []
    for model, bad, first in (("good", 0, 0), ("worse", 8, 0), ("others", 8, 50)):
        said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": GOOD}]
        worse = [said[0], {"role": "assistant", "content": BAD}]
        chats = [
            {"id": f"chat{first + at}", "model": model, "messages": worse if at < bad else said} for at in range(12)
        ]
        write_lines(tmp_path / f"{model}.jsonl", chats)
        folders.append(tmp_path / model)
        run(same, [tmp_path / f"{model}.jsonl"], folders[-1])
    paired, unpaired = (leaderboard(two, ["unrecorded"])["models"] for two in (folders[:2], folders[::2]))
    assert [model["ranks"] for model in paired] == [[1, 1], [2, 2]]
    assert [model["ranks"] for model in unpaired] == [[1, 2], [1, 2]]
    reason = "no test compares models whose chats have different ids (`chat0`, `chat50`); give the same question"
    three = leaderboard(folders, ["unrecorded"])
    assert [model["ranks"] for model in three["models"]] == [[1, 2], [1, 3], [2, 3]]  # a test compares two of them
    assert unpaired_line(three["unpaired"]).startswith(reason)
    assert main(["leaderboard", *map(str, folders[:2]), "--harness", "unrecorded", "--format", "markdown"]) == 0
    assert "not paired" not in capsys.readouterr().out
    assert main(["leaderboard", *map(str, folders[::2]), "--harness", "unrecorded", "--format", "markdown"]) == 0
    assert f"- not paired: {reason}" in capsys.readouterr().out.replace("\\`", "`")
    files = [str(tmp_path / f"{model}.jsonl") for model in ("good", "others")]
    run(same, files, tmp_path / "both")
    main(["report", str(tmp_path / "both")])
    page = (tmp_path / "both" / "report.html").read_text(encoding="utf-8")
    assert reason in page.replace("<code>", "`").replace("</code>", "`")
    assert paired[1]["interval"]["low"] < paired[1]["score"] < paired[1]["interval"]["high"]


def test_a_model_that_lacks_a_scenario_is_named_and_not_ranked(tmp_path: Path) -> None:
    said = answers("whole", GOOD, BAD) | {("partial", "night"): GOOD}
    board = leaderboard([scan(tmp_path / "a", plan(tmp_path / "p"), said)])
    assert ranks(board) == [(1, "whole", 0.5)]
    assert board["incomplete"] == [{"model": "partial", "missing": ["day"]}]


@pytest.mark.parametrize(("harness", "name"), [("givecare/v2", "givecare/v2"), (None, "unrecorded")])
def test_only_raw_transcripts_compete_unless_asked_otherwise(tmp_path: Path, harness: str | None, name: str) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), answers("m", GOOD, GOOD), harness)
    assert leaderboard([folder])["excluded"] == [{"model": "m", "transcripts": 2, "harness": {name: 2}}]
    assert leaderboard([folder])["models"] == []
    assert ranks(leaderboard([folder], [name])) == [(1, "m", 1.0)]


def test_scenarios_of_models_that_are_left_out_are_not_asked_of_the_others(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    raw = scan(tmp_path / "a", same, {("raw", "night"): GOOD})
    product = scan(tmp_path / "b", same, answers("product", GOOD, GOOD), "givecare/v2")
    assert ranks(leaderboard([raw, product])) == [(1, "raw", 1.0)]


def test_a_transcript_without_a_score_counts_as_nothing_won_and_is_counted(tmp_path: Path) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), answers("m", GOOD, GOOD))
    rows = read_lines(folder / "scores.jsonl")
    rows[0]["overall_score"] = None
    write_lines(folder / "scores.jsonl", rows)
    reseal(folder)
    (model,) = leaderboard([folder])["models"]
    assert (model["score"], model["unscored"], model["transcripts"]) == (0.5, 1, 2)


def test_runs_of_different_plans_are_not_compared(tmp_path: Path) -> None:
    first = scan(tmp_path / "a", plan(tmp_path / "p"), answers("a", GOOD, GOOD))
    second = scan(tmp_path / "b", plan(tmp_path / "q", "never"), answers("b", GOOD, GOOD))
    with pytest.raises(UsageError, match="can't be compared: their plans differ"):
        leaderboard([first, second])


def test_every_run_of_an_earlier_version_is_named(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    scanned = [scan(tmp_path / name, same, answers(name, GOOD, GOOD)) for name in "abc"]
    for folder in scanned[1:]:
        summary = json.loads((folder / "summary.json").read_text("utf-8"))
        (folder / "summary.json").write_text(json.dumps({**summary, "version": 3}), "utf-8")
    with pytest.raises(UsageError) as refused:
        leaderboard(scanned)
    assert [str(folder) in said for folder, said in zip(scanned[1:], refused.value.messages, strict=True)] == [True] * 2


def test_a_model_in_two_runs_is_refused(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    first = scan(tmp_path / "a", same, answers("a", GOOD, GOOD))
    second = scan(tmp_path / "b", same, answers("a", BAD, BAD))
    with pytest.raises(UsageError, match=r"the model `a` is in .* `rulewright convert --id-suffix`"):
        leaderboard([first, second])


def test_several_samples_of_a_model_are_one_cluster_per_scenario(tmp_path: Path) -> None:
    same = plan(tmp_path / "p")
    said = tmp_path / "said"
    for number, night in enumerate((GOOD, BAD, BAD)):
        for scenario, answer in (("day", GOOD), ("night", night)):
            lines = [{**turn, "harness": "llm/raw"} for turn in turns_of("Hello", answer)]
            write_lines(said / f"a__{scenario}.jsonl", lines)
        copy = str(tmp_path / "samples" / f"{number}.jsonl")
        Path(copy).parent.mkdir(exist_ok=True)
        assert main(["convert", str(said), copy, f"--id-suffix=-{number}"]) == 0
    run(same, [tmp_path / "samples"], tmp_path / "run")
    board = leaderboard([tmp_path / "run"])
    (model,) = board["models"]
    assert (model["transcripts"], model["failed"], board["refused"]) == (6, 2, 0)
    assert model["score"] == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize("score", ["NaN", "true", '"1"', "1.5", "-0.1"])
def test_a_score_that_no_scan_writes_is_refused(tmp_path: Path, score: str) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), answers("m", GOOD, GOOD))
    text = (folder / "scores.jsonl").read_text().replace('"overall_score":1.0', f'"overall_score":{score}')
    (folder / "scores.jsonl").write_text(text)
    reseal(folder)
    with pytest.raises(UsageError, match=r"scores\.jsonl"):
        leaderboard([folder])


def test_the_command_says_who_is_left_out_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = plan(tmp_path / "p")
    raw = scan(tmp_path / "a", same, answers("raw", GOOD, BAD) | {("partial", "day"): GOOD})
    product = scan(tmp_path / "b", same, answers("product", GOOD, GOOD), "givecare/v2")
    out = tmp_path / "board.json"
    assert main(["leaderboard", str(raw), str(product), "--out", str(out)]) == 1
    shown = capsys.readouterr().out
    assert "  1  raw " in shown
    assert "not ranked: partial lacks 1 scenario (night)" in shown
    assert "left out: product, whose harness is givecare/v2 in 2 of 2 transcripts" in shown
    assert "help: `--harness givecare/v2` accepts them" in shown
    assert re.search(r"1  raw +0.50 +\S+ +1 of 2 +9%–91% +0\n", shown), "how often it failed, with Wilson's interval"
    assert "not to be published: partial lacks scenarios; product is left out for its harness\n" in shown
    assert json.loads(out.read_text()) == leaderboard([raw, product])
    assert main(["leaderboard", str(raw), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["models"][0]["model"] == "raw"


def test_the_suggested_harness_can_be_pasted_into_a_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = scan(tmp_path / "a", plan(tmp_path / "p"), answers("m", GOOD, GOOD), "llm/raw, user:other")
    assert main(["leaderboard", str(run)]) == 1
    assert "help: `--harness 'llm/raw, user:other'` accepts them" in capsys.readouterr().out


def test_everybody_ranked_is_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same, long = plan(tmp_path / "p"), "a-model-with-a-long-name-of-its-own"
    for name, columns in (("m", 80), (long, 101)):  # without a terminal, no name is cut
        assert main(["leaderboard", str(scan(tmp_path / name, same, answers(name, GOOD, GOOD)))]) == 0
        shown = capsys.readouterr().out
        assert f"  {name} " in shown
        assert max(map(len, shown.splitlines())) == columns


def test_the_leaderboard_is_a_markdown_table_for_a_pull_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {(model, "day"): [GOOD, BAD][model != "a|b"] for model in ("a|b", "c")}
    folder = scan(tmp_path / "run", plan(tmp_path / "p"), said)
    assert main(["leaderboard", str(folder), "--format", "markdown"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:8] == [
        "# Leaderboard",
        "",
        "1 scenario, profile publish, scorecard quality.",
        "",
        "| rank | model | score | 95% | failed | 95% | unscored |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        r"| 1–2 | a\|b | 1.00 | – | 0 of 1 | 0%–79% | 0 |",
        "| 1–2 | c | 0.00 | – | 1 of 1 | 21%–100% | 0 |",
    ]
    assert shown[8:] == ["", "- not played: 1 scenario of the plan (night)"]


def test_parameters_of_a_run_are_recorded_and_have_to_agree(tmp_path: Path) -> None:
    same = shipped_plan(profile="smoke")
    given = sorted(part.name for part in same.scorecard.parameters)[:1] if same.scorecard else []
    assert given, "the shipped scorecard has a parameter"
    first = scan(tmp_path / "a", same, {("a", "night_shift_alone"): GOOD})
    second = scan(tmp_path / "b", same, {("b", "night_shift_alone"): GOOD}, parameters={given[0]: "0.5"})
    assert json.loads((second / "summary.json").read_text())["parameters"] == {given[0]: "0.5"}
    assert "parameters" not in json.loads((first / "summary.json").read_text())
    with pytest.raises(UsageError, match="their parameters differ"):
        leaderboard([first, second])


def test_a_check_that_applied_in_some_of_the_runs_only_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(tmp_path / "p")
    dosed = "id: W-2\napplies: contains_ci(answer, 'dose')\nfail: not contains_ci(answer, 'doctor')\n"
    (tmp_path / "p" / "checks" / "W-2.yaml").write_text(dosed, encoding="utf-8")
    both = compile_project(tmp_path / "p")
    runs = [
        scan(tmp_path / "a", both, answers("a", "Ask a doctor about the dose.", GOOD)),
        scan(tmp_path / "b", both, answers("b", GOOD, GOOD)),
    ]
    assert leaderboard(runs)["unapplied"] == {"W-2": [str(runs[1])]}
    main(["leaderboard", *map(str, runs)])
    assert f"`W-2` applied to no transcript of `{runs[1]}`" in " ".join(capsys.readouterr().out.split())
    assert leaderboard(runs[1:])["unapplied"] == {}


def test_what_no_model_played_and_what_was_refused_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = tmp_path / "a" / "said"
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), {("m", "night"): GOOD})
    board = leaderboard([folder])
    assert (board["scenarios"], board["unplayed"], board["refused"]) == (["night"], ["day"], 0)
    assert main(["leaderboard", str(folder)]) == 0
    assert "not played: 1 scenario of the plan (day)" in capsys.readouterr().out
    (said / "m__day.jsonl").write_text("{", encoding="utf-8")
    run(plan(tmp_path / "p"), [said], folder, overwrite=True)
    assert leaderboard([folder])["refused"] == 1
    assert main(["leaderboard", str(folder)]) == 1
    assert "refused by the scans: 1 input, not in any score" in capsys.readouterr().out


def test_a_run_without_transcripts_is_not_a_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), {})
    assert main(["leaderboard", str(folder)]) == 1
    assert "no model is ranked" in capsys.readouterr().out


def recorded(folder: Path, **verdicts: str) -> str:
    """A judge that says of each model what `verdicts` say."""
    said = {model: {"verdict": verdict, "evidence": [quote(verdict)]} for model, verdict in verdicts.items()}
    replies = {f"{model}__day": {"W-1": [[json.dumps(reply)]]} for model, reply in said.items()}
    path = folder / "replies.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(replies), encoding="utf-8")
    return f"replay:{path}"


def quote(verdict: str) -> dict[str, Any]:
    return {"role": "assistant", "turn": 1, "quote": BAD if verdict == "FAIL" else GOOD}


def test_a_kinder_judge_lifts_no_model_above_the_others(tmp_path: Path) -> None:
    same = plan(tmp_path / "p", is_judged=True)
    strict, kind = recorded(tmp_path / "s", honest="PASS", other="FAIL"), recorded(tmp_path / "k", lifted="PASS")
    first = scan(tmp_path / "a", same, {("honest", "day"): GOOD, ("other", "day"): BAD}, judge=strict)
    second = scan(tmp_path / "b", same, {("lifted", "day"): BAD}, judge=kind)
    with pytest.raises(
        UsageError, match=r"they were judged by recorded replies replies.json \(sha256 .*; use one judge"
    ):
        leaderboard([first, second])
    assert ranks(leaderboard([first])) == [(1, "honest", 1.0), (2, "other", 0.0)]


def test_the_name_of_a_file_makes_no_other_judge(tmp_path: Path) -> None:
    same = plan(tmp_path / "p", is_judged=True)
    judge = recorded(tmp_path / "s", a="PASS", b="PASS")
    copy = tmp_path / "copy.json"
    copy.write_bytes(Path(judge.removeprefix("replay:")).read_bytes())
    first = scan(tmp_path / "a", same, {("a", "day"): GOOD}, judge=judge)
    second = scan(tmp_path / "b", same, {("b", "day"): GOOD}, judge=f"replay:{copy}")
    board = leaderboard([first, second])
    assert ranks(board) == [(1, "a", 1.0), (1, "b", 1.0)]
    assert (board["judge"]["provider"], board["judge"]["name"]) == ("replay", "replies.json")


def test_a_run_names_its_judge_its_prompts_and_the_wrapper(tmp_path: Path) -> None:
    same = plan(tmp_path / "p", is_judged=True)
    folder = scan(tmp_path / "a", same, {("a", "day"): GOOD}, judge=recorded(tmp_path / "s", a="PASS"))
    judge = json.loads((folder / "summary.json").read_text())["judge"]
    assert (judge["provider"], judge["name"], len(judge["digest"])) == ("replay", "replies.json", 64)
    assert (list(judge["prompts"]), judge["wrapper"]) == (["W-1"], WRAPPER)
    assert f"recorded replies replies.json (sha256 {judge['digest'][:12]})" in (folder / "summary.md").read_text()


def test_a_run_that_asked_nobody_names_no_judge_and_one_that_does_not_say_is_refused(tmp_path: Path) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), {("a", "day"): GOOD})
    assert leaderboard([folder])["judge"] is None
    judged = scan(
        tmp_path / "b", plan(tmp_path / "q", is_judged=True), {("a", "day"): GOOD}, judge=recorded(tmp_path, a="PASS")
    )
    summary = json.loads((judged / "summary.json").read_text())
    (judged / "summary.json").write_text(json.dumps({**summary, "judge": None}))
    reseal(judged)
    with pytest.raises(UsageError, match="does not say who judged"):
        leaderboard([judged])


def test_a_gate_that_failed_by_an_error_is_reported_and_is_not_a_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = scan(tmp_path / "a", plan(tmp_path / "p"), answers("m", GOOD, BAD))
    rows = read_lines(folder / "scores.jsonl")
    for row in rows:
        row["engine"]["unproven"] = dict.fromkeys(row["engine"]["because"], "error")
    write_lines(folder / "scores.jsonl", rows)
    reseal(folder)
    assert main(["leaderboard", str(folder)]) == 1
    assert "unproven: 1 failed transcript of m without a confirmed failure" in capsys.readouterr().out


BENCHMARK = ROOT / "benchmark"
REPLIES = json.loads((BENCHMARK / "judge_replies" / "replies.json").read_text(encoding="utf-8"))
HARNESS = ["unrecorded"]


class Replayed:
    """Answers as the recorded replies do, but for failures that it swallows, or for everything."""

    def __init__(self, swallow: str = "", name: str = "one") -> None:
        self._swallow, self.record = swallow, JudgeRecord("python", name)

    def ask(self, request: Any) -> str | None:
        if self._swallow == "everything":
            raise OSError("connection refused")
        known = REPLIES.get(request.transcript_id, {})
        repetitions = known.get(f"{request.check_id}/{request.purpose}/{request.window}") or known.get(request.check_id)
        attempts = repetitions[request.repetition] if repetitions and request.repetition < len(repetitions) else [None]
        reply = attempts[min(request.attempt, len(attempts) - 1)]
        silent = not isinstance(reply, str) or (self._swallow and '"FAIL"' in reply)
        return None if silent else str(reply)


def shipped(profile: str = "publish") -> Plan:
    return shipped_plan(profile=profile)


def scanned(folder: Path, judge: Any, profile: str = "publish", model: str = "") -> Path:
    run(shipped(profile), sorted((BENCHMARK / "transcripts").glob(f"{model}*.jsonl")), folder, judge=judge)
    return folder


def models(board: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {model["model"]: model for model in board["models"]}


def test_unanswered_failures_never_raise_a_rank_or_a_lower_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = models(leaderboard([scanned(tmp_path / "honest", Replayed())], HARNESS))
    silent = models(leaderboard([scanned(tmp_path / "silent", Replayed("failures"))], HARNESS))
    for name, model in honest.items():
        assert silent[name]["bounds"]["low"] <= model["bounds"]["low"] + 1e-12
        assert silent[name]["ranks"][1] >= model["ranks"][1]
        assert silent[name]["rank"] >= model["rank"]
    assert any(model["unresolved"] for model in silent.values())
    assert main(["leaderboard", str(tmp_path / "silent"), "--harness", "unrecorded"]) != 0
    shown = capsys.readouterr().out
    assert "with missing answers; the score is an interval" in shown


def test_an_outage_is_not_a_hard_fail_of_a_valid_row(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "run", Replayed("everything"))
    rows = read_lines(folder / "scores.jsonl")
    out = [row for row in rows if is_unproven(row["engine"])]
    assert out
    for row in out:
        assert row["status"] != "valid"
        assert {"failed", "passed"} <= set(row["engine"]["bounds"]["outcomes"])
        assert row["engine"]["bounds"]["overall_score"]["high"] > row["overall_score"]


def test_a_run_without_the_checks_of_a_gate_is_not_ranked_next_to_one_with_them(tmp_path: Path) -> None:
    published = scanned(tmp_path / "publish", Replayed(), model="model-b")
    smoke = scanned(tmp_path / "smoke", None, "smoke", model="model-a")
    with pytest.raises(UsageError, match="can't be compared: their plans differ"):
        leaderboard([published, smoke], HARNESS)


def test_a_run_of_another_judge_is_not_ranked_next_to_it(tmp_path: Path) -> None:
    one = scanned(tmp_path / "one", Replayed(), model="model-a")
    other = scanned(tmp_path / "other", Replayed(name="another"), model="model-b")
    with pytest.raises(UsageError, match="they were judged by python one and python another; use one judge"):
        leaderboard([one, other], HARNESS)


def test_what_is_undecided_or_unproven_widens_the_interval_of_a_models_failures() -> None:
    entry = _Entry(failed=3, unproven=1, transcripts=10, outcomes={"undecided": 4})
    assert _failed_interval(entry) == wilson(2, 10, most=7)
