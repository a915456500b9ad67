"""JSON in which an object holds a key twice is refused, however it is written; all else decodes as before."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

from rulewright_runtime import strict_json

DOUBLED = {
    "at the top": ('{"a": 1, "a": 2}', "a"),
    "below": ('{"x": {"a": 1, "b": [{"c": 1, "c": 1}]}}', "c"),
    "in a list": ('[1, {"b": 1, "a": 1, "b": 2}]', "b"),
    "written as an escape": ('{"a": 1, "\\u0061": 2}', "a"),
    "beside a colon that is an escape": ('{"a": 1, "a": "\\u003a"}', "a"),
    "with colons in the one that is lost": ('{"a": "::", "a": "x"}', "a"),
    "with an empty name": ('{"": 1, "": 2}', ""),
    "with blanks before the colon": ('{"a" : 1, "a" : "b"}', "a"),
}


@pytest.mark.parametrize("lines", [True, False])
@pytest.mark.parametrize(("text", "key"), DOUBLED.values(), ids=DOUBLED)
def test_a_doubled_key_is_refused_and_named(text: str, key: str, lines: bool) -> None:
    data = text.replace(" ", "\n") if lines else text
    ways: list[Any] = [strict_json.decode, strict_json.Decoder(object).decode]
    for decode in ways:
        with pytest.raises(strict_json.DoubledKeyError, match=f"duplicate key `{key}`") as raised:
            decode(data.encode())
        assert raised.value.key == key
        with pytest.raises(msgspec.DecodeError):
            decode(data)


def test_a_key_that_the_type_leaves_out_may_not_be_doubled_either() -> None:
    class Part(msgspec.Struct):
        a: int = 0

    assert strict_json.decode(b'{"a": 1, "b": {"c": 1}}', type=Part) == Part(1)
    with pytest.raises(strict_json.DoubledKeyError):
        strict_json.decode(b'{"a": 1, "b": {"c": 1, "c": 2}}', type=Part)


class _Known(msgspec.Struct):
    a: str
    b: str | None = None
    c: strict_json.Json = None


def test_a_struct_that_counts_its_defaults_refuses_the_same() -> None:
    quick = strict_json.Decoder(_Known, defaulted=lambda each: (each.b is None) + (each.c is None))
    slow = strict_json.Decoder(_Known)
    chance = random.Random(12)
    refused = 0
    for _ in range(2000):
        names = chance.choices(["a", "b", "c", "d", "\\u0061"], k=chance.randrange(1, 5))
        texts = ["null", '":"', '"\\u003a"', '{"e": 1}', '{"e": 1, "e": ":"}']
        data = ("{" + ", ".join(f'"{name}": {chance.choice(texts)}' for name in names) + "}").encode()
        outcomes: list[object] = []
        for decode in (slow.decode, quick.decode, quick.decode_lines):
            try:
                found = decode(data)
                outcomes.append(found if isinstance(found, _Known) else found[0])
            except msgspec.MsgspecError as error:
                outcomes.append(type(error))
        assert outcomes == outcomes[:1] * 3
        refused += outcomes[0] is strict_json.DoubledKeyError
    assert refused > 100


def anything(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(7 if depth < 4 else 4)
    if kind < 4:
        return (None, chance.random(), 10 ** chance.randrange(30), "".join(chance.choices(':"\\ é\n', k=4)))[kind]
    if kind == 4:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {f"{at}{chance.choice(':é ')}": anything(chance, depth + 1) for at in range(chance.randrange(4))}


def test_whatever_holds_no_key_twice_decodes_as_before() -> None:
    chance = random.Random(11)
    for _ in range(500):
        data = json.dumps(
            anything(chance), ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1])
        ).encode()
        assert strict_json.decode(data) == msgspec.json.decode(data)


@pytest.mark.parametrize("data", [b"", b"{", b'{"a" 1}', b'{"a": \xff}', b'{"a": NaN}', b"[" * 100_000])
def test_what_is_no_json_is_refused_as_msgspec_refuses_it(data: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError, RecursionError)):
        strict_json.decode(data)
