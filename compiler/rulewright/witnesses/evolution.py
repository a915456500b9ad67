"""Conversations that are changed at random, and again where conditions distinguish the change from what came before."""

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from random import Random
from typing import Final

from rulewright_runtime.strict_json import Json, JsonObject

MOST: Final = 3_000  # changed conversations
ROLES: Final = ("user", "assistant", "system", "developer", "tool")
LONGEST: Final = 40  # messages of one
_NUMBER: Final = re.compile(r"\d+")
_KEPT: Final = frozenset({"messages", "role", "content", "id", "type", "function", "name", "arguments", "tool_call_id"})


def evolved(
    start: Iterable[JsonObject], effect: Callable[[JsonObject], Hashable], texts: Sequence[str], numbers: Sequence[int]
) -> Iterator[JsonObject]:
    """Conversations with an effect that none before had, made of those at the start and of the texts and numbers."""
    change = _Change(texts, [*map(str, numbers), "0"])
    known: set[Hashable] = {None}  # of what is refused
    pool: list[JsonObject] = []
    for record in start:
        if (found := effect(record)) not in known:
            known.add(found)
            pool.append(record)
            change.learn("", record)
    for _ in range(MOST if pool else 0):
        made = change.of(change.random.choice(pool))
        if len(made["messages"]) <= LONGEST and (found := effect(made)) not in known:
            known.add(found)
            pool.append(made)
            yield made


class _Change:
    """Changes records in a few places, to what is under the same key in others."""

    def __init__(self, texts: Sequence[str], numbers: Sequence[str]) -> None:
        """Nothing but the texts and numbers is known yet. The changes are the same in every run."""
        self.random = Random(0)
        self.known: dict[str, list[Json]] = {"content": list(texts), "name": list(texts), "role": [*ROLES]}
        self.numbers = numbers

    def learn(self, key: str, value: Json) -> None:
        """Keep the values below each key."""
        among = self.known.setdefault(key, [])
        if value not in among:
            among.append(value)
        for name, each in _parts(value):
            self.learn(key if isinstance(value, list) else name, each)

    def of(self, record: JsonObject) -> JsonObject:
        """The record with one change, or a few."""
        made: JsonObject = _copied(record)
        for _ in range(self.random.choice((1, 1, 2, 3))):
            places = list(_places("", made))
            key, container, at = self.random.choice(places)
            container[at] = self.changed(key, container[at])
        return made

    def changed(self, key: str, value: Json) -> Json:
        """Another value of a key."""
        among = [each for each in self.known.get(key, ()) if _shape(each) is _shape(value)]
        if isinstance(value, list) and value and self.random.random() < 0.8:
            return self.list_of(key, list(value))
        if isinstance(value, str) and key == "arguments" and (read := _read(value)):
            return json.dumps(self.of(read))
        if isinstance(value, str) and key == "content" and self.random.random() < 0.6:
            return self.text(value)
        if isinstance(value, dict) and self.random.random() < 0.5 and (gone := sorted(value.keys() - _KEPT)):
            return {name: each for name, each in value.items() if name != self.random.choice(gone)}
        return _copied(self.random.choice(among)) if among else value

    def list_of(self, key: str, items: list[Json]) -> list[Json]:
        """The items with one less, one again, or one of another list."""
        at, to = (self.random.randrange(len(items)) for _ in range(2))
        other = _copied(
            self.random.choice([each for each in self.known.get(key, ()) if isinstance(each, list)] or [items])
        )
        match self.random.randrange(5):
            case 0:
                del items[at]
            case 1:
                items.insert(to, _copied(items[at]))
            case 2:
                items[at], items[to] = items[to], items[at]
            case 3:
                items += other
            case _ if other:
                items.insert(to, self.random.choice(other))
        return items

    def text(self, text: str) -> str:
        """A text with another one next to it, cut, or with another number."""
        other = str(self.random.choice(self.known["content"]) or "")
        match self.random.randrange(4):
            case 0:
                return f"{text} {other}".strip()
            case 1:
                return f"{other} {text}".strip()
            case 2:
                return " ".join(text.split()[: self.random.randrange(len(text.split()) + 1)])
            case _:
                return _NUMBER.sub(lambda _: self.random.choice(self.numbers), text, count=1)


def _parts(value: Json) -> Iterator[tuple[Json, Json]]:
    if isinstance(value, str):
        value = _read(value)
    yield from value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def _places(key: str, value: Json) -> Iterator[tuple[str, Json, Json]]:
    """Every part of a record: the key that it is under, what holds it, and its place there."""
    if isinstance(value, dict | list):
        for at, each in _parts(value):
            name = key if isinstance(value, list) else at
            yield name, value, at
            yield from _places(name, each)


def _copied(value: Json) -> Json:
    """The value as one of its own: what was yielded or is known does not change."""
    return json.loads(json.dumps(value))


def _shape(value: Json) -> type | None:
    return type(value) if isinstance(value, dict | list) else None


def _read(text: str) -> JsonObject | None:
    """The JSON object that a text holds."""
    try:
        found = json.loads(text) if text.startswith("{") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
