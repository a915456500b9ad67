"""Reads a CEL policy and its configuration, two YAML texts, into one program."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.errors import DocumentError
from rulewright.expression.checking_context import did_you_mean
from rulewright.expression.declarations import Overload, overload
from rulewright.expression.environment import Environment
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import Type, named_type
from rulewright.load import Mapping, Node, load_text, plain
from rulewright.lower.decision_table import Table, build_table
from rulewright_runtime.files.input_files import read_expanded

_UNREADABLE: Final = (AttributeError, KeyError, TypeError, ValueError)
_QUALIFIED: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", re.ASCII)
_POLICY_KEYS: Final = ("name", "description", "display_name", "id", "kind", "imports", "metadata", "rule")


def read_policy(path: Path, config: str | None) -> tuple[Table, Environment]:
    """Return the table of the policy in a file, and the environment that the configuration in another file declares.
    Raises DocumentError."""
    environment = read_environment(None) if config is None else read_environment(read_expanded(config), config)
    return _table(path.read_text(encoding="utf-8"), str(path), environment), environment


def compile_policy(policy: str, config: str | bytes | None) -> Table:
    """Return the table of a policy, over the variables and functions of its configuration. Raises DocumentError."""
    return _table(policy, "policy.yaml", read_environment(config))


def _table(policy: str, name: str, environment: Environment) -> Table:
    findings: list[Diagnostic] = []
    abbreviations: dict[str, str] = dict(environment.abbreviations)
    root = _root(policy, name, findings)
    if root is None:
        raise DocumentError(findings)
    for entry in root.entries:
        if entry.name not in _POLICY_KEYS:
            near = did_you_mean(entry.name, _POLICY_KEYS)
            message = f"a policy has no key `{entry.name}`"
            findings.append(error(entry.key, message, code="malformed-table", help=near))
    _import(abbreviations, root, findings)
    rule = root.get("rule")
    if rule is None:
        raise DocumentError([*findings, error(root.span, "a policy needs a `rule`", code="malformed-table")])
    return build_table(rule, replace(environment, abbreviations=abbreviations), findings)


def read_environment(config: str | bytes | None, name: str = "config.yaml") -> Environment:
    """Return the environment that a policy's configuration declares, which is in the file `name`. Raises
    DocumentError."""
    findings: list[Diagnostic] = []
    environment = _environment(config, name, findings)
    if findings:
        raise DocumentError(findings)
    return environment


def _root(text: str | bytes, name: str, findings: list[Diagnostic]) -> Mapping | None:
    loaded = load_text(text, name)
    findings += loaded.diagnostics
    if isinstance(loaded.root, Mapping):
        return loaded.root
    if not loaded.diagnostics:
        findings.append(error(loaded.source.span(0, 0), "a mapping was expected", code="malformed-table"))
    return None


def _environment(config: str | bytes | None, name: str, findings: list[Diagnostic]) -> Environment:
    root = None if config is None or not config.strip() else _root(config, name, findings)
    variables: dict[str, Type] = {}
    functions: dict[str, tuple[Overload, ...]] = {}
    abbreviations: dict[str, str] = {}
    container = ""
    if root is not None:
        configuration = plain(root)
        container_entry = configuration.get("container") or ""
        container = str(container_entry.get("name", "")) if isinstance(container_entry, dict) else str(container_entry)
        _import(abbreviations, root, findings)
        for item in _listed(root, "variables", findings):
            _declare(variables, item, root, findings)
        for item in _listed(root, "functions", findings):
            _declare_function(functions, item, root, findings)
    return Environment(
        variables=variables,
        functions=functions,
        container=container,
        abbreviations=abbreviations,
        dialect=Dialect.STRICT,
        validate=False,
    )


def _import(abbreviations: dict[str, str], root: Mapping, findings: list[Diagnostic]) -> None:
    """Add the last part of each qualified name under `imports` as its abbreviation (cel-go, `Abbrevs`)."""
    node = root.get("imports")
    for item in _listed(root, "imports", findings):
        name = item.get("name") if isinstance(item, dict) else None
        last = str(name).rpartition(".")[2]
        if not isinstance(name, str) or _QUALIFIED.fullmatch(name) is None:
            message = "an import is the name of something qualified, as in `- name: google.protobuf.Timestamp`"
        elif abbreviations.setdefault(last, name) != name:
            message = f"the imports `{name}` and `{abbreviations[last]}` are both abbreviated `{last}`"
        else:
            continue
        findings.append(error(node or root, message, code="malformed-table"))


def _listed(root: Mapping, key: str, findings: list[Diagnostic]) -> list[Any]:
    """The items of a list as plain data; a value that is not a list is reported."""
    node = root.get(key)
    items = [] if node is None else plain(node) or []
    if isinstance(items, list):
        return items
    findings.append(error(node or root, f"`{key}` must be a list", code="malformed-table"))
    return []


def _declare(variables: dict[str, Type], item: Any, node: Node, findings: list[Diagnostic]) -> None:
    try:
        variables[str(item["name"])] = _type(item.get("type", item))
    except _UNREADABLE as failure:
        findings.append(_unreadable("a variable", "{name: x, type_name: int}", failure, node))


def _declare_function(
    functions: dict[str, tuple[Overload, ...]], item: Any, node: Node, findings: list[Diagnostic]
) -> None:
    try:
        functions[str(item["name"])] = tuple(_overload(o) for o in item.get("overloads") or ())
    except _UNREADABLE as failure:
        example = "{name: f, overloads: [{args: [{type_name: int}], return: {type_name: bool}}]}"
        findings.append(_unreadable("a function", example, failure, node))


def _unreadable(what: str, example: str, failure: Exception, node: Node) -> Diagnostic:
    reason = f": {failure}" if isinstance(failure, ValueError) else ""
    return error(node.span, f"{what} is declared as in `{example}`{reason}", code="malformed-table")


def _overload(item: Any) -> Overload:
    target = item.get("target")
    arguments = [_type(target)] if target is not None else []
    arguments += [_type(a) for a in item.get("args") or ()]
    return overload(tuple(arguments), _type(item["return"]), target is not None)


def _type(item: Any) -> Type:
    """The type written as `{type_name: map, params: [{type_name: string}, ...]}`."""
    return named_type(str(item["type_name"]), tuple(_type(p) for p in item.get("params") or ()))
