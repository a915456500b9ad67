"""Suggestions for unknown words and keys that are not misspelt but have a known synonym or place."""

import re
from collections.abc import Container, Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final

from msgspec.structs import replace as dataclass_replace

from rulewright.diagnostics import Diagnostic, Fix, error, replace
from rulewright.documents.base import descend
from rulewright.documents.keys import EACH, keys_of, written_path
from rulewright.documents.schema_violations import Steps, Violation
from rulewright.load import Mapping, Node, Scalar, Sequence, plain
from rulewright.load.load_errors import shorten
from rulewright.spelling import suggest
from rulewright_runtime.strict_json import JsonObject

SYNONYMS: Final = {
    "agents": ("agent",),
    "ask": ("prompt",),
    "bucket": ("primary_bucket",),
    "condition": ("when",),
    "conversation": ("chat",),
    "criteria": ("prompt",),
    "depends_on": ("dependencies",),
    "expected": ("verdict",),
    "file": ("path",),
    "files": ("paths",),
    "id": ("name",),
    "if": ("when",),
    "instructions": ("prompt",),
    "items": ("patterns",),
    "judge": ("prompt",),
    "label": ("name",),
    "lexicon": ("deterministic_precheck",),
    "max": ("maximum",),
    "messages": ("chat",),
    "min": ("minimum",),
    "model": ("agent",),
    "name": ("project", "scorecard"),
    "needs": ("dependencies",),
    "phrases": ("patterns",),
    "question": ("prompt",),
    "review": ("agentic_review",),
    "reviewers": ("reviewer_agent",),
    "regexes": ("patterns",),
    "regex": ("patterns",),
    "rubric": ("prompt",),
    "rules": ("checks",),
    "tier": ("risk_tier",),
    "title": ("name",),
    "words": ("patterns",),
}
MAIN_KEYS: Final = {"judge": "source"}  # the key that a text in place of a mapping is meant for, by the mapping's path
_ADDRESS: Final = "the address is part of `source`: `openai:MODEL@http://127.0.0.1:8000/v1`"
_PARAMETER: Final = "parameters of the model are part of `source`, after `#`: `openai:MODEL#seed=7`"
_KEY: Final = "keys are read from the environment: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `RULEWRIGHT_API_KEY`"
_OF_JUDGES: Final = {  # keys of judges in other tools
    **dict.fromkeys(("api_key", "apiKey", "key"), _KEY),
    **dict.fromkeys(("api_base", "base_url", "endpoint", "url"), _ADDRESS),
    **dict.fromkeys(("seed", "top_p"), _PARAMETER),
    "temperature": "the temperature of each vote is fixed, so that several votes differ",
}
DEGREES: Final = (  # common words for degrees of harm, mildest first
    frozenset(("info", "informational", "low", "minor", "slight", "trivial")),
    frozenset(("average", "medium", "moderate", "normal")),
    frozenset(("high", "important", "major", "serious", "severe")),
    frozenset(("blocker", "blocking", "critical", "fatal", "gate", "highest")),
)
MAX_WORDS: Final = 6  # in the help for a missing key
LEAST_PERCENTAGE: Final = 5  # a smaller number above 1 is a slip of another kind
ASSIGNMENT: Final = re.compile(r"\s*([\w-]+) *= *(\S.*)")
CONDITIONS: Final = frozenset(("assert", "condition", "expect", "if", "must", "require", "rule", "when"))
DEMANDS: Final = frozenset(("assert", "expect", "must", "require"))  # conditions that are to hold
DECIDING: Final = frozenset(("fail", "pass", "prompt", "routing", "use"))  # keys that decide a check


def by_meaning(word: str, meanings: dict[str, str]) -> str | None:
    """The allowed word whose explanation in the schema contains the author's word."""
    meant = suggest(word, meanings.values())
    return next((each for each, meaning in meanings.items() if meaning == meant), None)


def by_degree(word: str, allowed: Iterable[str]) -> str | None:
    """The only allowed word for the degree of harm that the author's word names."""
    degree = next((each for each in DEGREES if word.casefold() in each), frozenset[str]())
    near = [each for each in allowed if each.casefold() in degree]
    return near[0] if len(near) == 1 else None


def meaning(name: str, schema: JsonObject) -> str | None:
    """The help for a missing key: what it means, and its words if they are few; None without a description."""
    described = schema.get("description")
    if described is None:
        return None
    words = _words(schema)
    form = mapping_of_words(schema.get("properties", {})) or (f"`{words}`" if words else "")
    others = declared_by(schema.get("x-vocabulary"))
    return f"`{name}`: {described}{form and f' ({form})'}{others and f'; {others}'}"


def declared_by(part: str | None) -> str:
    """The help that names the part of the vocabulary that declares other words; empty without one."""
    return f"other words are declared by `vocabulary: {{{part}: [...]}}` in the project file" if part else ""


def mapping_of_words(properties: dict[str, JsonObject]) -> str:
    """A mapping as it is written, if each of its properties takes one of a few words; else an empty text."""
    words = {name: _words(schema) for name, schema in properties.items()}
    return (
        f"`{{{', '.join(f'{name}: {each}' for name, each in words.items())}}}`" if words and all(words.values()) else ""
    )


def _words(schema: JsonObject) -> str:
    words = schema.get("enum", ())
    return "|".join(map(str, words)) if len(words) <= MAX_WORDS else ""


def number_meant(keyword: str, bound: float, value: float) -> str | None:
    """The share that a percentage means, 0.8 for 80, or that lost its zero, 0.85 for 8.5; or the number without its
    sign where none may be negative."""
    if keyword == "maximum":
        scale = 10 if value < 10 and value % 1 else 100
        return str(float(Decimal(str(value)) / scale)) if bound == 1 and LEAST_PERCENTAGE <= value <= 100 else None
    is_negative = keyword == "minimum" and bound >= 0 and -value >= bound
    return str(-value) if is_negative and value < 0 else None


def in_document(found: Diagnostic, node: Node, properties: Container[str]) -> Diagnostic:
    """Return the finding that a document is not a mapping, with help for lines with `=` and for a list of patterns."""
    if isinstance(node, Sequence) and "patterns" in properties:
        return dataclass_replace(found, help="write the list below `patterns:`")
    lines = node.source.text[node.start : node.end].splitlines() if isinstance(node, Scalar) else []
    pairs = [ASSIGNMENT.fullmatch(line) for line in lines]
    if not pairs or None in pairs:
        return found
    written = "\n".join(f"{pair[1]}: {pair[2]}" for pair in pairs if pair)
    return dataclass_replace(found, fix=replace(node, written, "write `key: value` on each line", safe=False))


def synonym(name: str, properties: Container[str]) -> str | None:
    """The known key that is a synonym of `name`."""
    return next((other for other in SYNONYMS.get(name, ()) if other in properties), None)


def _known_by_another_name(name: str, properties: frozenset[str]) -> str | None:
    """The known key that is a synonym of `name` or was misspelt."""
    return suggest(name, properties) or synonym(name, properties)


def elsewhere(path: str, name: str, properties: Container[str]) -> str | None:
    """The help for a key of the mapping at `path` that other tools have, and that is written elsewhere here."""
    if not path and name == "model" and "prompt" in properties:
        return "the judge is named in the project file as `judge.source`, or by `--judge`"
    return _OF_JUDGES.get(name) if path == "judge" else None


def key_without_colon(node: Mapping, name: str, properties: Iterable[str]) -> Fix | None:
    """The fix that adds a colon, or the space after it, behind the key that begins an entry in braces, or is before
    them; None if there is none."""
    entry, (word, _, rest) = node.index[name], name.partition(":" if name.partition(":")[0] in properties else " ")
    is_lone = isinstance(entry.value, Scalar) and entry.value.value is None and entry.key.style == ""
    is_before = entry.key.style == "" and rest[:1] in ("{", "[")
    if not (is_lone or is_before) or not rest or word not in properties or word in node:
        return None
    return replace(entry.key, f"{word}: {rest}", f"write `{word}: {shorten(rest)}`", safe=False)


def condition_meant(node: Mapping, name: str, properties: Container[str]) -> str | None:
    """The key of a check that an unknown condition is meant for: `fail` or `pass` if nothing decides the check, else
    `applies`; None for a condition over the scenario, which belongs under `eligibility`."""
    if name not in CONDITIONS or "fail" not in properties or "eligibility" not in properties:
        return None
    if DECIDING.isdisjoint(each if each in properties else synonym(each, DECIDING) for each in node.keys):
        return "pass" if name in DEMANDS else "fail"
    condition = plain(node.index[name].value)
    return "applies" if isinstance(condition, str) and not re.search(r"\bscenario\b", condition) else None


def parameter_meant(node: Mapping, name: str, properties: frozenset[str]) -> Fix | None:
    """The fix that moves a key of a check under `params`, where its expression or the ready check reads it."""
    entry = node.index[name]
    if "params" not in properties or "params" in node or not isinstance(entry.value, Scalar):
        return None
    of_ready_check = "use" in node and "use" in properties and not _known_by_another_name(name, properties)
    if not of_ready_check and name not in _parameters_read(node.source.text):
        return None
    return replace(entry.key, f"params:\n  {entry.key.raw}", "write it below `params`", safe=False)


@lru_cache(maxsize=1)  # each unknown key of a file asks
def _parameters_read(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\bparams\.(\w+)", text))


def misplaced(kind: str, found: Iterable[Violation], root: Node) -> Iterator[tuple[Steps, Diagnostic]]:
    """The keys that are refused as a name, and that a mapping around or below does not have, each with its finding."""
    places = {each.steps[:end] for each in found for end in range(1, len(each.steps) + 1)}
    for place in sorted(places, key=lambda each: (len(each), str(each))):
        holder, name = descend(root, *place[:-1]), place[-1]
        if isinstance(holder, Mapping) and isinstance(name, str) and (home := _home(kind, root, place)) is not None:
            where = f"under `{written_path(kind, home)}`" if home else "at the top level"
            message = f"unknown key `{name}` in `{written_path(kind, tuple(map(str, place[:-1])))}`"
            finding = error(holder.key_span(name), message, code="unknown-key", help=f"`{name}` belongs {where}")
            yield place, dataclass_replace(finding, about=".".join((*home, name)))


def _home(kind: str, root: Node, place: Steps) -> tuple[str, ...] | None:
    """The path of the key's own mapping, which lacks it; None if the key may be where it does."""
    known = keys_of(kind)
    named = descend(root, *place)
    held = [(*place, key) for key in named.keys] if isinstance(named, Mapping) else []
    if any(_fits(each, path) for each in (place, *held) for path in known if path[-1] != EACH):
        return None
    homes = [path[:-1] for path in known if path[-1] == place[-1] and _is_around(path[:-1], place[:-1])]
    return next(
        (each for each in homes if any(str(place[-1]) not in one for one in _mappings(root, each, place))), None
    )


def _fits(steps: Steps, path: tuple[str, ...]) -> bool:
    return len(steps) == len(path) and _is_around(path, steps)


def _is_around(path: tuple[str, ...], steps: Steps) -> bool:
    """Whether a path contains the place, or the place the path."""
    return all(part in (EACH, step) for part, step in zip(path, steps, strict=False))


def _mappings(node: Node | None, path: tuple[str, ...], place: Steps) -> Iterator[Mapping]:
    """The mappings at a path, of those around a place only these."""
    if not path:
        yield from [node] if isinstance(node, Mapping) else []
    elif isinstance(node, Mapping):
        around = place[:1] if len(place) > 1 else node.keys if path[0] == EACH else path[:1]
        for step in around:
            yield from _mappings(node.get(str(step)), path[1:], place[1:])
    elif isinstance(node, Sequence) and path[0] == EACH:
        for item in [descend(node, place[0])] if len(place) > 1 else node.items:
            yield from _mappings(item, path[1:], place[1:])
