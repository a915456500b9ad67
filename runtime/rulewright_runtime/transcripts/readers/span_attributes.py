"""The attributes of a span: typed, nested and numbered values as plain values under dotted names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    is_list,
    is_record,
    list_at,
    record_at,
    shown,
    word,
)

TEXTS: Final = ("gen_ai.prompt", "gen_ai.completion")  # may be plain texts; the others are messages
_INDEX: Final = re.compile(r"[0-9]{1,6}")


def nested(value: Json) -> Json:
    """A value whose objects may have dotted keys, such as `message.role`, with nested objects in their place."""
    if is_list(value):
        return [nested(each) for each in value]
    if not is_record(value):
        return value
    tree: dict[str, object] = {}
    for key, each in value.items():
        if each is not None:
            put(tree, key.split("."), nested(each))
    return tree


def records_at(values: object, where: str) -> list[JsonObject]:
    """The objects in a list, which may be missing."""
    return [record_at(value, f"{where}[{index}]") for index, value in enumerate(list_at(values or [], where))]


def attributes_of(value: object) -> dict[str, object]:
    """The attributes under their dotted names, from a list of keys and values or from nested objects."""
    if is_list(value):
        pairs = [(each.get("key"), plain_value(each.get("value"))) for each in records_at(value, "attributes")]
        return _once((key, one) for key, one in pairs if isinstance(key, str))
    return _once(_dotted("", value)) if is_record(value) else {}


def _once(pairs: Iterable[tuple[str, Json]]) -> dict[str, object]:
    """The pairs by their keys. Raises ShapeError for a key that stands twice: one value would hide the other."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ShapeError(f"the attribute `{key[:60]}` stands twice")
        found[key] = value
    return found


def _dotted(prefix: str, value: Record) -> Iterator[tuple[str, Json]]:
    for key, one in value.items():
        if is_record(one) and key in (
            "gen_ai",
            "llm",
            "input",
            "output",
            "request",
            "response",
            "usage",
            "conversation",
            "operation",
            "tool",
            "call",
            "openinference",
            "span",
        ):
            yield from _dotted(f"{prefix}{key}.", one)
        else:
            yield f"{prefix}{key}", one


def plain_value(value: object) -> Json:
    """The plain value of a typed OTLP value."""
    if not is_record(value):
        return value
    if sum(each is not None for each in value.values()) > 1:
        raise ShapeError(f"an attribute has several values: {shown(value)}")
    if is_record(value.get("arrayValue")):
        return [plain_value(each) for each in list_at(value["arrayValue"].get("values") or [], "values")]
    if is_record(value.get("kvlistValue")):
        pairs = records_at(value["kvlistValue"].get("values"), "values")
        return _once((word(each.get("key")), plain_value(each.get("value"))) for each in pairs)
    return next((each for key, each in value.items() if key.endswith("Value") and each is not None), None)


def from_numbered_keys(attributes: Record, prefix: str) -> list[object]:
    """The list that is flattened to keys such as `llm.input_messages.0.message.role`."""
    tree: dict[str, object] = {}
    for key, value in attributes.items():
        path = key.removeprefix(prefix).split(".")
        describes = prefix[:-1] in TEXTS and not _INDEX.fullmatch(path[0])  # such as `gen_ai.prompt.name`
        if key.startswith(prefix) and not describes:
            put(tree, path, value)
    return list_at(_ordered(tree) if tree else [], prefix.removesuffix("."))


def put(tree: dict[str, object], path: list[str], value: object) -> None:
    if len(path) > 32:
        raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` is nested too deeply")
    for name in path[:-1]:
        inner = tree.setdefault(name, {})
        if not is_record(inner):
            raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` has a value and parts")
        tree = inner
    if path[-1] in tree:
        raise ShapeError(f"the attribute `{'.'.join(path)[:60]}` has a value and parts")
    tree[path[-1]] = value


def _ordered(tree: object) -> object:
    """The tree with a list in place of every object whose keys are all numbers."""
    if not is_record(tree):
        return tree
    if tree and all(_INDEX.fullmatch(key) for key in tree):
        if len(tree) != 1 + max(map(int, tree)):
            raise ShapeError(f"of a list with {1 + max(map(int, tree))} attributes {len(tree)} are there")
        return [_ordered(tree[key]) for key in sorted(tree, key=int)]
    return {key: _ordered(value) for key, value in tree.items()}
