"""Realistic mistakes: random single slips in projects without findings.

A slip is an edit of one document. Its kinds are weighed as authors make them, and each is drawn from a whole project:
its keys, its values, its references, its expressions, its punctuation.
"""

import random
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from tests.compiler.linting.breaking import KINDS, choices, properties, required, walk

from rulewright.documents.base import descend
from rulewright.documents.kinds import kind_of
from rulewright.documents.vocabulary import Vocabulary, invisiblebench, read_vocabulary, schema_in
from rulewright.load import Entry, Mapping, Node, Scalar, Sequence, load_text, plain

ROOT: Final = Path(__file__).parents[3]


class Project(NamedTuple):
    """A shipped project: its folder, what is copied of it, the documents in it, what is linted, and its weight."""

    folder: str
    parts: tuple[str, ...]
    patterns: tuple[str, ...]
    entry: str
    weight: int


_CARE: Final = (
    "checks",
    *(f"benchmark/{each}" for each in ("rulewright.yaml", "configs", "scenarios", "corpora", "judge_replies")),
)
PROJECTS: Final[dict[str, Project]] = {
    "service_desk": Project("benchmark/service_desk", (".",), ("**/*.yaml",), ".", 4),
    "rag": Project("benchmark/rag", (".",), ("**/*.yaml",), ".", 2),
    "coding_agent": Project("benchmark/coding_agent", (".",), ("**/*.yaml",), ".", 3),
    "workflows": Project("benchmark/workflows", (".",), ("*.yaml",), ".", 2),
    "safe": Project("benchmark/safe", (".",), ("**/*.json", "cases/**/*.jsonl"), ".", 2),
    "scorers": Project(
        "benchmark", ("configs", "scorers"), ("scorers/*.yaml", "scorers/[lcs]*/*.*"), "scorers/rulewright.yaml", 2
    ),
    "care": Project(
        ".",
        _CARE,
        (
            "checks/*.yaml",
            "checks/[lms]*[es]/*.yaml",
            "benchmark/configs/**/*.yaml",
            "benchmark/scenarios/*.json",
            "benchmark/rulewright.yaml",
        ),
        "benchmark/rulewright.yaml",
        3,
    ),
}


class Edit(NamedTuple):
    """A replacement; `around` is the place of something left out."""

    start: int
    end: int
    text: str
    around: Node | None = None


class DocumentValue(NamedTuple):
    """A value of a document, the entry and the mapping or list that hold it, and its schemas."""

    node: Node
    entry: Entry | None
    holder: Node | None
    schemas: tuple[dict[str, Any], ...]
    is_known: bool  # by its key
    is_required: bool

    def of(self, keyword: str) -> Any:
        """What the schemas say under a keyword."""
        return next((each[keyword] for each in self.schemas if keyword in each), None)

    @property
    def key(self) -> str:
        """The key that the value stands under, or nothing."""
        return "" if self.entry is None else self.entry.name


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a project in which a slip happens; `names` are those that the project defines."""

    path: str
    text: str
    document_values: tuple[DocumentValue, ...]
    names: frozenset[str]

    @property
    def is_json(self) -> bool:
        """Whether it is written in JSON."""
        return self.path.endswith((".json", ".jsonl"))

    @property
    def words(self) -> Iterator[tuple[DocumentValue, Scalar, str]]:
        """The texts."""
        for spot in self.document_values:
            if isinstance(spot.node, Scalar) and isinstance(spot.node.value, str):
                yield spot, spot.node, spot.node.value

    @property
    def entries(self) -> Iterator[tuple[DocumentValue, Entry]]:
        """The values that stand under a key which the schema names, and is long enough to be misspelt."""
        for spot in self.document_values:
            if spot.entry is not None and spot.is_known and len(spot.key) > 3:
                yield spot, spot.entry

    @property
    def parameters(self) -> Iterator[tuple[DocumentValue, Entry]]:
        """The parameters of a check that its expression reads."""
        used = set(re.findall(r"params\.(\w+)", self.text))
        for spot in self.document_values:
            if spot.entry is not None and spot.key in used:
                yield spot, spot.entry

    def in_conditions(self, pattern: str) -> Iterator[re.Match[str]]:
        """Where a pattern occurs in expressions."""
        for spot, node, value in self.words:
            if spot.key in _CONDITIONAL and _CONDITION.search(value):
                yield from re.compile(pattern, re.MULTILINE).finditer(self.text, node.start, node.end)


Slip: TypeAlias = Callable[[Document, random.Random], Iterator[Edit]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A document with one slip; `lines` are those where it is seen."""

    kind: str
    project: str
    path: str
    text: str
    lines: range


_CONDITIONAL: Final = frozenset(
    [
        "fail", "pass", "when", "of", "stops", "undecided", "decision", "service", "weight", "passed", "overall",
        "unanswered", "eligible", "resolved",
    ]
)  # fmt: skip
_CONDITION: Final = re.compile(r"[=<>!]=|[<>]| in |\w\(|^\w+\.\w+")
_BESIDE: Final = dict(zip("abcdefghiklmnoprstuvwxyz", "svxfrdghjukoknbptdrziqcz", strict=True))
_LOOSE: Final = ("high", "critical", "strict", "default", "auto", "all", "warn", "low", "always", "required", "llm")
_OWN: Final = frozenset(("id", "name", "scorecard", "scenario_id", "project", "note", "test_id", "batch_id", "kind"))
_FILES: Final = frozenset(("file", "script", "path", "source"))
_PLACES: Final = _FILES.union(
    ("checks", "lexicons", "scorecards", "scenarios", "profiles", "scoring", "rules", "corpora")
)


def typo(word: str, chance: random.Random) -> str:
    """Return the word with one letter swapped, doubled, mistyped or left out."""
    at = chance.choice([at for at in range(1, len(word) - 1) if word[at].isalpha()] or [0])
    here, following = word[at], word[at + 1 : at + 2]
    match chance.randrange(4):
        case 0 if following.isalpha() and following != here:
            return word[:at] + following + here + word[at + 2 :]
        case 1:
            return word[:at] + here + word[at:]
        case 2 if here in _BESIDE:
            return word[:at] + _BESIDE[here] + word[at + 1 :]
        case _:
            return word[:at] + word[at + 1 :]


def over(node: Scalar, text: str) -> Edit:
    """The scalar's text replaced, in its quotes."""
    quote = node.raw[0] if node.style in ("'", '"', "j") else ""
    return Edit(node.start, node.end, f"{quote}{text}{quote}")


def without(spot: DocumentValue) -> Iterator[Edit]:
    """Remove the entry, unless it is the only one of its mapping."""
    if isinstance(spot.holder, Mapping) and spot.entry is not None and len(spot.holder.entries) > 1:
        entries = spot.holder.entries
        at = entries.index(spot.entry)
        if at + 1 < len(entries):
            yield Edit(spot.entry.key.start, entries[at + 1].key.start, "", spot.holder)
        else:
            yield Edit(entries[at - 1].value.end, spot.entry.value.end, "", spot.holder)


def key_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for _, entry in document.entries:
        yield over(entry.key, typo(entry.name, chance))


def key_in_other_style(document: Document, chance: random.Random) -> Iterator[Edit]:
    for _, entry in document.entries:
        camel = re.sub(r"_(\w)", lambda match: match[1].upper(), entry.name)
        yield over(entry.key, chance.choice([entry.name.replace("_", "-"), entry.name.capitalize(), camel]))


def key_left_out(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot, _entry in document.entries:
        if spot.is_required:
            yield from without(spot)


def key_twice(document: Document, _: random.Random) -> Iterator[Edit]:
    for found in re.finditer(r"^ *[a-z_]+: [^\n|>{[]+\n", document.text, re.MULTILINE):
        yield Edit(found.end(), found.end(), found[0])


def word_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        if spot.of("enum") and len(word) > 3:
            yield over(node, typo(word, chance))


def other_word(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, _ in document.words:
        if spot.of("enum"):
            yield over(node, chance.choice([word for word in _LOOSE if word not in spot.of("enum")]))


def word_case(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        if spot.of("enum"):
            yield over(node, word.swapcase())


def wrong_type(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot in document.document_values:
        node, quote = spot.node, '"' if document.is_json else chance.choice(["'", '"'])
        if spot.of("type") not in ("integer", "number", "boolean", "array") or not spot.is_known:
            continue
        if isinstance(node, Sequence) and (joined := _joined(node)):
            yield Edit(node.start, node.end, f"{quote}{joined}{quote}")
        elif isinstance(node, Scalar) and isinstance(node.value, bool):
            yield Edit(node.start, node.end, chance.choice([f"{quote}{node.raw}{quote}", str(int(node.value))]))
        elif isinstance(node, Scalar) and isinstance(node.value, int | float):
            other = chance.choice([f"{quote}{node.raw}{quote}", f"{quote}{node.raw} times{quote}", "true"])
            yield Edit(node.start, node.end, other)


def _joined(node: Sequence) -> str:
    return ", ".join(str(item.value) for item in node.items if isinstance(item, Scalar))


def out_of_range(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot in document.document_values:
        if spot.of("minimum") is not None and isinstance(spot.node, Scalar) and spot.node.value:
            yield Edit(spot.node.start, spot.node.end, f"-{spot.node.value}")


def percent(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot in document.document_values:
        share = spot.node.value if isinstance(spot.node, Scalar) and spot.of("maximum") == 1 else 0
        if share and isinstance(share, int | float):
            yield Edit(spot.node.start, spot.node.end, f"{share * 100:g}")


def value_left_out(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot, entry in document.entries:
        if isinstance(spot.node, Scalar) and spot.node.style == "" and spot.is_required:
            yield Edit(entry.key.end + 1, spot.node.end, "")


def list_emptied(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot in document.document_values:
        if isinstance(spot.node, Sequence) and spot.of("minItems") and document.text[spot.node.start] == "[":
            yield Edit(spot.node.start, spot.node.end, "[]")


def item_twice(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot in document.document_values:
        items = spot.node.items if isinstance(spot.node, Sequence) and spot.is_known else ()
        if items and all(isinstance(item, Scalar) for item in items) and document.text[spot.node.start] == "[":
            item = chance.choice(items)
            yield Edit(items[-1].end, items[-1].end, f", {document.text[item.start : item.end]}")


def verdict_in_two_lists(document: Document, chance: random.Random) -> Iterator[Edit]:
    for found in re.finditer(r"hit: \[([A-Z]+)\],?\s+miss: \[(?=[A-Z])", document.text):
        yield Edit(found.end(), found.end(), f"{found[1]}, ")


def reference_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        if word in document.names and len(word) > 2 and spot.key not in _OWN:
            yield over(node, typo(word, chance))


def path_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        is_place = spot.key in _PLACES and re.fullmatch(r"[\w./-]+", word) and word not in document.names
        if is_place and ("/" in word or spot.key not in _FILES):
            yield over(node, typo(word, chance))


def id_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        if spot.key in ("id", "scenario_id", "scorecard") and word == Path(document.path).stem:
            yield over(node, typo(word, chance))


def id_of_another(document: Document, chance: random.Random) -> Iterator[Edit]:
    for spot, node, word in document.words:
        others = [name for name in sorted(document.names) if name[:3] == word[:3] and name != word]
        if spot.key in ("id", "scenario_id", "test_id") and word in document.names and others:
            yield over(node, chance.choice(others))


def own_ancestor(document: Document, _: random.Random) -> Iterator[Edit]:
    for found in re.finditer(r"^extends: (\S+)$", document.text, re.MULTILINE):
        yield Edit(found.start(1), found.end(1), Path(document.path).name)


def waits_for_itself(document: Document, _: random.Random) -> Iterator[Edit]:
    for found in re.finditer(r"^  (\w+):\n(?:   .*\n)*?    dependencies: \[(\w+)\]", document.text, re.MULTILINE):
        yield Edit(found.start(2), found.end(2), found[1])


def bounds_swapped(document: Document, _: random.Random) -> Iterator[Edit]:
    pairs = r'("(?:pass|from_turn)": )([\d.]+)(,\s+"(?:review|to_turn)": )([\d.]+)'
    for found in re.finditer(pairs, document.text):
        if found[2] != found[4]:
            yield Edit(found.start(), found.end(), f"{found[1]}{found[4]}{found[3]}{found[2]}")


def misspelt(pattern: str) -> Slip:
    """A word in an expression, misspelt."""

    def slips(document: Document, chance: random.Random) -> Iterator[Edit]:
        for found in document.in_conditions(pattern):
            yield Edit(found.start(), found.end(), typo(found[0], chance))

    return slips


def in_conditions(pattern: str, *others: str) -> Slip:
    """Something in an expression, written otherwise."""

    return written_otherwise(lambda document: document.in_conditions(pattern), others)


def written_otherwise(find: Callable[[Document], Iterable[re.Match[str]]], others: tuple[str, ...]) -> Slip:
    """What is found in a document, written in one of the other forms."""

    def slips(document: Document, chance: random.Random) -> Iterator[Edit]:
        for found in find(document):
            yield Edit(found.start(), found.end(), found.expand(chance.choice(others)))

    return slips


def parameter_typo(document: Document, chance: random.Random) -> Iterator[Edit]:
    for _, entry in document.parameters:
        yield over(entry.key, typo(entry.name, chance))


def parameter_left_out(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot, _entry in document.parameters:
        yield from without(spot)


def parameter_of_another_type(document: Document, _: random.Random) -> Iterator[Edit]:
    for spot, _entry in document.parameters:
        node = spot.node
        if isinstance(node, Sequence) and document.text[node.start] == "[" and (joined := _joined(node)):
            yield Edit(node.start, node.end, joined)
        elif isinstance(node, Scalar) and isinstance(node.value, int | float):
            yield Edit(node.start, node.end, f'"{node.raw}"')


def in_yaml(pattern: str, *others: str) -> Slip:
    """A slip of YAML."""

    return written_otherwise(
        lambda document: () if document.is_json else re.finditer(pattern, document.text, re.MULTILINE), others
    )


def in_json(pattern: str, *others: str) -> Slip:
    """A slip of JSON."""

    return written_otherwise(lambda document: re.finditer(pattern, document.text) if document.is_json else (), others)


_PROSE: Final = r"^( *(?:note|description|pass_rule|fail_rule): )"
SLIPS: Final[dict[str, tuple[int, Slip]]] = {
    "key-typo": (12, key_typo),
    "key-in-other-style": (3, key_in_other_style),
    "key-left-out": (6, key_left_out),
    "key-twice": (2, key_twice),
    "word-typo": (8, word_typo),
    "other-word": (4, other_word),
    "word-case": (2, word_case),
    "wrong-type": (6, wrong_type),
    "out-of-range": (3, out_of_range),
    "percent": (3, percent),
    "value-left-out": (2, value_left_out),
    "list-emptied": (2, list_emptied),
    "item-twice": (2, item_twice),
    "verdict-in-two-lists": (1, verdict_in_two_lists),
    "reference-typo": (8, reference_typo),
    "path-typo": (2, path_typo),
    "id-typo": (3, id_typo),
    "id-of-another": (3, id_of_another),
    "own-ancestor": (1, own_ancestor),
    "waits-for-itself": (1, waits_for_itself),
    "bounds-swapped": (1, bounds_swapped),
    "name-typo": (4, misspelt(r"\b(?<![.\"'])([a-z_]{4,})(?=\.\w)")),
    "function-typo": (5, misspelt(r"\b[a-z_]{4,}(?=\()")),
    "field-typo": (6, misspelt(r"(?<=[a-z]\.)([a-z_]{4,})\b(?!\()")),
    "literal-typo": (
        5,
        misspelt(
            r"(?<=[!=]= )(?!params|given|call|other)[A-Za-z]{4,}\b(?!\.)|(?<=role == \")\w{4,}|(?<=\[)[A-Z]{4,}(?=[],])"
        ),
    ),
    "assignment": (3, in_conditions(r" == ", " = ", " === ")),
    "and": (1, in_conditions(r" (?:and|&&) ", " & ", " AND ", " adn ")),
    "or": (1, in_conditions(r" (?:or|\|\|) ", " | ", " OR ")),
    "comparison": (1, in_conditions(r" (?:>|<|!)=? ", " => ", " =< ", " <> ")),
    "bracket-of-expression": (3, in_conditions(r"\)|\(", "", "", "))")),
    "quote-of-expression": (3, in_conditions('(?<=[a-z])"|"(?=[a-z])', "")),
    "argument-left-out": (2, in_conditions(r"(?<=[a-z]), ([\w.]+|\"[^\"]*\")(?=\))", "")),
    "text-for-number": (1, in_conditions(r"(?<=[=<>] )(\d+)(?![\w.\]])", r'"\1"')),
    "condition-cut": (1, in_conditions(r" (?:==|<|>|and|&&) [\w.\"]+$", " ==")),
    "parameter-typo": (3, parameter_typo),
    "parameter-left-out": (1, parameter_left_out),
    "parameter-of-another-type": (2, parameter_of_another_type),
    "indented-more": (4, in_yaml(r"^( *)(?=[a-z_]+:)", r"\1 ", r"\1  ")),
    "indented-less": (3, in_yaml(r"^( *)  (?=[a-z_]+:)", r"\1", r"\1 ")),
    "tab": (2, in_yaml(r"^( *)  (?=[a-z-])", "\\1\t")),
    "equals-sign": (2, in_yaml(r"^( *[a-z_]{3,}): ", r"\1 = ", r"\1=")),
    "no-blank": (2, in_yaml(r"^( *[a-z_]{3,}:) (?=\w)", r"\1")),
    "no-colon": (2, in_yaml(r"^( *[a-z_]{3,}):(?= |$)", r"\1")),
    "colon-in-text": (2, in_yaml(_PROSE + r"(?=[A-Z])", r"\1Note: ")),
    "apostrophe": (2, in_yaml(_PROSE + r"(\w.*)$", r"\1'It doesn't. \2'")),
    "quote-lost": (3, in_yaml(r"(?<=: )([\"'])([^\"'\n]*)\1$", r"\1\2", r"\2\1")),
    "quote-opened": (2, in_yaml(r"(?<=: )(?=[a-z_]+$)", '"', "'")),
    "bracket-lost": (3, in_yaml(r"(?<=[a-zA-Z\"'])[\]}]$|(?<=: )[\[{](?=\w)", "")),
    "yes": (2, in_yaml(r": (?:true|false)$", ": yes", ": no", ": on")),
    "dash-glued": (1, in_yaml(r"^( +-) (?=\w)", r"\1")),
    "bullet": (1, in_yaml(r"^( *)- (?=[a-z])", r"\1* ", "\\1\u2022 ")),
    "comma-behind-item": (1, in_yaml(r"^( +- [a-z][a-z ]+)$", r"\1,")),
    "block-sign-lost": (1, in_yaml(r"^(prompt:) \|$", r"\1")),
    "single-braces": (1, in_yaml(r"\{\{ (check\.id) \}\}", r"{ \1 }", r"${\1}", r"{{ \1 }")),
    "regex-key-lost": (1, in_yaml(r"(?<=- )regex: (?=')", "")),
    "regex-in-double-quotes": (1, in_yaml(r"(?<=regex: )'([^'\"\n]*\\b[^'\"\n]*)'$", r'"\1"')),
    "dash-of-mapping": (1, in_yaml(r"^(output|gates|rates|tasks):\n  (?=\w)", r"\1:\n  - ")),
    "lists-swapped": (1, in_yaml(r"hit: \[PASS\](,?\s+)miss: \[FAIL", r"hit: [FAIL]\1miss: [PASS")),
    "tool-typo": (2, misspelt(r'(?<=\.name == ")\w{4,}|(?<=\(tool_calls, ")\w{4,}')),
    "index-past-the-end": (1, in_conditions(r"(size\(\w+\)) - 1", r"\1")),
    "json-comma": (2, in_json(r"([\]\"\d}]),(?=\n)", r"\1")),
    "json-last-comma": (2, in_json(r"(?<=[\]\"\d}])(?=\n *[\]}])", ",")),
    "json-quote": (2, in_json(r"\"(\w+)\":", r"\1:", r"'\1':", r'"\1:')),
    "json-bracket": (1, in_json(r"(?<=\n)( *)[\]}],?(?=\n)", r"\1")),
    "json-word": (1, in_json(r"\b(?:true|false)\b", "True", "False")),
    "regex": (1, in_yaml(r"(?<=regex: ')(.*)\)(?=.*'$)", r"\1", r"\1))", r"(?<!not )\1)")),
}


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """Yield slips, drawn by their weights and those of the projects."""
    chance = random.Random(seed)
    names, weights = list(PROJECTS), [each.weight for each in PROJECTS.values()]
    kinds, shares = list(SLIPS), [share for share, _ in SLIPS.values()]
    while count:
        kind, project = chance.choices(kinds, shares)[0], chance.choices(names, weights)[0]
        possible = edits(kind, project, seed)
        mutant = _mutant(kind, project, *chance.choice(possible)) if possible else None
        if mutant is not None:
            yield mutant
            count -= 1


@cache
def edits(kind: str, project: str, seed: int) -> tuple[tuple[Document, Edit], ...]:
    """Every slip of a kind in a project that changes a document."""
    chance, slip = random.Random(seed), SLIPS[kind][1]
    found = [(document, edit) for document in documents(project) for edit in slip(document, chance)]
    return tuple((document, edit) for document, edit in found if document.text[edit.start : edit.end] != edit.text)


def _mutant(kind: str, project: str, document: Document, edit: Edit) -> Mutant | None:
    """Return the document with the slip, or None if its content is unchanged."""
    changed = document.text[: edit.start] + edit.text + document.text[edit.end :]
    root = load_text(changed, document.path).root
    if root is not None and plain(root) == plain(load_text(document.text, document.path).root):
        return None
    first = document.text.count("\n", 0, edit.start if edit.around is None else edit.around.start) + 1
    last = changed.count("\n", 0, edit.start + len(edit.text)) + 1
    return Mutant(kind, project, document.path, changed, range(first, last + 1))


@cache
def documents(name: str) -> tuple[Document, ...]:
    """The documents of a project."""
    project = PROJECTS[name]
    root = ROOT / project.folder
    files = sorted({path for pattern in project.patterns for path in root.glob(pattern)})
    loaded = {path: load_text(path.read_text(encoding="utf-8"), str(path)) for path in files}
    own = [each.root.get("vocabulary") for each in loaded.values() if isinstance(each.root, Mapping)]
    vocabulary = next((read_vocabulary(each, name) for each in own if each is not None), invisiblebench())
    names = frozenset({path.stem for path in files} | {each for one in loaded.values() for each in _named(one.root)})
    return tuple(
        Document(str(path.relative_to(root)), each.source.text, tuple(_document_values(each.root, vocabulary)), names)
        for path, each in loaded.items()
        if each.root is not None
    )


def _named(root: Node | None) -> Iterator[str]:
    """The tasks, gates, rates and test cases that a document names."""
    for group in ("tasks", "gates", "dimensions", "rates", "adapters", "test_cases"):
        held = root.get(group) if isinstance(root, Mapping) else None
        yield from held.keys if isinstance(held, Mapping) else ()
        for item in held.items if isinstance(held, Sequence) else ():
            name = item.get("test_id") if isinstance(item, Mapping) else None
            yield from [str(name.value)] if isinstance(name, Scalar) else []


def _document_values(root: Node | None, vocabulary: Vocabulary) -> Iterator[DocumentValue]:
    kind = kind_of(root)
    places = {each.path: each for each in walk(plain(root), schema_in(kind, vocabulary) if kind in KINDS else {})}
    for path, place in places.items():
        node, holder = descend(root, *path), descend(root, *path[:-1]) if path else None
        entry = holder.index[str(path[-1])] if isinstance(holder, Mapping) else None
        above = places[path[:-1]] if entry is not None else None
        known = above is not None and (path[-1] in properties(above) or not above.schema)
        needed = above is not None and path[-1] in required(above)
        if node is not None:
            yield DocumentValue(node, entry, holder, tuple(choices(place)), known, needed)


def copied(name: str, folder: Path) -> tuple[Path, Path]:
    """A copy of a project to be changed: its folder, and what is linted of it."""
    project = PROJECTS[name]
    for part in project.parts:
        origin, place = ROOT / project.folder / part, folder / part
        if origin.is_dir():
            shutil.copytree(origin, place)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin, place)
    return folder, folder / project.entry
