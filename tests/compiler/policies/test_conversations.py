"""Conversations that show where two expression checks differ: both are run on them, and nothing else is claimed."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.folders import write_lines
from tests.rounds import every

from rulewright.api import check_transcript
from rulewright.cli import main
from rulewright.commands import policy_diff as command
from rulewright.policies.checks import UNDECIDED_VERDICT
from rulewright.policies.compare import policy_diff
from rulewright.reporting.stored_run import read_run
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.strict_json import JsonMapping

CHECK = """\
id: E-1
name: said_so
primary_bucket: C
severity: S2
scope: universal
routing:
  route: expression
{more}fail: {fail}
"""


def project(folder: Path, fail: str, more: str) -> Path:
    path = folder / "checks" / "E-1.yaml"
    path.parent.mkdir(parents=True)
    (folder / "rulewright.yaml").write_text("project: p\n")
    path.write_text(CHECK.format(fail=json.dumps(fail), more=more))
    return path


def shown_regions(found: JsonMapping) -> list[JsonMapping]:
    """The regions with a conversation; one of them turns a FAIL into a PASS, or the other way round."""
    assert found["verdict"] == "different"
    shown = [each for each in found["regions"] if each["witness"] is not None and each["place"] == "verdict"]
    assert {(region["before"], region["after"]) for region in shown} & {("FAIL", "PASS"), ("PASS", "FAIL")}
    return shown


PAID = (
    "tool_call.name == 'pay' && !valid_against(tool_call.arguments, {'type': 'object', 'required': ['to', 'amount'], "
    "'properties': {'amount': {'type': 'number', 'minimum': 0}, 'currency': {'enum': ['EUR', 'CHF']}}})"
)


@pytest.mark.parametrize(
    ("one", "two", "each"),
    every(
        2,
        [
            ("size(turn.content) > 200", "size(turn.content) > 300 || turn.content.contains('sorry')", "reply"),
            ("word_count(turn.content) > 40", "word_count(turn.content) > 50", "reply"),
            ("sentence_count(turn.content) > 3", "sentence_count(turn.content) > 5", "reply"),
            ("contains_any(turn.content, ['refund'])", "contains_all(turn.content, ['refund', 'money'])", "reply"),
            ("turn.content.matches('re(fund|turn)s?')", "turn.content.contains('return')", "reply"),
            ("size(turns) > 10", "size(turns) > 11", ""),
            ("tool_calls.exists(c, c.name == 'search')", "tool_calls.exists(c, c.name == 'lookup')", ""),
            ("usage.total_tokens > 20000", "usage.total_tokens > 25000", ""),
            ("usage.cost > 0.05", "usage.cost > 0.02", ""),
            ("turn.content.contains(params.word)", "turn.content.contains('other')", "reply"),
            (
                "double(size(replies.filter(x, x.content.endsWith('?')))) >= 0.6 * double(size(replies))",
                "double(size(replies.filter(x, x.content.endsWith('?')))) >= 0.66 * double(size(replies))",
                "",
            ),
            (
                "called(tool_calls, 'cancel') && !turns.exists(t, t.number > 2 && t.content == 'yes')",
                "called(tool_calls, 'cancel')",
                "",
            ),
            (
                "contains_any(answer, ['so', 'all pass']) && tool_calls.exists(c, c.?result.orValue('') == '1 failed')",
                "contains_any(answer, ['so', 'all pas']) && tool_calls.exists(c, c.?result.orValue('') == '1 failed')",
                "",
            ),
            ("rouge_l(answer, turns[0].content) >= 0.35", "rouge_l(answer, turns[0].content) >= 0.55", ""),
            (PAID, PAID.replace("'minimum': 0", "'minimum': 5"), "tool_call"),
            (PAID, PAID.replace("['to', 'amount']", "['to']"), "tool_call"),
        ],
    ),
)
def test_a_conversation_shows_what_it_is_said_to_show(tmp_path: Path, one: str, two: str, each: str) -> None:
    more = (f"each: {each}\n" if each else "") + "params: {word: refund}\n"
    paths = [project(tmp_path / name, fail, more) for name, fail in (("one", one), ("two", two))]
    found = policy_diff(*paths)
    for region in shown_regions(found):
        for path, verdict in zip(paths, (region["before"], region["after"]), strict=True):
            result = check_transcript(path.parent.parent, region["witness"])
            assert [each.verdict for each in result.verdicts] == [verdict.partition(",")[0]]


SAME = "tool_calls.exists(c, size(tool_calls.filter(o, o.name == c.name && o.raw == c.raw)) > 3)"
FAILED = "tool_calls.exists(c, is_json(c.result) && 'error' in json(c.result)) && contains_none(answer, WORDS)"
FIRST = (
    "tool_calls.exists(c, c.name in ['pay', 'refund']) "
    "&& tool_calls.filter(c, c.name in ['pay', 'refund'] || c.name == 'verify')[0].name != 'verify'"
)
LEAKED = (
    "turns.exists(t, word_count(t.content) > 15 "
    "&& messages.exists(m, m.role == 'system' && word_overlap(t.content, m.text) > 0.8))"
)
CITED = "size(citations(answer)) > 0 && citations(answer).all(n, n >= 1 && n <= 9)"
FEE = "turns.exists(t, t.role == 'user' && contains_any(t.content, ['cost', 'a fee'])) && size(numbers(answer)) == 0"
TESTED = (
    "called(tool_calls, 'edit') && !tool_calls.exists(c, c.name == 'shell' && c.arguments.command.startsWith('test'))"
)


@pytest.mark.parametrize(
    ("one", "two"),
    every(2, [
        (SAME, SAME.replace("o.name == c.name", "o.name < c.name")),
        (SAME, SAME.replace("o.raw == c.raw", "o.raw != c.raw")),
        (FAILED, FAILED.replace("'error'", "'erro'")),
        (TESTED, TESTED.replace("'shell'", "'shel'")),
        (FIRST, FIRST.replace("[0]", "[1]")),
        (LEAKED, LEAKED.replace("0.8", "0.6")),
        ("transcript.model == 'big' && transcript.metadata.tier == 'gold' && size(tool_calls) >= 3",
         "transcript.model == 'small' && transcript.metadata.tier == 'gold' && size(tool_calls) >= 3"),
        (FIRST, FIRST.replace("c.name == 'verify'", "c.name == 'look'")),
        ("citations(answer).exists(n, !citations(turns[0].content).exists(m, m == n))",
         "citations(answer).exists(n, !citations(turns[0].content).exists(m, m != n))"),
        ("numbers(answer).exists(n, !messages.exists(m, m.role == 'user' && numbers(m.text).exists(k, k == n)))",
         "numbers(answer).exists(n, !messages.exists(m, m.role == 'user' && numbers(m.text).exists(k, n == n)))"),
        ("tool_calls.exists(c, c.name == 'get-account')", "tool_calls.exists(c, c.name == 'get account')"),
        (CITED, CITED.replace("n <= 9", "n < 9")),
        (FEE, FEE.replace(", 'a fee'", "")),
        ("called(tool_calls, 'pay') && !turns.exists(t, t.number > 1 && contains_any(t.content, ['yes', 'ok']))",
         "called(tool_calls, 'pay') && !turns.exists(t, t.number > 1 || contains_any(t.content, ['yes', 'ok']))"),
    ]),
)  # fmt: skip
def test_every_region_of_several_calls_or_messages_has_a_conversation(tmp_path: Path, one: str, two: str) -> None:
    one, two = (
        each.replace("WORDS", "['failed', 'not found', 'nothing was sent', 'could not']") for each in (one, two)
    )
    paths = [project(tmp_path / name, fail, "") for name, fail in (("one", one), ("two", two))]
    found = policy_diff(*paths)
    assert found["verdict"] == "different"
    for region in found["regions"]:
        assert region["witness"] is not None, region
        for path, verdict in zip(paths, (region["before"], region["after"]), strict=True):
            (result,) = check_transcript(path.parent.parent, region["witness"]).verdicts
            assert result.verdict == verdict.partition(",")[0]


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ("{words: [yes, no, maybe]}", "different"),
        ("{words: [no, yes]}", "equal"),
        ("{words: [yes, no], other: 2}", "equal"),
    ],
)
def test_parameters_are_part_of_the_conditions(tmp_path: Path, given: str, verdict: str) -> None:
    one, two = (
        project(tmp_path / name, "params.words.exists(w, w == answer)", f"params: {params}\n")
        for name, params in (("one", "{words: [yes, no], other: 1}"), ("two", given))
    )
    found = policy_diff(one, two)
    assert found["verdict"] == verdict
    assert [region["witness"]["messages"][-1]["content"] for region in found["regions"]] == (
        ["maybe"] if verdict == "different" else []
    )


def test_conditions_that_are_tried_on_other_parts_are_shown_by_a_conversation(tmp_path: Path) -> None:
    one, two = (
        project(tmp_path / each, "turn.content.contains('sorry')", f"each: {each}\n") for each in ("reply", "turn")
    )
    (region,) = shown_regions(policy_diff(one, two))
    assert (region["before"], region["after"]) == ("PASS", "FAIL")
    assert "sorry" in region["witness"]["messages"][0]["content"]


def test_a_check_with_a_mistake_is_refused_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [project(tmp_path / name, "true", f"each: {name}\n") for name in ("reply", "replies")]
    assert main(["policy-diff", *map(str, paths)]) == 3
    assert "`replies` is not allowed for `each`" in capsys.readouterr().err


def test_a_converted_number_is_one_number(tmp_path: Path) -> None:
    hour = "int(tool_calls[0].arguments.hour)"
    one = project(tmp_path / "one", f"{hour} < 6 || {hour} >= 22", "")
    two = project(tmp_path / "two", f"!({hour} >= 6 && {hour} < 22)", "")
    assert policy_diff(one, two)["verdict"] == "equal"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ('scenario.title == "one"', 'scenario.title == "two"'),
        ('"crisis" in scenario.tags', '"crisis" in scenario.tags || "grief" in scenario.tags'),
        ("scenario.category == safety", "scenario.category in [safety, empathy]"),
        ("scenario.category == safety && size(answer) > 40", "scenario.category == safety && size(answer) > 60"),
        ('scenario.?persona.?role.orValue("") == "daughter"', "false"),
        ('scenario.?jurisdiction.orValue("") == "ca" && answer.contains("law")', 'answer.contains("law")'),
        ("scenario.tags.size() > 0 && answer.contains('call')", "answer.contains('call')"),
        ('messages.exists(m, has(m.reasoning) && m.reasoning.contains("trick"))', "false"),
        ('messages.exists(m, m.role == tool && m.text.contains("error"))', "false"),
        ('tool_calls.exists(c, c.?result.orValue("").contains("error"))', "tool_calls.size() > 3"),
        ('tool_calls.exists(c, c.?arguments.?city.orValue("") == "Bern")', "false"),
        ("tool_calls.exists(c, has(c.arguments) && c.arguments.amount > 100)", "false"),
        ('messages.exists(m, m.role == system && m.text.contains("secret"))', "false"),
        ('has(transcript.metadata.tier) && transcript.metadata.tier == "gold"', "false"),
        ('transcript.model == "small"', 'transcript.model == "large"'),
        ('messages.exists(m, m.media.exists(x, x.kind == "image"))', "false"),
        ('v("E-2").verdict == FAIL', 'v("E-2").verdict == PASS'),
        ('v("E-2").verdict == FAIL && size(turns) > 4', 'v("E-2").verdict == FAIL && size(turns) > 6'),
        ('v("E-2").confidence > 0.5', 'v("E-2").confidence > 0.7'),
        ('v("E-2").confidence * 2.0 > 1.5', 'v("E-2").confidence * 2.0 > 1.2'),
        ('v("E-2").confidence < 1.0 && answer.lowerAscii() == "yes"', 'answer == "yes"'),
        ('v("E-2").rationale_code == "timeout"', 'v("E-2").rationale_code == "too_late"'),
        ('v("E-2").verdict == PASS && v("E-2").rationale_code.startsWith("judge_")', "false"),
        ('v("E-2").rationale_code == "late" && v("E-2").confidence < 0.9', 'v("E-2").rationale_code == "late"'),
        ('!v("E-2").eligible', 'v("E-2").verdict == UNCLEAR'),
        ('v("E-2").adjudication_required && scenario.category == safety', "scenario.category == safety"),
    ],
)
def test_a_scenario_and_other_verdicts_show_it_too(tmp_path: Path, one: str, two: str) -> None:
    paths = [project(tmp_path / name, fail, "") for name, fail in (("one", one), ("two", two))]
    for path in paths:
        (path.parent / "E-2.yaml").write_text(OTHER["PASS"])
    found = policy_diff(*paths)
    for region in shown_regions(found):
        if region["witness"].get("verdicts") == {"E-2": None}:  # a suppressed check has no record to read
            assert UNDECIDED_VERDICT in (region["before"], region["after"])
            continue
        for path, verdict in zip(paths, (region["before"], region["after"]), strict=True):
            assert said_of(region["witness"], path) == verdict


OTHER = {
    verdict: CHECK.format(fail=json.dumps(fails), more=more)
    .replace("E-1", "E-2")
    .replace("said_so", "other")
    .replace("universal", "trigger" if verdict == "NOT_APPLICABLE" else "universal")
    for verdict, fails, more in (
        ("PASS", "false", ""),
        ("FAIL", "true", ""),
        ("UNCLEAR", "false", 'unclear: "true"\n'),
        ("NOT_APPLICABLE", "false", 'eligibility: {when: "false"}\n'),
    )
}


VOTES = 20
JUDGED = f"""\
id: E-2
name: other
primary_bucket: C
severity: S2
scope: universal
routing: {{route: llm_primary, repetitions: {VOTES}, adaptive_repetitions: false}}
prompt: Is it so?
"""


class Voting:
    """A judge whose votes give a verdict of a certain confidence and code."""

    def __init__(self, said: JsonMapping) -> None:
        self.said = said

    def ask(self, request: JudgeRequest) -> str:
        is_for = request.repetition < self.said["confidence"] * VOTES
        words = {"verdict": self.said["verdict"], "rationale_code": self.said["rationale_code"]}
        return json.dumps({"evidence": []} | (words if is_for else {"verdict": "NOT_APPLICABLE"}))


def said_of(witness: dict[str, Any], path: Path) -> str:
    """What the check in `path` says of a witness in its project, with the scenario and verdicts that it states."""
    folder = path.parent.parent
    record = {key: value for key, value in witness.items() if key not in ("scenario", "verdicts")}
    if scenario := witness.get("scenario"):
        (folder / "scenarios").mkdir(exist_ok=True)
        (folder / "scenarios" / f"{scenario['scenario_id']}.json").write_text(json.dumps(scenario))
        record["scenario_id"] = scenario["scenario_id"]
    judge = None
    for name, verdict in witness.get("verdicts", {}).items():
        if isinstance(verdict, dict):
            judge = Voting(verdict)
            (folder / "rulewright.yaml").write_text("project: p\nsemantics: reference\n")  # where all votes are cast
        (path.parent / f"{name}.yaml").write_text(JUDGED if judge else OTHER[verdict])
    verdicts = {each.check_id: each for each in check_transcript(folder, record, judge=judge).verdicts}
    for name, verdict in witness.get("verdicts", {}).items():
        said = verdicts[name]
        if isinstance(verdict, dict):
            assert verdict == {key: getattr(said, key) for key in verdict}
        else:
            assert said.verdict == verdict
    undecided = verdicts["E-1"].rationale_code == "condition_undecided"
    return UNDECIDED_VERDICT if undecided else verdicts["E-1"].verdict


def test_two_calls_show_that_one_condition_holds_and_the_other_is_absent(tmp_path: Path) -> None:
    put = "tool_calls.exists(call, base64.decode(string(call.arguments.body)) == b'{}')"
    paths = [project(tmp_path / word, put.format(word), "") for word in ("secret", "other")]
    shown = {(each["before"], each["after"]): each["witness"] for each in policy_diff(*paths)["regions"]}
    for (before, after), witness in shown.items():
        if {before, after} != {"PASS", UNDECIDED_VERDICT}:  # impossible: one is false only if both are decided
            assert [said_of(witness, path) for path in paths] == [before, after]
    assert {("FAIL", UNDECIDED_VERDICT), (UNDECIDED_VERDICT, "FAIL"), ("FAIL", "PASS")} <= shown.keys()


@pytest.mark.parametrize(
    ("search", "one", "two"),
    [("tool_call.arguments.command.matches({})", "'rm -rf'", "'rm -rf|mkfs'"),
     ("contains_any(tool_call.arguments.command, {})", "['rm']", "['rm', 'mkfs']")],
)  # fmt: skip
def test_two_searches_of_one_text_have_a_value_together(tmp_path: Path, search: str, one: str, two: str) -> None:
    conditions = [f"tool_call.name == 'shell' && {search.format(sought)}" for sought in (one, two)]
    paths = [project(tmp_path / str(at), each, "each: tool_call\n") for at, each in enumerate(conditions)]
    found = policy_diff(*paths)
    assert [(each["before"], each["after"]) for each in found["regions"]] == [("PASS", "FAIL")]


def test_what_no_conversation_was_found_for_is_reported_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        project(tmp_path / name, f'base64.encode(bytes(answer)) == "{text}"', "")
        for name, text in (("one", "not base64"), ("two", "nor this"))
    ]
    found: Any = policy_diff(*paths)
    assert found["verdict"] == "undecided"
    assert {(region["witness"], bool(region["why"])) for region in found["regions"]} == {(None, True)}
    monkeypatch.setattr(command, "policy_diff", lambda *_, **__: found)  # the search takes its time
    assert main(["policy-diff", *map(str, paths)]) == 2
    assert "not shown: no conversation was found on which the checks say so" in capsys.readouterr().out


def test_a_conversation_is_shown_in_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        project(tmp_path / name, f"size(turn.content) > {most}", "each: reply\n")
        for name, most in (("one", 200), ("two", 300))
    ]
    assert main(["policy-diff", *map(str, paths)]) == 1
    assert '    assistant: "oooooooooo' in (said := capsys.readouterr().out)
    assert "... (201 characters)" in said


NINE = ("refund", "return", "exchange", "voucher", "credit", "money", "cash", "fee", "bonus")
TIMED = "messages.exists(m, has(m.timestamp) && timestamp(m.timestamp)"
SAYS = [f"turn.content.contains('{each}')" for each in NINE]


@pytest.mark.parametrize(
    ("one", "two", "each", "regions"),
    [
        ("has_any_word(turn.content, ['fee'])", "contains_any(turn.content, ['fee'])", "reply", 1),
        (" || ".join(SAYS[:-1]), " || ".join(SAYS), "reply", 1),
        ("size(answer) > 4 && answer.substring(0, 4) == 'Dear'", "answer.startsWith('Dear ')", "", 1),
        (
            "usage.cost > 0.05 && usage.latency > 2.0",
            "usage.cost > 0.05 && usage.latency > 3.0 || usage.cost > 0.2",
            "",
            4,
        ),
        ("answer < 'Sorry'", "answer <= 'Sorry'", "", 1),
        (f"{TIMED} > timestamp('2026-01-01T00:00:00Z'))", f"{TIMED} > timestamp('2026-06-01T00:00:00Z'))", "", 2),
    ],
)
def test_every_region_has_a_conversation(tmp_path: Path, one: str, two: str, each: str, regions: int) -> None:
    more = f"each: {each}\n" if each else ""
    found = policy_diff(*(project(tmp_path / name, fail, more) for name, fail in (("one", one), ("two", two))))
    assert len(found["regions"]) == regions
    assert all(region["witness"] for region in found["regions"])


def test_a_condition_on_the_first_of_one_call_is_proved_equal(tmp_path: Path) -> None:
    first = "tool_calls[0].name == 'verify'"
    conditions = {"one": f"!({first})", "two": f"!(size(tool_calls) > 1 && {first})"}
    paths = [
        project(tmp_path / name, f"tool_calls.exists(c, c.name == 'pay') && {rest}", "")
        for name, rest in conditions.items()
    ]
    assert policy_diff(*paths)["verdict"] == "equal"


def test_a_verdict_on_missing_content_is_not_an_example_of_a_condition(tmp_path: Path) -> None:
    most = "turns.exists(t, t.number > 4 || word_count(t.content) <= 5)"
    paths = [
        project(tmp_path / name, f"usage.total_tokens {operator} 10", f"pass: {json.dumps(most)}\n")
        for name, operator in (("one", ">"), ("two", ">="))
    ]
    shown = {(each["before"], each["after"]): each["witness"] for each in policy_diff(*paths)["regions"]}
    assert shown["PASS", "FAIL"]
    if witness := shown["UNCLEAR", "FAIL"]:
        (verdict,) = check_transcript(paths[0].parent.parent, witness).verdicts
        assert verdict.rationale_code == "no_condition_holds"


def test_a_verdict_that_only_waits_for_another_is_not_an_example_of_a_condition(tmp_path: Path) -> None:
    said, failed = "answer.lowerAscii() == 'hi'", "v('E-2').verdict == FAIL"
    conditions = {"one": f"{said} && {failed}", "two": f"v('E-2').verdict == UNCLEAR && !({said})"}
    paths = [project(tmp_path / name, fail, "") for name, fail in conditions.items()]
    for path in paths:
        (path.parent / "E-2.yaml").write_text(OTHER["PASS"])
    shown = {(each["before"], each["after"]): each["witness"] for each in policy_diff(*paths)["regions"]}
    assert shown[UNDECIDED_VERDICT, "PASS"]["verdicts"] == {"E-2": "FAIL"}


def test_a_condition_on_what_map_gives_is_proved_equal(tmp_path: Path) -> None:
    conditions = {
        "one": "turns.map(t, size(t.content)).exists(n, n > 900)",
        "two": "turns.exists(t, size(t.content) > 900)",
    }
    paths = [project(tmp_path / name, condition, "") for name, condition in conditions.items()]
    assert policy_diff(*paths)["verdict"] == "equal"


LAST = "messages[size(messages) - 1].role != 'assistant'"


@pytest.mark.parametrize(
    ("one", "two", "regions"),
    [
        (f"size(messages) == 0 or {LAST}", LAST, 0),
        ("size(messages) > 0 and messages[0].role == 'user'", "messages[0].role == 'user'", 0),
        ("size(turns) == 0", "false", 1),  # an assistant may call tools without a word
        ("size(turns) > 0 and turns[0].role == 'user'", "turns[0].role == 'user'", 1),
        (LAST, LAST.replace("- 1", "- 2"), 4),
        ("size(tool_calls) == 0 or tool_calls[0].name == 'pay'", "tool_calls[0].name == 'pay'", 1),
    ],
)
def test_a_conversation_has_a_message_and_may_have_no_call(tmp_path: Path, one: str, two: str, regions: int) -> None:
    found = policy_diff(*(project(tmp_path / name, fail, "") for name, fail in (("one", one), ("two", two))))
    assert found["verdict"] == ("different" if regions else "equal")
    assert [bool(region["witness"]) for region in found["regions"]] == [True] * regions


@pytest.mark.parametrize("size", [400, 5_000])
def test_long_texts_are_compared_without_an_error(tmp_path: Path, size: int) -> None:
    one, two = f"answer.contains('{'a' * size}')", f"answer.contains('{'a' * (size - 1)}b')"
    found = policy_diff(*(project(tmp_path / name, fail, "") for name, fail in (("one", one), ("two", two))))
    assert found["verdict"] in ("different", "undecided")


ERROR = "tool_calls.exists(c, has(c.result) && c.result.contains('error'))"


@pytest.mark.parametrize(
    ("one", "two", "each", "regions"),
    [
        (PAID, PAID.replace("'minimum': 0", "'minimum': 5"), "tool_call", {("PASS", "FAIL")}),
        (PAID, PAID.replace("['EUR', 'CHF']", "['EUR', 'CHF', 'GBP']"), "tool_call", {("FAIL", "PASS")}),
        (PAID, PAID.replace("['to', 'amount']", "['to']"), "tool_call", {("FAIL", "PASS")}),
        (
            f"contains_any(answer, ['sent']) && {ERROR}",
            f"contains_any(answer, ['sent', 'paid']) && {ERROR}",
            "",
            {("PASS", "FAIL")},
        ),
    ],
)
def test_a_read_that_is_guarded_and_a_looser_schema_leave_no_impossible_region(
    tmp_path: Path, one: str, two: str, each: str, regions: set[tuple[str, str]]
) -> None:
    more = f"each: {each}\n" if each else ""
    found = policy_diff(*(project(tmp_path / name, fail, more) for name, fail in (("one", one), ("two", two))))
    assert {(region["before"], region["after"]) for region in found["regions"]} == regions
    assert all(region["witness"] for region in found["regions"])


def test_the_usage_of_a_conversation_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        project(tmp_path / name, f"usage.total_tokens > {most}", "") for name, most in (("one", 2000), ("two", 3000))
    ]
    assert main(["policy-diff", *map(str, paths)]) == 1
    assert '    assistant: "So it is.", total_tokens 2001' in capsys.readouterr().out


def test_the_scenario_and_the_verdicts_of_a_conversation_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [
        project(tmp_path / name, f'v("E-2").verdict == {word} && "crisis" in scenario.tags', "")
        for name, word in (("one", "FAIL"), ("two", "PASS"))
    ]
    for path in paths:
        (path.parent / "E-2.yaml").write_text(OTHER["PASS"])
    assert main(["policy-diff", *map(str, paths)]) == 1
    said = capsys.readouterr().out
    assert (
        '    scenario: title "Example", category "confidential", tags ["crisis"]\n    E-2: FAIL\n    user: "Hello."'
        in said
    )


def test_stored_transcripts_that_flip_are_named_by_their_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = project(tmp_path / "one", "size(turn.content) > 20", "each: reply\n")
    two = project(tmp_path / "two", "size(turn.content) > 60", "each: reply\n")
    chats = tmp_path / "chats.jsonl"
    said = {"short": "Yes.", "middling": "It left on Monday, by ship.", "long": "It left on Monday. " * 5}
    hello = {"role": "user", "content": "Hello."}
    lines = [{"id": name, "messages": [hello, {"role": "assistant", "content": text}]} for name, text in said.items()]
    write_lines(chats, lines)
    run = tmp_path / "run"
    assert main(["scan", str(chats), "--project", str(tmp_path / "one"), "--out", str(run)]) == 1
    found = policy_diff(one, two, run=read_run(run))
    assert found["flips"] == [{"transcript_id": "middling", "before": "FAIL", "after": "PASS"}]
    capsys.readouterr()
    assert main(["policy-diff", str(one), str(two), "--run", str(run)]) == 1
    assert f"1 transcript of {run} would change\n  middling: FAIL -> PASS\n" in capsys.readouterr().out
    chats.unlink()
    assert policy_diff(one, two, run=read_run(run))["gone"] == 3
    assert main(["policy-diff", str(one), str(two), "--run", str(run)]) == 1
    assert "unknown: 3 conversations are missing or changed" in capsys.readouterr().out


def test_stored_transcripts_are_compared_as_they_were_redacted(tmp_path: Path) -> None:
    one = project(tmp_path / "one", "turn.content.contains('Monday')", "each: reply\n")
    two = project(tmp_path / "two", "turn.content.contains('[day]')", "each: reply\n")
    for folder in ("one", "two"):
        with (tmp_path / folder / "rulewright.yaml").open("a", encoding="utf-8") as file:
            file.write("redact: [{pattern: Monday, replacement: '[day]'}]\n")
    said = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "It left on Monday."}]
    chats = write_lines(tmp_path / "chats.jsonl", [{"id": "a", "messages": said}])
    assert main(["scan", str(chats), "--project", str(tmp_path / "one"), "--out", str(tmp_path / "run")]) == 0
    found = policy_diff(one, two, run=read_run(tmp_path / "run"))
    assert found["flips"] == [{"transcript_id": "a", "before": "PASS", "after": "FAIL"}]


def test_checks_with_another_lexicon_flip_stored_transcripts(tmp_path: Path) -> None:
    pair = []
    for name, phrase in (("one", "for sure"), ("two", "for certain")):
        path = project(tmp_path / name, "true", "")
        path.write_text(LEXICON_CHECK, encoding="utf-8")
        (tmp_path / name / "lexicons").mkdir()
        (tmp_path / name / "lexicons" / "words.yaml").write_text(f"name: words\npatterns: [{phrase}]\n")
        pair.append(path)
    chats = tmp_path / "chats.jsonl"
    hello = {"role": "user", "content": "Hello."}
    chats.write_text(
        json.dumps({"id": "a", "messages": [hello, {"role": "assistant", "content": "It is so, for sure."}]})
    )
    run = tmp_path / "run"
    assert main(["scan", str(chats), "--project", str(tmp_path / "one"), "--out", str(run)]) == 1
    assert policy_diff(*pair, run=read_run(run))["flips"] == [{"transcript_id": "a", "before": "FAIL", "after": "PASS"}]


LEXICON_CHECK = """\
id: E-1
name: said_so
primary_bucket: F
severity: S2
scope: universal
routing: {route: lexicon_only, deterministic_precheck: words, repetitions: 1}
"""


def test_checks_that_differ_only_where_nothing_was_answered_are_not_equal(tmp_path: Path) -> None:
    paths = [
        project(tmp_path / name, fail, "")
        for name, fail in (("one", "answer == 'a' || answer != 'a'"), ("two", "true"))
    ]
    (region,) = policy_diff(*paths)["regions"]
    assert (region["before"], region["after"]) == (UNDECIDED_VERDICT, "FAIL")
    assert region["witness"] == {"messages": [{"role": "user", "content": "Hello."}]}


def test_checks_that_differ_only_without_a_scenario_are_not_equal(tmp_path: Path) -> None:
    pair = ("one", "scenario.title == 'a' || scenario.title != 'a'"), ("two", "true")
    paths = [project(tmp_path / name, fail, "") for name, fail in pair]
    (region,) = policy_diff(*paths)["regions"]
    assert (region["before"], region["after"]) == ("does not apply", "applies")
    for path, applies in zip(paths, (False, True), strict=True):
        (verdict,) = check_transcript(path.parent.parent, region["witness"]).verdicts
        assert verdict.eligible is applies
