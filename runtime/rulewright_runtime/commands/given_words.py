"""The words of a command line: their values, and what is said where they can't be understood."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.input_files import open_regular
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.plan.parameters import Parameter


class WrongUsageError(RuntimeFailure):
    """A command line that can't be understood."""


def content_of(path: str) -> bytes:
    """What a file holds. Raises OSError."""
    with open_regular(path) as stream:
        return stream.read()


def typed(parameters: Iterable[Parameter], written: dict[str, str]) -> dict[str, object]:
    """The values of parameters, read as their declared types are written; the scorecard checks the rest."""
    types = {parameter.name: parameter.type for parameter in parameters}
    words: dict[str, object] = {"true": True, "false": False}
    values: dict[str, object] = dict(written)
    for name, text in written.items():
        if types.get(name) == "bool":
            values[name] = words.get(text, text)
        elif types.get(name) == "integer" and text.removeprefix("-").isdecimal() and text.isascii():
            values[name] = int(text)
    return values


def number(given: JsonObject, name: str) -> int | None:
    """The whole number given for an option; None where it is not given. Raises WrongUsageError."""
    text = given.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise WrongUsageError(f"`--{name.replace('_', '-')}` needs a whole number, not `{text}`")
    return int(text)
