from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import entries, items, text_scalars
from rulewright.documents.suggestions import DEGREES
from rulewright.load import Scalar
from rulewright.project import Project


def order_reversed(project: Project) -> Iterator[Diagnostic]:
    """The severities of the vocabulary begin with the gravest, or a model's input costs more than its output.

    Why it matters: severities are read from the mildest to the gravest, and a price as input before output. In the
    wrong order, reports and estimates are wrong without any error.
    Instead: reverse the order.
    """
    words = None if project.file is None else project.file.get("vocabulary", "severities")
    degrees = [
        rank for each in text_scalars(words) for rank, names in enumerate(DEGREES) if str(each.value).lower() in names
    ]
    if words is not None and degrees != sorted(degrees):
        yield warning(words, "a graver severity comes before a milder one", help="declare the mildest first")
    for entry in entries(project.roots.get("pricing")):
        prices = [each.value for each in items(entry.value) if isinstance(each, Scalar)]
        numbers = [each for each in prices if isinstance(each, int | float)]
        if len(prices) == len(numbers) == 2 and numbers[0] > numbers[1] > 0:  # a model for embeddings has no output
            message = f"the input of `{entry.name}` costs more than its output"
            yield warning(entry.value, message, help="the price of the input comes first")
