"""Broken chats of every format: what is read of them is whole, the rest a located error, and nothing raises."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.folders import write_lines
from tests.rounds import SEED, rounds
from tests.runtime.transcripts import formats as shapes

from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

FILES: Final = rounds(150, 5_000)
GOOD: Final = {"id": "good", "messages": shapes.SAID}
RECORDS: Final[list[list[Any]]] = [
    [{"messages": shapes.WITH_TOOL}], [shapes.SHAREGPT], shapes.CLAUDE, shapes.CODEX, [shapes.ATIF], [shapes.RESPONSE],
    [shapes.OTLP], [shapes.EVENTS], [shapes.LOGGED], [shapes.BATCH],
]  # fmt: skip
TABLES: Final = {
    ".csv": b'id,question,answer\n1,"hi, you",hello\n2,"two\nlines",yes\n3,bye,"""bye"""\n',
    ".tsv": b"chat_id\trole\tcontent\n1\tuser\thi\n1\tassistant\thello\n",
}
MADE: Final = [
    *(
        (path.suffix, path.read_bytes())
        for path in sorted(shapes.CHATS.iterdir())
        if path.suffix not in (".md", ".yaml")
    ),
    *TABLES.items(),
]
ODD: Final[list[Any]] = [None, True, 0, -1, 1.5, 10**30, "", "x", "\u2028", [], {}, [[]], [None], [{}], {"": None}]
ODD_BYTES: Final = (
    b"", b"\0", b"\"", b"{", b"[", b"]", b"}", b",", b"\\", b"\n", b"\xff", b"\xed\xa0\x80", b"1e999", b"PK\x03\x04",
)  # fmt: skip
TOKEN: Final = re.compile(rb'"[^"\\\n]{1,40}"|-?\d+|[\[\]{}:,]')


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a JSON value."""
    yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from places(value[key], (*path, key))


def replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with another at that place; its neighbours are the same."""
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], odd)
    return copy


def with_odd_value(chance: random.Random) -> tuple[str, bytes]:
    records = chance.choice(RECORDS)
    for _ in range(chance.randint(1, 3)):
        records = replaced(records, chance.choice(list(places(records))), chance.choice(ODD))
    indent = chance.choice([None, 1])
    if indent or not isinstance(records, list):
        return "chat.json", json.dumps(records, indent=indent).encode()
    return "chat.jsonl", b"".join(json.dumps(record).encode() + b"\n" for record in records)


def with_broken_bytes(chance: random.Random) -> tuple[str, bytes]:
    """A file of which bytes were replaced, moved or repeated, or lines or tokens exchanged."""
    suffix, data = chance.choice(MADE)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = chance.choice([start, start + 1, start + chance.randrange(200), len(data)])
        match chance.randrange(6):
            case 0:
                data = data[:end] + data[start:]
            case 1:
                lines = data.split(b"\n")
                chance.shuffle(lines)
                data = b"\n".join(lines)
            case 2 if tokens := list(TOKEN.finditer(data[:100_000])):
                one, other = chance.choice(tokens), chance.choice(tokens)
                data = data[: one.start()] + other.group() + data[one.end() :]
            case 3:
                data = data[:start] + chance.randbytes(len(data[start:end])) + data[end:]
            case _:
                data = data[:start] + chance.choice(ODD_BYTES) + data[end:]
    return f"chat{suffix}", data


def test_a_broken_file_is_refused_or_read_and_never_raises(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    (tmp_path / "good.jsonl").write_text(json.dumps(GOOD) + "\n")
    refused = 0
    for number in range(FILES):
        name, data = chance.choice([with_odd_value, with_broken_bytes])(chance)
        path = tmp_path / name
        path.write_bytes(data)
        found = list(Reader().read([path, tmp_path / "good.jsonl"]))
        assert len(found) >= 2, (number, data)
        assert all(isinstance(item, Transcript | InputError) and item.path for item in found), (number, data)
        assert isinstance(found[-1], Transcript), (number, data)
        told = [item for item in found if isinstance(item, InputError)]
        assert all(item.reason and "\n" not in item.reason for item in told), told
        count = data.count(b"\n") + data.count(b"\r") + 1
        assert all(0 <= item.line <= count for item in told), (number, told)
        refused += bool(told)
    assert FILES / 5 < refused < FILES


@pytest.mark.parametrize("key", ["request", "body", "response", "attributes", "results", "messages"])
@pytest.mark.parametrize("depth", [90, 300, 900, 5000])
def test_a_record_that_is_nested_deeply_is_refused(tmp_path: Path, key: str, depth: int) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(f'{{"{key}":' * depth + "[]" + "}" * depth + "\n")
    (found,) = Reader().read([path])
    assert isinstance(found, InputError)
    assert found.line == 1


def test_many_spans_that_repeat_nothing_are_conversations_of_their_own(tmp_path: Path) -> None:
    """Each has the digests of its beginnings: none is compared with each other."""
    spans = [
        {
            "traceId": "t",
            "spanId": str(at),
            "startTimeUnixNano": at,
            "attributes": {"gen_ai.prompt": [from_user(str(at))]},
        }
        for at in range(3_000)
    ]
    path = tmp_path / "spans.jsonl"
    write_lines(path, spans)
    assert sum(isinstance(item, Transcript) for item in Reader().read([path])) == len(spans)


def from_user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
