"""Options of the command line: reading files, parsing values, and the error for wrong usage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.files.input_files import open_regular
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from rulewright_runtime.plan.scorecard import Parameter


class WrongUsageError(RuntimeFailure):
    """A command line that can't be parsed."""


def read_file(path: str) -> bytes:
    """Return the content of a file. Raises OSError."""
    with open_regular(path) as stream:
        return stream.read()


def parse_parameters(parameters: Iterable[Parameter], texts: dict[str, str]) -> dict[str, object]:
    """Parse booleans and integers as their declared types; other values stay strings, and the scorecard checks all."""
    types = {parameter.name: parameter.type for parameter in parameters}
    words: dict[str, object] = {"true": True, "false": False}
    values: dict[str, object] = dict(texts)
    for name, text in texts.items():
        if types.get(name) == "bool":
            values[name] = words.get(text, text)
        elif types.get(name) == "integer" and text.removeprefix("-").isdecimal() and text.isascii():
            values[name] = int(text)
    return values


def integer(options: JsonObject, name: str) -> int | None:
    """Return the integer value of an option, or None without it. Raises WrongUsageError for any other text."""
    text = options.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise WrongUsageError(f"`--{name.replace('_', '-')}` needs a whole number, not `{text}`")
    return int(text)
