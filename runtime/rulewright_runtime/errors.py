"""The exceptions of the runtime.

RuntimeFailure
|-- EvaluationError   an expression has no value: absent key, overflow, no such overload ...; carries a stable `code`
|-- PlanError         a plan that is refused: malformed, wrong version, wrong hash, too large
|-- InputError        an input row that is refused, with its file and line
|-- JudgeError        a judge that can't be reached or has no answer
|-- BusyError         a run or file that another process is writing
`-- StateError        a task that is asked to do what its state does not allow
"""

from __future__ import annotations


class RuntimeFailure(Exception):  # noqa: N818  the tree's root reads as what it is
    """The root of everything the runtime raises on purpose."""


class EvaluationError(RuntimeFailure):
    """An expression that has no value. `code` is one of the short, documented words such as `no_such_key`."""

    def __init__(self, message: str, code: str = "error") -> None:
        """Keep the sentence and the code."""
        self.code = code
        super().__init__(message)


class PlanError(RuntimeFailure):
    """A plan that is refused before anything runs."""


class InputError(RuntimeFailure):
    """An input that is refused: `path`, the line (0: the whole file) and what is wrong with it."""

    def __init__(self, message: str, path: str, line: int = 0) -> None:
        """Keep the place, so that the summary can count and locate it."""
        self.path, self.line, self.reason = path, line, message
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")


class JudgeError(RuntimeFailure):
    """A judge that can't be reached or has no answer."""


class OutageError(RuntimeFailure):
    """An endpoint that answers nothing, or lets nobody in. What was answered is kept; the run can be resumed."""


class BusyError(RuntimeFailure):
    """A run or file that another process is writing."""


class StateError(RuntimeFailure):
    """A task that is asked to do what its state does not allow; nothing leads on from COMPLETED and FAILED."""
