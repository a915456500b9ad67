"""What a part of a condition can lack, so that it has no value."""

from __future__ import annotations

from typing import Final

from rulewright.expression.types import STRING
from rulewright.proving.domains import Domains, Path
from rulewright.proving.program_parts import extract, is_optional, path_at, unabridged, value_of
from rulewright.proving.static_types import ORDER, TOTAL, typed
from rulewright_runtime.ir import NUMBERS, Node, Program

_LAZY: Final = frozenset(("or", "orValue"))  # functions that have a result for an argument without a value


def sources_of(program: Program, domains: Domains) -> frozenset[Path]:
    """What a program needs: it has a value exactly where nothing of this is missing. These are parts of variables, and
    parts of the program that may fail although their arguments have a value, named by their source text."""
    return _sources(program, len(program.nodes) - 1, domains)


def _sources(program: Program, at: int, domains: Domains) -> frozenset[Path]:
    node = program.nodes[at]
    if typed(program, domains)[at].total or value_of(program, at) is not None:
        return frozenset()
    path = path_at(program, at) if node.op != "has" and not is_optional(program, at) else None
    if path is not None:
        domain = domains.find(path)
        return frozenset({path} if domain is None else {path[: part + 1] for part in domain.absent})
    if node.op in ("exists", "all") and len(node.value) == 1 and value_of(program, node.args[0]):
        found, roots = _sources(program, node.args[1], domains), {*domains.types, *(path[0] for path in domains.known)}
        if all(each[0] in roots for each in found):  # no item has a value where another has none
            return found
    if not (node.op in ("select", "index", "not") or (node.op == "call" and node.value not in _LAZY)):
        return frozenset({(_text(program, at),)})
    below = frozenset[Path]().union(*[_sources(program, arg, domains) for arg in node.args])
    can_fail = not typed(program, domains, node.args)[at].total
    return below | {(_failure(program, at, node, domains),)} if can_fail else below


def _failure(program: Program, at: int, node: Node, domains: Domains) -> str:
    """A name for the failure of a node whose arguments have values, the same for nodes that fail together."""
    if node.op == "call" and len(node.args) == 2:
        for one, two in (node.args, node.args[::-1]):
            given = program.nodes[two]
            kind = given.value[0] if given.op == "const" else ""
            if node.value in ORDER and kind in (*NUMBERS, "string"):
                named = {"string": "text", "score": "finite number"}.get(kind, "number")
                return f"{named}: {_text(program, one)}"
        is_search = node.value in TOTAL and typed(program, domains)[node.args[1]] == (STRING, True)
        if is_search and program.nodes[node.args[1]].op == "const":
            return f"text: {_text(program, node.args[0])}"
    return _text(program, at)


def _text(program: Program, at: int) -> str:
    return unabridged(extract(program, at))
