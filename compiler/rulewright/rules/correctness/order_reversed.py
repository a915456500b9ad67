from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, items, numeric, text_scalars
from rulewright.documents.suggestions import DEGREES
from rulewright.load import Entry, Scalar
from rulewright.project import Project

# Words of names for a lower limit, and for the upper one next to it; `low` and `lower` only at the end of a name:
# `low_risk` is the number of a low risk.
UPPER: Final = {"lowest": "highest", "min": "max", "minimum": "maximum", "least": "most", "fewest": "most"}
SEVERAL: Final = 2  # checks with tags or a condition, and as many without, that show what the scopes mean
WAYS: Final = ("input", "output")
UPPER_AT_THE_END: Final = {**UPPER, "low": "high", "lower": "upper"}


def order_reversed(project: Project) -> Findings:
    """Severities, prices, limits or scopes are exchanged: the worst severity is first, or input costs more than output.

    Why it matters: severities are read from the mildest to the worst, and a price as input before output. In the
    wrong order, reports and estimates are wrong without any error. No value is between limits such as `low: 9` and
    `high: 3`.
    Instead: reverse the order.
    """
    for document in (*project.checks, *project.scorecards.values()):
        for section in ("params", "parameters"):
            yield from _limits(entries(document.node, section))
    yield from _severities(project)
    yield from _scopes(project)
    yield from _prices(project)
    yield from _token_counts(project)
    yield from _precisions(project)


def _severities(project: Project) -> Findings:
    words = None if project.file is None else project.file.get("vocabulary", "severities")
    degrees = [rank for each in text_scalars(words) for rank, names in enumerate(DEGREES) if each.text.lower() in names]
    if words is not None and degrees != sorted(degrees):
        yield warning(words, "a more severe word comes before a milder one", help="declare the mildest first")


def _scopes(project: Project) -> Findings:
    """The scopes of the vocabulary, if every check with tags or a condition is universal, and none of the others."""
    declared = None if project.file is None else project.file.get("vocabulary", "scopes")
    checks = [check for check in project.checks if check.get("scope") is not None]
    conditional = [bool(check.tags) or check.when is not None for check in checks]
    is_exchanged = all(check.is_universal == each for check, each in zip(checks, conditional, strict=True))
    if declared is not None and is_exchanged and min(conditional.count(True), conditional.count(False)) >= SEVERAL:
        first = checks[conditional.index(True)]
        message = "the scopes are exchanged: every check with tags or a condition is universal, and no other one"
        notes = [(first.place("scope"), f"`{first.id}`, for instance")]
        yield warning(declared, message, notes=notes, help="exchange the meanings of the two scopes")


def _prices(project: Project) -> Findings:
    for entry in entries(project.roots.get("pricing")):
        prices = [each.value for each in items(entry.value) if isinstance(each, Scalar)]
        numbers = [each for each in prices if isinstance(each, int | float)]
        if len(prices) == len(numbers) == 2 and numbers[0] > numbers[1] > 0:  # a model for embeddings has no output
            message = f"the input of `{entry.name}` costs more than its output"
            yield warning(entry.value, message, help="the price of the input comes first")


def _token_counts(project: Project) -> Findings:
    """The numbers of tokens per call that another profile has the other way around."""
    tokens = [[numeric(each.node, f"{way}_tokens_per_llm_call") for way in WAYS] for each in project.profiles.values()]
    pairs = [(sent, received) for sent, received in tokens if sent is not None and received is not None]
    usual = {(sent.value, received.value) for sent, received in pairs}
    for sent, received in pairs:
        if sent.as_float < received.as_float and (received.value, sent.value) in usual:
            notes = [(received, "the tokens of a reply")]
            message = f"{sent.raw} tokens are sent and {received.raw} received here, but the reverse in another profile"
            yield warning(sent, message, notes=notes)


def _precisions(project: Project) -> Findings:
    for lexicon in project.lexicons.values():
        right, labelled = (numeric(lexicon.node, "precision", key) for key in ("right", "labelled"))
        if right is not None and labelled is not None and right.as_float > labelled.as_float:
            notes = [(labelled, "the hits that were labelled")]
            yield warning(right, f"`right` is {right.raw}, more than the {labelled.raw} labelled hits", notes=notes)


def _limits(parts: Iterable[Entry]) -> Findings:
    """The lower limits that are above the upper limit with the same name but for `low` or `high`, or a like word."""
    limits = {each.name: value for each in parts if (value := numeric(each.value) or numeric(each.value, "default"))}
    for name, least in limits.items():
        *words, last = name.split("_")
        upper = "_".join((*(UPPER.get(word, word) for word in words), UPPER_AT_THE_END.get(last, last)))
        most = limits[upper] if upper != name and upper in limits else least
        if least.as_float > most.as_float:
            notes = [(most, "the upper limit")]
            yield warning(least, f"`{name}` is {least.raw}, above the upper limit {most.raw}", notes=notes)
