"""A violation of a schema is reported at its exact place and in words about keys."""

import json
import random
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema
import pytest
from referencing import Registry, Resource
from tests.rounds import rounds
from tests.schemas import validator

from rulewright.documents import validation
from rulewright.documents.validation import validate
from rulewright.fixes import fitted, fixed_texts
from rulewright.linting.lint_run import lint_text
from rulewright.load import load_file, load_text, plain
from rulewright.spelling import suggest
from rulewright_grammar import schema, schema_names

CHECK = """\
id: X-1
name: says_no
primary_bucket: A
severity: S5
scope: universal
scorer:
  unclex_policy: llm_edge
routing:
  route: lexicon_only
  deterministic_precheck: words
"""
ROOT = Path(__file__).resolve().parents[3]
KINDS = [name for name in schema_names() if name not in {"plan"}]


def findings(kind: str, text: str, path: str = "x.yaml") -> list[tuple[str, int, int, str, str | None]]:
    root = load_text(text, path).root
    assert root is not None
    return [(d.code, d.span.line, d.span.column, d.message, d.help) for d in validate(kind, root)]


def test_an_unknown_key_is_shown_at_its_key_with_a_guess() -> None:
    assert findings("check", CHECK) == [
        ("unknown-key", 7, 3, "unknown key `unclex_policy` in `scorer`", "did you mean `unclear_policy`?")
    ]


def test_the_guess_can_be_written_by_a_fix() -> None:
    (fix,) = (each.fix for each in lint_text(CHECK, "x.yaml").diagnostics if each.code == "unknown-key")
    assert fix is not None
    assert [(edit.span.column, edit.span.end_column, edit.text) for edit in fix.edits] == [(3, 16, "unclear_policy")]
    assert not fix.safe


def test_a_key_at_the_wrong_place_is_sent_home() -> None:
    text = CHECK.replace("  unclex_policy: llm_edge", "  type: lexicon") + "note: x\nrepetitions: 3\n"
    assert findings("check", text) == [
        ("unknown-key", 12, 1, "unknown key `repetitions`", "`repetitions` belongs under `scorer` or under `routing`")
    ]


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ("  route: lexicon_only\n", "route: lexicon_only\n", None),  # below it stands what belongs to `routing`
        ("  deterministic_precheck: words\n", "deterministic_precheck: words\n", "  deterministic_precheck: words\n"),
        ("  unclex_policy: llm_edge\n", "unclear_policy: llm_edge\n", "  unclear_policy: llm_edge\n"),
        (
            "  unclex_policy: llm_edge\n",
            "  type: lexicon\nparams:\nwords:\n  - a\n\n  - b\nnote: x\n",
            "  type: lexicon\nparams:\n  words:\n    - a\n\n    - b\nnote: x\n",
        ),
    ],
)
def test_a_key_that_is_indented_too_little_can_be_moved(old: str, new: str, meant: str | None) -> None:
    right = CHECK if "unclex" in old else CHECK.replace("  unclex_policy: llm_edge", "  type: lexicon")
    loaded = load_text(right.replace(old, new), "x.yaml")
    if meant is None:
        assert loaded.root is None
        return
    assert loaded.root is not None
    found = [each for each in validate("check", loaded.root) if each.fix is not None]
    texts, _ = fixed_texts(found, {"x.yaml": loaded.source}, unsafe=True)
    assert texts["x.yaml"] == right.replace(old, meant)
    (told,) = [each.help for each in found]
    assert told is not None
    assert told.startswith("indent it below `")


def test_a_key_too_far_out_is_one_finding_and_is_not_guessed() -> None:
    text = CHECK.replace("  unclex_policy: llm_edge", "  type: lexicon") + (
        "phases:\n  violates: reply.count > 1\n  confirm: {prompt: Is it?, fields: {count: integer}}\n"
        "  sweep: {prompt: Is it at all?}\n"
    )
    assert [(code, line, help) for code, line, _, _, help in findings("check", text)] == [
        ("unknown-key", 12, "`violates` belongs under `phases.confirm`")
    ]


def test_a_switch_in_place_of_a_mapping_can_be_written_into_it() -> None:
    root = load_text('version: "1"\nname: w\ntasks:\n  a:\n    agent: ba\n    overlays: {hil: yes}\n', "x.yaml").root
    assert root is not None
    (found,) = validate("workflow", root)
    assert found.fix is not None
    assert (found.fix.message, found.fix.edits[0].text) == ("write `{enabled: true}`", "{enabled: true}")


@pytest.mark.parametrize(
    ("path", "overlays", "meant"),
    [
        ("x.yaml", "hil=high", "{hil: high}"),
        ("x.yaml", "'hil=a: b'", '{hil: "a: b"}'),
        ("x.yaml", "\n      hil=-1", "hil: -1"),
        ("x.yaml", "\n      hil=- 1", 'hil: "- 1"'),
        ("x.json", '"hil=high"', '{"hil": "high"}'),
        ("x.json", '"hil=73"', '{"hil": 73}'),
        ("x.json", '"hil=a\\"b"', '{"hil": "a\\"b"}'),
    ],
)
def test_an_assignment_in_place_of_a_mapping_can_be_written_as_an_entry(path: str, overlays: str, meant: str) -> None:
    yaml = f'version: "1"\nname: w\ntasks:\n  a:\n    agent: ba\n    overlays: {overlays}\n'
    as_json = f'{{"version": "1", "name": "w", "tasks": {{"a": {{"agent": "ba", "overlays": {overlays}}}}}}}'
    loaded = load_text(as_json if path == "x.json" else yaml, path)
    assert loaded.root is not None
    found = fitted(validate("workflow", loaded.root), [loaded])
    assert [each.fix and each.fix.message for each in found] == [f"write `{meant}`"]
    texts, _ = fixed_texts(found, {path: loaded.source}, unsafe=True)
    assert texts[path] == loaded.source.text.replace(overlays.strip(), meant)
    assert load_text(texts[path], path).root is not None


def test_a_task_may_be_called_like_a_key() -> None:
    text = 'version: "1"\nname: w\ntasks:\n  requirements:\n    agent: ba\n    timeout: 3\n'
    assert [entry[3] for entry in findings("workflow", text)] == ["unknown key `timeout` in `tasks.requirements`"]


def test_a_key_of_an_agents_role_is_sent_there() -> None:
    text = 'version: "1"\nname: w\nagents:\n  coder: {description: Writes}\ntasks: {}\n'
    helps = [entry[4] for entry in findings("workflow", text) if entry[0] == "unknown-key"]
    assert helps == ["`description` belongs under `agents.coder.role`"]


def test_a_word_with_other_characters_is_refused_with_the_allowed_ones() -> None:
    project = "project: p\nvocabulary: {categories: [rückgabe]}\n"
    assert [entry[4] for entry in findings("project", project)] == [
        "begin with an ASCII letter or digit, and use only these, `_`, `.` and `-`"
    ]


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("scope: universal\n", "", "missing-key", "`scope` is missing"),
        ("primary_bucket: A", "primary_bucket: [A]", "wrong-type", "`primary_bucket` must be"),
        ("severity: S5", "severity: S6", "unknown-value", "`S6` is not allowed for `severity`; expected"),
        ("name: says_no", "name: 7", "wrong-type", "`name` must be text, not `7`"),
        ("name: says_no", "name: ''", "out-of-range", "`name` must not be empty"),
        (
            "unclex_policy: llm_edge",
            "repetitions: -1",
            "out-of-range",
            "`scorer.repetitions` must be at least 0, not -1",
        ),
        ("unclex_policy: llm_edge", "repetitions: three", "wrong-type", "must be a whole number, not the text `three`"),
        ("unclex_policy: llm_edge", "repetitions: true", "wrong-type", "must be a whole number, not `true`"),
    ],
)
def test_each_mistake_has_its_own_words(old: str, new: str, code: str, message: str) -> None:
    text = CHECK.replace(old, new)
    text = text if "unclex" in old else text.replace("  unclex_policy: llm_edge", "  type: lexicon")
    found = findings("check", text)
    assert [entry[0] for entry in found] == [code]
    assert message in found[0][3]


def test_every_mistake_of_a_file_is_found_in_one_run() -> None:
    text = CHECK.replace("severity: S5", "severity: S6").replace("id: X-1\n", "") + "extra: 1\n"
    assert sorted(entry[0] for entry in findings("check", text)) == [
        "missing-key",
        "unknown-key",
        "unknown-key",
        "unknown-value",
    ]


def test_a_pattern_is_a_text_or_one_of_two_mappings() -> None:
    assert findings("lexicon", "patterns: [a, {regex: b}, {pattern: c, mode: regex}]") == []
    assert [entry[3] for entry in findings("lexicon", "patterns: [7]")] == [
        "`patterns[0]` must be text or a mapping, not `7`"
    ]
    assert [entry[0] for entry in findings("lexicon", "patterns: []")] == ["out-of-range"]


def test_a_scenario_needs_turns_or_sessions_or_says_that_it_is_open() -> None:
    text = "scenario_id: s\ntitle: t\ncategory: safety\n"
    assert [entry[3] for entry in findings("scenario", text)] == ["`turns`, `sessions` or `open` is missing"]


def test_a_guess_ignores_case_and_dashes() -> None:
    assert suggest("Unclear-Policy", ["unclear_policy", "type"]) == "unclear_policy"
    assert suggest("zzz", ["unclear_policy", "type"]) is None


def test_the_beginning_of_one_known_word_is_a_guess() -> None:
    assert suggest("paired", ["paired_workflow", "policy_gate"]) == "paired_workflow"
    assert suggest("policy", ["policy_of_release", "policy_of_review"]) is None
    assert suggest("gate", ["policy_gate"]) is None


def test_words_with_the_same_ending_are_not_guesses() -> None:
    assert suggest("manipulation_question", ["medication_question"]) is None
    assert suggest("medicaton_question", ["medication_question"]) == "medication_question"


def test_a_word_with_one_wrong_letter_is_guessed_before_one_with_two() -> None:
    assert suggest("naoe", ["name", "note"]) == "name"
    assert suggest("noae", ["name", "note"]) == "note"


@pytest.mark.parametrize("kind", schema_names())
def test_every_schema_is_a_valid_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(kind))


REFERRING: dict[str, Any] = {  # data with a wrong value where the schema refers to another one
    "profile": {"id": "p", "include_routes": ["llm_primery"]},
    "profiles": {"p": {"include_routes": ["llm_primery"]}},
    "workflow": {"agents": {"dev": {"llm": {"provider": ["llm_primery"]}}}},
}


@pytest.mark.parametrize("kind", REFERRING)
def test_a_reader_of_the_files_alone_finds_what_a_schema_refers_to(kind: str) -> None:
    folder = Path(str(files("rulewright_grammar"))) / "schemas"

    def fetched(uri: str) -> Resource[Any]:
        return Resource.from_contents(json.loads(Path(unquote(urlsplit(uri).path)).read_text(encoding="utf-8")))

    where = (folder / f"{kind}.schema.json").as_uri()
    validator = jsonschema.Draft202012Validator({"$ref": where}, registry=Registry(retrieve=fetched))  # type: ignore[call-arg]
    assert any("llm_primery" in str(each.message) for each in _leaves(validator.iter_errors(REFERRING[kind])))


def _leaves(errors: Iterable[Any]) -> Iterator[Any]:
    for each in errors:
        yield each
        yield from _leaves(each.context)


@pytest.mark.parametrize("kind", KINDS)
def test_every_keyword_of_a_schema_that_can_fail_has_words(kind: str) -> None:
    assert set(_keywords(schema(kind))) <= {*validation._WORDS, *NEVER_FAILS, "anyOf"}


NEVER_FAILS = {
    *("$schema", "$id", "$defs", "$ref", "title", "description", "default"),
    *("allOf", "if", "then", "else"),  # errors are those of the schemas in them
    *("properties", "items", "propertyNames", "x-use", "x-read-by", "x-routes", "x-meanings", "x-vocabulary"),
}


def _keywords(schema: Any) -> Iterator[str]:
    yield from schema
    for name, below in schema.items():
        if name in ("properties", "$defs"):
            for inner in below.values():
                yield from _keywords(inner)
        elif name in ("items", "propertyNames", "additionalProperties") and isinstance(below, dict):
            yield from _keywords(below)
        elif name in ("allOf", "anyOf"):
            for inner in below:
                yield from _keywords(inner)


@pytest.mark.parametrize("value", [".nan", ".inf", "-.inf"])
def test_what_is_not_finite_is_not_a_number(value: str) -> None:
    found = findings("pricing", f"model: [1.0, {value}]")
    assert [(code, line, column) for code, line, column, *_ in found] == [("wrong-type", 1, 14)]


REPLACEMENTS: list[Any] = [
    None, True, 0, -1, 1, 1.0, 2.5, "", "x", "S5", "PASS", "any", [], ["x"], [1], {}, {"x": 1}, [[]],
]  # fmt: skip


def mutated(document: Any, rng: random.Random) -> Any:
    """A copy with one value replaced, one key removed, renamed or added."""
    copy = json.loads(json.dumps(document))
    containers = [found for found in _below(copy) if found]
    target = rng.choice(containers)
    if isinstance(target, list):
        target[rng.randrange(len(target))] = rng.choice([*REPLACEMENTS, target[0]])
        return copy
    key = rng.choice(sorted(target))
    match rng.randrange(4):
        case 0:
            target[key] = rng.choice(REPLACEMENTS)
        case 1:
            del target[key]
        case 2:
            target[key + "_"] = target.pop(key)
        case _:
            target[rng.choice(["route", "name", "zzz", "patterns"])] = rng.choice(REPLACEMENTS)
    return copy


def _below(document: Any) -> list[Any]:
    if isinstance(document, dict):
        return [document, *(inner for value in document.values() for inner in _below(value))]
    if isinstance(document, list):
        return [document, *(inner for value in document for inner in _below(value))]
    return []


def shipped(kind: str) -> list[Path]:
    places = {
        "check": "checks/*.yaml",
        "lexicon": "checks/lexicons/*.yaml",
        "markers": "checks/markers/*.yaml",
        "scenario": "benchmark/scenarios/*.json",
        "profiles": "benchmark/configs/profiles.yaml",
        "scoring": "benchmark/configs/scoring.yaml",
        "blindspots": "benchmark/configs/blindspots.yaml",
        "pricing": "benchmark/configs/pricing.yaml",
        "project": "benchmark/rulewright.yaml",
    }
    return sorted(ROOT.glob(places[kind]))


@pytest.mark.parametrize(
    "kind", ["check", "lexicon", "markers", "scenario", "profiles", "scoring", "blindspots", "pricing", "project"]
)
def test_a_damaged_document_has_findings_and_a_whole_one_has_none(kind: str) -> None:
    rng = random.Random(kind)
    documents = [plain(load_file(path).root) for path in shipped(kind)]
    assert documents
    for document in [*documents, *(mutated(rng.choice(documents), rng) for _ in range(rounds(50, 120)))]:
        root = load_text(json.dumps(document), "x.json").root
        assert root is not None
        is_valid = validator(kind).is_valid(document)
        assert is_valid == (not validate(kind, root)), json.dumps(document)[:2000]


@pytest.mark.parametrize("more", ["", "severity: S3\n", "unclear: size(answer) > 3\n"])
def test_a_check_that_decides_nothing_needs_a_condition_a_prompt_a_ready_check_or_a_route(more: str) -> None:
    (found,) = findings("check", f"id: brief\n{more}")
    assert (found[0], found[3]) == ("missing-key", "`fail`, `pass`, `prompt`, `use` or `routing` is missing")


@pytest.mark.parametrize(
    ("value", "help"),
    [
        ("[t for t in turns]", "write one text, in quotes if it begins with `[`"),
        ("\n- size(answer) > 3\n- size(turns) > 3", "write one text; `and` and `or` join conditions"),
    ],
)
def test_a_list_in_place_of_a_condition_says_how_to_write_one(value: str, help: str) -> None:
    (found,) = findings("check", f"id: brief\nfail: {value}\n")
    assert (found[0], found[4]) == ("wrong-type", help)
