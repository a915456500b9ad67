"""Parts of programs: source text, a node as a program of its own, a key for equal ones, paths, and replaced parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from rulewright.expression.compose import all_of, any_of
from rulewright.expression.unparse import decompile, unparse
from rulewright.proving.domains import Path
from rulewright_runtime.errors import PlanError, RuntimeFailure
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import MIRRORED, Node, Program, free_locals, literal, literal_value
from rulewright_runtime.score import exact_pair
from rulewright_runtime.values import Value

COMPARISONS: Final = frozenset(MIRRORED)
EQUALITY: Final = frozenset(("_==_", "_!=_"))
_NOTHING: Final = object()
SELECTIONS: Final = frozenset(("select", "opt_select", "has", "index", "opt_index"))


def unabridged(program: Program) -> str:
    """The program as source text, on one line, by which parts are distinguished."""
    return unparse(decompile(program))


def written(program: Program) -> str:
    """The program as source text, on one line, cut at 80 characters."""
    text = unabridged(program)
    return text if len(text) <= 80 else f"{text[:77]}..."


def extract(program: Program, at: int) -> Program:
    """The part of a program that ends at node `at`, as a program of its own."""
    used: set[int] = set()
    pending = [at]
    while pending:  # only the part's own nodes are looked at, since a long `or` asks for each of its operands
        number = pending.pop()
        if number not in used:
            used.add(number)
            pending += program.nodes[number].args
    if len(used) == len(program.nodes):
        return program
    indices = sorted(used)
    new_index = {old: new for new, old in enumerate(indices)}
    nodes = [program.nodes[old] for old in indices]
    renumbered = [Node(n.op, tuple([new_index[a] for a in n.args]), n.value, n.at) for n in nodes]
    return program.having(renumbered)


def with_item(program: Program, loop: Node, item: Node) -> Program:
    """The program with another node, such as a constant, wherever the variable of a loop is read."""
    slot = loop.value[0]
    return program.having(
        Node(item.op, (), item.value, each.at) if each.op == "local" and each.value == slot else each
        for each in program.nodes
    )


def shape(program: Program) -> Value:
    """A key that is equal for programs that differ only in their spans and sources."""
    return program.strict, tuple([(n.op, n.args, _frozen(n.value)) for n in program.nodes])


def _frozen(value: object) -> object:
    if not isinstance(value, (list, tuple)):
        return value
    return tuple([_frozen(item) if isinstance(item, (list, tuple)) else item for item in value])


def path_at(program: Program, at: int) -> Path | None:
    """The path that a node reads: a name and the fields selected from it; None for any other node."""
    node = program.nodes[at]
    if node.op == "name":
        return (node.value[0][0], *node.value[0][1]) if len(node.value) == 1 else None
    if node.op in ("select", "opt_select", "has"):
        below = path_at(program, node.args[0])
        return None if below is None else (*below, node.value)
    if node.op in ("index", "opt_index"):
        key = program.nodes[node.args[1]]
        below = path_at(program, node.args[0])
        return None if below is None or key.op != "const" or key.value[0] != "string" else (*below, key.value[1])
    return None


def is_optional(program: Program, at: int) -> bool:
    """Whether a node reads a path of which some part is optional: `a.?b.c`."""
    node = program.nodes[at]
    is_inside = node.op in SELECTIONS
    return node.op in ("opt_select", "opt_index") or (is_inside and is_optional(program, node.args[0]))


def reading(path: Path) -> Program:
    """The program that reads a path."""
    nodes = [Node("name", (), [[path[0], []]])]
    nodes += [Node("select", (at,), name) for at, name in enumerate(path[1:])]
    return Program(tuple(nodes))


def paths_of(program: Program) -> list[Path] | None:
    """The longest paths a program reads, sorted; None if it reads an unresolved name."""
    paths = [path_at(program, at) for at in range(len(program.nodes))]
    found, longer, values = set[Path](), set[int](), set[int]()
    for at in reversed(range(len(program.nodes))):
        node, path = program.nodes[at], paths[at]
        if path is None and node.op == "name":
            return None
        if path is not None and (at not in longer or at in values):
            found.add(path)
        longer.update(node.args[:1] if path is not None else ())
        values.update(node.args[1 if node.op in SELECTIONS else 0 :])
    return sorted(found)


def value_of(program: Program, at: int, otherwise: Value = None) -> Value:
    """The value of a part that reads nothing, or `otherwise` if it reads something or has no value."""
    node = program.nodes[at]
    if node.op == "const":
        return literal_value(node.value)
    part = extract(program, at)
    if paths_of(part) != [] or free_locals(part)[-1]:
        return otherwise
    try:
        return prepare(part)({})
    except RuntimeFailure:
        return otherwise


def exact_of(value: Value) -> Fraction | None:
    """The value as an exact number; None if it is not a finite number."""
    try:
        return Fraction(*exact_pair(value))
    except RuntimeFailure:
        return None


def numbers_of(values: Iterable[Value]) -> list[Fraction]:
    """The finite numbers among some values, each once, in order."""
    return sorted({exact for each in values if (exact := exact_of(each)) is not None})


def constants_of(programs: Iterable[Program]) -> Iterator[Value]:
    return (literal_value(node.value) for program in programs for node in program.nodes if node.op == "const")


_RETURN_OPTIONALS: Final = frozenset(
    ("sum", "mean", "wmean", "min", "max", "quantile", "share", "rate", "wmean_present")
)


_FORMS: Final = {"has": "has", "opt_select": "opt_select", "opt_index": "opt_select"}  # of reads that are not plain
_UNROLLED: Final = {"exists": any_of, "all": all_of}


def with_values(program: Program, values: Mapping[Path, object]) -> Program:
    """The program with the paths in `values`, and what is read from their values, replaced by the values."""
    found: dict[int, Value] = {}
    for at, node in enumerate(program.nodes):
        path = path_at(program, at) if node.op in ("name", "select", "index") else None
        value = _NOTHING if path is None else _value_of_path(path, values)
        if value is not _NOTHING:
            found[at] = value
    used = {len(program.nodes) - 1}.union(*(node.args for at, node in enumerate(program.nodes) if at not in found))
    nodes = [
        node if at not in found else _constant(found[at] if at in used else None, node)
        for at, node in enumerate(program.nodes)
    ]
    return program.having(nodes)


def _value_of_path(path: Path, values: Mapping[Path, object]) -> Value:
    """The value of a path of which some beginning is in `values`; _NOTHING where there is none."""
    size = next((size for size in range(len(path), 0, -1) if path[:size] in values), None)
    if size is None:
        return _NOTHING
    value = values[path[:size]]
    for name in path[size:]:
        if not isinstance(value, Mapping) or name not in value:
            return _NOTHING
        value = value[name]
    return value


def substitute(program: Program, values: Mapping[str, object]) -> Program:
    """The program with the variables in `values` replaced by their values."""
    return with_values(program, {(name,): value for name, value in values.items()})


def constant(value: Value) -> Program:
    """The program that gives a value."""
    return Program((Node("const", (), literal(value)),))


def calling(function: str, *parts: Program) -> Program:
    """The program that calls a function with the results of others; its source is that of the first."""
    nodes: list[Node] = []
    args = []
    for part in parts:
        nodes += _behind(len(nodes), part)
        args.append(len(nodes) - 1)
    return parts[0].having((*nodes, Node("call", tuple(args), function)))


def _constant(value: Value, instead_of: Node) -> Node:
    """The value as a constant in place of a node, or the node where no expression can hold the value."""
    tagged = literal(value)
    try:
        literal_value(tagged)
    except PlanError:  # for instance a whole number of more than 64 bits, which is a finding of its own
        return instead_of
    return Node("const", (), tagged, instead_of.at)


def inline(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it; an optional result is unwrapped."""
    if not value.nodes or not reads_name(program, name):
        return program
    if value.nodes[-1].op == "call" and value.nodes[-1].value in _RETURN_OPTIONALS:
        value = calling("value", value)
    return with_program(program, name, value)


def with_program(program: Program, name: str, value: Program) -> Program:
    """The program with a variable replaced by the program that computes it."""
    return with_paths(program, {(name,): value})


def with_paths(program: Program, values: Mapping[Path, Program]) -> Program:
    """The program with other programs in place of the paths that it reads. Where it asks whether there is one, or takes
    it as an optional, only another path takes its place."""
    parts: dict[int, Program] = {}
    for at, node in enumerate(program.nodes):
        value = values.get(path_at(program, at) or ())
        if value is not None:
            last = value.nodes[-1]
            op = _FORMS.get(node.op, last.op)
            if op == last.op:
                parts[at] = value
            elif last.op == "select":
                parts[at] = value.having((*value.nodes[:-1], Node(op, last.args, last.value, last.at)))
    return with_parts(program, parts)


def with_parts(program: Program, parts: Mapping[int, Program]) -> Program:
    """The program with other programs in place of some nodes."""
    nodes: list[Node] = []
    ends: dict[int, int] = {}  # of each of the other programs, which several nodes may share
    for part in parts.values():
        if id(part) not in ends:
            nodes += _behind(len(nodes), part)
            ends[id(part)] = len(nodes) - 1
    new_index: list[int] = []
    for at, node in enumerate(program.nodes):
        if at not in parts:
            nodes.append(Node(node.op, tuple([new_index[a] for a in node.args]), node.value, node.at))
        new_index.append(ends[id(parts[at])] if at in parts else len(nodes) - 1)
    return extract(program.having(nodes), new_index[-1])


def _behind(start: int, program: Program) -> Iterator[Node]:
    """The nodes of a program after so many others."""
    return (Node(n.op, tuple([start + arg for arg in n.args]), n.value, n.at) for n in program.nodes)


def unrolled(program: Program, keys: Mapping[str, Sequence[str]]) -> Program:
    """The program in which `exists` and `all` over the keys of some variables, which are given by variable, are
    disjunctions and conjunctions."""
    for at in range(len(program.nodes) - 1, -1, -1):
        node = program.nodes[at]
        path = path_at(program, node.args[0]) if node.op in _UNROLLED and len(node.value) == 1 else None
        if path is not None and len(path) == 1 and path[0] in keys:
            bodies = [_for_key(program, node, key) for key in keys[path[0]]]
            return unrolled(with_parts(program, {at: _UNROLLED[node.op](bodies)}), keys)
    return program


def _for_key(program: Program, loop: Node, key: str) -> Program:
    """The body of a loop for one key; what an index by the key reads is read as a field."""
    body = extract(program, loop.args[1])
    keyed = {at for at, node in enumerate(body.nodes) if node.op == "local" and node.value == loop.value[0]}
    given = with_item(body, loop, Node("const", (), literal(key)))
    nodes = [
        Node("select", node.args[:1], key, node.at) if node.op == "index" and node.args[1] in keyed else node
        for node in given.nodes
    ]
    return extract(given.having(nodes), len(nodes) - 1)


def reads_name(program: Program, name: str) -> bool:
    """Whether the program reads a variable."""
    return any(_is_name(node, name) for node in program.nodes)


def _is_name(node: Node, name: str) -> bool:
    return node.op == "name" and len(node.value) == 1 and node.value[0][0] == name and not node.value[0][1]
