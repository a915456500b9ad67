"""The conversations of a run, read again from where the scan read them or from given paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from rulewright.errors import UsageError
from rulewright_runtime.errors import InputError
from rulewright_runtime.runs.folder import LOG
from rulewright_runtime.runs.log import conversation_digest
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.reporting.judged import JudgedTranscript
    from rulewright.reporting.stored_run import StoredRun


def conversations(run: StoredRun, paths: Sequence[str] = ()) -> dict[str, Transcript]:
    """Return the conversations of the run by their ids: from `paths`, else from where the run read them. A conversation
    that is gone or has changed since is left out. Raises UsageError for a refused transcript in `paths`.
    """
    places = dict.fromkeys(step.path for step in run.steps.values() if step.path)
    columns = columns_of(run.folder)
    found: dict[str, Transcript] = {}
    for item in (*given(paths, columns), *_read(places, columns)):
        if isinstance(item, Transcript) and item.id not in found and _is_unchanged(run, item):
            found[item.id] = item
    return found


def columns_of(folder: Path) -> dict[str, str] | None:
    """Return the mapping of columns that the scan of the run used."""
    try:
        with (folder / LOG).open("rb") as lines:
            header = msgspec.json.decode(next(lines, b"{}"), type=JsonObject)
        settings = msgspec.json.decode(str(header.get("settings")), type=list[Json])
        columns = next((each for each in settings[3:] if isinstance(each, dict)), None)
        return msgspec.convert(columns, dict[str, str] | None)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def given(paths: Sequence[str], columns: dict[str, str] | None = None) -> Iterator[Transcript]:
    """Return the conversations in `paths`. Raises UsageError for a refused one."""
    for path in paths:
        for item in Reader(columns=columns).read([path]):
            if isinstance(item, InputError):
                raise UsageError(str(item))
            yield item


def _read(places: Iterable[str], columns: dict[str, str] | None) -> Iterator[Transcript | InputError]:
    """Read the paths, each with its own reader, because two of them may hold a transcript with the same id."""
    for place in places:
        yield from Reader(columns=columns).read([place])


def _is_unchanged(run: StoredRun, item: Transcript) -> bool:
    step = run.steps.get(item.id)
    return step is not None and bool(step.said) and step.said == conversation_digest(item)


class Conversations:
    """The conversations of a run one after the other, in the order of its files; one file is open at a time."""

    def __init__(self, paths: Sequence[str] = (), columns: dict[str, str] | None = None) -> None:
        """`paths` hold conversations that have moved since the run; they are kept in memory. Raises UsageError for a
        refused one."""
        self._given = {item.id: item for item in given(paths, columns)}
        self._columns = columns
        self._path = ""
        self._items: Iterator[Transcript | InputError] = iter(())

    def of(self, judged: JudgedTranscript) -> Transcript | None:
        """Return the conversation of a transcript; None if it is gone or has changed since."""
        found = self._given.get(judged.id) or self._next(judged)
        return found if found is not None and judged.said and conversation_digest(found) == judged.said else None

    def _next(self, judged: JudgedTranscript) -> Transcript | None:
        if not judged.path:
            return None
        if judged.path != self._path:
            self._path, self._items = judged.path, Reader(columns=self._columns).read([judged.path])
        for item in self._items:
            if isinstance(item, Transcript) and item.id == judged.id:
                return item
        self._path = ""  # read it again for the next one
        return None
