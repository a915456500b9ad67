"""The tools and arguments in a project's recorded chats, to which its checks most likely refer."""

from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Final

from rulewright import dependencies
from rulewright_runtime.errors import InputError
from rulewright_runtime.transcripts.transcript_reader import Reader

FOLDERS: Final = ("chats", "transcripts")
MAX_CHATS: Final = 200  # enough to show the spelling of tools and arguments
SUFFIXES: Final = (".jsonl", ".json", ".ndjson")


def recorded_calls(root: Path) -> dict[str, frozenset[str]]:
    """Return the tools called in the folders `chats` and `transcripts`, each with the names of its arguments."""
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for read in islice(Reader(unique=False).read(_chats_below(root)), MAX_CHATS):
        messages = () if isinstance(read, InputError) else read.conversation.messages
        for call in (call for message in messages for call in message.tool_calls):
            calls[call.name].update(call.arguments if isinstance(call.arguments, dict) else ())
    return {name: frozenset(arguments) for name, arguments in calls.items()}


def _chats_below(root: Path) -> list[Path]:
    """The first chat files; they are recorded as dependencies."""
    folders = [root / name for name in FOLDERS if dependencies.is_folder(root / name)]
    candidates = [folder / name for folder in folders for name, _ in dependencies.names_in(folder)]
    chats = [path for path in candidates if path.suffix in SUFFIXES and dependencies.is_file(path)][:MAX_CHATS]
    for path in chats:
        dependencies.note_content(path, None)
    return chats
