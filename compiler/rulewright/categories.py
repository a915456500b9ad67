"""The categories of findings, which decide whether they are shown by default.

A rule's category is the folder of its file. `pedantic` findings are correct, but rarely worth a change, so they are
shown only when selected. Codes in `PREVIEW` are new and may still change; `--preview` shows them.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from rulewright.diagnostics import Severity

CORRECTNESS: Final = "correctness"
SUSPICIOUS: Final = "suspicious"
COMPLETENESS: Final = "completeness"
STYLE: Final = "style"
PEDANTIC: Final = "pedantic"

LEVELS: Final = {
    CORRECTNESS: Severity.ERROR,
    SUSPICIOUS: Severity.WARNING,
    COMPLETENESS: Severity.WARNING,
    STYLE: Severity.ADVICE,
    PEDANTIC: Severity.ADVICE,
}
MEANINGS: Final = {
    CORRECTNESS: "the document is refused, or does not mean what it says",
    SUSPICIOUS: "it is allowed, but most likely a mistake",
    COMPLETENESS: "something is missing or unused",
    STYLE: "it works, but there is a clearer way to write it",
    PEDANTIC: "correct, but rarely worth a change; off by default",
}
# The codes outside of `correctness` that no rule reports.
ELSEWHERE: Final = {
    "agent-without-description": COMPLETENESS,
    "check-without-part": SUSPICIOUS,
    "label-row-is-dead": SUSPICIOUS,
    "label-table-not-proved": SUSPICIOUS,
    "unused-suppression": COMPLETENESS,
}
CATEGORIES: Final = tuple(LEVELS)
PREVIEW: Final = frozenset({"words-differ-in-case"})
SINCE: Final[dict[str, str]] = {}  # the version that added a code, if later than FIRST
FIRST: Final = "0.1.0"
_RULES: Final = Path(__file__).parent / "rules"


@cache
def category_of(code: str) -> str:
    """Return the category of a code: the folder of its rule."""
    name = f"{code.replace('-', '_')}.py"
    return next((each for each in CATEGORIES if (_RULES / each / name).is_file()), ELSEWHERE.get(code, CORRECTNESS))


def since(code: str) -> str:
    """Return the version of the package that added the code."""
    return SINCE.get(code, FIRST)


def category_line(code: str) -> str:
    """Return sentences with a code's category, the version that added it, and whether it is a preview."""
    category = category_of(code)
    new = " Preview: `--preview` shows it." if code in PREVIEW else ""
    return f"Category: {category} ({MEANINGS[category]}). Since: {since(code)}.{new}"


def is_default(code: str, *, preview: bool = False) -> bool:
    """Whether findings of a code are shown without a selection."""
    return category_of(code) != PEDANTIC and (preview or code not in PREVIEW)


def fits_any(code: str, patterns: Iterable[str]) -> bool:
    """Whether a code matches one of the patterns; a category matches all of its codes."""
    category = category_of(code)
    return any(pattern == category or fnmatchcase(code, pattern) for pattern in patterns)
