"""The files of chats in a folder, and the number of those that are not read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import member_names
from rulewright_runtime.strict_json import Json, JsonMapping
from rulewright_runtime.transcripts.containers import TEXTS, rows, without_compression
from rulewright_runtime.transcripts.slack import is_event
from rulewright_runtime.transcripts.turn_lines import printable

MAX_LINE: Final = 2**20  # bytes; a turn or conversation of more than a mebibyte is a mistake
SHEETS: Final = (".ods", ".xlsx")  # archives of XML
RUN_FILES: Final = {"inputs.jsonl", "plan.json"}  # a folder with these may be a run, which has no chats
HARNESS_FILES: Final = {"header.json", "run_plan.json"}  # a folder with these is a harness run; no chats in them
HARNESS_SUMMARY: Final = "harness.json"  # written when the last conversation has ended
# By the files that an export always holds: what it lists next to the chats; any other file there is read.
EXPORTS: Final[tuple[tuple[Set[str], Set[str]], ...]] = (
    ({"channels.json", "users.json"}, frozenset({  # of Slack: its chats are in the folders of channels
        "channels.json", "users.json", "canvases.json", "dms.json", "file_conversations.json", "groups.json",
        "huddle_transcripts.json", "integration_logs.json", "lists.json", "mpims.json", "org_users.json",
    })),
    ({"conversations.json", "users.json"}, {"users.json", "projects.json", "memories.json"}),  # of Claude
    ({"conversations.json", "user.json"}, {  # of ChatGPT
        "user.json", "message_feedback.json", "model_comparisons.json", "shared_conversations.json",
    }),
)  # fmt: skip
SUFFIXES: Final = (".jsonl", ".ndjson", ".eval", ".csv", ".tsv", ".parquet", ".arrow")
CLOSED: Final = (".bz2", ".xz", ".lzma", ".lz4", ".br", ".7z", ".zip", ".rar")  # compressions that are not read


def chat_files(
    path: str, unread: Counter[str], is_text_chat: Callable[[str], bool], folders: set[str]
) -> Iterator[str | InputError]:
    """Yield the path of a file, or the files of chats below a folder or in a zip archive by suffix, or why one is
    refused.

    A text is read if it `is_text_chat`, and JSON without chats is not read if the folder has other files of chats. The
    files that are not read are added to `unread`, by reason; those whose names begin with a dot, and the files of runs,
    are not counted. `folders` holds those in which files were named before.
    """
    members = [] if os.path.isdir(path) else _members(path)
    if not members and not os.path.isdir(path):
        folder = os.path.dirname(path)
        if folder not in folders:
            folders.add(folder)
            yield from _unfinished_around(folder)
        yield path
        return
    files: list[tuple[str, str | InputError]] = []
    documents: list[str] = []
    others: Counter[str] = Counter()
    for each in members or _below(path):
        file, found = (each.path, each) if isinstance(each, InputError) else (each, _of_chats(each, is_text_chat))
        if found is not None:
            files.append((file, found))
        elif without_compression(file).lower().endswith(".json"):
            documents.append(file)
        elif not os.path.basename(file).startswith("."):
            ending = _ending(file)
            others[f"`{printable(ending)}`" if ending else "without a suffix"] += 1
    has_chats = bool(files)
    for document in documents:
        if _are_all(is_event, document):  # an export of Slack, of a quiet day
            others["`.json` with only events of a channel"] += 1
        elif has_chats and _are_all(lambda row: has_turns(row) is None, document):
            others["`.json` without chats"] += 1
        else:
            files.append((document, document))
    unread.update(others)
    if not files:
        yield _no_chats(path, others)
    yield from (each for _, each in sorted(files, key=lambda pair: pair[0]))


def _no_chats(path: str, others: Counter[str]) -> InputError:
    if path.lower().endswith(SHEETS):
        return InputError("a spreadsheet is not read; save its sheet as `.csv`", printable(path))
    begins = "; a text is one if a line begins with a speaker (name yours with `--columns user=NAME,assistant=NAME`)"
    kind = "folder" if os.path.isdir(path) else "archive"
    hint = begins if {f"`{ending}`" for ending in TEXTS} & others.keys() else ""
    return InputError(f"the {kind} contains no file of chats, such as `*.jsonl`{hint}", printable(path))


def _of_chats(file: str, is_text_chat: Callable[[str], bool]) -> str | InputError | None:
    """The file if its suffix is that of chats, or why it is refused; None for any other file."""
    expanded, ending = without_compression(file).lower(), _ending(file)
    if expanded.endswith(SUFFIXES) or (expanded.endswith(TEXTS) and is_text_chat(file)):
        return file
    if ending in CLOSED and expanded.removesuffix(ending).endswith((*SUFFIXES, ".json")):
        return InputError(f"`{ending}` is not read; expected gzip or zstd", printable(file))
    if file.endswith(".jsonl.part") and "__" in os.path.basename(file):
        return InputError("the conversation is not finished; continue it with `--resume`", printable(file))
    return None


def _ending(file: str) -> str:
    return os.path.splitext(os.path.basename(file).lower())[1]


def _below(path: str) -> Iterator[str | InputError]:
    """Yield the files below a folder, except those of runs, and why a folder can't be read or lacks conversations."""
    unreadable: list[OSError] = []
    yield from _unfinished_around(path)
    visited: set[str] = set()
    for folder, folders, names in os.walk(path, onerror=unreadable.append, followlinks=True):
        folders.sort()
        real = os.path.realpath(folder)
        if real in visited:
            folders.clear()
            continue
        visited.add(real)
        if set(names) >= RUN_FILES and _is_run(folder):
            folders.clear()
            continue
        own = {*HARNESS_FILES, HARNESS_SUMMARY} if set(names) >= HARNESS_FILES else set()
        if own and HARNESS_SUMMARY not in names:
            yield _unfinished(folder)
        yield from (os.path.join(folder, name) for name in _beside(own, names))
    for error in unreadable:
        where = printable(os.fspath(error.filename or path))
        yield InputError(f"the folder can't be read: {reason_of(error)}", where)


def _members(path: str) -> list[str | InputError]:
    """The paths of the files in a zip archive, folder by folder, and why one is refused; none for a log of Inspect and
    for any other file."""
    by_folder: dict[str, list[str]] = {}
    refused: list[str | InputError] = []
    for name, count in Counter(member_names(path)).items():
        folder, _, file = name.rpartition("/")
        if count > 1:
            refused.append(InputError(f"the archive contains `{printable(name)}` {count} times", printable(path)))
        elif name.startswith("/") or ".." in name.split("/"):
            refused.append(InputError(f"the archive names `{printable(name)}`, outside of it", printable(path)))
        else:
            by_folder.setdefault(folder, []).append(file)
    is_log = "_journal" in by_folder or "header.json" in by_folder.get("", ())
    if is_log or _ending(path) == ".eval":
        return []
    found = [(folder, name) for folder, names in by_folder.items() for name in _beside(set(), names)]
    return [*(os.path.join(path, folder, name) for folder, name in found), *refused]


def _beside(own: set[str], names: Sequence[str]) -> list[str]:
    """The files of a folder that are neither a tool's `own` nor listed in an export next to its chats."""
    lists = (lists for mark, lists in EXPORTS if mark <= set(names))
    return sorted(set(names).difference(own, *lists))


def _unfinished_around(folder: str) -> Iterator[InputError]:
    """Yield a refusal if the folder holds the transcripts of a harness run that has not ended."""
    around = os.path.dirname(os.path.realpath(folder))
    beside = {name for name in (*HARNESS_FILES, HARNESS_SUMMARY) if os.path.exists(os.path.join(around, name))}
    if beside == HARNESS_FILES:
        yield _unfinished(around)


def _unfinished(folder: str) -> InputError:
    return InputError("the harness run is not finished; continue it with `--resume`", printable(folder))


def _is_run(folder: str) -> bool:
    """Whether a run was written into the folder: chats may have files of the same names."""
    try:
        with open(os.path.join(folder, "inputs.jsonl"), "rb") as stream:
            return b'"format":"rulewright-run"' in stream.readline(MAX_LINE)
    except OSError:
        return False


def _are_all(holds: Callable[[JsonMapping], bool], path: str) -> bool:
    """Whether a file holds records, and each of them `holds`; False if one can't be read."""
    found = False
    try:
        for _, row in rows(path, printable(path), MAX_LINE):
            if isinstance(row, InputError) or not holds(row):
                return False
            found = True
    except OSError:
        return False
    return found


def has_turns(record: Json) -> bool | None:
    """Whether a record has turns (True) or another known format (False); None for an unknown format."""
    from rulewright_runtime.transcripts.readers import format_of, is_turns

    return True if is_turns(record) else None if format_of(record) is None else False
