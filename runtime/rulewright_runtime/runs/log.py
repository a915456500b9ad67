"""The log of a run: a line for each finished input, so that a killed run can be resumed and damage is detected.

Every line ends with its own checksum. An incomplete last line is ignored: it was being written when the run ended.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeVar
from zlib import crc32

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.strict_json import UNDECODED
from rulewright_runtime.transcripts.messages import Transcript, Turn
from rulewright_runtime.transcripts.turn_lines import printable

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.pieces import Piece
    from rulewright_runtime.transcripts.transcript_reader import Reader

FORMAT: Final = "rulewright-run"
VERSION: Final = 2
_CHECKSUM: Final = b',"crc32":'
Part = TypeVar("Part")


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values that a resumed run must share with the run it continues."""

    plan: str
    judge: str
    settings: str
    format: str = FORMAT
    version: int = VERSION


class LogStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One finished input: its fingerprint, and the sizes and the checksum of verdicts and scores after it.

    `digest` is the fingerprint of the input's content and location, `conversation` that of the conversation alone.
    """

    input: str
    digest: str
    verdicts: int
    scores: int
    rows: int  # crc32 of the verdicts and scores of all inputs so far, input by input
    calls: int  # judge calls
    refused: tuple[str, str, int] | None = None
    harness: str = ""
    replies: int = 0  # the size of a live judge's replies
    path: str = ""  # where the input was read
    line: int = 0
    conversation: str = msgspec.field(default="", name="said")


class Log(msgspec.Struct, frozen=True):
    """The log of a run so far: its header, the finished steps, and its size in bytes."""

    header: Header
    steps: tuple[LogStep, ...] = ()
    size: int = 0

    def skip_done(self, items: Iterator[Transcript | InputError]) -> Iterator[Transcript | InputError]:
        """The inputs after the finished ones. Raises PlanError if a finished input is missing or has changed."""
        for step in self.steps:
            item = next(items, None)
            if item is None:
                raise missing(step)
            if digest(item) != step.digest:
                raise changed(item, step)
        yield from items

    def skip_done_pieces(
        self, reader: Reader, paths: Iterable[str | os.PathLike[str]]
    ) -> Iterator[tuple[Piece, int] | InputError]:
        """The pieces that are not done, each with the number of its inputs that are, and refused paths. Raises
        PlanError as `skip_done` does."""
        done = deque(self.steps)
        for piece in reader.pieces(paths):
            begun = 0
            items = [piece] if isinstance(piece, InputError) else reader.read_piece(piece) if done else ()
            for item in items:
                if not done:
                    break
                step = done.popleft()
                if digest(item) != step.digest:
                    raise changed(item, step)
                begun += 1
            else:
                if begun:  # every input of the piece is done
                    continue
            yield piece if isinstance(piece, InputError) else (piece, begun)
        if done:
            raise missing(done[0])


def read_log(path: str, header: Header) -> Log:
    """Read the log at `path`. Raises PlanError if it is damaged or its header differs, OSError if it can't be read."""
    lines = list(checked_lines(path, _REMEDY))
    if len(lines) <= 1:  # no input is finished
        return Log(header)
    found, steps = _decoded(iter(lines), path, _REMEDY)
    for field, what in _DIFFERENCES.items():
        if getattr(found, field) != getattr(header, field):
            raise PlanError(f"the run of `{path}` has {what}; replace the run with `--overwrite`")
    return Log(header, tuple(steps), sum(len(checked(line)) for line in lines))


def damaged(path: str) -> PlanError:
    """The error for a file that does not match the log."""
    return PlanError(f"`{path}` is not as the killed run left it; replace the run with `--overwrite`")


def missing(step: LogStep) -> PlanError:
    """The error for a finished input that no longer exists."""
    return PlanError(f"`{step.input}`, which the run had judged, is missing; replace the run with `--overwrite`")


def changed(item: Transcript | InputError, step: LogStep) -> PlanError:
    """The error for an input that has changed, or is read from another place, since it was judged."""
    if step.conversation and step.conversation == fingerprints(item)[1] and step.path != item.path:
        return PlanError(
            f"the run had read `{name(item)}` from `{printable(step.path)}`, not from `{printable(item.path)}`; resume "
            "it with the same paths, in the folder in which it was started, or replace the run with `--overwrite`"
        )
    return PlanError(f"`{name(item)}` is not what the run had read; replace the run with `--overwrite`")


_REMEDY: Final = (
    "replace the run with `--overwrite`, or remove that file to judge again with the answers that are recorded"
)
_DIFFERENCES: Final = {
    "version": "another format",
    "plan": "another plan",
    "judge": "another judge or other recorded replies",
    "settings": "other settings",
}


def line_of(part: msgspec.Struct) -> bytes:
    return checked(msgspec.json.encode(part))


def checked(data: bytes) -> bytes:
    """A non-empty JSON object as a line, with its checksum as the last key."""
    return b"%b%b%d}\n" % (data[:-1], _CHECKSUM, crc32(data))


def checked_lines(path: str, remedy: str) -> Iterator[bytes]:
    """Yield the JSON objects in the lines that `checked` made. Raises PlanError, which names the `remedy`, for a
    damaged line, and OSError."""
    with open(path, "rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            data = _unchecked(line[:-1])
            if data is None:
                raise PlanError(f"line {number} of `{path}` is damaged; {remedy}")
            yield data


def _unchecked(line: bytes) -> bytes | None:
    body, _, checksum = line.rpartition(_CHECKSUM)
    data = body + b"}"
    return data if checksum == b"%d}" % crc32(data) else None


def step_of(item: Transcript | InputError) -> LogStep:
    """The step of an input, before it is judged and its rows are written."""
    content, conversation = fingerprints(item)
    return LogStep(name(item), content, 0, 0, 0, 0, path=item.path, line=item.line, conversation=conversation)


def refused_step(step: LogStep, refused: InputError) -> LogStep:
    """The step of an input that was refused."""
    return msgspec.structs.replace(step, refused=(refused.path, refused.reason, refused.line))


def name(item: Transcript | InputError) -> str:
    """The name of an input in messages: a transcript's id, or the path and line of a refused input."""
    return f"{item.path}:{item.line}" if isinstance(item, InputError) and item.line else getattr(item, "id", item.path)


def open_log(path: str, remedy: str = "scan again") -> tuple[Header, Iterator[LogStep]]:
    """The header and the steps of a finished run's log, whatever its plan; the steps are read one after the other.
    Raises PlanError, which names the `remedy`, if it is damaged, and OSError if it can't be read."""
    return _decoded(checked_lines(path, remedy), path, remedy)


def read_finished(path: str, remedy: str = "scan again") -> Log:
    """The whole log of a finished run. Raises as `open_log` does."""
    header, steps = open_log(path, remedy)
    return Log(header, tuple(steps))


def _decoded(lines: Iterator[bytes], path: str, remedy: str) -> tuple[Header, Iterator[LogStep]]:
    def each_as(kind: type[Part]) -> Iterator[Part]:
        decode = msgspec.json.Decoder(kind).decode
        try:
            yield from map(decode, lines)
        except UNDECODED as error:
            raise PlanError(f"`{path}` is damaged ({error}); {remedy}") from None

    header = next(each_as(Header), None)
    if header is None:
        raise PlanError(f"`{path}` is damaged: it is empty; {remedy}")
    return header, each_as(LogStep)


def fingerprints(item: Transcript | InputError) -> tuple[str, str]:
    """The fields `digest` and `conversation` of an input's log step."""
    if isinstance(item, InputError):
        return _fingerprint(str(item).encode()), ""
    conversation = conversation_digest(item)
    parts = (conversation, item.id, item.scenario_id, item.model, item.path, item.line, item.recorded)
    return _fingerprint(msgspec.json.encode(parts)), conversation


def digest(item: Transcript | InputError) -> str:
    """A fingerprint of an input's content and location."""
    return fingerprints(item)[0]


def conversation_digest(item: Transcript | InputError) -> str:
    """A fingerprint of a conversation's turns, independent of its location and of the models that the turns name; empty
    for a refused input."""
    return "" if isinstance(item, InputError) else _fingerprint(msgspec.json.encode([*map(_unsigned, item.turns)]))


def _unsigned(turn: Turn) -> Turn:
    is_unsigned = turn.model is turn.served_model is msgspec.UNSET
    return turn if is_unsigned else msgspec.structs.replace(turn, model=msgspec.UNSET, served_model=msgspec.UNSET)


def _fingerprint(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
