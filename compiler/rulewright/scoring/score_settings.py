"""Settings of `rulewright score`: the command line overrides the environment, the settings file and the defaults."""

import os
from collections.abc import Iterator
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, error, warning
from rulewright.documents.base import descend, entries, fraction, items, numeric
from rulewright.documents.kinds import CASE_SETTINGS_FILE, CASES, kind_of
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, Node, Scalar, Sequence, load_file
from rulewright.spelling import did_you_mean, question
from rulewright_runtime.cases.case_plan import SEMANTICS, CaseScorecardPlan, Choices, Setting, SettingValue
from rulewright_runtime.cases.case_settings import CaseSettings, configuration, defaults, plain_value, prepare_settings
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError

DEFAULT_FILE: Final = CASE_SETTINGS_FILE
SUFFIXES: Final = {"json": ".json", "console": ".txt", "markdown": ".md", "html": ".html", "junit": ".xml"}
FORMATS: Final = tuple(SUFFIXES)  # of a report
GROUPS: Final = ("archetypes", "metricIds")
NO_PLACES: Final = "a parameter of the scorecard names its place in this file as `file: thresholds.NAME`, and none does"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


class SettingSource(Struct, frozen=True):
    """A setting that is not a parameter of the scorecard: its key in the settings file, and its other sources."""

    key: str
    flag: str | None = None
    environment: str | None = None
    default: str | None = None


OTHER_SETTINGS: Final = (
    SettingSource("cases", flag="--cases"),
    SettingSource("outputs", flag="--outputs"),
    SettingSource("reportDir", environment="SAFE_V0_REPORT_DIR", default="./reports"),
    SettingSource("reportFormats", flag="--format"),
    SettingSource("semantic", flag="--semantic"),
    SettingSource("semantics", flag="--semantics", environment="SAFE_V0_SEMANTICS", default="seed"),
)
OTHER_KEYS: Final = (*GROUPS, *(each.key for each in OTHER_SETTINGS))


@dataclass(slots=True)
class ScoreSettings:
    """The settings of a run. `chosen` has every parameter; the groups hold only values that differ for their cases,
    `places` the other settings by their key in the settings file. `warnings` name variables without effect."""

    chosen: dict[str, SettingValue]
    archetypes: dict[str, dict[str, SettingValue]] = field(default_factory=dict)
    metric_ids: dict[str, dict[str, SettingValue]] = field(default_factory=dict)
    places: dict[str, SettingValue] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def choices(self) -> Choices:
        """Every parameter with its source, the values of groups, and the semantics."""
        return Choices(self.chosen, self.archetypes, self.metric_ids, self.places["semantics"])

    @property
    def written(self) -> Choices:
        """The choices without defaults, as a plan holds them."""
        chosen = {name: each for name, each in self.chosen.items() if each.source != "default"}
        return Choices(chosen, self.archetypes, self.metric_ids, self.places["semantics"])

    def prepared(self, plan: CaseScorecardPlan) -> CaseSettings:
        """Return the settings for the runtime. Raises PlanError where they break a requirement of the scorecard."""
        return prepare_settings(plan, self.choices)

    def place(self, key: str) -> str | None:
        """Return the value of one of `OTHER_SETTINGS`, or None."""
        chosen = self.places.get(key)
        return None if chosen is None else str(chosen.value)

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of the requested report formats."""
        written = self.place("reportFormats")
        return FORMATS if written == "all" else tuple(written.split(", ")) if written else ()

    def as_data(self, plan: CaseScorecardPlan) -> dict[str, object]:
        """Return every value with its source, for `--show-config` and the report."""
        places = {key: {"value": chosen.value, "source": chosen.source} for key, chosen in self.places.items()}
        return {**places, **configuration(plan, self.choices)}


def gather(
    plan: CaseScorecardPlan,
    *,
    file: str | None,
    environment: Lookup[str, str],
    flags: Lookup[str, Any],
    assignments: list[str],
) -> ScoreSettings:
    """Collect the settings of a run. `flags` maps the flags of the command line to their values, if any; `assignments`
    are the words after `--set`.

    Raises `DocumentError` for a settings file with mistakes, `UsageError` for a bad variable, flag or assignment.
    """
    settings = ScoreSettings(defaults(plan))
    settings.places = {
        each.key: SettingValue(each.default, "default") for each in OTHER_SETTINGS if each.default is not None
    }
    _read_file(plan, settings, file)
    _read_environment(plan, settings, environment)
    _read_command_line(plan, settings, flags, assignments)
    semantics = settings.places["semantics"]
    if semantics.value not in SEMANTICS:
        known = " or ".join(f"`{each}`" for each in SEMANTICS)
        raise UsageError(f"the semantics must be {known}, found `{semantics.value}` ({semantics.source})")
    return settings


def _read_file(plan: CaseScorecardPlan, settings: ScoreSettings, file: str | None) -> None:
    path = Path(file or DEFAULT_FILE)
    if file is None and not os.path.lexists(path):
        return
    loaded = load_file(path, comments=True)
    if loaded.diagnostics:
        raise DocumentError(loaded.diagnostics)
    if not isinstance(loaded.root, Mapping) or kind_of(loaded.root) == CASES:
        raise UsageError(f"`{path}` must hold an object of settings; `--cases` names a file or folder of cases")
    reader = _FileReader(plan, str(path))
    reader.read(loaded.root, settings)
    if reader.findings:
        raise DocumentError(reader.findings)


def settings_findings(root: Mapping, plan: CaseScorecardPlan) -> list[Diagnostic]:
    """Return the findings of a settings file for a scorecard."""
    reader = _FileReader(plan, root.source.path)
    reader.read(root, ScoreSettings({}))
    groups = [each for key in GROUPS for each in (root.get(key),) if isinstance(each, Mapping)]
    levels = [root, *(entry.value for group in groups for entry in group.entries)]
    odd = [
        each
        for level in levels
        for each in (*_crossed_thresholds(level, root), *_numbers_in_quotes(level, plan), *_weights_of_zero(level))
    ]
    refused = {each.span for each in reader.findings}
    return [*reader.findings, *(each for each in odd if each.span not in refused)]


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
        if path in numbers and isinstance(value, Scalar) and isinstance(value.value, str):
            yield warning(value, f"`{path}` is the text `{value.value}`, not a number", code="bad-setting")


@dataclass(slots=True)
class _FileReader:
    plan: CaseScorecardPlan
    path: str
    findings: list[Diagnostic] = field(default_factory=list)

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
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return node.value
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
        """Return the settings of `node`; an unknown key is reported."""
        by_path = {setting.file: setting for setting in self.plan.settings if setting.file}
        chosen: dict[str, SettingValue] = {}
        for path, key, value in _leaves(node, by_path.keys(), others):
            setting = by_path.get(path)
            if setting is None and any(known.startswith(f"{path}.") for known in by_path):
                self.report(value, f"`{prefix}{path}` must be an object of settings")
                continue
            if setting is None:
                known_keys = {*by_path, *others, *(name.partition(".")[0] for name in by_path)}
                help = did_you_mean(path, known_keys) if by_path else NO_PLACES
                self.report(key, f"`{prefix}{path}` sets nothing", help)
                continue
            written = value.value if isinstance(value, Scalar) else None
            try:
                if written is None:
                    raise PlanError(f"`{prefix}{path}` must be one value")
                # Messages use the name in the file.
                named = replace(setting.parameter, name=f"{prefix}{path}")
                value_read = plain_value(named, written)
                chosen[setting.parameter.name] = SettingValue(value_read, f"{self.path}: {prefix}{path}")
            except PlanError as failure:
                self.report(value, str(failure))
        return chosen


def _leaves(node: Mapping, paths: Any, others: tuple[str, ...], prefix: str = "") -> Iterator[tuple[str, Scalar, Node]]:
    """The values below a mapping with their path and key; `others` are skipped, mappings in `paths` are not entered."""
    for entry in node.entries:
        path = f"{prefix}{entry.name}"
        if not prefix and entry.name in others:
            continue
        if isinstance(entry.value, Mapping) and path not in paths and any(k.startswith(f"{path}.") for k in paths):
            yield from _leaves(entry.value, paths, others, f"{path}.")
        else:
            yield path, entry.key, entry.value


def _read_environment(plan: CaseScorecardPlan, settings: ScoreSettings, environment: Lookup[str, str]) -> None:
    for setting in plan.settings:
        name = setting.environment
        written = environment.get(name, "").strip() if name else ""
        if name and written:
            value = _parse(setting, written, f"the environment variable `{name}`")
            settings.chosen[setting.parameter.name] = SettingValue(value, f"environment {name}")
    for each in OTHER_SETTINGS:
        if each.environment and environment.get(each.environment):
            settings.places[each.key] = SettingValue(environment[each.environment], f"environment {each.environment}")
    known = {setting.environment for setting in plan.settings if setting.environment}
    prefix = os.path.commonprefix(sorted(known))  # noqa: RUF071 - these are names, not paths
    known |= {each.environment for each in OTHER_SETTINGS if each.environment}
    for name in sorted(environment):
        if prefix.endswith("_") and name.startswith(prefix) and name not in known:
            settings.warnings.append(f"the environment variable `{name}` sets nothing{question(name, known)}")


def _read_command_line(
    plan: CaseScorecardPlan, settings: ScoreSettings, flags: Lookup[str, Any], assignments: list[str]
) -> None:
    by_name = {setting.parameter.name: setting for setting in plan.settings}
    by_flag = {setting.flag: setting for setting in plan.settings if setting.flag}
    keys = {each.flag: each.key for each in OTHER_SETTINGS}
    for flag, value in flags.items():
        if not value:
            continue
        if flag in keys:
            settings.places[keys[flag]] = SettingValue(value, flag)
        elif flag in by_flag:
            settings.chosen[by_flag[flag].parameter.name] = SettingValue(value, flag)
        else:
            raise UsageError(f"the scorecard `{plan.name}` has no setting for `{flag}`")
    for word in assignments:
        name, equals, written = word.partition("=")
        setting = by_name.get(name)
        if not equals:
            raise UsageError(f"`--set` takes NAME=VALUE, found `{word}`")
        if setting is None:
            hint = question(name, by_name, f"; expected {', '.join(by_name)}")
            raise UsageError(f"unknown setting `{name}`{hint}")
        value = _parse(setting, written.strip(), f"`--set {name}`")
        settings.chosen[name] = SettingValue(value, f"--set {name}")


def _parse(setting: Setting, written: str, source: str) -> Any:
    value: Any = written
    kind = setting.parameter.type
    try:
        if kind == "bool":
            word = written.lower()
            if word not in _TRUE | _FALSE:
                raise UsageError(f"{source} must be true or false, found `{written}`")
            return word in _TRUE
        if kind == "integer":
            value = int(written)
        elif kind == "number":
            value = float(written)
        return plain_value(setting.parameter, value)
    except (PlanError, ValueError) as failure:
        reason = str(failure) if isinstance(failure, PlanError) else f"`{written}` is not a number"
        raise UsageError(f"{source}: {reason}") from None


def describe(settings: ScoreSettings) -> Iterator[str]:
    """Format the settings as the lines of `--show-config`."""
    rows = [*settings.chosen.items(), *settings.places.items()]
    for kind, group in (("archetype", settings.archetypes), ("metric", settings.metric_ids)):
        for name, values in group.items():
            rows += [(f"{key} ({kind} {name})", chosen) for key, chosen in values.items()]
    widest = max(len(name) for name, _ in rows)
    for name, chosen in rows:
        value = str(chosen.value).lower() if isinstance(chosen.value, bool) else str(chosen.value)
        yield f"{name:<{widest}}  {value:<10}  {chosen.source}"
