"""Checks that are expressions: what they may leave out, what is refused in them, and what can be proved of them."""

from pathlib import Path

import pytest
from tests.folders import write

from rulewright.check.document import document_findings
from rulewright.check.project_check import compile_project
from rulewright.claims.documents import prove
from rulewright.cli import main
from rulewright.errors import DocumentError
from rulewright.linting.lint_run import lint
from rulewright.load import Mapping, load_text
from rulewright.proving.results import Proved, Refuted
from rulewright_runtime.plan.verifiers import ExpressionVerifier

BRIEF = 'id: brief\neach: reply\nfail: word_count(turn.content) > 3 or contains_any(turn.content, ["i promise"])\n'
GATED = """\
scorecard: one
gates:
  safe:
    of: v.severity == S5
    stops: v.verdict == FAIL
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: undecided}
output: {}
"""
SHORT = "id: short-one\nfail: size(answer) > 9\n"
CHAT = '{"turn": 1, "role": "user", "content": "Hi"}\n{"turn": 1, "role": "assistant", "content": "%s"}\n'


def project(folder: Path, **checks: str) -> Path:
    """A project of nothing but checks and a scenario in which anything may be said."""
    files = {f"checks/{name.replace('_', '-')}.yaml": text for name, text in checks.items()}
    files["rulewright.yaml"] = "project: small\n"
    files["scenarios/chat.json"] = '{"scenario_id": "chat", "title": "T", "category": "safety", "open": true}'
    return write(folder, files)


def messages(text: str) -> list[str]:
    root = load_text(text.encode(), "brief.yaml").root
    assert isinstance(root, Mapping)
    return [f"{found.message}; {found.help or ''}" for found in document_findings("check", root)]


def test_an_expression_check_needs_nothing_but_an_id_and_a_condition(tmp_path: Path) -> None:
    (check,) = compile_project(project(tmp_path, brief=BRIEF)).checks
    assert isinstance(check.verifier, ExpressionVerifier)
    assert (check.name, check.route, check.severity, check.scope) == ("brief", "expression", "S3", "universal")
    assert check.verifier.each == "reply"
    assert check.verifier.passes is None


@pytest.mark.parametrize(("answer", "status", "verdict"), [("No.", 0, "1 PASS"), ("Oh I  promise.", 1, "1 FAIL")])
def test_one_check_and_one_chat_are_a_project(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    status: int,
    verdict: str,
) -> None:
    monkeypatch.chdir(project(tmp_path, brief=BRIEF))
    Path("bot__chat.jsonl").write_text(CHAT % answer, encoding="utf-8")
    assert main(["scan", "bot__chat.jsonl", "--out", "run"]) == status
    assert verdict in capsys.readouterr().out
    assert main(["why", "run", "bot__chat", "brief"]) == 0
    assert "fail when" in capsys.readouterr().out


def test_a_check_with_a_condition_may_say_everything_else_too(tmp_path: Path) -> None:
    full = "name: brief_answers\nprimary_bucket: C\nseverity: S2\nscope: universal\nrouting: {route: expression}\n"
    (check,) = compile_project(project(tmp_path, brief=BRIEF + full)).checks
    assert (check.name, check.primary_bucket, check.severity) == ("brief_answers", "C", "S2")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("fail: turn.content == 'a'\n", "`turn` exists only with `each: turn` or `each: reply`"),
        ("fail: word_count(answer)\n", "expected a `bool`, found `int`"),
        ("fail: turns.exists(t, t.role == asistant)\n", "unknown value `asistant` for `role`"),
        ("fail: params.least > 3\n", "`params` has no field `least`"),
        ("fail: contains_any(answer, 'a')\n", "expected (string, list(string))"),
        ("each: reply\nfail: turn.text == 'a'\n", "`turn` has no field `text`"),
        ("each: word\nfail: 'true'\n", "word"),
    ],
)
def test_what_a_condition_may_not_say(written: str, message: str) -> None:
    found = messages(f"id: brief\n{written}")
    assert any(message in each for each in found), found


def test_a_check_without_conditions_still_needs_its_routing() -> None:
    found = messages("id: brief\nunclear: size(turns) == 0\n")
    assert any("`prompt`, `use` or `routing` is missing" in each for each in found), found


def test_the_route_needs_a_condition(tmp_path: Path) -> None:
    named = "name: b\nprimary_bucket: C\nseverity: S2\nscope: universal\nrouting: {route: expression}\n"
    with pytest.raises(DocumentError, match="needs `fail` or `pass`"):
        compile_project(project(tmp_path, brief=f"id: brief\n{named}"))


@pytest.mark.parametrize("value", [".nan", "-.inf", "[1, .inf]", "{at: [.NaN]}"])
def test_a_parameter_that_is_not_finite_is_refused(value: str, tmp_path: Path) -> None:
    check = f"id: brief\nparams: {{most: {value}}}\nfail: size(answer) > params.most\n"
    with pytest.raises(DocumentError, match="a parameter must be a finite number, not `"):
        compile_project(project(tmp_path, brief=check))


def test_a_whole_number_of_more_than_64_bits_is_a_finding_and_stops_no_lint(tmp_path: Path) -> None:
    params = "{most: 99999999999999999999, others: [-99999999999999999999]}"
    check = f"id: brief\nparams: {params}\nfail: size(answer) > params.most\n"
    found = [each.message for each in lint([project(tmp_path, brief=check)]).diagnostics]
    assert found == [
        "a parameter must fit a whole number of 64 bits, not `99999999999999999999`",
        "a parameter must fit a whole number of 64 bits, not `-99999999999999999999`",
    ]


@pytest.mark.parametrize("number", ["9" * 20, "-" + "9" * 30])
@pytest.mark.parametrize(
    "used", ["answer.matches(params.most)", "duration(params.most) > duration('1s')", "double(params.most) > 2.0"]
)
def test_a_whole_number_of_more_than_64_bits_is_no_argument(used: str, number: str, tmp_path: Path) -> None:
    check = f"id: brief\nparams: {{most: {number}}}\nfail: {used}\n"
    messages = [each.message for each in lint([project(tmp_path, brief=check)]).diagnostics]
    assert f"a parameter must fit a whole number of 64 bits, not `{number}`" in messages


def test_a_check_may_compare_an_unsigned_number(tmp_path: Path) -> None:
    assert not lint([project(tmp_path, brief="id: brief\nfail: uint(size(answer)) > 80u\n")]).diagnostics


def test_a_severity_of_more_than_64_bits_stops_no_lint(tmp_path: Path) -> None:
    check = "id: brief\nprimary_bucket: A\nseverity: 99999999999999999999\nfail: size(answer) > 9\n"
    files = {"checks/brief.yaml": check, "scorecards/one.yaml": GATED}
    assert "wrong-type" in {each.code for each in lint([write(tmp_path, files)]).diagnostics}


def test_a_verdict_of_an_unknown_check_is_refused(tmp_path: Path) -> None:
    checks = {"brief": BRIEF, "both": 'id: both\nfail: v("breif").verdict == FAIL\n'}
    with pytest.raises(DocumentError, match="no other check is called `breif`") as refused:
        compile_project(project(tmp_path, **checks))
    assert refused.value.diagnostics[0].help == "did you mean `brief`?"


def test_verdicts_in_a_circle_are_refused(tmp_path: Path) -> None:
    one, two = ('id: one\nfail: v("two").verdict == FAIL\n', 'id: two\nfail: v("one").verdict == FAIL\n')
    with pytest.raises(DocumentError, match="in a cycle"):
        compile_project(project(tmp_path, one=one, two=two))


def test_a_check_reads_the_verdicts_of_others_once_they_are_known(tmp_path: Path) -> None:
    plan = compile_project(project(tmp_path, both='id: both\nfail: v("brief").verdict == FAIL\n', brief=BRIEF))
    both = next(check.verifier for check in plan.checks if check.id == "both")
    assert isinstance(both, ExpressionVerifier)
    assert both.needs == ("brief",)


@pytest.mark.parametrize(
    ("written", "fails", "passes"),
    [
        (BRIEF, Proved, Proved),
        ("id: brief\nparams: {most: 3}\nfail: word_count(answer) > params.most\n", Proved, Proved),
        ("id: brief\nfail: word_count(answer) < 0\n", Refuted, Proved),
        ("id: brief\nfail: usage.cost > 2.0 and usage.cost < 1.0\n", Refuted, Proved),
        ("id: brief\nfail: is_json(answer)\npass: is_json(answer)\n", Proved, Refuted),
        ("id: brief\nunclear: size(turns) >= 0\npass: is_json(answer)\n", Refuted, Refuted),
        ("id: brief\nfail: rouge_l(answer, 'a') > 1.0\n", Refuted, Proved),
        ("id: brief\nparams: {most: 60}\nfail: word_count(answer) > params.most\n", Proved, Proved),
        ("id: brief\nparams: {least: -1}\nfail: word_count(answer) <= params.least\n", Refuted, Proved),
        ("id: brief\npass: rouge_l(answer, expected) >= 0.3 or contains_all(answer, [expected])\n", Proved, Proved),
    ],
)
def test_that_a_check_can_fail_and_pass_is_proved(
    tmp_path: Path, written: str, fails: type[object], passes: type[object]
) -> None:
    path = tmp_path / "brief.yaml"
    path.write_text(written, encoding="utf-8")
    claims = prove(path)
    assert [claim.claim for claim in claims] == ["the check can give FAIL", "the check can give PASS"]
    assert [type(claim.result) for claim in claims] == [fails, passes]


@pytest.mark.parametrize(
    ("condition", "each", "advice"),
    [
        ("size(reply.content) > 4", "reply", "did you mean `turn`?"),
        ("replies.exists(reply, size(turn.content) > 4)", "conversation", "did you mean `reply`?"),
        ("size(turn.content) > 4", "conversation", "`turn` exists only with `each: turn` or `each: reply`"),
        ("contains_any(answer, [yes])", "conversation", "a text needs quotes"),
    ],
)
def test_an_unknown_item_is_answered_with_the_known_one(condition: str, each: str, advice: str) -> None:
    line = "" if each == "conversation" else f"each: {each}\n"
    (message,) = messages(f"id: brief\n{line}fail: {condition}\n")
    assert message.endswith(advice)


def test_a_check_cannot_read_itself_or_an_unknown_one(tmp_path: Path) -> None:
    for name, help in (("brief", "the other checks are `short-one`"), ("short-onw", "did you mean `short-one`?")):
        folder = tmp_path / name
        folder.mkdir()
        with pytest.raises(DocumentError, match=f"no other check is called `{name}`") as refused:
            compile_project(project(folder, brief=f'id: brief\nfail: v("{name}").verdict == FAIL\n', short_one=SHORT))
        assert refused.value.diagnostics[0].help == help


def test_a_proof_shows_a_conversation(tmp_path: Path) -> None:
    path = tmp_path / "brief.yaml"
    path.write_text("id: brief\nparams: {most: 60}\nfail: word_count(answer) > params.most\n", encoding="utf-8")
    result = prove(path)[0].result
    assert isinstance(result, Proved)
    assert result.conversation is not None
    assert len(result.conversation["messages"][1]["content"].split()) == 61
