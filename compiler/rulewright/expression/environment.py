"""The names available to an expression: variables, functions, constants, and how they are looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from rulewright.expression import types
from rulewright.expression.declarations import Functions, Overload, profile_functions, strict_functions
from rulewright.expression.syntax_tree import Dialect

_NONE: Final[Mapping[str, types.Type]] = MappingProxyType({})
_NO_FUNCTIONS: Final[Functions] = MappingProxyType({})
_NO_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

TYPE_NAMES: Final[Mapping[str, types.Type]] = MappingProxyType(
    {
        "bool": types.TypeType(types.BOOL),
        "bytes": types.TypeType(types.BYTES),
        "double": types.TypeType(types.DOUBLE),
        "int": types.TypeType(types.INT),
        "list": types.TypeType(types.ListType(types.DYN)),
        "map": types.TypeType(types.MapType(types.DYN, types.DYN)),
        "null_type": types.TypeType(types.NULL),
        "optional_type": types.TypeType(types.OptionalType(types.DYN)),
        "string": types.TypeType(types.STRING),
        "type": types.TypeType(types.TypeType()),
        "uint": types.TypeType(types.UINT),
        "google.protobuf.Duration": types.TypeType(types.DURATION),
        "google.protobuf.Timestamp": types.TypeType(types.TIMESTAMP),
    }
)


@dataclass(frozen=True, slots=True)
class Environment:
    """The names available to the expressions of one key.

    `variables` may have dotted names. `functions` are added to the libraries of the `dialect`. Members of
    every enum inside a variable's type are constants, written as bare words. `hints` are the help for names that
    don't exist here: `{"pair": "`pair` exists only where `paired_workflow` is enabled"}`. An abbreviation is replaced
    by a qualified name, alone or before a dot: `{"Timestamp": "google.protobuf.Timestamp"}`.

    An `open` environment is for exploration: an unknown root is `dyn`, and an unknown word with an upper-case letter on
    the right of a comparison is a constant. `lookups` are variables that may be written as a call: `v("name")` means
    `v["name"]`. With `validate` the checker reports literals that a function refuses, as `matches` does.
    """

    variables: Mapping[str, types.Type] = field(default_factory=lambda: _NONE)
    functions: Functions = field(default_factory=lambda: _NO_FUNCTIONS)
    container: str = ""
    abbreviations: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)
    dialect: Dialect = Dialect.PROFILE
    open: bool = False
    hints: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)
    lookups: frozenset[str] = frozenset()
    validate: bool = True
    members: frozenset[str] = field(init=False, compare=False)
    overloads: Functions = field(init=False, compare=False, repr=False)
    resolved: dict[object, tuple[types.Type, ...]] = field(init=False, compare=False, repr=False)

    def __hash__(self) -> int:
        return hash(tuple(self.variables))

    def __post_init__(self) -> None:
        base = strict_functions() if self.strict else profile_functions()
        merged: dict[str, tuple[Overload, ...]] = dict(base)
        for name, own in self.functions.items():
            merged[name] = merged.get(name, ()) + own
        distinct = {id(t): t for t in self.variables.values()}  # hundreds of variables share a few types
        enums = (e for t in distinct.values() for e in enums_in(t))
        object.__setattr__(self, "overloads", merged if self.functions else base)
        object.__setattr__(self, "members", frozenset(m for e in enums for m in e.members))
        object.__setattr__(self, "resolved", {})

    @property
    def strict(self) -> bool:
        """Whether expressions are plain CEL."""
        return self.dialect is Dialect.STRICT

    def having(self, variables: Mapping[str, types.Type]) -> Environment:
        """This environment with more variables; the new ones take precedence."""
        return replace(self, variables={**self.variables, **variables})

    def candidates(self, name: str, absolute: bool = False) -> Iterator[str]:
        """Yield the full names that `name` may mean, the most qualified first (CEL definition, "Name Resolution")."""
        first, dot, rest = name.partition(".")
        if first in self.abbreviations:
            yield f"{self.abbreviations[first]}{dot}{rest}"
            return
        prefix = "" if absolute else self.container
        while prefix:
            yield f"{prefix}.{name}"
            prefix = prefix.rpartition(".")[0]
        yield name

    def variable(self, name: str, absolute: bool = False) -> tuple[str, types.Type] | None:
        """The full name and the type of the variable or type `name`, or None."""
        for candidate in self.candidates(name, absolute):
            type_ = self.variables.get(candidate) or TYPE_NAMES.get(candidate)
            if type_ is not None:
                return candidate, type_
        return None

    def function(self, name: str, absolute: bool = False) -> tuple[str, tuple[Overload, ...]] | None:
        """The full name and the overloads of the function `name`, or None."""
        for candidate in self.candidates(name, absolute):
            overloads = self.overloads.get(candidate)
            if overloads is not None:
                return candidate, overloads
        return None


def enums_in(t: types.Type) -> Iterator[types.EnumType]:
    """Yield every enum inside `t`, including record fields."""
    pending, seen = [t], set[int]()
    while pending:
        here = pending.pop()
        if isinstance(here, types.EnumType):
            yield here
        elif isinstance(here, types.RecordType):
            if id(here) not in seen:
                seen.add(id(here))
                pending.extend(here.fields.values())
        else:
            pending.extend(here.params)
