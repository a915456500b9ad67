"""What a program may lack so that it has no value: parts of its input, and operations in it that may fail.

Two conditions whose failures are the same have a value for the same inputs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rulewright.expression.calls import ORDERING
from rulewright.expression.types import STRING
from rulewright.proving.domains import Domains, Path
from rulewright.proving.program_parts import extract, is_optional, path_at, unabridged, value_of
from rulewright.proving.static_types import LOOPS, SEARCHES, TOTAL, Typed, can_search, is_total_of, typed
from rulewright_runtime.ir import NUMBERS, Node, Program, free_locals

_LAZY: Final = frozenset(("or", "orValue"))  # functions that have a result for an argument without a value
_OF_AN_ITEM: Final = "@item"  # marks failures that depend on the item of a loop
_MEASURES: Final = ("edit_similarity", "rouge_l", "edit_distance")


def failures_of(program: Program, domains: Domains, *, is_sure: bool = False) -> frozenset[Path]:
    """What a program may need: it has a value where nothing of this is missing. These are parts of variables, and
    parts of the program that may fail although their arguments have a value, named by their source text. What it
    `is_sure` to need is less where a loop may have no items: nothing of this is missing where it has a value."""
    return _Needs(program, domains, typed(program, domains), is_sure).of(len(program.nodes) - 1)


class _Needs(NamedTuple):
    """Finds what the parts of a program need."""

    program: Program
    domains: Domains
    types: list[Typed]
    is_sure: bool

    def of(self, at: int) -> frozenset[Path]:
        """What the part that ends at a node needs."""
        program, node = self.program, self.program.nodes[at]
        if self.types[at].total or value_of(program, at) is not None:
            return frozenset()
        path = path_at(program, at) if node.op != "has" and not is_optional(program, at) else None
        if path is not None:
            domain = self.domains.find(path)
            own = {path} if domain is None else {path[: part + 1] for part in domain.absent}
            return self.domains.implied.get(path, frozenset()) | own
        if node.op in ("exists", "all") and len(node.value) == 1 and value_of(program, node.args[0]):
            found = self.of(node.args[1])
            if not any(_OF_AN_ITEM in each for each in found):  # no item has a value where another has none
                return found
        if node.op in LOOPS:
            range_, *body = map(self.of, node.args)
            of_items = frozenset() if self.is_sure else frozenset[Path]().union(*body)
            is_each = any(_OF_AN_ITEM in each for each in of_items)
            return range_ | ({self.named(at, _text(program, at))} if is_each else of_items)
        if not (node.op in ("select", "index", "not", "list") or (node.op == "call" and node.value not in _LAZY)):
            return frozenset({self.named(at, _text(program, at))})
        below = frozenset[Path]().union(*map(self.of, node.args))
        if (node.op == "list" and not node.value) or is_total_of(program, at, self.types, self.domains):
            return below
        return below | {self.named(at, each) for each in self.failures(at)}

    def named(self, at: int, failure: str) -> Path:
        """The failure of a node as a path that no variable has."""
        return (failure, *([_OF_AN_ITEM] if free_locals(extract(self.program, at))[-1] else ()))

    def failures(self, at: int) -> set[str]:
        """Names for the failures of a node whose arguments have values, the same for nodes that fail together."""
        program, node = self.program, self.program.nodes[at]
        if node.op == "call" and node.value in (*SEARCHES, *_MEASURES):
            last = program.nodes[node.args[1]]
            if node.value in SEARCHES and can_search(node, last):
                return {f"text: {_text(program, node.args[0])}"}
            phrases = [] if node.value == "matches" or last.op != "list" or last.value else list(last.args)
            asked = [arg for arg in (*node.args[: 2 - bool(phrases)], *phrases) if self.types[arg].type != STRING]
            texts = {f"text: {_text(program, arg)}" for arg in asked}
            sought = [arg for arg in phrases or [at] if not _is_phrase(program.nodes[arg])]
            return texts.union(f"phrase: {_text(program, arg)}" for arg in sought)
        return {self.failure(at, node)}

    def failure(self, at: int, node: Node) -> str:
        """The name for the failure of a node that does not search."""
        program = self.program
        if node.op == "call" and len(node.args) == 2:
            for one, two in (node.args, node.args[::-1]):
                given = program.nodes[two]
                kind = given.value[0] if given.op == "const" else ""
                if node.value in ORDERING and kind in (*NUMBERS, "string"):
                    named = {"string": "text", "score": "finite number"}.get(kind, "number")
                    return f"{named}: {_text(program, one)}"
            is_search = node.value in TOTAL and self.types[node.args[1]] == (STRING, True)
            if is_search and program.nodes[node.args[1]].op == "const":
                return f"text: {_text(program, node.args[0])}"
        return _text(program, at)


def _is_phrase(node: Node) -> bool:
    """Whether a node is a text that may be searched for."""
    return node.op == "const" and node.value[0] == "string" and bool(node.value[1])


def _text(program: Program, at: int) -> str:
    return unabridged(extract(program, at))
