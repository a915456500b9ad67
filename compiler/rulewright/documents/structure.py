"""The structural checker, derived from the JSON Schemas: unknown keys, missing keys, wrong types, each at its place.

It understands the part of JSON Schema that our schemas use and agrees there with a complete implementation on what is
valid; a schema with another keyword is refused, so that no rule is dropped unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeAlias

from rulewright.diagnostics import Diagnostic, error, respell
from rulewright.load import Mapping, Node, Scalar, Sequence, plain
from rulewright.spelling import suggest
from rulewright_grammar import schema as schema_of

Check: TypeAlias = Callable[[Node, str, list[Diagnostic]], None]  # the node, its path for people, where findings go

NAMES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
ANNOTATIONS: Final = frozenset({"$schema", "$id", "$defs", "title", "description", "x-use", "x-read-by", "x-routes"})

PAGES: Final[dict[str, str]] = {
    "unknown-key": """A key that nothing reads.

    Why it matters: a misspelt key is silently without effect, and the rule behaves as if it had never been written.
    Instead: correct its spelling, move it to the place where it is read, or remove it.
    """,
    "missing-key": """A key is missing without which the document means nothing.

    Why it matters: any default would be a guess at what the author wants.
    Instead: add the key.
    """,
    "wrong-type": """A value of a type that its key can't hold.

    Why it matters: a text where a number is expected would have to be reinterpreted, and readers differ on how.
    Instead: write the type the message names; quotes make a text of anything.
    """,
    "unknown-value": """A word that is none of the words its key allows.

    Why it matters: an unknown route, severity or policy has no meaning, so the check could not be carried out.
    Instead: use one of the words the message lists.
    """,
    "out-of-range": """A number, text or list outside the bounds of its key.

    Why it matters: zero patterns never hit, and a negative number of votes decides nothing.
    Instead: keep to the bounds the message names.
    """,
}


def check_structure(kind: str, root: Node) -> list[Diagnostic]:
    """Every structural mistake of a document against the schema called `kind`; nothing when it is valid."""
    found: list[Diagnostic] = []
    checker(kind)(root, "", found)
    return found


@cache
def checker(kind: str) -> Check:
    """The checker derived from the schema called `kind`, built once."""
    return derive(schema_of(kind))


def derive(schema: dict[str, Any]) -> Check:
    """The checker of any schema that keeps to the supported keywords; raises `ValueError` for others."""
    return _Builder(schema, _homes(schema)).build(schema)


@dataclass(frozen=True, slots=True)
class _Builder:
    schema: dict[str, Any]
    homes: dict[str, tuple[str, ...]]  # a property's name: the places where it is known
    built: dict[str, Check] = field(default_factory=dict)

    def build(self, schema: dict[str, Any]) -> Check:
        unsupported = set(schema) - ANNOTATIONS - set(_PARTS)
        if unsupported:
            raise ValueError(f"unsupported schema keywords: {', '.join(sorted(unsupported))}")
        checks = [_PARTS[word](self, schema) for word in _PARTS if word in schema]
        if len(checks) == 1:
            return checks[0]
        typed = checks[0] if "type" in schema else None
        rest = tuple(checks[1:] if typed else checks)

        def all_of(node: Node, path: str, found: list[Diagnostic]) -> None:
            before = len(found)
            if typed is not None:
                typed(node, path, found)
                if len(found) > before:  # a wrong type makes every other complaint noise
                    return
            for check in rest:
                check(node, path, found)

        return all_of

    def reference(self, schema: dict[str, Any]) -> Check:
        name = str(schema["$ref"]).removeprefix("#/$defs/")

        def later(node: Node, path: str, found: list[Diagnostic]) -> None:
            if name not in self.built:  # built on first use: definitions may refer to themselves
                self.built[name] = self.build(self.schema["$defs"][name])
            self.built[name](node, path, found)

        return later


def _type(_: _Builder, schema: dict[str, Any]) -> Check:
    wanted = schema["type"]
    names: tuple[str, ...] = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    fits = tuple(_FITS[name] for name in names)
    expected = _either([NAMES[name] for name in names])

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        for fit in fits:
            if fit(node):
                return
        found.append(error(node, f"{_subject(path)} must be {expected}, not {_what(node)}", code="wrong-type"))

    return check


def _enum(_: _Builder, schema: dict[str, Any]) -> Check:
    allowed: list[Any] = schema.get("enum", [schema.get("const")])
    words = frozenset(allowed)

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is Scalar and node.value in words and isinstance(node.value, str):
            return
        if type(node) is Scalar and isinstance(node.value, str):
            found.append(_unknown_value(node, path, allowed))
        else:
            message = f"{_subject(path)} must be {_either([f'`{word}`' for word in allowed])}, not {_what(node)}"
            found.append(error(node, message, code="wrong-type"))

    return check


def _unknown_value(node: Scalar, path: str, allowed: Many[str]) -> Diagnostic:
    near = suggest(str(node.value), allowed)
    message = (
        f"`{node.value}` is not allowed for {_subject(path)}; expected {_either([f'`{word}`' for word in allowed])}"
    )
    fix = respell(node, near, safe=False) if near else None
    return error(node, message, code="unknown-value", help=f"did you mean `{near}`?" if near else None, fix=fix)


def _object(builder: _Builder, schema: dict[str, Any]) -> Check:
    known = {name: builder.build(below) for name, below in schema.get("properties", {}).items()}
    extra = schema.get("additionalProperties", True)
    others = builder.build(extra) if isinstance(extra, dict) else None
    closed = extra is False

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is not Mapping:
            return
        prefix = f"{path}." if path else ""
        for name, entry in node.index.items():
            below = known.get(name, others)
            if below is not None:
                below(entry.value, f"{prefix}{name}", found)
            elif closed:
                found.append(_unknown_key(node, name, path, known, builder.homes))

    return check


def _unknown_key(
    node: Mapping, name: str, path: str, known: Iterable[str], homes: dict[str, tuple[str, ...]]
) -> Diagnostic:
    place = node.key_span(name)
    where = f" in `{path}`" if path else ""
    near = suggest(name, known)
    if near:
        fix = None if near in node else respell(node.index[name].key, near, safe=False)
        hint = f"did you mean `{near}`?" + (" it is set here as well" if near in node else "")
        return error(place, f"unknown key `{name}`{where}", code="unknown-key", help=hint, fix=fix)
    home = [owner for owner in homes.get(name, ()) if owner != path]
    if home:
        hint = f"`{name}` belongs " + _either([f"under `{owner}`" if owner else "at the top level" for owner in home])
    else:
        hint = f"the keys here are {', '.join(f'`{key}`' for key in sorted(known))}"
    return error(place, f"unknown key `{name}`{where}", code="unknown-key", help=hint)


def _required(_: _Builder, schema: dict[str, Any]) -> Check:
    names = tuple(schema["required"])
    known = frozenset(schema.get("properties", ()))

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is not Mapping:
            return
        for name in names:
            if name not in node:
                where = f" in `{path}`" if path else ""
                misspelt = next((key for key in node.keys if key not in known and suggest(key, [name])), None)
                notes = [(node.key_span(misspelt), "perhaps meant here")] if misspelt else []
                found.append(error(_head(node), f"`{name}` is missing{where}", code="missing-key", notes=notes))

    return check


def _head(node: Mapping) -> Any:
    """A mapping's first key stands for the whole: underlining forty lines helps nobody."""
    return node.entries[0].key if node.index else node


def _property_names(builder: _Builder, schema: dict[str, Any]) -> Check:
    below = builder.build(schema["propertyNames"])

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is Mapping:
            for entry in node.entries:
                below(entry.key, f"a key of {path}" if path else "", found)

    return check


def _items(builder: _Builder, schema: dict[str, Any]) -> Check:
    below = builder.build(schema["items"])

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is Sequence:
            for number, item in enumerate(node.items):
                below(item, f"{path}[{number}]", found)

    return check


def _size(_: _Builder, schema: dict[str, Any]) -> Check:
    least, most = schema.get("minItems", 0), schema.get("maxItems")

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is not Sequence:
            return
        if len(node.items) < least:
            found.append(error(node, f"{_subject(path)} needs at least {_count(least, 'item')}", code="out-of-range"))
        if most is not None and len(node.items) > most:
            found.append(error(node, f"{_subject(path)} holds at most {_count(most, 'item')}", code="out-of-range"))

    return check


def _unique(_: _Builder, schema: dict[str, Any]) -> Check:
    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if not schema["uniqueItems"] or type(node) is not Sequence:
            return
        seen: list[Any] = []
        for item in node.items:
            written = plain(item)
            if any(_same(written, other) for other in seen):
                found.append(error(item, f"{_subject(path)} holds `{written}` twice", code="out-of-range"))
            seen.append(written)

    return check


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _bounds(_: _Builder, schema: dict[str, Any]) -> Check:
    least, most = schema.get("minimum"), schema.get("maximum")

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is not Scalar or not _is_number(node):
            return
        number: Any = node.value
        if least is not None and not number >= least:  # NaN is in no bounds
            found.append(error(node, f"{_subject(path)} must be at least {least}, not {number}", code="out-of-range"))
        if most is not None and not number <= most:
            found.append(error(node, f"{_subject(path)} must be at most {most}, not {number}", code="out-of-range"))

    return check


def _length(_: _Builder, schema: dict[str, Any]) -> Check:
    least = schema["minLength"]

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is Scalar and isinstance(node.value, str) and len(node.value) < least:
            found.append(error(node, f"{_subject(path)} must not be empty", code="out-of-range"))

    return check


def _pattern(_: _Builder, schema: dict[str, Any]) -> Check:
    pattern = re.compile(schema["pattern"])

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        if type(node) is Scalar and isinstance(node.value, str) and not pattern.search(node.value):
            message = f"{_subject(path)} is `{node.value}`, which does not fit `{schema['pattern']}`"
            found.append(error(node, message, code="out-of-range"))

    return check


def _any_of(builder: _Builder, schema: dict[str, Any]) -> Check:
    options: list[dict[str, Any]] = schema["anyOf"]
    checks = tuple(builder.build(option) for option in options)

    def check(node: Node, path: str, found: list[Diagnostic]) -> None:
        best: list[Diagnostic] | None = None
        for option in checks:
            tried: list[Diagnostic] = []
            option(node, path, tried)
            if not tried:
                return
            if best is None or _nearness(tried, node) < _nearness(best, node):
                best = tried
        found.extend(_missing_either(options, node, path) or _no_type_fits(options, node, path) or best or ())

    return check


def _nearness(tried: list[Diagnostic], node: Node) -> tuple[bool, int]:
    """An alternative whose type fits is nearer than one whose type does not; then the one with fewer complaints."""
    return (any(d.code == "wrong-type" and d.span == node.span for d in tried), len(tried))


def _missing_either(options: Many[dict[str, Any]], node: Node, path: str) -> list[Diagnostic]:
    """The message for `anyOf: [{required: [a]}, {required: [b]}]`."""
    if type(node) is not Mapping or any(set(option) != {"required"} for option in options):
        return []
    names = _either([f"`{option['required'][0]}`" for option in options])
    where = f" in `{path}`" if path else ""
    return [error(_head(node), f"{names} is missing{where}", code="missing-key")]


def _no_type_fits(options: Many[dict[str, Any]], node: Node, path: str) -> list[Diagnostic]:
    wanted = [option.get("type") for option in options]
    names = [name for name in dict.fromkeys(wanted) if isinstance(name, str)]
    if len(names) < 2 or None in wanted or any(_FITS[name](node) for name in names):
        return []
    expected = _either([NAMES[name] for name in names])
    return [error(node, f"{_subject(path)} must be {expected}, not {_what(node)}", code="wrong-type")]


def _is_number(node: Node) -> bool:
    return type(node) is Scalar and isinstance(node.value, (int, float)) and not isinstance(node.value, bool)


def _is_whole(node: Node) -> bool:
    if type(node) is not Scalar or isinstance(node.value, bool):
        return False
    return isinstance(node.value, int) or (isinstance(node.value, float) and node.value.is_integer())


_FITS: Final[dict[str, Callable[[Node], bool]]] = {
    "array": lambda node: type(node) is Sequence,
    "boolean": lambda node: type(node) is Scalar and isinstance(node.value, bool),
    "integer": _is_whole,
    "null": lambda node: type(node) is Scalar and node.value is None,
    "number": _is_number,
    "object": lambda node: type(node) is Mapping,
    "string": lambda node: type(node) is Scalar and isinstance(node.value, str),
}
_PARTS: Final[dict[str, Callable[[_Builder, dict[str, Any]], Check]]] = {
    "type": _type,
    "$ref": _Builder.reference,
    "enum": _enum,
    "const": _enum,
    "required": _required,
    "properties": _object,
    "additionalProperties": lambda builder, schema: _nothing if "properties" in schema else _object(builder, schema),
    "propertyNames": _property_names,
    "items": _items,
    "minItems": _size,
    "maxItems": lambda builder, schema: _nothing if "minItems" in schema else _size(builder, schema),
    "uniqueItems": _unique,
    "minimum": _bounds,
    "maximum": lambda builder, schema: _nothing if "minimum" in schema else _bounds(builder, schema),
    "minLength": _length,
    "pattern": _pattern,
    "anyOf": _any_of,
}


def _nothing(node: Node, path: str, found: list[Diagnostic]) -> None:
    """Stands for a keyword that another one of the same schema already covers."""


def _homes(schema: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Where each property is known, by its path for people; definitions are left out, for they stand anywhere."""
    homes: dict[str, list[str]] = {}

    def visit(below: dict[str, Any], path: str) -> None:
        for name, inner in below.get("properties", {}).items():
            homes.setdefault(name, []).append(path)
            visit(inner, f"{path}.{name}" if path else name)

    visit(schema, "")
    return {name: tuple(paths) for name, paths in homes.items()}


def _subject(path: str) -> str:
    return (path if path.startswith("a key of ") else f"`{path}`") if path else "the document"


def _what(node: Node) -> str:
    if type(node) is Mapping:
        return "a mapping"
    if type(node) is Sequence:
        return "a list"
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return f"`{str(node.value).lower()}`"
    shown = str(node.value) if len(str(node.value)) <= 40 else f"{str(node.value)[:37]}..."
    return f"the text `{' '.join(shown.split())}`" if isinstance(node.value, str) else f"`{shown}`"


def _either(words: Many[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
