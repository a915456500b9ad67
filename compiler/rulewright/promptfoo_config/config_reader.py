"""Reads a promptfoo configuration: its prompts, and its tests with their variables and assertions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct

from rulewright.diagnostics import Severity
from rulewright.documents.base import entries
from rulewright.errors import UsageError
from rulewright.load import Mapping, Node, Scalar, Sequence, load_file, plain
from rulewright.promptfoo_config.assertion import (
    Assertion,
    NotTranslatedError,
    assertion_in_cell,
    assertions_of,
    value_text,
    where_of,
)
from rulewright.spelling import question
from rulewright_runtime import strict_json
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import InputError
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.containers import TABLES, csv_rows

T = TypeVar("T")
READ: Final = {"description", "prompts", "providers", "targets", "tests", "defaultTest"}
OF_A_TEST: Final = {"description", "vars", "assert", "metadata"}
WITHOUT_EFFECT: Final = {"threshold", "provider", "providers"}
TEXTS: Final = (".txt", ".md", ".j2")
DOCUMENTS: Final = (".yaml", ".yml", ".json", ".jsonl")
MOST_CHARACTERS: Final = 2**20
MOST_COMBINATIONS: Final = 10_000  # of the values of the variables of one test
MOST_TESTS: Final = 100_000
_FILE: Final = re.compile(r"file://.*|[^\s{]+\.[a-z0-9]+")
_COLUMN: Final = re.compile(r"__expected\d*|__description")


class ConfiguredPrompt(Struct, frozen=True):
    """The templates of what a user says, turn by turn, and of the system message."""

    turns: tuple[str, ...]
    system: str
    where: str


class ConfiguredTest(Struct, frozen=True):
    """One test, or one combination of the values of its variables."""

    title: str
    variables: dict[str, str]
    assertions: tuple[Assertion, ...]
    where: str
    scenario_id: str | None = None


class Provider(NamedTuple):
    """A model of a configuration: its id, such as `openai:chat:gpt-5`, and its base URL if it has its own."""

    id: str
    base_url: str = ""


@dataclass(slots=True)
class Configuration:
    """What a configuration says. `notes` are the parts that are not translated, each with its place."""

    prompts: list[ConfiguredPrompt] = field(default_factory=list)
    tests: list[ConfiguredTest] = field(default_factory=list)
    defaults: list[Assertion] = field(default_factory=list)
    providers: list[Provider] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_configuration(path: Path) -> Configuration:
    """The configuration in a file. Raises UsageError if the file holds none."""
    root = _root(path)
    if not isinstance(root, Mapping) or not {"prompts", "tests"} & root.index.keys():
        raise UsageError(f"`{path}` is not a promptfoo configuration: expected the keys `prompts` and `tests`")
    read = Configuration()
    read.notes += [
        f"{where_of(each.key)}: `{each.name}` is not translated{question(each.name, READ)}"
        for each in entries(root)
        if each.name not in READ
    ]
    usual = root.get("defaultTest")
    try:
        _note_keys(usual, read.notes)
        shared = _variables(usual)
    except NotTranslatedError as error:
        raise UsageError(f"{where_of(usual or root)}: `defaultTest`: {error}") from None
    read.defaults += assertions_of(_at(usual, "assert"), read.notes, is_default=True)
    for each in _listed(root.get("prompts")):
        _collect(read.prompts, _prompts(each, path.parent), each, read.notes)
    for each in _listed(root.get("tests")):
        _collect(read.tests, _tests(each, path.parent, shared, read.notes), each, read.notes)
    for each in (*_listed(root.get("providers")), *_listed(root.get("targets"))):
        address = _at(_at(each, "config"), "apiBaseUrl")
        read.providers.append(
            Provider(str(plain(_at(each, "id") or each)), str(plain(address) or "") if address else "")
        )
    return read


def _root(path: Path) -> Node | None:
    loaded = load_file(path)
    first = next((each for each in loaded.diagnostics if each.severity is Severity.ERROR), None)
    if first is not None or loaded.root is None:
        reason = f"{first.span.line}:{first.span.column}: {first.message}" if first else " the file is empty"
        raise UsageError(f"{path}:{reason}")
    return loaded.root


def _listed(node: Node | None) -> tuple[Node, ...]:
    """The items of a list; anything else is one item."""
    return node.items if isinstance(node, Sequence) else () if node is None else (node,)


def _at(node: Node | None, key: str) -> Node | None:
    return node.get(key) if isinstance(node, Mapping) else None


def _collect(found: list[T], read: Iterable[T], node: Node, notes: list[str]) -> None:
    """Add what is read from a node, or the reason why it is not translated."""
    try:
        found += list(read)
    except NotTranslatedError as error:
        notes.append(f"{where_of(node)}: {error}")
    if len(found) > MOST_TESTS:
        raise UsageError(f"{where_of(node)}: more than {MOST_TESTS} tests or prompts are not translated")


def _prompts(node: Node, folder: Path) -> Iterator[ConfiguredPrompt]:
    given = plain(node)
    text = (given.get("raw") or given.get("id")) if isinstance(given, dict) else given
    if not isinstance(text, str):
        raise NotTranslatedError("a prompt is only translated if it is a text")
    whole = [text]
    if "\n" not in text and _FILE.fullmatch(text):
        file = folder / text.removeprefix("file://")
        if file.suffix not in (*TEXTS, ".json"):
            raise NotTranslatedError(f"the prompt `{text}` is only translated from a text")
        whole = [_text_of(file)] if file.suffix == ".json" else re.split(r"\r?\n---\r?\n", _text_of(file))
    for each in whole:
        yield _prompt(each.strip(), where_of(node))


def _text_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as stream:
            text = stream.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise NotTranslatedError(f"`{file}` can't be read: {reason_of(error)}") from None
    if len(text) > MOST_CHARACTERS:
        raise NotTranslatedError(f"`{file}` has more than {MOST_CHARACTERS} characters")
    return text


def _prompt(text: str, where: str) -> ConfiguredPrompt:
    """A prompt, which may be a list of messages as JSON."""
    try:
        listed = strict_json.decode(text.encode()) if text.startswith("[") else None
    except strict_json.UNDECODED:
        listed = None
    if not isinstance(listed, list):
        return ConfiguredPrompt((text,), "", where)
    messages = [(each.get("role"), each.get("content")) if isinstance(each, dict) else ("", None) for each in listed]
    roles, texts = [role for role, _ in messages], [content for _, content in messages if isinstance(content, str)]
    leads = roles[:1] == ["system"]
    if len(texts) < len(roles) or not roles[leads:] or any(role != "user" for role in roles[leads:]):
        raise NotTranslatedError("of messages, only those of the user and a system message before them are translated")
    return ConfiguredPrompt(tuple(texts[leads:]), texts[0] if leads else "", where)


def _tests(
    node: Node, folder: Path, usual: dict[str, list[str]], notes: list[str], around: tuple[Path, ...] = ()
) -> Iterator[ConfiguredTest]:
    """The tests of an item of `tests`, which is in the files `around`: a mapping, or the name of a file of them."""
    if isinstance(node, Mapping):
        yield from _combinations(node, usual, notes)
        return
    name = node.text if isinstance(node, Scalar) else ""
    file = folder / name.removeprefix("file://")
    if file.resolve() in around:
        raise NotTranslatedError(f"`{name}` lists itself")
    if file.suffix in (*TABLES, *DOCUMENTS) and not file.is_file():
        raise NotTranslatedError(f"no such file: `{name}`")
    if file.suffix in TABLES:
        yield from _rows(file, usual, notes)
    elif file.suffix in DOCUMENTS:
        found: list[ConfiguredTest] = []
        for each in _listed(_root(file)):
            _collect(found, _tests(each, file.parent, usual, notes, (*around, file.resolve())), each, notes)
        yield from found
    else:
        raise NotTranslatedError(f"`{name}` is not translated; expected a test, or a file of CSV, YAML or JSON")


def _note_keys(node: Node | None, notes: list[str]) -> None:
    """Note the keys of a test that have no effect here. Raises NotTranslatedError if they change what is tested."""
    if node is not None and not isinstance(node, Mapping):
        raise NotTranslatedError("only a mapping is translated")
    for each in entries(node):
        if each.name in WITHOUT_EFFECT or (each.name == "options" and "transform" not in (plain(each.value) or {})):
            notes.append(f"{where_of(each.key)}: `{each.name}` of a test is ignored")
        elif each.name not in OF_A_TEST:
            guess = question(each.name, OF_A_TEST)
            raise NotTranslatedError(f"a test with the key `{each.name}` is not translated{guess}")


def _variables(node: Node | None) -> dict[str, list[str]]:
    """The values of each variable; a list stands for several tests."""
    given = plain(_at(node, "vars"))
    if given is not None and not isinstance(given, dict):
        raise NotTranslatedError("`vars` is only translated as a mapping")
    if [] in (given or {}).values():
        raise NotTranslatedError("a variable with an empty list has no value")
    return {
        name: [value_text(each) for each in (value if isinstance(value, list) else [value])]
        for name, value in (given or {}).items()
    }


def _combinations(node: Mapping, usual: dict[str, list[str]], notes: list[str]) -> Iterator[ConfiguredTest]:
    _note_keys(node, notes)
    values = {**usual, **_variables(node)}
    title, named = plain(node.get("description")), plain(_at(node.get("metadata"), "scenario_id"))
    assertions = tuple(assertions_of(node.get("assert"), notes))
    if prod(map(len, values.values())) > MOST_COMBINATIONS:
        raise NotTranslatedError(f"the lists in `vars` have more than {MOST_COMBINATIONS} combinations")
    for each in product(*values.values()):
        variables = dict(zip(values, each, strict=True))
        yield ConfiguredTest(str(title or ""), variables, assertions, where_of(node), named and str(named))


def _rows(file: Path, usual: dict[str, list[str]], notes: list[str]) -> Iterator[ConfiguredTest]:
    if any(len(values) > 1 for values in usual.values()):
        raise NotTranslatedError("a list in `defaultTest.vars` is not translated for the tests of a table")
    fixed = {name: values[0] for name, values in usual.items()}
    for line, row in csv_rows(str(file), str(file), MOST_CHARACTERS):
        try:
            yield _row(row, fixed, f"{file}:{line}")
        except InputError as error:
            notes.append(str(error))
        except NotTranslatedError as error:
            notes.append(f"{file}:{line}: {error}")


def _row(row: JsonObject | InputError, usual: dict[str, str], where: str) -> ConfiguredTest:
    """The test in a row: a variable in each column, and the assertions in the columns of `__expected`."""
    if isinstance(row, InputError):
        raise row
    unread = [name for name, cell in row.items() if cell and name.startswith("__") and not _COLUMN.fullmatch(name)]
    if unread:
        raise NotTranslatedError(f"a row with `{unread[0]}` is not translated")
    expected = {
        name: assertion_in_cell(cell, name, where)
        for name, cell in row.items()
        if name.startswith("__expected") and cell
    }
    variables = {name: value_text(cell) for name, cell in row.items() if not name.startswith("__")}
    shown = {name: value for name, (_, value) in expected.items()}
    assertions = tuple(assertion for assertion, _ in expected.values())
    return ConfiguredTest(row.get("__description") or "", {**usual, **variables, **shown}, assertions, where)
