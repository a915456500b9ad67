from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument
from rulewright.expression.direction import denies
from rulewright.expression.syntax_tree import Binary, Expr, ListLiteral, Macro, Name, chain, field_of, last_name
from rulewright.lower.expressions_of import expressions_of

KINDS: Final = frozenset({"messages", "tool_calls", "turns"})  # lists of items with a name or a role
NEVER_EMPTY: Final = frozenset({"messages", "replies", "turns"})


def all_of_none(check: CheckDocument) -> Findings:
    """A `fail` tests all items of a list, which also holds for an empty list, or tests all turns for one role.

    Why it matters: `all` holds for an empty list. `fail: tool_calls.all(call, call.name == "pay")` fails every chat
    without calls, and passes where one call of several pays. `turns.all(turn, turn.role == "user" and ...)` never
    holds: a conversation has turns of both roles.
    Instead: write `exists`, or test as well that the list has members.
    """
    for written in expressions_of(check):
        if written.scalar is check.fails:
            for sides in ([*chain(each, "&&")] for each in chain(written.checked.expr, "||")):
                for part in sides:
                    if _demands_one_kind(part):
                        message = "`all` holds only where every item has the same name or role"
                        yield warning(written.span(part), message, help="did you mean `exists`?")
                        continue
                    text = written.text(part.target) if isinstance(part, Macro) else ""
                    others = [each for each in sides if each is not part]
                    if _is_of_any_list(part) and not any(text in written.text(each) for each in others):
                        message = f"`fail` holds where `{text}` is empty, because `all` is true for an empty list"
                        yield warning(written.span(part), message, help="did you mean `exists`?")


def _is_of_any_list(part: Expr) -> bool:
    """Whether a part says that all members of a list, which a chat may leave empty, have something."""
    if not isinstance(part, Macro) or part.kind != "all" or denies(part.bodies[-1]):
        return False
    is_written = isinstance(part.target, ListLiteral) or field_of(part.target, "params") is not None
    return not is_written and not (isinstance(part.target, Name) and part.target.name in NEVER_EMPTY)


def _demands_one_kind(part: Expr) -> bool:
    """Whether a part demands a name or a role of all calls or turns, and something else of them as well."""
    if not isinstance(part, Macro) or part.kind != "all" or not isinstance(part.target, Name):
        return False
    sides = chain(part.bodies[-1], "&&")
    return len(sides) > 1 and part.target.name in KINDS and any(_is_of_kind(each) for each in sides)


def _is_of_kind(side: Expr) -> bool:
    return isinstance(side, Binary) and side.operator == "==" and last_name(side.left) in ("name", "role")
