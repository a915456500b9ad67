"""Rule: `each` in a check whose conditions do not read the part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression.syntax_tree import Name
from rulewright.lower.expressions_of import expressions_of

VARIABLES: Final = {"message": "message", "reply": "turn", "tool_call": "tool_call", "turn": "turn"}


def each_not_read(check: CheckDocument) -> Iterator[Diagnostic]:
    """A check is decided for each part of a conversation, but no condition reads the part.

    Why it matters: the conditions have the same result for every part, often because they read the last answer.
    Instead: read the part in a condition, or remove `each`.
    """
    part_of, variable = str(check.each), VARIABLES.get(str(check.each))
    conditions = {id(each) for each in check.verdict_conditions}
    sound = [each for each in expressions_of(check) if id(each.scalar) in conditions]
    if variable is None or not sound or len(sound) < len(conditions):
        return
    names = {part.name for each in sound for part in each.parts() if isinstance(part, Name)}
    if variable not in names:
        yield warning(
            check.place("each"),
            f"no condition reads `{variable}`: every {part_of.replace('_', ' ')} gives the same result",
            help=f"read `{variable}` in a condition, or remove `each`",
        )
