from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import entries
from rulewright.load import Mapping, walk
from rulewright.spelling import is_spelt_like
from rulewright.workflow import Workflow

KNOWN: Final = ("max_tokens", "temperature")  # `top_k` is not a misspelt `top_p`


def misspelt_hyperparameter(workflow: Workflow) -> Findings:
    """A setting of an agent's model is spelt almost like `max_tokens` or `temperature`.

    Why it matters: settings that only some models have are passed on, so the misspelt one sets nothing.
    Instead: correct the spelling.
    """
    for loaded in workflow.loaded:
        for node in () if loaded.root is None else walk(loaded.root):
            for entry in entries(node, "llm", "hyperparameters") if isinstance(node, Mapping) else ():
                near = next((each for each in KNOWN if is_spelt_like(entry.name, each)), None)
                if near is not None:
                    yield warning(entry.key, f"unknown setting `{entry.name}`", help=Guess(near))
