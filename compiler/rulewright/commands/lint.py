"""`lint`: show the cached output, or lint."""

from __future__ import annotations

import sys

from rulewright.linting.lint_output import known_output
from rulewright.result_cache import CacheEntry
from rulewright_runtime.terminal import wants_colour, width_for

TYPE_CHECKING = False  # cached output is shown without importing `typing`, `pathlib` or the linter
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

# Options that do more than show findings.
UNCACHED = frozenset(
    {"-", "-h", "--help", "--add-allow", "--baseline", "--diff", "--fix", "--no-cache", "--output-file", "--watch"}
)


def run_words(words: list[str], parse: Callable[[], argparse.Namespace]) -> int:
    """Show the cached output for the same words, or `run` the arguments that `parse` returns."""
    if UNCACHED.intersection(word.partition("=")[0] for word in words):
        return run(parse())
    entry = CacheEntry("lint", _question(words))
    known = known_output(entry)
    if known is not None:
        return known.show()
    from rulewright.commands.uncached_lint import lint_and_keep

    return lint_and_keep(parse(), entry)


def run(args: argparse.Namespace) -> int:
    """Lint and show the result; return the exit code."""
    from rulewright.commands.uncached_lint import lint_uncached

    return lint_uncached(args)


def _question(words: list[str]) -> list[object]:
    """Everything the output depends on, except files and programs."""
    return [words, wants_colour(sys.stdout), width_for(sys.stdout)]
