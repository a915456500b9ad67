"""Words that name another document or a part of one: what may be written, and where the one that is written stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rulewright.documents.base import Document, descend, text
from rulewright.documents.kinds import kind_of
from rulewright.documents.library import ready_checks
from rulewright.load import Mapping, Node, Scalar
from rulewright.manual import pages

if TYPE_CHECKING:
    from rulewright.lsp.cursor import Cursor
    from rulewright.lsp.document_context import DocumentContext
    from rulewright.workflow import Workflow

# What the values of a key name, by the kind of the document; of a list, its items.
NAMED_BY: Final[dict[str, dict[str, tuple[str, ...]]]] = {
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


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can be named: `place` is where it stands, None where it has no file."""

    name: str
    sort: str
    place: Scalar | Mapping | None
    about: str = ""


def targets(kind: str, cursor: Cursor, around: DocumentContext) -> list[Target]:
    """All that the value under the cursor may name; empty where it names nothing."""
    key = "" if cursor.is_key else next((step for step in reversed(cursor.path) if isinstance(step, str)), "")
    if kind == "blindspots" and len(cursor.path) == 1 and not cursor.is_key:
        return _checks(around)
    sorts = NAMED_BY.get(kind, {}).get(key, ())
    return [target for sort in sorts for target in _FINDERS[sort](around, kind)]


def target(kind: str, cursor: Cursor, around: DocumentContext) -> Target | None:
    """What the value under the cursor names; None where it names nothing, or nothing that exists."""
    return next((each for each in targets(kind, cursor, around) if each.name == cursor.scalar.value), None)


def _documents(sort: str, documents: Iterable[tuple[str, Document]], key: str) -> list[Target]:
    found = []
    for name, document in documents:
        place = descend(document.node, key)
        about = text(document.node, "description") or text(document.node, "name")
        found.append(Target(name, sort, place if isinstance(place, Scalar) else document.node, about))
    return found


def _checks(around: DocumentContext, kind: str = "") -> list[Target]:
    project = around.project
    checks = () if project is None else project.checks
    return _documents("check", ((check.id, check) for check in checks), "id")


def _models(sort: str, attribute: str, key: str = "name") -> Callable[[DocumentContext, str], list[Target]]:
    """The finder of what a project holds by name."""

    def find(around: DocumentContext, kind: str) -> list[Target]:
        models: dict[str, Document] = {} if around.project is None else getattr(around.project, attribute)
        return _documents(sort, models.items(), key)

    return find


def _markers(around: DocumentContext, kind: str) -> list[Target]:
    markers = () if around.project is None else around.project.markers
    return _documents("marker set", ((found.name, found) for found in markers if found.name), "name")


def _ready_checks(around: DocumentContext, kind: str) -> list[Target]:
    return [Target(name, "ready check", root, text(root, "pass_rule")) for name, root in ready_checks().items()]


def _tags(around: DocumentContext, kind: str) -> list[Target]:
    scenarios = {} if around.project is None else around.project.scenarios
    tags = {tag for scenario in scenarios.values() for tag in scenario.tags}
    return [Target(tag, "tag", None) for tag in sorted(tags)]


def _rules(around: DocumentContext, kind: str) -> list[Target]:
    return [Target(code, "rule", None, page.partition("\n")[0]) for code, page in pages().items()]


def _agents(around: DocumentContext, kind: str) -> list[Target]:
    workflow = around.workflow(kind)
    if workflow is None:
        return []
    found = []
    for name in workflow.agents.names:
        about = str(workflow.agents.agents.get(name, {}).get("display_name", ""))
        found.append(Target(name, "agent", _agent_place(workflow, name), about))
    return found


def _agent_place(workflow: Workflow, name: str) -> Scalar | Mapping | None:
    own = workflow.document.get("agents")
    if isinstance(own, Mapping) and name in own:
        return own.index[name].key
    for loaded in workflow.loaded:
        root = loaded.root
        if kind_of(root) == "agent" and isinstance(root, Mapping) and name in (text(root, "name"), _stem(root)):
            place = root.get("name")
            return place if isinstance(place, Scalar) else root
    return None


def _stem(root: Mapping) -> str:
    return root.source.path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]


def _tasks(around: DocumentContext, kind: str) -> list[Target]:
    workflow = around.workflow(kind)
    tasks = () if workflow is None else workflow.document.tasks
    return [Target(task.id, "task", task.key, task.description) for task in tasks]


def _contracts(around: DocumentContext, kind: str) -> list[Target]:
    workflow = around.workflow(kind)
    if workflow is None:
        return []
    roots: list[Node | None] = [workflow.document.node]
    roots += [loaded.root for loaded in workflow.loaded if kind_of(loaded.root) == "contracts"]
    found: dict[str, Target] = {}
    for below in (descend(root, "contracts") for root in roots):
        for entry in below.entries if isinstance(below, Mapping) else ():
            found.setdefault(entry.name, Target(entry.name, "contract", entry.key, text(entry.value, "description")))
    return list(found.values())


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
