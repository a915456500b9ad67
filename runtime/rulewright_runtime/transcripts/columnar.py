"""Columnar files: reads the rows of Parquet and Arrow files as records (the extra `data`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.errors import InputError
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.transcripts.parquet_chats import damaged, row_groups, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright_runtime.transcripts.containers import Row

ROWS_AT_ONCE: Final = 256


def columnar_rows(path: str, shown: str, kind: str) -> Iterator[Row]:
    """Yield the rows of a `parquet` or `arrow` file, numbered from 1. Raises OSError."""
    try:
        import pyarrow.parquet
    except ImportError:
        yield 0, InputError(f"this is a file of {kind.capitalize()}; install `rulewright[data]` to read it", shown)
        return
    number = 0
    with open_regular(path) as stream:
        try:
            if kind == "parquet" and (groups := row_groups(path)):
                for group in groups:
                    yield from rows_of(path, shown, group.number, group.first)
                return
            if kind == "parquet":
                batches = pyarrow.parquet.ParquetFile(stream).iter_batches(batch_size=ROWS_AT_ONCE)
            else:
                batches = _arrow(pyarrow.ipc, pyarrow.memory_map(path))
            for batch in batches:
                if repeated := _repeated(batch.schema.names):
                    yield 1, InputError(f"the file has the column `{repeated[:40]}` twice", shown, 1)
                    return
                batch.validate(full=True)  # invalid data may crash the process
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
        except (pyarrow.ArrowException, ValueError, OSError, MemoryError, OverflowError) as error:
            yield number + 1, damaged(error, kind.capitalize(), shown, number + 1)


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
