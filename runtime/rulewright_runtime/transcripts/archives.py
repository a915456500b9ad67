"""Archives: the samples of an `.eval` log, with members compressed by deflate or zstd, up to a size limit."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from rulewright_runtime.errors import InputError
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.files.zip_members import DAMAGED, MemberError, expanded
from rulewright_runtime.transcripts.containers import Row, decoded
from rulewright_runtime.transcripts.readers.evaluation_tools import missing

_HEADERS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("header.json", {}),
    ("_journal/start.json", {"status": "started"}),
)


def eval_rows(path: str, shown: str) -> Iterator[Row]:
    """Yield the samples in an archive, in the order of their names, each with the log's header. Raises OSError."""
    with open_regular(path) as stream:
        try:
            archive = zipfile.ZipFile(stream)
            listed = archive.infolist()
        except DAMAGED as error:
            yield 0, InputError(f"this is a zip archive that can't be opened: {error}", shown, 1)
            return
        members = {member.filename: member for member in listed}
        samples = sorted(name for name in members if name.startswith("samples/") and name.endswith(".json"))
        for member in listed:
            if members[member.filename] is not member and member.filename in samples:
                yield 0, InputError(f"the archive contains `{member.filename}` twice; the last one is read", shown)
        if not samples:
            foreign = "the archive is not an `.eval` log of Inspect; unpack it, and name the files of chats in it"
            is_log = any(name in members for name, _ in _HEADERS)
            yield 0, InputError("the log contains no `samples/*.json`" if is_log else foreign, shown)
        log = _header(stream, archive, members, shown)
        if isinstance(log, InputError):
            yield 0, log
            log = {}
        for name in samples:
            value = _member(stream, archive, members[name], shown)
            if isinstance(value, dict):
                yield 0, {"eval": log.get("eval", {}), "samples": [value]}
            else:
                refused = value if isinstance(value, InputError) else InputError(f"`{name}` is not an object", shown)
                yield 0, refused
        yield from ((0, InputError(reason, shown)) for reason in missing(log, len(samples)) if samples)


def _header(
    stream: BinaryIO, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], shown: str
) -> dict[str, Any] | InputError:
    """The header of a log, or why it is refused; an unfinished log has only that of its start."""
    for name, status in _HEADERS:
        if name in members:
            value = _member(stream, archive, members[name], shown)
            if isinstance(value, dict) and isinstance(value.get("eval"), dict):
                return {**status, **value}
            wrong = InputError(f"`{name}` is not the header of a log, so samples may be missing", shown)
            return value if isinstance(value, InputError) else wrong
    return {}


def _member(stream: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str) -> object:
    """The JSON value of a member, or why it is refused."""
    try:
        data = expanded(stream, archive, member)
    except MemberError as error:
        return InputError(f"`{member.filename}`: {error}", shown)
    except DAMAGED as error:
        return InputError(f"`{member.filename}` is damaged: {error}", shown)
    return decoded(data, shown, 0, f"`{member.filename}`")
