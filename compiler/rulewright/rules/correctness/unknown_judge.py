from typing import Final

from rulewright import dependencies
from rulewright.diagnostics import Findings, Guess, error, respell
from rulewright.documents.base import scalar
from rulewright.documents.layout import resolve
from rulewright.project import Project
from rulewright.spelling import suggest
from rulewright_runtime.judging.judge import PLUGIN, REPLAY, is_live
from rulewright_runtime.models import PROVIDERS, why_unknown

FORMS: Final = (*PROVIDERS, REPLAY.removesuffix(":"), PLUGIN.removesuffix(":"))


def unknown_judge(project: Project) -> Findings:
    """The project's judge is neither `replay:FILE`, `plugin:NAME` nor a model such as `openai:MODEL`.

    Why it matters: the scan is refused.
    Instead: put the provider before the model, or `replay:` before a file of recorded replies.
    """
    source = None if project.file is None else scalar(project.file.node, "judge", "source")
    written = "" if source is None else source.text
    refused = why_unknown(written) if is_live(written) else None
    if source is None or refused is None or "$" in written:
        return
    form, colon, rest = written.partition(":")
    meant = suggest(form, FORMS) if colon and rest else None
    if meant is not None:
        yield error(source, f"unknown judge `{written}`", help=Guess(f"{meant}:{rest}"))
    elif project.path is not None and dependencies.is_file(resolve(written, project.path, project.root)):
        fix = respell(source, REPLAY + written, safe=False)
        yield error(source, "write `replay:` before a file of recorded replies", fix=fix)
    else:
        yield error(source, refused)
