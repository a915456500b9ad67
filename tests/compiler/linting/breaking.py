"""Breaks documents: random edits of their structure, and random values generated from the schemas.

All choices come from one `random.Random`, so a case can be repeated from its seed.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from rulewright.documents.kinds import kind_of
from rulewright.load import load_text, plain
from rulewright_grammar import schema, schema_names

Tree: TypeAlias = Any  # what JSON can hold
Path: TypeAlias = tuple[str | int, ...]

EXPRESSIONS: Final = (
    "true", "false", "1 / 0 > 1", "1 % 0 == 0", "size(scenario.tags) > 0", "scenario.tags[3] == 'crisis'",
    "scenario.category == 'safety'", "scenario.difficulty == 'hard'", "size(scenario.title) > 9223372036854775807 - 1",
    "scenario.tags.exists(t, t.matches('cri.*'))", "scenario.tags.all(t, t == '')", "'\\u00e9'.size() == 1",
    "confidence_score >= 0.5", "confidence_score / 0 > 1", "metrics.lint_score >= 0.5", "loop.iteration > 2",
    "policy_gate.verdict == PASS", "review.decision == GO", "pair.challenger_approved == true", "hil.resolved",
    "verdicts.exists(v, v.verdict == FAIL)", "rates.coverage < 0.5", "v.verdict == FAIL", "v.severity == 'S5'",
    "v.extra.nothing == 1", "v.confidence > 0.5", "mean([CR, AH])", "wmean([CR, AH], [0, 0])", "1 - share", "share",
    "CR >= CR_pass", "CR < 0.5", "score(2)", "score(1)", "optional.of(score(0))", "optional.none()", "size(text) > 0",
    "check.severity == 'S5'", "check.severity.size() / 0 == 1", "check.id in ['W-1']",
    "wmean_present(dimensions, weights)", "dimensions", "gates", "flags", "int(text)",
    "it in signals", "contains_ci(text, it)", "text.matches('(')",
    "reply.violation", "elapsed_hours.orValue(0.0) < 48.0", "session == 1", "turn > 1 / 0", "signals.join(' ')",
    "sum([])", "max([0.1, 0.2])", "quantile([0.5], 2.0)", "[1, 2].map(x, x / 0)[0] == 1",
    "duration('9999999999s') > duration('1s')",
    "9223372036854775807 + 1 > 0", "timestamp('2026-01-01T00:00:00Z') > timestamp('x')", "double('nan') > 0.5",
)  # fmt: skip
TEXTS: Final = (
    "", " ", "x", "é", "e\u0301", "\u2028", "\u200b", "İ", "ß", "a" * 5000, "\x00", "line\nline", "*", "{{ check.id }}",
    "{{ nothing }}", "{{ 1 / 0 }}", "{% for x in scenario.tags %}{{ x }}{% endfor %}", "{% if", "..", "../x", "/etc",
    "$(x)", "${HOME}", "${NOT_SET}", "~", "null", "yes", "01", "1e3", "2026-01-01", "(", "[", "(a|b)*c", "\\bx",
    "(?=a)", "a{1000}", "(a{100}){100}", "🙂", "-", "#", "PASS", "FAIL", "UNCLEAR",
    "NOT_APPLICABLE", "GO", "NO_GO", "any", "S5",
    "S4_GATE", "A", "B", "C", "error", "absent", "0.5", "__class__", "items", "keys", "self", "1turn", "with.dot",
    "with space", "-1", "0", "T0", "T2", "both", "user", "assistant",
)  # fmt: skip
NUMBERS: Final = (
    0, 1, -1, 2, 3, 5, 100, 0.5, 1.0, -0.5, 1e-9, 1e308, 2**31, 2**63 - 1, 2**63, 2**70, 10**400, 1.5, 0.1,
)  # fmt: skip
ODD: Final[tuple[Tree, ...]] = (None, True, False, [], {}, [[]], [None], {"": ""}, {"a": [1]}, [1, "x"], [{}], [[[[]]]])
WRITTEN: Final = (".nan", ".inf", "-.inf", "2026-01-01", "0x1F", "0o17", "1_000", "~", "Yes", "!!str 1", "''", "1e400")
SPECIAL: Final = re.compile(r'"@written:(.*?)@"')
KINDS: Final = tuple(name for name in schema_names() if name not in {"plan", "case_report"})


def tree_of(text: str, name: str) -> Tree:
    """Return the content of a document, or None if it can't be read."""
    root = load_text(text, name).root
    return None if root is None else plain(root)


def kind_of_text(text: str, name: str) -> str | None:
    """Return the schema of a document, recognised by its keys."""
    return kind_of(load_text(text, name).root)


def as_text(tree: Tree, name: str) -> str:
    """The tree as a document; JSON is YAML, too, but YAML has ways to write a value that JSON lacks."""
    text = json.dumps(tree, indent=1, ensure_ascii=False, default=str)
    return text if name.endswith(".json") else SPECIAL.sub(r"\1", text)


@dataclass(frozen=True, slots=True)
class Breaker:
    """Makes random edits; `words` are names of the project, so that many edits leave it valid."""

    chance: random.Random
    words: tuple[str, ...]

    def broken(self, tree: Tree, kind: str | None) -> Tree:
        """A copy with one thing changed."""
        tree = copy.deepcopy(tree)
        places = [place for place in walk(tree, schema(kind) if kind in KINDS else None) if place.path]
        if not places:
            return self.value(None)
        place = self.chance.choice(places)
        holder, key = _reach(tree, place.path[:-1]), place.path[-1]
        self._edit(tree, places, place, holder, key)
        return tree

    def _edit(self, tree: Tree, places: list[Place], place: Place, holder: Any, key: Any) -> None:
        """Change the value at a place. About half of the ways mostly keep to the schema."""
        chance = self.chance
        match chance.randrange(12):
            case 0:
                del holder[key]
            case 1 | 2:
                self._drop(tree, places)
            case 3 if isinstance(holder, list):
                holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
            case 3:
                holder[self.word()] = copy.deepcopy(holder[key])
            case 4:
                holder[key] = copy.deepcopy(_reach(tree, chance.choice(places).path))
            case 5 | 6:
                alike = [other for other in places if other.schema is place.schema]
                holder[key] = copy.deepcopy(_reach(tree, chance.choice(alike).path))
            case 7:
                holder[key] = self.nasty()
            case 8:
                holder[key] = self.value(place.schema, place.top)
            case 9 | 10:
                self._add(places, tree)
            case _:
                holder[key] = chance.choice([[holder[key]], {self.word(): holder[key]}, [holder[key], holder[key]]])

    def _drop(self, tree: Tree, places: list[Place]) -> None:
        """Remove an optional entry or an item."""
        above = {place.path: place for place in places}
        spare = [
            place.path
            for place in places
            if place.path[:-1] in above and place.path[-1] not in required(above[place.path[:-1]])
        ]
        if spare:
            *path, key = self.chance.choice(spare)
            del _reach(tree, tuple(path))[key]

    def _add(self, places: list[Place], tree: Tree) -> None:
        """Add a known key to a mapping, or an item to a list."""
        chance = self.chance
        place = chance.choice([*places, Place((), places[0].top, places[0].top)])
        found = _reach(tree, place.path)
        while not isinstance(found, dict | list) and place.path:
            place = next((p for p in places if p.path == place.path[:-1]), Place((), place.top, place.top))
            found = _reach(tree, place.path)
        if isinstance(found, list):
            found.append(self.value(_item(place), place.top))
        elif isinstance(found, dict):
            known = properties(place)
            if known and chance.random() < 0.9:
                absent = [name for name in known if name not in found] or list(known)
                name = chance.choice(absent)
                found[name] = self.value(known[name], place.top)
            else:
                found[self.word()] = self.value(_more(place), place.top)

    def nasty(self) -> Tree:
        """Return an unexpected value."""
        pool = self.chance.choice([TEXTS, NUMBERS, ODD, EXPRESSIONS, [f"@written:{each}@" for each in WRITTEN]])
        return copy.deepcopy(self.chance.choice(list(pool)))

    def word(self) -> str:
        """A name of the project, or a text."""
        return self.chance.choice(self.words if self.words and self.chance.random() < 0.8 else TEXTS)

    def value(self, of: Any, top: Any = None, depth: int = 0) -> Tree:
        """A value that the schema `of` mostly allows."""
        chance = self.chance
        if not isinstance(of, dict) or chance.random() < 0.05 or depth > 8:
            return self.nasty()
        if "$ref" in of:
            return self.value(_resolved(of, top), top, depth)
        if "const" in of:
            return of["const"]
        if "enum" in of:
            return chance.choice(of["enum"])
        for several in ("anyOf", "oneOf"):
            if several in of:
                return self.value(
                    {**{k: v for k, v in of.items() if k != several}, **chance.choice(of[several])}, top, depth
                )
        kind = of.get("type")
        match chance.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._mapping(of, top, depth)
            case "array":
                items = of.get("items", {"type": "string"})
                count = max(of.get("minItems", 0), chance.choice([0, 1, 1, 2, 3]))
                return [self.value(items, top, depth + 1) for _ in range(min(count, of.get("maxItems", 9)))]
            case "boolean":
                return chance.random() < 0.5
            case "integer":
                return self._number(of, [0, 1, 2, 3, 5, 7])
            case "number":
                return self._number(of, [0, 0.5, 1, 0.25, 0.8, 1.0, 2, 3.5])
            case "null":
                return None
            case _:
                return self._text()

    def _number(self, of: dict[str, Any], usual: list[float]) -> Any:
        low, high = of.get("minimum"), of.get("maximum")
        fitting = [n for n in usual if (low is None or n >= low) and (high is None or n <= high)]
        if self.chance.random() < 0.15 or not fitting:
            ends = [end for end in (low, high) if end is not None]
            return self.chance.choice([*ends, *NUMBERS])
        return self.chance.choice(fitting)

    def _text(self) -> str:
        draw = self.chance.random()
        if draw < 0.5:
            return self.chance.choice(self.words or TEXTS)
        return self.chance.choice(EXPRESSIONS if draw < 0.8 else TEXTS)

    def _mapping(self, of: dict[str, Any], top: Any, depth: int) -> dict[str, Any]:
        chance = self.chance
        known = of.get("properties", {})
        required = of.get("required", [])
        names = [n for n in known if n in required or chance.random() < 0.8 / (1 + depth) / max(1, len(known) / 6)]
        found = {name: self.value(known[name], top, depth + 1) for name in names}
        more = of.get("additionalProperties")
        if isinstance(more, dict):
            for _ in range(chance.choice([0, 1, 1, 2])):
                found[self.word()] = self.value(more, top, depth + 1)
        return found


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a tree: where it is, the schema it should keep to, and the schema of the whole."""

    path: Path
    schema: Any
    top: Any


def walk(tree: Tree, of: Any, top: Any = None, path: Path = ()) -> Iterator[Place]:
    """Every value of a tree with its schema."""
    top = of if top is None else top
    place = Place(path, of, top)
    yield place
    if isinstance(tree, dict):
        known = properties(place)
        for key, value in tree.items():
            yield from walk(value, known.get(key) or _more(place), top, (*path, key))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield from walk(value, _item(place), top, (*path, at))


def _reach(tree: Tree, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _resolved(of: Any, top: Any) -> Any:
    while isinstance(of, dict) and "$ref" in of and isinstance(top, dict):
        home, _, name = of["$ref"].partition("#")
        document = schema(home.removesuffix(".schema.json")) if home else top
        of = document.get("$defs", {}).get(name.rpartition("/")[2]) if name else document
    return of


def choices(place: Place) -> list[dict[str, Any]]:
    """The schema and all its alternatives."""
    pending, found = [place.schema], []
    while pending:
        of = _resolved(pending.pop(), place.top)
        if isinstance(of, dict):
            found.append(of)
            pending += [*of.get("anyOf", ()), *of.get("oneOf", ())]
    return found


def properties(place: Place) -> dict[str, Any]:
    return {name: of for each in choices(place) for name, of in each.get("properties", {}).items()}


def required(place: Place) -> list[str]:
    return [name for each in choices(place) for name in each.get("required", ())]


def _more(place: Place) -> Any:
    return next(
        (of["additionalProperties"] for of in choices(place) if isinstance(of.get("additionalProperties"), dict)), None
    )


def _item(place: Place) -> Any:
    return next((of["items"] for of in choices(place) if "items" in of), None)


@cache
def words_of(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the short words in some documents: ids, tags, states, names of metrics."""
    found = {word for text in texts for word in re.findall(r"[A-Za-z_][A-Za-z0-9_.-]{0,30}", text)}
    return tuple(sorted(found))
