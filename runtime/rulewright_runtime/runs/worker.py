"""A worker: a process that judges pieces of the input for a run of several jobs. It needs a plan, and no project.

It reads frames from its standard input and answers each task on its standard output. A frame is eight bytes that give
its length, and a message (`msgspec`, MessagePack). The first frame is a `Setup`, all others are a `Task`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.input_files import MAX_EXPANDED
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.file import decode
from rulewright_runtime.runs.rows import Row, RowWriter, summary_of
from rulewright_runtime.transcripts.pieces import Piece
from rulewright_runtime.transcripts.transcript_reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright_runtime.transcripts.messages import Transcript

_LENGTH: Final = 8


class Setup(msgspec.Struct, frozen=True):
    """What every task of a run needs: the plan, as it is written in a file, and the settings of the run."""

    plan: bytes
    max_line: int
    max_expanded: int | None
    judge: str | None
    parameters: Mapping[str, Any] | None
    columns: Mapping[str, str] | None


class PieceTask(msgspec.Struct, frozen=True, array_like=True):
    """Pieces to judge; `done` inputs at the start of the first one are judged already."""

    pieces: tuple[Piece, ...]
    done: int = 0


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """The rows of a task, and their summary, encoded; or why the run can't go on."""

    rows: tuple[Row, ...] = ()
    summary: bytes = b""
    failure: str = ""


def put_frame(stream: IO[bytes], message: bytes) -> None:
    """Write one frame. Raises OSError."""
    stream.write(len(message).to_bytes(_LENGTH, "big"))
    stream.write(message)
    stream.flush()


def next_frame(stream: IO[bytes]) -> bytes | None:
    """The message of the next frame; None where the stream ends, also within a frame."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    message = stream.read(size)
    return message if len(head) == _LENGTH and len(message) == size else None


class Worker:
    """A plan made ready to judge pieces."""

    def __init__(self, setup: Setup) -> None:
        """Prepare the plan. Raises PlanError, and JudgeError where recorded replies can't be read."""
        self._setup = setup
        self._plan = decode(setup.plan)
        self._engine = Engine(self._plan, setup.parameters)
        self._judge = None if setup.judge is None else open_judge(setup.judge, setup.max_expanded or MAX_EXPANDED)
        # The same id may have been read by another worker: the process that writes the run knows all of them.
        self._reader = Reader(self._plan.scenarios, setup.max_line, setup.columns, unique=False)

    def answer(self, task: PieceTask) -> Answer:
        """The rows of a task."""
        summary = summary_of(self._plan)
        rows = RowWriter(summary)
        items = rows.noted(self._items(task))
        found = tuple(rows.row(result) for result in results(self._engine, items, self._judge))
        return Answer(found, msgspec.msgpack.encode(summary))

    def _items(self, task: PieceTask) -> Iterator[Transcript | InputError]:
        done = task.done
        for piece in task.pieces:
            for item in self._reader.read_piece(piece):
                if done:
                    done -= 1
                else:
                    yield item


def serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer tasks until there is none left."""
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
    """Serve the process that started this one, until it ends."""
    gc.set_threshold(50_000, 20, 20)  # the records of a transcript are many objects and no garbage
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells everybody; the process that writes decides
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not break a frame
    serve(sys.stdin.buffer, target)


if __name__ == "__main__":
    main()
