"""Columnar files: the rows of Parquet and Arrow files as records, and chats in Parquet (the extra `data`).

`convert` writes each chat as a row of Parquet: its id, scenario and model as columns for queries, and the chat itself
as a line of JSON; the schema's metadata mark the format. Row groups of chats are read independently of each other, so
that several processes can share a file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final, NamedTuple

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.transcripts.containers import Row, as_record, decoded, finite
from rulewright_runtime.transcripts.messages import Transcript

ENDING: Final = ".parquet"
GROUP_BYTES: Final = 2 * 2**20  # of lines in a row group
ROWS_AT_ONCE: Final = 256
BYTES_AT_ONCE: Final = 2**31
_COLUMNS: Final = ("transcript_id", "scenario_id", "model", "chat")
_MARK: Final = {b"rulewright": b"chats/1"}
_STREAM_END: Final = b"\xff\xff\xff\xff\0\0\0\0"
_DAMAGES: Final = (ValueError, OSError, MemoryError, OverflowError, IndexError)  # besides pyarrow's own


class RowGroup(NamedTuple):
    """A row group: its number from 0, its first row from 1, and its bytes."""

    number: int
    first: int
    size: int


def columnar_rows(path: str, shown: str, kind: str) -> Iterator[Row]:
    """Yield the rows of a `parquet` or `arrow` file, numbered from 1. Raises OSError."""
    try:
        pyarrow = _pyarrow()
    except ImportError:
        yield 0, InputError(f"{kind.capitalize()} needs `pip install 'rulewright[data]'`", shown)
        return
    number = 0
    with open_regular(path) as stream:
        try:
            if kind == "parquet" and (groups := row_groups(path)):
                for group in groups:
                    yield from rows_of(path, shown, group.number, group.first)
                return
            if kind == "parquet":
                file = _parquet(stream)
                batches = _batches(file, range(file.metadata.num_row_groups))
            else:
                batches = _arrow(pyarrow.ipc, pyarrow.memory_map(path))
            for batch in batches:
                if repeated := _repeated(batch.schema.names):
                    yield 1, InputError(f"the file has the column `{repeated[:40]}` twice", shown, 1)
                    return
                batch.validate(full=True)  # invalid data may crash the process
                for row in batch.to_pylist():
                    number += 1
                    yield number, {name: finite(value) for name, value in row.items()}
        except (pyarrow.ArrowException, *_DAMAGES) as error:
            yield number + 1, _damaged(error, kind.capitalize(), shown, number + 1)


def rows_at_once(about: Any) -> int:
    """How many rows of a Parquet file are read at once: a text that is stored once may be in all of them."""
    # The sizes of its columns are not asked for: pyarrow ends the process where their statistics are damaged.
    largest: int = max((about.row_group(at).total_byte_size for at in range(about.num_row_groups)), default=0)
    return max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // max(1, largest)))


def _parquet(stream: IO[bytes]) -> Any:
    """A Parquet file. Raises OSError, and ValueError where its parts have other rows than the whole."""
    file = _pyarrow().parquet.ParquetFile(stream, page_checksum_verification=True)
    about = file.metadata
    held = sum(about.row_group(at).num_rows for at in range(about.num_row_groups))
    if held != about.num_rows:
        raise ValueError(f"it states {about.num_rows} rows, and its row groups contain {held}")
    return file


def _batches(file: Any, groups: Sequence[int], columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The batches of some row groups. Raises ValueError if they hold another number of rows than the file states."""
    stated, held = sum(file.metadata.row_group(at).num_rows for at in groups), 0
    for batch in file.iter_batches(rows_at_once(file.metadata), row_groups=groups, columns=columns):
        held += batch.num_rows
        yield batch
    if held != stated:
        raise ValueError(f"it states {stated} rows, and {held} can be read")


def _repeated(names: list[str]) -> str | None:
    """A name that occurs twice: of its two values one would hide the other."""
    return next((name for name in names if names.count(name) > 1), None)


def _arrow(ipc: Any, stream: Any) -> Iterator[Any]:
    """The batches of a memory-mapped Arrow file: in the file format, or in the stream format of `datasets`."""
    is_file = stream.read(6) == b"ARROW1"
    stream.seek(0)
    if is_file:
        opened = ipc.open_file(stream)
        batches = (opened.get_batch(at) for at in range(opened.num_record_batches))
    else:
        batches = ipc.open_stream(stream)
    for batch in batches:
        yield from (batch.slice(at, ROWS_AT_ONCE) for at in range(0, batch.num_rows, ROWS_AT_ONCE))
    stream.seek(max(0, stream.size() - len(_STREAM_END)))
    if not is_file and stream.read() != _STREAM_END:  # a writer that is killed leaves whole batches
        raise ValueError("the stream has no end, so rows may be missing")


def row_groups(path: str) -> list[RowGroup]:
    """The row groups of a Parquet file of chats; empty for any other file. Raises OSError and pyarrow's errors."""
    with open_regular(path) as stream:
        file = _parquet(stream)
        if not _MARK.items() <= (file.schema_arrow.metadata or {}).items():
            return []
        groups, first = [], 1
        for number in range(file.metadata.num_row_groups):
            about = file.metadata.row_group(number)
            groups.append(RowGroup(number, first, about.total_byte_size))
            first += about.num_rows
        return groups


def rows_of(path: str, shown: str, group: int, first: int) -> Iterator[Row]:
    """Yield the records of a row group of chats, numbered from `first`; an error while reading is yielded last."""
    pyarrow, number = _pyarrow(), first - 1
    try:
        with open_regular(path) as stream:
            for line in _lines(_parquet(stream), group):
                number += 1
                yield number, as_record(decoded((line or "").encode(), shown, number), shown, number)
    except (pyarrow.ArrowException, *_DAMAGES) as error:
        yield number + 1, _damaged(error, "Parquet", shown, number + 1)


def _lines(file: Any, group: int) -> Iterator[str | None]:
    """The lines of a row group of chats. Raises ValueError where they are not texts."""
    types = dict(zip(file.schema_arrow.names, map(str, file.schema_arrow.types), strict=True))
    if types.get(_COLUMNS[-1]) not in ("string", "large_string"):
        raise ValueError(f"`{_COLUMNS[-1]}` is not a column of texts")
    for batch in _batches(file, [group], _COLUMNS[-1:]):
        batch.validate(full=True)  # invalid data may crash the process
        yield from batch.column(0).to_pylist()


def _damaged(error: Exception, kind: str, shown: str, number: int) -> InputError:
    """Why the rows of a file from `number` on are refused."""
    reason = " ".join(str(error).split())[:200] or "it needs more memory than is available"
    return InputError(f"the file of {kind} is damaged: {reason}", shown, number)


def _pyarrow() -> Any:
    """Pyarrow with its module for Parquet. Raises ImportError without the extra `data`."""
    import pyarrow.parquet

    return pyarrow


@contextmanager
def writing_chats(stream: IO[bytes]) -> Generator[Callable[[Transcript, bytes], None]]:
    """A function that writes a chat and its line to a Parquet file; the same chats give the same bytes.

    Raises RuntimeFailure if pyarrow is not installed.
    """
    try:
        pyarrow = _pyarrow()
    except ImportError:
        raise RuntimeFailure("Parquet needs the extra `data`: `pip install 'rulewright[data]'`") from None
    schema = pyarrow.schema([(name, pyarrow.string()) for name in _COLUMNS], metadata=_MARK)
    rows: list[dict[str, str]] = []
    size = 0

    def write(chat: Transcript, line: bytes) -> None:
        nonlocal size
        values = (chat.id, chat.scenario_id, chat.model, line.decode().rstrip("\n"))
        rows.append(dict(zip(_COLUMNS, values, strict=True)))
        size += len(line)
        if size >= GROUP_BYTES:
            flush()

    def flush() -> None:
        nonlocal size
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
        rows.clear()
        size = 0

    with pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer:
        yield write
        flush()
