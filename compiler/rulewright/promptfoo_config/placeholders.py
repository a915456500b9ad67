"""Placeholders of variables, `{{name}}`, in the texts of a configuration. Nothing else of templates is translated."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from rulewright.expression.unparse import literal

VARIABLES: Final = "scenario.metadata.vars"
_PLACEHOLDER: Final = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{[{%#]")


class NotTranslatedError(Exception):
    """A part of a configuration that has no translation; the message says why."""


def value_text(value: object) -> str:
    """The text of a variable's value in a message."""
    if value is None or (isinstance(value, str) and (value.startswith("file://") or _TEMPLATE.search(value))):
        raise NotTranslatedError(f"a variable with the value `{json.dumps(value)}` is not translated; write its text")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def filled(template: str, variables: Mapping[str, str]) -> str:
    """The template with the values of its variables."""
    require_variables(template, variables)
    return _each_piece(template, str, lambda name: variables[name], "")


def require_variables(template: str, variables: Mapping[str, str]) -> None:
    """Raises NotTranslatedError if the template reads a variable that there is not."""
    for name in _PLACEHOLDER.findall(template):
        if name not in variables:
            known = ", ".join(f"`{each}`" for each in variables) or "none"
            raise NotTranslatedError(f"unknown variable `{name}`; expected one of `vars`: {known}")


def is_blank(template: str, variables: Mapping[str, str]) -> bool:
    """Whether a template is nothing but blanks with the values of these variables."""
    return not _PLACEHOLDER.sub(lambda found: variables.get(found[1], found[0]), template).strip()


def as_expression(template: str) -> str:
    """The template as an expression over the variables of the scenario."""
    return _each_piece(template, literal, lambda name: f"string({VARIABLES}[{literal(name)}])", " + ") or "''"


def as_prompt(template: str) -> str:
    """The template as a part of a judge's prompt."""
    return _each_piece(template, str, lambda name: f"{{{{ {VARIABLES}[{json.dumps(name)}] }}}}", "")


def _each_piece(template: str, text: Callable[[str], str], variable: Callable[[str], str], between: str) -> str:
    """The translated texts and names of a template, joined."""
    pieces = _PLACEHOLDER.split(template)
    if any(_TEMPLATE.search(each) for each in pieces[::2]):
        raise NotTranslatedError("only `{{NAME}}` is translated of templates, without filters, fields and `{% %}`")
    translated = [(variable if index % 2 else text)(each) for index, each in enumerate(pieces) if each]
    return between.join(translated)
