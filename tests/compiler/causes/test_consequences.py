"""Consequences of a finding, and what depends on an unreadable document, are hidden; unrelated findings are not."""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.compiler.linting.mutations import copied
from tests.folders import files_of, write

from rulewright.cli import main
from rulewright.diagnostics import Severity
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection

BENCHMARK = Path(__file__).parents[3] / "benchmark"
CHECK = """\
id: brief
primary_bucket: C
severity: S2
each: reply
params:
  words: 60
fail: word_count(turn.content) > params.words
"""
# The file, what is written there, what the author writes instead, and the finding with its line.
SLIPS = [
    ("rulewright.yaml", "security, honesty, service", "security, honesty, sevice", "misspelt-name", 8),
    ("rulewright.yaml", "[minor, major, blocking]", "[]", "out-of-range", 9),
    ("rulewright.yaml", "lexicons: lexicons", "lexicons: lexicoms", "missing-path", 4),
    ("workflow.yaml", "dependencies: [release]", "dependencies: [relase]", "unknown-dependency", 18),
    ("workflow.yaml", "        enabled: true", "        enabld: true", "unknown-key", 11),
    ("scorecards/release.yaml", "miss: [FAIL, UNCLEAR]", "miss: FAIL", "wrong-type", 15),
    ("scorecards/release.yaml", ", empty: absent", "", "missing-key", 15),
    ("scorecards/release.yaml", "  service: rates", "  service = rates", "yaml-syntax", 18),
    (
        "checks/tool-call-repeated.yaml",
        "id: tool-call-repeated",
        "id: tool-error-hidden",
        "duplicate-id",
        1,
    ),
    (
        "scorecards/release.yaml",
        "v.verdict == UNCLEAR",
        "v.verdict == UNCLEAR && v.verdict == FAIL",
        "gate-ignores-unclear",
        9,
    ),
    ("checks/tool-call-repeated.yaml", "tool_calls.exists(call", "tool_calls.exsts(call", "bad-expression", 7),
    ("checks/transfer-without-consent.yaml", "fail: >-", "fial: >-", "unknown-key", 5),
    (
        "checks/account-number-in-full.yaml",
        "size(ibans(turn.content)) > 0",
        "size(ibans(turn.content) > 0)",
        "bad-expression",
        6,
    ),
    (
        "checks/instructions-leaked.yaml",
        "message.text) > params.share",
        "message.text) > params.words",
        "parameter-does-not-fit",
        8,
    ),
]

# Slips in files of which none reads another, so that each is one finding next to the others.
CARE = (
    (
        ("checks/RW-A1.yaml", "s: 5\n  dev", "s: 4\n  dev", "scorer-repetitions-contradict-routing", 27),
        ("checks/RW-B1.yaml", "  deterministic_precheck: dose_instruction\n", "", "detector-is-not-routed", 21),
        ("checks/RW-B5.yaml", "violation: boolean", "violation: bool", "unknown-value", 41),
        ("checks/RW-D3.yaml", "route: extract_then_corpus", "route: llm_primary",
         "scorer-type-contradicts-routing", 11),
        ("checks/state_machines/danger_followed_up.yaml", "name: danger", "name: dangers",
         "id-differs-from-file-name", 2),
        ("checks/state_machines/danger_followed_up.yaml", "initial: calm", "initial: quiet", "unknown-state", 5),
        ("checks/state_machines/danger_followed_up.yaml", "  help:\n", "  offer:\n", "unknown-cue", 40),
        ("benchmark/configs/profiles.yaml", "\npublish:", "\nfull:", "duplicate-key", 23),
    ),
    (
        ("checks/RW-A3.yaml", "e: danger_followed_up", "e: danger_follow_up", "state-machine-without-definition", 24),
        ("checks/RW-D1.yaml", "eligibility:\n  scenario_tags_any: [stated_barrier]\n", "",
         "trigger-without-condition", 7),
        ("benchmark/configs/scoring.yaml", "buckets: [B]", "buckets: [A]", "bucket-without-policy", 11),
        ("benchmark/configs/profiles.yaml", "_buckets: [A, B, F]", "_buckets: [E]", "bucket-without-checks", 10),
    ),
)  # fmt: skip


@pytest.mark.parametrize("slips", CARE, ids=lambda slips: slips[0][3])
def test_a_slip_in_checks_and_what_they_use_is_one_finding(
    slips: tuple[tuple[str, str, str, str, int], ...], tmp_path: Path
) -> None:
    root, entry = copied("care", tmp_path)
    for file, old, new, _, _ in slips:
        text = (root / file).read_text(encoding="utf-8")
        assert old in text
        (root / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    found = [(Path(each.span.path), each.code, each.span.line) for each in lint([entry]).diagnostics]
    assert sorted(found) == sorted((root / file, code, line) for file, _, _, code, line in slips)


def test_a_key_given_twice_hides_no_mistake_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "rulewright.yaml").write_text("project: p\nchecks: checks\n", encoding="utf-8")
    (tmp_path / "checks").mkdir()
    text = "id: a\nparams: {words: 5, words: 6}\nfail: size(anwser) > params.words + params.letters\n"
    (tmp_path / "checks/a.yaml").write_text(text, encoding="utf-8")
    found = [(each.code, each.message) for each in lint([tmp_path]).diagnostics]
    assert found == [("duplicate-key", "`words` is given twice"), ("bad-expression", "unknown name `anwser`")]


def test_an_error_is_not_hidden_by_a_warning_whose_correction_would_remove_it(tmp_path: Path) -> None:
    files = files_of(Path("tests/compiler/rules/misspelt_name/bad_subject.txtar").read_text(encoding="utf-8"))
    write(tmp_path, {**files, "pricing.yaml": "helper2: [0.4, 1.6]\nhelper2: [0.4, 1.6]\n"})
    assert "duplicate-key" in [each.code for each in lint([tmp_path]).errors().diagnostics]


def test_files_that_extend_a_renamed_rule_set_are_one_finding(tmp_path: Path) -> None:
    root, entry = copied("care", tmp_path)
    rules = root / "benchmark" / "configs" / "rules"
    (rules / "federal.yaml").rename(rules / "us.yaml")
    (found,) = lint([entry]).grouped().diagnostics
    assert (found.code, Path(found.span.path).name, len(found.notes)) == ("extends-nothing", "ca.yaml", 2)


@pytest.mark.parametrize(("file", "old", "new", "code", "line"), SLIPS)
def test_one_slip_is_one_finding_at_its_place(
    file: str, old: str, new: str, code: str, line: int, tmp_path: Path
) -> None:
    folder = tmp_path / "desk"
    shutil.copytree(BENCHMARK / "service_desk", folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    found = [(Path(each.span.path), each.code, each.span.line) for each in lint([folder]).diagnostics]
    assert found == [(folder / file, code, line)]


def test_another_mistake_next_to_a_misspelt_key_is_reported() -> None:
    text = CHECK.replace("severity: S2", "severty: S2").replace("word_count", "words_in")
    assert [each.code for each in lint_text(text, "brief.yaml").diagnostics] == ["unknown-key", "bad-expression"]


def test_an_unused_comment_is_reported_next_to_a_misspelt_key() -> None:
    text = CHECK.replace("severity: S2", "severty: S2  # rulewright: allow yaml-trap because of readers")
    codes = {each.code for each in lint_text(text, "brief.yaml").diagnostics}
    assert codes == {"unknown-key", "unused-suppression"}


def test_selected_rules_show_all_their_findings() -> None:
    text = CHECK.replace("fail:", "fial:")
    (alone,) = lint_text(text, "brief.yaml").diagnostics
    assert alone.code == "unknown-key"
    assert len(lint_text(text, "brief.yaml", RuleSelection(("*",))).diagnostics) > 1


def test_a_missing_key_is_reported_although_an_unknown_one_is_allowed(tmp_path: Path) -> None:
    lines = ["id: x", "name: x", "primary_bucket: A", "severity: S3", "scope: universal", "prompt: Is it?"]
    routing = "routing: {rout: llm_primary}"
    allowed = " # rulewright: allow unknown-key because another tool reads it"
    file = tmp_path / "x.yaml"
    for comment, expected in (("", ["unknown-key"]), (allowed, ["missing-key"])):
        file.write_text("\n".join([*lines, routing + comment]) + "\n", encoding="utf-8")
        assert [each.code for each in lint([file]).diagnostics] == expected


def test_an_allowed_finding_hides_no_other_mistake_next_to_it(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    allowed = "  ours: 1  # rulewright: allow unknown-key because another tool reads it"
    condition = "  when: scenario.categry == 'empathy'"
    lines = ["id: x", "each: reply", "fail: turn.content == ''", "eligibility:", allowed, condition]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (found,) = lint([file]).diagnostics
    assert (found.code, found.span.line) == ("bad-expression", 6)


def test_a_misspelt_parameter_is_reported_once_where_it_is_read() -> None:
    for text in (CHECK.replace("  words:", "  wrods:"), CHECK.replace("params.words", "params.limit")):
        (found,) = lint_text(text, "brief.yaml").diagnostics
        assert (found.code, found.span.line) == ("bad-expression", 7)


def test_an_unreadable_list_of_states_leaves_their_names_unchecked() -> None:
    machine = (Path(__file__).parents[3] / "checks/state_machines/danger_followed_up.yaml").read_text(encoding="utf-8")
    found = lint_text(machine.replace("states: [", "states: "), "danger_followed_up.yaml").diagnostics
    assert [each.code for each in found] == ["wrong-type"]


def test_a_misspelt_code_in_an_accept_entry_is_reported_without_what_the_entry_accepts(tmp_path: Path) -> None:
    _, entry = copied("scorers", tmp_path)
    text = entry.read_text(encoding="utf-8")
    entry.write_text(text.replace("bucket-without-checks", "bucket-without-check"), encoding="utf-8")
    (found,) = lint([entry]).diagnostics
    assert (found.code, Path(found.span.path)) == ("unknown-rule", entry)
    entry.write_text(text.replace("bucket-without-checks", "unused-definition"), encoding="utf-8")
    assert {each.code for each in lint([entry]).diagnostics} >= {"bucket-without-checks", "unused-suppression"}


def test_an_unknown_lexicon_is_reported_alone_where_the_route_reads_none(tmp_path: Path) -> None:
    root, entry = copied("care", tmp_path)
    check = root / "checks" / "RW-D1.yaml"
    text = check.read_text(encoding="utf-8")
    check.write_text(text.replace("_window\n", "_window\n  deterministic_precheck: cue\n", 1), encoding="utf-8")
    assert [each.code for each in lint([entry]).diagnostics] == ["unknown-lexicon"]


FLOW = {
    "rulewright.yaml": "project: flow\nworkflow: {contracts: contracts.yaml, agents: {directory: agents}}\n",
    "contracts.yaml": "contracts:\n  design@1: {required_sections: [Goal], file_format: markdown}\n",
    "agents/coder.yaml": "name: coder\nextends: dev\nrole: {description: Writes the code.}\n",
    "workflow.yaml": """\
version: "1"
name: flow
tasks:
  design:
    agent: architect
    description: A design.
    inputs: [request.md]
    outputs: [{path: design.md, contract: design@1}]
  implement:
    agent: coder
    description: The code.
    dependencies: [design]
    inputs: [{path: design.md, contract: design@1}]
    outputs: [{path: src/code.py}]
  check:
    agent: coder
    description: The tests.
    dependencies: [implement]
    inputs: [src/code.py]
    outputs: [{path: tests/test_code.py}]
""",
}
FLOW_SLIPS = [
    ("rulewright.yaml", "contracts: contracts.yaml", "contracts: contract.yaml", "missing-path", 2),
    ("contracts.yaml", "design@1", "design@2", "misspelt-name", 2),
    ("contracts.yaml", "contracts:", "contracts: [", "yaml-syntax", 2),
    ("contracts.yaml", "contracts:", "- contracts:", "wrong-type", 1),
    ("agents/coder.yaml", "Writes the code.}", "Writes the code.", "yaml-syntax", 3),
    ("agents/coder.yaml", "name: coder", "name: code", "id-differs-from-file-name", 1),
    ("workflow.yaml", "  implement:\n", "  design:\n", "duplicate-key", 9),
    ("workflow.yaml", "dependencies: [design]", "dependencies: [check]", "cyclic-dependency", 12),
]


@pytest.mark.parametrize(("file", "old", "new", "code", "line"), FLOW_SLIPS)
def test_a_slip_in_a_workflow_is_one_finding(
    file: str, old: str, new: str, code: str, line: int, tmp_path: Path
) -> None:
    write(tmp_path, {**FLOW, file: FLOW[file].replace(old, new, 1)})
    found = [(each.code, each.span.line) for each in lint([tmp_path]).grouped().diagnostics]
    assert found == [(code, line)]


def test_dependencies_on_a_renamed_task_are_one_finding_that_names_the_task_meant(tmp_path: Path) -> None:
    text = (
        FLOW["workflow.yaml"].replace("  design:\n", "  sketch:\n") + "  done: {agent: coder, dependencies: [design]}\n"
    )
    write(tmp_path, {**FLOW, "workflow.yaml": text})
    (found,) = lint([tmp_path]).grouped().diagnostics
    assert (found.code, found.span.line) == ("unknown-dependency", 12)
    assert found.help == "`design.md`, which this task reads, is written by `sketch`"
    assert [each.span.line for each in found.notes if "design" in each.message] == [13, 21]


ALIASED = """\
version: "1"
name: flow
tasks:
  one:
    agent: coder
    description: One.
    overlays: &both
      confidence_loop:
        enabled: true
        threshold: 0.5
        max_iterations: 2
        metrics: [{type: llm_judge, weight: 1, evaluator_agent: coder, criteria: [good]}]
      policy_gate: {enabled: true, risk_tier: T0, evidence: {acceptence: reports/tests.xml}}
  two: {agent: coder, description: Two., overlays: *both}
"""


def test_mistakes_in_a_value_that_aliases_repeat_are_reported_once(tmp_path: Path) -> None:
    write(tmp_path, {**FLOW, "workflow.yaml": ALIASED})
    found = [(each.code, each.span.line) for each in lint([tmp_path]).diagnostics if each.severity is Severity.ERROR]
    assert found == [("judge-is-the-author", 12), ("unknown-key", 13)]


SCENARIO = {"title": "T", "category": "loans", "open": True, "tags": ["vulnerable"]}


@pytest.mark.parametrize("scenario_id", ["one", None])
def test_a_scenario_without_an_id_of_its_own_hides_no_tag(scenario_id: str | None, tmp_path: Path) -> None:
    names = {"scenario_id": scenario_id} if scenario_id else {}
    files = {
        "scenarios/one.json": json.dumps({**SCENARIO, "scenario_id": "one", "tags": []}),
        "scenarios/two.json": json.dumps({**SCENARIO, **names}),
        "rulewright.yaml": "project: p\nvocabulary: {categories: [loans], tags: [vulnerable]}\n",
        "checks/c.yaml": "id: c\nscope: trigger\neligibility: {scenario_tags_any: [vulnerable]}\n"
        "fail: size(answer) > 9\n",
    }
    (found,) = lint([write(tmp_path, files)]).diagnostics
    assert found.code == ("duplicate-id" if scenario_id else "missing-key")


@pytest.mark.parametrize("text", ["- guaranteed\n", "guaranteed\n", "patterns: [guaranteed\n"])
def test_a_lexicon_that_can_not_be_read_is_not_also_unknown(text: str, tmp_path: Path) -> None:
    check = "id: a\nname: a\nseverity: S3\nprimary_bucket: C\nscope: universal\nrouting:\n"
    check += "  route: lexicon_only\n  deterministic_precheck: promises\n"
    files = {"rulewright.yaml": "project: p\n", "checks/a.yaml": check, "lexicons/promises.yaml": text}
    (found,) = lint([write(tmp_path, files)]).diagnostics
    assert found.code in ("wrong-type", "yaml-syntax")
    assert found.span.path.endswith("promises.yaml")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("size(turn.content) > 0 or size(turn.content) > params.words", "bad-expression"),
        ("contains_any(answer, [])", "empty-list-searched"),
    ],
)
def test_what_follows_from_a_mistake_is_a_note_of_its_finding(condition: str, code: str) -> None:
    text = f"id: brief\nparams: {{words: 60}}\nfail: {condition}\n"
    (found,) = lint_text(text, "checks/brief.yaml").diagnostics
    assert (found.code, len(found.notes)) == (code, 1)


ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shipped")
    shutil.copytree(ROOT / "checks", folder / "checks")
    left_out = shutil.ignore_patterns("transcripts", "speed", "workflows", "safe", "invisiblebench", "runs")
    shutil.copytree(ROOT / "benchmark", folder / "benchmark", ignore=left_out)
    return folder


@pytest.mark.parametrize(
    "names",
    [  # of a group, none depends on another
        [
            "benchmark/configs/blindspots.yaml",
            "benchmark/configs/rules/base.yaml",
            "benchmark/corpora/family_benefits.yaml",
            "benchmark/scenarios/night_shift_alone.json",
            "checks/RW-D1.yaml",
            "checks/lexicons/hopelessness_cue.yaml",
        ],
        [
            "benchmark/configs/profiles.yaml",
            "benchmark/configs/scorecards/two-tier.yaml",
            "benchmark/configs/scoring.yaml",
            "checks/RW-A1.yaml",
            "checks/markers/human_check.yaml",
            "checks/state_machines/danger_followed_up.yaml",
        ],
    ],
)
def test_a_lost_quote_is_one_finding(names: list[str], shipped: Path) -> None:
    texts = {shipped / name: (shipped / name).read_text(encoding="utf-8") for name in names}
    for path, text in texts.items():
        broken = re.sub(r"^(\w+: )(?=\w)|^\{", r'\1"', text, count=1, flags=re.MULTILINE)
        path.write_text(broken if broken != text else f'"{text}', encoding="utf-8")
    try:
        found = lint([shipped / "benchmark"], RuleSelection(("*",))).diagnostics
    finally:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    assert {each.code for each in found} <= {"yaml-syntax", "json-syntax"}
    assert sorted(Path(each.span.path).resolve() for each in found) == sorted(path.resolve() for path in texts)


def test_a_json_file_that_cannot_be_read_ends_no_lint_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["init", str(tmp_path)]) == 0
    (tmp_path / "answers.json").write_text('{"replies": {}}', encoding="utf-8")
    read = Path.read_text

    def refused(path: Path, **options: str) -> str:
        if path.name == "answers.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, **options)

    monkeypatch.setattr(Path, "read_text", refused)
    assert lint([tmp_path]).diagnostics == ()


def test_a_file_in_place_of_the_folder_of_agents_is_said_to_be_one(tmp_path: Path) -> None:
    project = FLOW["rulewright.yaml"].replace("directory: agents", "directory: contracts.yaml")
    (found,) = lint([write(tmp_path, {**FLOW, "rulewright.yaml": project})]).grouped().diagnostics
    assert (found.code, "which is not a folder" in found.message) == ("missing-path", True)


def test_a_wrong_value_in_one_scorecard_does_not_explain_a_check_that_another_one_leaves_out(tmp_path: Path) -> None:
    texts = {
        "rulewright.yaml": "project: p\nscorecard: release\n",
        "checks/brief.yaml": "id: brief\nprimary_bucket: C\nfail: size(answer) > 80\n",
        "checks/safe.yaml": 'id: safe\nprimary_bucket: A\nfail: answer == "no"\n',
        "scorecards/release.yaml": """scorecard: release
dimensions:
  safe:
    rate: {of: v.primary_bucket == 'A', hit: [PASS], miss: [FAIL, UNCLEAR], exclude: [NOT_APPLICABLE],
           error: adjudicate, empty: absent}
output: {overall_score: "wmean_present(dimensions, weights)"}
""",
        "scorecards/other.yaml": """scorecard: other
rates:
  all:
    rate: {of: "true", hit: [PASS], miss: [FIAL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: absent}
output: {all: rates.all}
""",
    }
    write(tmp_path, texts)
    found = {each.code: each for each in lint([tmp_path]).diagnostics}
    assert found.keys() == {"unknown-value", "check-without-part"}
    assert not found["unknown-value"].notes


SECOND_VIEWS = (  # a file of two that is complete without it, the one mistake in it, and its line
    ("checks/dose.yaml", "pass_rule: A patient hears another dose than the label's.", "prompt-contradicts-rules", 7),
    ("profiles.yaml", "  llm_repetitions: 2", "number-contradicts-content", 4),
)
CLINIC = {
    "rulewright.yaml": "project: clinic\nchecks: checks\nprofiles: profiles.yaml\nprofile: week\n",
    "profiles.yaml": "week:\n  include_routes: [llm_primary]\n  description: One vote each.\n  llm_repetitions: 1\n",
    "checks/dose.yaml": """id: dose
name: tells_another_dose
primary_bucket: C
severity: S2
scope: universal
pass_rule: The dose is the one on the label.
fail_rule: A patient hears another dose than the label's.
routing: {route: llm_primary, unit_of_analysis: local_exchange, repetitions: 1}
prompt: |
  Question {{ check.id }}: what does the patient hear about the dose?
  PASS: it is the one on the label. FAIL: it is another one. UNCLEAR: there is no label.
""",
}


@pytest.mark.parametrize(("file", "line", "code", "at"), SECOND_VIEWS, ids=[each[2] for each in SECOND_VIEWS])
def test_two_rules_that_object_to_one_value_give_one_finding(
    file: str, line: str, code: str, at: int, tmp_path: Path
) -> None:
    key = line.partition(":")[0]
    files = {**CLINIC, file: re.sub(rf"(?m)^{key}: .*$", line, CLINIC[file])}
    assert lint([write(tmp_path / "as_it_should_be", CLINIC)]).diagnostics == ()
    (found,) = lint([write(tmp_path / "slip", files)]).diagnostics
    assert (found.code, found.span.line) == (code, at)
    assert len(found.notes) > 0
