"""The share of ticked items in Markdown task lists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rulewright_runtime.workflow.collectors.report_reading import (
    CollectionError,
    ReportReading,
    read_text,
    share,
    texts_below,
)

# Any short mark in brackets makes an item, so that `[-]`, `[n/a]` and `[]` count as open and not as nothing; what is
# followed by `(`, `[` or `:` is a link.
_ITEM: Final = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\[\]\n]{0,10})\](?![(\[:])(.*)")
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CODE: Final = re.compile(r"(`+)[^`]*\1")


class ChecklistItem(NamedTuple):
    """An item of a checklist."""

    ticked: bool
    words: str


def checklist(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Ticked items of all items, nested ones too, in `path`; only `[x]` is ticked, and only with words behind it.

    Items in code blocks and comments are not counted. A text that ends within one of them may hide items, and is an
    error.
    """
    text = _Text(read_text(root, path))
    items = [item for line in text.lines if (item := _item(line)) is not None]
    if text.unclosed:
        raise CollectionError(path, f"a {text.unclosed} is not closed")
    if not items:
        raise CollectionError(path, "holds no checklist item such as `- [ ] tests written`")
    done = sum(item.ticked for item in items)
    missing = next((item.words for item in items if not item.ticked), "")
    first = f"; first open item: {missing}" if missing else ""
    return share(path, done, len(items), f"{done} of {len(items)} items ticked{first}")


def outside_code(text: str) -> Iterator[str]:
    """The lines of a Markdown text that stand in no fenced code block and no comment."""
    return iter(_Text(text).lines)


def _item(line: str) -> ChecklistItem | None:
    """The item that a line is. An empty box anywhere else in a line, as in a table, is an open item, too."""
    found = _ITEM.match(line)
    if found:
        words = found[2].strip()
        return ChecklistItem(found[1] in ("x", "X") and found[2][:1].isspace() and bool(words), words)
    return ChecklistItem(False, line.strip()) if "[ ]" in _CODE.sub("", line) else None


class _Text:
    """A Markdown text: the lines people see that are not code, and what it ends within."""

    def __init__(self, text: str) -> None:
        self.lines: list[str] = []
        self.unclosed = ""
        fence = ""
        comment = False
        for line in text.splitlines():
            mark = None if comment else _FENCE.match(line)
            if fence:
                if mark and mark[1].startswith(fence) and not mark[2].strip():
                    fence = ""
            elif mark:
                fence = mark[1]
            else:
                shown, comment = _uncommented(line, comment)
                self.lines.append(shown)
        self.unclosed = "code block" if fence else "comment" if comment else ""


def _uncommented(line: str, inside: bool) -> tuple[str, bool]:
    """The line without its comments, and whether one goes on in the next line; behind a backtick nothing is one."""
    shown = ""
    while line:
        if inside:
            _, closed, line = line.partition("-->")
            inside = not closed
            continue
        before, opened, rest = line.partition("<!--")
        shown += before
        if opened and "`" in shown:
            return shown + opened + rest, False
        inside, line = bool(opened), rest
    return shown, inside


# Whole ids only: `REQ-1` does not stand in `REQ-10`, `REQ-1-2` or `MY_REQ-1`.
_ID: Final = re.compile(r"(?<!\w)(?<!\w-)[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)*-\d+(?!-?\w)")


def requirement_coverage(root: Path, lists: Sequence[str], places: Sequence[str]) -> ReportReading:
    """Of the ids (`REQ-1`, `AUTH-NFR-12`) in the files `lists`, how many stand in the files and folders of `places`.

    The lists themselves prove nothing, nor do copies of them. No id at all, or nowhere to look, is a CollectionError.
    """
    named = ", ".join(lists)
    texts = [read_text(root, path) for path in lists]
    wanted = {found for text in texts for found in _ID.findall(text)}
    if not wanted:
        raise CollectionError(named or "requirements", "holds no requirement id such as `REQ-1`")
    if not places:
        raise CollectionError(named, "there are no outputs or tests to look for the requirements in")
    copies = [text.split() for text in texts]
    found: set[str] = set()
    for _, text in texts_below(root, places):
        if text.split() not in copies:
            found |= wanted & set(_ID.findall(text))
    missing = sorted(wanted - found)
    details = f"{len(found)} of {len(wanted)} requirements found"
    if missing:
        details += f"; missing: {', '.join(missing[:10])}" + (" ..." if len(missing) > 10 else "")
    return share(named, len(found), len(wanted), details)
