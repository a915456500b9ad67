"""The report of a lint run: the sorted findings.

The findings of the loader, the validation, lowering and the rules are collected here and filtered by suppression
comments, `accept` entries and the caller's selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright import fixes
from rulewright.categories import CATEGORIES, category_of
from rulewright.causes.consequences import Again, causes_of
from rulewright.causes.repeated import together, without_echoes
from rulewright.check.document import is_seen_alone
from rulewright.diagnostics import Diagnostic, Severity, in_order
from rulewright.linting.lint_settings import LintSettings, RuleSelection
from rulewright.linting.spellings import without_misspelt_declarations
from rulewright.load import Loaded, Source
from rulewright.load.suppressions import suppress, unused
from rulewright.manual import pages

NOT_FOUND: Final = frozenset({"missing-path", "unset-variable"})  # some files are unknown
UNREAD: Final = frozenset({"bad-expression", "bad-parameter", "wrong-type"})  # a document has not been checked in full


class Report(Struct, frozen=True):
    """The sorted findings; those that comments and `accept` entries allow; the sources of all files read; and the
    findings that are not shown because another one explains them."""

    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Diagnostic, ...]
    sources: dict[str, Source]
    explained: tuple[Diagnostic, ...] = ()

    def fails(self, level: Severity = Severity.ADVICE) -> bool:
        """Whether a finding is at least as severe as `level`."""
        return any(found.severity.rank <= level.rank for found in self.diagnostics)

    def errors(self) -> Report:
        """Return the report with only its errors."""
        return replace(self, diagnostics=tuple(each for each in self.diagnostics if each.severity is Severity.ERROR))

    def grouped(self) -> Report:
        """Return the report with the findings of one cause as one finding, at the first of their places."""
        return replace(self, diagnostics=tuple(together(self.diagnostics)))

    @property
    def categories(self) -> list[tuple[str, int]]:
        """Every category with findings, and their number."""
        counts = Counter(category_of(found.code) for found in self.diagnostics)
        return [(category, counts[category]) for category in CATEGORIES if counts[category]]

    @property
    def statistics(self) -> list[tuple[str, Severity, int]]:
        """Every code with its severity and number of findings, the most frequent first."""
        counts = Counter((found.code, found.severity) for found in self.diagnostics)
        return sorted(
            ((code, severity, count) for (code, severity), count in counts.items()),
            key=lambda row: (-row[2], row[0], row[1].rank),
        )


def report_of(
    found: Iterable[Diagnostic],
    files: Sequence[Loaded],
    selection: RuleSelection,
    settings: LintSettings,
    again: Again | None = None,
    *,
    whole: bool,
) -> Report:
    """Return the report of these findings; `again` lints with other texts in place of files.

    Unused `accept` entries, and unused comments about findings that need a project, are only reported if a `whole`
    project was linted.
    """

    def wants(code: str, path: str) -> bool:
        return settings.wants(code, path, selection)

    sources = {loaded.source.path: loaded.source for loaded in (*files, *settings.loaded)}
    found = list(found) if selection.select else without_misspelt_declarations(list(found), sources)
    # Collecting the pages of the manual is slow, so it is done only where a comment names a code.
    codes = pages() if any("rulewright:" in loaded.source.text for loaded in files) else {}
    rest, accepted = settings.without_accepted(map(settings.graded, found))
    kept, allowed, useless = suppress(rest, files, codes)
    unread = {each.span.path for each in kept if each.code in UNREAD}
    is_complete = not any(each.code in NOT_FOUND for each in kept)
    kept += settings.idle(accepted, wants) if whole and is_complete else []
    kept += [
        unused(each, sources[each.path])
        for each in useless
        if wants(each.code, each.path) and (whole or is_seen_alone(each.code)) and each.path not in unread
    ]
    known = [*accepted, *allowed, *settings.mistakes()]
    wanted = [each for each in kept if wants(each.code, each.span.path)]
    if again is None or selection.select:  # selected rules show all their findings
        shown = without_echoes(wanted, known)
    else:
        shown = causes_of(wanted, files, again, known)
    return Report(
        in_order([*fixes.fitted(shown, files), *settings.mistakes()]),
        in_order([*accepted, *allowed]),
        dict(sorted(sources.items())),
        in_order(explained_in(wanted, shown)),
    )


def explained_in(found: Iterable[Diagnostic], shown: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings that are not among the shown ones, because another one explains them."""
    own = {(each.span, each.code, each.message) for each in shown}
    return [each for each in found if (each.span, each.code, each.message) not in own]
