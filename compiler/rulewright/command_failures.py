"""Messages for unknown and failed commands. A command that succeeds does not import this module."""

import errno
import os
import sys
import traceback
from collections.abc import Iterable

from rulewright.causes.repeated import without_echoes
from rulewright.errors import DocumentError, ExpressionError, RulewrightError, UsageError
from rulewright.manual import advice_of
from rulewright.render.human import render
from rulewright.spelling import did_you_mean
from rulewright_runtime.english import plural, reason_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.terminal import complain, width_for

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # of a disk


def unknown_command(name: str, commands: Iterable[str]) -> None:
    """Report an unknown command, and suggest one of the `commands`."""
    help = did_you_mean(name, commands) or "`rulewright --help` lists the commands"
    complain(f"error: unknown command `{name}`", f"help: {help}")


def failed(error: Exception) -> None:
    """Report an exception."""
    if isinstance(error, OSError) and isinstance(error.filename, str):
        verb = "write" if error.errno in _FULL else "use"
        error = UsageError(f"can't {verb} `{error.filename}`: {reason_of(error)}")
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        error = UsageError("the working folder has been removed; change to another one")
    if isinstance(error, UnicodeEncodeError) and (name := _undecoded(error)):
        error = UsageError(f"`{name}` has a byte that is not UTF-8; use another name")
    if isinstance(error, UnicodeEncodeError) and error.encoding != "utf-8":  # of the file system
        error = UsageError(f"the locale can't encode `{error.object:.200}`; set `PYTHONUTF8=1`, or use a UTF-8 locale")
    if isinstance(error, UsageError):
        complain(*(f"error: {message}" for message in error.messages))
        if len(error.messages) > 1:
            complain("", plural(len(error.messages), "error"))
    elif isinstance(error, RulewrightError | RuntimeFailure):
        _report(error)
    else:
        traceback.print_exception(error)
        complain("error: this is a bug in Rulewright; please report it with the lines above")


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _undecoded(error: UnicodeEncodeError) -> str | None:
    """The word with a byte that is not UTF-8, as only arguments and names of files hold it; None for another text."""
    wrong = error.object[error.start]
    return next(word for word in error.object.split() if wrong in word)[:200] if "\udc80" <= wrong <= "\udcff" else None


def _report(error: Exception) -> None:
    if isinstance(error, DocumentError):
        found = without_echoes(error.diagnostics)
        print(render(found, width=width_for(sys.stderr), default_help=advice_of), file=sys.stderr, end="")
    elif isinstance(error, ExpressionError):
        for mistake in error.errors:
            complain(f"error: {mistake.line}:{mistake.column}: {mistake.message}")
            if mistake.help:
                complain(f"help: {mistake.help}")
    else:
        complain(f"error: {error}")
