"""Settings of `rulewright score`: command line over environment over settings file over the scorecard's defaults."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.base import texts
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, Node, Scalar, load_file
from rulewright_runtime.cases.plan import CaseScorecardPlan, Setting
from rulewright_runtime.cases.settings import Settings, settings_hash
from rulewright_runtime.cases.writing import FORMATS
from rulewright_runtime.errors import PlanError
from rulewright_runtime.parameters import parameter_value

DEFAULT_FILE: Final = "safe.config.json"
REPORT_DIR: Final = "SAFE_V0_REPORT_DIR"
GROUPS: Final = ("archetypes", "metricIds")
OTHER_KEYS: Final = ("archetypes", "cases", "metricIds", "outputs", "reportDir", "reportFormats")
PAGES: Final[dict[str, str]] = {
    "bad-setting": """A settings file with a key that sets nothing, or a value that does not fit.

    Why it matters: a misspelt threshold would silently leave the default in force.
    Instead: spell it as the help says; `rulewright score --show-config` prints every setting with its source.
    """,
}
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """A setting's value and where it came from."""

    value: Any
    source: str


@dataclass(slots=True)
class ScoreSettings:
    """Everything that is set. `chosen` has every parameter; the groups hold only what differs for their cases."""

    chosen: dict[str, Chosen]
    archetypes: dict[str, dict[str, Chosen]] = field(default_factory=dict)
    metric_ids: dict[str, dict[str, Chosen]] = field(default_factory=dict)
    report_dir: Chosen = field(default_factory=lambda: Chosen("./reports", "default"))
    formats: tuple[str, ...] = ()
    cases: str | None = None
    outputs: str | None = None

    def prepared(self, plan: CaseScorecardPlan) -> Settings:
        """The settings as the runtime takes them. PlanError when together they don't fulfil the scorecard."""
        metric_ids, archetypes = _values(self.metric_ids), _values(self.archetypes)
        given = {name: chosen.value for name, chosen in self.chosen.items()}
        return Settings(plan, given, metric_ids=metric_ids, archetypes=archetypes)

    def digest(self, plan: CaseScorecardPlan) -> str:
        """The sha256 (hex) of the scorecard and every value in force: equal digests score alike."""
        values = {name: chosen.value for name, chosen in self.chosen.items()}
        return settings_hash(plan, values, _values(self.archetypes), _values(self.metric_ids))

    def as_data(self, plan: CaseScorecardPlan) -> dict[str, Any]:
        """Every value with its source, for `--show-config` and the report."""
        groups = {"archetypes": self.archetypes, "metricIds": self.metric_ids}
        return {
            "scorecard": plan.name,
            "hash": self.digest(plan),
            "parameters": {name: _shown(chosen) for name, chosen in self.chosen.items()},
            "reportDir": _shown(self.report_dir),
            **{
                key: {name: {k: _shown(c) for k, c in values.items()} for name, values in group.items()}
                for key, group in groups.items()
                if group
            },
        }


def _values(groups: Lookup[str, Lookup[str, Chosen]]) -> dict[str, dict[str, Any]]:
    return {name: {key: chosen.value for key, chosen in values.items()} for name, values in groups.items()}


def _shown(chosen: Chosen) -> dict[str, Any]:
    return {"value": chosen.value, "source": chosen.source}


def gather(
    plan: CaseScorecardPlan,
    *,
    file: str | None,
    environment: Lookup[str, str],
    flags: Lookup[str, bool],
    assignments: list[str],
) -> ScoreSettings:
    """The settings of a run. `flags` are those given on the command line, `assignments` the words after `--set`.

    Raises `DocumentError` for a settings file with mistakes, `UsageError` for a bad variable, flag or assignment.
    """
    settings = ScoreSettings(
        {s.parameter.name: Chosen(_plain(parameter_value(s.parameter), s), "default") for s in plan.settings}
    )
    _read_file(plan, settings, file)
    _read_environment(plan, settings, environment)
    _read_command_line(plan, settings, flags, assignments)
    return settings


def _plain(value: Any, setting: Setting) -> Any:
    """A value as it is written: scores and numbers as numbers."""
    return value if setting.parameter.type != "score" else float(value)


def _checked(setting: Setting, value: Any) -> Any:
    return _plain(parameter_value(setting.parameter, value), setting)


def _read_file(plan: CaseScorecardPlan, settings: ScoreSettings, file: str | None) -> None:
    path = Path(file or DEFAULT_FILE)
    if file is None and not path.is_file():
        return
    loaded = load_file(path, comments=True)
    if loaded.root is None or loaded.diagnostics:
        raise DocumentError(loaded.diagnostics) if loaded.diagnostics else UsageError(f"`{path}` is empty")
    if not isinstance(loaded.root, Mapping):
        raise UsageError(f"`{path}` must hold an object of settings")
    reader = _FileReader(plan, str(path))
    reader.read(loaded.root, settings)
    if reader.found:
        raise DocumentError(sorted(reader.found, key=lambda found: found.sort_key))


@dataclass(slots=True)
class _FileReader:
    plan: CaseScorecardPlan
    path: str
    found: list[Diagnostic] = field(default_factory=list)

    def read(self, root: Mapping, settings: ScoreSettings) -> None:
        settings.chosen.update(self.values(root, "", OTHER_KEYS))
        for key, group in zip(GROUPS, (settings.archetypes, settings.metric_ids), strict=True):
            below = self.mapping(root, key)
            for entry in below.entries if below is not None else ():
                if isinstance(entry.value, Mapping):
                    group[entry.name] = self.values(entry.value, f"{key}.{entry.name}.", ())
                else:
                    self.say(entry.value, f"`{key}.{entry.name}` must be an object of settings")
        settings.cases, settings.outputs = self.text(root, "cases"), self.text(root, "outputs")
        folder = self.text(root, "reportDir")
        if folder is not None:
            settings.report_dir = Chosen(folder, f"{self.path}: reportDir")
        settings.formats = self.formats(root)

    def say(self, node: Node, message: str, help_text: str | None = None) -> None:
        self.found.append(error(node, message, code="bad-setting", help=help_text))

    def mapping(self, root: Mapping, key: str) -> Mapping | None:
        node = root.get(key)
        if node is not None and not isinstance(node, Mapping):
            self.say(node, f"`{key}` must be an object")
        return node if isinstance(node, Mapping) else None

    def text(self, root: Mapping, key: str) -> str | None:
        node = root.get(key)
        if node is None:
            return None
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return node.value
        self.say(node, f"`{key}` must be a text")
        return None

    def formats(self, root: Mapping) -> tuple[str, ...]:
        for node in (item for item in texts(root, "reportFormats") if item not in FORMATS):
            place = root.get("reportFormats") or root
            self.say(place, f"`{node}` is no format of a report; known are {', '.join(f'`{f}`' for f in FORMATS)}")
        return texts(root, "reportFormats")

    def values(self, node: Mapping, above: str, others: tuple[str, ...]) -> dict[str, Chosen]:
        """The settings that stand below `node`; a key that sets nothing is a mistake."""
        by_path = {setting.file: setting for setting in self.plan.settings if setting.file}
        chosen: dict[str, Chosen] = {}
        for path, key, value in _leaves(node, by_path.keys(), others):
            setting = by_path.get(path)
            if setting is None:
                known = {*by_path, *others, *(name.partition(".")[0] for name in by_path)}
                near = difflib.get_close_matches(path, sorted(known), 1)
                self.say(key, f"`{above}{path}` sets nothing", f"did you mean `{near[0]}`?" if near else None)
                continue
            written = value.value if isinstance(value, Scalar) else None
            try:
                if written is None:
                    raise PlanError(f"`{above}{path}` must be one value")
                # In a message it bears the name that stands in the file.
                named = replace(setting, parameter=replace(setting.parameter, name=f"{above}{path}"))
                chosen[setting.parameter.name] = Chosen(_checked(named, written), f"{self.path}: {above}{path}")
            except PlanError as failure:
                self.say(value, str(failure))
        return chosen


def _leaves(node: Mapping, known: Any, others: tuple[str, ...], above: str = "") -> Iterator[tuple[str, Scalar, Node]]:
    """The values below a mapping by their path, with their keys; `others` are left out, known paths are not entered."""
    for entry in node.entries:
        path = f"{above}{entry.name}"
        if not above and entry.name in others:
            continue
        if isinstance(entry.value, Mapping) and path not in known and any(k.startswith(f"{path}.") for k in known):
            yield from _leaves(entry.value, known, others, f"{path}.")
        else:
            yield path, entry.key, entry.value


def _read_environment(plan: CaseScorecardPlan, settings: ScoreSettings, environment: Lookup[str, str]) -> None:
    for setting in plan.settings:
        name = setting.environment
        written = environment.get(name, "").strip() if name else ""
        if name and written:
            value = _from_text(setting, written, f"the environment variable `{name}`")
            settings.chosen[setting.parameter.name] = Chosen(value, f"environment {name}")
    folder = environment.get(REPORT_DIR, "")
    if folder:
        settings.report_dir = Chosen(folder, f"environment {REPORT_DIR}")


def _read_command_line(
    plan: CaseScorecardPlan, settings: ScoreSettings, flags: Lookup[str, bool], assignments: list[str]
) -> None:
    by_name = {setting.parameter.name: setting for setting in plan.settings}
    by_flag = {setting.flag: setting for setting in plan.settings if setting.flag}
    for flag, given in flags.items():
        if not given:
            continue
        if flag not in by_flag:
            raise UsageError(f"the scorecard `{plan.name}` has no setting for `{flag}`")
        settings.chosen[by_flag[flag].parameter.name] = Chosen(True, flag)
    for word in assignments:
        name, equals, written = word.partition("=")
        setting = by_name.get(name)
        if not equals or setting is None:
            near = difflib.get_close_matches(name, by_name, 1)
            hint = f"; did you mean `{near[0]}`?" if near else f"; known are {', '.join(by_name)}"
            raise UsageError(f"`--set` takes NAME=VALUE, and there is no setting `{name}`{hint}")
        value = _from_text(setting, written.strip(), f"`--set {name}`")
        settings.chosen[name] = Chosen(value, f"--set {name}")


def _from_text(setting: Setting, written: str, where: str) -> Any:
    value: Any = written
    kind = setting.parameter.type
    try:
        if kind == "bool":
            word = written.lower()
            if word not in _TRUE | _FALSE:
                raise UsageError(f"{where} must be true or false, found `{written}`")
            return word in _TRUE
        if kind == "integer":
            value = int(written)
        elif kind == "number":
            value = float(written)
        return _checked(setting, value)
    except (PlanError, ValueError) as failure:
        reason = str(failure) if isinstance(failure, PlanError) else f"`{written}` is no number"
        raise UsageError(f"{where}: {reason}") from None


def environment_of_process() -> Lookup[str, str]:
    """The variables of this process."""
    return os.environ


def describe(settings: ScoreSettings) -> Iterator[str]:
    """The lines of `--show-config` for people."""
    rows = [(name, chosen) for name, chosen in settings.chosen.items()]
    rows.append(("reportDir", settings.report_dir))
    for kind, group in (("archetype", settings.archetypes), ("metric", settings.metric_ids)):
        for name, values in group.items():
            rows += [(f"{key} ({kind} {name})", chosen) for key, chosen in values.items()]
    widest = max(len(name) for name, _ in rows)
    for name, chosen in rows:
        value = str(chosen.value).lower() if isinstance(chosen.value, bool) else str(chosen.value)
        yield f"{name:<{widest}}  {value:<10}  {chosen.source}"
