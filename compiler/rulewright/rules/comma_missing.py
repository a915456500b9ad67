from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, replace, warning
from rulewright.documents.base import text_scalars
from rulewright.expression.syntax_tree import Expr, Literal
from rulewright.lower.expressions_of import texts_in

if TYPE_CHECKING:
    from rulewright.load import Scalar
    from rulewright.project import Project

NAMES: Final = re.compile(r"[a-z]+(?:_[a-z]+)+(?:, [a-z]+(?:_[a-z]+)+)*")
OF_CHECKS: Final = (("secondary_tags",), ("eligibility", "scenario_tags_any"), ("source_grounding",))
OF_SCENARIOS: Final = (("failure_mode_tags",), ("tags",))


def comma_missing(project: Project) -> Iterator[Diagnostic]:
    """The comma between two tags is missing, or several names share one pair of quotes in a condition.

    Why it matters: the two are read as one name, which nothing has.
    Instead: separate the tags with a comma, or quote each name.
    """
    tags = [*_tags(project)]
    known = {str(each.value) for each in tags if " " not in str(each.value)}
    others = {str(each.value) for each in tags if " " in str(each.value)}
    for tag in tags:
        words = str(tag.value).split()
        if len(words) > 1 and (known.issuperset(words) or (len(others) == 1 and not known.isdisjoint(words))):
            fix = None if tag.style else replace(tag, ", ".join(words), f"write `{', '.join(words)}`", safe=False)
            message = f"`{tag.value}` is one tag, but `{next(filter(known.__contains__, words))}` is a tag of its own"
            yield warning(tag, message, help=None if fix else "write a comma between them", fix=fix)
    yield from _in_quotes(project)


def _in_quotes(project: Project) -> Iterator[Diagnostic]:
    """Two names in one pair of quotes: `["look_up, refund"]`."""
    found = [each for check in project.checks for each in texts_in(check, _names)]
    known = {text for text, _ in found}
    for text, span in found:
        name = next((each for each in text.split(", ") if each in known and each != text), None)
        if name is not None:
            yield warning(span, f"`{text}` is one text, but `{name}` is a name of its own", help="quote each name")


def _names(part: Expr) -> Iterator[Literal]:
    if isinstance(part, Literal) and isinstance(part.value, str) and NAMES.fullmatch(part.value):
        yield part


def _tags(project: Project) -> Iterator[Scalar]:
    for check in project.checks:
        for steps in OF_CHECKS:
            yield from text_scalars(check.node, *steps)
    for scenario in project.scenarios.values():
        for steps in OF_SCENARIOS:
            yield from text_scalars(scenario.node, *steps)
