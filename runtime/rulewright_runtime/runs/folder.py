"""The folder of a run: which files it holds in which state, and the steps from one state to the next.

    under way   `inputs.jsonl.part`, and beside it the other files as they grow, each with `.part` behind its name
    ending      `inputs.jsonl`, and parts that are complete but have not got their names yet
    finished    `inputs.jsonl` and `summary.json`, no parts

Every step can be repeated: whoever opens the folder after a kill first ends what was being ended.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from rulewright_runtime.files import sync_folder, write_synced, write_whole
from rulewright_runtime.locks import held_folder
from rulewright_runtime.runs.manifest import NAME as MANIFEST
from rulewright_runtime.runs.manifest import manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import AbstractContextManager

    from rulewright_runtime.plan.scan import Plan

LOG: Final = "inputs.jsonl"
SUMMARY: Final = "summary.json"
ROWS: Final = ("verdicts.jsonl", "scores.jsonl")
REPLIES: Final = "replies.jsonl"
# The summary comes last, and goes first: whoever finds it can trust what stands beside it.
FILES: Final = (LOG, "plan.json", *ROWS, REPLIES, "summary.md")
NAMES: Final = (*FILES, MANIFEST, SUMMARY)
MADE_FROM_THEM: Final = (
    "report.html", "report-pages", "verdicts.parquet", "scores.parquet", "events.otlp.jsonl", "every-eval-ever",
)  # fmt: skip
PREVIOUS: Final = "previous"
_EARLIER: Final = "progress.jsonl"  # the log of versions before 0.2


class RunFolder:
    """A run's files by name."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The folder at `path`, which is made when it is locked."""
        self.path = os.fspath(path)

    def at(self, name: str) -> str:
        """The path of a finished file."""
        return os.path.join(self.path, name)

    def part(self, name: str) -> str:
        """The path of a file that grows."""
        return os.path.join(self.path, f"{name}.part")

    def locked(self) -> AbstractContextManager[None]:
        """Keep every other writer out. Raises BusyError and OSError."""
        return held_folder(self.path)

    @property
    def is_finished(self) -> bool:
        """Whether all files have their names."""
        return self._has(LOG) and self._has(SUMMARY)

    @property
    def log(self) -> str | None:
        """The path of the run's log, under way or not; None where there is no run, or one of an earlier version."""
        return self._either(LOG)

    @property
    def replies(self) -> str | None:
        """The path of what the judge answered, under way or not; None where there is none."""
        return self._either(REPLIES)

    @property
    def is_of_an_earlier_version(self) -> bool:
        """Whether a version before 0.2 was killed here."""
        return self._has(_EARLIER)

    def recover(self) -> None:
        """End what a `commit` began before it was killed."""
        if self._has(LOG):
            self._name_parts()

    def clear(self, *, keep_replies: bool = False) -> None:
        """Make room for a new run: drop what a killed one left, but for what its judge said where that is to be kept;
        put a finished one with all that belongs to it into the folder `previous`."""
        dropped = [self.part(name) for name in NAMES if not (keep_replies and name == REPLIES)]
        left = [path for path in (*dropped, self.at(_EARLIER)) if os.path.exists(path)]
        for path in left:
            os.remove(path)
        made = MADE_FROM_THEM if self._has(LOG) or self._has(SUMMARY) else ()
        old = [name for name in dict.fromkeys((SUMMARY, *made, *NAMES)) if self._has(name)]
        if SUMMARY in old:
            self._drop_previous()
        previous = RunFolder(self.at(PREVIOUS))
        if old or os.path.exists(previous.part(SUMMARY)):
            self._move(old, previous)
        if old or left:
            sync_folder(self.path)

    def _move(self, names: Iterable[str], previous: RunFolder) -> None:
        os.makedirs(previous.path, exist_ok=True)
        for name in names:
            os.replace(self.at(name), previous.part(name) if name == SUMMARY else previous.at(name))
        with suppress(FileNotFoundError):
            os.replace(previous.part(SUMMARY), previous.at(SUMMARY))
        sync_folder(previous.path)

    def reopen(self) -> None:
        """Let a run grow on, also one that is finished."""
        for name in (SUMMARY, MANIFEST, "summary.md", *MADE_FROM_THEM):
            remove(self.at(name))
        for name in (LOG, *ROWS, REPLIES):
            if self._has(name):
                os.replace(self.at(name), self.part(name))
        sync_folder(self.path)

    def commit(self, plan: Plan, last: Mapping[str, bytes]) -> None:
        """End the run: write the `last` files, then give every part its name. The other parts must be on the disk."""
        for name, data in last.items():
            write_synced(self.part(name), data)
        parts = {name: self.part(name) for name in (*FILES, SUMMARY)}
        made = manifest(plan, {name: path for name, path in parts.items() if os.path.exists(path)})
        write_synced(self.part(MANIFEST), made.encoded())
        sync_folder(self.path)
        os.replace(self.part(LOG), self.at(LOG))  # from here on the run is complete
        self._name_parts()

    def _name_parts(self) -> None:
        for name in NAMES:
            if os.path.exists(self.part(name)):
                if name == SUMMARY:
                    sync_folder(self.path)
                os.replace(self.part(name), self.at(name))
        sync_folder(self.path)
        self._drop_previous()

    def _drop_previous(self) -> None:
        previous = RunFolder(self.at(PREVIOUS))
        for name in (SUMMARY, *MADE_FROM_THEM, *NAMES):
            remove(previous.at(name))
        remove(previous.part(SUMMARY))
        with suppress(OSError):  # somebody else's files may lie there
            os.rmdir(previous.path)

    def _either(self, name: str) -> str | None:
        return next((path for path in (self.part(name), self.at(name)) if os.path.exists(path)), None)

    def _has(self, name: str) -> bool:
        return os.path.exists(self.at(name))


def write_manifest(folder: str | os.PathLike[str], plan: Plan, *more: str) -> str:
    """Write the manifest of a finished run, with `more` files of it; the value is its path. Raises OSError."""
    run = RunFolder(folder)
    names = {name: run.at(name) for name in (*FILES, *more, SUMMARY)}
    made = manifest(plan, {name: path for name, path in names.items() if os.path.exists(path)})
    write_whole(run.at(MANIFEST), made.encoded())
    return run.at(MANIFEST)


def remove(path: str) -> None:
    """Remove a file, or a folder with all that is in it, where there is one."""
    if os.path.isdir(path) and not os.path.islink(path):
        from shutil import rmtree  # which loads every kind of archive

        rmtree(path)
        return
    with suppress(FileNotFoundError):
        os.remove(path)
