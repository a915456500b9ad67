from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, numeric
from rulewright.project import Project
from rulewright.spelling import suggest

PROVIDERS = ("anthropic:", "openai:")


def limit_without_price(project: Project) -> Findings:
    """The judge has a limit in dollars, `max_usd`, and its model has no price.

    Why it matters: costs can't be counted without a price, so every scan with this judge is refused.
    Instead: add the model to the project's `pricing`, or limit `max_calls` or `max_tokens`.
    """
    limit = None if project.file is None else numeric(project.file.node, "judge", "max_usd")
    model = project.judge_model() if (project.judge_source or "").startswith(PROVIDERS) else None
    priced = [entry.name for entry in entries(project.roots.get("pricing"))]
    if limit is None or not model or model in priced or (project.judge.model and suggest(model, priced)):
        return
    yield warning(limit, f"`max_usd` can't be kept, because `{model}` has no price in the project's `pricing`")
