from rulewright import dependencies
from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import scalar
from rulewright.documents.layout import path_meant, resolve
from rulewright.project import Project
from rulewright_runtime.judging.judge import REPLAY


def judge_reads_missing_file(project: Project) -> Findings:
    """The project's judge reads recorded replies from a missing file.

    Why it matters: the scan is refused.
    Instead: correct the path after `replay:`.
    """
    source = None if project.file is None else scalar(project.file.node, "judge", "source")
    if source is None or project.path is None or "$" in source.text or project.unreadable:
        return
    written = source.text
    path = resolve(written.removeprefix(REPLAY), project.path, project.root)
    if written.startswith(REPLAY) and not dependencies.exists(path):
        yield warning(source, f"file not found: `{path}`", help=path_meant(path, written))
