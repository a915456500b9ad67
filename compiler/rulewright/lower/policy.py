"""Reads a CEL policy and its configuration, two YAML texts, into one program."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.errors import DocumentError
from rulewright.expression.declarations import Overload, overload
from rulewright.expression.environment import Environment
from rulewright.expression.nodes import Dialect
from rulewright.expression.type_messages import did_you_mean
from rulewright.expression.types import Type, named_type
from rulewright.load import Mapping, Node, load_text, plain
from rulewright.lower.decision_table import Table, build_table
from rulewright.lower.table_syntax import read_rule

_UNREADABLE: Final = (AttributeError, KeyError, TypeError, ValueError)
_QUALIFIED: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
_POLICY_KEYS: Final = ("name", "description", "display_name", "id", "kind", "imports", "metadata", "rule")


def compile_policy(policy: str, config: str | None = None) -> Table:
    """The table of a policy, over the variables and functions its configuration declares. Raises DocumentError."""
    environment = declared(config)
    found: list[Diagnostic] = []
    abbreviations: dict[str, str] = dict(environment.abbreviations)
    root = _root(policy, "policy.yaml", found)
    rule = None
    if root is not None:
        for entry in root.entries:
            if entry.name not in _POLICY_KEYS:
                near = did_you_mean(entry.name, _POLICY_KEYS)
                message = f"a policy has no key `{entry.name}`"
                found.append(error(entry.key, message, code="malformed-table", help=near))
        _import(abbreviations, root, found)
        node = root.get("rule")
        if node is None:
            found.append(error(root.span, "a policy needs a `rule`", code="malformed-table"))
        else:
            rule = read_rule(node, found)
    if rule is None or found:
        raise DocumentError(sorted(found, key=lambda d: d.sort_key))
    return build_table(rule, replace(environment, abbreviations=abbreviations))


def declared(config: str | None) -> Environment:
    """The variables and functions that a policy's configuration declares. Raises DocumentError."""
    found: list[Diagnostic] = []
    environment = _environment(config, found)
    if found:
        raise DocumentError(sorted(found, key=lambda d: d.sort_key))
    return environment


def _root(text: str, name: str, found: list[Diagnostic]) -> Mapping | None:
    loaded = load_text(text, name)
    found += loaded.diagnostics
    if isinstance(loaded.root, Mapping):
        return loaded.root
    if not loaded.diagnostics:
        found.append(error(loaded.source.span(0, 0), "a mapping was expected", code="malformed-table"))
    return None


def _environment(config: str | None, found: list[Diagnostic]) -> Environment:
    root = None if config is None or not config.strip() else _root(config, "config.yaml", found)
    variables: dict[str, Type] = {}
    functions: dict[str, tuple[Overload, ...]] = {}
    abbreviations: dict[str, str] = {}
    container = ""
    if root is not None:
        given = plain(root)
        named = given.get("container") or ""
        container = str(named.get("name", "")) if isinstance(named, dict) else str(named)
        _import(abbreviations, root, found)
        for item in _listed(root, "variables", found):
            _declare(variables, item, root, found)
        for item in _listed(root, "functions", found):
            _declare_function(functions, item, root, found)
    return Environment(
        variables=variables,
        functions=functions,
        container=container,
        abbreviations=abbreviations,
        dialect=Dialect.STRICT,
        validate=False,
    )


def _import(abbreviations: dict[str, str], root: Mapping, found: list[Diagnostic]) -> None:
    """Let the last part of each qualified name under `imports` stand for the whole (cel-go, `Abbrevs`)."""
    node = root.get("imports")
    for item in _listed(root, "imports", found):
        name = item.get("name") if isinstance(item, dict) else None
        last = str(name).rpartition(".")[2]
        if not isinstance(name, str) or _QUALIFIED.fullmatch(name) is None:
            message = "an import is the name of something qualified, as in `- name: google.protobuf.Timestamp`"
        elif abbreviations.setdefault(last, name) != name:
            message = f"the imports `{name}` and `{abbreviations[last]}` are both abbreviated `{last}`"
        else:
            continue
        found.append(error(node or root, message, code="malformed-table"))


def _listed(root: Mapping, key: str, found: list[Diagnostic]) -> list[Any]:
    """The items of a list, as plain data; a finding where there is something else."""
    node = root.get(key)
    items = [] if node is None else plain(node) or []
    if isinstance(items, list):
        return items
    found.append(error(node or root, f"`{key}` must be a list", code="malformed-table"))
    return []


def _declare(variables: dict[str, Type], item: Any, at: Node, found: list[Diagnostic]) -> None:
    try:
        variables[str(item["name"])] = _type(item.get("type", item))
    except _UNREADABLE as why:
        found.append(_unreadable("a variable", "{name: x, type_name: int}", why, at))


def _declare_function(functions: dict[str, tuple[Overload, ...]], item: Any, at: Node, found: list[Diagnostic]) -> None:
    try:
        functions[str(item["name"])] = tuple(_overload(o) for o in item.get("overloads") or ())
    except _UNREADABLE as why:
        example = "{name: f, overloads: [{args: [{type_name: int}], return: {type_name: bool}}]}"
        found.append(_unreadable("a function", example, why, at))


def _unreadable(what: str, example: str, why: Exception, at: Node) -> Diagnostic:
    reason = f": {why}" if isinstance(why, ValueError) else ""
    return error(at.span, f"{what} is declared as in `{example}`{reason}", code="malformed-table")


def _overload(item: Any) -> Overload:
    target = item.get("target")
    arguments = [_type(target)] if target is not None else []
    arguments += [_type(a) for a in item.get("args") or ()]
    return overload(tuple(arguments), _type(item["return"]), target is not None)


def _type(item: Any) -> Type:
    """The type written as `{type_name: map, params: [{type_name: string}, ...]}`."""
    return named_type(str(item["type_name"]), tuple(_type(p) for p in item.get("params") or ()))
