"""Suppresses the findings of a report with a comment and a reason at each place, or with `accept` entries for JSON.

A new text is used only if its document has the same content as before and the comment covers the findings.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rulewright.diagnostics import Diagnostic
from rulewright.documents.layout import project_file_above
from rulewright.errors import UsageError
from rulewright.linting.lint_report import Report
from rulewright.load import Loaded, Mapping, Scalar, Source, load_file, load_text, plain
from rulewright.load.suppressions import SUPPRESSION_CODES, Suppression, lines_of_values, read

NEWLINE: Final = re.compile(r"\r\n|\r|\n")
ACCEPT: Final = "accept"


def allowing_texts(report: Report, reason: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Return the new text of every changed file, and the findings that could not be suppressed. Raises `UsageError`
    without a reason."""
    reason = " ".join(reason.split())
    if not reason:
        raise UsageError("`--add-allow` needs a reason why these findings are acceptable")
    texts: dict[str, str] = {}
    left: list[Diagnostic] = []
    found = [each for each in report.diagnostics if each.code not in SUPPRESSION_CODES]
    for path in dict.fromkeys(each.span.path for each in found):
        here = [each for each in found if each.span.path == path]
        if path.endswith(".json"):
            left += _accepted(here, reason, texts)
        else:
            text, rest = _commented(report.sources[path], here, reason)
            left += rest
            if text != report.sources[path].text:
                texts[path] = text
    return texts, left + [each for each in report.diagnostics if each.code in SUPPRESSION_CODES]


def _commented(source: Source, found: list[Diagnostic], reason: str) -> tuple[str, list[Diagnostic]]:
    """Return the text with a comment for each line with findings, and the findings that no comment could cover."""
    text, left = source.text, []
    loaded = load_text(text, source.path)
    lines: dict[int, list[Diagnostic]] = {}
    for each in found:
        lines.setdefault(_first_line(loaded, each.span.line), []).append(each)
    for line in sorted(lines, reverse=True):
        codes = sorted({each.code for each in lines[line]})
        note = f"# rulewright: allow {', '.join(codes)} because {reason}"
        before, here = load_text(text, source.path), lines[line]
        better = (new for new in _candidates(before.source, line, note) if _allows(before, new, codes, here))
        chosen = next(better, None)
        if chosen is None:
            left += here
        else:
            text = chosen
    return text, left


def _candidates(source: Source, line: int, note: str) -> Iterator[str]:
    """Yield the text with the comment on a line of its own above a line, then with the comment at the line's end."""
    written = source.line_text(line)
    above = source.offset(line, 1)
    end = above + len(written.rstrip("\r\n"))
    indent = written[: len(written) - len(written.lstrip())]
    yield f"{source.text[:above]}{indent}{note}{source.newline}{source.text[above:]}"
    yield f"{source.text[:end]}  {note}{source.text[end:]}"


def _allows(before: Loaded, text: str, codes: list[str], found: list[Diagnostic]) -> bool:
    """Whether a text has the same content as before and its new comment covers the findings, but not the whole file."""
    after = load_text(text, before.source.path)
    if before.root is None or after.root is None or plain(after.root) != plain(before.root):
        return False
    old, new = (read(each.source, each.root, frozenset(codes))[0] for each in (before, after))
    added = len(after.source.starts) - len(before.source.starts)
    fresh = [each for each in new if not any(_is_moved(each, other, added) for other in old)]
    whole = any(each.first == 1 and each.last == len(after.source.starts) for each in fresh)
    return not whole and all(
        any(each.code == one.code and each.first <= one.span.line + added <= each.last for each in fresh)
        for one in found
    )


def _is_moved(new: Suppression, old: Suppression, added: int) -> bool:
    return new.code == old.code and new.comment.line in (old.comment.line, old.comment.line + added)


def _first_line(loaded: Loaded, line: int) -> int:
    """The first line of the outermost multi-line value that contains a line, or the line itself."""
    values = () if loaded.root is None else lines_of_values(loaded.root)
    return min((first for first, last in values if first < line <= last), default=line)


def _accepted(found: list[Diagnostic], reason: str, texts: dict[str, str]) -> list[Diagnostic]:
    """Add `accept` entries for the findings to the text of the project file; return the findings without an entry."""
    path = project_file_above(Path(found[0].span.path).parent)
    if path is None:
        return found
    loaded = load_file(path)
    text = texts.get(str(path), loaded.source.text)
    root = load_text(text, str(path)).root
    below = os.path.relpath(found[0].span.path, _root_of(root, path)).replace(os.sep, "/")
    rows = [{"rule": code, "path": below, "reason": reason} for code in sorted({each.code for each in found})]
    new = None if not isinstance(root, Mapping) else _with_rows(text, root, rows)
    wanted = {**plain(root), ACCEPT: [*(plain(root).get(ACCEPT) or []), *rows]} if isinstance(root, Mapping) else None
    if new is None or (after := load_text(new, str(path)).root) is None or plain(after) != wanted:
        return found
    texts[str(path)] = new
    return []


def _root_of(root: object, path: Path) -> Path:
    named = root.get("root") if isinstance(root, Mapping) else None
    return path.parent / named.text if isinstance(named, Scalar) else path.parent


def _with_rows(text: str, root: Mapping, rows: list[dict[str, str]]) -> str:
    """Return the text of a project file with rows appended to its `accept` list."""
    entry, source, newline = root.index.get(ACCEPT), root.source, root.source.newline
    at, indent, head = len(text), "  ", [f"{ACCEPT}:"]
    if entry is not None:
        line = source.line_text(source.position(entry.value.start)[0])
        following = NEWLINE.search(text, max(entry.value.end - 1, 0))
        at, indent, head = following.end() if following else len(text), line[: len(line) - len(line.lstrip())], []
    for row in rows:
        keys = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items()]
        head += [f"{indent}- {keys[0]}", *(f"{indent}  {key}" for key in keys[1:])]
    glue = "" if not text[:at] or text[:at].endswith(("\n", "\r")) else newline
    return text[:at] + glue + "".join(f"{line}{newline}" for line in head) + text[at:]
