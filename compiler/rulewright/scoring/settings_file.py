"""The settings file of `rulewright score`, and the settings of a run with those of its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, error, warning
from rulewright.documents.base import descend, entries, fraction, items, numeric
from rulewright.documents.kinds import CASES, kind_of
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, Node, Scalar, Sequence, is_text, load_file
from rulewright.scoring.case_scorecards import case_scorecards_of_project, load_scorecard
from rulewright.scoring.score_settings import (
    DEFAULT_FILE,
    FORMATS,
    OTHER_SETTINGS,
    ScoreSettings,
    collected,
    usual_settings,
)
from rulewright.spelling import did_you_mean
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, SettingValue
from rulewright_runtime.cases.case_settings import check_thresholds, plain_value
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError

GROUPS: Final = ("archetypes", "metricIds")
NO_PLACES: Final = "a parameter of the scorecard names its place in this file as `file: thresholds.NAME`, and none does"
OTHER_KEYS: Final = (*GROUPS, *(each.key for each in OTHER_SETTINGS))


def settings_of_run(
    plan: CaseScorecardPlan,
    *,
    file: str | None,
    environment: Lookup[str, str],
    flags: Lookup[str, object],
    assignments: list[str],
) -> ScoreSettings:
    """Collect the settings of a run; all but `file` as for `collected`.

    Settings in the file that only another scorecard of its project declares are left to that scorecard. Raises
    `DocumentError` for a settings file with mistakes, `UsageError` for a bad variable, flag or assignment.
    """
    settings = usual_settings(plan)
    _read_file(plan, settings, file)
    return collected(settings, plan, environment, flags, assignments)


def _read_file(plan: CaseScorecardPlan, settings: ScoreSettings, file: str | None) -> None:
    path = Path(file or DEFAULT_FILE)
    if file is None and not os.path.lexists(path):
        return
    loaded = load_file(path, comments=True)
    if loaded.diagnostics:
        raise DocumentError(loaded.diagnostics)
    if not isinstance(loaded.root, Mapping) or kind_of(loaded.root) == CASES:
        raise UsageError(f"`{path}` must contain an object of settings; `--cases` names a file or folder of cases")
    reader = _FileReader(plan, str(path), lambda: _declared(_plans_near(path)))
    reader.read(loaded.root, settings)
    if reader.findings:
        raise DocumentError(reader.findings)


def _plans_near(path: Path) -> list[CaseScorecardPlan]:
    """The scorecards over cases of the project of a settings file. Raises DocumentError for one with mistakes."""
    return [load_scorecard(str(each)).plan for each in case_scorecards_of_project(path.parent)]


def _declared(plans: Iterable[CaseScorecardPlan]) -> frozenset[str]:
    return frozenset(each.file for plan in plans for each in plan.settings if each.file)


def settings_findings(root: Mapping, plans: Iterable[CaseScorecardPlan]) -> list[Diagnostic]:
    """Return the findings of a settings file for the scorecards of its project."""
    plans = list(plans)
    found = [each for plan in plans for each in _findings_for(root, plan, _declared(plans))]
    return list(dict.fromkeys(found))


def _findings_for(root: Mapping, plan: CaseScorecardPlan, declared: frozenset[str]) -> list[Diagnostic]:
    reader, settings = _FileReader(plan, root.source.path, lambda: declared), usual_settings(plan)
    reader.read(root, settings)
    groups = [each for key in GROUPS for each in (root.get(key),) if isinstance(each, Mapping)]
    levels = [root, *(entry.value for group in groups for entry in group.entries)]
    odd = [
        each
        for level in levels
        for each in (*_crossed_thresholds(level, root), *_numbers_in_quotes(level, plan), *_weights_of_zero(level))
    ]
    refused = {each.span for each in reader.findings}
    found = [*reader.findings, *(each for each in odd if each.span not in refused)]
    return found or [*_refused_together(reader, settings, root)]


def _refused_together(reader: _FileReader, settings: ScoreSettings, root: Mapping) -> Findings:
    """Report settings that are valid one by one and that `score` refuses together: with a broken requirement, or a
    metric that a score both passes and fails."""
    usual = usual_settings(reader.plan)
    if _refusal(reader.plan, usual) is None and (message := _refusal(reader.plan, settings)) is not None:
        own = [node for source, node in reader.nodes.items() if f"{source};" in message or f"{source})" in message]
        notes = [(other, "set here") for other in own[1:]]
        place = own[0] if own else root
        yield error(place, message.partition(" (set by ")[0], code="bad-setting", notes=notes)


def _refusal(plan: CaseScorecardPlan, settings: ScoreSettings) -> str | None:
    try:
        check_thresholds(settings.prepared(plan), settings.choices)
    except PlanError as failure:
        return str(failure)
    return None


def _crossed_thresholds(settings: Node, root: Mapping) -> Findings:
    """Report metrics whose threshold `review` is above `pass`: below `review` they fail, from `pass` on they pass. A
    group that sets one of the two has the other from the whole file."""
    for entry in entries(settings, "thresholds"):
        usual = descend(root, "thresholds", entry.name)
        low, high = (numeric(entry.value, key) or numeric(usual, key) for key in ("review", "pass"))
        if low is not None and high is not None and float(low.raw) > float(high.raw):
            message = f"`{entry.name}` fails below {low.raw} and passes from {high.raw}"
            own, other = (low, high) if numeric(entry.value, "review") is not None else (high, low)
            notes = [(other, "the other threshold")]
            yield warning(own, message, code="bad-setting", notes=notes, help="swap the two if they are mixed up")


def _weights_of_zero(settings: Node) -> Findings:
    weights = entries(settings, "weights")
    if weights and all(fraction(each.value) == 0 for each in weights):
        yield error(weights[0].value, "all these weights are 0", code="all-weights-zero")


def _numbers_in_quotes(settings: Node, plan: CaseScorecardPlan) -> Findings:
    """Report numbers that are written as texts: `score` accepts them, other readers of the file do not."""
    numbers = {each.file for each in plan.settings if each.file and each.parameter.type in ("number", "score")}
    for path, _, value in _leaves(settings, numbers, ()) if isinstance(settings, Mapping) else ():
        if path in numbers and is_text(value):
            yield warning(value, f"`{path}` is the text `{value.value}`, not a number", code="bad-setting")


@dataclass(slots=True)
class _FileReader:
    plan: CaseScorecardPlan
    path: str
    declared: Callable[[], frozenset[str]]  # by the scorecards of the project
    findings: list[Diagnostic] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)  # of the values, by their sources

    def read(self, root: Mapping, settings: ScoreSettings) -> None:
        settings.chosen.update(self.values(root, "", OTHER_KEYS))
        for key, group in zip(GROUPS, (settings.archetypes, settings.metric_ids), strict=True):
            group_node = self.mapping(root, key)
            for entry in group_node.entries if group_node is not None else ():
                if isinstance(entry.value, Mapping):
                    group[entry.name] = self.values(entry.value, f"{key}.{entry.name}.", ())
                else:
                    self.report(entry.value, f"`{key}.{entry.name}` must be an object of settings")
        for each in OTHER_SETTINGS:
            written = self.formats(root) if each.key == "reportFormats" else self.text(root, each.key)
            if written is not None:
                settings.places[each.key] = SettingValue(written, f"{self.path}: {each.key}")

    def report(self, node: Node, message: str, help_text: str | None = None) -> None:
        self.findings.append(error(node, message, code="bad-setting", help=help_text))

    def mapping(self, root: Mapping, key: str) -> Mapping | None:
        node = root.get(key)
        if node is not None and not isinstance(node, Mapping):
            self.report(node, f"`{key}` must be an object")
        return node if isinstance(node, Mapping) else None

    def text(self, root: Mapping, key: str) -> str | None:
        node = root.get(key)
        if node is None:
            return None
        if is_text(node):
            return node.text
        self.report(node, f"`{key}` must be a text")
        return None

    def formats(self, root: Mapping) -> str | None:
        node = root.get("reportFormats")
        if node is None:
            return None
        if not isinstance(node, Sequence):
            self.report(node, "`reportFormats` must be a list of forms")
        names = [item.value if isinstance(item, Scalar) else None for item in items(root, "reportFormats")]
        for item, form in zip(items(root, "reportFormats"), names, strict=True):
            if form not in FORMATS:
                quoted = "this" if form is None else f"`{form}`"
                self.report(item, f"{quoted} is not a format of a report; expected {ticked(FORMATS)}")
        return ", ".join(str(form) for form in names) or None

    def values(self, node: Mapping, prefix: str, others: tuple[str, ...]) -> dict[str, SettingValue]:
        """Return the settings of `node`; a key that no scorecard declares is reported."""
        by_path = {setting.file: setting for setting in self.plan.settings if setting.file}
        chosen: dict[str, SettingValue] = {}
        paths: Collection[str] = by_path
        if any(path not in by_path for path, _, _ in _leaves(node, paths, others)):
            paths = {*by_path, *self.declared()}
        for path, key, value in _leaves(node, paths, others):
            setting = by_path.get(path)
            if setting is None and any(known.startswith(f"{path}.") for known in paths):
                self.report(value, f"`{prefix}{path}` must be an object of settings")
                continue
            if setting is None:
                if path not in paths:
                    help = _known_paths(path, paths, others) if paths else NO_PLACES
                    self.report(key, f"`{prefix}{path}` sets nothing", help)
                continue
            written = value.value if isinstance(value, Scalar) else None
            try:
                if written is None:
                    raise PlanError(f"`{prefix}{path}` must be one value")
                # Messages use the name in the file.
                named = replace(setting.parameter, name=f"{prefix}{path}")
                value_read = plain_value(named, written)
                source = f"{self.path}: {prefix}{path}"
                chosen[setting.parameter.name] = SettingValue(value_read, source)
                self.nodes[source] = value
            except PlanError as failure:
                self.report(value, str(failure))
        return chosen


def _known_paths(path: str, settings: Iterable[str], others: Iterable[str]) -> str | None:
    """The path that was probably meant, or those below the same key."""
    group = path.rpartition(".")[0]
    known = {*settings, *others, *(name.partition(".")[0] for name in settings)} - {group}
    below = sorted({name for name in settings if group and name.startswith(f"{group}.")})
    return did_you_mean(path, known) or (f"expected {ticked(below)}" if below else None)


def _leaves(
    node: Mapping, paths: Collection[str], others: tuple[str, ...], prefix: str = ""
) -> Iterator[tuple[str, Scalar, Node]]:
    """The values below a mapping with their path and key; `others` are skipped, mappings in `paths` are not entered."""
    for entry in node.entries:
        path = f"{prefix}{entry.name}"
        if not prefix and entry.name in others:
            continue
        if isinstance(entry.value, Mapping) and path not in paths and any(k.startswith(f"{path}.") for k in paths):
            yield from _leaves(entry.value, paths, others, f"{path}.")
        else:
            yield path, entry.key, entry.value
