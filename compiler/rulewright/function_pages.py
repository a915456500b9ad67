"""The functions of expressions as the language reference describes them."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from rulewright.expression.declarations import profile_functions
from rulewright.shipped import shipped_root

_TABLE: Final = re.compile(r"^\| (?P<of>function|macro) \|.*\n\|[-|]+\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
_ROW: Final = re.compile(r"^\| (?P<written>.+?) \| (?P<gives>.+) \|$", re.MULTILINE)
_EXAMPLE: Final = re.compile(r"^(?P<text>.+)  // => .+$", re.MULTILINE)
_CALL: Final = re.compile(r"(?<!\w)(?:(?P<before>[A-Za-z_]\w*)\.)?(?P<name>[A-Za-z_]\w*)\(")
_WORD: Final = re.compile(r"[A-Za-z_][\w.]*")


class FunctionPage(Struct, frozen=True):
    """What the reference says about a function or a macro: its signatures, descriptions and examples."""

    signatures: tuple[str, ...]
    descriptions: tuple[str, ...]
    examples: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """The page in Markdown, like those of diagnostics."""
        yield from (f"    {each}" for each in self.signatures)
        for text in self.descriptions:
            yield from ("", text[:1].upper() + text[1:].rstrip(".") + ".")
        if self.examples:
            yield from ("", "Examples:", "", *(f"    {each}" for each in self.examples))


def function_page(name: str) -> FunctionPage | None:
    """Return the page of a function or macro; None for an unknown one."""
    if name not in function_names():
        return None
    signatures = tuple(each.written(name) for each in profile_functions().get(name, ()))
    rows = [row for row in _rows("function", "macro") if name in _written(row["written"])]
    used = [each[0] for each in _EXAMPLE.finditer(_reference()) if name in _calls(each["text"])]
    shown = signatures or tuple(part for row in rows for part in re.findall("`([^`]+)`", row["written"]))
    return FunctionPage(shown, tuple(row["gives"] for row in rows), tuple(used))


@cache
def function_names() -> frozenset[str]:
    """The names of all functions and macros that rule files may call."""
    macros = {name for row in _rows("macro") for name in _calls(row["written"])}
    return frozenset(macros | {name for name in profile_functions() if _WORD.fullmatch(name)})


def _rows(*kinds: str) -> Iterator[re.Match[str]]:
    """The rows of the reference's tables of functions or macros."""
    for table in _TABLE.finditer(_reference()):
        if table["of"] in kinds:
            yield from _ROW.finditer(table["rows"])


def _written(cell: str) -> set[str]:
    """The functions of a row: `f(x)`, `x.f(y)`, or only their names."""
    return {word for part in re.findall("`([^`]+)`", cell) for word in _calls(part) or part.split()}


def _calls(text: str) -> set[str]:
    """The names that are called in an expression; a method without what is before it."""
    return {_called(each["before"], each["name"]) for each in _CALL.finditer(text)}


def _called(before: str | None, name: str) -> str:
    full = f"{before}.{name}"
    return full if full in profile_functions() or before == "cel" else name


@cache
def _reference() -> str:
    return (shipped_root() / "grammar" / "LANGUAGE.md").read_text(encoding="utf-8")
