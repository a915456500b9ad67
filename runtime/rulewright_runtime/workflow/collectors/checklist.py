"""The share of ticked items in Markdown task lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright_runtime.workflow.collectors.base import CollectionError, Reading, read_text, share

_ITEM: Final = re.compile(r"\s*(?:>\s*)*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?=\s+\S)")
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)")


def checklist(root: Path, path: str) -> Reading:
    """Ticked items of all items `- [ ]`, nested ones too, in `path`; items in code blocks are not counted."""
    done = total = 0
    missing = ""
    for line in outside_code(read_text(root, path)):
        item = _ITEM.match(line)
        if item:
            total += 1
            done += item[1] != " "
            missing = missing or (line[item.end() :].strip() if item[1] == " " else "")
    if not total:
        raise CollectionError(path, "holds no checklist item such as `- [ ] tests written`")
    first = f"; first open item: {missing}" if missing else ""
    return share(path, done, total, f"{done} of {total} items ticked{first}")


def outside_code(text: str) -> Iterator[str]:
    """The lines of a Markdown text that stand in no fenced code block."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if not fence and mark:
            fence = mark[1]
        elif not fence:
            yield line
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
