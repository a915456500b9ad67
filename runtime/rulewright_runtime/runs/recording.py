"""A judge whose answers are written down before they count, so that a killed run never asks for them again."""

from __future__ import annotations

import json
import os
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.files import ROOM, DiskError, make_room, open_part, sync
from rulewright_runtime.judging.judge import BudgetExhaustedError, LimitedJudge, identity
from rulewright_runtime.runs.log import checked, checked_lines

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge, JudgeRequest


class RecordingJudge:
    """Passes questions on to another judge and writes down what it answers, also that it failed. A question that was
    answered before is not put again."""

    def __init__(self, judge: Judge, known: str | None = None, calls: int | None = None) -> None:
        """`known` is the file of the answers so far; `calls` limits how many questions are put to the judge, those that
        stand there included. Raises PlanError where the file is damaged, OSError where it can't be read."""
        self._path, self._size = "", 0
        self._known: dict[str, dict[str, Any]] = {}
        self._stream: IO[bytes] | None = None
        self._room = 0
        self._identity = identity(judge)
        if known is not None:
            self._read(known)
        self._judge = judge if calls is None else LimitedJudge(judge, calls - len(self._known))

    def _read(self, path: str) -> None:
        for line in checked_lines(path, "remove that line to have its question put again"):
            answer = json.loads(line.decode("utf-8", "surrogatepass"))
            self._known[answer["question"]] = answer
            self._size += len(checked(line))

    def open(self, path: str) -> None:
        """Write what comes to `path`, where the answers so far stand. Raises OSError."""
        self._path, self._stream = path, open_part(path, self._size)

    def sync(self) -> None:
        """Wait until the disk has all answers. Raises OSError."""
        if self._stream is not None:
            sync(self._stream)

    def finish(self) -> None:
        """Give back the room for answers that did not come, or the file where none came. Raises OSError."""
        if self._stream is None:
            return
        self._stream.truncate(self._size)
        sync(self._stream)
        if not self._size:
            self.close()
            os.remove(self._path)

    def close(self) -> None:
        """Write no more."""
        if self._stream is not None:
            self._stream.close()

    def ask(self, request: JudgeRequest) -> str | None:
        """The judge's answer, known or new. Raises what the judge raises, a JudgeError where it did so before, and
        DiskError where there is no room for an answer."""
        answer = self._known.get(self._question(request))
        if answer is not None and answer["error"] is not None:
            raise JudgeError(answer["error"])
        if answer is not None:
            reply: str | None = answer["reply"]
            return reply
        self._make_room()
        return self._ask(request)

    def _ask(self, request: JudgeRequest) -> str | None:
        try:
            reply = self._judge.ask(request)
        except BudgetExhaustedError:
            raise  # nobody was asked
        except Exception as error:
            self._write(request, None, f"{type(error).__name__}: {error}")
            raise
        self._write(request, reply if isinstance(reply, str) else None, None)
        return reply

    def _question(self, request: JudgeRequest) -> str:
        """The fingerprint under which an answer may be known: who asks what of whom for the how many-th time."""
        return blake2b(msgspec.json.encode((self._identity, request)), digest_size=16).hexdigest()

    def _make_room(self) -> None:
        """Take room on the disk before a question is put: what its answer cost must not be lost for want of it."""
        if self._stream is None or self._room >= self._size + ROOM:
            return
        try:
            make_room(self._stream, self._size)
        except OSError as error:
            raise DiskError(error) from None
        self._room = self._size + 2 * ROOM

    def _write(self, request: JudgeRequest, reply: str | None, error: str | None) -> None:
        answer = {
            "transcript_id": request.transcript_id,
            "check_id": request.check_id,
            "purpose": request.purpose,
            "window": request.window,
            "repetition": request.repetition,
            "attempt": request.attempt,
            "question": self._question(request),
            "reply": reply,
            "error": error,
        }
        if self._stream is None:
            return
        line = checked(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as problem:
            raise DiskError(problem) from None
        self._size += len(line)
