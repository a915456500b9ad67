"""Which nodes get a faster closure than the general one, and which.

A fast closure answers only where it is sure; everything else goes to the general closure of the same node, which it
is given. Expressions have no effects, so evaluating again is always sound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.ir import Node, literal_value
from rulewright_runtime.rows.boxes import decision
from rulewright_runtime.rows.building import FRAME
from rulewright_runtime.rows.cells import cells_of, numeric_leaves
from rulewright_runtime.rows.chains import DEEPEST, WIDEST, chain, pairs
from rulewright_runtime.rows.leaves import Holder, Leaf, Member, holder_of, leaf_of, member_of, path_of

if TYPE_CHECKING:
    from rulewright_runtime.rows.building import Building

Closure: TypeAlias = Callable[[Any], Any]
Built: TypeAlias = dict[tuple[int, int], Closure]

_ABSENT: Final = (LookupError, TypeError)
_UNDECIDED: Final = (*_ABSENT, EvaluationError)
_TRUTHS: Final = frozenset({"and", "or", "not", "has", "all", "exists", "exists_one"})
_TESTS: Final = frozenset(
    {"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in", "contains", "startsWith", "endsWith", "matches", "hasValue"}
    | {"contains_ci", "substring_ci", "sets.contains", "sets.equivalent", "sets.intersects"}
)


def fuse(building: Building, number: int, mode: int, general: Closure, built: Built) -> Closure:
    """The fastest closure known for the node: `general` itself when there is none."""
    node = building.program.nodes[number]
    if node.op in ("and", "or"):
        return _conjunction(building, node, mode, general, built)
    if node.op in ("call", "not"):
        return _test(building, number, mode, general, built) or general
    if node.op == "select":
        return _path(building, number, mode, general)
    if node.op == "cond":
        return _choice(building, number, mode, general, built)
    if node.op in ("exists", "all"):
        return _loop(building, number, mode, general, built)
    return general


def _is_truth(node: Node) -> bool:
    """Whether the node's value is a bool whenever it has one."""
    return node.op in _TRUTHS or (node.op == "call" and node.value in _TESTS)


def _test(building: Building, number: int, mode: int, general: Closure, built: Built) -> Closure | None:
    leaf = leaf_of(building, number, mode)
    if leaf is not None and len(leaf.keys) <= DEEPEST:
        return chain([leaf], None, True, False, general)
    member = member_of(building, number, mode)
    if member is not None:
        return _member(member, general)
    holder = holder_of(building, number, mode)
    if holder is not None:
        return _holder(holder, general)
    return None


def _path(building: Building, number: int, mode: int, general: Closure) -> Closure:
    keys = path_of(building, number, mode)
    if keys is None or len(keys) not in (1, 2, 3):
        return general
    first, *rest = keys
    if not rest:

        def one(a: Any) -> Any:
            try:
                return a[first]
            except _ABSENT:
                return general(a)

        return one
    second = rest[0]
    if len(rest) == 1:

        def two(a: Any) -> Any:
            try:
                return a[first][second]
            except _ABSENT:
                return general(a)

        return two
    third = rest[1]

    def three(a: Any) -> Any:
        try:
            return a[first][second][third]
        except _ABSENT:
            return general(a)

    return three


def _member(member: Member, general: Closure) -> Closure:
    texts = member.texts
    if not member.keys:

        def zero(v: Any) -> bool:
            try:
                return v in texts
            except TypeError:
                return bool(general(v))

        return zero
    first, *rest = member.keys
    if not rest:

        def one(a: Any) -> bool:
            try:
                return a[first] in texts
            except _ABSENT:
                return bool(general(a))

        return one
    if len(rest) > 1:
        return general
    (second,) = rest

    def two(a: Any) -> bool:
        try:
            return a[first][second] in texts
        except _ABSENT:
            return bool(general(a))

    return two


def _holder(holder: Holder, general: Closure) -> Closure:
    keys, texts = holder.keys, holder.texts
    if len(keys) not in (1, 2):
        return general
    first, second = keys[0], keys[-1]
    deep = len(keys) == 2
    (text,) = texts if len(texts) == 1 else (None,)
    misses = texts.isdisjoint

    def one(a: Any) -> bool:
        try:
            v = a[first][second] if deep else a[first]
            if v.__class__ is list or v.__class__ is dict:
                return text in v
        except _ABSENT:
            pass
        return bool(general(a))

    def some(a: Any) -> bool:
        try:
            v = a[first][second] if deep else a[first]
            if v.__class__ is list:
                return not misses(v)
        except _ABSENT:
            pass
        return bool(general(a))

    return one if text is not None else some


def _swapped(leaf: Leaf) -> Leaf | None:
    """The leaf that is true where this one is false; equality with a number has none."""
    if leaf.test == "r" and leaf.low == leaf.high:
        return None
    if leaf.test in ("e", "d"):
        return replace(leaf, test="d" if leaf.test == "e" else "e")
    return replace(leaf, low=leaf.other_low, high=leaf.other_high, other_low=leaf.low, other_high=leaf.high)


def _parts(building: Building, node: Node, mode: int) -> tuple[list[Leaf], list[int]]:
    """The operands of `and` or `or` that are leaves (those of `or` negated), and the others."""
    leaves: list[Leaf] = []
    others: list[int] = []
    for number in node.args:
        leaf = leaf_of(building, number, mode)
        if leaf is not None and node.op == "or":
            leaf = _swapped(leaf)
        if leaf is not None and len(leaf.keys) <= DEEPEST:
            leaves.append(leaf)
        else:
            others.append(number)
    return leaves, others


def _chained(leaves: list[Leaf], rest: Closure | None, yes: Any, no: Any, slow: Closure) -> Closure:
    """All the leaves, some in each closure, the last closure first."""
    short = sorted((leaf for leaf in leaves if pairs(leaf)), key=lambda leaf: len(leaf.keys))
    groups = [[leaf] for leaf in leaves if not pairs(leaf)]
    groups += [short[i : i + WIDEST] for i in range(0, len(short), WIDEST)][::-1]
    for group in groups:
        rest = chain(group, rest, yes, no, slow)
    assert rest is not None
    return rest


def _conjunction(building: Building, node: Node, mode: int, general: Closure, built: Built) -> Closure:
    leaves, others = _parts(building, node, mode)
    decides = node.op == "or"
    rest: Closure | None = None
    if others:
        truths = all(_is_truth(building.program.nodes[other]) for other in others)
        parts = tuple(built[other, mode] for other in others)
        if not truths:
            return general
        rest = parts[0] if len(parts) == 1 else _several(parts, decides, general)
    if not leaves:
        return rest or general
    return _chained(leaves, rest, not decides, decides, general)


def _several(parts: tuple[Closure, ...], decides: bool, general: Closure) -> Closure:
    """`and` or `or` of closures that answer with a bool; an error in one is left to the general closure."""
    if len(parts) == 2:
        first, second = parts

        def two(a: Any) -> Any:
            try:
                if first(a) is decides:
                    return decides
            except EvaluationError:
                return general(a)
            return second(a)

        return two

    def many(a: Any) -> Any:
        try:
            for part in parts:
                if part(a) is decides:
                    return decides
        except EvaluationError:
            return general(a)
        return not decides

    return many


def _choice(building: Building, number: int, mode: int, general: Closure, built: Built) -> Closure:
    nodes = building.program.nodes
    leaves = numeric_leaves(building, number, mode)
    if leaves is not None and len(leaves) >= 3:
        cells = cells_of(building, number, mode, general)
        made = decision(cells, general) if cells is not None else None
        if made is not None:
            return made
    condition, then, otherwise = nodes[number].args
    test = nodes[condition]
    if not _is_truth(test):
        return general
    if nodes[then].op == "const":
        chosen = _const_choice(building, number, mode, general, built)
        if chosen is not None:
            return chosen
    holds, yes, no = (built[a, mode] for a in (condition, then, otherwise))
    return lambda a: yes(a) if holds(a) else no(a)


def _const_choice(building: Building, number: int, mode: int, general: Closure, built: Built) -> Closure | None:
    """`leaf || leaf ? constant : else` in one chain, and the same with `&&` and with a constant `else`."""
    nodes = building.program.nodes
    condition, then, otherwise = nodes[number].args
    answer = literal_value(nodes[then].value)
    test = nodes[condition]
    last = literal_value(nodes[otherwise].value) if nodes[otherwise].op == "const" else None
    if test.op == "or":
        leaves, others = _parts(building, test, mode)
        if not others:
            rest = None if nodes[otherwise].op == "const" else built[otherwise, mode]
            return _chained(leaves, rest, last, answer, general)
    elif nodes[otherwise].op == "const":
        leaves, others = _parts(building, test, mode) if test.op == "and" else ([], [])
        if test.op != "and" and (leaf := leaf_of(building, condition, mode)) is not None and len(leaf.keys) <= DEEPEST:
            leaves = [leaf]
        if leaves and not others:
            return _chained(leaves, None, answer, last, general)
    holds = built[condition, mode]
    if nodes[otherwise].op == "const":
        return lambda a: answer if holds(a) else last
    no = built[otherwise, mode]
    return lambda a: answer if holds(a) else no(a)


def _loop(building: Building, number: int, mode: int, general: Closure, built: Built) -> Closure:
    nodes = building.program.nodes
    node = nodes[number]
    inner = building.bodies[number, mode]
    holder = holder_of(building, number, mode)
    if holder is not None:
        return _holder(holder, general)
    body = nodes[node.args[1]]
    if inner == FRAME or len(node.value) != 1:
        return general
    over = built[node.args[0], mode]
    hit = node.op == "exists"
    leaves, others = _deciding(building, node.args[1], inner, hit)
    near = [leaf for leaf in leaves if len(leaf.keys) == 1]
    step = built[node.args[1], inner]
    if near and all(_is_truth(nodes[other]) for other in others):
        flag = next((leaf for leaf in near if leaf.test == "t"), None)
        text = next((leaf for leaf in near if leaf.test == "e"), None)
        asked = [flag, text] if flag is not None and text is not None else near[:1]
        left = [leaf for leaf in leaves if leaf not in asked]
        rest = _remaining(left, others, inner, built, hit, step) if left or others else None
        if flag is not None and text is not None:
            return _flag_and_text_loop(over, flag, text, rest, hit, general)
        return _leaf_loop(over, near[0], rest, hit, general)
    if not _is_truth(body):
        return general
    return _truth_loop(over, step, hit, general)


def _deciding(building: Building, body: int, inner: int, hit: bool) -> tuple[list[Leaf], list[int]]:
    """The parts of a body that must all be true for an element to decide `exists`, or all be false to decide `all`."""
    node = building.program.nodes[body]
    if node.op == ("and" if hit else "or"):
        return _parts(building, node, inner)
    leaf = leaf_of(building, body, inner)
    if leaf is not None and not hit:
        leaf = _swapped(leaf)
    return ([leaf], []) if leaf is not None else ([], [])


def _remaining(left: list[Leaf], others: list[int], inner: int, built: Built, hit: bool, step: Closure) -> Closure:
    """What is still to be asked of an element whose first leaves did not decide."""
    rest: Closure | None = None
    if others:
        parts = tuple(built[other, inner] for other in others)
        rest = parts[0] if len(parts) == 1 else _several(parts, not hit, step)
    if left:
        rest = _chained(left, rest, hit, not hit, step)
    assert rest is not None
    return rest


def _leaf_loop(over: Closure, leaf: Leaf, rest: Closure | None, hit: bool, general: Closure) -> Closure:
    """`exists` and `all` over a list of records whose bodies begin with a leaf, which is asked within the loop."""
    make = {"r": _range_loop, "t": _truth_leaf_loop, "e": _text_loop, "d": _text_loop}[leaf.test]
    return make(over, leaf, rest, hit, general)


def _range_loop(over: Closure, leaf: Leaf, rest: Closure | None, hit: bool, general: Closure) -> Closure:
    (key,) = leaf.keys
    low, high, under, above = leaf.low, leaf.high, leaf.other_low, leaf.other_high
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    v = item[key]
                    if v is True or v is False:
                        return general(a)
                    if low <= v <= high:
                        if rest is None or rest(item) is hit:
                            return hit
                    elif not under <= v <= above:
                        return general(a)
                return miss
        except _UNDECIDED:
            pass
        return general(a)

    return decide


def _truth_leaf_loop(over: Closure, leaf: Leaf, rest: Closure | None, hit: bool, general: Closure) -> Closure:
    (key,) = leaf.keys
    good, bad = leaf.low, leaf.other_low
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    v = item[key]
                    if v is good:
                        if rest is None or rest(item) is hit:
                            return hit
                    elif v is not bad:
                        return general(a)
                return miss
        except _UNDECIDED:
            pass
        return general(a)

    return decide


def _text_loop(over: Closure, leaf: Leaf, rest: Closure | None, hit: bool, general: Closure) -> Closure:
    (key,) = leaf.keys
    text, wanted = leaf.low, leaf.test == "e"
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    if (item[key] == text) is wanted and (rest is None or rest(item) is hit):
                        return hit
                return miss
        except _UNDECIDED:
            pass
        return general(a)

    return decide


def _flag_and_text_loop(
    over: Closure, flag: Leaf, text: Leaf, rest: Closure | None, hit: bool, general: Closure
) -> Closure:
    """As the loops over one leaf, with two asked within the loop."""
    (key,), (second,) = flag.keys, text.keys
    good, bad, wanted = flag.low, flag.other_low, text.low
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    v = item[key]
                    if v is good:
                        if item[second] == wanted and (rest is None or rest(item) is hit):
                            return hit
                    elif v is not bad:
                        return general(a)
                return miss
        except _UNDECIDED:
            pass
        return general(a)

    return decide


def _truth_loop(over: Closure, body: Closure, hit: bool, general: Closure) -> Closure:
    miss = not hit

    def decide(a: Any) -> Any:
        try:
            items = over(a)
            if items.__class__ is list:
                for item in items:
                    if body(item) is hit:
                        return hit
                return miss
        except EvaluationError:
            pass
        return general(a)

    return decide
