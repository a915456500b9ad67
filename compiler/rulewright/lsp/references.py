"""References to other documents or parts of them: the possible targets of a value, and the one that it names."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright.documents.base import Document, descend, entries, text
from rulewright.documents.kinds import kind_of
from rulewright.documents.library import ready_checks
from rulewright.load import Mapping, Node, Scalar
from rulewright.lsp.cursor import Cursor
from rulewright.lsp.workspace import DocumentContext
from rulewright.manual import pages
from rulewright.workflow import Workflow

# The kinds of targets that a key's values (or a list's items) name, by the kind of the document.
TARGET_KINDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "check": {
        "use": ("ready check",),
        "deterministic_precheck": ("lexicon",),
        "cue": ("lexicon",),
        "expected_reply": ("lexicon",),
        "forbidden_reply": ("lexicon",),
        "detectors": ("lexicon", "marker set", "state machine"),
        "state_machine": ("state machine",),
        "scenario_marker": ("marker set",),
        "corpus": ("corpus",),
        "scenario_tags_any": ("tag",),
        "safety_override_suppressed_by": ("tag",),
    },
    "state_machine": {"lexicon": ("lexicon",)},
    "profile": {"include_modes": ("check",), "exclude_modes": ("check",)},
    "profiles": {"include_modes": ("check",), "exclude_modes": ("check",)},
    "scenario": {"modes": ("check",), "sms_variant_of": ("scenario",)},
    "project": {
        "use": ("ready check",),
        "scorecard": ("scorecard",),
        "profile": ("profile",),
        "exempt": ("check",),
        "rule": ("rule",),
        "select": ("rule",),
        "ignore": ("rule",),
    },
    "workflow": {
        "agent": ("agent",),
        "driver_agent": ("agent",),
        "challenger_agent": ("agent",),
        "coder_agent": ("agent",),
        "reviewer_agent": ("agent",),
        "evaluator_agent": ("agent",),
        "extends": ("agent",),
        "dependencies": ("task",),
        "contract": ("contract",),
    },
    "agent": {"extends": ("agent",)},
}


class Target(Struct, frozen=True):
    """The target of a reference; `place` is its node, None where it is in no file."""

    name: str
    sort: str
    place: Scalar | Mapping | None
    about: str = ""


def targets(kind: str, cursor: Cursor, context: DocumentContext) -> list[Target]:
    """Return all targets that the value under the cursor may name; empty where it is not a reference."""
    key = "" if cursor.is_key else next((step for step in reversed(cursor.path) if isinstance(step, str)), "")
    if kind == "blindspots" and len(cursor.path) == 1 and not cursor.is_key:
        return _checks(context)
    sorts = TARGET_KINDS.get(kind, {}).get(key, ())
    return [target for sort in sorts for target in _FINDERS[sort](context, kind)]


def target(kind: str, cursor: Cursor, context: DocumentContext) -> Target | None:
    """Return the target that the value under the cursor names, or None."""
    return next((each for each in targets(kind, cursor, context) if each.name == cursor.scalar.value), None)


def _documents(sort: str, documents: Iterable[tuple[str, Document]], key: str) -> list[Target]:
    targets_ = []
    for name, document in documents:
        place = descend(document.node, key)
        about = text(document.node, "description") or text(document.node, "name")
        targets_.append(Target(name, sort, place if isinstance(place, Scalar) else document.node, about))
    return targets_


def _checks(context: DocumentContext, kind: str = "") -> list[Target]:
    project = context.project
    checks = () if project is None else project.checks
    return _documents("check", ((check.id, check) for check in checks), "id")


def _models(sort: str, attribute: str, key: str = "name") -> Callable[[DocumentContext, str], list[Target]]:
    """Return the finder of a project's documents of one kind."""

    def find(context: DocumentContext, kind: str) -> list[Target]:
        models: dict[str, Document] = {} if context.project is None else getattr(context.project, attribute)
        return _documents(sort, models.items(), key)

    return find


def _markers(context: DocumentContext, kind: str) -> list[Target]:
    markers = () if context.project is None else context.project.markers
    return _documents("marker set", ((each.name, each) for each in markers if each.name), "name")


def _ready_checks(context: DocumentContext, kind: str) -> list[Target]:
    return [Target(name, "ready check", root, text(root, "pass_rule")) for name, root in ready_checks().items()]


def _tags(context: DocumentContext, kind: str) -> list[Target]:
    scenarios = {} if context.project is None else context.project.scenarios
    tags = {tag for scenario in scenarios.values() for tag in scenario.tags}
    return [Target(tag, "tag", None) for tag in sorted(tags)]


def _rules(context: DocumentContext, kind: str) -> list[Target]:
    return [Target(code, "rule", None, page.partition("\n")[0]) for code, page in pages().items()]


def _agents(context: DocumentContext, kind: str) -> list[Target]:
    workflow = context.workflow(kind)
    if workflow is None:
        return []
    targets_ = []
    for name in workflow.agents.names:
        about = str(workflow.agents.agents.get(name, {}).get("display_name", ""))
        targets_.append(Target(name, "agent", _agent_place(workflow, name), about))
    return targets_


def _agent_place(workflow: Workflow, name: str) -> Scalar | Mapping | None:
    own_agents = workflow.document.get("agents")
    if isinstance(own_agents, Mapping) and name in own_agents:
        return own_agents.index[name].key
    for loaded in workflow.loaded:
        root, stem = loaded.root, Path(loaded.source.path).stem
        if kind_of(root) == "agent" and isinstance(root, Mapping) and name in (text(root, "name"), stem):
            place = root.get("name")
            return place if isinstance(place, Scalar) else root
    return None


def _tasks(context: DocumentContext, kind: str) -> list[Target]:
    workflow = context.workflow(kind)
    tasks = () if workflow is None else workflow.document.tasks
    return [Target(task.id, "task", task.key, task.description) for task in tasks]


def _contracts(context: DocumentContext, kind: str) -> list[Target]:
    workflow = context.workflow(kind)
    if workflow is None:
        return []
    roots: list[Node | None] = [workflow.document.node]
    roots += [loaded.root for loaded in workflow.loaded if kind_of(loaded.root) == "contracts"]
    contracts: dict[str, Target] = {}
    for root in roots:
        for entry in entries(root, "contracts"):
            contracts.setdefault(
                entry.name, Target(entry.name, "contract", entry.key, text(entry.value, "description"))
            )
    return list(contracts.values())


_FINDERS: Final[dict[str, Callable[[DocumentContext, str], list[Target]]]] = {
    "agent": _agents,
    "check": _checks,
    "contract": _contracts,
    "corpus": _models("corpus", "corpora"),
    "lexicon": _models("lexicon", "lexicons"),
    "marker set": _markers,
    "profile": _models("profile", "profiles"),
    "ready check": _ready_checks,
    "rule": _rules,
    "scenario": _models("scenario", "scenarios", "scenario_id"),
    "scorecard": _models("scorecard", "scorecards", "scorecard"),
    "state machine": _models("state machine", "state_machines"),
    "tag": _tags,
    "task": _tasks,
}
