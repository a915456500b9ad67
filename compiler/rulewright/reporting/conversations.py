"""The conversations of a run, read again from where the scan read them or from given paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from rulewright.errors import UsageError
from rulewright.reporting.stored_run import StoredRun
from rulewright_runtime.errors import InputError
from rulewright_runtime.runs.folder import LOG
from rulewright_runtime.runs.log import conversation_digest
from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader


def conversations(run: StoredRun, paths: Sequence[str] = ()) -> dict[str, Transcript]:
    """Return the conversations of the run by their ids. Raises UsageError as `Conversations` does."""
    reader = Conversations(run.folder, paths)
    found = {name: reader.of(name, step.path, step.said) for name, step in run.steps.items()}
    return {name: each for name, each in found.items() if each is not None}


class Conversations:
    """The conversations of a run one after the other, in the order of its files; one file is open at a time."""

    def __init__(self, folder: Path, paths: Sequence[str] = ()) -> None:
        """`folder` is the run's; `paths` hold conversations that have moved since, which are kept in memory. Raises
        UsageError for a refused one."""
        self._columns = _columns_of(folder)
        self._given: dict[str, Transcript] = {}
        for item in (each for path in paths for each in Reader(columns=self._columns).read([path])):
            if isinstance(item, InputError):
                raise UsageError(str(item))
            self._given.setdefault(item.id, item)
        self._path = ""
        self._items: Iterator[Transcript | InputError] = iter(())

    def of(self, name: str, path: str, said: str) -> Transcript | None:
        """Return the conversation with the fingerprint `said`, from the given paths or the file at `path`; None if it
        is gone or has changed since."""
        given = self._given.get(name)
        found = given if given is not None and conversation_digest(given) == said else self._next(name, path)
        return found if found is not None and said and conversation_digest(found) == said else None

    def _next(self, name: str, path: str) -> Transcript | None:
        if not path:
            return None
        if path != self._path:
            self._path, self._items = path, Reader(columns=self._columns).read([path])
        for item in self._items:
            if isinstance(item, Transcript) and item.id == name:
                return item
        self._path = ""  # read it again for the next one
        return None


def _columns_of(folder: Path) -> dict[str, str] | None:
    """The mapping of columns that the scan of the run used."""
    try:
        with (folder / LOG).open("rb") as lines:
            header = msgspec.json.decode(next(lines, b"{}"), type=JsonObject)
        settings = msgspec.json.decode(str(header.get("settings")), type=list[Json])
        columns = next((each for each in settings[3:] if isinstance(each, dict)), None)
        return msgspec.convert(columns, dict[str, str] | None)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
