"""Validates documents against their JSON Schemas: maps violations to findings with spans, in our words."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Many
from functools import cache
from itertools import combinations, pairwise, takewhile
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace as dataclass_replace

from rulewright.diagnostics import (
    QUOTES,
    Diagnostic,
    Edit,
    Findings,
    Fix,
    Guess,
    Note,
    error,
    in_order,
    replace,
    respell,
)
from rulewright.documents.base import descend, first_place, owner_place
from rulewright.documents.schema_violations import (
    FiniteValidator,
    Steps,
    Violation,
    is_choice,
    is_mapping,
    primary,
    properties_of,
    validator_of,
    violations_of,
    without_missing,
)
from rulewright.documents.suggestions import (
    MAIN_KEYS,
    by_degree,
    by_meaning,
    condition_meant,
    declared_by,
    elsewhere,
    in_document,
    key_without_colon,
    mapping_of_words,
    meaning,
    misplaced,
    number_meant,
    parameter_meant,
    synonym,
)
from rulewright.documents.vocabulary import Vocabulary, invisiblebench, schema_in
from rulewright.fixes import as_text
from rulewright.load import Entry, Mapping, Node, Scalar, Sequence, is_text, plain
from rulewright.load.load_errors import shorten
from rulewright.spelling import suggest
from rulewright_runtime.english import either, ticked
from rulewright_runtime.strict_json import JsonObject

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


Owners: TypeAlias = dict[str, tuple[str, ...]]  # a key: the paths where it is known

TRUTH: Final = {
    **dict.fromkeys(("yes", "on", "y", "true"), "true"),
    **dict.fromkeys(("no", "off", "n", "false"), "false"),
}
WHOLE: Final = re.compile(r"0|-?[1-9][0-9]*")
AMOUNT: Final = re.compile(r"[$€£]? ?(0|[1-9][0-9]*)(?:[.,]([0-9]{1,2}))? ?[$€£]?")
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
ASSIGNED: Final = re.compile(r"([\w-]+)(?: *= *|:(?!//))(\S.*)")
PLAIN: Final = re.compile(r"-?[\w.$/][\w.$%/+-]*(?: [\w.$%/+-]+)*")  # a value that needs no quotes in YAML
LISTED: Final = re.compile(r"[\w.-]+(?:, *[\w.-]+)*")
TAGGED: Final = re.compile(r"(?<![^\s\[{,])!\S*(?<![:,])\s+(?:&\S+\s+)?$")  # what is before a value
ONE_DOCUMENT: Final = "write one document per file: each entry, without its `- `, in a file of its own"
STRUCTURE_CODES: Final = frozenset(("missing-key", "out-of-range", "unknown-key", "unknown-value", "wrong-type"))
NAMES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}


def validate(kind: str, root: Node, vocabulary: Vocabulary | None = None) -> list[Diagnostic]:
    """The findings for every violation of the schema called `kind`, in file order; without a vocabulary, with the words
    of the default one."""
    return _violations(validator_of(kind, vocabulary or invisiblebench()), root, _owners(kind), kind)


def violations(schema: JsonObject, root: Node) -> list[Diagnostic]:
    """The findings for every violation of a schema that this or another document declares."""
    return _violations(FiniteValidator(schema), root, {})


def _violations(validator: Validator, root: Node, owners: Owners, kind: str = "") -> list[Diagnostic]:
    found = violations_of(root, validator)
    beside = dict(_beside(found, root))
    beside = dict(misplaced(kind, found, root) if kind and not beside else ()) | beside
    found = list(without_missing(found, {str(place[-1]) for place in beside}))
    found = [each for each in found if not any(each.steps[:end] in beside for end in range(len(each.steps) + 1))]
    swapped = list(_swapped(found))
    paired = {id(each) for pair in swapped for each in pair}
    others = [each for each in found if id(each) not in paired]
    findings = [_swap(*pair, root) for pair in swapped]
    findings += beside.values()
    findings += [
        each for group in _lists(others, root) for each in _together([_findings_of(one, root, owners) for one in group])
    ]
    return list(in_order(findings))


def _beside(found: list[Violation], root: Node) -> Iterator[tuple[Steps, Diagnostic]]:
    """The places of what belongs below a key that holds nothing and is next to it, with the key's finding."""
    refused = {each.steps for each in found}  # their unknown keys are reported
    for each in found:
        parent = descend(root, *each.steps[:-1]) if each.keyword == "type" and each.value is None else None
        if each.steps[:-1] in refused or not (each.steps and isinstance(parent, Mapping)):
            continue
        key = str(each.steps[-1])
        names = list(takewhile(each.properties.__contains__, parent.keys[parent.keys.index(key) + 1 :]))
        if names and (fix := _further_in(parent, names, _before(parent).get(names[0]), [], frozenset({key}))):
            (wrong,) = _type(each, parent.index[key].value, _path(each.steps), {})
            notes = tuple(Note(parent.key_span(name), "indented too little") for name in names)
            wrong = dataclass_replace(wrong, notes=notes, help=fix.message, fix=fix)
            yield from (((*each.steps[:-1], name), wrong) for name in (key, *names))


def _swapped(found: Iterable[Violation]) -> Iterator[tuple[Violation, Violation]]:
    """Pairs of invalid words of two keys in a mapping, each allowed for the other key."""
    words: dict[Steps, list[Violation]] = {}  # by the mapping
    for each in found:
        if each.keyword == "enum" and isinstance(each.value, str) and each.steps:
            words.setdefault(each.steps[:-1], []).append(each)
    for one, other in (pair for group in words.values() for pair in combinations(group, 2)):
        if one.value in other.wanted and other.value in one.wanted:
            yield one, other


def _swap(one: Violation, other: Violation, root: Node) -> Diagnostic:
    """The finding that the values of two keys are swapped."""
    nodes = [descend(root, *each.steps) for each in (one, other)]
    (first, written), (second, meant) = [(node, node.text) for node in nodes if isinstance(node, Scalar)]
    message = f"`{one.steps[-1]}` is `{written}` and `{other.steps[-1]}` is `{meant}`; each is a value of the other key"
    edits = (*respell(first, meant, safe=False).edits, *respell(second, written, safe=False).edits)
    fix = Fix("swap the two", edits, safe=False)
    return error(
        first, message, code="unknown-value", notes=[(second, "the other value")], help="swap the two", fix=fix
    )


def _lists(found: Iterable[Violation], root: Node) -> Iterable[list[Violation]]:
    """The findings, with wrong types of list items on one line merged."""
    groups: dict[object, list[Violation]] = {}
    for each in found:
        is_item = each.keyword == "type" and each.steps and isinstance(each.steps[-1], int)
        node = descend(root, *each.steps) if is_item else None
        groups.setdefault(id(each) if node is None else (each.steps[:-1], node.span.line), []).append(each)
    return groups.values()


def _together(groups: Many[Iterable[Diagnostic]]) -> Findings:
    """The first finding of a group, with the spans of the others, which have the same cause."""
    found = [each for group in groups for each in group]
    if len(groups) == 1:
        yield from found
        return
    edits = tuple(edit for each in found if each.fix is not None for edit in each.fix.edits)
    safe = all(each.fix is not None and each.fix.safe for each in found)
    whole = Fix("correct each of them", edits, safe) if all(each.fix is not None for each in found) else None
    yield dataclass_replace(found[0], notes=tuple(Note(each.span, "here as well") for each in found[1:]), fix=whole)


def _findings_of(violation: Violation, root: Node, owners: Owners) -> Iterable[Diagnostic]:
    node = descend(root, *violation.steps)
    assert node is not None, violation.steps
    path = _path(violation.steps)
    if violation.of_a_key and isinstance(node, Mapping):
        node, path = node.index[violation.value].key, f"a key of {path}" if path else ""
    if violation.keyword == "anyOf":
        found = _of_alternatives(violation, root, node, path, owners)
    else:
        found = _WORDS[violation.keyword](violation, node, path, owners)
    if not isinstance(node, Mapping):
        return found
    first, owner = first_place(node), owner_place(root, violation.steps)
    of_owner = {("missing-key", first): owner}
    return [dataclass_replace(each, span=of_owner.get((each.code, each.span), each.span)) for each in found]


def _path(steps: Iterable[str | int]) -> str:
    """A path in a document for people: `turns[2].content`."""
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return written.removeprefix(".")


def _of_alternatives(violation: Violation, root: Node, node: Node, path: str, owners: Owners) -> Iterable[Diagnostic]:
    """The findings for a value and its most similar alternative."""
    options: list[JsonObject] = violation.wanted
    if isinstance(node, Mapping) and is_choice(violation):
        names = either([f"`{option['required'][0]}`" for option in options])
        return [error(first_place(node), f"{names} is missing{_where(path)}", code="missing-key")]
    types = [option.get("type") for option in options]
    known = [name for name in dict.fromkeys(types) if isinstance(name, str)]
    fits = [name for name in known if FiniteValidator.TYPE_CHECKER.is_type(violation.value, name)]
    if len(known) > 1 and None not in types and not fits:
        return [_wrong_type(node, path, [NAMES[name] for name in known])]
    if "string" in known and isinstance(node, Mapping) and (slip := _text_with_a_colon(node, path)):
        return [slip]
    by_option: dict[int, list[Violation]] = defaultdict(list)
    for each in violation.below:
        by_option[each.option].append(each)
    tried = [
        [found for each in primary(below) for found in _findings_of(each, root, owners)]
        for _, below in sorted(by_option.items())
    ]
    wrong = ("wrong-type", node.span)
    return min(
        tried, key=lambda found: (any((each.code, each.span) == wrong for each in found), len(found)), default=()
    )


def _text_with_a_colon(node: Mapping, path: str) -> Diagnostic | None:
    """The finding that a text with a colon and a space was read as a mapping."""
    (entry, *others) = node.entries or [None]
    if entry is None or others or entry.key.style or " " not in entry.name or not isinstance(entry.value, Scalar):
        return None
    text = node.source.text[entry.key.start : entry.value.end]
    if "\n" in text or '"' in text:
        return None
    message = f"{_subject(path)} must be text, not a mapping"
    fix = replace(node, f'"{text}"', "quote it", safe=False)
    return error(node, message, code="wrong-type", help="`: ` makes a mapping of a text without quotes", fix=fix)


def _type(violation: Violation, node: Node, path: str, _: Owners) -> Findings:
    wanted = violation.wanted
    found = _wrong_type(node, path, [NAMES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)])
    if (key := MAIN_KEYS.get(path)) and is_text(node):
        found = _of_main_key(found, node, key)
    elif found.help is None and violation.description and isinstance(node, Scalar) and node.value is None:
        found = dataclass_replace(found, help=f"write a value or delete the key; {_about(path, violation)}")
    elif violation.description.startswith("`["):
        found = dataclass_replace(found, fix=None, help=f"write {violation.description}")
    elif isinstance(node, Sequence) and violation.description.startswith("the folder"):
        found = dataclass_replace(found, help="write the name of a folder, which contains each in a file of its own")
    elif found.fix is None and (form := mapping_of_words(violation.named)):
        found = dataclass_replace(found, help=f"write {form}")
    elif not path and isinstance(node, Sequence) and any(isinstance(each, Mapping) for each in node.items):
        found = dataclass_replace(found, help=ONE_DOCUMENT)
    elif found.fix is None and "enabled" in violation.named and (switch := _switch(node)):
        found = dataclass_replace(found, fix=replace(node, switch, f"write `{switch}`", safe=True))
    elif found.fix is None and wanted == "object":
        found = dataclass_replace(found, help=_keys_of(violation) if violation.named else _entries_form(node))
    elif found.fix is None and found.help is None and violation.description and not isinstance(node, Scalar):
        found = dataclass_replace(found, help=_about(path, violation))
    yield found if path else in_document(found, node, violation.properties)


def _about(path: str, violation: Violation) -> str:
    return f"`{path.rpartition('.')[2]}` is {violation.description}"


def _entries_form(node: Node) -> str:
    """The help for what is written in place of a mapping of names; a list of named entries shows its first name."""
    first = node.items[0] if isinstance(node, Sequence) and node.items else None
    names = [plain(first.get(key)) for key in ("id", "name") if key in first] if isinstance(first, Mapping) else []
    name = names[0] if names and isinstance(names[0], str) and names[0].isprintable() else "NAME"
    return f"write `{shorten(name)}: ...` for each entry"


def _of_main_key(found: Diagnostic, node: Scalar, key: str) -> Diagnostic:
    """The finding that a text is not a mapping, with the fix that writes it as the value of the mapping's `key`."""
    written = f'{{{key}: "{node.value}"}}'
    if not written.isprintable() or re.search(r'["\\]', node.text):
        return dataclass_replace(found, fix=None, help=f"write the text below `{key}:`")
    return dataclass_replace(found, fix=replace(node, written, f"write `{written}`", safe=False), help=None)


def _switch(node: Node) -> str | None:
    """A mapping that is only switched on or off; None if the node is not such a word."""
    word = node.raw if isinstance(node, Scalar) and isinstance(node.value, bool) else _meant(node, [NAMES["boolean"]])
    return f"{{enabled: {word}}}" if word else None


def _wrong_type(node: Node, path: str, expected: Many[str]) -> Diagnostic:
    meant = _meant(node, expected)
    message = f"{_subject(path)} must be {either(expected)}, not {_what(node)}"
    safe = meant is not None and (meant in ("true", "false") or meant == str(getattr(node, "value", "")).strip())
    fix = replace(node, meant, f"write `{meant}`", safe=safe) if meant else None
    return error(node, message, code="wrong-type", help=None if fix else _other_form(node, expected), fix=fix)


def _other_form(node: Node, expected: Many[str]) -> str | None:
    """The help for a list where one text is expected, and for anything else where a list is."""
    if list(expected) == [NAMES["string"]] and isinstance(node, Sequence):
        return _one_text(node)
    if isinstance(node, Scalar) and not node.raw and node.source.text[node.start : node.start + 2].strip(" ") == "#":
        return "`#` after a space begins a comment; quote the text"
    if NAMES["array"] not in expected or isinstance(node, Sequence):
        return None
    if not is_text(node) or re.search(r'[\n"\\]', node.text):
        return "write a list: each entry on a line of its own after `- `"
    one, several = f'`["{node.text}"]`', '", "'.join(re.split(r", +", node.text.strip()))
    return f'write `["{several}"]`, or {one} for a single entry' if '"' in several else f"write {one}"


def _one_text(node: Sequence) -> str:
    """The help for a list where one text is expected, often a condition."""
    if node.source.text[node.start] == "[":
        return "write one text, in quotes if it begins with `[`"
    return "write one text; `and` and `or` join conditions"


def _meant(node: Node, expected: Many[str]) -> str | None:
    """The bool or number that a text spells, if one is expected: `yes` is a text in YAML 1.2, as is `"1"`;
    the list that words with commas spell, or the entry that a text with `=` spells."""
    if not isinstance(node, Scalar) or node.value is None:
        return None
    if not isinstance(node.value, str):
        is_tagged = TAGGED.search(node.source.text, max(node.start - 100, 0), node.start)  # the tag would stay
        return f'"{node.raw}"' if list(expected) == [NAMES["string"]] and not is_tagged else None
    word = node.value.strip()
    if NAMES["boolean"] in expected and word.casefold() in TRUTH:
        return TRUTH[word.casefold()]
    if NAMES["array"] in expected and LISTED.fullmatch(word):
        return f"[{', '.join(re.split(r', *', word))}]"
    if NAMES["object"] in expected and (pair := ASSIGNED.fullmatch(word)):
        written = f"{pair[1]}: {pair[2] if PLAIN.fullmatch(pair[2]) else json.dumps(pair[2], ensure_ascii=False)}"
        return written if _begins_its_line(node) else f"{{{written}}}"
    kinds = {NAMES["integer"]: WHOLE, NAMES["number"]: NUMBER}
    spelt = any(name in expected and pattern.fullmatch(word) for name, pattern in kinds.items())
    amount = AMOUNT.fullmatch(word) if NAMES["number"] in expected else None
    return word if spelt else amount and f"{amount[1]}.{amount[2] or 0}".removesuffix(".0")


def _begins_its_line(node: Scalar) -> bool:
    source = node.source
    return not source.text[source.starts[node.span.line - 1] : node.start].strip()


def _words(violation: Violation, node: Node, path: str, _: Owners) -> Findings:
    value = violation.wanted
    allowed = [value] if violation.keyword == "const" else value
    expected = [f"`{word}`" for word in allowed]
    if not is_text(node):
        found = _wrong_type(node, path, expected)
        one = found.help or declared_by(violation.vocabulary) or "write one of these words"
        yield found if found.fix else dataclass_replace(found, help=one)
        return
    near = suggest(node.text, allowed) or by_meaning(node.text, violation.meanings) or by_degree(node.text, allowed)
    message = f"`{node.value}` is not allowed for {_subject(path)}; expected {either(expected)}"
    meanings = ", ".join(f"`{word}` is {meaning}" for word, meaning in violation.meanings.items())
    known = "; ".join(filter(None, (meanings, declared_by(violation.vocabulary))))
    meant = near and (near if node.style in QUOTES else as_text(near))
    fix = respell(node, meant, safe=False) if meant else None  # also of a block scalar
    yield error(node, message, code="unknown-value", help=Guess(near) if near else known or None, fix=fix)


def _unknown_keys(violation: Violation, node: Node, path: str, owners: Owners) -> Findings:
    assert isinstance(node, Mapping)
    groups: dict[tuple[str, bool], list[str]] = {}  # those that belong under a key that holds nothing are one mistake
    for name in violation.unknown():
        holder = violation.holder(name)
        is_free = holder is not None and (holder not in node or plain(node.index[holder].value) is None)
        groups.setdefault((holder, True) if holder and is_free else (name, False), []).append(name)
    before = _before(node)
    for names in groups.values():
        found = _unknown_key(node, names, before.get(names[0]), path, violation, owners)
        yield dataclass_replace(found, notes=tuple(Note(node.key_span(each), "here as well") for each in names[1:]))


def _unknown_key(
    node: Mapping, names: Many[str], before: Entry | None, path: str, violation: Violation, owners: Owners
) -> Diagnostic:
    name, holder = names[0], violation.holder(names[0])
    near = None if holder else suggest(name, violation.properties)
    near = near or synonym(name, violation.properties)
    near = condition_meant(node, name, violation.properties) or near
    fix = None
    homes = [owner for owner in owners.get(name, ()) if owner != path]
    empty = frozenset(key for key, schema in violation.named.items() if not near and is_mapping(schema))
    help: str | None
    if help := elsewhere(path, name, violation.properties):
        pass
    elif indented := _further_in(
        node, names, before, [holder, *(owner.removeprefix(f"{path}.") for owner in homes)], empty
    ):
        help, fix = indented.message, indented
    elif joined := key_without_colon(node, name, violation.properties):
        help, fix = joined.message, joined
    elif moved := parameter_meant(node, name, violation.properties):
        read = "" if "use" in node else f": `params.{name}` is read"
        help, fix = f"{moved.message}{read}", moved
    elif near:
        help = f"{Guess(near)} it is set here as well" if near in node else Guess(near)
    elif path and holder:
        help = f"`{name}` belongs under `{path}.{holder}`"
    elif homes:
        help = f"`{name}` belongs " + either([f"under `{owner}`" if owner else "at the top level" for owner in homes])
    else:
        help = _keys_of(violation)
    found = error(node.key_span(name), f"unknown key `{name}`{_where(path)}", code="unknown-key", help=help, fix=fix)
    return dataclass_replace(found, about=f"{homes[0]}.{name}" if len(homes) == 1 else "")


def _keys_of(violation: Violation) -> str:
    read = [key for key, schema in violation.named.items() if schema.get("x-use") != "documentation"]
    keys = sorted(read if len(read) > 1 else violation.properties)
    return f"the only key here is `{keys[0]}`" if len(keys) == 1 else f"the keys here are {ticked(keys)}"


def _before(node: Mapping) -> dict[str, Entry]:
    """The entry before that of each key but the first."""
    return {after.name: each for each, after in pairwise(node.entries)}


def _further_in(
    node: Mapping, names: Many[str], before: Entry | None, owners: Many[str | None], mappings: frozenset[str]
) -> Fix | None:
    """The fix that moves keys below the entry `before`, which is among their `owners`, or among `mappings` and has no
    value; None if that does not apply."""
    entry = node.index[names[0]]
    if before is None or entry.key.style == "j" or not _begins_its_line(entry.key):
        return None
    if before.key.span.column != entry.key.span.column:
        return None
    held = before.value
    if isinstance(held, Mapping) and before.name in owners and _begins_its_line(held.entries[0].key):
        width = held.entries[0].key.span.column - entry.key.span.column
    elif isinstance(held, Scalar) and not held.raw and before.name in mappings:
        width = 2
    else:
        return None
    blank, source = " " * width, node.source
    edits = []
    for moved in (node.index[name] for name in names):
        edits.append(Edit(moved.key.span, blank + moved.key.raw))
        for line in range(moved.key.span.line + 1, moved.value.span.end_line + 1):
            if source.line_text(line).strip():
                start = source.starts[line - 1]
                edits.append(Edit(source.span(start, start), blank))
    return Fix(f"indent it below `{before.name}`", tuple(edits), safe=False)


def _missing(violation: Violation, node: Node, path: str, _: Owners) -> Findings:
    assert isinstance(node, Mapping)
    missing = [name for name in violation.wanted if name not in node]
    for name in missing:
        unknown = [key for key in node.keys if violation.properties and key not in violation.properties]
        misspelt = [key for key in unknown if _may_mean(key, name)]
        misspelt = misspelt or (unknown if len(unknown) == len(missing) == 1 else [])
        notes = [(node.key_span(key), "possibly meant here") for key in misspelt[:1]]
        help = meaning(name, violation.named.get(name, {}))
        message = f"`{name}` is missing{_where(path)}"
        yield error(first_place(node), message, code="missing-key", notes=notes, help=help)


def _may_mean(key: str, name: str) -> bool:
    """Whether an unknown key may be meant for a name, also one without the space after its colon: `on:follow_up`."""
    return key.startswith(f"{name}:") or bool(suggest(key, [name]) or synonym(key, [name]))


def _twice(_: Violation, node: Node, path: str, __: Owners) -> Findings:
    assert isinstance(node, Sequence)
    seen: list[object] = []
    for item in node.items:
        written = plain(item)
        if any(written == other and isinstance(written, bool) == isinstance(other, bool) for other in seen):
            yield error(
                item, f"{_subject(path)} contains `{written}` twice", code="out-of-range", help="remove one of them"
            )
        seen.append(written)


_CHARACTERS: Final = {
    "^[A-Za-z_][A-Za-z0-9_]*$": "begin with an ASCII letter or `_`, and use only ASCII letters, digits and `_`",
    "^[A-Za-z0-9][A-Za-z0-9_.-]*$": "begin with an ASCII letter or digit, and use only these, `_`, `.` and `-`",
}


def _pattern_advice(violation: Violation) -> str:
    described = f"write {violation.description}" if violation.description else "write a text that it matches"
    return _CHARACTERS.get(violation.wanted, described)


def _bound(words: str, advice: str | None = None) -> Callable[[Violation, Node, str, Owners], Findings]:
    """The message of a bound, and the advice: `{bound}` is the schema's, `{value}` the author's."""

    def findings(violation: Violation, node: Node, path: str, _: Owners) -> Findings:
        bound, value = violation.wanted, violation.value
        noun = "item" if bound == 1 else "items"
        message = words.format(subject=_subject(path), bound=bound, value=value, noun=noun)
        meant = number_meant(violation.keyword, bound, value)
        described = _pattern_advice(violation) if violation.keyword == "pattern" else advice
        yield error(node, message, code="out-of-range", help=Guess(meant) if meant else described)

    return findings


_WORDS: Final[dict[str, Callable[[Violation, Node, str, Owners], Iterable[Diagnostic]]]] = {
    "type": _type,
    "enum": _words,
    "const": _words,
    "required": _missing,
    "additionalProperties": _unknown_keys,
    "minItems": _bound("{subject} needs at least {bound} {noun}", "add what is missing"),
    "maxItems": _bound("{subject} allows at most {bound} {noun}", "shorten it"),
    "uniqueItems": _twice,
    "minimum": _bound("{subject} must be at least {bound}, not {value}"),
    "maximum": _bound("{subject} must be at most {bound}, not {value}"),
    "minLength": _bound("{subject} must not be empty"),
    "pattern": _bound("{subject} is `{value}`, which does not match `{bound}`"),
}


@cache
def _owners(kind: str) -> Owners:
    """The paths where each property is known; definitions are left out, because they occur anywhere."""
    owners: dict[str, list[str]] = {}

    def visit(below: JsonObject, path: str) -> None:
        for name, inner in properties_of(below).items():
            owners.setdefault(name, []).append(path)
            visit(inner, f"{path}.{name}" if path else name)

    visit(schema_in(kind, invisiblebench()), "")
    return {name: tuple(paths) for name, paths in owners.items()}


def _where(path: str) -> str:
    return f" in `{path}`" if path else ""


def _subject(path: str) -> str:
    return (path if path.startswith("a key of ") else f"`{path}`") if path else "the document"


def _what(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.value is None:
        return "null"
    if isinstance(node.value, bool):
        return f"`{node.text.lower()}`"
    shown = node.text if len(node.text) <= 40 else f"{node.text[:37]}..."
    return f"the text `{' '.join(shown.split())}`" if isinstance(node.value, str) else f"`{shown}`"
