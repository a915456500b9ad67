"""Which type fits which, and what the unknown types of an expression turn out to be.

The relation is CEL's: `dyn` fits everything, `null` fits what may be null, a type parameter takes the most general of
the types it meets. Enums, records and scores follow the profile.
"""

from __future__ import annotations

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
    """What is known of the unknown types so far; a failed comparison leaves it as it was."""

    __slots__ = ("_bound", "_count", "_trail")

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._count = 0

    def fresh(self) -> TypeParam:
        """A type nothing is known of."""
        self._count += 1
        return TypeParam(f"_{self._count}")

    def fits(self, given: Type, wanted: Type) -> bool:
        """Whether `given` may stand where `wanted` is due; learns from it when it may."""
        if given is wanted:
            return True
        return self._attempt([given], [wanted])

    def all_fit(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        """Whether every type fits its counterpart; learns only when all do."""
        return len(given) == len(wanted) and self._attempt(given, wanted)

    def _attempt(self, given: Sequence[Type], wanted: Sequence[Type]) -> bool:
        mark = len(self._trail)
        if all(self._fits(g, w) for g, w in zip(given, wanted, strict=True)):
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
        """`t` with everything known put in; `final` makes what stays unknown `dyn`."""
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
        """`types` with a fresh unknown for each of the type parameters named in `generic`."""
        names = {name: self.fresh() for name in generic}
        return [_renamed(t, names) for t in types]

    def _fits(self, given: Type, wanted: Type) -> bool:
        if given == wanted and not isinstance(given, TypeParam):
            return True
        if isinstance(wanted, TypeParam):
            valid, known = self._learn(given, wanted)
            if valid or known:
                return valid
        if isinstance(given, TypeParam):
            return self._learn(wanted, given)[0]
        if given in (DYN, ERROR) or wanted in (DYN, ERROR):
            return True
        if given == NULL or wanted == NULL:
            return _nullable(wanted if given == NULL else given)
        return self._structurally(given, wanted)

    def _structurally(self, given: Type, wanted: Type) -> bool:
        if isinstance(given, WrapperType):
            return self._fits(given.of, wanted.of if isinstance(wanted, WrapperType) else wanted)
        if isinstance(wanted, WrapperType):
            return self._fits(given, wanted.of)
        match given, wanted:
            case (EnumType(), SimpleType()) | (SimpleType(), EnumType()):
                return STRING in (given, wanted)
            case EnumType(), EnumType():
                return not set(given.members).isdisjoint(wanted.members)
            case RecordType(), MapType():
                return self._record_fits(given, wanted)
            case TypeType(), TypeType():
                return True
            case OpaqueType(), OpaqueType() if given.name != wanted.name:
                return False
        inner, outer = given.params, wanted.params
        same_kind = type(given) is type(wanted) and bool(inner) and len(inner) == len(outer)
        return same_kind and all(self._fits(g, w) for g, w in zip(inner, outer, strict=True))

    def _record_fits(self, given: RecordType, wanted: MapType) -> bool:
        return self._fits(STRING, wanted.key) and (
            isinstance(wanted.value, TypeParam) or all(self._fits(f, wanted.value) for f in given.fields.values())
        )

    def _learn(self, t: Type, unknown: TypeParam) -> tuple[bool, bool]:
        """Whether `unknown` may be `t`, and whether something was known of it before."""
        if t == unknown:
            return True, True
        known = self._bound.get(unknown.name)
        if known is None:
            if not self._occurs(unknown, t):
                self._bind(unknown.name, t)
                return True, False
            return False, False
        if t == known:
            return True, True
        if not self._fits(t, known):
            return False, True
        general = most_general(t, known)
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
    """Whether null may stand for `t` (cel-go: timestamps, durations, wrappers and opaque types)."""
    return t in (NULL, TIMESTAMP, DURATION) or isinstance(t, (WrapperType, OptionalType, OpaqueType))


def is_ground(t: Type) -> bool:
    """Whether `t` holds no unknown type."""
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
    if NULL in (left, right):  # whatever may be null says more than null itself
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
