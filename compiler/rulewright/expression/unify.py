"""Type compatibility, and the inference of the unknown types of an expression.

The relation is CEL's: `dyn` fits everything, `null` fits every nullable type, a type parameter becomes the most general
of the types it is compared with. Enums, records and scores follow the profile.
"""

from collections.abc import Sequence

from rulewright.expression.types import (
    DURATION,
    DYN,
    ERROR,
    NULL,
    STRING,
    TIMESTAMP,
    EnumType,
    ListType,
    MapType,
    OpaqueType,
    OptionalType,
    RecordType,
    SimpleType,
    Type,
    TypeParam,
    TypeType,
    WrapperType,
)


class Substitution:
    """The types inferred so far for the unknown types; a failed comparison doesn't change them."""

    __slots__ = ("_bound", "_count", "_trail")

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._count = 0

    def fresh(self) -> TypeParam:
        """A new unknown type."""
        self._count += 1
        return TypeParam(f"_{self._count}")

    def fits(self, actual: Type, expected: Type) -> bool:
        """Whether a value of type `actual` fits the type `expected`; if so, infers unknown types."""
        if actual is expected:
            return True
        return self._attempt([actual], [expected])

    def all_fit(self, actual: Sequence[Type], expected: Sequence[Type]) -> bool:
        """Whether every type fits its counterpart; infers unknown types only if all do."""
        return len(actual) == len(expected) and self._attempt(actual, expected)

    def _attempt(self, actual: Sequence[Type], expected: Sequence[Type]) -> bool:
        mark = len(self._trail)
        if all(self._fits(g, w) for g, w in zip(actual, expected, strict=True)):
            return True
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def _bind(self, name: str, t: Type) -> None:
        self._trail.append((name, self._bound.get(name)))
        self._bound[name] = t

    def resolve(self, t: Type, *, final: bool = False) -> Type:
        """`t` with the inferred types inserted; `final` replaces the remaining unknown types by `dyn`."""
        if isinstance(t, SimpleType):
            return t
        if isinstance(t, TypeParam):
            bound = self._bound.get(t.name)
            if bound is not None:
                return self.resolve(bound, final=final)
            return DYN if final else t
        params = t.params
        if not params:
            return t
        resolved = tuple(self.resolve(p, final=final) for p in params)
        return t if resolved == params else t.rebuilt(resolved)

    def instantiate(self, types: Sequence[Type], generic: Sequence[str]) -> list[Type]:
        """`types` with a new unknown type for each of the type parameters named in `generic`."""
        names = {name: self.fresh() for name in generic}
        return [_renamed(t, names) for t in types]

    def _fits(self, actual: Type, expected: Type) -> bool:
        if actual == expected and not isinstance(actual, TypeParam):
            return True
        if isinstance(expected, TypeParam):
            valid, already_bound = self._infer(actual, expected)
            if valid or already_bound:
                return valid
        if isinstance(actual, TypeParam):
            return self._infer(expected, actual)[0]
        if actual in (DYN, ERROR) or expected in (DYN, ERROR):
            return True
        if actual == NULL or expected == NULL:
            return _nullable(expected if actual == NULL else actual)
        return self._structurally(actual, expected)

    def _structurally(self, actual: Type, expected: Type) -> bool:
        if isinstance(actual, WrapperType):
            return self._fits(actual.of, expected.of if isinstance(expected, WrapperType) else expected)
        if isinstance(expected, WrapperType):
            return self._fits(actual, expected.of)
        match actual, expected:
            case (EnumType(), SimpleType()) | (SimpleType(), EnumType()):
                return STRING in (actual, expected)
            case EnumType(), EnumType():
                return not set(actual.members).isdisjoint(expected.members)
            case RecordType(), MapType():
                return self._record_fits(actual, expected)
            case TypeType(), TypeType():
                return True
            case OpaqueType(), OpaqueType() if actual.name != expected.name:
                return False
        inner, outer = actual.params, expected.params
        same_kind = type(actual) is type(expected) and bool(inner) and len(inner) == len(outer)
        return same_kind and all(self._fits(g, w) for g, w in zip(inner, outer, strict=True))

    def _record_fits(self, actual: RecordType, expected: MapType) -> bool:
        return self._fits(STRING, expected.key) and (
            isinstance(expected.value, TypeParam) or all(self._fits(f, expected.value) for f in actual.fields.values())
        )

    def _infer(self, t: Type, unknown: TypeParam) -> tuple[bool, bool]:
        """Whether `unknown` can be `t`, and whether it already had a type."""
        if t == unknown:
            return True, True
        bound = self._bound.get(unknown.name)
        if bound is None:
            if not self._occurs(unknown, t):
                self._bind(unknown.name, t)
                return True, False
            return False, False
        if t == bound:
            return True, True
        if not self._fits(t, bound):
            return False, True
        general = most_general(t, bound)
        if not self._occurs(unknown, general):
            self._bind(unknown.name, general)
        return True, True

    def _occurs(self, unknown: TypeParam, within: Type) -> bool:
        if within == unknown:
            return True
        if isinstance(within, TypeParam):
            bound = self._bound.get(within.name)
            return bound is not None and self._occurs(unknown, bound)
        return any(self._occurs(unknown, p) for p in within.params)


def _renamed(t: Type, names: dict[str, TypeParam]) -> Type:
    if isinstance(t, TypeParam):
        return names.get(t.name, t)
    params = t.params
    return t.rebuilt(tuple(_renamed(p, names) for p in params)) if params else t


def _nullable(t: Type) -> bool:
    """Whether `t` accepts null (cel-go: timestamps, durations, wrappers and opaque types)."""
    return t in (NULL, TIMESTAMP, DURATION) or isinstance(t, (WrapperType, OptionalType, OpaqueType))


def is_ground(t: Type) -> bool:
    """Whether `t` contains no unknown type."""
    return not isinstance(t, TypeParam) and all(is_ground(p) for p in t.params)


def most_general(left: Type, right: Type) -> Type:
    """The less specific of two types that fit each other."""
    if isinstance(left, EnumType) and isinstance(right, EnumType) and left != right:
        return STRING
    return left if _as_general(left, right) else right


def _as_general(left: Type, right: Type) -> bool:
    """Whether `left` is equal to or less specific than `right`."""
    if left == DYN or isinstance(left, TypeParam):
        return True
    if right == DYN or isinstance(right, TypeParam):
        return False
    if NULL in (left, right):  # a nullable type is more specific than null
        return right == NULL
    if isinstance(left, WrapperType):
        return right in (left, left.of)
    if isinstance(left, ListType | MapType | OptionalType | OpaqueType):
        return (
            type(left) is type(right)
            and len(left.params) == len(right.params)
            and all(_as_general(a, b) for a, b in zip(left.params, right.params, strict=True))
        )
    if isinstance(left, TypeType):
        return isinstance(right, TypeType)
    return left == right or (left == STRING and isinstance(right, EnumType))
