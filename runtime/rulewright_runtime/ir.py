"""The instruction set: an expression as a flat array of nodes whose references point backwards only.

A `Program` is data. It is decoded from JSON as untrusted input, then `validate` refuses anything that the compiler
never writes: an unknown operation, a forward reference, a wrong number of arguments, an unbound local.

    op                  args (node indices)         value
    const               -                           a tagged literal: ["int", "1"], ["string", "x"] ...
    name                -                           the candidate names in order, most qualified first: "a.b", "a", each
                                                    with the fields left to select: [["ns.a", []], ["a", ["b"]]]
    local               -                           the slot of a bound variable
    select, opt_select  operand                     field
    has                 operand                     field
    index, opt_index    operand, index              -
    list                items                       indices of optional items
    map                 k1, v1, k2, v2, ...         indices of optional entries
    and, or             two or more                 -        (commutative, absorb errors, as CEL prescribes)
    not                 operand                     -
    cond                condition, then, otherwise  -
    call                arguments (target first)    the function's name: "_==_", "size", "math.greatest", "contains_ci"
    all, exists, exists_one, filter     range, body             slots: [x] or [i, x]
    map_list            range, body  or  range, filter, body    slots (`map` and `transformList`)
    map_values          range, body  or  range, filter, body    slots (`transformMap`)
    map_entries         range, body  or  range, filter, body    slots (`transformMapEntry`)
    bind                bound, body                 [slot]
    opt_map, opt_flat_map   optional, body          [slot]
    sort_by             range, key                  [slot]

Literals: ["null"], ["bool", true], ["int", "-1"], ["uint", "1"], ["double", "1.5" or "NaN", "Infinity", "-Infinity"],
["string", "x"], ["bytes", base64], ["score", "4/5"], ["type", "int"], ["timestamp", nanoseconds as text], ["duration",
the same], ["list", [literals]], ["map", [[literal, literal]]], ["optional", [] or [literal]]; `literal` writes one and
`literal_value` reads it.

Functions: operators are named `_==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ @in`; a method and a global function
by the plain name (`size`, `startsWith`), the target being the first argument; namespaced ones in full (`math.greatest`,
`optional.of`, `strings.quote`). `a[b]` is `index`, `!a` is `not`. A path that a schema declares to be a `score` is
wrapped in a call of `score`, which checks and reads the number; literals next to scores are `score` constants.

Slots are small integers from 0; a comprehension inside the body of another has its own slots.

The last node is the result. A node inside a comprehension's body may only be referenced from inside that body.
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from rulewright_runtime import strict_json, values
from rulewright_runtime.errors import PlanError, RuntimeFailure
from rulewright_runtime.score import Score, parse_score

CONNECTIVES: Final = frozenset({"and", "or", "not", "cond"})
NUMBERS: Final = ("int", "uint", "double", "score")  # the tags of literals
# The comparisons, each with the one that holds for swapped operands.
MIRRORED: Final = {"_<_": "_>_", "_<=_": "_>=_", "_>_": "_<_", "_>=_": "_<=_", "_==_": "_==_", "_!=_": "_!=_"}


class Node(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One operation. `at` is its span in the program's source text (start and end in code points), or empty."""

    op: str
    args: tuple[int, ...] = ()
    value: Any = None
    at: tuple[int, ...] = ()


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An executable expression. `source` is the author's text, kept for messages; it is never parsed again.

    `strict` selects plain CEL arithmetic; otherwise the profile's (int and double promote, scores are exact).
    """

    nodes: tuple[Node, ...]
    source: str = ""
    strict: bool = False

    def having(self, nodes: Iterable[Node]) -> "Program":
        """Other nodes with the same source and arithmetic."""
        return Program(tuple(nodes), self.source, self.strict)


# The operations with a fixed number of arguments, and that number.
_FIXED: Final = {
    "const": 0, "name": 0, "local": 0, "select": 1, "opt_select": 1, "has": 1, "index": 2, "opt_index": 2, "not": 1,
    "cond": 3, "bind": 2, "opt_map": 2, "opt_flat_map": 2, "sort_by": 2, "all": 2, "exists": 2, "exists_one": 2,
    "filter": 2,
}  # fmt: skip

OPERATIONS: Final = frozenset(_FIXED) | {
    "list", "map", "and", "or", "call", "map_list", "map_values", "map_entries",
}  # fmt: skip


def literal(value: object) -> list[Any]:
    """The tagged literal of a value of the language. Raises TypeError for anything else."""
    match value:
        case None:
            return ["null"]
        case bool():
            return ["bool", value]
        case values.UInt():
            return ["uint", str(int(value))]
        case int():
            return ["int", str(value)]
        case float():
            return ["double", _DOUBLE_WORDS.get(repr(value), repr(value))]
        case str():
            return ["string", value]
        case bytes():
            return ["bytes", base64.b64encode(value).decode()]
        case Score():
            return ["score", str(value)]
        case values.TypeValue():
            return ["type", value.name]
        case values.Timestamp():
            return ["timestamp", str(value.nanos)]
        case values.Duration():
            return ["duration", str(value.nanos)]
        case values.Optional():
            return ["optional", [literal(value.value)] if value.present else []]
        case list() | tuple():
            return ["list", [literal(item) for item in value]]
        case Mapping():
            return ["map", [[literal(key), literal(item)] for key, item in value.items()]]
    raise TypeError(f"no literal for {type(value).__name__}")


_DOUBLE_WORDS: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def literal_value(tagged: Any, depth: int = 0) -> Any:
    """The value of a tagged literal, which is untrusted. Raises PlanError for a malformed one."""
    try:
        tag, *rest = tagged
        if tag == "null" and not rest:
            return None
        (body,) = rest
        if depth > values.MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        if tag == "bool" and isinstance(body, bool):
            return body
        if tag in ("string", "type", "bytes", "int", "uint", "double", "score", "timestamp", "duration"):
            return _scalar(tag, body)
        if tag == "list" and isinstance(body, (list, tuple)):
            return [literal_value(item, depth + 1) for item in body]
        if tag == "map":
            return values.make_map([(literal_value(k, depth + 1), literal_value(v, depth + 1)) for k, v in body])
        if tag == "optional" and isinstance(body, (list, tuple)) and len(body) <= 1:
            return values.Optional(literal_value(body[0], depth + 1)) if body else values.Optional(None, False)
    except (RuntimeFailure, TypeError, ValueError, KeyError) as why:
        raise PlanError(f"malformed literal: {why}") from None
    raise PlanError(f"unknown literal `{tag}`")


def _scalar(tag: str, body: Any) -> Any:
    if not isinstance(body, str):
        raise ValueError(f"a {tag} is written as text")
    if tag == "string":
        return body
    if tag == "type":
        return values.TypeValue(body)
    if tag == "bytes":
        return base64.b64decode(body, validate=True)
    if tag == "double":
        return float(body)
    if tag == "score":
        return parse_score(body)
    number = int(body)
    if tag == "timestamp":
        return values.Timestamp(number)
    if tag == "duration":
        return values.Duration(number)
    low, high = (values.INT_MIN, values.INT_MAX) if tag == "int" else (0, values.UINT_MAX)
    if not low <= number <= high:
        raise ValueError(f"{tag} out of range")
    return number if tag == "int" else values.UInt(number)


# The maximum sizes of a program; the size counts shared nodes once per use.
MAX_NODES: Final = 20_000
_MAX_SIZE: Final = 100_000
MAX_LEVELS: Final = 300
_MAX_SLOTS: Final = 512
_MAX_SOURCE: Final = 1_000_000
_ONE_SLOT: Final = frozenset({"bind", "opt_map", "opt_flat_map", "sort_by"})
BINDING: Final = _ONE_SLOT | {
    "all", "exists", "exists_one", "filter", "map_list", "map_values", "map_entries",
}  # fmt: skip


def encode(program: Program) -> bytes:
    """The program as compact JSON; the same program gives the same bytes."""
    return msgspec.json.encode(program)


def decode(data: bytes | str) -> Program:
    """The program that `encode` wrote, validated. Raises PlanError for anything else."""
    try:
        program = strict_json.decode(data, type=Program)
    except strict_json.UNDECODED as why:
        raise PlanError(f"malformed expression: {why}") from None
    validate(program)
    return program


def validate(program: Program) -> None:
    """Raise PlanError for anything that the compiler never writes; see the module's docstring."""
    nodes = program.nodes
    if not nodes:
        raise PlanError("an expression without nodes")
    if len(nodes) > MAX_NODES or len(program.source) > _MAX_SOURCE:
        raise PlanError("an expression that is too large")
    sizes: list[int] = []
    depths: list[int] = []
    free: list[frozenset[int]] = []
    for number, node in enumerate(nodes):
        _check_shape(number, node)
        sizes.append(1 + sum(sizes[a] for a in node.args))
        depths.append(1 + max((depths[a] for a in node.args), default=0))
        if sizes[-1] > _MAX_SIZE or depths[-1] > MAX_LEVELS:
            raise PlanError("an expression that is too large or nested too deeply")
        free.append(_free(number, node, free))
    if free[-1]:
        raise PlanError(f"unbound local {min(free[-1])}")


def free_locals(program: Program) -> list[frozenset[int]]:
    """For each node of a valid program, the slots it reads that are bound outside it."""
    free: list[frozenset[int]] = []
    for number, node in enumerate(program.nodes):
        free.append(_free(number, node, free))
    return free


def _free(number: int, node: Node, free: list[frozenset[int]]) -> frozenset[int]:
    if node.op == "local":
        return frozenset({node.value})
    if node.op not in BINDING:
        return frozenset().union(*(free[a] for a in node.args))
    slots = frozenset(node.value)
    if slots & free[node.args[0]]:
        raise PlanError(f"node {number}: a range reads the slot it binds")
    return free[node.args[0]].union(*(free[a] for a in node.args[1:])) - slots


def _check_shape(number: int, node: Node) -> None:
    op, value = node.op, node.value
    if op not in OPERATIONS:
        raise PlanError(f"node {number}: unknown operation `{op}`")
    if any(not 0 <= a < number for a in node.args):
        raise PlanError(f"node {number}: a reference that does not point backwards")
    count = len(node.args)
    if not _right_count(op, count):
        raise PlanError(f"node {number}: `{op}` with {count} arguments")
    if op == "const":
        if not _is_text(value):
            literal_value(value)
    elif op == "name":
        _check_candidates(number, value)
    elif op in ("select", "opt_select", "has", "call"):
        if not isinstance(value, str):
            raise PlanError(f"node {number}: `{op}` needs a name")
    elif op == "local":
        _check_slots(number, [value], 1)
    elif op in BINDING:
        _check_slots(number, value, 1 if op in _ONE_SLOT else 2)
    elif op in ("list", "map"):
        entries = count if op == "list" else count // 2
        optional = () if value is None else value
        if not isinstance(optional, (list, tuple)) or not all(_is_index(i, entries) for i in optional):
            raise PlanError(f"node {number}: malformed optional entries")


def _is_text(tagged: object) -> bool:
    """Whether a literal is a well-formed string or list of strings, which needs no further validation."""
    if not isinstance(tagged, list) or len(tagged) != 2:
        return False
    tag, body = tagged
    if tag == "string":
        return isinstance(body, str)
    return tag == "list" and isinstance(body, list) and all(map(_is_text, body))


def _right_count(op: str, count: int) -> bool:
    if op in ("and", "or"):
        return count >= 2
    if op in ("map_list", "map_values", "map_entries"):
        return count in (2, 3)
    if op == "map":
        return count % 2 == 0
    return op in ("list", "call") or count == _FIXED[op]


def _is_index(value: object, end: int) -> bool:
    return value.__class__ is int and 0 <= value < end


def _check_slots(number: int, slots: object, most: int) -> None:
    if not isinstance(slots, (list, tuple)) or not 1 <= len(slots) <= most or len(set(map(repr, slots))) != len(slots):
        raise PlanError(f"node {number}: malformed slots")
    if not all(_is_index(slot, _MAX_SLOTS) for slot in slots):
        raise PlanError(f"node {number}: a slot out of range")


def _check_candidates(number: int, value: object) -> None:
    good = (
        isinstance(value, (list, tuple))
        and value
        and all(
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and isinstance(pair[0], str)
            and isinstance(pair[1], (list, tuple))
            and all(isinstance(field, str) for field in pair[1])
            for pair in value
        )
    )
    if not good:
        raise PlanError(f"node {number}: malformed names")
