"""Replies: the verdict object is found in every odd wrapping, and only an exact verdict counts."""

import json
import math
import re
from collections.abc import Callable, Iterable
from functools import partial, reduce
from itertools import combinations
from typing import Any

import pytest
from tests.shared_data import folder

from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.evidence import quoted, tolerant
from rulewright_runtime.judging.replies import lenient, read, strict
from rulewright_runtime.plan.question import Judging, WholeWindow


def same(found: Any, wanted: Any) -> bool:
    """Equality under which NaN equals itself."""
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
        )
    return bool(found == wanted)


def test_every_published_reply_is_read_the_same() -> None:
    path = folder("invisiblebench") / "expected" / "unit" / "parse.json"
    for row in json.loads(path.read_text(encoding="utf-8")):
        if row.get("error"):
            with pytest.raises(JudgeError):
                lenient(row["raw"])
        else:
            assert same(lenient(row["raw"]), row["parsed"]), row["raw"]


@pytest.mark.parametrize(
    "raw",
    [
        '{"verdict": "PASS"}', 'I think so.\n```json\n{"verdict": "PASS"}\n```\nThat is all.',
        '```\n{"verdict": "PASS"}', 'first {"a": 1}, then {"verdict": "PASS"} or {"verdict": "FAIL"}',
        '[{"verdict": "PASS"}]', '{"result": {"verdict": "PASS"}}', '{"verdict": "PASS",}',
        '{"note": "a } in a string", "verdict": "PASS"}', '```json\n{"verdict": "maybe"}\n```\n{"verdict": "PASS"}',
    ],
)  # fmt: skip
def test_a_pass_is_found(raw: str) -> None:
    assert lenient(raw)["verdict"] == "PASS"


@pytest.mark.parametrize(
    "raw",
    ["", "PASS", '{"verdict": "pass"}', '{"verdict": ["PASS"]}', '{"verdict": "PASS"', '{"eligible": true}', "[]"],
)
def test_nothing_is_guessed(raw: str) -> None:
    with pytest.raises(JudgeError):
        lenient(raw)


@pytest.mark.parametrize(
    "raw", ["{" * 150_000, "[" * 150_000, "x" * 300_000, '{"a":' * 40_000, f'{{"verdict": "PASS", "a": {"1" * 5_000}}}']
)
def test_a_hostile_reply_is_given_up(raw: str) -> None:
    with pytest.raises(JudgeError):
        lenient(raw)


@pytest.mark.parametrize("read", [strict, lenient])
@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[("1" * 30, "1" * 30), ("-9223372036854775809", "-9223372036854775809"), ("18446744073709551615", 2**64 - 1)],
        *[("1e999", math.inf), ("-0", 0), ("-0.0", -0.0), ("1E5", 100000.0), ('"\\ud800"', "?"), ('"\ud800"', "?")],
        *[('"\\ud83d\\ude00"', "\U0001f600"), ('{"a\\u003a": 1}', {"a:": 1}), ('["\\u0000", ":"]', ["\x00", ":"])],
    ],
)
def test_a_value_that_only_one_json_reader_accepts_is_read(read: Any, written: str, value: Any) -> None:
    reply = read(f'{{"verdict": "PASS", "value": {written}}}')
    assert reply == {"verdict": "PASS", "value": value}
    assert type(reply["value"]) is type(value)


@pytest.mark.parametrize(
    "raw", ['{"verdict": "PASS", "a": {"b": 1, "b\\u0020": 1, "b": 2}}', '{"verdict": "PASS", "a": NaN}']
)
def test_a_strict_reply_repeats_no_key_and_holds_no_other_number(raw: str) -> None:
    with pytest.raises(JudgeError):
        strict(raw)


@pytest.mark.parametrize(
    ("before", "after"), [("<!-- a draft:", "no more -->"), ("~~", "~~"), ("~~At first:", " I said~~")]
)
def test_a_verdict_in_a_comment_or_struck_through_is_not_one(before: str, after: str) -> None:
    with pytest.raises(JudgeError, match="part of something else"):
        strict(f'{before} {{"verdict": "PASS"}} {after}')
    assert strict(f'{before} {after} {{"verdict": "PASS"}}')["verdict"] == "PASS"


def test_two_tildes_strike_nothing_through_beyond_their_paragraph() -> None:
    assert strict('A wait of ~~5 minutes.\n\n{"verdict": "PASS"}')["verdict"] == "PASS"


DRAFT = 'It may FAIL: {"verdict": "FAIL"}.'


def test_the_drafts_of_a_reasoning_model_before_its_reply_are_not_verdicts() -> None:
    reply = '```json\n{"verdict": "PASS"}\n```'
    assert strict(f"\n<think>{DRAFT}</think>\n\n{reply}")["verdict"] == "PASS"


@pytest.mark.parametrize(
    "raw",
    [
        f'<think>{DRAFT} They wrote </think>{{"verdict": "PASS"}}. It is not so.</think>',
        f'<think>{DRAFT} They wrote </think>{{"verdict": "PASS"}}. </think>{{"verdict": "PASS"}}',
        f'<think><think>{DRAFT}</think>{{"verdict": "PASS"}}',
        f'{DRAFT}</think>{{"verdict": "PASS"}}',
        f'<think>{DRAFT}',
    ],
)  # fmt: skip
def test_reasoning_that_may_end_in_a_quotation_is_not_distinguished_from_the_reply(raw: str) -> None:
    with pytest.raises(JudgeError):
        strict(raw)


@pytest.mark.parametrize("key", ["final_verdict", "ver\u0434ict", "Verdict"])
def test_a_second_verdict_is_found_at_any_depth(key: str) -> None:
    with pytest.raises(JudgeError, match="two verdicts"):
        strict(json.dumps({"verdict": "PASS", "evidence": [{"quote": "x", "more": [{key: ["FAIL"]}]}]}))
    assert strict(json.dumps({"verdict": "PASS", "evidence": [{"quote": {"FAIL": key}, "more": [{key: ["PASS"]}]}]}))


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ('{"verdict": "PASS", "confidence": 0,8}', "it stops being JSON at `8}`"),
        ('{"verdict": "PASS",\u00a0"evidence": []}', 'it stops being JSON at `\\xa0"evidence": []}`'),
        ('{"rationale"： "理由", "verdict": "PASS"}', 'it stops being JSON at `： "理由", "verdict": "…`'),
        ('{"rationale": "eine\nZeile", "verdict": "PASS"}', "it stops being JSON at `\\nZeile"),
        ('{"verdict": "PASS", "rationale": "Er sa', "it ends inside the object"),
        ('{"verdict": "PASS", "evidence": [\n', "it ends inside the object"),
    ],
)
def test_a_reply_that_is_not_json_is_reported_with_the_place(raw: str, why: str) -> None:
    with pytest.raises(JudgeError, match=re.escape(f"no JSON object that can be read: {why}")):
        strict(raw)


def test_the_lenient_reading_ends_after_a_bounded_number_of_braces(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = '{"verdict": "PASS"}'
    assert lenient("{" * 20 + reply) == {"verdict": "PASS"}
    monkeypatch.setattr("rulewright_runtime.judging.replies.MAX_STEPS", 1_000)
    assert lenient("{" * 5 + reply) == {"verdict": "PASS"}
    with pytest.raises(JudgeError, match="no object with a verdict"):
        lenient("{" * 20 + reply)


USUAL = (
    '{"eligible": true, "verdict": "FAIL", "evidence": [{"role": "user", "turn": 1, "quote": "a: b", '
    '"rationale": null}, {"role": "user", "turn": 2, "quote": "caf\u00e9"}], "rationale_code": "rude", '
    '"confidence": 0.5}'
)
CHANGES = [
    *[("", " "), ("", "```"), ("", "\ufeff"), ("}", ",}"), ("a:", "a\\u003a"), ("a:", "```"), (" b", ",]")],
    *[('"verdict"', '"verdict": 1, "verdict"'), ('"turn"', '"turn": 2, "turn"'), ("null", '"a: b"'), ("b", "\ud800")],
    *[("2", "2.0"), ("2", '"2"'), ("2", "1" * 30), ("2", "-1"), ("2", "true"), ("null", "3"), ("0.5", "1e999")],
    *[('"rude"', "null"), ('"rude"', "3"), ('"rude"', '"Pass."'), ("rude", "fail"), ("true", "null")],
    *[('"rationale": null', '"verdict": "PASS"'), ('"confidence": 0.5', '"decision": "PASS"'), ('"FAIL"', '"fail"')],
    *[('"eligible"', '"rationale": "PASS", "eligible"')],
]


def outcome_of(reading: Callable[[Any], Iterable[Any]], reply: Callable[[], Any]) -> Any:
    """What a reading of a reply says, or the kind of its error."""
    try:
        found = reply()
        return found["verdict"], found.get("rationale_code"), [*map(list, reading(found))]
    except (JudgeError, ValueError, TypeError, AttributeError) as error:
        return type(error)


def quoted_alone(reply: Any) -> list[Any]:
    """The reading of a lenient reply as the only one."""
    return [quoted(reply)]


def test_a_usual_reply_is_read_as_any_other() -> None:
    strictly, leniently = (Judging((), "", WholeWindow(), 1, reading=each) for each in ("strict", "lenient"))
    for changes in ((), *combinations(CHANGES, 1), *combinations(CHANGES, 2)):
        raw = reduce(lambda text, change: text.replace(*change, 1), changes, USUAL)
        for reading, used, plain in ((tolerant, strictly, strict), (quoted_alone, leniently, lenient)):
            assert outcome_of(reading, partial(read, raw, used)) == outcome_of(reading, partial(plain, raw)), changes
