"""`rulewright prove`: what it prints and how it ends."""

import json
from pathlib import Path

import pytest
from tests.shared_data import ROOT

from rulewright.api import check_transcript
from rulewright.claims import documents
from rulewright.cli import main
from rulewright.commands import prove
from rulewright.project import Project, load_project
from rulewright.proving.results import Property, Proved, Refuted, Unknown
from rulewright.witnesses import evolution, example_conversations

SAFE = ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml"
TEXT = SAFE.read_text(encoding="utf-8")
LAST = "CR >= CR_pass && AH >= AH_pass && AC >= AC_pass"
CHECK = """id: X-C1
name: x_c1
primary_bucket: C
severity: S2
scope: trigger
eligibility:
  when: WHEN
routing:
  route: llm_primary
  unit_of_analysis: local_exchange
  repetitions: 3
prompt: |
  Is it so?
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def changed(old: str, new: str) -> str:
    assert old in TEXT
    Path("card.yaml").write_text(TEXT.replace(old, new), encoding="utf-8")
    return "card.yaml"


def test_the_shipped_scorecard_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", str(SAFE)]) == 0
    said = lines(capsys.readouterr().out)
    assert any(line.startswith("proved") and line.endswith("every case gets a label") for line in said)
    assert said[-1] == "8 proved, 0 refuted, 0 unknown"
    assert any(line.endswith("every case gets a label, whatever the settings: proved") for line in said)


@pytest.mark.parametrize("metric", ["CR", "AH", "AC"])
def test_a_case_that_falls_through_is_shown_by_its_scores(metric: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = changed(LAST, LAST.replace(f"{metric} >=", f"{metric} >"))
    assert main(["prove", name]) == 1
    said = capsys.readouterr().out
    assert "every case gets a label: not with AC = 0.8, AH = 1.0, CR = 0.8\n" in said


def test_a_row_that_strictness_takes_away_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", str(SAFE), "--set", "strict_ah=true"]) == 1
    said = lines(capsys.readouterr().out)
    (refuted,) = [line for line in said if line.startswith("refuted")]
    assert refuted.endswith(" row 2 (`Review`) decides some case: row 1 always decides before it")


def test_settings_per_archetype_are_proved_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.json").write_text('{"archetypes": {"Odd": {"thresholds": {"CR": {"review": 0.9}}}}}', encoding="utf-8")
    assert main(["prove", str(SAFE), "--config", "s.json"]) == 1
    said = capsys.readouterr().out
    assert "no case both passes and fails `CR` (archetype `Odd`): not with CR = 0.8" in said


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    name = changed(LAST, LAST.replace("CR >=", "CR >"))
    assert main(["prove", name, "--format", "json"]) == 1
    said = json.loads(capsys.readouterr().out)
    (gap,) = [each for each in said if each["claim"] == "every case gets a label"]
    assert gap == {
        "file": "card.yaml",
        "line": TEXT.splitlines().index("labels:") + 1,
        "column": 1,
        "claim": "every case gets a label",
        "result": "refuted",
        "required": True,
        "witness": {"AC": "0.8", "AH": "1.0", "CR": "0.8"},
        "remarks": [],
    }


@pytest.mark.parametrize("path", sorted(SAFE.parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_scorecard_is_proved(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["prove", str(path)])
    said = lines(capsys.readouterr().out)
    refuted = [line.split(" ", 2)[2].split(" of ")[0] for line in said if line.startswith("refuted")]
    if path.stem == "reference-compatible":  # as the reference engine has it, and as a comment in the file says
        assert refuted == ["no UNCLEAR", "no UNCLEAR"]
    elif path.stem == "share":  # it has no gate, so that nothing is claimed
        assert (code, refuted) == (2, [])
    else:
        assert (code, refuted) == (0, [])


GATE = """scorecard: gates
gates:
  safety:
    of: v.primary_bucket == 'A'
    stops: v.verdict in [FAIL, UNCLEAR]
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: undecided}
counts:
  never: v.severity == S5 && v.severity == S4
output:
  hard_fail: gates.exists(g, gates[g].passed == optional.of(false))
"""


def test_a_scorecard_over_verdicts_is_judged_verdict_by_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gates.yaml").write_text(GATE, encoding="utf-8")
    assert main(["prove", "gates.yaml"]) == 1
    refuted = [line for line in lines(capsys.readouterr().out) if line.startswith("refuted")]
    assert [line.split(" ", 2)[2] for line in refuted] == [
        "`counts.never` can hold for some verdict: it never holds",
        "no verdict both stops `safety` and leaves it undecided: not with v.primary_bucket = A, v.verdict = UNCLEAR",
    ]


@pytest.mark.parametrize("stops", ["'false'", "v.verdict == PASS", "v.verdict == FAIL && v.verdict == UNCLEAR"])
def test_a_gate_that_never_stops_is_refuted(stops: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = GATE.replace("v.verdict in [FAIL, UNCLEAR]", stops).replace(
        "  never: v.severity == S5 && v.severity == S4\n", ""
    )
    Path("gates.yaml").write_text(text.replace("counts:\n", ""), encoding="utf-8")
    assert main(["prove", "gates.yaml"]) == 1
    assert any("refuted" in line and "some FAIL stops `safety`" in line for line in lines(capsys.readouterr().out))


def test_a_constant_counts_as_no_proof(capsys: pytest.CaptureFixture[str]) -> None:
    Path("constant.yaml").write_text("scorecard: constant\ncounts: {all: 'true'}\noutput: {}\n", encoding="utf-8")
    assert main(["prove", "constant.yaml"]) == 2  # nothing is claimed
    out = capsys.readouterr().out
    assert "note" in out
    assert "0 proved, 0 refuted, 0 unknown" in out


def test_what_the_scoring_file_holds_is_unknown_outside_of_a_project(capsys: pytest.CaptureFixture[str]) -> None:
    Path("gates.yaml").write_text(
        GATE.replace("v.severity == S5 && v.severity == S4", "v.severity in scoring.grave").replace(", UNCLEAR]", "]"),
        encoding="utf-8",
    )
    assert main(["prove", "gates.yaml"]) == 2
    assert "the values of `scoring.grave` are not known" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ("scenario.category == empathy", 0),
        ("scenario.category == empathy && scenario.category == safety", 1),
        ("\"'grief' in scenario.tags\"", 0),
        ("scenario.title.contains('grief')", 2),
    ],
)
def test_whether_a_check_can_apply(when: str, code: int) -> None:
    Path("check.yaml").write_text(CHECK.replace("WHEN", when), encoding="utf-8")
    assert main(["prove", "check.yaml"]) == code


def test_a_workflow_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    Path("work.yaml").write_text(
        "tasks:\n  build:\n    agent: dev\n    overlays:\n"
        "      policy_gate: {enabled: true, risk_tier: T0, evidence: {acceptance: junit.xml}}\n",
        encoding="utf-8",
    )
    assert main(["prove", "work.yaml"]) == 0
    said = capsys.readouterr().out
    assert "nothing stays RUNNING" in said
    assert "COMPLETED is reachable: `build`: start, work, gate, done" in said


def test_a_workflow_that_is_never_completed_is_refuted(capsys: pytest.CaptureFixture[str]) -> None:
    gate = "policy_gate: {enabled: true, risk_tier: T0}"
    Path("work.yaml").write_text(f"tasks:\n  build: {{agent: dev, overlays: {{{gate}}}}}\n", encoding="utf-8")
    assert main(["prove", "work.yaml"]) == 1
    assert "the T0 gate never says PASS: `evidence` names no file for `acceptance`" in capsys.readouterr().out


POLICY = """name: p
rule:
  match:
    - {condition: n > 3, output: "'many'"}
    - {condition: n > 5, output: "'very many'"}
    - {output: "'few'"}
"""
CONFIG = "name: p\nvariables:\n  - {name: n, type_name: int}\n"


def test_a_policy_with_a_dead_row_is_refuted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("config.yaml").write_text(CONFIG, encoding="utf-8")
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    assert main(["prove", "policy.yaml", "--config", "config.yaml"]) == 1
    said = capsys.readouterr().out
    assert "row 2 decides some input: row 1 always decides before it" in said
    Path("policy.yaml").write_text(POLICY.replace("n > 3", "n > 9"), encoding="utf-8")
    assert main(["prove", "policy.yaml", "--config", "config.yaml"]) == 0


@pytest.mark.parametrize("words", [["prove"], ["policy-diff", "policy.yaml"]])
def test_a_configuration_that_is_not_utf_8_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("config.yaml").write_bytes(b"name: \xff\n")
    Path("policy.yaml").write_text(POLICY, encoding="utf-8")
    assert main([*words, "policy.yaml", "--config", "config.yaml"]) == 3
    assert "the byte 0xFF is not UTF-8" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["prove", "mine.yaml"], ["policy-diff", "policy.yaml", "mine.yaml"]])
@pytest.mark.parametrize(("file", "old", "new"), [("mine", "n > 3", "m > 3"), ("types", "name: n", "nam: n")])
def test_a_mistake_in_a_policy_or_its_configuration_is_shown_in_its_file(
    words: list[str], file: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"policy": POLICY, "mine": POLICY, "types": CONFIG}
    for name, text in texts.items():
        Path(f"{name}.yaml").write_text(text.replace(old, new) if name == file else text, encoding="utf-8")
    assert main([*words, "--config", "types.yaml"]) == 3
    assert f"--> {file}.yaml:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("results", "code"),
    [([Proved()], 0), ([Proved(), Unknown("too hard")], 2), ([Refuted(), Unknown("too hard")], 1), ([], 2)],
)
def test_an_unknown_claim_is_not_a_success(
    results: list[Proved | Refuted | Unknown], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = [Property("it holds", each) for each in results] + [Property("a note", Refuted(), required=False)]
    monkeypatch.setattr(prove, "prove", lambda *_: claims)
    assert main(["prove", str(SAFE)]) == code


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "error"),
        ("", "is empty"),
        (
            "scenario_id: x\n",
            "nothing can be proved about `bad.yaml`; a scorecard, a policy, a workflow or a check was",
        ),
        ("- id: x\n", "`bad.yaml` is not a document of a project"),
        (TEXT.replace("CR >= CR_pass && AH", "CR >= CR_pas && AH"), "CR_pas"),
    ],
)
def test_a_document_with_mistakes_is_bad_usage(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.yaml").write_text(text, encoding="utf-8")
    assert main(["prove", "bad.yaml"]) == 3
    assert said in capsys.readouterr().err


def test_a_missing_file_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    Path("there.yaml").write_text("a: b\n", encoding="utf-8")
    Path("folder").mkdir()
    for words in (["prove", "ther.yaml"], ["policy-diff", "there.yaml", "ther.yaml"]):
        assert main(words) == 3
        assert "no such file or folder: `ther.yaml`; did you mean `there.yaml`?" in capsys.readouterr().err
    for words in (["prove", "there.yaml", "--config", "folder"], ["policy-diff", "folder", "there.yaml"]):
        assert main(words) == 3
        assert ": `folder` is a folder; name a file\n" in capsys.readouterr().err


def test_a_check_without_conditions_is_said_to_claim_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    universal = "id: W-1\nname: w\nprimary_bucket: C\nseverity: S3\nscope: universal\nrouting: {route: llm_primary}\n"
    Path("W-1.yaml").write_text(universal, encoding="utf-8")
    assert main(["prove", "W-1.yaml"]) == 2
    out = capsys.readouterr().out
    assert "no claims" in out
    assert "0 proved" not in out


def project_with(**conditions: str) -> None:
    """A project of checks with these conditions under `fail`, in the working folder."""
    Path("rulewright.yaml").write_text("project: p\n", encoding="utf-8")
    Path("checks").mkdir()
    for name, fail in conditions.items():
        Path("checks", f"{name}.yaml").write_text(f"id: {name}\nfail: {fail}\n", encoding="utf-8")


@pytest.mark.parametrize("words", [["prove"], ["prove", "."], ["prove", "rulewright.yaml"]])
def test_a_project_is_proved_document_by_document(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    project_with(long="size(answer) > 9", short="size(answer) < 2")
    Path("checks/asked.yaml").write_text("id: asked\nprompt: Is it so?\n", encoding="utf-8")
    assert main(words) == 0
    said = lines(capsys.readouterr().out)
    assert [line for line in said if line.endswith(".yaml")] == ["checks/long.yaml", "checks/short.yaml"]
    assert said[-2:] == [
        "1 document without conditions: nothing is claimed",
        "2 documents: 4 proved, 0 refuted, 0 unknown",
    ]


def test_a_long_line_is_wrapped_to_the_terminal_below_its_claim(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(prove, "width_for", lambda _: 50)
    assert main(["prove", str(SAFE.with_name("two-tier.yaml"))]) == 0
    said = capsys.readouterr().out.splitlines()[1:]
    assert max(map(len, said)) <= 50
    assert "  proved     16:9  `gates.safety.of` can hold for" in said
    assert f"{'':19}some verdict: for instance with" in said


def test_one_refuted_document_decides_for_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    project_with(long="size(answer) > 9", never="size(answer) > 9 && size(answer) < 2")
    assert main(["prove", "checks"]) == 1
    said = lines(capsys.readouterr().out)
    assert said[-1] == "2 documents: 3 proved, 1 refuted, 0 unknown"


def test_a_folder_without_claims_is_not_proved(capsys: pytest.CaptureFixture[str]) -> None:
    project_with()
    Path("checks/asked.yaml").write_text("id: asked\nprompt: Is it so?\n", encoding="utf-8")
    Path("checks/again.yaml").write_text("id: again\nprompt: Is it so again?\n", encoding="utf-8")
    assert main(["prove"]) == 2
    assert lines(capsys.readouterr().out) == ["2 documents without conditions: nothing is claimed"]


def test_a_project_without_claims_is_no_failure_where_that_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "."]) == 0
    capsys.readouterr()
    assert main(["prove", "--allow-no-claims"]) == 0
    said = capsys.readouterr().out
    assert "no claims" in said
    assert "proved" not in said


@pytest.mark.parametrize(("fail", "expected"), [("size(answer) > 9 && size(answer) < 2", 1), ("size(answer) > 9", 0)])
def test_what_is_claimed_decides_also_where_no_claims_are_allowed(fail: str, expected: int) -> None:
    project_with(asked=fail)
    assert main(["prove", "--allow-no-claims"]) == expected


def test_an_unreadable_document_of_a_folder_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    project_with(long="size(answer) > 9")
    Path("checks/broken.yaml").write_text("id: [\n", encoding="utf-8")
    assert main(["prove"]) == 3
    assert "checks/broken.yaml:" in capsys.readouterr().err


def test_descriptions_of_documents_are_not_proved(capsys: pytest.CaptureFixture[str]) -> None:
    project_with(long="size(answer) > 9")
    Path("scenarios").mkdir()
    Path("scenarios/A_SCHEMA.yaml").write_text("id: [\n", encoding="utf-8")
    assert main(["prove"]) == 0
    assert lines(capsys.readouterr().out)[0] == "checks/long.yaml"


@pytest.mark.parametrize(("path", "message"), [(".", "no document"), ("nowhere", "no such file or folder: `nowhere`")])
def test_nothing_to_prove_is_an_error(path: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", path]) == 3
    assert message in capsys.readouterr().err


CONDITIONS = [
    ("fail", "size(answer) > 400"),
    ("fail", "size(ibans(answer)) > 0"),
    ("fail", "size(card_numbers(answer)) > 0 || size(phone_numbers(answer)) > 0"),
    ("fail", "size(emails(answer)) > 0"),
    ("fail", "size(urls(answer)) > 0 && size(citations(answer)) == 0"),
    ("fail", "is_refusal(answer)"),
    ("pass", "is_json(answer)"),
    ("fail", "called(tool_calls, 'transfer') && !contains_any(answer, ['sorry'])"),
]


def test_a_conversation_is_redacted_before_it_shows_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rulewright.yaml").write_text("project: desk\nredact: [{pattern: '2026'}]\n", encoding="utf-8")
    Path("checks").mkdir()
    Path("checks/year.yaml").write_text("id: year\nfail: answer.contains('2026')\n", encoding="utf-8")
    assert main(["prove"]) == 2
    assert "unknown 2:7 the check can give FAIL: no conversation was found" in lines(capsys.readouterr().out)


@pytest.mark.parametrize(("key", "condition"), CONDITIONS)
def test_a_verdict_is_shown_by_a_conversation_that_is_given_it(
    key: str, condition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    project_with()
    Path("checks/one.yaml").write_text(f"id: one\n{key}: {json.dumps(condition)}\n", encoding="utf-8")
    assert main(["prove", "checks/one.yaml", "--format", "json"]) == 0
    for claim in json.loads(capsys.readouterr().out):
        (given,) = check_transcript(".", claim["witness"]).verdicts
        assert claim["claim"] == f"the check can give {given.verdict}"


def test_no_verdict_is_proved_without_a_conversation(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lone.yaml").write_text(
        "id: lone\nparams: {words: []}\nfail: contains_any(answer, params.words)\n", encoding="utf-8"
    )
    assert main(["prove", "lone.yaml"]) in (1, 2)  # phrases that are an empty list are an error for every answer
    said = lines(capsys.readouterr().out)
    assert not any(line.startswith("proved") and "FAIL" in line for line in said)


def test_the_examples_of_a_check_show_its_verdicts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example_conversations, "MOST_RECORDS", 500)  # none of 5,000 shows it
    monkeypatch.setattr(evolution, "MOST", 100)
    condition = "contains_any(answer, ['yes']) && size(tool_calls) > 1 && tool_calls[1].arguments.to == answer"
    Path("lone.yaml").write_text(f"id: lone\nfail: {json.dumps(condition)}\n", encoding="utf-8")
    assert main(["prove", "lone.yaml"]) == 2
    assert "the check can give FAIL: no conversation was found" in capsys.readouterr().out
    calls = [{"function": {"name": "pay", "arguments": json.dumps({"to": "yes you"})}}] * 2
    chat = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "yes you"}]}
    chat["messages"][1]["tool_calls"] = [  # type: ignore[assignment]
        {"id": str(number), "type": "function", **call} for number, call in enumerate(calls)
    ]
    with Path("lone.yaml").open("a", encoding="utf-8") as file:
        file.write(f"examples:\n- {json.dumps({'chat': chat, 'verdict': 'FAIL'})}\n")
    assert main(["prove", "lone.yaml"]) == 0
    assert 'assistant: "yes you", and calls pay' in capsys.readouterr().out


def test_the_documents_of_a_project_are_proved_with_one_reading_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def counted(folder: Path) -> Project:
        read.append(folder)
        return load_project(folder)

    monkeypatch.setattr(documents, "load_project", counted)
    Path("checks").mkdir()
    Path("rulewright.yaml").write_text("project: p\nchecks: checks\n", encoding="utf-8")
    for name in ("one", "two", "three"):
        Path(f"checks/{name}.yaml").write_text(f"id: {name}\nfail: size(answer) > 80\n", encoding="utf-8")
    assert main(["prove"]) == 0
    assert read == [Path.cwd()]
