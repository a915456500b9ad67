"""Checks and compiles a workflow."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Severity, error, in_order
from rulewright.documents.layout import USUAL_WORKFLOWS, resolve
from rulewright.errors import DocumentError
from rulewright.load import Loaded
from rulewright.lower.workflow import LoweredWorkflow, lower_workflow
from rulewright.project import Project
from rulewright.rules import findings
from rulewright.rules.of_workflows import TASK, WORKFLOW
from rulewright.workflow import Workflow, WorkflowReader, load_workflow, workflows_beside
from rulewright_runtime.workflow.workflow_plan import WorkflowPlan


def findings_of(project: Project) -> tuple[list[Diagnostic], tuple[Loaded, ...]]:
    """The findings about the workflow of a loaded project and the others in its folder, and the files read for them."""
    written = project.file.workflow.get("file") if project.file is not None else None
    usual = next((project.root / name for name in USUAL_WORKFLOWS if dependencies.is_file(project.root / name)), None)
    path = usual if written is None or project.path is None else resolve(written, project.path, project.root)
    if path is None:
        return [], ()
    if not dependencies.is_file(path) and project.file is not None:
        message = f"{project.file.naming(path, 'workflow', 'file')}, which does not exist"
        return [error(project.file.place("workflow", "file"), message, code="missing-path")], ()
    found: dict[Diagnostic, None] = {}
    loaded: dict[str, Loaded] = {}
    for each in (path, *(Path(other.source.path) for other in workflows_beside(path))):
        own, files = _findings_at(each, project)
        found |= dict.fromkeys(own)
        loaded |= {file.source.path: file for file in files}
    return [*found], (*loaded.values(),)


def _findings_at(path: Path, project: Project) -> tuple[Sequence[Diagnostic], tuple[Loaded, ...]]:
    reader = WorkflowReader()
    node = reader.read(path, "workflow")
    if node is None:
        return reader.findings, tuple(reader.loaded)
    workflow = reader.workflow(node, path.stem, project.file, project.root)
    return check(workflow), workflow.loaded


def check(workflow: Workflow) -> tuple[Diagnostic, ...]:
    """The findings about a workflow, sorted: structure, agents, contracts, rules, expressions."""
    found = [*workflow.diagnostics, *rule_findings(workflow), *lowered(workflow).findings]
    return in_order(found)


def compile_workflow(source: Workflow | Path | str | None = None) -> WorkflowPlan:
    """The sealed plan of a workflow or of the file at a path (None: the project's own).

    Raises `DocumentError` with every error; comments and `accept` entries do not suppress any.
    """
    workflow = source if isinstance(source, Workflow) else load_workflow(source)
    errors = [each for each in check(workflow) if each.severity is Severity.ERROR]
    if errors:
        raise DocumentError(errors)
    return lowered(workflow).plan


@lru_cache(maxsize=8)
def lowered(workflow: Workflow) -> LoweredWorkflow:
    """The lowered workflow, even if there are findings; computed once per loaded workflow."""
    return lower_workflow(workflow.document, workflow.resources)


@lru_cache(maxsize=8)
def rule_findings(workflow: Workflow) -> tuple[Diagnostic, ...]:
    """The findings of the rules about workflows and their tasks."""
    return (*findings(WORKFLOW, [workflow]), *findings(TASK, workflow.document.tasks))
