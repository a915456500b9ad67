import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, Guess, Span, warning
from rulewright.documents.base import optional_text, scalar, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import opposed
from rulewright.expression.syntax_tree import Binary, Call, Literal, Unary, field_of, last_name
from rulewright.lower.expressions_of import WrittenExpression, expressions_of
from rulewright.project import Project

WORDS: Final = ("note", "description", "pass_rule")
MOST: Final = 8  # tools with one word in their names
STEM: Final = 4  # letters of a word without its ending
WORD: Final = re.compile(r"[a-z]{4,}")
LETTERS: Final = re.compile(r"[a-z]+")


def tool_unlike_the_words(project: Project) -> Findings:
    """A check looks for the tool of another check instead of the one that its id or description names.

    Why it matters: the condition was copied from the other check and one name was left: `tests-not-run` looks for
    `read_file` where it means `edit_file`.
    Instead: write the name of the tool that the words mean.
    """
    called = {check.id: list(_called(check)) for check in project.checks if check.verdict_conditions}
    for check in project.checks:
        yield from _opposed(check)
    known = {name for found in called.values() for name, _ in found if "_" in name}
    stems = {name: _stems(name.replace("_", " ")) for name in known}
    by_stem: dict[str, list[str]] = {}
    for name in sorted(known):
        for stem in stems[name]:
            by_stem.setdefault(stem, []).append(name)
    for check in project.checks if len(known) > 1 else ():
        found = called.get(check.id, [])
        own = {name for name, _ in found}
        words = _stems(" ".join(filter(None, (check.id, *(optional_text(check.node, key) for key in WORDS)))))
        meant = {name for stem in words for name in by_stem.get(stem, ())[:MOST]} - own
        meant = {name for name in meant if not _shared(name, own, stems) & words}
        odd = [each for each in found if each[0] in known and not stems[each[0]] & words]
        if len(meant) == 1 and len({name for name, _ in odd}) == 1:
            name, where = odd[0]
            message = f"`{check.id}` describes `{min(meant)}`, not `{name}`"
            yield warning(where, message, help=Guess(min(meant)))


def _opposed(check: CheckDocument) -> Findings:
    """The first tool of whose name the words say the opposite: `soft_search` for `a hard search`."""
    note = next((found for key in WORDS if (found := scalar(check.node, key)) is not None), None)
    words = LETTERS.findall("" if note is None else note.text.lower())
    for written in expressions_of(check) if note is not None else ():
        for name, where in _called_in(written, check) if _demands(written, check) else ():
            parts = name.split("_")
            pair = opposed(parts, words)
            if note is not None and pair is not None and {*parts} - {pair[0]} <= {*words} and len(parts) > 1:
                meant = "_".join(pair[1] if part == pair[0] else part for part in parts)
                message = f"`{check.id}` describes `{meant}`, not `{name}`"
                yield warning(where, message, help=Guess(meant), notes=[(note, "said here")])
                return


def _demands(written: WrittenExpression, check: CheckDocument) -> bool:
    """Whether a condition asks for something, so that it may name what the words name: a `pass` without a negation, a
    `fail` with one. `fail: called(tool_calls, "hard_search")` forbids the opposite of `a soft search`."""
    is_negated = any(isinstance(part, Unary) and part.operator == "!" for part in written.parts)
    return is_negated == (written.scalar is check.fails)


def _called(check: CheckDocument) -> Iterator[tuple[str, Span]]:
    """The names of tools that the conditions of a check compare or call for, also in lists of its parameters."""
    for written in expressions_of(check):
        yield from _called_in(written, check)


def _called_in(written: WrittenExpression, check: CheckDocument) -> Iterator[tuple[str, Span]]:
    for part in written.parts:
        match part:
            case Binary(operator="==" | "!=", left=left, right=Literal(value=str(name)) as literal):
                if last_name(left) == "name":
                    yield name, written.span(literal)
            case Call(function="called", args=(_, Literal(value=str(name)) as literal, *_)):
                yield name, written.span(literal)
            case Binary(operator="in", left=left, right=right) if last_name(left) == "name":
                listed = text_scalars(check.node, "params", field_of(right, "params") or "")
                yield from ((each.text, each.span) for each in listed)


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in WORD.findall(text.lower())}


def _shared(name: str, own: set[str], stems: dict[str, set[str]]) -> set[str]:
    """The words of a tool's name that the names of tools of the check have as well."""
    return stems[name] & {stem for each in own for stem in stems.get(each, ())}
