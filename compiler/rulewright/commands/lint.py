"""Find mistakes before anything runs, to the exact column.

PATHS are projects, folders or single files; without any, the project around the working folder. `-` reads one
document from standard input (name it with --stdin-name). The settings and `accept` entries of the nearest project file
upwards count for single files, too; what takes the whole project to see is found in the project only. What was found is
remembered in the user's cache folder and shown again as long as no file, option or program has changed.
"""

from __future__ import annotations

import sys

from rulewright.linting.cache import CacheEntry
from rulewright_runtime.terminal import wants_colour, width_for

TYPE_CHECKING = False  # what was found last time is shown without importing `typing`, `pathlib` or the linter
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

FORMATS = ("human", "json", "sarif", "github", "junit", "checkstyle")  # `render.FORMATS`, without importing it
CATEGORIES = ("correctness", "suspicious", "completeness", "style", "pedantic")  # `categories`, without importing it
LEVELS = ("error", "warning", "advice")
# What these options do is more than to show findings.
UNCACHED = frozenset({"-", "--add-allow", "--baseline", "--diff", "--fix", "--no-cache", "--output-file", "--watch"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="projects, folders or files; - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="human")
    parser.add_argument("--select", action="append", default=[], metavar="CODES", help="only these, e.g. lexicon-*")
    parser.add_argument("--extend-select", action="append", default=[], metavar="CODES", help="these as well")
    parser.add_argument("--ignore", action="append", default=[], metavar="CODES", help="all but these")
    parser.add_argument("--category", action="append", default=[], choices=CATEGORIES, help="only this category")
    parser.add_argument("--preview", action="store_true", help="rules that are still new as well")
    parser.add_argument("--fail-level", choices=LEVELS, default="warning", help="the mildest that fails (warning)")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found")
    parser.add_argument("--quiet", action="store_true", help="errors only")
    parser.add_argument("--baseline", metavar="FILE", help="leave out its findings; written where there is none yet")
    parser.add_argument("--output-file", metavar="FILE", help="write the findings there, and a summary here")
    parser.add_argument("--add-allow", metavar="REASON", help="allow what is found, by comments with this reason")
    parser.add_argument("--fix", action="store_true", help="apply safe fixes")
    parser.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the others too")
    parser.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    parser.add_argument("--statistics", action="store_true", help="count the findings by code instead")
    parser.add_argument("--watch", action="store_true", help="lint again whenever a file changes, until interrupted")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep what was found before")
    parser.add_argument("--stdin-name", default="stdin.yaml", metavar="NAME", help="what to call standard input")


def run_words(words: list[str], parse: Callable[[], argparse.Namespace]) -> int:
    """Show again what the same words gave last time, or `run` what `parse` says they mean."""
    if UNCACHED.intersection(word.partition("=")[0] for word in words):
        return run(parse())
    entry = CacheEntry(_question(words))
    known = entry.known()
    if known is not None:
        return known.show()
    from rulewright.commands.lint_anew import lint_and_keep

    return lint_and_keep(parse(), entry)


def run(args: argparse.Namespace) -> int:
    """Lint, then show what was asked for."""
    from rulewright.commands.lint_anew import lint_anew

    return lint_anew(args)


def _question(words: list[str]) -> list[object]:
    """All that the answer depends on, apart from files and programs."""
    return [words, wants_colour(sys.stdout), width_for(sys.stdout)]
