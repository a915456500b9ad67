from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import Document, numeric
from rulewright.load import Mapping, Node, Sequence, walk

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.profile import Profile
    from rulewright.project import Project
    from rulewright.workflow import Workflow

ZEROS: Final = {
    ("workflow", "engine", "cost_budget_per_run_usd"): "the first call with costs exceeds the budget",
    ("workflow", "overlays", "hil", "poll_interval_seconds"): "a waiting run checks the queue without a pause",
    ("routing", "recalled_share"): "nothing has to be recalled",
    ("input_tokens_per_llm_call",): "every question is estimated as free",
    ("output_tokens_per_llm_call",): "every reply is estimated as free",
}
RETRIES: Final = ("max_retries", "retry_backoff_seconds")
REQUIRED: Final = ("required_sections", "required_fields")  # by contracts


def limit_of_zero(subject: CheckDocument | Profile | Project | Workflow) -> Iterator[Diagnostic]:
    """A budget, an interval, a share or a number of tokens is 0, or a contract requires only an empty list.

    Why it matters: the setting looks like a limit, but nothing can meet it, or everything does.
    Instead: write the limit that is meant, or remove the key.
    """
    if isinstance(subject, Document):
        yield from _zeros(subject.node)
    elif hasattr(subject, "scripts"):
        yield from (each for loaded in subject.loaded for each in _contracts(loaded.root))
    elif subject.file is not None:
        yield from _zeros(subject.file.node)
        retries, wait = (numeric(subject.file.node, "workflow", "engine", key) for key in RETRIES)
        if retries is not None and retries.value == 0 and wait is not None and wait.value != 0:
            yield warning(wait, f"`{RETRIES[1]}` has no effect: `{RETRIES[0]}` is 0", help="remove one of the two")


def _zeros(node: Node) -> Iterator[Diagnostic]:
    for path, why in ZEROS.items():
        found = numeric(node, *path)
        if found is not None and found.value == 0:
            yield warning(found, f"`{path[-1]}` is 0: {why}")


def _contracts(root: Node | None) -> Iterator[Diagnostic]:
    for each in walk(root):
        lists = [each.get(key) for key in REQUIRED if key in each] if isinstance(each, Mapping) else []
        empty = [found for found in lists if isinstance(found, Sequence) and not found.items]
        if empty and len(empty) == len(lists):
            yield warning(empty[0], "this contract requires nothing of the content")
