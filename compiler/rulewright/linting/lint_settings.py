"""Which findings count: what the caller selects, and what the nearest project file selects and accepts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rulewright.categories import CATEGORIES, fits_any, is_default
from rulewright.diagnostics import Diagnostic, Severity, warning
from rulewright.documents.base import descend, flag, items, optional_text, text_scalars
from rulewright.documents.layout import path_fits, project_file_above
from rulewright.documents.project_file import Accept, ProjectFile, read_project_file
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.load import Entry, Loaded, Mapping, Node, Scalar, load_file
from rulewright.load.suppressions import unknown_rule
from rulewright.manual import pages
from rulewright.spelling import suggest

LEVELS: Final = tuple(Severity)


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """Which findings count: patterns of codes (`lexicon-*`) or categories. An empty `select` means the default ones,
    `extend` adds to them, `ignore` wins; `preview` makes rules that are still new default ones."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    preview: bool = False

    def check(self) -> None:
        """Raise `UsageError` for a pattern that fits no code: it would silently choose nothing."""
        for pattern in (*self.select, *self.extend, *self.ignore):
            if not any(fits_any(code, [pattern]) for code in pages()):
                near = suggest(pattern, (*pages(), *CATEGORIES))
                hint = f"; did you mean `{near}`?" if near else ""
                raise UsageError(f"unknown rule `{pattern}`{hint}")


DEFAULT = RuleSelection()
EVERYTHING = RuleSelection(select=("*",))


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


@dataclass(frozen=True, slots=True)
class LintSettings:
    """The part `lint` and the `accept` entries of a project file; `root` is where their paths start.

    `loaded` is the project file where it was read for these settings alone.
    """

    root: Path = Path()
    rows: tuple[LintSetting, ...] = ()
    accept: tuple[Accept, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    vocabulary: Vocabulary | None = None

    def wants(self, code: str, path: str, selection: RuleSelection) -> bool:
        """Whether findings of this code count in this file, for a caller who selects so."""
        rows = [row for row in self.rows if path_fits(row.path, path, self.root)]
        if fits_any(code, selection.ignore) or any(fits_any(code, _words(row.ignore)) for row in rows):
            return False
        if fits_any(code, selection.extend) or any(fits_any(code, _words(row.extend)) for row in rows):
            return True
        chosen = [patterns for patterns in (selection.select, *(_words(row.select) for row in rows)) if patterns]
        if chosen:
            return all(fits_any(code, patterns) for patterns in chosen)
        return is_default(code, preview=selection.preview or any(row.preview for row in rows))

    def graded(self, found: Diagnostic) -> Diagnostic:
        """The finding with the severity that the project gives its code."""
        for row in reversed(self.rows):
            for entry in row.severity:
                if entry.name == found.code and path_fits(row.path, found.span.path, self.root):
                    return replace(found, severity=_severity(entry) or found.severity)
        return found

    def mistakes(self) -> list[Diagnostic]:
        """What keeps the settings from being read, and patterns that fit no code: they may hide all else, and so are
        never hidden."""
        patterns = [scalar for row in self.rows for scalar in (*row.select, *row.extend, *row.ignore)]
        patterns += [entry.key for row in self.rows for entry in row.severity if entry.name not in pages()]
        return [
            *(found for loaded in self.loaded for found in loaded.diagnostics),
            *(
                unknown_rule(scalar.span, str(scalar.value), pages())
                for scalar in patterns
                if not any(fits_any(code, [str(scalar.value)]) for code in pages())
            ),
        ]

    def accepting(self, found: Diagnostic) -> set[int]:
        """The numbers of the `accept` entries that cover a finding: same code, and its path fits."""
        return {
            number
            for number, entry in enumerate(self.accept)
            if entry.rule == found.code and path_fits(entry.path, found.span.path, self.root)
        }

    def without_accepted(self, found: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """The findings that no entry covers, and those that one does."""
        kept: list[Diagnostic] = []
        allowed: list[Diagnostic] = []
        for each in found:
            (allowed if self.accepting(each) else kept).append(each)
        return kept, allowed

    def idle(self, allowed: Iterable[Diagnostic], wants: Callable[[str, str], bool]) -> list[Diagnostic]:
        """What is wrong with the entries where `allowed` is all that they cover: no such code, or nothing to accept.

        `wants` says whether findings of a code count in a file: where they don't, nobody knows whether there are some.
        """
        used = {number for each in allowed for number in self.accepting(each)}
        found = []
        for number, entry in enumerate(self.accept):
            place = entry.node.get("rule") or entry.node
            if entry.rule and entry.rule not in pages():
                found.append(unknown_rule(place.span, entry.rule, pages()))
            elif number not in used and wants(entry.rule, place.span.path):
                message = f"nothing below `{entry.path}` is `{entry.rule}`, so this entry accepts nothing"
                found.append(replace(warning(place, message, code="unused-suppression"), about=entry.rule))
        return found


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


def _words(scalars: Iterable[Scalar]) -> list[str]:
    return [str(each.value) for each in scalars]


def _severity(entry: Entry) -> Severity | None:
    """The severity that a setting names; another word is a finding of the file's structure."""
    word = entry.value.value if isinstance(entry.value, Scalar) else None
    return Severity(word) if word in LEVELS else None


def settings_of(file: ProjectFile | None) -> LintSettings:
    """The settings of a project file that is already read; those of no file let everything pass."""
    return (
        LintSettings()
        if file is None
        else LintSettings(file.top, read_lint_settings(file.node), file.accept, (), file.vocabulary)
    )


def settings_around(folder: Path) -> LintSettings:
    """The settings of the project file in `folder` or in the nearest folder above it."""
    path = project_file_above(folder)
    if path is None:
        return LintSettings()
    loaded = load_file(path, shown_as=str(path))
    if not isinstance(loaded.root, Mapping):
        return LintSettings(loaded=(loaded,))
    return replace(settings_of(read_project_file(loaded.root, os.environ)), loaded=(loaded,))
