"""A worker process, which judges pieces of the input for a run of several jobs. It needs a plan, but no project.

It reads frames from its standard input and writes an answer to each task to its standard output. The first frame is a
`Setup`, all others are a `PieceTask`. A frame is the length of a message in eight bytes, big-endian, and the message in
MessagePack.
"""

from __future__ import annotations

import os
import signal
import sys

from rulewright_runtime.processes.fast_start import seldom_collected  # before anything that imports msgspec

# isort: split
from collections.abc import Iterator
from typing import IO, Final

import msgspec

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.files.input_files import MAX_EXPANDED
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.file import decode
from rulewright_runtime.processes.process_end import end_now, keep
from rulewright_runtime.runs.run_rows import Row, RowWriter, Setup, summary_of
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.pieces import Piece
from rulewright_runtime.transcripts.transcript_reader import Reader

_LENGTH: Final = 8


class PieceTask(msgspec.Struct, frozen=True, array_like=True):
    """Pieces to judge; the first `done` inputs are already judged."""

    pieces: tuple[Piece, ...]
    done: int = 0


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The rows of a task with their encoded summary, the columns that its records had and the names that were read as
    text, or the `failure` that ends the run."""

    rows: tuple[Row, ...] = ()
    summary: bytes = b""
    failure: str = ""
    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


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


class Worker:
    """A prepared plan that judges pieces."""

    def __init__(self, setup: Setup) -> None:
        """Prepare the plan. Raises PlanError, and JudgeError if recorded replies can't be read."""
        self._setup = setup
        self._plan = decode(setup.plan)
        self._engine = Engine(self._plan, setup.parameters)
        self._judge = None if setup.judge is None else open_judge(setup.judge, setup.max_expanded or MAX_EXPANDED)
        # Another worker may have read the same id: the process that writes the run checks that ids are unique.
        self._reader = Reader(self._plan.scenarios, setup.max_line, setup.columns, unique=False)

    def answer(self, task: PieceTask) -> Answer:
        summary = summary_of(self._plan)
        rows = RowWriter(summary)
        items = rows.noted(self._items(task))
        answered = tuple(rows.row(result) for result in results(self._engine, items, self._judge))
        columns, labels = tuple(self._reader.used_columns), tuple(self._reader.labels)
        return Answer(answered, msgspec.msgpack.encode(summary), columns=columns, labels=labels)

    def _items(self, task: PieceTask) -> Iterator[Transcript | InputError]:
        done = task.done
        for piece in task.pieces:
            for item in self._reader.read_piece(piece):
                if done:
                    done -= 1
                else:
                    yield item


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer tasks until `source` ends."""
    worker: Worker | None = None
    while (message := next_frame(source)) is not None:
        try:
            if worker is None:
                worker = Worker(msgspec.msgpack.decode(message, type=Setup))
                continue
            answer = worker.answer(msgspec.msgpack.decode(message, type=PieceTask))
        except RuntimeFailure as failure:
            answer = Answer(failure=str(failure))
        put_frame(target, msgspec.msgpack.encode(answer))


def main() -> None:
    """Serve the parent process until one of the two ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal interrupts every process; the parent decides
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not break a frame
    keep()
    with seldom_collected():
        try:
            serve(sys.stdin.buffer, target)
        except BrokenPipeError:  # the parent was killed
            end_now(1)  # a usual end would write the rest of the frame and fail again


if __name__ == "__main__":
    main()
