"""Files of test cases and of an engine's outputs are linted wherever they lie: alone, in a folder, in a project."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests import folders
from tests.safe_cases import case, output, safe, write

from rulewright import dependencies
from rulewright.cli import main
from rulewright.diagnostics import Severity
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.rules.suspicious import output_without_case
from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.errors import InputError

SHIPPED = Path("benchmark", "safe")


def codes(*paths: Path) -> list[tuple[str, int]]:
    return [(found.code, found.span.line) for found in lint(paths).diagnostics]


def test_the_shipped_cases_outputs_and_settings_have_no_finding() -> None:
    assert lint([SHIPPED]).diagnostics == ()
    assert {"I25_batch_3.jsonl", "I25_batch_3.json", "safe.config.json"} <= {
        Path(path).name for path in lint([SHIPPED]).sources
    }


def test_each_line_of_a_file_of_lines_is_a_case_with_its_own_place(tmp_path: Path) -> None:
    lines = [json.dumps(each) for each in (case("a"), case("b"), case("a"))]
    (tmp_path / "batch.jsonl").write_text("\r\n".join([lines[0], "", *lines[1:]]) + "\r\n", newline="")
    assert codes(tmp_path) == [("duplicate-test-id", 4)]


def test_a_phrase_that_is_expected_twice_counts_twice_and_is_reported(tmp_path: Path) -> None:
    (tmp_path / "batch.json").write_text(json.dumps([case("a", must=["fever", "cough", "fever"])], indent=1))
    assert codes(tmp_path) == [("listed-twice", 11)]


@pytest.mark.parametrize(
    "text", ['{"test_id": "a",\n{"test_id": "b"}\n', '{"test_id": "a"}]\n', '[{"test_id": "a"},', "{"]
)
def test_lines_that_are_not_json_are_a_finding(tmp_path: Path, text: str) -> None:
    (tmp_path / "batch.jsonl").write_text(text)
    assert [code for code, _ in codes(tmp_path / "batch.jsonl")] == ["json-syntax"]


def test_a_project_reports_the_file_among_its_cases_that_is_not_a_case(tmp_path: Path) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    write(tmp_path / "desk" / "cases" / "one.json", {"test_cases": [case("a"), case("a", summary="other")]})
    write(tmp_path / "desk" / "cases" / "notes.json", {"remember": "the milk"})
    assert [code for code, _ in codes(tmp_path / "desk")] == ["unknown-document", "duplicate-test-id"]


@pytest.mark.parametrize(
    ("batch", "found"),
    [
        ('{"batch_id": "one",\n "test_caess": [{"test_id": "a"}]}', [("unknown-key", 2)]),
        ('{"batch_id": "one",\n "test_cases": []}', [("bad-case", 2)]),
        ('{"batch_id": "one",\n "test_cases": "a"}', [("bad-case", 2)]),
    ],
)
def test_a_batch_in_which_no_case_is_found_is_a_finding(tmp_path: Path, batch: str, found: list[object]) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    write(tmp_path / "desk" / "cases" / "one.json", []).write_text(batch)
    assert codes(tmp_path / "desk") == found


def test_cases_whose_scorecard_can_not_be_read_are_not_read_as_those_of_another_one(tmp_path: Path) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    write(tmp_path / "desk" / "cases" / "one.json", [{"test_id": "a", "expectations": {"own": ["x"]}}])
    (tmp_path / "desk" / "scorecards" / "cases.yaml").write_text("scorecard: cases\nover: cases\n  metrics: {\n")
    assert [code for code, _ in codes(tmp_path / "desk")] == ["yaml-syntax"]


def test_a_project_reports_the_mistakes_in_its_settings_of_scoring(tmp_path: Path) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    (tmp_path / "desk" / "safe.config.json").write_text('// ours\n{"strictAh": true}')
    assert codes(tmp_path / "desk") == [("bad-setting", 2)]
    (tmp_path / "desk" / "safe.config.json").write_text("{")
    assert codes(tmp_path / "desk") == [("json-syntax", 1)]


@pytest.mark.parametrize("others", [[], ["b.json"]])
def test_a_project_reports_cases_that_are_not_json(tmp_path: Path, others: list[str]) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path / "desk")
    write(tmp_path / "desk" / "cases" / "a.json", [case("a")]).write_text('[{"test_id": "a" "concern_id": "b"}]')
    for name in others:
        write(tmp_path / "desk" / "cases" / name, [case("b")])
    assert codes(tmp_path / "desk") == [("json-syntax", 1)]


@pytest.mark.parametrize("written", ['{"weights": {"AH": "1.5"}}', '{"thresholds": {"CR": {"pass": "high"}}}'])
def test_a_text_in_place_of_a_number_is_one_finding(tmp_path: Path, written: str) -> None:
    (tmp_path / "safe.config.json").write_text(written)
    assert codes(tmp_path) == [("bad-setting", 1)]


def test_a_slip_that_all_cases_repeat_is_one_finding(tmp_path: Path) -> None:
    cases = [case(name) | {"raw_input": "A greenhouse, built in 1998."} for name in "abc"]
    for each in cases:
        signals = {"must_find_signals": ["a grenhouse"], "min_signal_count": "1"}
        each["expectations"]["signal_generation"] = signals
        each["expectations"]["followup_questions"]["forbidden_terms"] = ["blame", "negligent, fault", "policy"]
    write(tmp_path / "cases" / "one.json", cases)
    found = lint([tmp_path]).grouped().diagnostics
    slips = ["comma-missing", "contradictory-expectations", "misspelt-expectation"]
    assert sorted(each.code for each in found) == slips
    assert all(each.message.endswith("(and 2 more places in this document)") for each in found)


def test_weights_on_another_scale_and_negative_counts_are_reported(tmp_path: Path) -> None:
    (tmp_path / "safe.config.json").write_text('{"weights": {"CR": 0.5, "AH": 40}}')
    one = case("a")
    one["expectations"]["signal_generation"] = {"must_find_signals": ["fever"], "min_signal_count": -2}
    write(tmp_path / "cases" / "one.json", [one])
    assert [code for code, _ in codes(tmp_path)] == ["contradictory-expectations", "weights-far-apart"]
    for fits in (1, 0, None):
        one["expectations"]["signal_generation"]["min_signal_count"] = fits
        write(tmp_path / "cases" / "one.json", [one])
        assert [code for code, _ in codes(tmp_path)] == ["weights-far-apart"]


def test_settings_of_an_archetype_that_no_case_has_are_reported(tmp_path: Path) -> None:
    groups = {name: {"thresholds": {"CR": {"pass": 0.9}}} for name in ("Calm", "Uspet", "Angry")}
    (tmp_path / "safe.config.json").write_text(json.dumps({"archetypes": groups}, indent=1))
    assert codes(tmp_path) == []  # the cases may be anywhere
    write(tmp_path / "cases" / "one.json", [case("a") | {"archetype": "Calm"}, case("b") | {"archetype": "Upset"}])
    found = [(each.message, each.help) for each in lint([tmp_path]).diagnostics]
    assert found == [
        ("no case has the archetype `Uspet`", "did you mean `Upset`?"),
        ("no case has the archetype `Angry`", None),
    ]


def test_a_misspelt_setting_is_reported_in_a_file_with_comments(tmp_path: Path) -> None:
    (tmp_path / "safe.config.json").write_text('// ours\n{"strictAh": true}\n')
    assert codes(tmp_path) == [("bad-setting", 2)]


BROKEN = [
    case("a") | {"expectations": {}},
    case("a") | {"expectation": {}},
    case("a", must="fever"),
    case("a", summary=3),
    case("") | {"id": None},
    case("a") | {"output": output()},
    {"test_case": case("a"), "engine_output": output()},
    {"test_id": "a"},
]


@pytest.mark.parametrize("record", [case("a"), *BROKEN])
def test_a_case_has_a_finding_exactly_where_scoring_refuses_it(tmp_path: Path, record: dict[str, object]) -> None:
    file = write(tmp_path / "batch.json", [record])
    (read,) = CaseReader(safe().plan).cases(Batch("batch", str(file)))
    refused = isinstance(read, InputError) or (read.problem is not None and "no output" not in read.problem)
    report = lint([file], RuleSelection(select=("bad-case",)))
    assert bool(report.diagnostics) is refused


def own_scorecard(folder: Path, name: str, key: str) -> None:
    """A project with a scorecard over cases that reads what must be found below another key."""
    shipped = Path("benchmark", "configs", "scorecards", "safe-v0.yaml").read_text(encoding="utf-8")
    text = shipped.replace("scorecard: safe-v0", f"scorecard: {name}").replace("must_find_signals", key)
    (folder / "configs" / "scorecards").mkdir(parents=True, exist_ok=True)
    (folder / "configs" / "scorecards" / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "rulewright.yaml").write_text("project: ours\n", encoding="utf-8")


def with_key(key: str) -> dict[str, object]:
    return json.loads(json.dumps(case("a")).replace("must_find_signals", key))  # type: ignore[no-any-return]


def test_cases_are_read_as_the_scorecard_of_their_project_reads_them(tmp_path: Path) -> None:
    file = write(tmp_path / "cases" / "one.json", [with_key("must_say")])
    assert codes(file) == [("bad-case", 1)]
    own_scorecard(tmp_path, "mine", "must_say")
    assert codes(file) == codes(tmp_path) == []
    write(file, [case("a")])
    assert codes(file) == [("bad-case", 1)]
    own_scorecard(tmp_path, "other", "must_find_signals")
    assert codes(file) == []
    write(file, [with_key("must_sya")])
    assert codes(file) == [("bad-case", 1)]


def test_cases_with_a_broken_scorecard_have_no_findings(tmp_path: Path) -> None:
    file = write(tmp_path / "cases" / "one.json", [with_key("must_say")])
    own_scorecard(tmp_path, "mine", "must_say")
    card = tmp_path / "configs" / "scorecards" / "mine.yaml"
    card.write_text(card.read_text(encoding="utf-8").replace("inputs:", "inptus:"), encoding="utf-8")
    assert codes(file) == []
    assert {code for code, _ in codes(tmp_path)} <= {"unknown-key", "missing-key"}


def test_score_finds_the_scorecard_of_the_project_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "cases" / "one.json", [with_key("must_say")])
    own_scorecard(tmp_path, "mine", "must_say")
    monkeypatch.chdir(tmp_path)
    words = ["--cases", "cases", "--concern", "I25", "--batch", "one"]
    assert main(["score", "--scorecard", "mine", *words]) == 0
    assert main(["score", *words]) == 0
    monkeypatch.undo()
    own_scorecard(tmp_path, "other", "must_find_signals")
    monkeypatch.chdir(tmp_path)
    assert main(["score", *words]) == 3


@pytest.mark.parametrize("beside", ["card.yaml", "../card.yaml", "../scorecards/card.yaml"])
def test_cases_without_a_project_file_are_read_as_by_the_scorecard_next_to_them(tmp_path: Path, beside: str) -> None:
    folder, card = tmp_path / "cases", tmp_path / "cases" / beside
    folder.mkdir()
    card.parent.mkdir(exist_ok=True)
    shutil.copy(Path("tests/compiler/rules/unused_definition/good_cases.yaml"), card)
    (folder / "batch.json").write_text('[{"test_id": "a", "wanted": ["fever"], "output": {"answer": "fever"}}]')
    assert codes(folder / "batch.json") == []


def test_a_project_may_name_a_scorecard_over_cases_next_to_its_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path, dirs_exist_ok=True)
    shutil.copy(Path("tests/compiler/rules/unused_definition/good_cases.yaml"), tmp_path / "scorecards")
    file = tmp_path / "rulewright.yaml"
    file.write_text(file.read_text().replace("scorecard: release", "scorecard: answers"))
    monkeypatch.chdir(tmp_path)
    assert codes(Path()) == []
    assert main(["score", "--show-config"]) == 0
    assert "found_pass" in capsys.readouterr().out


def test_a_metric_that_one_case_misspells_is_found_and_one_with_another_number_is_not(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    names = ["scan_within_1h", "scan_within_1h", "scan_in_1h", "scan_within_2h"]
    cases = [case(f"c{at}") | {"metric_id": name} for at, name in enumerate(names)]
    (tmp_path / "cases" / "batch.json").write_text(json.dumps(cases))
    found = lint([tmp_path]).diagnostics
    assert [(each.code, each.message) for each in found] == [
        ("misspelt-group", "no other case has the metric_id `scan_in_1h`")
    ]


def test_an_expected_text_that_misspells_a_word_of_its_case_is_found(tmp_path: Path) -> None:
    texts = ["no sing", "wet floors", "at 10:00", "fell at noon"]
    record = case("a") | {"patient_payload": "Wet floor, no sign, at 01:00.", "expectations": {"must_find": texts}}
    path = tmp_path / "batch.json"
    path.write_text(json.dumps([record]))
    found = [each for each in lint([path]).diagnostics if each.severity is Severity.WARNING]
    assert [each.message for each in found] == [
        "the case contains `sign`, not `sing`",
        "the case contains `01:00`, not `10:00`",
    ]


def test_the_number_of_a_batch_is_that_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "F12_batch_1.json"
    for name, wrong in (("F12_batch_2", 1), ("F12_batch_1", 0), ("autumn", 0)):
        path.write_text(json.dumps({"batch_id": name, "test_cases": [case("a")]}))
        assert codes(path).count(("id-differs-from-file-name", 1)) == wrong


def test_settings_whose_weights_are_all_zero_are_found(tmp_path: Path) -> None:
    path = tmp_path / "safe.config.json"
    for weight, wrong in ((0, 1), (1, 0)):
        path.write_text(json.dumps({"weights": {"CR": 0, "AH": 0, "AC": weight}}))
        assert codes(path).count(("all-weights-zero", 1)) == wrong


def test_two_scorecards_with_one_name_are_found(tmp_path: Path) -> None:
    shutil.copytree(Path("benchmark", "service_desk"), tmp_path, dirs_exist_ok=True)
    shutil.copy(tmp_path / "scorecards" / "release.yaml", tmp_path / "scorecards" / "second.yaml")
    assert [code for code, _ in codes(tmp_path)] == ["duplicate-id"]


def test_a_function_that_other_words_name_is_suggested() -> None:
    found = lint_text(b"id: c\nfail: contains_any_word(answer, ['no'])\n", "c.yaml").diagnostics
    assert ["has_any_word" in str(each.help) for each in found] == [True]


TABLE = """test_id,expectations.fields,engine_output.fields
a,"[""total""]","[""total""]"
b,"[""total",[]
a,"[""due""]","[""due""]"
c,"[""due""]",due
"""
OWN = """scorecard: fields
over: cases
report_type: F
title: Fields
inputs:
  got: {from: output.fields, type: strings}
  expected: {from: case.expectations.fields, type: strings}
texts: {read: got.join(' ')}
metrics:
  fields:
    share: {of: expected, found: "contains_ci(read, it)", empty: 1}
    score: share
    passes: fields >= 0.9
    fails: fields < 0.5
    flagged: fields < 0.5
    details: {found: found, missing: missing}
    common: {name: misses, of: missing, item: field, count: count}
    words: {title: Misses, plural: misses}
composite: fields
labels:
  - {label: Reject, when: fields < 0.5}
  - {label: Check, when: fields < 0.9}
  - {label: Book, when: fields >= 0.9}
exit: {Reject: 1, Check: 2, Book: 0}
accepted: Book
"""


def with_own_scorecard(folder: Path) -> Path:
    """A project whose cases are a table, with the findings at its lines."""
    (folder / "rulewright.yaml").write_text("project: fields\n")
    (folder / "scorecards").mkdir()
    (folder / "scorecards" / "fields.yaml").write_text(OWN)
    (folder / "cases").mkdir()
    (folder / "cases" / "batch.csv").write_text(TABLE)
    return folder


def test_the_rows_of_a_table_are_cases_with_their_own_lines(tmp_path: Path) -> None:
    project = with_own_scorecard(tmp_path)
    expected = [("bad-case", 3), ("duplicate-test-id", 4), ("bad-case", 5)]
    found = [each for each in lint([project]).diagnostics if each.span.path.endswith(".csv")]
    assert [(each.code, each.span.line) for each in found] == expected
    assert codes(project / "cases" / "batch.csv") == expected


def test_a_table_of_cases_is_found_in_a_folder_without_a_project(tmp_path: Path) -> None:
    project = with_own_scorecard(tmp_path)
    expected = codes(project / "cases" / "batch.csv")
    assert codes(project / "cases") == expected
    (project / "rulewright.yaml").unlink()
    (project / "cases" / "figures.csv").write_text("year,sum\n2020,1\n")
    assert codes(project / "cases") == codes(project) == expected


def test_the_outputs_of_a_project_are_read_by_its_own_scorecard(tmp_path: Path) -> None:
    project = with_own_scorecard(tmp_path)
    outputs = [{"test_id": "a", "fields": ["total"]}, {"test_id": "b", "fields": 3}]
    write(project / "outputs" / "batch.json", outputs)
    write(project / "outputs" / "named.json", {"c": {"fields": "due"}})
    found = [each for each in lint([project]).diagnostics if "outputs" in each.span.path]
    assert [each.message.partition(";")[0] for each in found] == [
        "`fields` must be a list, not a number",
        "`fields` must be a list, not a text",
    ]


@pytest.mark.parametrize(
    "keys",
    [
        {"tasks": ["call her"]},
        {"project": "home"},
        {"patterns": ["x"]},
        {"scenario_id": "x", "turns": []},
        {"scorecard": 1},
    ],
)
def test_an_output_may_have_the_keys_of_a_document(keys: dict[str, object], tmp_path: Path) -> None:
    project = with_own_scorecard(tmp_path)
    card, output = project / "scorecards" / "fields.yaml", project / "outputs" / "a.json"
    write(output, {"fields": ["total"]})
    expected = codes(project)
    card.write_text(f"{OWN}metadata: [{', '.join(f'output.{key}' for key in keys)}]\n")
    write(output, {"fields": ["total"], **keys})
    assert codes(output) == []
    assert codes(project) == expected
    (project / "rulewright.yaml").unlink()
    assert not {*codes(output)} - {("bad-case", 1)}


def test_a_table_that_is_a_pipe_or_leads_nowhere_does_not_end_lint(tmp_path: Path) -> None:
    project = with_own_scorecard(tmp_path)
    os.mkfifo(project / "cases" / "pipe.csv")
    (project / "cases" / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    found = [(each.code, Path(each.span.path).name) for each in lint([project]).diagnostics]
    assert {("unreadable-file", "pipe.csv"), ("unreadable-file", "gone.csv"), ("duplicate-test-id", "batch.csv")} <= {
        *found
    }


def test_a_case_that_an_earlier_batch_holds_is_reported_once_where_it_counts_twice(tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    first, second, third = (
        tmp_path / "cases" / "b_1.json",
        tmp_path / "cases" / "b_2.json",
        tmp_path / "cases" / "c.json",
    )
    first.write_text(json.dumps([case("a"), case("b")]))
    second.write_text(json.dumps([case("b", must=["cough"]), case("c")]))
    assert codes(tmp_path / "cases") == [("duplicate-test-id", 1)]
    second.write_text(json.dumps([case("a", must=["cough"]), case("b", must=["rash"])]))
    assert codes(tmp_path / "cases") == []  # the numbering of another batch
    third.write_text(first.read_text())
    (found,) = lint([tmp_path / "cases"]).diagnostics
    assert (found.code, Path(found.span.path).name) == ("duplicate-test-id", "c.json")


OPPOSED = """\
over: cases
scorecard: own
report_type: own
title: Own
inputs:
  facts: {from: case.facts, type: strings}
  banned: {from: case.banned, type: strings}
  asked: {from: case.asked, type: strings}
  text: {from: output.text, type: string}
  questions: {from: output.questions, type: string}
metrics:
  good: {share: {of: facts, found: "contains_ci(text, it)", empty: 1}, score: share, passes: good == 1, PROSE}
  clean: {share: {of: banned, found: "contains_ci(text, it)", empty: 0}, score: 1 - share, passes: clean == 1, PROSE}
  kind: {share: {of: asked, found: "contains_ci(questions, it)", empty: 0}, score: 1 - share, passes: kind == 1, PROSE}
composite: (good + clean + kind) / 3
labels: [{label: Fail, when: good < 1}, {label: Pass, when: good == 1}]
exit: {Fail: 1, Pass: 0}
accepted: Pass
"""


def test_a_text_that_is_wanted_and_unwanted_in_the_same_place_is_reported(tmp_path: Path) -> None:
    words = "details: {found: found}, common: {name: NAME, of: WHICH, item: it, count: n}, words: {title: T, plural: p}"
    card = OPPOSED
    for name, which in (("a", "missing"), ("b", "found"), ("c", "found")):
        card = card.replace("PROSE", words.replace("NAME", name).replace("WHICH", which), 1)
    (tmp_path / "own.yaml").write_text(card)
    (tmp_path / "cases").mkdir()
    record = {"test_id": "a", "facts": ["Fever", "cough"], "banned": ["fever"], "asked": ["cough"]}
    (tmp_path / "cases" / "batch.json").write_text(json.dumps([record], indent=1))
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, found.message) == ("contradictory-expectations", "`Fever` is in `facts` and in `banned`")


def test_a_misspelt_path_of_a_scorecard_is_one_finding_there(tmp_path: Path) -> None:
    card = Path("tests/compiler/rules/misspelt_input_path/good.yaml").read_text(encoding="utf-8")
    (tmp_path / "small.yaml").write_text(card.replace("expectations.wanted", "expectations.wanteds"))
    (tmp_path / "cases").mkdir()
    record = {"test_id": "a", "expectations": {"wanted": ["fever"], "refused": ["blame"]}}
    (tmp_path / "cases" / "batch.json").write_text(json.dumps([record]))
    (found,) = lint([tmp_path]).diagnostics
    assert (found.code, found.severity, found.span.line) == ("misspelt-input-path", Severity.ERROR, 6)


def test_a_key_of_the_cases_is_not_guessed_from_words_of_the_outputs(tmp_path: Path) -> None:
    card = Path("tests/compiler/rules/misspelt_input_path/bad_folder.txtar").read_text(encoding="utf-8")
    files = folders.files_of(card.replace("case.text", "case.summary").replace("A fever.", "The summary is missing."))
    folders.write(tmp_path, files)
    assert {code for code, _ in codes(tmp_path)} == {"bad-case"}


def test_a_key_that_only_the_last_of_many_outputs_has_is_no_misspelling(tmp_path: Path) -> None:
    files = folders.files_of(Path("tests/compiler/rules/misspelt_input_path/bad_unit.txtar").read_text("utf-8"))
    files |= {f"outputs/H{number:03}.json": files["outputs/H01.json"] for number in range(30)}
    folders.write(tmp_path, files)
    assert [code for code, _ in codes(tmp_path)] == ["misspelt-input-path"]
    folders.write(tmp_path, {"outputs/Z.json": files["outputs/H01.json"].replace("latency_ms", "latency")})
    assert {code for code, _ in codes(tmp_path)} == {"bad-case"}  # of the other outputs


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("scorecards/small.yaml", "contains_ci(text, it)", "contains_ci(texts, it)", "bad-expression"),
        ("scorecards/small.yaml", "expectations.wanted", "expectations.wanteds", "misspelt-input-path"),
        ("cases/batch.json", '"test_id"', '"note": "", "tset_id"', "bad-case"),
        ("cases/batch.json", '"refused": []', '"refused": ["blame"]', "unused-suppression"),
    ],
)
def test_an_entry_for_cases_that_are_not_read_is_not_called_unused(
    file: str, old: str, new: str, code: str, tmp_path: Path
) -> None:
    card = Path("tests/compiler/rules/misspelt_input_path/good.yaml").read_text(encoding="utf-8")
    accept = "accept: [{rule: case-expects-nothing, path: cases/batch.json, reason: empty}]\n"
    record = {"test_id": "a", "expectations": {"wanted": [], "refused": []}}
    files = {
        "rulewright.yaml": f"project: p\nscorecards: scorecards\n{accept}",
        "scorecards/small.yaml": card,
        "cases/batch.json": json.dumps([record]),
    }
    folders.write(tmp_path, files)
    assert codes(tmp_path) == []
    folders.write(tmp_path, {file: files[file].replace(old, new)})
    assert [found for found, _ in codes(tmp_path)] == [code]


def test_settings_that_break_a_requirement_together_are_reported_where_they_are_set(tmp_path: Path) -> None:
    card = Path("tests/compiler/rules/label_row_is_dead/good.yaml").read_text(encoding="utf-8")
    settings = (
        "  enough: {type: score, default: 0.8, file: limits.enough}\n"
        "  little: {type: score, default: 0.2, file: limits.little}\n"
        "requires:\n  - {that: enough >= little, otherwise: too little is enough}\n"
    )
    (tmp_path / "small.yaml").write_text(card.replace("  enough: {type: score, default: 0.8}\n", settings))
    config = tmp_path / "safe.config.json"
    config.write_text('{\n"limits": {"little": 0.5},\n"archetypes": {"A": {"limits": {"enough": 0.6}}}}')
    assert "bad-setting" not in dict(codes(tmp_path))
    config.write_text('{\n"limits": {"little": 0.9},\n"archetypes": {"A": {"limits": {"enough": 0.95}}}}')
    (found,) = [each for each in lint([tmp_path]).diagnostics if each.code == "bad-setting"]
    assert (found.message, found.severity, found.span.line) == ("too little is enough", Severity.ERROR, 2)
    assert found.notes == ()  # the group has enough
    groups = '"A": {"limits": {"enough": 0.4}},\n"B": {"limits": {"enough": 0.9}}'
    config.write_text(f'{{\n"limits": {{"little": 0.5}},\n"archetypes": {{{groups}}}}}')
    (found,) = [each for each in lint([tmp_path]).diagnostics if each.code == "bad-setting"]
    assert found.message == "archetype `A`: too little is enough"
    assert [found.span.line, *(note.span.line for note in found.notes)] == [2, 3]
    (tmp_path / "small.yaml").write_text((tmp_path / "small.yaml").read_text().replace("default: 0.8", "default: 0.1"))
    assert "bad-setting" not in dict(codes(tmp_path))  # the scorecard itself is at fault


def test_an_empty_file_of_lines_is_a_batch_only_in_a_folder_of_cases(tmp_path: Path) -> None:
    files = {"work/cases/I25/batch.jsonl": "", "work/cases/old/runs/first/replies.jsonl": "", "work/p.yaml": ""}
    found = lint([folders.write(tmp_path, files) / "work"]).diagnostics
    assert [Path(each.span.path).name for each in found] == ["batch.jsonl", "p.yaml"]


def test_cases_in_a_folder_of_other_documents_are_findings(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: shop\nscenarios: .\n", encoding="utf-8")
    write(tmp_path / "cases" / "I25" / "b.json", {"batch_id": "b", "test_cases": [case("T1")]})
    assert main(["lint", str(tmp_path), "--no-cache"]) == 1


def test_a_folder_of_many_batches_is_listed_as_often_as_one_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[str] = []
    names_in = dependencies.names_in

    def counted(folder: str | os.PathLike[str]) -> list[tuple[str, bool]]:
        listed.append(os.fspath(folder))
        return names_in(folder)

    monkeypatch.setattr(dependencies, "names_in", counted)
    found = []
    for count in (2, 9):
        cases = {f"cases/batch_{at}.json": json.dumps([{"test_id": f"case-{at}"}]) for at in range(count)}
        project = folders.write(tmp_path / str(count), {"rulewright.yaml": "project: own\n", **cases})
        lint([project])
        found.append(listed.count(str(project / "cases")))

    assert found[0] == found[1]


def test_outputs_whose_cases_are_there_are_not_compared_with_all_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = set[str]()

    def compares(name: str, other: str) -> bool:
        compared.add(name)
        return name == other

    monkeypatch.setattr(output_without_case, "is_slip_of", compares)
    names = [f"case-{at}" for at in range(9)]
    files = {
        "rulewright.yaml": "project: own\n",
        "cases/one.json": json.dumps([{"test_id": name} for name in names]),
        "outputs/one.json": json.dumps([{"test_id": name, "summary": "Fine."} for name in [*names, "other"]]),
    }
    lint([folders.write(tmp_path, files)])
    assert compared == {"other"}


def test_an_output_is_not_that_of_a_case_with_an_output_in_another_file(tmp_path: Path) -> None:
    bare = [{key: value for key, value in case(name).items() if key != "engine_output"} for name in ("K-101", "L-201")]
    write(tmp_path / "cases" / "one.json", bare)
    write(tmp_path / "outputs" / "one.json", [output() | {"test_id": "K-001"}])
    assert codes(tmp_path) == [("output-without-case", 1)]
    write(tmp_path / "outputs" / "two.json", [output() | {"test_id": "K-101"}])
    assert codes(tmp_path) == []


def test_outputs_are_compared_with_the_cases_of_tables_too(tmp_path: Path) -> None:
    files = {
        "rulewright.yaml": "project: own\n",
        "cases/one.json": json.dumps([{"test_id": "case-001", "concern_id": "own"}]),
        "cases/two.csv": "\ufefftest_id,concern_id\ncase-101,own\ncase-202,own\n",
        "cases/three.csv": f'test_id\n"{"x" * 200_000}"\n',
        "outputs/two.json": json.dumps([{"test_id": name, "summary": "Fine."} for name in ("case-101", "case-22")]),
    }
    found = lint([folders.write(tmp_path, files)], RuleSelection(select=("output-without-case",))).diagnostics
    assert [each.message for each in found] == ["no case has the test id `case-22`"]
