"""The end of a command's process: its status is a result, so no code of the user ends or replaces the process.

Python's own ways to do that raise SystemExit instead, in every thread. Forked children are not concerned. Native code
that calls `exit` can't be stopped. Imports nothing heavy.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing `typing` takes longer than a cached lint may take
if TYPE_CHECKING:
    from collections.abc import Callable

end_now = os._exit
_ENDING = ("_exit", "execv", "execve")  # all others of `os.exec*` call these


def keep() -> None:
    """Let only `end_now` and a return from the command end this process."""
    for module in filter(None, map(sys.modules.get, ("os", "posix", "nt"))):
        for name in _ENDING:
            if hasattr(module, name):
                setattr(module, name, _refusing(name, getattr(module, name), os.getpid()))


def _refusing(name: str, original: Callable[..., object], process: int) -> Callable[..., object]:
    def refuse(*arguments: object, **named: object) -> object:
        if os.getpid() == process:
            raise SystemExit(f"os.{name}")
        return original(*arguments, **named)

    return refuse
