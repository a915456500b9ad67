"""Reads mappings into frozen structs: a field's type determines the reader, its name or `At(...)` the key.

Reading is lenient, so that lint can check the rest of a broken file: missing values and values of a wrong type read
as absent, which is None, False, the empty text or an empty tuple, depending on the field's type.
"""

from collections.abc import Callable, Iterator
from collections.abc import Mapping as Table
from functools import cache
from typing import (
    Annotated,
    Any,
    Final,
    NamedTuple,
    TypeAlias,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Struct

from rulewright.documents import base
from rulewright.load import Entry, Mapping, Node, Scalar, is_text
from rulewright.spelling import suggest
from rulewright_grammar import schema

Model = TypeVar("Model")
Reader: TypeAlias = Callable[[Node | None], Any]
Key: TypeAlias = Annotated[str, "key"]  # the name of a model: its key in the surrounding mapping, or the file's stem


class ModelFields(NamedTuple):
    """How a model is read: name, steps, reader and default of its fields; its `Key`; its required fields."""

    fields: tuple[tuple[str, tuple[str, ...], Reader, Any], ...]
    key: str | None
    needed: tuple[str, ...]


READERS: Final[Table[object, Reader]] = {
    str: base.text,
    str | None: base.optional_text,
    bool: lambda node: base.flag(node) or False,
    bool | None: base.flag,
    int | None: base.number,
    float | None: base.fraction,
    object: base.value,
    Scalar: base.scalar,
    Scalar | None: base.scalar,
    Node | None: lambda node: node,
    tuple[str, ...]: base.texts,
    tuple[str, ...] | None: base.optional_texts,
    tuple[Scalar, ...]: base.text_scalars,
    tuple[int, ...]: lambda node: tuple(found for each in base.items(node) if (found := base.number(each)) is not None),
    tuple[tuple[str, Scalar], ...]: lambda node: tuple(expressions_in(node)),
    tuple[tuple[str, str], ...]: lambda node: tuple((key, base.text(each)) for key, each in entries_of(node)),
    dict[str, str]: lambda node: {key: base.text(each) for key, each in entries_of(node)},
}
_PLANS: Final[dict[type, ModelFields]] = {}  # the fields of a model that are read by their types


def as_meant(node: Mapping, kind: str) -> Mapping:
    """The mapping with corrected spellings of its keys, so that a typo, which validation reports, is
    one finding and does not also count as a missing key."""
    known = _properties(kind)
    meant = {key: suggest(key, known) or key for key in node.index if key not in known}
    if all(key == name or name in node.index for key, name in meant.items()):
        return node
    index: dict[str, Entry] = {}
    for key, entry in node.index.items():
        name = meant.get(key, key)
        index.setdefault(key if name in node.index else name, entry)
    return Mapping(index, node.start, node.end, node.source)


@cache
def _properties(kind: str) -> frozenset[str]:
    """The keys at the root of a kind of document."""
    return frozenset(schema(kind)["properties"])


class At:
    """Used as `Annotated[..., At(...)]` for a field that is not read from its own name, has its own reader,
    or has the default `usual`."""

    def __init__(self, *steps: str, by: Reader | None = None, usual: object = None) -> None:
        """Without `steps`, the field is read from its own name."""
        self.steps, self.by, self.usual = steps, by, usual


def read(model: type[Model], where: Node | None, /, **known: Any) -> Model:
    """The model of a mapping; `known` gives the values of fields that are not read from it."""
    for name, steps, reader, usual in _plan(model).fields:
        if name not in known:
            found = reader(base.descend(where, *steps))
            known[name] = usual if usual is not None and found in (None, "") else found
    if hasattr(model, "node"):
        known["node"] = where
    return model(**known)


def read_named(model: type[Model], node: Mapping, name: str | None) -> Model:
    """The model of a mapping called `name`: its key, or the stem of its file."""
    return read(model, node, name=name)


def read_each(model: type[Model], node: Node | None) -> Iterator[Model]:
    """The models of the mappings in a list or, if the model has a `Key`, in a mapping. Entries without a required
    text (a field of type `Scalar`) are skipped."""
    key, needed = _plan(model).key, _plan(model).needed
    listed = (("", each) for each in base.items(node) if isinstance(each, Mapping))
    for name, each in mappings_in(node) if key else listed:
        found = read(model, each, **({key: name} if key else {}))
        if all(getattr(found, field) is not None for field in needed):
            yield found


def entries_of(node: Node | None) -> list[tuple[str, Node]]:
    """The keys of a mapping with their values; empty if it is not a mapping."""
    return [(entry.name, entry.value) for entry in base.entries(node)]


def mappings_in(node: Node | None) -> Iterator[tuple[str, Mapping]]:
    """The keys of a mapping whose values are mappings."""
    yield from ((name, each) for name, each in entries_of(node) if isinstance(each, Mapping))


def expressions_in(node: Node | None) -> Iterator[tuple[str, Scalar]]:
    """The keys of a mapping whose values are texts, with these scalars."""
    for name, each in entries_of(node):
        if is_text(each):
            yield name, each


def paths_of(model: type) -> list[tuple[str, ...]]:
    """The paths of the fields of a model that are read by their types."""
    return [steps for _, steps, _, _ in _plan(model).fields]


def _plan(model: type) -> ModelFields:
    if model not in _PLANS:
        types, extras = get_type_hints(model), get_type_hints(model, include_extras=True)
        found = []
        for name in (each for each in types if each not in ("node", "vocabulary")):
            place = next((each for each in getattr(extras[name], "__metadata__", ()) if isinstance(each, At)), At())
            reader = None if extras[name] == Key else place.by or _reader(types[name])
            if reader is not None:
                found.append((name, place.steps or (name,), reader, place.usual))
        key = next((name for name, hint in extras.items() if hint == Key), None)
        _PLANS[model] = ModelFields(tuple(found), key, tuple(name for name, hint in types.items() if hint is Scalar))
    return _PLANS[model]


def _reader(hint: object) -> Reader | None:
    """The reader of a value of this type; None if the caller must give it."""
    if hint in READERS:
        return READERS[hint]
    inner = next(filter(_is_model, (hint, *get_args(hint))), None)
    if inner is None:
        return None
    if get_origin(hint) is tuple:
        return lambda node: tuple(read_each(inner, node))
    if get_origin(hint) is dict:
        return lambda node: {getattr(each, _plan(inner).key or ""): each for each in read_each(inner, node)}
    optional = type(None) in get_args(hint)
    return lambda node: None if optional and not isinstance(node, Mapping) else read(inner, node)


def _is_model(hint: object) -> TypeGuard[type[Struct]]:
    return isinstance(hint, type) and issubclass(hint, Struct)
