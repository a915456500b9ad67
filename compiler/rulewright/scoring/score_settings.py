"""Settings of `rulewright score`: the command line overrides the environment, the settings file and the defaults."""

import os
from collections.abc import Iterator
from collections.abc import Mapping as Lookup
from typing import Any, Final

from msgspec import Struct, field

from rulewright.errors import UsageError
from rulewright.spelling import question
from rulewright_runtime.cases.case_plan import SEMANTICS, CaseScorecardPlan, Choices, Setting, SettingValue
from rulewright_runtime.cases.case_settings import CaseSettings, configuration, defaults, plain_value, prepare_settings
from rulewright_runtime.cases.records import CASE_SETTINGS_FILE
from rulewright_runtime.errors import PlanError

DEFAULT_FILE: Final = CASE_SETTINGS_FILE
SUFFIXES: Final = {
    "json": ".json",
    "console": ".txt",
    "markdown": ".md",
    "html": ".html",
    "junit": ".xml",
    "sarif": ".sarif",
    "github": ".github.txt",
}
FORMATS: Final = tuple(SUFFIXES)  # of a report
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


class ScoreSettings(Struct):
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


def collected(
    settings: ScoreSettings,
    plan: CaseScorecardPlan,
    environment: Lookup[str, str],
    flags: Lookup[str, object],
    assignments: list[str],
) -> ScoreSettings:
    """Add the settings of the environment and of the command line to the defaults and those of a file. `flags` maps the
    flags of the command line to their values, if any; `assignments` are the words after `--set`. Raises `UsageError`
    for a bad variable, flag or assignment."""
    _read_environment(plan, settings, environment)
    _read_command_line(plan, settings, flags, assignments)
    semantics = settings.places["semantics"]
    if semantics.value not in SEMANTICS:
        known = " or ".join(f"`{each}`" for each in SEMANTICS)
        raise UsageError(f"the semantics must be {known}, found `{semantics.value}` ({semantics.source})")
    return settings


def usual_settings(plan: CaseScorecardPlan) -> ScoreSettings:
    """The defaults."""
    places = {each.key: SettingValue(each.default, "default") for each in OTHER_SETTINGS if each.default is not None}
    return ScoreSettings(defaults(plan), places=places)


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
