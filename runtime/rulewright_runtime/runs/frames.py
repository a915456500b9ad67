"""Frames: the messages between the process that writes a run and its workers. A frame is the length of a message in
eight bytes, big-endian, and the message in MessagePack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.runs.run_rows import Row
from rulewright_runtime.transcripts.pieces import Piece

_LENGTH: Final = 8


class Setup(msgspec.Struct, frozen=True):
    """The common part of all tasks of a run: the encoded plan and the settings."""

    plan: bytes
    max_line: int
    max_expanded: int | None
    judge: str | None
    parameters: Mapping[str, Any] | None
    columns: Mapping[str, str] | None


class PieceTask(msgspec.Struct, frozen=True, array_like=True):
    """Pieces to judge; the first `done` inputs are already judged."""

    pieces: tuple[Piece, ...]
    done: int = 0


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The rows of a task with their encoded summary and the columns that its records had, or the `failure` that ends
    the run."""

    rows: tuple[Row, ...] = ()
    summary: bytes = b""
    failure: str = ""
    columns: tuple[str, ...] = ()


def put_frame(stream: IO[bytes], message: bytes) -> None:
    """Write one frame. Raises OSError."""
    stream.write(len(message).to_bytes(_LENGTH, "big"))
    stream.write(message)
    stream.flush()


def next_frame(stream: IO[bytes]) -> bytes | None:
    """The message of the next frame; None at the end of the stream, even within a frame."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    message = stream.read(size)
    return message if len(head) == _LENGTH and len(message) == size else None
