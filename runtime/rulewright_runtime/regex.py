"""Regular expressions of a plan: RE2 (linear time), with a memory limit, imported only if a plan needs it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rulewright_runtime.errors import PlanError

MEMORY: Final = 8 * 2**20


@lru_cache(maxsize=4096)
def compile_regex(pattern: str, memory: int = MEMORY) -> re.Pattern[str]:
    """The compiled expression. Raises PlanError if RE2 refuses it (look-arounds, back-references, too much memory)."""
    try:
        return compile_re2(pattern, memory)
    except ValueError as error:
        raise PlanError(f"the regular expression `{pattern}` is refused: {error}") from None


def compile_re2(pattern: str, memory: int = MEMORY, *, never_capture: bool = False) -> re.Pattern[str]:
    """The same for any expression. Raises ValueError with RE2's reason, and ImportError without RE2."""
    import re2

    options = re2.Options()
    options.max_mem, options.never_capture, options.log_errors = memory, never_capture, False
    try:
        compiled: re.Pattern[str] = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        raise ValueError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
    return compiled
