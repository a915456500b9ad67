"""The engine's outputs in separate files, indexed by test id in a temporary database."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.cases.records import Record, decode_message, id_of, json_files, records_of, with_path
from rulewright_runtime.cases.shape import OUTPUTS
from rulewright_runtime.errors import InputError
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.scratch_database import scratch_database
from rulewright_runtime.strict_json import UNDECODED

_NOT_IDS: Final = frozenset({"test_id", "id", "expectations", "test_case", *OUTPUTS})
_TABLE: Final = "CREATE TABLE outputs (test_id, tag, file, start, length, data, path, is_used)"
_ADD: Final = "INSERT INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?, 0)"
_FIND: Final = "SELECT tag, file, start, length, data, path FROM outputs WHERE test_id = ?"
_USE: Final = "UPDATE outputs SET is_used = 1 WHERE test_id = ?"
_UNUSED: Final = "SELECT test_id, tag, file FROM outputs WHERE NOT is_used ORDER BY rowid"
_Row = tuple[str, str, str, int, int, bytes | None, str]
_Reference = tuple[str, str, int, int, bytes | None, str]


class _OutputIds(msgspec.Struct):
    id: Any = None
    test_id: Any = None


class Outputs:
    """The engine's outputs in a file, or in every file of JSON or CSV below a folder, by test id.

    Their offsets are kept in a temporary database, so that memory does not grow with their number.
    """

    def __init__(self, path: str) -> None:
        """Index the outputs below `path`; unreadable records go to `errors`. Raises InputError without any file."""
        self.errors: list[InputError] = []
        self._path = path
        self._names = msgspec.json.Decoder(_OutputIds)
        self._open: tuple[str, IO[bytes]] | None = None  # the outputs of a batch are usually in one file
        self._database = scratch_database(_TABLE)
        has_files = False
        for file in [path] if os.path.isfile(path) else json_files(path):
            has_files = True
            self._database.executemany(_ADD, self._rows(file))
        if not has_files:
            raise InputError("there is no file of outputs", path)
        self._database.execute("CREATE INDEX by_test_id ON outputs (test_id)")
        self.errors.sort(key=lambda error: (error.path, error.line, error.reason))

    def _rows(self, file: str) -> Iterator[_Row]:
        """Yield a row for every output of a file. The tag tells outputs of one test id apart: the file's name, or the
        folder's when the file is named like the test id."""
        stem = os.path.splitext(os.path.basename(file))[0]
        folder = os.path.basename(os.path.dirname(file)) if file != self._path else stem
        for record in records_of(file)[1]:
            if isinstance(record, InputError):
                self.errors.append(record)
                continue
            try:
                names = self._names.decode(record.data)
            except UNDECODED as error:
                self.errors.append(InputError(with_path(record.path, decode_message(error)), file, record.line))
                continue
            test_id = id_of(names.test_id) or id_of(names.id)
            if test_id is None and record.path == "$" and record.line == 0:
                parts = _by_key(record)
                if parts is not None:
                    yield from ((key, stem, file, -1, 0, data, f"$.{key}") for key, data in parts.items())
                    continue
                test_id = stem
            if test_id is None:
                self.errors.append(InputError(with_path(record.path, "the output has no `test_id`"), file, record.line))
                continue
            tag = folder if stem == test_id else stem
            yield (
                test_id,
                tag,
                file,
                record.start,
                len(record.data),
                record.data if record.start < 0 else None,
                record.path,
            )

    def find(self, batch: str, test_id: str) -> tuple[bytes, str] | str | None:
        """Return the bytes and the location of an output, a message when it is ambiguous, or None when there is none.
        Outputs whose tag is the batch's name win over others."""
        references: list[_Reference] = self._database.execute(_FIND, (test_id,)).fetchall()
        if not references:
            return None
        self._database.execute(_USE, (test_id,))
        candidates = [each for each in references if each[0] == batch] or references
        candidates.sort(key=lambda each: (each[1], each[2]))
        _, file, _, _, _, path = candidates[0]
        payload = self._bytes(candidates[0])
        others = {self._bytes(each) for each in candidates[1:]} - {payload}
        if others:
            files = ", ".join(sorted({each[1] for each in candidates}))
            return f"there are {len(others) + 1} different outputs for the test id, in {files}"
        return payload, file if path == "$" else f"{file}: {path}"

    def unused(self, batches: Collection[str]) -> Iterator[InputError]:
        """Yield a note for every output in the file, or below a folder in the files of the batches, that was not
        found by a test id."""
        for test_id, tag, file in self._database.execute(_UNUSED):
            if tag in batches or file == self._path:
                yield InputError(f"no case has the test id `{test_id}`, so this output is not scored", file)

    def _bytes(self, reference: _Reference) -> bytes:
        _, file, start, length, data, _ = reference
        if data is not None:
            return data.strip()
        if self._open is None or self._open[0] != file:
            self._close_file()
            self._open = (file, open_regular(file))
        self._open[1].seek(start)
        return self._open[1].read(length).strip()

    def _close_file(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def close(self) -> None:
        """Close the database and the open file."""
        self._close_file()
        self._database.close()

    def __del__(self) -> None:
        """Close the database and the open file."""
        if hasattr(self, "_database"):
            self.close()


def _by_key(record: Record) -> dict[str, bytes] | None:
    """Return the outputs in an object whose keys are test ids; None for any other record."""
    try:
        parts = msgspec.json.decode(record.data, type=dict[str, msgspec.Raw])
    except UNDECODED:
        return None
    if not parts or parts.keys() & _NOT_IDS:
        return None
    outputs = {key: bytes(part) for key, part in parts.items()}
    return None if any(part.lstrip()[:1] != b"{" for part in outputs.values()) else outputs
