"""The violations of a JSON Schema by a document: the errors of `jsonschema` as data, without those that others
explain."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from msgspec import Struct
from msgspec.structs import replace
from referencing import Registry, Resource

from rulewright.documents.vocabulary import Vocabulary, schema_in
from rulewright.load import Node, plain
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

Steps: TypeAlias = tuple[str | int, ...]  # the path of a value


def violations_of(root: Node, validator: Validator) -> list[Violation]:
    """The violations of a document, without those that another one explains. What a condition of the schema requires
    has the properties of the whole."""
    schema: Any = validator.schema
    named = _named_in(_as_mapping(schema))
    found = (
        replace(each, named=named) if each.keyword == "required" and not (each.steps or each.named) else each
        for each in map(Violation.of, validator.iter_errors(plain(root)))
    )
    return list(_without_strays(primary(found)))


@cache
def validator_of(kind: str, vocabulary: Vocabulary) -> Validator:
    """The validator of a kind of document; schemas refer to each other by the names of their files."""
    once = _with_parts_made_once()
    validator: Validator = once(schema_in(kind, vocabulary), registry=_registry(vocabulary))
    return validator


def _with_parts_made_once() -> Any:
    """A class of validators that makes the validator of each part of a schema once, not once for each value."""
    once: Any = extend(FiniteValidator)  # type: ignore[no-untyped-call]
    parts: dict[int, Validator] = {}
    evolve = once.evolve

    def part_of(validator: Validator, *, schema: JsonObject, **changes: Any) -> Validator:
        part = parts.get(id(schema))  # it keeps its schema, whose id stays its own
        if part is None:
            part = parts[id(schema)] = evolve(validator, schema=schema, **changes)
        return part

    once.evolve = part_of
    return once


@cache
def _registry(vocabulary: Vocabulary) -> Registry[Any]:
    """Our schemas by file name, read when another one refers to them."""
    return Registry(retrieve=partial(_by_file, vocabulary))  # type: ignore[call-arg]  # an attrs alias that mypy does not know


def _by_file(vocabulary: Vocabulary, uri: str) -> Resource[object]:
    """The schema `KIND.schema.json`."""
    return Resource.from_contents(schema_in(uri.removesuffix(".schema.json"), vocabulary))


def _is_number(_: object, value: object) -> bool:
    """Infinity and NaN are not numbers here, because no bound applies to them."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


FiniteValidator: Final[Any] = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number)
)


class Violation(Struct, frozen=True):
    """An error of the validator: the keyword with its value in the schema, the value in the document and its path."""

    keyword: str
    wanted: Any
    value: Any
    steps: Steps
    meanings: dict[str, str]  # the meanings of the words that the schema allows here
    vocabulary: str | None  # the part of a project's vocabulary that declares these words
    named: dict[str, JsonObject]  # the properties that the schema names here, with their schemas
    holders: dict[str, tuple[str, ...]]  # a property one level below: the properties that it may belong to
    description: str
    of_a_key: bool
    option: int  # the number of the parent's alternative
    below: tuple[Violation, ...]  # of every alternative

    @staticmethod
    def of(mistake: ValidationError) -> Violation:
        """The validator's error as plain data."""
        found: Any = mistake  # its attributes may be unset until the validator yields it
        path, schema = tuple(found.relative_schema_path), _as_mapping(found.schema)
        properties = _named_in(schema)
        return Violation(
            keyword=found.validator,
            wanted=found.validator_value,
            value=found.instance,
            steps=tuple(found.absolute_path),
            meanings=schema.get("x-meanings", {}),
            vocabulary=schema.get("x-vocabulary"),
            named=properties,
            holders=_inverted({name: properties_of(each) for name, each in properties.items()}),
            description=schema.get("description", ""),
            of_a_key="propertyNames" in path,
            option=path[0] if isinstance(path[0], int) else 0,
            below=tuple(map(Violation.of, found.context)),
        )

    @property
    def properties(self) -> frozenset[str]:
        return frozenset(self.named)

    def unknown(self) -> list[str]:
        """The keys of the mapping that the schema does not name."""
        return [name for name in self.value if name not in self.named]

    def holder(self, name: str) -> str | None:
        """The key that an unknown one belongs under, that of all unknown ones if there is one."""
        own = self.holders.get(name, ())
        shared = [each for each in own if all(each in self.holders.get(other, ()) for other in self.unknown())]
        return next(iter(shared or own), None)


def _named_in(schema: JsonObject) -> dict[str, JsonObject]:
    return {name: _as_mapping(each) for name, each in schema.get("properties", {}).items()}


def _inverted(names: dict[str, JsonObject]) -> dict[str, tuple[str, ...]]:
    """The names that hold a property, by the property."""
    return {inner: tuple(each for each in names if inner in names[each]) for name in names for inner in names[name]}


def _as_mapping(schema: JsonObject | bool) -> JsonObject:
    """A schema as a mapping, without the short forms `true` and `false`."""
    return schema if isinstance(schema, dict) else {}


def _alternatives(schema: JsonObject) -> Iterator[JsonObject]:
    yield schema
    yield from map(_as_mapping, schema.get("anyOf", ()))


def properties_of(schema: JsonObject) -> JsonObject:
    """The properties that a schema, or an alternative of it, names."""
    return {name: each for option in _alternatives(schema) for name, each in option.get("properties", {}).items()}


def is_mapping(schema: JsonObject) -> bool:
    return any("object" in option.get("type", ()) for option in _alternatives(schema))


def primary(violations: Iterable[Violation]) -> Iterator[Violation]:
    """The violations without those that a wrong type at the same path explains."""
    by_place: dict[Steps, list[Violation]] = defaultdict(list)
    for each in violations:
        by_place[each.steps].append(each)
    for group in by_place.values():
        yield from [each for each in group if each.keyword == "type"] or group


def _without_strays(violations: Iterable[Violation]) -> Iterator[Violation]:
    """The violations without missing keys that occur as unknown keys one level above or below, or that an unknown key
    belongs to."""
    found = list(violations)
    unknown = [(each, name) for each in found if each.keyword == "additionalProperties" for name in each.unknown()]
    strays = [(each.steps, name) for each, name in unknown]
    holders = {(each.steps, each.holder(name)) for each, name in unknown}

    def is_stray(steps: Steps, wanted: str) -> bool:
        around = any(name == wanted and _is_around(steps, other) for other, name in strays)
        return around or (steps, wanted) in holders

    for each in found:
        if each.keyword == "required":
            yield replace(each, wanted=[name for name in each.wanted if not is_stray(each.steps, name)])
        elif not (is_choice(each) and any((each.steps, option["required"][0]) in holders for option in each.wanted)):
            yield each


def without_missing(found: Iterable[Violation], names: Container[str]) -> Iterator[Violation]:
    """The violations without these missing keys."""
    for each in found:
        wanted = [name for name in each.wanted if name not in names] if each.keyword == "required" else each.wanted
        yield each if wanted == each.wanted else replace(each, wanted=wanted)


def is_choice(violation: Violation) -> bool:
    """Whether one of several keys is missing."""
    return violation.keyword == "anyOf" and all(set(option) == {"required"} for option in violation.wanted)


def _is_around(one: Steps, other: Steps) -> bool:
    """Whether one of two paths contains the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
