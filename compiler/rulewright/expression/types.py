"""The static types of expressions, how they are printed and how they are parsed.

Types print as CEL prints them: `list(int)`, `map(string, dyn)`, `optional_type(double)`, `type(int)`, `null_type`.
The profile adds `score`, enums and records with named fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from rulewright_runtime.declared_values import split_arguments


class Type(Struct, frozen=True):
    """The base class of all types."""

    @property
    def params(self) -> tuple[Type, ...]:
        """The types inside this one, in order."""
        return ()

    def rebuilt(self, params: tuple[Type, ...]) -> Type:
        """This type with other inner types."""
        return self


class _NamedType(Type, frozen=True):
    """A type that prints as its name."""

    name: str

    def __str__(self) -> str:
        return self.name


class _ConstructedType(Type, frozen=True):
    """A type whose fields are the types inside it."""

    @property
    def params(self) -> tuple[Type, ...]:
        names: tuple[str, ...] = self.__struct_fields__
        return tuple([getattr(self, name) for name in names])

    def rebuilt(self, params: tuple[Type, ...]) -> Type:
        return type(self)(*params)


class SimpleType(_NamedType, frozen=True):
    """A type without parts, such as `int`."""


class ListType(_ConstructedType, frozen=True):
    """`list(element)`."""

    element: Type

    def __str__(self) -> str:
        return f"list({self.element})"


class MapType(_ConstructedType, frozen=True):
    """`map(key, value)`."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"map({self.key}, {self.value})"


class OpaqueType(_NamedType, frozen=True):
    """A type known by its name and arguments only, such as `tuple(int, string)`."""

    arguments: tuple[Type, ...] = ()

    @property
    def params(self) -> tuple[Type, ...]:
        return self.arguments

    def rebuilt(self, params: tuple[Type, ...]) -> Type:
        return OpaqueType(self.name, params)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})" if self.arguments else self.name


class OptionalType(_ConstructedType, frozen=True):
    """`optional_type(value)`: a value that may be absent."""

    value: Type

    def __str__(self) -> str:
        return f"optional_type({self.value})"


class TypeType(Type, frozen=True):
    """`type(of)`: the type of a type; plain `type` if it is unknown."""

    of: Type | None = None

    @property
    def params(self) -> tuple[Type, ...]:
        return () if self.of is None else (self.of,)

    def rebuilt(self, params: tuple[Type, ...]) -> Type:
        return TypeType(*params)

    def __str__(self) -> str:
        return "type" if self.of is None else f"type({self.of})"


class TypeParam(_NamedType, frozen=True):
    """A type to be inferred: `T` in a declaration, `_7` while an expression is checked."""


class WrapperType(Type, frozen=True):
    """`wrapper(primitive)`: the primitive or null."""

    of: Type

    def __str__(self) -> str:
        return f"wrapper({self.of})"


class EnumType(_NamedType, frozen=True):
    """A string that is one of `members`, with a `name`; expressions write the members as bare words."""

    members: tuple[str, ...]


class RecordType(_NamedType, frozen=True):
    """A map with named fields. `optional` fields may be absent at run time (the evaluator decides by the polarity of
    the condition); an undeclared field is an error, or `dyn` if the record is `open`."""

    fields: Mapping[str, Type]
    optional: frozenset[str] = frozenset()
    open: bool = False

    def __hash__(self) -> int:
        """Mappings of fields have no hash."""
        return hash((self.name, self.optional, self.open))


INT: Final = SimpleType("int")
UINT: Final = SimpleType("uint")
DOUBLE: Final = SimpleType("double")
BOOL: Final = SimpleType("bool")
STRING: Final = SimpleType("string")
BYTES: Final = SimpleType("bytes")
NULL: Final = SimpleType("null_type")
TIMESTAMP: Final = SimpleType("timestamp")
DURATION: Final = SimpleType("duration")
DYN: Final = SimpleType("dyn")
ERROR: Final = SimpleType("error")
SCORE: Final = SimpleType("score")

SIMPLE: Final[Mapping[str, SimpleType]] = {
    t.name: t for t in (INT, UINT, DOUBLE, BOOL, STRING, BYTES, NULL, TIMESTAMP, DURATION, DYN, ERROR, SCORE)
}
WELL_KNOWN: Final[Mapping[str, Type]] = {
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
    "google.protobuf.Any": DYN,
    "google.protobuf.Value": DYN,
    "google.protobuf.Struct": MapType(STRING, DYN),
    "google.protobuf.ListValue": ListType(DYN),
    "google.protobuf.BoolValue": WrapperType(BOOL),
    "google.protobuf.BytesValue": WrapperType(BYTES),
    "google.protobuf.DoubleValue": WrapperType(DOUBLE),
    "google.protobuf.FloatValue": WrapperType(DOUBLE),
    "google.protobuf.Int32Value": WrapperType(INT),
    "google.protobuf.Int64Value": WrapperType(INT),
    "google.protobuf.StringValue": WrapperType(STRING),
    "google.protobuf.UInt32Value": WrapperType(UINT),
    "google.protobuf.UInt64Value": WrapperType(UINT),
    "null": NULL,
    "any": DYN,
}
_MAX_DEPTH: Final = 32
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")


def parse_type(text: str, depth: int = 0) -> Type:
    """The type that `text` names, for instance `map(string, list(int))`; one capital letter is a type parameter.

    `list` and `map` alone mean `list(dyn)` and `map(dyn, dyn)`. Raises ValueError if `text` is not a type.
    """
    name, opened, rest = (part.strip() for part in text.partition("("))
    if not _NAME.fullmatch(name) or (opened and not rest.endswith(")")):
        raise ValueError(f"`{text.strip()}` is not a type")
    if depth > _MAX_DEPTH:
        raise ValueError(f"a type nests deeper than {_MAX_DEPTH}")
    return named_type(name, tuple(parse_type(each, depth + 1) for each in split_arguments(rest[:-1])) if opened else ())


# The types that are made of others, with the number of these.
_CONSTRUCTED: Final[Mapping[str, tuple[Callable[..., Type], int]]] = {
    "list": (ListType, 1),
    "map": (MapType, 2),
    "optional": (OptionalType, 1),
    "optional_type": (OptionalType, 1),
    "type": (TypeType, 1),
    "wrapper": (WrapperType, 1),
}


def named_type(name: str, arguments: tuple[Type, ...]) -> Type:
    """The type `name` with `arguments`. Raises ValueError if their number doesn't fit."""
    if name in _CONSTRUCTED:
        kind, count = _CONSTRUCTED[name]
        if not arguments and name != "wrapper":
            return TypeType() if name == "type" else kind(*[DYN] * count)
        if len(arguments) != count:
            raise ValueError(f"`{name}` doesn't take {len(arguments)} types")
        return kind(*arguments)
    if arguments:
        return OpaqueType(name, arguments)
    if len(name) == 1 and name.isupper():
        return TypeParam(name)
    return SIMPLE.get(name) or WELL_KNOWN.get(name) or OpaqueType(name)
