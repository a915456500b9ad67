from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import Document
from rulewright.load import Mapping, Node, Scalar, is_text, walk

if TYPE_CHECKING:
    from rulewright.documents.case_batch import CaseBatch
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.project import Project

LONGEST: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # days of the months
DATE: Final = re.compile(r"([12]\d{3})-(\d\d)(?:-(\d\d)(?:T.*)?)?")
# The same with the year at the end; in `03/04/2026` nobody knows the month.
TURNED: Final = re.compile(r"(?:(\d\d?)([./-]))?(\d\d?)[./-]([12]\d{3})")
DATED: Final = re.compile(r"(?:^|_)(?:at|checked|date|dated|on)$|^(?:created|reviewed|updated)\b")


def impossible_date(subject: CheckDocument | Profile | ScenarioDocument | Project | CaseBatch) -> Findings:
    """A date in the form YEAR-MONTH-DAY or YEAR-MONTH does not exist, or one is written with its year at the end.

    Why it matters: tools that sort or compare dates refuse it, or take another one; usually month and day are swapped.
    Instead: correct it.
    """
    roots: list[Node]
    if isinstance(subject, Document):
        roots = [subject.node]
    elif not hasattr(subject, "corpora"):
        roots = [subject.root]
    else:
        roots = [each.node for each in subject.corpora.values()]
    for node in (node for each in roots for node in walk(each)):
        if type(node) is Mapping and not hasattr(subject, "verdict_conditions"):  # a check may look for such a date
            yield from _turned(node)
        written = DATE.fullmatch(node.text) if is_text(node) else None
        if written is None or _exists(written[2], written[3] or "01") or _is_season(written):
            continue
        year, month, day = written.groups()
        help = f"did you mean `{year}-{day}-{month}`?" if day and _exists(day, month) else None
        yield warning(node, f"`{'-'.join(filter(None, (year, month, day)))}` is not a date", help=help)


def _turned(node: Mapping) -> Findings:
    """The dates of a mapping with the year at the end."""
    for entry in node.entries:
        value = entry.value
        text = value.text if type(value) is Scalar and DATED.search(entry.name) else ""
        if (written := TURNED.fullmatch(text)) is not None:
            day, sign, month, year = written.groups()
            is_clear = sign == "." or day is None  # else the day may be the first or the second number
            meant = "-".join(each.zfill(2) for each in (year, month, day) if each)
            help = f"write `{meant}`" if is_clear else "write YEAR-MONTH-DAY"
            yield warning(value, f"`{text}` is not in the form YEAR-MONTH-DAY", help=help)


def _is_season(written: re.Match[str]) -> bool:
    """Whether two numbers are two years in a row, `2024-25`, or no year and month at all."""
    year, following = int(written[1]), int(written[2])
    return written[3] is None and (not 1900 <= year < 2100 or (year + 1) % 100 == following)


def _exists(month: str, day: str) -> bool:
    return int(month) in range(1, 13) and int(day) in range(1, LONGEST[int(month) - 1] + 1)
