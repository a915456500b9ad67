"""Models behind a command, `command:ARGV`: JSON lines on its standard input and output.

A request is `{"id": N, "messages": [{"role": ..., "content": ...}], "max_tokens": N, "temperature": X, "schema": ...}`
on one line; the command answers each with one line `{"id": N, "text": ..., "model": ..., "finish": ...}` or
`{"id": N, "error": MESSAGE}`, in any order. It is started once, without a shell.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import subprocess
from typing import Final

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from rulewright_runtime import strict_json
from rulewright_runtime.digests import file_digest
from rulewright_runtime.english import reason_of
from rulewright_runtime.models import ModelError
from rulewright_runtime.models.call import CallFailure, Count, Finish, Identity, ModelAnswer, ModelCall, Usage
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.terminal import complain

WRAPPER: Final = "1"
MAX_LINE: Final = 2**24  # bytes
PATIENCE: Final = 10.0  # seconds without any line before a note explains the protocol
STARTS: Final = 3  # starts of a command that never answered
SHOWN: Final = 60  # bytes of a line in a message
LINGER: Final = 1.0  # seconds for a command that closed its output to exit
ID_BITS: Final = 48  # random, so that a command that numbers its answers itself does not hit another request's id


class _OutputLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the command's output."""

    id: int
    text: str | None = None
    model: str = ""
    finish: Finish = "stop"
    error: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class _Command:
    """A started command and its answers."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._stdin = process, process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self._unanswered: set[int] = set()  # including cancelled requests
        self._answers: dict[int, _OutputLine] = {}
        self._writing, self._reading = anyio.Lock(), anyio.Lock()
        self._has_closed_its_input = False

    async def ask(self, number: int, request: bytes) -> _OutputLine:
        """Send a request and return the line that answers it; the task that holds the stream reads for all tasks.
        Raises OSError and the errors of anyio's streams where the command ended or closed its input."""
        async with self._writing:
            if self._has_closed_its_input:  # asyncio logs every further write
                raise anyio.BrokenResourceError
            self._unanswered.add(number)
            try:
                await self._stdin.send(request)
            except (OSError, anyio.BrokenResourceError):
                self._has_closed_its_input = True
                raise
            except anyio.get_cancelled_exc_class():
                self._kill()  # it may have read half a line, and would read the next request as the rest
                raise
        while True:
            async with self._reading:
                if number in self._answers:
                    return self._answers.pop(number)
                line = _decoded(await self._lines.receive_until(b"\n", MAX_LINE))
                if line.id not in self._unanswered:
                    raise msgspec.ValidationError(f"it answers {line.id}, which was already answered or never asked")
                self._unanswered.remove(line.id)
                self._answers[line.id] = line

    def _kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()

    async def status(self) -> str:
        """Return the exit status for a message; empty when the command still runs."""
        with anyio.move_on_after(LINGER):
            await self._process.wait()
        status = self._process.returncode
        return "" if status is None else f" (exit status {status})" if status >= 0 else f" (killed by signal {-status})"

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await self._stdin.aclose()  # the end of its input tells the command that no request follows
            with anyio.move_on_after(LINGER):
                await self._process.wait()
            self._kill()
            await self._process.aclose()


def _decoded(data: bytes) -> _OutputLine:
    """The line of output. Raises ValidationError, with its start, for a line that is not an answer."""
    try:
        return strict_json.decode(data, type=_OutputLine)
    except strict_json.UNDECODED as error:
        shown = data[:SHOWN].decode("utf-8", "replace").strip()
        raise msgspec.ValidationError(f"`{shown}`, but only answers belong on its standard output: {error}") from None


class CommandModel:
    """A model behind a command that answers line by line."""

    host = ""
    capabilities = Capabilities()

    def __init__(self, argv: tuple[str, ...]) -> None:
        """`argv` is started with the first call."""
        self._argv = argv
        files = [file_digest(word) for word in argv if os.path.isfile(word)]  # an edited script answers again
        self.identity = Identity("command", argv[0], shlex.join(argv), " ".join(["lines/1", *files]), WRAPPER)
        self._command: _Command | None = None
        self._starting = anyio.Lock()
        self._has_answered, self._starts = False, 0
        self._note: asyncio.TimerHandle | None = None

    async def answer(self, call: ModelCall) -> ModelAnswer:
        """Return the command's answer. Raises CallFailure when the command ends or writes an invalid line."""
        number = secrets.randbits(ID_BITS)
        line = await self._line(number, msgspec.json.encode({"id": number, **msgspec.to_builtins(call)}) + b"\n")
        if line.error is not None:
            raise CallFailure(line.error or "the command's line has an empty `error`", "server")
        if line.text is None:
            raise CallFailure("the command's line has neither `text` nor `error`", "server")
        usage = Usage(line.input_tokens, line.output_tokens)
        return ModelAnswer(line.text, line.model or self.identity.model, line.finish, usage, line.text)

    async def _line(self, number: int, request: bytes) -> _OutputLine:
        command: _Command | None = None
        try:
            command = await self._running_command()
            line = await command.ask(number, request)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead):
            status = "" if command is None else await command.status()
            await self._end(command)
            raise self._failure(f"ended before it answered{status}", "network") from None
        except (msgspec.MsgspecError, anyio.DelimiterNotFound) as error:
            await self._end(command)  # later lines can't be matched to requests any more
            raise self._failure(f"wrote a line that can't be read: {error}", "malformed") from None
        self._has_answered = True
        return line

    def _failure(self, what: str, kind: str) -> CallFailure:
        """Return a failure; it is fatal when the command was started `STARTS` times and never answered."""
        denied = not self._has_answered and self._starts >= STARTS
        return CallFailure(f"`{self._argv[0]}` {what}", "denied" if denied else kind)

    async def _running_command(self) -> _Command:
        async with self._starting:
            if self._command is None:
                try:
                    process = await anyio.open_process(self._argv, stdin=subprocess.PIPE, stderr=None)
                except (OSError, ValueError) as error:
                    raise CallFailure(f"`{self._argv[0]}` can't be started: {reason_of(error)}", "denied") from None
                self._command = _Command(process)
                self._starts += 1
                if self._note is None:
                    self._note = asyncio.get_running_loop().call_later(PATIENCE, self._explain)
            return self._command

    def _explain(self) -> None:
        if not self._has_answered:
            complain(
                f"note: `{self._argv[0]}` has written nothing for {PATIENCE:g} s; a command must answer each line at"
                " once, without waiting for the end of its input, and flush its output"
            )

    async def _end(self, command: _Command | None) -> None:
        """End a command, and forget it unless another one was started since."""
        if command is None:
            return
        if self._command is command:
            self._command = None
        await command.aclose()

    async def aclose(self) -> None:
        if self._note is not None:
            self._note.cancel()
        await self._end(self._command)


def open_model(_: str, rest: str) -> CommandModel:
    """Open the command `ARGV`, split like a shell does but run without one. Raises ModelError for an empty or malformed
    one."""
    try:
        argv = tuple(shlex.split(rest))
    except ValueError as error:
        raise ModelError(f"`command:{rest}` can't be split into arguments: {error}") from None
    if not argv:
        raise ModelError("`command:` names no command")
    return CommandModel(argv)
