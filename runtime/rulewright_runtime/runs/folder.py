"""The folder of a run: its files in each state, and the steps from one state to the next.

    running     `inputs.jsonl.part` and the other growing files, each with the suffix `.part`
    ending      `inputs.jsonl`, and complete parts that are not renamed yet
    finished    `inputs.jsonl` and `summary.json`, no parts

Every step can be repeated: opening the folder after a kill first completes an interrupted commit.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Final

import msgspec

import rulewright_runtime
from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256, sha256_of_much
from rulewright_runtime.errors import PlanError
from rulewright_runtime.files.atomic import sync_folder, write_synced, write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.markdown import markdown
from rulewright_runtime.strict_json import JsonObject, indented

MANIFEST: Final = "manifest.json"
FORMAT: Final = "rulewright-run-manifest"
VERSION: Final = 1
_BLOCK: Final = 2**20


class RunFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the run; `rows` counts the lines of JSON lines and the rows of a table."""

    name: str
    bytes: int
    sha256: str
    rows: int | None = None


class Manifest(msgspec.Struct, frozen=True):
    """The plan and files of a run; `run` is its id."""

    run: str
    plan: str
    language: str
    files: tuple[RunFile, ...]
    rulewright: str = rulewright_runtime.__version__
    format: str = FORMAT
    version: int = VERSION

    def encoded(self) -> bytes:
        """The manifest as a file."""
        return indented(self)

    def with_files(self, files: Iterable[RunFile]) -> Manifest:
        """The manifest of the same run with files that were generated from it."""
        by_name = {each.name: each for each in (*self.files, *files)}
        return msgspec.structs.replace(self, files=tuple(by_name.values()))


def manifest(plan: Plan, paths: Mapping[str, str], known: Mapping[str, RunFile]) -> Manifest:
    """The manifest of a run, with those files that exist; `paths` maps their names to paths, and files with a `known`
    entry are not read. Raises OSError."""
    files = tuple(known.get(name) or described(name, path) for name, path in paths.items() if os.path.exists(path))
    content: list[object] = [plan.hash, plan.language, *(each for each in files if each.name != "replies.jsonl")]
    run = sha256(msgspec.json.encode(content)).hexdigest()[:16]
    return Manifest(run, plan.hash, plan.language, files)


def read_manifest(folder: str | os.PathLike[str]) -> Manifest | None:
    """The manifest in a folder; None if it has none. Raises PlanError if it is damaged."""
    path = os.path.join(folder, MANIFEST)
    try:
        with open(path, "rb") as stream:
            return strict_json.decode(stream.read(), type=Manifest)
    except FileNotFoundError:
        return None
    except strict_json.UNDECODED as error:
        raise PlanError(f"`{path}` is damaged ({error}); scan again") from None


class FileContent:
    """The content of a file so far, for its entry in the manifest."""

    def __init__(self) -> None:
        self._size, self._lines, self._digest = 0, 0, sha256_of_much()

    def add(self, data: bytes, *, counts: bool = True) -> None:
        """Add data that follow; lines are counted only with `counts`."""
        self._size += len(data)
        self._lines += data.count(b"\n") if counts else 0
        self._digest.update(data)

    def entry(self, name: str, rows: int | None = None) -> RunFile:
        """The manifest entry of the file; without the number of its `rows`, those of JSON lines are its lines."""
        lines = self._lines if rows is None and name.endswith(".jsonl") else rows
        return RunFile(name, self._size, self._digest.hexdigest(), lines)


def described(name: str, path: str | os.PathLike[str], rows: int | None = None) -> RunFile:
    """The manifest entry of the file at `path`, as `FileContent.entry` gives it. Raises OSError."""
    content = FileContent()
    with open(path, "rb") as stream:
        for block in iter(partial(stream.read, _BLOCK), b""):
            content.add(block, counts=rows is None)
    return content.entry(name, rows)


def refuse_changed(folder: str | os.PathLike[str], manifest: Manifest, names: Collection[str] | None = None) -> None:
    """Raise PlanError if a file of the run, or one of these `names`, is missing, was added or differs from the
    manifest."""
    files = {each.name: each for each in manifest.files}
    for name in files if names is None else names:
        path = os.path.join(folder, name)
        found = described(name, path, rows=0).sha256 if os.path.isfile(path) else None
        if found != (files[name].sha256 if name in files else None):
            raise PlanError(f"`{path}` is not the file that `{MANIFEST}` names; scan again")


LOG: Final = "inputs.jsonl"
SUMMARY: Final = "summary.json"
ROWS: Final = ("verdicts.jsonl", "scores.jsonl")
REPLIES: Final = "replies.jsonl"
# The summary is written last and removed first: if it exists, all other files are complete.
FILES: Final = (LOG, "plan.json", *ROWS, REPLIES, "summary.md")
NAMES: Final = (*FILES, MANIFEST, SUMMARY)
GENERATED: Final = (
    "report.html", "report-pages", "verdicts.parquet", "scores.parquet", "verdicts.csv", "scores.csv",
    "events.otlp.jsonl", "every-eval-ever",
)  # fmt: skip
PREVIOUS: Final = "previous"
DECIDED: Final = "adjudicated"  # a folder in it: the run with people's decisions
DECISIONS: Final = "decisions.jsonl"


class RunFolder:
    """The folder of a run, with its files by name."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The folder at `path`, which is created when it is locked."""
        self.path = os.fspath(path)

    def at(self, name: str) -> str:
        """The path of a finished file."""
        return os.path.join(self.path, name)

    def part(self, name: str) -> str:
        """The path of a growing file."""
        return os.path.join(self.path, f"{name}.part")

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other writers. Raises BusyError and OSError."""
        return lock_folder(self.path)

    @property
    def is_finished(self) -> bool:
        """Whether all files have their final names."""
        return self._has(LOG) and self._has(SUMMARY)

    @property
    def judged_nothing(self) -> bool:
        """Whether the finished run has no transcript, because all inputs were refused. Raises PlanError for a damaged
        manifest."""
        manifest = read_manifest(self.path) if self.is_finished else None
        return manifest is not None and not any(each.rows for each in manifest.files if each.name in ROWS)

    @property
    def log(self) -> str | None:
        """The path of the run's log, finished or not; None if there is none."""
        return self._either(LOG)

    @property
    def replies(self) -> str | None:
        """The path of the judge's replies, finished or not; None if there are none."""
        return self._either(REPLIES)

    def recover(self) -> None:
        """Complete a `commit` that was killed."""
        if self._has(LOG):
            self._name_parts()

    def clear(self, *, keep_replies: bool = False) -> None:
        """Prepare the folder for a new run: remove the parts of a killed one, except its judge's replies if
        `keep_replies`, and move a finished one with all generated files to the folder `previous`."""
        dropped = [self.part(name) for name in NAMES if not (keep_replies and name == REPLIES)]
        left = [path for path in dropped if os.path.exists(path)]
        for path in left:
            os.remove(path)
        generated = GENERATED if self._has(LOG) or self._has(SUMMARY) else ()
        old = [name for name in dict.fromkeys((SUMMARY, *generated, *NAMES)) if self._has(name)]
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
        """Reopen a run, even a finished one, for more inputs."""
        for name in (SUMMARY, MANIFEST, "summary.md", *GENERATED):
            remove(self.at(name))
        for name in (LOG, *ROWS, REPLIES):
            if self._has(name):
                os.replace(self.at(name), self.part(name))
        sync_folder(self.path)

    def commit(self, plan: Plan, last: Mapping[str, bytes], contents: Mapping[str, FileContent]) -> None:
        """Finish the run: write the `last` files, then rename every part. The other parts must be on disk; those with
        known `contents` are not read again."""
        for name, data in last.items():
            write_synced(self.part(name), data)
        known = {name: content.entry(name) for name, content in contents.items()}
        entries = manifest(plan, {name: self.part(name) for name in (*FILES, SUMMARY)}, known)
        write_synced(self.part(MANIFEST), entries.encoded())
        sync_folder(self.path)
        self._name_parts()

    def _name_parts(self) -> None:
        """Give every part its final name; with that of the log, the first, the run is complete."""
        for name in NAMES:
            if os.path.exists(self.part(name)):
                if name == SUMMARY:
                    sync_folder(self.path)
                os.replace(self.part(name), self.at(name))
        sync_folder(self.path)
        self._drop_previous()

    def _drop_previous(self) -> None:
        previous = RunFolder(self.at(PREVIOUS))
        for name in (SUMMARY, *GENERATED, *NAMES):
            remove(previous.at(name))
        remove(previous.part(SUMMARY))
        with suppress(OSError):  # the folder may hold other files
            os.rmdir(previous.path)

    def _either(self, name: str) -> str | None:
        return next((path for path in (self.part(name), self.at(name)) if os.path.exists(path)), None)

    def _has(self, name: str) -> bool:
        return os.path.exists(self.at(name))


def write_manifest(folder: str | os.PathLike[str], plan: Plan, *more: str) -> str:
    """Write the manifest of a finished run, with `more` of its files, and return its path. Raises OSError."""
    run = RunFolder(folder)
    entries = manifest(plan, {name: run.at(name) for name in (*FILES, *more, SUMMARY)}, {})
    write_whole(run.at(MANIFEST), entries.encoded())
    return run.at(MANIFEST)


def write_summary(folder: str | os.PathLike[str], plan: Plan, summary: JsonObject, *more: str) -> tuple[str, ...]:
    """Write what is last: the summary, and the manifest with `more` files. Return the paths. Raises OSError."""
    paths = [os.path.join(folder, name) for name in ("summary.md", SUMMARY)]
    write_whole(paths[0], markdown(summary).encode())
    write_whole(paths[1], indented(summary))
    return (*paths, write_manifest(folder, plan, *more))


def remove(path: str) -> None:
    """Remove a file, or a folder with its content, if it exists."""
    if os.path.isdir(path) and not os.path.islink(path):
        from shutil import rmtree  # `shutil` loads the modules of every archive format

        rmtree(path)
        return
    with suppress(FileNotFoundError):
        os.remove(path)
