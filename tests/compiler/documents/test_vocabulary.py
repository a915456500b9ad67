"""The words of a project: schemas, expressions, lint, gates, plans and reports know those that it declares."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.small_project import write
from tests.folders import write_turns

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.documents.keys import allowed
from rulewright.documents.vocabulary import invisiblebench, schema_in
from rulewright.errors import DocumentError
from rulewright.linting.lint_run import lint
from rulewright.planning.harness import compile_run_plan
from rulewright.project import Project, load_project
from rulewright_grammar import schema
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan

PROJECT = """\
project: desk
scorecards: scorecards
scorecard: desk
vocabulary:
  buckets: [advice, conduct]
  severities: [minor, major, blocking]
  categories: [cards, loans]
  scopes: {everywhere: universal}
  tags: [fee, complaint]
  gates:
    legal: {buckets: [advice], severities: [major, blocking]}
  statuses: [good, poor]
"""
CHECK = """\
id: promises
name: promises
primary_bucket: advice
severity: blocking
scope: trigger
eligibility:
  when: scenario.category == "cards" and "fee" in scenario.tags
routing:
  route: lexicon_only
  deterministic_precheck: words
  repetitions: 1
"""
SCENARIO = """\
{"scenario_id": "fee", "title": "A fee", "category": "cards", "tags": ["fee"],
 "turns": [{"turn_number": 1, "user_message": "Hello"}]}
"""
SCORECARD = """\
scorecard: desk
gates:
  legal:
    of: v.primary_bucket == 'advice' and v.severity in [major, blocking]
    stops: v.verdict == FAIL
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: passed}
rates:
  quality:
    rate: {of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: miss, empty: absent}
output:
  quality: rates.quality
  grade: "rates.quality == optional.of(score(1)) ? 'good' : 'poor'"
headline: quality
label: grade
"""
FILES = {
    "rulewright.yaml": PROJECT,
    "checks/W-1.yaml": "",
    "checks/promises.yaml": CHECK,
    "scenarios/night.json": "",
    "scenarios/fee.json": SCENARIO,
    "configs/scoring.yaml": "unit_of_analysis_by_bucket: {advice: turn_level}\n",
    "configs/profiles.yaml": "publish: {include_buckets: [advice]}\n",
    "scorecards/desk.yaml": SCORECARD,
}


def made(folder: Path, **changed: str) -> Path:
    files = {name: changed.get(Path(name).stem, text) for name, text in FILES.items()}
    write(folder, files)
    for name in ("checks/W-1.yaml", "scenarios/night.json"):
        (folder / name).unlink()
    return folder


def project(folder: Path, **changed: str) -> Project:
    return load_project(made(folder, **changed))


def messages(folder: Path, **changed: str) -> list[str]:
    return [found.message for found in lint([made(folder, **changed)]).diagnostics if found.severity == "error"]


def test_without_the_key_the_schemas_are_the_shipped_ones() -> None:
    assert all(schema_in(kind, invisiblebench()) == schema(kind) for kind in ("check", "scenario", "scoring"))
    assert invisiblebench().is_gate("A", "S5")
    assert not invisiblebench().is_gate("C", "S5")


@pytest.mark.parametrize("written", ["vocabulary: invisiblebench\n", ""])
def test_the_shipped_vocabulary_has_a_name(tmp_path: Path, written: str) -> None:
    loaded = load_project(write(tmp_path, {"rulewright.yaml": "project: p\n" + written}))
    assert (loaded.vocabulary, loaded.diagnostics) == (invisiblebench(), ())


def test_a_project_in_its_own_words_is_clean_and_compiles(tmp_path: Path) -> None:
    loaded = project(tmp_path)
    assert [found.message for found in lint([tmp_path]).diagnostics] == []
    plan = compile_project(loaded)
    (check,) = plan.checks
    assert (check.primary_bucket, check.severity, check.is_gate) == ("advice", "blocking", True)
    assert plan.severities == ("minor", "major", "blocking")


def test_the_harness_plays_scenarios_in_the_words_of_their_project(tmp_path: Path) -> None:
    loaded = project(tmp_path)
    (script,) = compile_run_plan([tmp_path / "scenarios"], loaded).scripts
    assert [turn.user_message for turn in script.turns] == ["Hello"]
    with pytest.raises(DocumentError, match="`cards` is not allowed"):
        compile_run_plan([tmp_path / "scenarios"])


SLIPS = {
    "bucket": ({"promises": CHECK.replace("bucket: advice", "bucket: advise")}, "`advise` is n"),
    "old bucket": ({"promises": CHECK.replace("bucket: advice", "bucket: A")}, "`A` is n"),
    "severity": ({"promises": CHECK.replace("blocking", "S5")}, "`S5` is n"),
    "category": ({"fee": SCENARIO.replace("cards", "empathy")}, "`empathy` is n"),
    "category compared": ({"promises": CHECK.replace('"cards"', '"safety"')}, "unknown value `safety`"),
    "tag compared": ({"promises": CHECK.replace('"fee" in', '"fe" in')}, "unknown value `fe`"),
    "bucket compared": ({"desk": SCORECARD.replace("'advice'", "'A'")}, "unknown value `A`"),
    "status": ({"desk": SCORECARD.replace("'poor'", "'por'")}, "unknown status: `por`"),
    "headline": ({"desk": SCORECARD.replace("headline: quality", "headline: qualty")}, "`headline` names `qualty`"),
    "gate": ({"rulewright": PROJECT.replace("buckets: [advice],", "buckets: [advise],")}, "unknown `advise` in"),
    "profile": ({"profiles": "publish: {include_buckets: [F]}\n"}, "`F`"),
    "unit": ({"scoring": "unit_of_analysis_by_bucket: {A: turn_level}\n"}, "`A`"),
    "label": ({"desk": SCORECARD.replace("label: grade", "label: quality")}, "`quality` is the label and must"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_word_that_is_not_declared_is_found(tmp_path: Path, slip: str) -> None:
    changed, said = SLIPS[slip]
    found = messages(tmp_path, **changed)
    assert any(said in message for message in found), found


def test_the_help_says_where_other_words_are_declared(tmp_path: Path) -> None:
    project(tmp_path, fee=SCENARIO.replace(', "category": "cards"', ""), promises=CHECK.replace("blocking", "odd"))
    told = {found.code: found.help or "" for found in lint([tmp_path]).diagnostics}
    assert "other words are declared by `vocabulary: {categories: [...]}`" in told["missing-key"]
    assert "other words are declared by `vocabulary: {severities: [...]}`" in told["unknown-value"]


def test_a_file_alone_has_the_words_of_the_nearest_project(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert lint([folder / "checks" / "promises.yaml"]).diagnostics == ()
    assert lint([folder / "scorecards" / "desk.yaml"]).diagnostics == ()


def test_completions_offer_the_declared_words(tmp_path: Path) -> None:
    words = project(tmp_path).vocabulary
    assert [part["enum"] for part in allowed("check", ("severity",), words)] == [["minor", "major", "blocking"]]


@pytest.mark.parametrize("buckets", ["[]", "advice", "[7]"])
def test_a_kind_of_gate_without_a_bucket_that_can_be_read_has_no_checks(tmp_path: Path, buckets: str) -> None:
    text = PROJECT.replace("buckets: [advice]", f"buckets: {buckets}")
    shown = messages(tmp_path, rulewright=text)
    assert shown[0].startswith("`vocabulary.gates.legal.buckets")
    assert not any("`7`; expected" in each for each in shown)


def test_without_gates_of_its_own_no_check_is_a_gate_check(tmp_path: Path) -> None:
    text = PROJECT.replace("  gates:\n    legal: {buckets: [advice], severities: [major, blocking]}\n", "")
    assert not project(tmp_path, rulewright=text).checks[0].is_gate


def test_a_scope_of_its_own_applies_everywhere(tmp_path: Path) -> None:
    text = CHECK.replace("scope: trigger", "scope: everywhere").replace(
        'eligibility:\n  when: scenario.category == "cards" and "fee" in scenario.tags\n', ""
    )
    (check,) = compile_project(project(tmp_path, promises=text)).checks
    assert (check.scope, check.eligible) == ("universal", None)


def test_a_plan_whose_check_has_another_severity_is_refused(tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path))
    data: dict[str, Any] = json.loads(encode(plan))
    assert isinstance(decode(encode(plan)), Plan)
    data["severities"] = ["minor", "major"]
    with pytest.raises(PlanError):
        decode(json.dumps(data).encode())


def test_an_unknown_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError):
        compile_project(load_project(write(tmp_path, {"rulewright.yaml": "project: p\nvocabulary: mine\n"})))


def test_reports_show_the_headline_and_the_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made(tmp_path))
    for model, words in (("a", "you must"), ("b", "as you like")):
        write_turns(Path("said", f"{model}__fee.jsonl"), "Hello", words)
    assert main(["scan", "said", "--out", "run"]) == 1
    shown = capsys.readouterr().out
    assert "  quality                         0.50" in shown
    assert "grade               1 good, 1 poor" in shown
    summary = json.loads(Path("run", "summary.json").read_bytes())
    assert (summary["headline"], summary["label"], summary["status"]) == ("quality", "grade", {"good": 1, "poor": 1})
    assert "## grade" in Path("run", "summary.md").read_text()
    assert main(["report", "run"]) == 1
    page = Path("run", "report.html").read_text()
    assert "<dt>Quality</dt>" in page
    assert "<dt>Grade</dt>" in page
    assert main(["report", "run", "--fail-on", "major"]) == 1
    assert main(["leaderboard", "run", "--harness", "unrecorded", "--out", "board.json"]) == 0
    assert [(each["model"], each["score"]) for each in json.loads(Path("board.json").read_bytes())["models"]] == [
        ("b", 1.0),
        ("a", 0.0),
    ]


MISSPELT = [
    ("rulewright.yaml", "vocabulary", "Vocabulary"),
    ("scorecards/release.yaml", "gates", "gate"),
    ("scorecards/release.yaml", "rates", "raets"),
    ("checks/account-number-in-full.yaml", "primary_bucket", "primary_bukcet"),
]


@pytest.mark.parametrize(("file", "key", "written"), MISSPELT)
def test_a_misspelt_key_is_one_mistake_that_forbids_to_compile(
    file: str, key: str, written: str, tmp_path: Path
) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    path = tmp_path / "desk" / file
    path.write_text(path.read_text().replace(f"{key}:", f"{written}:"))
    (found,) = lint([tmp_path / "desk"]).diagnostics
    assert (found.code, found.help) == ("unknown-key", f"did you mean `{key}`?")
    with pytest.raises(DocumentError):
        compile_project(tmp_path / "desk")
