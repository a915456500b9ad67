"""Which tools the chats beside a project call, and with which arguments: what its checks most likely speak of."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.transcript_reader import Reader

PLACES: Final = ("chats", "transcripts")
MOST: Final = 200  # chats; the first ones show how tools and arguments are spelt
SUFFIXES: Final = (".jsonl", ".json", ".ndjson")


def recorded_calls(root: Path) -> dict[str, frozenset[str]]:
    """The tools that chats in the folders `chats` and `transcripts` call, each with the names of its arguments."""
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for read in islice(Reader(unique=False).read(_chats_below(root)), MOST):
        messages = () if isinstance(read, InputError) else read.conversation.messages
        for call in (call for message in messages for call in message.tool_calls):
            calls[call.name].update(call.arguments if isinstance(call.arguments, dict) else ())
    return {name: frozenset(arguments) for name, arguments in calls.items()}


def _chats_below(root: Path) -> list[Path]:
    """The first files of chats, which the answer depends on."""
    folders = [root / name for name in PLACES if dependencies.is_folder(root / name)]
    named = [folder / name for folder in folders for name, _ in dependencies.names_in(folder)]
    found = [path for path in named if path.suffix in SUFFIXES and dependencies.is_file(path)][:MOST]
    for path in found:
        dependencies.note_content(path, None)
    return found
