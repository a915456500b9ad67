"""Regular expressions of a plan: RE2 (linear time), with a memory limit, imported only if a plan needs it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

from rulewright_runtime.errors import PlanError

MEMORY: Final = 8 * 2**20
Search = Callable[[bytes], Iterable[int]]  # the numbers of the expressions that match in a text


@lru_cache(maxsize=4096)
def compile_regex(pattern: str, memory: int = MEMORY) -> re.Pattern[str]:
    """The compiled expression. Raises PlanError if RE2 refuses it (look-arounds, back-references, too much memory)."""
    try:
        return compile_re2(pattern, memory)
    except ValueError as error:
        raise PlanError(f"the regular expression `{pattern}` is refused: {error}") from None


def compile_set(patterns: Iterable[str], memory: int) -> Search:
    """A search for all expressions in one pass. Raises ValueError if they need too much memory together, and
    ImportError without RE2."""
    re2 = _re2()
    fused = re2.Set.SearchSet(_options(memory))
    try:
        for pattern in patterns:
            fused.Add(pattern)
        fused.Compile()
    except re2.error as error:
        raise ValueError(str(error)) from None
    return lambda data: fused.Match(data) or ()


def _re2() -> Any:
    import re2

    return re2


def _options(memory: int) -> Any:
    options = _re2().Options()
    options.max_mem, options.log_errors = memory, False
    return options


def compile_re2(pattern: str, memory: int = MEMORY) -> re.Pattern[str]:
    """The same for any expression. Raises ValueError with RE2's reason, and ImportError without RE2."""
    re2, options = _re2(), _options(memory)
    try:
        compiled: re.Pattern[str] = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        raise ValueError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
    return compiled
