"""The exceptions of the runtime.

RuntimeFailure
|-- EvaluationError   an expression has no value: absent key, overflow, no such overload ...; has a stable `code`
|-- PlanError         a plan is refused: malformed, wrong version, wrong hash, too large
|-- InputError        an input row is refused; has its file and line
|-- JudgeError        a judge can't be reached or has no reply
|-- OutageError       an endpoint does not respond or denies access
|-- BusyError         another process is writing a run or file
`-- StateError        an event is not allowed in the state of a task
"""

from __future__ import annotations

from typing import Literal


class RuntimeFailure(Exception):  # noqa: N818  the tree's root reads as what it is
    """The base of all exceptions that the runtime raises deliberately."""


class EvaluationError(RuntimeFailure):
    """An expression has no value. `code` is a short, documented word such as `no_such_key`, `key` the missing one."""

    def __init__(self, message: str, code: str = "error", key: object = None) -> None:
        self.code, self.key = code, key
        super().__init__(message)


class PlanError(RuntimeFailure):
    """A plan is refused before anything runs."""


class InputError(RuntimeFailure):
    """An input is refused: its `path`, the `line` (0: the whole file) and the `reason`, which may quote names from the
    input and is on one line."""

    def __init__(self, message: str, path: str, line: int = 0) -> None:
        self.path, self.line, self.reason = path, line, " ".join(message.splitlines())
        super().__init__(f"{path}:{line}: {self.reason}" if line else f"{path}: {self.reason}")


class JudgeError(RuntimeFailure):
    """A judge can't be reached or has no reply."""


class OutageError(RuntimeFailure):
    """An endpoint does not respond, denies access or gives no usable reply. Received replies are kept; the run can be
    resumed. The `cause` is `name` if the endpoint has never answered and another may be meant, `replies` if no reply is
    usable, else `outage`."""

    def __init__(self, message: str, cause: Literal["outage", "name", "replies"] = "outage") -> None:
        self.cause = cause
        super().__init__(message)


class BusyError(RuntimeFailure):
    """Another process is writing the run or file."""


class StateError(RuntimeFailure):
    """An event is not allowed in the state of a task; COMPLETED and FAILED allow none."""
