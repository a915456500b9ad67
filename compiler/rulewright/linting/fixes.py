"""Applying fixes: edits that don't overlap, from the text's end to its start."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.diagnostics import Diagnostic, Fix
    from rulewright.load import Source


def fixed_texts(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], *, unsafe: bool = False
) -> tuple[dict[str, str], int]:
    """The new text of every file that changes, and how many fixes were applied.

    Of two fixes that touch the same place only the first is applied; linting again finds the other.
    """
    edits: dict[str, list[tuple[int, int, str]]] = {}
    applied = 0
    for each in diagnostics:
        if each.fix is None or not (each.fix.safe or unsafe):
            continue
        wanted = _offsets(each.fix, sources)
        if wanted is None or any(_overlaps(edit, edits.get(path, ())) for path, edit in wanted):
            continue
        applied += 1
        for path, edit in wanted:
            edits.setdefault(path, []).append(edit)
    return {path: _edited(sources[path].text, found) for path, found in edits.items()}, applied


def as_bytes(source: Source, text: str) -> bytes:
    """The new text as it is written to the file: with its byte order mark, if it had one."""
    return (("\ufeff" if source.bom else "") + text).encode()


def diff(path: str, old: str, new: str) -> str:
    """The change of one file as a unified diff."""
    lines = difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _offsets(fix: Fix, sources: Mapping[str, Source]) -> list[tuple[str, tuple[int, int, str]]] | None:
    found = []
    for edit in fix.edits:
        source = sources.get(edit.span.path)
        if source is None:
            return None
        start = source.offset(edit.span.line, edit.span.column)
        end = source.offset(edit.span.end_line, edit.span.end_column)
        found.append((edit.span.path, (start, end, edit.text)))
    return found


def _overlaps(edit: tuple[int, int, str], others: Iterable[tuple[int, int, str]]) -> bool:
    start, end, _ = edit
    return any(
        (start < other_end and other_start < end) or start == other_start for other_start, other_end, _ in others
    )


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text
