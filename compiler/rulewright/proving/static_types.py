"""The static types of the parts of a program, the parts that have a value for every input, and what the others lack.

Texts come from JSON, which refuses unpaired surrogates: they always have UTF-8 bytes.
"""

from collections.abc import Collection, Sequence
from math import isfinite
from typing import Final, NamedTuple

from rulewright.expression.calls import ORDERING
from rulewright.expression.declarations import profile_functions
from rulewright.expression.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    SCORE,
    STRING,
    TIMESTAMP,
    UINT,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    TypeParam,
)
from rulewright.proving.domains import Domain, Domains, Path
from rulewright.proving.program_parts import constant, extract, is_optional, path_at, shape, unabridged, value_of
from rulewright.proving.schemas import is_plain
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import BINDING, NUMBERS, Node, Program, free_locals
from rulewright_runtime.values import Value

LOOPS: Final = frozenset(("all", "exists", "exists_one", "filter", "map_list"))
_LITERALS: Final = {"int": INT, "uint": UINT, "double": DOUBLE, "string": STRING, "bytes": BYTES, "bool": BOOL,
                    "score": SCORE, "timestamp": TIMESTAMP, "duration": DURATION}  # fmt: skip
_NUMBERS: Final = (INT, UINT, DOUBLE, SCORE)
COUNTS: Final = ("size", "word_count", "sentence_count", "edit_distance", "call_count")  # of what fits in memory
LARGEST_COUNT: Final = 2**31
# Functions that have a result for all arguments of their types, and those that have one for these types only.
TOTAL: Final = frozenset((
    "size", "lowerAscii", "upperAscii", "trim", "reverse", "contains", "startsWith", "endsWith", "contains_ci",
    "substring_ci", "same_text", "word_count", "sentence_count", "is_refusal", "is_json", "hasValue",
    "first", "last", "math.ceil", "math.floor", "math.round", "math.trunc", "math.isNaN", "urls", "emails",
    "code_blocks", "citations", "phone_numbers", "ibans", "card_numbers", "personal_data", "scripts", "numbers",
    "strings.quote", "bleu", "word_overlap",
))  # fmt: skip
SEARCHES: Final = ("matches", "contains_any", "contains_all", "contains_none", "has_any_word")
_TOTAL_OF: Final = {
    "-_": (DOUBLE,),
    **dict.fromkeys(("math.greatest", "math.least"), (INT, UINT, DOUBLE)),  # not of a list, which may be empty
    **dict.fromkeys(("indexOf", "lastIndexOf"), (STRING,)),
    "string": (INT, UINT, BOOL, STRING, DOUBLE),
    "bytes": (STRING, BYTES),
    **dict.fromkeys(("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"),
                    (TIMESTAMP,)),
    **dict.fromkeys(("getHours", "getMinutes", "getSeconds", "getMilliseconds"), (TIMESTAMP, DURATION)),
    "double": (INT, UINT, DOUBLE),
    **dict.fromkeys(("distinct", "sort"), (ListType(STRING),)),
}  # fmt: skip
_OF_ONE_LIST: Final = ("distinct", "reverse", "slice", "sort")  # functions that give a list of the same items


class Typed(NamedTuple):
    """The type of a node, None where it is not known, and whether the node has a value for every input."""

    type: Type | None
    total: bool


_UNTYPED: Final = Typed(None, False)


def typed(program: Program, domains: Domains, present: Collection[int] = (), until: int | None = None) -> list[Typed]:
    """The type of every node of a program, or of those before one; the nodes in `present` are assumed to have a
    value."""
    found: list[Typed] = []
    for at, node in enumerate(program.nodes[:until]):
        each = _typed(program, at, [found[arg] for arg in node.args], found, domains)
        is_total = each.total or at in present
        if not is_total and node.op in ("and", "or"):
            is_total = _is_guarded(program, at, found, domains, present)
        found.append(Typed(each.type, is_total))
    return found


def is_total_of(program: Program, at: int, types: Sequence[Typed], domains: Domains) -> bool:
    """Whether a node other than a connective has a value wherever its arguments have one."""
    args = [types[arg]._replace(total=True) for arg in program.nodes[at].args]
    return _typed(program, at, args, types, domains).total


def _is_guarded(program: Program, at: int, found: Sequence[Typed], domains: Domains, present: Collection[int]) -> bool:
    """Whether everything that `has` looks for in a part of a conjunction is read only where it is there: `has(a.b) &&
    a.b > 1` has a value, as has `!has(a.b) || a.b > 1`."""
    op, nodes = program.nodes[at].op, program.nodes
    looked = [
        nodes[each] if op == "and" else nodes[nodes[each].args[0]]
        for each in _joined(program, at)
        if found[each].total and (op == "and" or nodes[each].op == "not")
    ]
    known = {_field(program, each) for each in looked if each.op == "has"}
    if not known:
        return False
    there = {each for each in range(at) if nodes[each].op == "select" and _field(program, nodes[each]) in known}
    return there > {*present} & there and typed(program, domains, {*present, *there}, at + 1)[at].total


def _joined(program: Program, at: int) -> list[int]:
    """The parts of a node that the operator of this node joins."""
    pending, found = [at], []
    while pending:
        each = pending.pop()
        if program.nodes[each].op == program.nodes[at].op:
            pending += program.nodes[each].args
        else:
            found.append(each)
    return found


def _field(program: Program, node: Node) -> tuple[Value, Value]:
    """What a node selects."""
    return shape(extract(program, node.args[0])), node.value


def loop_of(program: Program, at: int) -> Node | None:
    """What binds the local of a node to an item: the next node after it with its slot, if that is its last one."""
    slot = program.nodes[at].value
    binding = next((node for node in program.nodes[at + 1 :] if node.op in BINDING and slot in node.value), None)
    return binding if binding is not None and binding.value[-1] == slot else None


def _typed(program: Program, at: int, args: list[Typed], found: Sequence[Typed], domains: Domains) -> Typed:
    node = program.nodes[at]
    if node.op in LOOPS and args[0].total and _is_nested(program, node):
        args = [args[0]._replace(total=False), *args[1:]]
    match node.op:
        case "const":
            return Typed(_LITERALS.get(node.value[0], _list_of(node.value)), True)
        case "name" if len(node.value) == 1 and not node.value[0][1]:
            return _named(node.value[0][0], domains)
        case "local" if (loop := loop_of(program, at)) is not None and loop.op in LOOPS:
            range_ = found[loop.args[0]].type
            return Typed(range_.element, True) if isinstance(range_, ListType) else _UNTYPED
        case "select" | "opt_select" | "has":
            return _part(node.op, args[0], node.value)
        case "index" | "opt_index":
            key = program.nodes[node.args[1]]
            if key.op == "const" and key.value[0] == "string" and isinstance(args[0].type, RecordType | MapType):
                return _part("select" if node.op == "index" else "opt_select", args[0], key.value[1])
            is_there = args[0].total and _is_at_an_end(program, node, domains)
            return Typed(args[0].type.element, is_there) if isinstance(args[0].type, ListType) else _UNTYPED
        case "list" if not node.value and args and (first := args[0].type) is not None:
            is_uniform = all(each.type == first for each in args)
            return Typed(ListType(first) if is_uniform else None, all(each.total for each in args))
        case "and" | "or" | "not":
            return Typed(BOOL, all(each == (BOOL, True) for each in args))
        case "cond" if args[1].type == args[2].type:
            return Typed(args[1].type, args[0].type == BOOL and all(each.total for each in args))
        case "filter" if len(node.value) == 1:
            return Typed(args[0].type, isinstance(args[0].type, ListType) and args[0].total and args[1] == (BOOL, True))
        case "map_list" if len(args) == 2 and len(node.value) == 1 and args[1].type is not None:
            is_total = isinstance(args[0].type, ListType) and all(each.total for each in args)
            return Typed(ListType(args[1].type), is_total)
        case "exists" | "all" | "exists_one":
            return Typed(BOOL, isinstance(args[0].type, ListType) and args[0].total and args[1] == (BOOL, True))
        case "call":
            return _called(program, node, args)
    return _UNTYPED


def _is_nested(program: Program, loop: Node) -> bool:
    """Whether another loop over the whole conversation is inside, which takes more steps of a long one than allowed."""
    if program.nodes[loop.args[0]].op == "const":
        return False
    bodies = [extract(program, arg) for arg in loop.args[1:]]
    ranges = [extract(body, each.args[0]) for body in bodies for each in body.nodes if each.op in LOOPS]
    return any(each.nodes[-1].op != "const" and not free_locals(each)[-1] for each in ranges)


def _is_at_an_end(program: Program, node: Node, domains: Domains) -> bool:
    """Whether a node is the first or the last item of a list that has items."""
    path, index = path_at(program, node.args[0]), extract(program, node.args[1])
    if path not in domains.filled or value_of(index, len(index.nodes) - 1) == 0:
        return path in domains.filled
    last = index.nodes[-1]
    if last.value != "_-_" or value_of(index, last.args[1]) != 1:
        return False
    size = domains.standing.get(path_at(index, last.args[0]) or (), extract(index, last.args[0]))
    return size.nodes[-1].value == "size" and path_at(size, size.nodes[-1].args[0]) == path


def _list_of(tagged: Sequence[object]) -> Type | None:
    """The type of a literal list of texts; None of other literals."""
    items = tagged[1] if tagged[0] == "list" else None
    return ListType(STRING) if isinstance(items, list) and all(each[0] == "string" for each in items) else None


def _named(name: str, domains: Domains) -> Typed:
    known, is_there = domains.known.get((name,)), name not in domains.missing
    if known is not None:
        return Typed(_type_of(known), is_there and not known.absent)
    return Typed(domains.types.get(name), is_there and name in domains.types)


def _type_of(domain: Domain) -> Type | None:
    simple = {"int": INT, "uint": UINT, "double": DOUBLE, "bool": BOOL, "string": STRING, "score": SCORE,
              "enum": EnumType("", domain.members)}  # fmt: skip
    found = simple.get(domain.kind)
    return None if found is None or domain.null else OptionalType(found) if domain.optional else found


def _part(op: str, of: Typed, name: str) -> Typed:
    """A field, or whether there is one."""
    if not isinstance(of.type, RecordType | MapType):
        return Typed(BOOL, False) if op == "has" else Typed(DYN, False) if of.type == DYN else _UNTYPED
    record = of.type if isinstance(of.type, RecordType) else None
    if op == "has":
        return Typed(BOOL, of.total)
    if record is not None and name not in record.fields:
        return _UNTYPED
    type_ = record.fields[name] if record is not None else of.type.params[1]
    if op == "opt_select":
        return Typed(type_ if isinstance(type_, OptionalType) else OptionalType(type_), of.total)
    return Typed(type_, of.total and record is not None and name not in record.optional)


def _called(program: Program, node: Node, args: Sequence[Typed]) -> Typed:
    name, total = str(node.value), all(each.total for each in args)
    types = [STRING if isinstance(each.type, EnumType) else each.type for each in args]
    if name in ("_==_", "_!=_"):
        return Typed(BOOL, total)
    if name == "@in":
        return Typed(BOOL, total and isinstance(types[1], ListType))
    if name in ORDERING:
        comparable = types[0] == types[1] and types[0] in (STRING, TIMESTAMP, DURATION)
        return Typed(BOOL, total and (comparable or _are_ordered([program.nodes[arg] for arg in node.args], types)))
    if name in ("orValue", "value") and isinstance(types[0], OptionalType):
        is_known = name == "value" or types[1] == types[0].value
        return Typed(types[0].value if is_known else None, total and name == "orValue")
    result = types[0] if name in _OF_ONE_LIST and isinstance(types[0], ListType) else _result(name, types)
    if name == "valid_against":
        schema = value_of(program, node.args[1])
        is_schema = isinstance(schema, dict) and can_search(node, constant(schema).nodes[-1]) and is_plain(schema)
        return Typed(BOOL, args[0].total and is_schema)
    if name in SEARCHES:
        return Typed(result, total and result == BOOL and can_search(node, program.nodes[node.args[1]]))
    if name in ("_%_", "_/_") and types[0] == INT:
        return Typed(result, total and _is_positive(program.nodes[node.args[1]]))
    if name in ("_+_", "_-_", "_*_") and types == [DOUBLE, DOUBLE]:
        return Typed(DOUBLE, total and _is_a_number(program, node))
    if name in ("_+_", "_-_", "_*_") and types == [INT, INT]:
        return Typed(INT, total and all(_is_small(program.nodes[arg]) for arg in node.args))
    if name in ("called", "call_count", "called_in_order"):
        return Typed(result, total and len(types) == 2 and _can_search_calls(types[0], program.nodes[node.args[1]]))
    if name == "replace" and result == STRING:
        return Typed(STRING, total and _is_shortening(*(program.nodes[arg] for arg in node.args[1:])))
    is_total = name in TOTAL or all(each in _TOTAL_OF.get(name, ()) for each in types)
    return Typed(result, total and result is not None and is_total)


def _are_ordered(nodes: Sequence[Node], types: Sequence[Type | None]) -> bool:
    """Whether numbers of these types have an order: a score has none with a double that is infinite or not a number."""
    is_infinite = any(type_ == DOUBLE and node.op != "const" for node, type_ in zip(nodes, types, strict=True))
    return all(each in _NUMBERS for each in types) and not (SCORE in types and is_infinite)


def _result(name: str, types: Sequence[Type | None]) -> Type | None:
    """The result of a function for arguments of these types, where it has no type parameters."""
    for each in profile_functions().get(name, ()):
        if len(each.arguments) == len(types) and all(map(_takes, each.arguments, types)):
            return None if isinstance(each.result, TypeParam) or (each.generic and each.result.params) else each.result
    return None


def _takes(declared: Type, given: Type | None) -> bool:
    if given is None:
        return False
    if isinstance(declared, ListType) and isinstance(given, ListType):
        return _takes(declared.element, given.element)
    return declared in (given, DYN) or isinstance(declared, TypeParam)


def _is_small(node: Node) -> bool:
    """Whether a node is a number so small that arithmetic with another one can't overflow."""
    if node.op == "const":
        return node.value[0] == "int" and abs(int(node.value[1])) <= LARGEST_COUNT
    return node.op == "call" and node.value in COUNTS


def _is_a_number(program: Program, node: Node) -> bool:
    """Whether arithmetic with two doubles, which may be infinite, never gives NaN, which is an error."""
    factors = [value_of(program, arg) for arg in node.args]
    if node.value == "_*_" and any(isinstance(each, float) and each and isfinite(each) for each in factors):
        return True
    finite = [_is_finite(program, arg) for arg in node.args]
    return all(finite) if node.value == "_*_" else any(finite)


def _is_finite(program: Program, at: int) -> bool:
    """Whether a double is a constant or a count."""
    node, value = program.nodes[at], value_of(program, at)
    is_count = node.op == "call" and node.value == "double" and _is_small(program.nodes[node.args[0]])
    return is_count or (isinstance(value, float) and isfinite(value))


def _is_shortening(old: Node, new: Node, *_: Node) -> bool:
    """Whether a replacement can't make a text longer."""
    return old.op == new.op == "const" and old.value[1] != "" and len(new.value[1]) <= len(old.value[1])


def _is_positive(node: Node) -> bool:
    """Whether a node is a positive whole number."""
    return node.op == "const" and node.value[0] == "int" and int(node.value[1]) > 0


def _can_search_calls(calls: Type | None, sought: Node) -> bool:
    """Whether each of the calls has a name, and a constant is one or several of them."""
    is_named = isinstance(calls, ListType) and _part("select", Typed(calls.element, True), "name") == (STRING, True)
    return is_named and sought.op == "const" and bool(sought.value[1])


def can_search(search: Node, sought: Node) -> bool:
    """Whether a function that searches any text has a result for this constant, such as an expression that compiles."""
    if sought.op != "const":
        return False
    text, call = Node("const", (), ["string", "so"]), Node("call", (0, 1), search.value)
    try:
        prepare(Program((text, sought, call)))({})
    except RuntimeFailure:
        return False
    return True


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
