"""What a project file says about linting: which findings count, in the whole project and below some paths."""

from __future__ import annotations

from dataclasses import dataclass

from rulewright.documents.base import descend, flag, items, optional_text, text_scalars
from rulewright.load import Entry, Mapping, Node, Scalar


@dataclass(frozen=True, slots=True)
class LintSetting:
    """Patterns of codes or categories to `select` (none: the default ones), to add and to `ignore` for the paths below
    the root that fit `path`; `severity` gives codes another severity, `preview` counts rules that are still new."""

    path: str
    select: tuple[Scalar, ...]
    ignore: tuple[Scalar, ...]
    extend: tuple[Scalar, ...] = ()
    severity: tuple[Entry, ...] = ()
    preview: bool = False


def read_lint_settings(root: Node | None) -> tuple[LintSetting, ...]:
    """The settings in a project file's mapping, those of the whole project first; a finding has to pass them all."""
    written = descend(root, "lint")
    rows = [written, *items(written, "per_path")]
    return tuple(_setting(row) for row in rows if isinstance(row, Mapping))


def _setting(row: Mapping) -> LintSetting:
    grades = row.get("severity")
    return LintSetting(
        path=optional_text(row, "path") or "**",
        select=text_scalars(row, "select"),
        ignore=text_scalars(row, "ignore"),
        extend=text_scalars(row, "extend_select"),
        severity=grades.entries if isinstance(grades, Mapping) else (),
        preview=flag(row, "preview") or False,
    )
