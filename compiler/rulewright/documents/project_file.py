"""The project file `rulewright.yaml`, and the files of scoring and prices that it names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as Environment
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Struct

from rulewright.documents.base import Document, descend, entries, items, text, texts, value
from rulewright.documents.library import with_id
from rulewright.documents.typed_reader import At, as_meant, read
from rulewright.documents.vocabulary import read_vocabulary
from rulewright.load import Mapping, Node, Scalar, is_text, plain
from rulewright_runtime.strict_json import JsonObject

Semantics = Literal["seed", "reference"]

# The default places of each kind of document; the project file may name another one.
USUAL_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "checks": ("checks",),
    "lexicons": ("lexicons", "checks/lexicons", "lexicons.json", "lexicons.yaml"),
    "markers": ("markers", "checks/markers", "scenario_rule_markers.json"),
    "scenarios": ("scenarios",),
    "profiles": ("profiles", "configs/profiles", "configs/profiles.yaml", "profiles.yaml", "scan_profiles.json"),
    "blindspots": ("configs/blindspots.yaml", "blindspot_map.json"),
    "scoring": ("configs/scoring.yaml",),
    "pricing": ("configs/pricing.yaml", "pricing.yaml", "model_pricing.json"),
    "scorecards": ("configs/scorecards", "scorecards"),
    "rules": ("configs/rules",),
    "state_machines": ("state_machines", "checks/state_machines"),
    "corpora": ("corpora",),
}
WORKFLOW: Final = {
    "file": ("file",),
    "agents": ("agents", "directory"),
    "contracts": ("contracts",),
    "folder": ("folder",),
    "state": ("state",),
}
REDACTED: Final = "[redacted]"
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Accept(Struct, frozen=True):
    """A tolerated finding: the rule's code, a pattern of paths below the root (`**` crosses folders), and a reason."""

    rule: str
    path: Annotated[str, At(usual="**")]
    reason: str
    node: Mapping


class JudgeSection(Struct, frozen=True):
    """The section `judge`: the judge, and the settings of a model as judge; None for absent settings.

    `families` maps patterns of model names to families; `same_family` maps patterns of models that a judge of their
    own family may judge to the reason.
    """

    model: str | None = None
    source: str | None = None
    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: Annotated[float | None, At("timeout_seconds")] = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: Annotated[str | None, At(by=_dollars)] = None
    families: tuple[tuple[str, str], ...] = ()
    same_family: Annotated[tuple[tuple[str, str], ...], At(by=_reasons)] = ()


class ProjectFile(Document, frozen=True, eq=False):
    """A project file with `${NAME}` and `${NAME:-default}` already replaced; `places` maps a kind to its path."""

    name: Annotated[str, At("project")]
    semantics: Semantics
    root: str | None
    places: dict[str, str]
    markers: str | dict[str, str] | None
    used: Annotated[tuple[Mapping, ...], At("use", by=_used)]  # ready checks, each as the mapping of a check
    scorecard: str | None
    profile: str | None
    models: dict[str, str]
    judge: JudgeSection
    redact: Annotated[tuple[tuple[str, str], ...], At(by=_redacted)]  # patterns and their replacements
    exchange_turns: int | None
    exempt: Annotated[tuple[str, ...], At("system", "exempt")]
    accept: tuple[Accept, ...]
    workflow: dict[str, str]  # paths of the section `workflow`: file, agents, contracts, folder, state
    plugins: tuple[Scalar, ...]  # the distributions whose functions its checks may call
    unset: tuple[tuple[str, Scalar], ...]  # variables without a value or default, with the scalar that names them

    @property
    def top(self) -> Path:
        """The folder that its paths are relative to: `root`, relative to the file's folder, or that folder."""
        return Path(os.path.normpath(Path(self.path).parent / (self.root or "")))

    def naming(self, path: object, *steps: str) -> str:
        """The words "`KEY` names `VALUE`" with the value as it is written, and with the `path` that variables make of
        it."""
        written = text(self.node, *steps) or str(path)
        return f"`{'.'.join(steps)}` names `{written}`" + (f" (`{path}`)" if "$" in written else "")


def read_project_file(node: Mapping, environment: Environment[str, str]) -> ProjectFile:
    """The model of a project file's mapping, its paths expanded from `environment`."""
    unset: list[tuple[str, Scalar]] = []

    def path(*steps: str) -> str | None:
        found = words(*steps)
        return None if found is None else _from_here(text(node, *steps), found, environment)

    def words(*steps: str) -> str | None:
        found = descend(node, *steps)
        if not is_text(found):
            return None
        expanded, missing = expand(found.text, environment)
        unset.extend((name, found) for name in missing)
        return expanded

    markers = descend(node, "markers")
    return read(
        ProjectFile,
        node,
        vocabulary=read_vocabulary(as_meant(node, "project").get("vocabulary"), text(node, "project")),
        semantics="reference" if value(node, "semantics") == "reference" else "seed",
        root=path("root"),
        places={kind: found for kind in USUAL_PLACES if kind != "markers" and (found := path(kind)) is not None},
        markers={key: path("markers", key) or "" for key in markers.keys}
        if isinstance(markers, Mapping)
        else path("markers"),
        judge=read(JudgeSection, node.get("judge"), model=words("judge", "model"), source=words("judge", "source")),
        workflow={name: found for name, steps in WORKFLOW.items() if (found := path("workflow", *steps)) is not None},
        unset=tuple(unset),
    )


def _dollars(node: Node | None) -> str | None:
    found = value(node)
    return str(found) if isinstance(found, (int, float)) else None


def _reasons(node: Node | None) -> tuple[tuple[str, str], ...]:
    return tuple((text(each, "subject"), text(each, "reason")) for each in items(node))


def _used(node: Node | None) -> tuple[Mapping, ...]:
    return tuple(filter(None, map(with_id, items(node))))


def _redacted(node: Node | None) -> tuple[tuple[str, str], ...]:
    written = ((text(item, "pattern"), value(item, "replacement")) for item in items(node))
    return tuple((pattern, by if isinstance(by, str) else REDACTED) for pattern, by in written)


def expand(written: str, environment: Environment[str, str]) -> tuple[str, tuple[str, ...]]:
    """`written` with its variables replaced, and the variables without a value or default."""
    missing: list[str] = []

    def replace(found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        set_to = environment.get(name)
        if set_to or (set_to is not None and default is None):
            return set_to
        if default is None:
            missing.append(name)
        return default or ""

    return _VARIABLE.sub(replace, written), tuple(missing)


def _from_here(written: str, expanded: str, environment: Environment[str, str]) -> str:
    """Make a relative path that begins with a variable relative to the working folder, where the variable was set."""
    first = _VARIABLE.match(written)
    from_variable = first is not None and bool(environment.get(first.group(1)))
    return os.path.abspath(expanded) if from_variable else expanded


class Scoring(Document, frozen=True, eq=False):
    """A scoring file. Scorecards read all other keys as plain data through `fields`."""

    unit_by_bucket: dict[str, str]
    gate_buckets: frozenset[str]
    gate_severities: frozenset[str]

    @property
    def fields(self) -> JsonObject:
        """All keys of the document as plain data."""
        written: JsonObject = plain(self.node)
        return written


def read_scoring(node: Mapping) -> Scoring:
    """The model of a scoring file's mapping."""
    units = plain(descend(node, "unit_of_analysis_by_bucket"))
    gates = [entry.value for entry in entries(node, "gates")]
    return Scoring(
        node,
        {key: unit for key, unit in units.items() if isinstance(unit, str)} if isinstance(units, dict) else {},
        frozenset(bucket for gate in gates for bucket in texts(gate, "mode_buckets")),
        frozenset(severity for gate in gates for severity in texts(gate, "hard_fail_on_severity")),
    )


class ModelPrice(Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float


def read_pricing(node: Mapping) -> dict[str, ModelPrice]:
    """Prices by model; entries that are not a pair of numbers are skipped."""
    prices = {}
    for entry in node.entries:
        pair = [item.value for item in items(entry.value) if isinstance(item, Scalar)]
        numbers = [float(n) for n in pair if isinstance(n, (int, float)) and not isinstance(n, bool)]
        if len(numbers) == 2:
            prices[entry.name] = ModelPrice(*numbers)
    return prices
