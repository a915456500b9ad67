"""Selects findings by the caller's options and by the `lint` and `accept` settings of the nearest project file."""

import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright import dependencies
from rulewright.categories import CATEGORIES, fits_any, is_default
from rulewright.diagnostics import Diagnostic, Guess, Severity, error, warning
from rulewright.documents.base import descend, entries, items
from rulewright.documents.layout import fitting, path_fits, path_meant, project_file_above
from rulewright.documents.project_file import Accept, ProjectFile, read_project_file
from rulewright.documents.typed_reader import At, read
from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.load import Entry, Loaded, Mapping, Node, Scalar, load_file
from rulewright.manual import pages
from rulewright.spelling import question, suggest, unknown_name

LEVELS: Final = tuple(Severity)


class RuleSelection(Struct, frozen=True):
    """Patterns of codes (`lexicon-*`) or categories. An empty `select` means the default rules, `extend` adds to them,
    `ignore` overrides both; `preview` adds preview rules to the default ones."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    preview: bool = False

    def check(self) -> None:
        """Raise `UsageError` for a pattern that matches no code, because it would silently select nothing."""
        for pattern in (*self.select, *self.extend, *self.ignore):
            if not _is_known(pattern):
                known = (*pages(), *CATEGORIES)
                cure = question(pattern, known, "; `rulewright explain` lists the rules")
                raise UsageError(f"unknown rule `{pattern}`{cure}")


DEFAULT = RuleSelection()


class LintSetting(Struct, frozen=True):
    """Patterns of codes or categories to `select` (none: the default ones), to add and to `ignore` for the paths that
    match `path`; `severity` gives codes another severity, `preview` includes preview rules."""

    path: Annotated[str, At(usual="**")]
    place: Annotated[Scalar | None, At("path")]  # of the path
    select: tuple[Scalar, ...]
    ignore: tuple[Scalar, ...]
    extend: Annotated[tuple[Scalar, ...], At("extend_select")]
    severity: Annotated[tuple[Entry, ...], At(by=entries)]
    preview: bool


class LintSettings(Struct, frozen=True):
    """The `lint` settings and `accept` entries of a project file; their paths are relative to `root`.

    `loaded` holds the project file if it was read only for these settings.
    """

    root: Path = Path()
    rows: tuple[LintSetting, ...] = ()
    accept: tuple[Accept, ...] = ()
    loaded: tuple[Loaded, ...] = ()
    vocabulary: Vocabulary | None = None

    def wants(self, code: str, path: str, selection: RuleSelection) -> bool:
        """Whether findings of this code are shown for this file under the caller's selection."""
        fits = fitting(path, self.root) if self.rows else None
        rows = [row for row in self.rows if fits is not None and fits(row.path)]
        if fits_any(code, selection.ignore) or any(fits_any(code, _words(row.ignore)) for row in rows):
            return False
        if fits_any(code, selection.extend) or any(fits_any(code, _words(row.extend)) for row in rows):
            return True
        chosen = [patterns for patterns in (selection.select, *(_words(row.select) for row in rows)) if patterns]
        if chosen:
            return all(fits_any(code, patterns) for patterns in chosen)
        return is_default(code, preview=selection.preview or any(row.preview for row in rows))

    def graded(self, found: Diagnostic) -> Diagnostic:
        """Return the finding with the severity that the project gives its code."""
        for row in reversed(self.rows):
            for entry in row.severity:
                if entry.name == found.code and path_fits(row.path, found.span.path, self.root):
                    return replace(found, severity=_severity(entry) or found.severity)
        return found

    def mistakes(self) -> list[Diagnostic]:
        """Return errors in reading the settings, and patterns that match no code. They may hide all other findings, so
        they are never hidden."""
        patterns = [scalar for row in self.rows for scalar in (*row.select, *row.extend, *row.ignore)]
        patterns += [entry.key for row in self.rows for entry in row.severity if entry.name not in pages()]
        return [
            *(found for loaded in self.loaded for found in loaded.diagnostics),
            *(
                unknown_name(scalar, "rule", scalar.text, (*pages(), *CATEGORIES), code="unknown-rule")
                for scalar in patterns
                if not _is_known(scalar.text)
            ),
            *(
                error(row.place, f"`{row.path}` does not exist", code="missing-path", help=Guess(meant))
                for row in self.rows
                if row.place is not None and (meant := self._path_meant(row.path)) is not None
            ),
        ]

    def _accepted(self) -> dict[str, dict[int, str]]:
        """The paths of the `accept` entries by their codes and their indexes, as they are meant."""
        paths: dict[str, dict[int, str]] = {}
        for number, entry in enumerate(self.accept):
            paths.setdefault(_code_meant(entry.rule), {})[number] = self._path_meant(entry.path) or entry.path
        return paths

    def _accepting(self, found: Diagnostic, accepted: dict[str, dict[int, str]]) -> set[int]:
        """The indexes of the `accept` entries with the finding's code and a matching path."""
        if found.code not in accepted:
            return set()
        fits = fitting(found.span.path, self.root)
        return {number for number, path in accepted[found.code].items() if fits(path)}

    def _path_meant(self, path: str) -> str | None:
        """The existing path, or the pattern below one, that a misspelt one means, which is an error of its own."""
        parts = Path(path).parts
        named = next((at for at, part in enumerate(parts) if any(each in part for each in "*?[")), len(parts))
        place = self.root.joinpath(*parts[:named])
        guess = None if dependencies.exists(place) else path_meant(Path(os.path.normpath(place)), path)
        return None if guess is None else guess.meant

    def without_accepted(self, found: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[Diagnostic]]:
        """Split the findings into those without a matching `accept` entry and those with one."""
        kept: list[Diagnostic] = []
        allowed: list[Diagnostic] = []
        accepted = self._accepted()
        for each in found:
            (allowed if self._accepting(each, accepted) else kept).append(each)
        return kept, allowed

    def idle(self, allowed: Iterable[Diagnostic], wants: Callable[[str, str], bool]) -> list[Diagnostic]:
        """Return findings for entries with an unknown code, and for entries that match none of the `allowed` findings.

        `wants` says whether a code is shown for a file; entries of other codes may match findings not computed here.
        """
        accepted = self._accepted()
        used = {number for each in allowed for number in self._accepting(each, accepted)}
        found = []
        for number, entry in enumerate(self.accept):
            place = entry.node.get("rule") or entry.node
            path, meant = entry.node.get("path"), self._path_meant(entry.path)
            if meant is not None and path is not None:
                found.append(error(path, f"`{entry.path}` does not exist", code="missing-path", help=Guess(meant)))
                continue
            if entry.rule and entry.rule not in pages():
                found.append(unknown_name(place, "rule", entry.rule, pages(), code="unknown-rule"))
            elif number not in used and wants(entry.rule, place.span.path):
                message = f"`{entry.rule}` does not occur in `{entry.path}`, so this entry accepts nothing"
                found.append(replace(warning(place, message, code="unused-suppression"), about=entry.rule))
        return found


def may_be_used(idle: Diagnostic, found: Iterable[Diagnostic]) -> bool:
    """Whether the entry that a finding calls unused matches one of the findings in other documents, or an error there,
    which may hide others."""
    _, pattern, *_ = (*idle.quoted, "", "")
    return idle.code == "unused-suppression" and any(
        (each.code == idle.about or each.severity is Severity.ERROR)
        and path_fits(pattern, each.span.path, Path(idle.span.path).parent)
        for each in found
    )


@lru_cache(maxsize=64)
def _code_meant(rule: str) -> str:
    """The code that an entry accepts; the nearest one where it is misspelt, which is an error of its own."""
    return rule if not rule or rule in pages() else suggest(rule, pages()) or rule


def read_lint_settings(root: Node | None) -> tuple[LintSetting, ...]:
    """Return the settings in a project file's mapping, those of the whole project first; a finding must pass all."""
    written = descend(root, "lint")
    rows = [written, *items(written, "per_path")]
    return tuple(read(LintSetting, row) for row in rows if isinstance(row, Mapping))


def _words(scalars: Iterable[Scalar]) -> list[str]:
    """The patterns of codes and categories, as they are meant."""
    return [_pattern_meant(each.text) for each in scalars]


@lru_cache(maxsize=256)
def _is_known(pattern: str) -> bool:
    return any(fits_any(code, [pattern]) for code in pages())


def _pattern_meant(pattern: str) -> str:
    return pattern if _is_known(pattern) else suggest(pattern, (*pages(), *CATEGORIES)) or pattern


def _severity(entry: Entry) -> Severity | None:
    """The severity that a setting names; validation reports any other word."""
    word = entry.value.value if isinstance(entry.value, Scalar) else None
    return Severity(word) if word in LEVELS else None


def settings_of(file: ProjectFile | None) -> LintSettings:
    """Return the settings of a project file that is already read; without a file, settings that change nothing."""
    return (
        LintSettings()
        if file is None
        else LintSettings(file.top, read_lint_settings(file.node), file.accept, (), file.vocabulary)
    )


def settings_around(folder: Path) -> LintSettings:
    """Return the settings of the project file in `folder` or in the nearest folder above it."""
    path = project_file_above(folder)
    if path is None:
        return LintSettings()
    loaded = load_file(path)
    if not isinstance(loaded.root, Mapping):
        return LintSettings(loaded=(loaded,))
    return replace(settings_of(read_project_file(loaded.root, os.environ)), loaded=(loaded,))
