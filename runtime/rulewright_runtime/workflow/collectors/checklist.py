"""Markdown task lists: the share of ticked items, and the share of requirement ids that are covered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rulewright_runtime.english import plural
from rulewright_runtime.workflow.collectors import report_reading

# Any short mark in brackets makes an item, so that `[-]`, `[n/a]` and `[]` count as open and are not ignored; brackets
# followed by `(`, `[` or `:` are a link.
_ITEM: Final = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]\n]{0,10})\](?![(\[:])(.*)")
_OPEN: Final = re.compile(r"\[ \]|[\u2610\u2612\u25a1\u25fb\u25fd\u2b1c]")  # the last are boxes that are not ticked
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CODE: Final = re.compile(r"(`+)[^`]*\1")


class ChecklistItem(NamedTuple):
    """An item of a checklist."""

    ticked: bool
    words: str


def checklist(root: Path, path: str, scope: Sequence[str] = ()) -> report_reading.ReportReading:
    """Count the ticked items of all items in `path`, nested ones too; only `[x]` followed by words is ticked.

    Items in code blocks and comments are not counted. Raises CollectionError for an unclosed one, which may hide items.
    """
    lines, unclosed = _visible(report_reading.read_text(root, path))
    items = [item for line in lines if (item := _item(line)) is not None]
    if unclosed:
        raise report_reading.CollectionError(path, f"a {unclosed} is not closed")
    if not items:
        raise report_reading.CollectionError(path, "contains no checklist item such as `- [ ] tests written`")
    done = sum(item.ticked for item in items)
    missing = next((item.words for item in items if not item.ticked), "")
    first = f"; first open item: {missing}" if missing else ""
    return report_reading.share(path, done, len(items), f"{done} of {plural(len(items), 'item')} ticked{first}")


def outside_code(text: str) -> Iterator[str]:
    """Return the lines of a Markdown text outside fenced code blocks and comments."""
    return iter(_visible(text)[0])


def _item(line: str) -> ChecklistItem | None:
    """Parse a line as an item. An empty box anywhere in a line, as in a table, is an open item, too, and so is the sign
    of one."""
    match = _ITEM.match(line)
    if match:
        words = match[2].strip()
        return ChecklistItem(match[1] in ("x", "X") and match[2][:1].isspace() and bool(words), words)
    return ChecklistItem(False, line.strip()) if _OPEN.search(_CODE.sub("", line)) else None


def _visible(text: str) -> tuple[list[str], str]:
    """Return the lines outside code blocks and comments, and the kind of block left unclosed."""
    lines: list[str] = []
    fence, comment = "", False
    for line in text.splitlines():
        mark = None if comment else _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            visible, comment = _strip_comments(line, comment)
            lines.append(visible)
    return lines, "code block" if fence else "comment" if comment else ""


def _strip_comments(line: str, inside: bool) -> tuple[str, bool]:
    """Return the line without comments, and whether a comment continues on the next line. After a backtick `<!--`
    starts no comment."""
    visible = ""
    while line:
        if inside:
            _, closed, line = line.partition("-->")
            inside = not closed
            continue
        before, opened, rest = line.partition("<!--")
        visible += before
        if opened and "`" in visible:
            return visible + opened + rest, False
        inside, line = bool(opened), rest
    return visible, inside


# Whole ids only: `REQ-1` does not match in `REQ-10`, `REQ-1-2` or `MY_REQ-1`.
_ID: Final = re.compile(r"(?<!\w)(?<!\w-)[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)*-\d+(?!-?\w)")


def requirement_coverage(root: Path, lists: Sequence[str], paths: Sequence[str]) -> report_reading.ReportReading:
    """Count the ids (`REQ-1`, `AUTH-NFR-12`) in the files `lists` that occur in the files and folders of `paths`.

    The lists themselves and copies of them do not count. Raises CollectionError without ids or without `paths`.
    """
    names = ", ".join(lists)
    texts = [report_reading.read_text(root, path) for path in lists]
    required = {match for text in texts for match in _ID.findall(text)}
    if not required:
        raise report_reading.CollectionError(names or "requirements", "contains no requirement id such as `REQ-1`")
    if not paths:
        raise report_reading.CollectionError(names, "no outputs or tests to search for the requirements")
    copies = [text.split() for text in texts]
    covered: set[str] = set()
    for _, text in report_reading.texts_below(root, paths):
        if text.split() not in copies:
            covered |= required & set(_ID.findall(text))
    missing = sorted(required - covered)
    details = f"{len(covered)} of {plural(len(required), 'requirement')} found"
    if missing:
        details += f"; missing: {', '.join(missing[:10])}" + (" ..." if len(missing) > 10 else "")
    return report_reading.share(names, len(covered), len(required), details)
