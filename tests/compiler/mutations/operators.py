"""Small random edits of documents as plain data, as a slip of an author makes them.

New values and entries mostly come from the pool: the values of the same key in the examples of all rules. So mutants
resemble real mistakes and are not only misspelt.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Container = dict[str, Any] | list[Any]


class Site(NamedTuple):
    """A value in a document: its container, and the nearest key above it."""

    container: Container
    key: Any
    name: str

    @property
    def value(self) -> Any:
        return self.container[self.key]


@dataclass(frozen=True, slots=True)
class Pool:
    """The contents of documents: values by key, and entries by the key of their mapping."""

    values: dict[str, list[Any]] = field(default_factory=dict)
    entries: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)

    def add(self, data: Any) -> None:
        """Add the contents of a document to the pool."""
        for site in sites(data):
            known = self.values.setdefault(site.name, [])
            if not any(each == site.value and type(each) is type(site.value) for each in known):
                known.append(site.value)
            if isinstance(site.value, dict):
                self.entries.setdefault(site.name, []).extend(site.value.items())
        if isinstance(data, dict):
            self.entries.setdefault("", []).extend(data.items())


Operator = Callable[[Any, random.Random, Pool], bool]


def sites(data: Any, name: str = "") -> list[Site]:
    """Every value below `data`."""
    found: list[Site] = []
    _gather(data, name, found)
    return found


def _gather(data: Any, name: str, found: list[Site]) -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            found.append(Site(data, key, key))
            _gather(value, key, found)
    elif isinstance(data, list):
        for number, value in enumerate(data):
            found.append(Site(data, number, name))
            _gather(value, name, found)


def copied(data: Any) -> Any:
    """Copy mappings, lists and values; `copy.deepcopy` takes five times as long."""
    if isinstance(data, dict):
        return {key: copied(value) for key, value in data.items()}
    return [copied(value) for value in data] if isinstance(data, list) else data


def mutant(data: Any, chance: random.Random, pool: Pool) -> Any:
    """A copy of the document with one or two edits."""
    changed = copied(data)
    for _ in range(chance.choice((1, 1, 1, 2)) if data else 0):
        while changed and not chance.choice(OPERATORS)(changed, chance, pool):
            pass
    return changed


def drop(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Leave out an entry or an item."""
    site = chance.choice(sites(data))
    del site.container[site.key]
    return bool(data)


def misspell(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Double, leave out or replace a letter of a text."""
    return _put(data, chance, _typo)


def misspell_key(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Double, leave out or replace a letter of a key."""
    site = chance.choice(sites(data))
    if not isinstance(site.key, str) or len(site.key) < 2:
        return False
    keys = {key: _typo(key, chance) if key == site.key else key for key in site.container}
    entries = [(keys[key], value) for key, value in site.container.items()]  # type: ignore[union-attr]
    site.container.clear()
    site.container.update(entries)  # type: ignore[union-attr]
    return True


def other(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Replace the value by one of the same key elsewhere."""
    site = chance.choice(sites(data))
    value = copied(chance.choice(pool.values.get(site.name) or [site.value]))
    if value == site.value:
        return False
    site.container[site.key] = value
    return True


def borrow(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Replace the value by one of the same key in this document."""
    site = chance.choice(sites(data))
    values = [each.value for each in sites(data) if each.name == site.name and each.value != site.value]
    if not values:
        return False
    site.container[site.key] = copied(chance.choice(values))
    return True


def insert(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Add an entry that mappings under the same key have elsewhere."""
    places = [("", data), *((site.name, site.value) for site in sites(data) if isinstance(site.value, dict))]
    name, mapping = chance.choice(places)
    known = pool.entries.get(name)
    if not known or not isinstance(mapping, dict):
        return False
    key, value = chance.choice(known)
    if key in mapping:
        return False
    mapping[key] = copied(value)
    return True


def duplicate(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Duplicate an item of a list."""
    site = chance.choice(sites(data))
    if not isinstance(site.container, list):
        return False
    site.container.insert(chance.randint(0, len(site.container)), copied(site.value))
    return True


def swap(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Exchange two values of the same key."""
    one = chance.choice(sites(data))
    rest = [each for each in sites(data) if each.name == one.name and each.value != one.value]
    rest = [each for each in rest if type(each.value) is type(one.value) and not isinstance(each.value, (dict, list))]
    if not rest:
        return False
    two = chance.choice(rest)
    one.container[one.key], two.container[two.key] = two.value, one.value
    return True


def change_number(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Another number: one more or less, none, a negative one, a large one, half of it."""

    def changed(value: Any, chance: random.Random) -> Any:
        if isinstance(value, bool):
            return not value
        if isinstance(value, (int, float)):
            return chance.choice([value + 1, value - 1, 0, -value, value * 10, value / 2])
        return value

    return _put(data, chance, changed)


def change_type(data: Any, chance: random.Random, pool: Pool) -> bool:
    """Replace a value by a list, a mapping, a number or null."""
    return _put(data, chance, lambda value, chance: chance.choice([[value], {"value": value}, 7, "seven", None, True]))


OPERATORS: tuple[Operator, ...] = (
    drop, misspell, misspell_key, other, other, other, borrow, borrow, insert, insert, duplicate, swap, change_number,
    change_number, change_type,
)  # fmt: skip


def _put(data: Any, chance: random.Random, change: Callable[[Any, random.Random], Any]) -> bool:
    site = chance.choice(sites(data))
    value = change(site.value, chance)
    if value == site.value and type(value) is type(site.value):
        return False
    site.container[site.key] = value
    return True


def _typo(value: Any, chance: random.Random) -> Any:
    letters = [i for i, char in enumerate(value) if char.isalnum()] if isinstance(value, str) else []
    if len(letters) < 2:
        return value
    at = chance.choice(letters)
    return value[:at] + chance.choice(["", value[at] * 2, "q" if value[at] != "q" else "w"]) + value[at + 1 :]
