"""A workflow with its project file, agents and contracts."""

import os
from collections.abc import Collection, Iterable
from collections.abc import Mapping as Environment
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Guess, error
from rulewright.documents.agents import AgentDocument, Registry, read_agent, registry
from rulewright.documents.base import descend, entries, text, value
from rulewright.documents.kinds import kind_of, seems_a_document
from rulewright.documents.layout import (
    USUAL_WORKFLOWS,
    documents_in,
    places,
    project_below,
    project_file_above,
    resolve,
)
from rulewright.documents.library import DocumentReader
from rulewright.documents.project_file import ModelPrice, ProjectFile, read_pricing, read_project_file
from rulewright.documents.workflow import ContractRegistry, WorkflowDocument, read_contracts, read_workflow
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Loaded, Mapping, Node, load_file
from rulewright.load.load_errors import MAX_BYTES
from rulewright.lower.workflow import WorkflowResources, limits_of
from rulewright.spelling import is_slip_of
from rulewright_runtime.files.input_files import open_regular

DEFAULT_AGENTS: Final = "agents"
DEFAULT_CONTRACTS: Final = "contracts.yaml"


class Workflow(Struct, frozen=True, eq=False):
    """A workflow with its resources. `diagnostics` are the findings of loading and structure, including agents and
    contracts, but not those of rules and lowering: `check` returns all. `project` is None for a single file; `root` is
    the folder that the project's paths are relative to. `scripts` are the files of scripted replies by adapter."""

    document: WorkflowDocument
    resources: WorkflowResources
    project: ProjectFile | None
    root: Path
    loaded: tuple[Loaded, ...]
    diagnostics: tuple[Diagnostic, ...]
    scripts: Environment[str, Loaded]

    @property
    def path(self) -> str:
        """The path of the workflow's file, as given."""
        return self.document.path

    @property
    def agents(self) -> Registry:
        return self.resources.agents

    @property
    def settings(self) -> Mapping | None:
        """The project file's part `workflow`: adapters, engine, notifications, overlays."""
        settings = None if self.project is None else self.project.get("workflow")
        return settings if isinstance(settings, Mapping) else None

    @property
    def pricing(self) -> dict[str, ModelPrice]:
        """The project's prices by model. Raises DocumentError for a file that can't be read or has mistakes."""
        path = None if self.project is None else Path(self.project.path)
        place = places(self.root, self.project, path).get("pricing")
        if place is None:
            return {}
        reader = WorkflowReader()
        root = reader.read(place.path, "pricing")
        if root is None or reader.findings:
            raise DocumentError(reader.findings)
        return read_pricing(root)

    def others(self) -> list[Loaded]:
        """Load the other workflows with the same contracts and agents: those in its folder, and the project's own."""
        own = self.place("file", USUAL_WORKFLOWS[0])
        beside = workflows_beside(Path(self.path))
        if not dependencies.is_file(own) or any(_is_same(own, Path(each.source.path)) for each in beside):
            return beside
        return beside if _is_same(own, Path(self.path)) else [load_file(own), *beside]

    def names_of_project(self) -> tuple[list[str], list[str]]:
        """The tasks and the agents of this workflow and the project's others, which share adapters and scripts."""
        roots = [self.document.node, *(each.root for each in self.others())]
        tasks = {entry.name: None for root in roots for entry in entries(root, "tasks")}
        return [*tasks], sorted(
            {*self.agents.names, *(each.name for root in roots for each in entries(root, "agents"))}
        )

    def place(self, name: str, default: str) -> Path:
        """Return the project file's path for a key of `workflow`, else `default` below the root."""
        written = self.project.workflow.get(name) if self.project else None
        if written is None or self.project is None:
            return self.root / default
        return resolve(written, Path(self.project.path), self.root)


def load_workflow(
    path: Path | str | None = None,
    *,
    folder: Path | str = ".",
    off: Collection[str] = (),
    project_file: Path | None = None,
) -> Workflow:
    """Load the workflow at `path`, else the one that the project of `folder` runs by default (`workflow.file`).

    The `project_file` is by default the nearest one above the workflow. `off` are overlays to disable regardless of the
    files.
    Raises `UsageError` without a workflow and `DocumentError` for a file that is not one; `check` finds other mistakes.
    """
    requested = Path(path) if path is not None else None
    if requested is not None and not dependencies.is_file(requested):
        raise UsageError(f"workflow file not found: `{requested}`")
    reader = WorkflowReader()
    project_path = project_file or project_file_above(requested.parent if requested else Path(folder))
    project = None if project_path is None else reader.project(project_path)
    root = Path(requested.parent if requested else folder) if project is None else project.top
    file = requested if requested is not None else _default_file(Path(folder), project, root)
    node = reader.read(file, "workflow")
    if node is None:
        raise DocumentError(reader.findings)
    name = file.stem.encode("utf-8", "replace").decode()  # of a file whose name is not UTF-8
    return reader.workflow(node, name, project, root, off)


def workflows_beside(path: Path) -> list[Loaded]:
    """Load the other workflows in the folder of a workflow's file, and files that would be one if they could be read.
    A file whose tasks have no agent is another program's, such as a `Taskfile.yml`."""
    files = [each for each in documents_in(path.parent) if not _is_same(each, path) and _may_have_agents(each)]
    return [loaded for each in files if _is_workflow(loaded := load_file(each))]


def _is_workflow(loaded: Loaded) -> bool:
    if loaded.root is None:
        return seems_a_document(loaded.source, "workflow")
    has_agents = any(descend(task.value, "agent") is not None for task in entries(loaded.root, "tasks"))
    return has_agents and kind_of(loaded.root) == "workflow"


def _is_same(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _may_have_agents(path: Path) -> bool:
    """Whether a file contains the key of a task's agent, so that files of another kind are not loaded."""
    dependencies.note_content(path, None)
    try:
        with open_regular(path) as file:
            return b"agent" in file.read(MAX_BYTES)
    except (OSError, ValueError):
        return False


def workflow_of(loaded: Loaded) -> Workflow:
    """Read the workflow of a loaded file, without a project. Raises `DocumentError` where it is not a workflow."""
    reader = WorkflowReader()
    node = reader.take(loaded, "workflow")
    if node is None:
        raise DocumentError(reader.findings)
    path = Path(loaded.source.path)
    return reader.workflow(node, path.stem, None, path.parent)


def _default_file(folder: Path, project: ProjectFile | None, root: Path) -> Path:
    written = project.workflow.get("file") if project else None
    if written is not None and project is not None:
        file = resolve(written, Path(project.path), root)
        if not dependencies.is_file(file):
            raise UsageError(f"`{project.path}`: {project.naming(file, 'workflow', 'file')}, which does not exist")
        return file
    for name in USUAL_WORKFLOWS:
        if dependencies.is_file(root / name):
            return root / name
    below = project_below(folder) if project is None else None
    use = "name the workflow's file, or set `workflow.file` in the project file"
    where = "the working folder" if folder == Path() else f"`{folder}`"
    raise UsageError(f"{where} contains no `workflow.yaml`; {use if below is None else f'did you mean `{below}`?'}")


class WorkflowReader(DocumentReader):
    """Reads a workflow's files and collects findings."""

    def project(self, path: Path) -> ProjectFile | None:
        root = self.read(path, "project")
        return None if root is None else read_project_file(root, os.environ)

    def workflow(
        self, node: Mapping, stem: str, project: ProjectFile | None, root: Path, off: Collection[str] = ()
    ) -> Workflow:
        settings = None if project is None else project.get("workflow")
        document = read_workflow(node, stem, descend(settings, "overlays"), off)
        agents = registry(
            self.agents(document, project, root),
            document.get("agents"),
            self.findings,
            usual=value(settings, "agents", "use_defaults") is not False,
        )
        contracts = self.contracts(document, project, root)
        constitution = value(settings, "constitution", "file")
        if constitution is not None and project is not None and not dependencies.is_file(root / str(constitution)):
            self.missing(project, ("constitution", "file"), root / str(constitution))
        self.refuse_files(project, root)
        scripts = self.scripts(descend(settings, "adapters"), root)
        return Workflow(
            document=document,
            resources=WorkflowResources(agents, contracts, limits_of(descend(settings, "engine"))),
            project=project,
            root=root,
            loaded=tuple(self.loaded),
            diagnostics=tuple(sorted(self.findings, key=lambda found: found.sort_key)),
            scripts=scripts,
        )

    def scripts(self, adapters: Node | None, root: Path) -> dict[str, Loaded]:
        """Load the scripted replies that exist, by the names of their adapters."""
        found: dict[Path, Loaded] = {}
        named = {
            entry.name: root / script
            for entry in entries(adapters)
            if value(entry.value, "type") == "mock" and (script := text(entry.value, "script"))
        }
        for path in {path: None for path in named.values() if dependencies.is_file(path)}:
            found[path] = load_file(path)
            self.loaded.append(found[path])
            self.findings.extend(found[path].diagnostics)
        return {name: found[path] for name, path in named.items() if path in found}

    def agents(self, document: WorkflowDocument, project: ProjectFile | None, root: Path) -> Iterable[AgentDocument]:
        """Read the project's agent files, or those in the folder `agents` next to a single workflow."""
        folder_path = self.path(project, root, "agents")
        folder = root / DEFAULT_AGENTS if folder_path is None else folder_path
        if not dependencies.is_folder(folder):
            if folder_path is not None and project is not None:
                why = "is not a folder" if dependencies.exists(folder) else "does not exist"
                self.missing(project, ("agents", "directory"), folder, why)
            return []
        roots = [
            (path, self.resource(path, "agent", "workflow.agents.directory" if path == folder else ""))
            for path in documents_in(folder)
        ]
        agents = [(path.stem, read_agent(node, path.stem)) for path, node in roots if node is not None]
        names = {agent.name for _, agent in agents}
        tasks = {each.agent.text for task in document.tasks for each in task.agents}
        for stem, agent in agents:
            if is_slip_of(agent.name, stem) or stem in tasks - names:  # any other difference is intended
                message = f"`name` is `{agent.name}`, but the file is called `{stem}`"
                place = agent.place("name")
                self.findings.append(error(place, message, code="id-differs-from-file-name", help=Guess(stem)))
        return [agent for _, agent in agents]

    def contracts(self, document: WorkflowDocument, project: ProjectFile | None, root: Path) -> ContractRegistry:
        """Read the contract types of the project's registry, overridden by the workflow's own."""
        file_path = self.path(project, root, "contracts")
        file = root / DEFAULT_CONTRACTS if file_path is None else file_path
        types = None
        if dependencies.is_file(file):
            types = descend(self.resource(file, "contracts", "workflow.contracts"), "contracts")
        elif file_path is not None and project is not None:
            self.missing(project, ("contracts",), file)
        settings = None if project is None else project.get("workflow")
        relaxed = value(settings, "allow_missing_contracts") is True
        return read_contracts(types, document.get("contracts"), optional=relaxed)

    def resource(self, path: Path, kind: str, about: str) -> Mapping | None:
        """Read a file; the findings about one that can't be read are `about` the key that names it."""
        before = len(self.findings)
        node = self.read(path, kind)
        if node is None:
            self.findings[before:] = [replace(found, about=about) for found in self.findings[before:]]
        return node

    def path(self, project: ProjectFile | None, root: Path, name: str) -> Path | None:
        written = None if project is None else project.workflow.get(name)
        return None if written is None or project is None else resolve(written, Path(project.path), root)

    def refuse_files(self, project: ProjectFile | None, root: Path) -> None:
        """Report files that are where a run makes a folder."""
        for name in ("folder", "state"):
            path = self.path(project, root, name)
            if project is not None and path is not None and dependencies.is_file(path):
                self.missing(project, (name,), path, "is not a folder")

    def missing(self, project: ProjectFile, steps: tuple[str, ...], path: Path, why: str = "does not exist") -> None:
        steps = ("workflow", *steps)
        message = f"{project.naming(path, *steps)}, which {why}"
        found = error(project.place(*steps), message, code="missing-path")
        self.findings.append(replace(found, about=".".join(steps)))
