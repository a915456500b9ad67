"""A scorecard over cases, compiled for a run of `rulewright score`, and kept for the next one."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from rulewright.dependencies import READ, DependencyTracker
from rulewright.diagnostics import Severity
from rulewright.documents.layout import variables_in
from rulewright.errors import DocumentError
from rulewright.proving.tables import check_labels
from rulewright.render.human import render
from rulewright.result_cache import CacheEntry
from rulewright.scoring.case_scorecards import load_scorecard, usual_scorecard
from rulewright.scoring.score_settings import ScoreSettings
from rulewright.scoring.settings_file import settings_of_run
from rulewright_runtime.cases.case_plan import Choices
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.plan.envelope import encode, seal


class CompiledScorecard:
    """A scorecard that was just compiled; `plan` has no settings."""

    def __init__(self, scorecard: str | None) -> None:
        """Compile the scorecard with this name or file, by default the usual one. Raises DocumentError with every
        finding, UsageError."""
        with DependencyTracker() as tracker:
            self._card = load_scorecard(scorecard or usual_scorecard())
        self.plan, self._states = self._card.plan, tracker.states

    def settings(self, file: str | None, flags: Mapping[str, object], assignments: list[str]) -> ScoreSettings:
        """The settings of a run, as `settings_of_run` collects them."""
        return settings_of_run(self.plan, file=file, environment=os.environ, flags=flags, assignments=assignments)

    def prove(self, prepared: CaseSettings, choices: Choices, entry: CacheEntry | None) -> None:
        """Raise DocumentError for a label table with a gap under the settings of a run, and print warnings. Without any
        the plan is kept in `entry`, if there is one, with these `choices`.

        Rows that never decide are reported by lint, because settings may cause them.
        """
        card = self._card.under(choices)
        found = [each for each in check_labels(card, prepared) if each.code != "label-row-is-dead"]
        if any(each.severity is Severity.ERROR for each in found):
            raise DocumentError(found)
        if found:
            print(render(found), file=sys.stderr, end="")
        elif entry is not None and (variables := self._variables()) is not None:
            entry.store(None, encode(seal(card.plan)), self._states, variables)

    def _variables(self) -> set[str] | None:
        """The variables named by the project file; None if an escape may hide one."""
        paths = (path for access, path in self._states if access == READ and Path(path).is_file())
        return variables_in({path: Path(path).read_text(encoding="utf-8", errors="replace") for path in paths})
