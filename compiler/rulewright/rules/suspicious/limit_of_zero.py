from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import Document, entries, items, numeric, text
from rulewright.documents.check import CheckDocument
from rulewright.load import Mapping, Node, Sequence, walk
from rulewright_runtime.judging.judge import is_live

if TYPE_CHECKING:
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
CALLS: Final = ("max_calls", "max_tokens")  # of the judge
PER_CALL: Final = {"max_tokens": "max_calls", "tokens_per_minute": "requests_per_minute"}
LEAST: Final = 20  # tokens of a call
CHEAPEST: Final = 0.0005  # USD for a million tokens; less is the price of one token
JUDGED: Final = (*CALLS, "max_usd", "concurrency", "requests_per_minute", "tokens_per_minute")
RETRIES: Final = ("max_retries", "retry_backoff_seconds")
REQUIRED: Final = ("required_sections", "required_fields")  # by contracts


def limit_of_zero(subject: CheckDocument | Profile | Project | Workflow) -> Findings:
    """A budget, an interval, a limit or a share is 0 or below another one, or a contract requires only an empty list.

    Why it matters: the setting looks like a limit, but nothing can meet it, or everything does.
    Instead: write the limit that is meant, or remove the key.
    """
    if isinstance(subject, Document):
        yield from _zeros(subject.node)
        votes = numeric(subject.node, "routing", "repetitions")
        asks = isinstance(subject, CheckDocument) and (subject.has_edge or subject.is_judged)
        if asks and votes is not None and votes.value == 0:
            yield warning(votes, "`repetitions` is 0: no judge is asked", help="write the number of votes")
    elif hasattr(subject, "scripts"):
        yield from (each for loaded in subject.loaded for each in _contracts(loaded.root))
    elif subject.file is not None:
        yield from _zeros(subject.file.node)
        yield from _of_judge(subject, subject.file.node)
        yield from _of_tokens(subject)
        retries, wait = (numeric(subject.file.node, "workflow", "engine", key) for key in RETRIES)
        if retries is not None and retries.value == 0 and wait is not None and wait.value != 0:
            yield warning(wait, f"`{RETRIES[1]}` has no effect: `{RETRIES[0]}` is 0", help="remove one of the two")


def _of_tokens(project: Project) -> Findings:
    """The prices of a single token."""
    for entry in entries(project.roots.get("pricing")):
        prices = [found.as_float for each in items(entry.value) if (found := numeric(each)) is not None]
        if 0 < max(prices, default=0) < CHEAPEST:
            meant = [float(f"{each * 1_000_000:g}") for each in prices]
            message = f"a million tokens of `{entry.name}` cost next to nothing"
            yield warning(entry.value, message, help=Guess(f"{meant}", "prices are in USD per million tokens"))


def _of_judge(project: Project, node: Mapping) -> Findings:
    """The limits of the judge that forbid every call, and calls in flight that may not be started."""
    source, limits = text(node, "judge", "source"), {key: numeric(node, "judge", key) for key in JUDGED}
    price = project.pricing.get(text(node, "judge", "model"))
    forbidding = (*CALLS, *(("max_usd",) if price is not None and price.input + price.output else ()))
    for key, found in limits.items():
        if found is not None and found.value == 0 and key in forbidding and source and is_live(source):
            yield warning(found, f"`{key}` is 0: the judge can't be asked")
    for most, calls in PER_CALL.items():
        tokens, number = (limits[key] for key in (most, calls))
        if tokens is not None and number is not None and 0 < tokens.as_float < LEAST * number.as_float:
            message = f"`{most}` is {tokens.raw}, less than {LEAST} for each of the {number.raw} of `{calls}`"
            yield warning(tokens, message, notes=[(number, "the number of calls")])
    at_once, started = limits["concurrency"], limits["requests_per_minute"]
    if at_once is not None and started is not None and at_once.as_float > started.as_float > 0:
        message = f"`concurrency` is {at_once.raw}, but only {started.raw} calls may start in a minute"
        yield warning(at_once, message, notes=[(started, "the limit")])


def _zeros(node: Node) -> Findings:
    for path, why in ZEROS.items():
        found = numeric(node, *path)
        if found is not None and found.value == 0:
            yield warning(found, f"`{path[-1]}` is 0: {why}")


def _contracts(root: Node | None) -> Findings:
    for each in walk(root):
        lists = [each.get(key) for key in REQUIRED if key in each] if isinstance(each, Mapping) else []
        empty = [found for found in lists if isinstance(found, Sequence) and not found.items]
        if empty and len(empty) == len(lists):
            yield warning(empty[0], "this contract requires nothing of the content")
