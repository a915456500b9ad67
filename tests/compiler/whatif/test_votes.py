"""What-if with other votes: recorded replies are counted again as a run with these votes would, and never guessed."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.comparing.planted import project, write_transcripts
from tests.folders import write

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright_runtime.judging.judge import JudgeRecord
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs.store import run


class Wavering:
    """Says FAIL first, then PASS."""

    name = "wavering"

    @property
    def record(self) -> JudgeRecord:
        return JudgeRecord("python", self.name)

    def ask(self, request: Any) -> str:
        word = "FAIL" if request.repetition == 0 else "PASS"
        quote = [{"turn": 1, "role": "assistant", "quote": "As you like"}] if word == "FAIL" else []
        return json.dumps({"verdict": word, "rationale_code": "so", "evidence": quote})


def test_another_profile_counts_recorded_votes_again_and_names_what_was_never_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(tmp_path / "p", rule=False)
    (folder / "configs/profiles.yaml").write_text(
        "three: {include_all: true, llm_repetitions: 3}\none: {include_all: true, llm_repetitions: 1}\n"
        "five: {include_all: true, llm_repetitions: 5}\nlists: {include_routes: [lexicon_only]}\n",
        encoding="utf-8",
    )
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    out = tmp_path / "run"
    run(compile_project(folder, profile="three"), [talks], out, judge=Wavering())
    found = {}
    for name in ("three", "one", "five", "lists"):
        words = ["whatif", str(out), "--profile", name, "--project", str(folder), "--format", "json"]
        code = main(words)
        found[name] = (code, json.loads(capsys.readouterr().out))
    assert (found["three"][0], found["three"][1]["flips"]) == (0, [])
    (flip,) = found["one"][1]["flips"]
    assert (found["one"][0], flip["before"]["score"] > flip["after"]["score"]) == (1, True)
    assert (found["five"][0], found["five"][1]["unknown"]) == (2, ["model__day x J-1"])
    assert found["lists"][1]["unknown"] == []
    named = ["--project", str(folder)]
    for name in ("one", "lists"):
        run(compile_project(folder, profile=name), [talks], tmp_path / name, judge=Wavering())
        again = tmp_path / f"{name}-again"
        code = main(["rescore", str(out), "--profile", name, *named, "--out", str(again)])
        assert code == exit_status(json.loads((tmp_path / name / "summary.json").read_text()))
        for file in ("plan.json", "scores.jsonl", "verdicts.jsonl"):
            assert (again / file).read_bytes() == (tmp_path / name / file).read_bytes(), (name, file)
        assert json.loads((again / "summary.json").read_text())["profile"] == name
    assert main(["rescore", str(out), "--profile", "five", *named, "--out", str(tmp_path / "five")]) == 3
    assert not (tmp_path / "five").exists()
    assert "`model__day x J-1`: this needs a question that was never asked" in capsys.readouterr().err


PROFILES = "none: {include_all: true, llm_repetitions: 0}\none: {include_all: true, llm_repetitions: 1}\n"
READER = "id: reader\nprimary_bucket: F\nfail: v('J-1').verdict == FAIL\n"


def test_a_run_in_which_no_judge_was_asked_has_no_answers_under_a_profile_with_votes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(project(tmp_path / "p", rule=False), {"configs/profiles.yaml": PROFILES})
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    run(compile_project(folder, profile="none"), [talks], tmp_path / "run")
    words = ["whatif", str(tmp_path / "run"), "--profile", "one", "--project", str(folder), "--format", "json"]
    assert main(words) == 2
    assert json.loads(capsys.readouterr().out)["unknown"] == ["model__day x J-1"]


def test_a_check_that_reads_a_judged_verdict_reads_the_one_under_the_other_profile(tmp_path: Path) -> None:
    more = {"configs/profiles.yaml": PROFILES + "three: {include_all: true}\n", "checks/reader.yaml": READER}
    folder = write(project(tmp_path / "p", rule=False), more)
    check_file = folder / "checks" / "J-1.yaml"
    check_file.write_text(check_file.read_text().replace("repetitions: 1", "repetitions: 3"))
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    for name in ("three", "one"):
        run(compile_project(folder, profile=name), [talks], tmp_path / name, judge=Wavering())
    words = ["--profile", "one", "--project", str(folder), "--out", str(tmp_path / "again")]
    assert main(["rescore", str(tmp_path / "three"), *words]) in (0, 1, 2)
    lines = [(tmp_path / name / "verdicts.jsonl").read_text().splitlines() for name in ("one", "again")]
    assert [json.loads(line)["verdict"] for line in lines[0] if '"reader"' in line] == ["FAIL"]
    assert lines[1] == lines[0]


def test_other_votes_count_recorded_replies_again_as_a_run_with_them_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(tmp_path / "p", rule=False)
    names = {"one": 1, "two": 2, "three": 3}
    (folder / "configs/profiles.yaml").write_text(
        "".join(f"{name}: {{include_all: true, llm_repetitions: {votes}}}\n" for name, votes in names.items()),
        encoding="utf-8",
    )
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    out = tmp_path / "run"
    run(compile_project(folder, profile="three"), [talks], out, judge=Wavering())
    for name, votes in names.items():
        run(compile_project(folder, profile=name), [talks], tmp_path / name, judge=Wavering())
        again = tmp_path / f"{name}-again"
        code = main(["rescore", str(out), "--votes", str(votes), "--out", str(again)])
        assert code == exit_status(json.loads((tmp_path / name / "summary.json").read_text()))
        for file in ("scores.jsonl", "verdicts.jsonl"):
            assert (again / file).read_bytes() == (tmp_path / name / file).read_bytes(), (name, file)
    capsys.readouterr()
    assert main(["whatif", str(out), "--votes", "5", "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["votes"], found["unknown"], found["other_rules"]) == (5, ["model__day x J-1"], [])
    assert main(["whatif", str(out), "--sweep", "votes", "--format", "json"]) == 0
    swept = json.loads(capsys.readouterr().out)["sweep"]
    rows = [json.loads((tmp_path / name / "scores.jsonl").read_text())["overall_score"] for name in names]
    assert rows[0] != rows[1] == rows[2]
    assert [(each["at"], each["transcripts"]) for each in swept["breakpoints"]] == [(2, ["model__day"])]
    assert swept["unknown"] == {}
    assert main(["rescore", str(out), "--votes", "5", "--out", str(tmp_path / "five")]) == 3
    assert not (tmp_path / "five").exists()


@pytest.mark.parametrize("command", [["whatif"], ["rescore", "--out", "again"]])
def test_votes_are_not_counted_again_over_what_a_person_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    folder = write(
        project(tmp_path / "p", rule=False), {"configs/profiles.yaml": "two: {include_all: true, llm_repetitions: 2}"}
    )
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    out = tmp_path / "run"
    run(compile_project(folder, profile="two"), [talks], out, judge=Wavering())
    main(["adjudicate", str(out), "--decide", "model__day", "J-1", "PASS", "--by", "Ana", "--why", "read it"])
    assert main([*command, str(out / "adjudicated"), "--votes", "1"]) == 3
    said = capsys.readouterr().err
    assert "contains decisions of people about `J-1`, whose votes or rules would differ" in said
    assert f"use the run that they decided about: `{out}`" in said
    assert main(["whatif", str(out / "adjudicated"), "--votes", "2"]) == 0


def test_a_verdict_that_was_never_asked_for_leaves_its_transcript_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "p"
    write(
        folder,
        {
            "rulewright.yaml": "{project: p, checks: checks}",
            "checks/asked.yaml": "{id: asked, prompt: 'FAIL: it is rude. PASS: it is not.'}",
            "checks/free.yaml": "{id: free, each: reply, fail: size(turn.content) > 99}",
        },
    )
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "As you like."}]
    (talks := tmp_path / "day.jsonl").write_text(json.dumps({"id": "day", "messages": said}), encoding="utf-8")
    run(compile_project(folder), [talks], tmp_path / "run", judge=Wavering())
    assert main(["whatif", str(tmp_path / "run"), "--votes", "5", "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["unknown"] == ["day x asked"]
    assert (found["before"]["outcomes"]["passed"], found["after"]["outcomes"]["undecided"]) == (1, 1)


class Silent(Wavering):
    """Gives one usable reply of three."""

    def ask(self, request: Any) -> str:
        return super().ask(request) if request.repetition == 0 else "no"


def test_a_majority_of_the_usable_votes_is_another_than_one_of_the_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project(tmp_path / "p", rule=False)
    (folder / "configs/profiles.yaml").write_text("three: {include_all: true, llm_repetitions: 3}\n", encoding="utf-8")
    out = tmp_path / "run"
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    run(compile_project(folder, profile="three"), [talks], out, judge=Silent())
    assert main(["whatif", str(out), "--majority-of", "planned"]) == 0
    capsys.readouterr()
    assert main(["whatif", str(out), "--majority-of", "usable", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (flip,) = found["flips"]
    assert flip["before"]["score"] > flip["after"]["score"]
    assert (found["majority_of"], found["unknown"]) == ("usable", [])


def test_votes_are_refused_where_nobody_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project(tmp_path / "p", rule=False)
    (folder / "configs/profiles.yaml").write_text("lists: {include_routes: [lexicon_only]}\n", encoding="utf-8")
    out = tmp_path / "run"
    talks = write_transcripts(tmp_path / "said", {"model__day": "As you like."})
    run(compile_project(folder, profile="lists"), [talks], out)
    for words in (["--votes", "3"], ["--majority-of", "usable"], ["--sweep", "votes"]):
        assert main(["whatif", str(out), *words]) == 3
        assert "the plan has no judged checks" in capsys.readouterr().err
    assert main(["whatif", str(out), "--votes", "1000000000"]) == 3
    assert "must be at most 101" in capsys.readouterr().err
