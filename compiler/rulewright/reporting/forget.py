"""Forgetting: removes one transcript from all files under some folders. Files are recognised by their contents, not by
their names: runs, harness runs, recorded replies, exported calls, questions and their batches, decisions, labels,
exported tables. The remaining run looks as if the transcript had never been read. Files that still name the transcript,
and files that can't be searched, are reported. Every step can be repeated after a kill.
"""

import csv
import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from rulewright.errors import UsageError
from rulewright.reporting.run_reader import plan_of
from rulewright_runtime import strict_json
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.harness.harness_run import forget_conversation
from rulewright_runtime.harness.harness_run import holds_run as holds_harness_run
from rulewright_runtime.judging.exchanges import RecordedExchange, with_ids
from rulewright_runtime.report.text import text_of_cell
from rulewright_runtime.runs.folder import GENERATED, LOG, REPLIES, ROWS, SUMMARY, RunFolder, remove, write_summary
from rulewright_runtime.runs.log import LogStep, read_finished
from rulewright_runtime.runs.run_rows import count, log_of, summary_of
from rulewright_runtime.strict_json import UNDECODED, Json, JsonObject
from rulewright_runtime.transcripts.columnar import columnar_rows
from rulewright_runtime.transcripts.containers import delimiter_of

SKIPPED: Final = frozenset({".git", ".hg", ".rulewright", ".venv", "node_modules", "__pycache__"})
LARGEST: Final = 2**30  # bytes of a file that is looked at
GZIP: Final = b"\x1f\x8b"
ZIP: Final = b"PK\x03\x04"
PARQUET: Final = b"PAR1"
TABLES: Final = {PARQUET: "parquet", b"ARROW1": "arrow"}
LABELS: Final = ("id", "target", "annotator", "split")  # the columns of a file of labels
PACKED: Final = (b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00", b"\x04\x22\x4d\x18")  # zstd, bzip2, xz, lz4
_CURE: Final = "remove the folder"
_BEGUN: Final = (
    ".forgetting"  # holds the transcript's id while a run is rewritten, so that a killed rewriting is completed
)

# What precedes a name that is not part of a longer one, also in JSON: `c7` is named by `\nc7`, and not by `0c7f`.
_BEFORE: Final = rb"(?<![0-9A-Za-z])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})"


@dataclass(slots=True)
class Forgotten:
    """The changed and removed files, and those that still name the transcript."""

    changed: list[Path] = field(default_factory=list)
    naming: list[Path] = field(default_factory=list)
    closed: list[Path] = field(default_factory=list)  # not looked into: compressed otherwise, too large, linked

    @property
    def is_whole(self) -> bool:
        """Whether no remaining file names the transcript or could name it."""
        return not self.naming and not self.closed


def forget(transcript_id: str, folders: Iterable[Path]) -> Forgotten:
    """Remove a transcript from all files under the folders. Raises BusyError if a run is active, PlanError for a
    damaged run, and OSError if a file can't be written."""
    done = Forgotten()
    names = (transcript_id.encode(), json.dumps(transcript_id)[1:-1].encode())
    files, beyond = _files(folders)
    linked = (each for each in beyond if not each.is_file() or _content(each) is None or _names(each, names))
    done.closed = [*linked, *(path for path in files if _content(path) is None)]
    suspects = [path for path in files if _names(path, names)]
    custom_ids = {name for path in suspects for name in _custom_ids(path, transcript_id)}
    # before the runs, which a repetition after a kill would no longer find
    for path in [each for each in files if each not in suspects] if custom_ids else ():
        if _is_lines(path) and _from_file(path, transcript_id, custom_ids):
            done.changed.append(path)
    for run in sorted({path.parent for path in suspects if RunFolder(path.parent).log is not None}):
        done.changed += _from_run(run, transcript_id)
    for run in sorted({path.parent.parent for path in suspects if holds_harness_run(path.parent.parent)}):
        with lock_folder(run):
            done.changed += map(Path, forget_conversation(run, transcript_id))
    for path in suspects:
        if path.is_file() and _from_file(path, transcript_id, custom_ids):
            done.changed.append(path)
    whole = re.compile(rb"(?:%s)(?:%s)(?![0-9A-Za-z])" % (_BEFORE, b"|".join(map(re.escape, names))))
    done.naming = [
        path for path in suspects
        if path.is_file() and (whole.search(_content(path) or b"") or whole.search(os.fsencode(path.name)))
    ]  # fmt: skip
    return done


def _names(path: Path, names: Iterable[bytes]) -> bool:
    """Whether the file's name or content contains one of the names."""
    content = _content(path) or b""
    return any(name in content or name in os.fsencode(path.name) for name in names)


def _files(folders: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The files under the folders, and what is not looked into: unreadable folders, and links to other places."""
    found: dict[str, Path] = {}
    links: list[Path] = []
    walked: set[str] = set()
    unreadable: list[OSError] = []
    for top in folders:
        for place, inside, names in os.walk(top, onerror=unreadable.append):
            walked.add(os.path.realpath(place))
            inside[:] = sorted(set(inside) - SKIPPED)
            for path in (Path(place, name) for name in sorted((*inside, *names))):
                if path.is_symlink():
                    links.append(path)
                elif path.is_file():
                    found.setdefault(os.path.realpath(path), path)
    around = {*found, *walked}
    beyond = [path for path in links if path.exists() and os.path.realpath(path) not in around]
    return list(found.values()), [*(Path(os.fspath(error.filename)) for error in unreadable), *beyond]


def _content(path: Path) -> bytes | None:
    """Return the decompressed content of the file, the rows of a table as JSON; None if it can't be searched."""
    if path.stat().st_size > LARGEST:
        return None
    data = path.read_bytes()
    try:
        if data[:2] == GZIP:
            return gzip.decompress(data)
        if data[:4] == ZIP:
            with zipfile.ZipFile(path) as archive:
                return b"\n".join(each.filename.encode() + b"\n" + archive.read(each) for each in archive.infolist())
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None
    if table := next((kind for magic, kind in TABLES.items() if data.startswith(magic)), None):
        rows = [row for _, row in columnar_rows(str(path), str(path), table)]
        return None if any(isinstance(row, InputError) for row in rows) else json.dumps(rows, default=str).encode()
    return None if data.startswith(PACKED) else data


def _from_run(place: Path, transcript_id: str) -> list[Path]:
    """Rewrite a run, finished or killed, without the transcript. Returns the changed files."""
    folder = RunFolder(place)
    with folder.locked():
        folder.recover()
        finished = folder.is_finished
        at = {name: Path(folder.at(name) if finished else folder.part(name)) for name in (LOG, *ROWS, REPLIES)}
        if not at[LOG].is_file():
            return []
        begun, gone = place / _BEGUN, {transcript_id}
        if begun.is_file():
            gone.add(begun.read_text(encoding="utf-8"))
        log = read_finished(str(at[LOG]), _CURE)
        kept = [step for step in log.steps if step.input not in gone]
        rows = {name: _by_transcript(path) for name, path in at.items() if name != LOG and path.is_file()}
        if len(kept) == len(log.steps) and gone.isdisjoint(chain(*rows.values())) and not begun.is_file():
            return []
        write_whole(begun, transcript_id.encode())
        order = [step.input for step in kept if step.refused is None]
        own = ({name: found.get(one, b"") for name, found in rows.items()} for one in order)
        written = {name: b"".join(rows[name].get(one, b"") for one in order) for name in rows}
        if not any(
            step.replies for step in log.steps
        ):  # answers were written down before they counted, also of what is open
            written[REPLIES] = b"".join(data for one, data in rows.get(REPLIES, {}).items() if one not in gone)
            written = {name: data for name, data in written.items() if name in rows}
        for name, data in {**written, LOG: log_of(log.header, kept, own)}.items():
            write_whole(at[name], data)
        changed = [at[name] for name in (*written, LOG)]
        if finished:
            changed += _summarised(place, kept, rows)
        for name in GENERATED:
            if (place / name).exists():
                remove(str(place / name))
                changed.append(place / name)
        begun.unlink()
    return changed


def _by_transcript(path: Path) -> dict[str, bytes]:
    """Group the lines of a file by transcript; an incomplete line belongs to none."""
    found: dict[str, list[bytes]] = {}
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            name = msgspec.json.decode(line, type=_Whose).transcript_id
        except UNDECODED:
            raise PlanError(f"`{path}` is damaged; {_CURE}") from None
        found.setdefault(name, []).append(line + b"\n")
    return {name: b"".join(lines) for name, lines in found.items()}


class _Whose(msgspec.Struct):
    transcript_id: str


def _summarised(place: Path, kept: list[LogStep], rows: dict[str, dict[str, bytes]]) -> list[Path]:
    before = strict_json.decode((place / SUMMARY).read_bytes(), type=JsonObject)
    plan = plan_of(place)
    summary = summary_of(plan)
    for step in kept:
        count(summary, step, *(rows[name].get(step.input, b"") for name in ROWS))
    gathered = summary.result()
    about = {key: value for key, value in before.items() if key not in gathered}
    if "judge_calls" in about:
        about["judge_calls"] = sum(step.calls for step in kept)
    summary.about = about
    return list(map(Path, write_summary(place, plan, summary.result())))


def _from_file(path: Path, transcript_id: str, custom_ids: set[str]) -> bool:
    """Remove the transcript from a file of replies or lines. Returns whether the file contained it."""
    raw, data = path.read_bytes(), _content(path)
    if data is None:
        return False
    left: bytes | None
    if raw.startswith(PARQUET):
        left = _rows_left(path, transcript_id)
    elif _is_lines(path):
        left = _lines_left(data, transcript_id, custom_ids)
    else:
        left = _labels_left(data, transcript_id) or _replies_left(data, transcript_id)
    if left is None or left == data:
        return False
    write_whole(path, gzip.compress(left, mtime=0) if raw[:2] == GZIP else left)
    return True


def _rows_left(path: Path, transcript_id: str) -> bytes | None:
    """Return an exported table without the transcript's rows; None for a table of another program."""
    from pyarrow import BufferOutputStream, compute, parquet

    table = parquet.read_table(path)
    if "transcript_id" not in table.column_names:
        return None
    kept, out = table.filter(compute.field("transcript_id") != transcript_id), BufferOutputStream()
    if kept.num_rows == table.num_rows:
        return None
    parquet.write_table(kept, out, compression="zstd")
    return bytes(out.getvalue())


def _labels_left(data: bytes, transcript_id: str) -> bytes | None:
    """Return labels (ids `TRANSCRIPT` or `TRANSCRIPT/CHECK`) without those of the transcript; None for other files."""
    try:
        text = data.decode("utf-8-sig")
        separator = delimiter_of(text.partition("\n")[0])
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True, skipinitialspace=True))
    except (UnicodeDecodeError, csv.Error):
        return None
    if not rows or tuple(rows[0][: len(LABELS)]) != LABELS:
        return None
    out = io.StringIO(newline="")
    kept = [
        row for row in rows if not row or transcript_id not in (name := text_of_cell(row[0]), name.rpartition("/")[0])
    ]
    if len(kept) == len(rows):
        return None
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(kept)
    return out.getvalue().encode()


def _is_lines(path: Path) -> bool:
    return ".jsonl" in path.suffixes


def _replies_left(data: bytes, transcript_id: str) -> bytes | None:
    """Return recorded replies without those about the transcript; None for other files."""
    try:
        replies = strict_json.decode(data, type=dict[str, dict[str, list[list[Json]]]])
    except UNDECODED:
        return None
    if replies.pop(transcript_id, None) is None:
        return None
    return msgspec.json.format(msgspec.json.encode(replies), indent=1) + b"\n"


def _lines_left(data: bytes, transcript_id: str, custom_ids: set[str]) -> bytes:
    return b"".join(
        line for line in data.splitlines(keepends=True) if not _is_about(_object(line), transcript_id, custom_ids)
    )


def _is_about(line: JsonObject, transcript_id: str, custom_ids: set[str]) -> bool:
    """Whether a line is about the transcript: a question, a decision, a batch's request or answer, or a call."""
    if line.get("custom_id") in custom_ids:
        return True
    if {"key", "call", "uses"} <= line.keys():
        users = {use.get("transcript_id") for use in line["uses"] if isinstance(use, dict)}
        return users == {transcript_id}
    return line.get("transcript_id") == transcript_id and "check_id" in line


def _custom_ids(path: Path, transcript_id: str) -> Iterator[str]:
    """Return the ids of the questions about the transcript in a file of questions, or of a run's replies."""
    lines = (_content(path) or b"").splitlines() if _is_lines(path) else ()
    about = [found for found in map(_object, lines) if found.get("transcript_id") == transcript_id]
    yield from (found["custom_id"] for found in about if isinstance(found.get("custom_id"), str))
    yield from (name for name, _ in with_ids(filter(None, map(_exchange, about))))


def _exchange(line: JsonObject) -> RecordedExchange | None:
    try:
        return msgspec.convert(line, RecordedExchange)
    except msgspec.ValidationError:
        return None


def _object(line: bytes) -> JsonObject:
    try:
        found = msgspec.json.decode(line)
    except UNDECODED:
        return {}
    return found if isinstance(found, dict) else {}


def summary_lines(done: Forgotten, transcript_id: str) -> Iterator[str]:
    """Return the report as lines. Raises UsageError if no file named the transcript."""
    if done.changed:
        yield f"removed `{transcript_id}` from {plural(len(done.changed), 'file')}:"
        yield from (f"  {path}" for path in done.changed)
    if done.naming:
        number = plural(len(done.naming), "file")
        still = "still name it, among them the chat itself; they are yours to change"
        nothing = f"contain `{transcript_id}`, but no call, run or label is about a transcript of that id"
        yield f"warning: these files {still if done.changed else nothing} ({number}):"
        yield from (f"  {path}" for path in done.naming)
    if done.closed:
        number = plural(len(done.closed), "path")
        why = "of their size or compression, they are links to other places, or `rulewright[data]` is missing"
        yield f"warning: these files were not searched, because {why} ({number}):"
        yield from (f"  {path}" for path in done.closed)
    if not done.changed and done.is_whole:
        raise UsageError(f"unknown transcript `{transcript_id}`")
