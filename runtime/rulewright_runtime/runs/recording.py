"""A judge whose replies are recorded before they are used, so that a killed run never requests them again."""

from __future__ import annotations

import json
import os
from typing import IO, Any, Final

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.files.atomic import ROOM, DiskError, make_room, open_part, sync
from rulewright_runtime.judging.judge import BudgetExhaustedError, Judge, JudgeRequest, LimitedJudge, identity
from rulewright_runtime.runs.log import checked, checked_lines

_PLACE: Final = ("transcript_id", "check_id", "purpose", "window", "repetition", "attempt")  # of a request


class RecordingJudge:
    """Forwards requests to another judge and records its replies and errors. A recorded request is not sent again."""

    def __init__(self, judge: Judge, recorded: str | None, calls: int | None) -> None:
        """`recorded` is the file of recorded replies; `calls` limits the number of requests, including recorded ones.
        Raises PlanError if the file is damaged, OSError if it can't be read."""
        self._path, self._size = "", 0
        self._known: dict[str, dict[str, Any]] = {}
        self._stream: IO[bytes] | None = None
        self._room = 0
        self._identity = identity(judge)
        if recorded is not None:
            self._read(recorded)
        self._judge = judge if calls is None else LimitedJudge(judge, calls - len(self._known))

    def _read(self, path: str) -> None:
        for line in checked_lines(path, "remove that line to have its question put again"):
            answer = json.loads(line.decode("utf-8", "surrogatepass"))
            self._known[answer["question"]] = answer
            self._size += len(checked(line))

    def open(self, path: str) -> None:
        """Append new replies to `path`, which holds the recorded ones. Raises OSError."""
        self._path, self._stream = path, open_part(path, self._size)

    def sync(self) -> None:
        """Wait until all replies are on disk. Raises OSError."""
        if self._stream is not None:
            sync(self._stream)

    def finish(self) -> None:
        """Release unused preallocated space, and remove the file if it holds no reply. Raises OSError."""
        if self._stream is None:
            return
        self._stream.truncate(self._size)
        sync(self._stream)
        if not self._size:
            self.close()
            os.remove(self._path)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def ask(self, request: JudgeRequest) -> str | None:
        """The judge's reply, recorded or new. Raises the judge's error, a JudgeError for a recorded error, and
        DiskError if the disk has no space for a reply."""
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
            raise  # no request was sent
        except Exception as error:
            self._write(request, None, f"{type(error).__name__}: {error}")
            raise
        self._write(request, reply if isinstance(reply, str) else None, None)
        return reply

    def _question(self, request: JudgeRequest) -> str:
        """The fingerprint under which a reply is recorded: of the judge and the whole request."""
        return blake2b(msgspec.json.encode((self._identity, request)), digest_size=16).hexdigest()

    def _make_room(self) -> None:
        """Preallocate disk space before a request is sent, so that a paid reply is not lost on a full disk."""
        if self._stream is None or self._room >= self._size + ROOM:
            return
        try:
            make_room(self._stream, self._size)
        except OSError as error:
            raise DiskError(error) from None
        self._room = self._size + 2 * ROOM

    def _write(self, request: JudgeRequest, reply: str | None, error: str | None) -> None:
        if self._stream is None:
            return
        about = {name: getattr(request, name) for name in _PLACE}
        answer = {**about, "question": self._question(request), "reply": reply, "error": error}
        line = checked(json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as problem:
            raise DiskError(problem) from None
        self._size += len(line)
