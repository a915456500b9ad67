"""The runs of the local app: located once, read again when they change."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from rulewright.errors import UsageError
from rulewright.reporting.chat_page import Chat, ChatViews
from rulewright.reporting.formats import result_of
from rulewright.reporting.judge_answers import JudgeAnswers
from rulewright.reporting.overview import Overview, overview
from rulewright.reporting.page_data import page_data
from rulewright.reporting.stored_run import Conversations, IndexedRun, JudgedTranscript, open_run
from rulewright_runtime.runs.folder import DECIDED, NAMES, SUMMARY


@dataclass(frozen=True)
class LoadedRun:
    """A run as of its last reading; its report is gathered on demand."""

    index: IndexedRun
    answers: JudgeAnswers
    chats: ChatViews

    @cached_property
    def report(self) -> dict[str, Any]:
        """The data of its page."""
        return page_data(self.index.run)

    @cached_property
    def about(self) -> Overview:
        """The overview at the top of its page."""
        return overview(self.report, result_of(self.index.run), self.answers)


@dataclass(slots=True)
class OpenRun:
    """One run in a folder, with people's decisions applied, if there are any."""

    folder: Path
    transcripts: Sequence[str]
    replies: Sequence[Path]
    _loaded: LoadedRun | None = None
    _version: tuple[object, ...] = ()
    _lock: Lock = field(default_factory=Lock)

    def load(self) -> LoadedRun:
        """Return the present run. Raises UsageError where it is gone."""
        with self._lock:
            adjudicated = self.folder / DECIDED
            folder = adjudicated if (adjudicated / SUMMARY).is_file() else self.folder
            version = (str(folder), _states(folder), _states(self.folder))
            if self._loaded is None or self._version != version:
                self._loaded, self._version = self._read(folder), version
            return self._loaded

    def _read(self, folder: Path) -> LoadedRun:
        run = open_run(folder)
        answers = JudgeAnswers(open_run(self.folder), self.replies)
        return LoadedRun(IndexedRun(run), answers, ChatViews(run, answers))

    def chat(self, loaded: LoadedRun, number: int) -> Chat:
        """Return one transcript with its verdicts."""
        judged = loaded.index.judged(number)
        return loaded.chats.view(number, judged, self.conversation(judged))

    def conversation(self, judged: JudgedTranscript) -> Any:
        """Return the conversation, or None where its file is gone."""
        return Conversations(self.load().index.run, self.transcripts).of(judged.id, judged.path, judged.conversation)


def _states(folder: Path) -> tuple[tuple[int, ...] | None, ...]:
    """Return what changes with each file of a run: pages read rows when they are shown, and a file that was edited
    since must be compared with the manifest again. Raises UsageError where the run is gone."""
    states = tuple(_state(folder / name) for name in NAMES)
    if states[NAMES.index(SUMMARY)] is None:
        raise UsageError(f"`{folder}` no longer contains a finished run")
    return states


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino


@dataclass(slots=True)
class OpenRuns:
    """The runs in folders of runs and folders that contain runs. A run keeps its number while others are added."""

    paths: Sequence[str]
    transcripts: Sequence[str] = ()
    replies: Sequence[Path] = ()
    _found: dict[Path, OpenRun] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Raise UsageError for a path without a run."""
        for path in self.paths:
            if not Path(path).exists():
                raise UsageError(f"folder not found: `{path}`; name a run, or a folder that contains runs")
            if not _run_folders(Path(path)):
                raise UsageError(f"`{path}` contains no finished run; `rulewright scan` writes one")
        self.present()

    def present(self) -> list[OpenRun]:
        """Return the runs found so far, and then those that were finished since."""
        with self._lock:
            for folder in (each for path in self.paths for each in _run_folders(Path(path))):
                if folder not in self._found:
                    self._found[folder] = OpenRun(folder, self.transcripts, self.replies)
            return list(self._found.values())

    def at(self, number: int) -> OpenRun | None:
        """Return the run with a number that `present` gave it, counted from 1."""
        with self._lock:
            return next(islice(self._found.values(), number - 1, None), None) if number > 0 else None


def _run_folders(path: Path) -> list[Path]:
    if (path / SUMMARY).is_file():
        return [path]
    folders = path.iterdir() if path.is_dir() else ()
    return sorted(each for each in folders if (each / SUMMARY).is_file() and not each.name.startswith("."))
