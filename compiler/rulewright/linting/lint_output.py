"""The printed output and exit code of a lint run, shown now or stored in the cache for the same run."""

from __future__ import annotations

import sys

from rulewright.result_cache import CacheEntry
from rulewright_runtime.terminal import safe_stream

TYPE_CHECKING = False  # `typing` takes longer to import than this module may take
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.dependencies import Dependency

AS_IT_IS = "surrogatepass"  # a file name may contain an unpaired surrogate


class LintOutput:
    """The text for standard output, and the exit code."""

    def __init__(self, status: int, text: str) -> None:
        """Create the output without printing it."""
        self.status, self.text = status, text

    def show(self) -> int:
        """Print the text and return the exit code."""
        if self.text.startswith("::"):  # only `--format github` begins so
            safe_stream(sys.stdout).write_annotations(self.text)
        else:
            safe_stream(sys.stdout).write_coloured(self.text)
        return self.status

    def keep(self, entry: CacheEntry, states: dict[Dependency, str], variables: Iterable[str]) -> None:
        """Store the output in the cache."""
        entry.store(self.status, self.text.encode("utf-8", AS_IT_IS), states, variables)


def known_output(entry: CacheEntry) -> LintOutput | None:
    """Return the cached output if no dependency has changed, else None."""
    found = entry.load()
    if found is None or type(found[0]) is not int or found[0] not in (0, 1):
        return None
    try:
        return LintOutput(found[0], found[1].decode("utf-8", AS_IT_IS))
    except UnicodeDecodeError:
        return None
