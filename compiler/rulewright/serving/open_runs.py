"""The runs that the local app shows: found once, read again when they change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from rulewright.errors import UsageError
from rulewright.reporting.adjudication import FOLDER
from rulewright.reporting.chats import Chat, ChatViews
from rulewright.reporting.conversations import Conversations
from rulewright.reporting.gather import gather
from rulewright.reporting.judge_words import JudgeWords
from rulewright.reporting.judged import IndexedRun, JudgedTranscript, open_run
from rulewright.reporting.overview import Overview, overview
from rulewright_runtime.runs.folder import SUMMARY


@dataclass(frozen=True)
class LoadedRun:
    """A run as it stood when it was read; its report is gathered when somebody asks for it."""

    index: IndexedRun
    words: JudgeWords
    chats: ChatViews

    @cached_property
    def report(self) -> dict[str, Any]:
        """What its page shows."""
        return gather(self.index.run.folder)

    @cached_property
    def about(self) -> Overview:
        """What its page says first."""
        return overview(self.report, words=self.words)


@dataclass(slots=True)
class OpenRun:
    """One run in a folder; where people have decided about it, as it is with their decisions."""

    folder: Path
    transcripts: Sequence[str] = ()
    replies: Sequence[Path] = ()
    _loaded: LoadedRun | None = None
    _version: tuple[str, int] = ("", 0)
    _lock: Lock = field(default_factory=Lock)

    def load(self) -> LoadedRun:
        """The run as it stands now. Raises UsageError where it is gone."""
        with self._lock:
            decided = self.folder / FOLDER
            folder = decided if (decided / SUMMARY).is_file() else self.folder
            version = (str(folder), _changed(folder))
            if self._loaded is None or self._version != version:
                self._loaded, self._version = self._read(folder), version
            return self._loaded

    def _read(self, folder: Path) -> LoadedRun:
        run = open_run(folder)
        words = JudgeWords(open_run(self.folder), self.replies)
        return LoadedRun(IndexedRun(run), words, ChatViews(run, words))

    def chat(self, loaded: LoadedRun, number: int) -> Chat:
        """One transcript with its verdicts."""
        judged = loaded.index.judged(number)
        return loaded.chats.view(number, judged, self.conversation(judged))

    def conversation(self, judged: JudgedTranscript) -> Any:
        """What was said, None where that is gone."""
        return Conversations(self.transcripts).of(judged)


def _changed(folder: Path) -> int:
    try:
        return (folder / SUMMARY).stat().st_mtime_ns
    except OSError:
        raise UsageError(f"`{folder}` holds no finished run any more") from None


def open_runs(paths: Sequence[str], transcripts: Sequence[str], replies: Sequence[Path]) -> list[OpenRun]:
    """The runs in the paths: folders of runs, and folders that hold some. Raises UsageError where there is none."""
    folders = [folder for path in paths for folder in _found(Path(path))]
    return [OpenRun(folder, transcripts, replies) for folder in dict.fromkeys(folders)]


def _found(path: Path) -> Iterator[Path]:
    if (path / SUMMARY).is_file():
        yield path
        return
    inside = sorted(each for each in path.iterdir() if (each / SUMMARY).is_file()) if path.is_dir() else []
    if not inside:
        raise UsageError(f"`{path}` holds no finished run")
    yield from inside
