from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import TypeAlias, TypeGuard

from rulewright.diagnostics import Findings, Guess, Span, warning
from rulewright.documents.base import descend, entries, texts
from rulewright.documents.check import CheckDocument
from rulewright.expression.direction import conjoined
from rulewright.expression.syntax_tree import (
    Binary,
    Call,
    Expr,
    Has,
    Index,
    ListLiteral,
    Literal,
    MapLiteral,
    Name,
    Select,
    below,
)
from rulewright.load import Scalar, Sequence, is_text, place, scalars_below
from rulewright.lower.expressions_of import expressions_of
from rulewright.project import Project
from rulewright.rules.suspicious.misspelt_word import is_known_word
from rulewright.spelling import did_you_mean, is_spelt_like
from rulewright_runtime.english import ticked

Word: TypeAlias = tuple[str, Span | Scalar]


def misspelt_tool(project: Project) -> Findings:
    """A check spells a tool unlike chats, declared tools or other checks, or reads a field that calls do not have.

    Why it matters: no call has the name, so the check passes, or fails, every time. The same happens where an
    argument is compared with a text that no `enum` of the declared tools contains.
    Instead: use the spelling of the calls. The recorded chats are those in the folders `chats` and `transcripts`;
    `params.tools` of `library/tool-call-valid` declares tools.
    """
    yield from _unlike_guards(project.checks, "metadata")
    checks = [each for each in project.checks if _reads_calls(each)]
    if not checks:
        return
    from rulewright.project.recorded_calls import recorded_calls

    recorded = recorded_calls(project.root)
    counts = Counter(word for check in checks for word, _ in _words(check))
    usual = {word for word, count in counts.items() if count > 1}
    declared = {each.name for check in checks for each in entries(descend(check.node, "params", "tools"))}
    yield from _misspelt(checks, (declared, recorded.keys()), counts.keys(), usual - declared)
    shown = {each.text for each in scalars_below(*(check.get("examples") for check in checks))}
    yield from _of_two_places(checks, {*declared, *recorded, *usual}, shown)
    yield from _unknown_arguments(checks, recorded) if any(recorded.values()) else _unlike_guards(checks, "arguments")
    yield from (found for check in checks for found in _of_another_tool(check, recorded))
    allowed = _allowed(checks)
    yield from (found for check in checks for found in _outside(check, allowed)) if allowed else ()


def _allowed(checks: list[CheckDocument]) -> dict[str, set[str]]:
    """The texts that declared tools allow for an argument; none if one of them allows any."""
    tools = (tool for check in checks for tool in entries(descend(check.node, "params", "tools")))
    arguments = [each for tool in tools for each in entries(descend(tool.value, "properties"))]
    found: dict[str, set[str]] = {}
    for each in arguments:
        found.setdefault(each.name, set()).update(texts(each.value, "enum"))
    free = {each.name for each in arguments if not [*texts(each.value, "enum")]}
    return {name: values for name, values in found.items() if name not in free}


def _outside(check: CheckDocument, allowed: Mapping[str, Set[str]]) -> Findings:
    """The texts that an argument is compared with, and that no declared tool allows for it; an empty text is none."""
    for written in expressions_of(check):
        for argument, compared in chain.from_iterable(map(_compared, written.parts)):
            value = compared.value if isinstance(compared, Literal) else None
            if argument in allowed and isinstance(value, str) and value not in {*allowed[argument], ""}:
                listed = ticked(sorted(allowed[argument]))
                help = did_you_mean(value, allowed[argument]) or f"the declared values are {listed}"
                yield warning(written.span(compared), f"no declared tool allows `{value}` for `{argument}`", help=help)


def _compared(part: Expr) -> Iterator[tuple[str, Expr]]:
    """The arguments that a part compares: by an operator, or in the third argument of `called`."""
    match part:
        case Binary(operator="==" | "!=" | "in", left=left, right=right):
            values = right.items if isinstance(right, ListLiteral) else (right,)
            yield from ((_field(left) or "", value) for value in values)
        case Call(function="called", args=(_, _, MapLiteral(entries=pairs))):
            yield from ((str(key.value), value) for key, value in pairs if isinstance(key, Literal))


def _misspelt(
    checks: list[CheckDocument], tools: tuple[Set[str], Set[str]], written: Set[str], usual: Set[str]
) -> Findings:
    """The words that are neither a declared nor a recorded tool, stand in only one place of the checks, and are similar
    to a tool or to a word with more use."""
    declared, recorded = tools
    meant = [each for check in checks for each in _meant_both(check)]
    for word, where in (
        each for check in checks for each in _words(check) if each[0] not in declared | recorded | usual
    ):
        other = word.replace("-", "_")
        near = next((name for name in (*sorted(declared), *recorded, *usual) if is_spelt_like(word, name)), None)
        if other != word and other in written:
            yield warning(where, f"`{word}` is also written `{other}`", help=Guess(other))
        elif near is not None and not any({word, near} <= each for each in meant):
            message = f"no recorded chat calls `{word}`" if near in recorded else f"`{word}` occurs only here"
            yield warning(where, f"`{word}` is not declared" if near in declared else message, help=Guess(near))


def _unknown_arguments(checks: list[CheckDocument], recorded: Mapping[str, Set[str]]) -> Findings:
    """The arguments that no recorded call has, unless the check names a tool that no chat calls, which may have any."""
    known = set[str]().union(*recorded.values())
    comparable = [
        check for check in checks if all(any(_is_of(name, each) for each in recorded) for name in _tools(check))
    ]
    for word, where in (each for check in comparable for each in _fields(check, "arguments")):
        if word not in known:
            help = did_you_mean(word, known) or f"the recorded arguments are {ticked(sorted(known))}"
            yield warning(where, f"no recorded call has an argument `{word}`", help=help)


def _tools(check: CheckDocument) -> Iterator[str]:
    """The texts that a check's conditions compare with the name of a call."""
    parts = (part for written in expressions_of(check) for part in written.parts if isinstance(part, Binary))
    named = (part.right for part in parts if isinstance(part.left, Select) and part.left.field == "name")
    return (str(each.value) for right in named for each in below(right) if isinstance(each, Literal))


def _is_of(name: str, tool: str) -> bool:
    return name == tool or is_spelt_like(name, tool)


def _unlike_guards(checks: Iterable[CheckDocument], held: str) -> Findings:
    """The fields that only one place reads, where a guard with `has` spells a similar one that no other reads, and the
    guards of a field that nothing reads."""
    read = Counter(word for check in checks for word, _ in _fields(check, held))
    for check in checks:
        guards = {
            part.field: written.span(part)
            for written in expressions_of(check)
            for part in written.parts
            if isinstance(part, Has) and isinstance(part.operand, Select) and part.operand.field == held
        }
        for word, where in _fields(check, held):
            near = next((name for name in guards if is_spelt_like(word, name)), None)
            if near is not None and word not in guards and read[word] == 1:
                yield warning(where, f"`{word}` is read, but `has` asks for `{near}`", help=Guess(near))
            elif near is not None and word not in guards and not read[near]:
                yield warning(guards.pop(near), f"`has` asks for `{near}`, but `{word}` is read", help=Guess(word))


def _of_another_tool(check: CheckDocument, recorded: Mapping[str, Set[str]]) -> Findings:
    """The arguments that the recorded calls of other tools have, but none of the tool that is demanded next to them."""
    known = set[str]().union(*recorded.values())
    for written in expressions_of(check) if known else ():
        for sides in conjoined(written.checked.expr):
            names: dict[Expr | None, object] = dict(map(_named, filter(_demands, sides)))
            for part in (part for side in sides if names and not _demands(side) for part in below(side)):
                tool, field = names.get(_call_of(part)), _field(part)
                usual = recorded.get(str(tool), set())
                if field in known and usual and field not in usual:
                    message = f"no recorded call of `{tool}` has an argument `{field}`"
                    yield warning(written.span(part), message, help=f"its arguments are {ticked(sorted(usual))}")
                    return


def _demands(part: Expr) -> TypeGuard[Binary]:
    """Whether a part demands the name of a tool: `call.name == "shell"`."""
    return (
        isinstance(part, Binary)
        and part.operator == "=="
        and isinstance(part.left, Select)
        and part.left.field == "name"
        and isinstance(part.right, Literal)
    )


def _named(part: Binary) -> tuple[Expr | None, object]:
    """The call that a part demands the name of, and the name."""
    call = part.left.operand if isinstance(part.left, Select) else None
    return call, part.right.value if isinstance(part.right, Literal) else None


def _call_of(part: Expr) -> Expr | None:
    """The call whose argument a part reads."""
    held = part.operand if isinstance(part, Select | Index) else None
    return held.operand if isinstance(held, Select) and held.field == "arguments" else None


def _reads_calls(check: CheckDocument) -> bool:
    """Whether the check's conditions read tool calls."""
    return any("tool_call" in each.scalar.text for each in expressions_of(check))


def _words(check: CheckDocument) -> Iterator[Word]:
    """The strings in the check's conditions and parameters."""
    for written in expressions_of(check):
        for part in written.parts:
            if isinstance(part, Literal) and isinstance(part.value, str):
                yield part.value, written.span(part)
    for name in check.params:
        value = check.get("params", name)
        for node in value.items if isinstance(value, Sequence) else (value,):
            if is_text(node):
                yield node.text, node


def _meant_both(check: CheckDocument) -> Iterator[set[str]]:
    """Similar words that the check has on purpose: those of a list, and a word next to its plural."""
    words = {word for word, _ in _words(check)}
    yield from ({word, f"{word}s"} for word in words if f"{word}s" in words)
    parts = (part for written in expressions_of(check) for part in written.parts if isinstance(part, ListLiteral))
    yield from ({str(each.value) for each in part.items if isinstance(each, Literal)} for part in parts)
    yield from ({*texts(check.node, "params", name)} for name in check.params)


def _of_two_places(checks: list[CheckDocument], known: set[str], shown: set[str]) -> Findings:
    """The names with an underscore that only one place has, where an earlier one has a similar name, unless examples
    have both, or a check means both."""
    seen: dict[str, CheckDocument] = {}
    for check in checks:
        for word, where in _words(check):
            near = next((name for name in seen if "_" in name and is_spelt_like(word, name)), None)
            is_other = near is not None and seen[near] is check and _are_two_tools(word, near)
            if near is None or is_other or "_" not in word or {word, near} <= shown:
                pass
            elif known.isdisjoint((word, near)) and not any({word, near} <= each for each in _meant_both(check)):
                other = "next to it" if seen[near] is check else f"only in `{seen[near].id}`"
                yield warning(where, f"`{word}` occurs only here, and `{near}` {other}", help="use one spelling")
            seen.setdefault(word, check)


def _are_two_tools(word: str, near: str) -> bool:
    """Whether two names differ in words and numbers only: `get_order` and `set_order`, `search_v1` and `search_v2`; or
    have no known word, as those of another language."""
    words, others = {*word.lower().split("_")}, {*near.lower().split("_")}
    parts = words ^ others
    is_foreign = not any(map(is_known_word, words | others))
    return is_foreign or (bool(parts) and all(is_known_word(part) or not part.isalpha() for part in parts))


def _fields(check: CheckDocument, held: str) -> Iterator[Word]:
    """The fields of `held`, such as the arguments of calls, that the check's conditions read, each with the place of
    the part that reads it."""
    for written in expressions_of(check):
        for part in written.parts:
            field = _field(part, held)
            if field is not None and isinstance(part, Index):
                yield field, written.span(part.index)
            elif field is not None:
                yield field, place(written.scalar, part.span.end - len(field), part.span.end)


def _field(part: Expr, of: str = "arguments") -> str | None:
    """The argument of a call, or another field, that a part reads; None for any other part."""
    if not isinstance(part, Select | Index) or not isinstance(part.operand, Select):
        return None
    held = part.operand
    if held.field != of or (isinstance(held.operand, Name) and held.operand.name == "params"):
        return None
    if isinstance(part, Select):
        return part.field
    return part.index.value if isinstance(part.index, Literal) and isinstance(part.index.value, str) else None
