"""Files of chats broken at random, of every format: what can't be read is refused with its file and a line of it, no
exception leaves the reader, and the files beside it are judged."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Final

import pytest
from tests.rounds import rounds
from tests.runtime.transcripts.formats import ATIF, CLAUDE, SAID

import rulewright
from rulewright_runtime.errors import InputError
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

FILES: Final = rounds(150, 5_000)
SHIPPED: Final = Path(__file__).parent / "runtime" / "transcripts" / "chats"
JUNK: Final = (
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"]",
    b'"',
    b"\\",
    b"\n",
    b",",
    b"null",
    b"1e999",
    b"\xed\xa0\x80",
    b'"role"',
    b"[[[[",
)
TOKEN: Final = re.compile(rb'"[^"\\\n]{1,40}"|-?\d+|[\[\]{}:,]')


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def whole() -> dict[str, bytes]:
    """A good file of each format, by its name."""
    talk = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]
    made = {
        "openai.jsonl": lines(*({"id": f"o{n}", "messages": SAID} for n in range(4))),
        "openai.json": json.dumps([{"messages": SAID}, {"messages": SAID}], indent=1).encode(),
        "sharegpt.jsonl": lines({"id": "s1", "conversations": talk}, {"id": "s2", "conversations": talk}),
        "atif.json": json.dumps(ATIF).encode(),
        "session.jsonl": lines(*CLAUDE),
        "faq.csv": b'question,answer\n"Is it, really?","Yes, ""really""."\nFee?,None.\n',
        "rows.csv": b"conversation,role,content\na,user,Hi\na,assistant,Hello.\nb,user,Fee?\nb,assistant,None.\n",
        "m__late.jsonl": lines({"turn": 1, **SAID[0]}, {"turn": 1, "role": "assistant", "content": "Hello."}),
    }
    return made | {
        path.name: path.read_bytes() for path in sorted(SHIPPED.iterdir()) if path.suffix not in (".md", ".yaml")
    }


def broken(data: bytes, chance: random.Random) -> bytes:
    """The bytes after one to three edits."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.randrange(1, 80))
        match chance.randrange(7):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:end] + data[at:]
            case 3:
                data = data[:at] + chance.choice(JUNK) + data[at:]
            case 4:
                data = data[:at] + bytes(chance.randrange(256) for _ in data[at:end]) + data[end:]
            case 5:
                parts = data.split(b"\n")
                chance.shuffle(parts)
                data = b"\n".join(parts)
            case _:
                tokens = list(TOKEN.finditer(data[:100_000]))
                if tokens:
                    one, other = chance.choice(tokens), chance.choice(tokens)
                    data = data[: one.start()] + other.group() + data[one.end() :]
    return data


def written(folder: Path) -> list[Path]:
    """Broken files of every format in turn, each in a folder of its own."""
    chance, formats = random.Random(20_261_122), list(whole().items())
    made = []
    for number in range(FILES):
        name, data = formats[number % len(formats)]
        path = folder / f"{number:04}" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(broken(data, chance))
        made.append(path)
    return made


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("project")
    (folder / "checks").mkdir()
    (folder / "rulewright.yaml").write_text("project: any\n", encoding="utf-8")
    rules = {
        "brief": "fail: size(answer) > 1000",
        "calm": "each: message\nfail: contains_any(message.text, ['!!!'])",
        "known-tool": "each: tool_call\nfail: tool_call.name == 'drop' or size(tool_call.arguments) > 9",
        "cheap": "pass: usage.cost < 1.0",
    }
    for name, text in rules.items():
        (folder / "checks" / f"{name}.yaml").write_text(f"id: {name}\n{text}\n", encoding="utf-8")
    return rulewright.compile_project(rulewright.load_project(folder))


def test_whole_files_are_read() -> None:
    assert len(whole()) > 15


def test_broken_files_are_located_and_the_rest_of_the_batch_is_judged(plan: Plan, tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    refused = 0
    for path in written(chats):
        count = path.read_bytes().count(b"\n") + path.read_bytes().count(b"\r") + 1
        for found in Reader().read([path]):
            if isinstance(found, Transcript):
                continue
            assert isinstance(found, InputError)
            assert (found.path, bool(found.reason)) == (str(path), True)
            assert 0 <= found.line <= count, found
            assert "Traceback" not in found.reason
            refused += 1
    assert refused > FILES / 5
    for name in ("0000-first", "zzzz-last"):
        (chats / name).mkdir()
        (chats / name / "good.jsonl").write_bytes(lines({"id": name, "messages": SAID}))
    run = rulewright.scan(plan, chats, tmp_path / "run")
    assert run.exit_code == 3
    assert run.summary["refused"]["count"] >= refused
    judged = [row["check_id"] for row in run.records() if row["transcript_id"] in ("0000-first", "zzzz-last")]
    assert sorted(judged) == sorted([check.id for check in plan.checks] * 2)
