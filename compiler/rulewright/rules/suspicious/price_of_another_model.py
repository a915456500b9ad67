from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import scalar
from rulewright.project import Project
from rulewright_runtime.judging.judge import is_live


def price_of_another_model(project: Project) -> Findings:
    """`judge.source` asks another model than `judge.model` names.

    Why it matters: `plan` estimates the costs of a run with the price of `judge.model`.
    Instead: name the model of `source`, whose price the project lists.
    """
    file = None if project.file is None else project.file.node
    source, model = scalar(file, "judge", "source"), scalar(file, "judge", "model")
    if source is None or model is None or not is_live(source.text) or source.text.startswith("plugin:"):
        return
    asked = source.text.partition(":")[2]
    maker = model.text.partition("-")[0]
    is_sibling = asked.startswith(f"{maker}-") and not asked.startswith(model.text)
    if asked != model.value and model.value in project.pricing and (asked in project.pricing or is_sibling):
        notes = [(source, "asked here")]
        yield warning(model, f"the price is that of `{model.value}`, but `{asked}` is asked", notes=notes)
