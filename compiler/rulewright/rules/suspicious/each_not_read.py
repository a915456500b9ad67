from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression.syntax_tree import Macro, Name, below
from rulewright.lower.expressions_of import expressions_of
from rulewright_runtime.plan.verifiers import PARTS

PER_ITEM: Final = frozenset({"all", "exists", "exists_one", "existsOne", "filter"})
ANSWERS: Final = frozenset({"message", "turn"})  # variables whose content may be mistaken for the answer


def each_not_read(check: CheckDocument) -> Findings:
    """A check with `each`, or a macro such as `exists`, never reads the item, or reads `answer` instead.

    Why it matters: the condition reads the same value for every part of the conversation, or every item of a list.
    Instead: read the part in the condition, or remove `each`.
    """
    yield from _of_items(check)
    part_of = str(check.each)
    variable = PARTS[part_of][1] if part_of in PARTS else None
    conditions = {id(each) for each in check.verdict_conditions}
    sound = [each for each in expressions_of(check) if id(each.scalar) in conditions]
    if variable is None or not sound or len(sound) < len(conditions):
        return
    names = {part.name for each in sound for part in each.parts if isinstance(part, Name)}
    if variable in names and variable in ANSWERS and "answer" in names:
        written, part = next((each, part) for each in sound for part in each.parts if part == Name("answer", part.span))
        message = f"`answer` is the last reply of the conversation, not the {part_of} that `{variable}` is"
        yield warning(written.span(part), message, help=f"read `{variable}.content`")
    if variable not in names:
        yield warning(
            check.place("each"),
            f"no condition reads `{variable}`: every {part_of.replace('_', ' ')} gives the same result",
            help=f"read `{variable}` in a condition, or remove `each`",
        )


def _of_items(check: CheckDocument) -> Findings:
    """The conditions over the items of a list that read no item."""
    for written in expressions_of(check):
        for part in written.parts:
            if not isinstance(part, Macro) or part.kind not in PER_ITEM:
                continue
            read = {each.name for body in part.bodies for each in below(body) if isinstance(each, Name)}
            if read.isdisjoint(part.variables):
                items = " and ".join(f"`{each}`" for each in part.variables)
                yield warning(
                    written.span(part), f"`{part.kind}` does not read {items}: every item gives the same result"
                )
