"""The structural checker says exactly where a document departs from its schema, and agrees with a full validator."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.shared_data import folder

from rulewright.documents.structure import check_structure, derive
from rulewright.load import load_text
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
    return [(d.code, d.span.line, d.span.column, d.message, d.help) for d in check_structure(kind, root)]


def test_an_unknown_key_is_shown_at_its_key_with_a_guess() -> None:
    assert findings("check", CHECK) == [
        ("unknown-key", 7, 3, "unknown key `unclex_policy` in `scorer`", "did you mean `unclear_policy`?"),
    ]


def test_the_guess_can_be_written_by_a_fix() -> None:
    root = load_text(CHECK, "x.yaml").root
    assert root is not None
    fix = check_structure("check", root)[0].fix
    assert fix is not None
    assert [(edit.span.column, edit.span.end_column, edit.text) for edit in fix.edits] == [(3, 16, "unclear_policy")]
    assert not fix.safe


def test_a_key_at_the_wrong_place_is_sent_home() -> None:
    text = CHECK.replace("  unclex_policy: llm_edge", "  type: lexicon") + "repetitions: 3\n"
    assert findings("check", text) == [
        ("unknown-key", 11, 1, "unknown key `repetitions`", "`repetitions` belongs under `scorer` or under `routing`"),
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


def test_a_scenario_needs_turns_or_sessions() -> None:
    text = "scenario_id: s\ntitle: t\ncategory: safety\n"
    assert [entry[3] for entry in findings("scenario", text)] == ["`turns` or `sessions` is missing"]


def test_a_guess_ignores_case_and_dashes() -> None:
    assert suggest("Unclear-Policy", ["unclear_policy", "type"]) == "unclear_policy"
    assert suggest("zzz", ["unclear_policy", "type"]) is None


@pytest.mark.parametrize("kind", schema_names())
def test_every_schema_is_a_valid_schema(kind: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_every_schema_keeps_to_the_supported_keywords(kind: str) -> None:
    derive(schema(kind))


def test_a_keyword_the_checker_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="dependentRequired"):
        derive({"type": "object", "dependentRequired": {"a": ["b"]}})


def agrees(kind: str, document: Any) -> bool:
    root = load_text(json.dumps(document), "x.json").root
    assert root is not None
    ours = not check_structure(kind, root)
    theirs = jsonschema.Draft202012Validator(schema(kind)).is_valid(document)
    assert ours == theirs, json.dumps(document)[:2000]
    return ours


REPLACEMENTS: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    1.0,
    2.5,
    "",
    "x",
    "S5",
    "PASS",
    "any",
    [],
    ["x"],
    [1],
    {},
    {"x": 1},
    [[]],
]


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
def test_it_agrees_with_a_full_validator_on_damaged_documents(kind: str) -> None:
    from rulewright.load import load_file, plain

    rng = random.Random(kind)
    documents = [plain(load_file(path).root) for path in shipped(kind)]
    assert documents
    assert all(agrees(kind, document) for document in documents)
    verdicts = [agrees(kind, mutated(rng.choice(documents), rng)) for _ in range(120)]
    assert {True, False} <= set(verdicts) or kind in {"markers", "lexicon", "blindspots", "pricing"}


def test_it_agrees_with_a_full_validator_on_the_published_documents() -> None:
    data = folder("invisiblebench")
    for path in sorted((data / "scenarios").rglob("*.json"))[::4]:
        assert agrees("scenario", json.loads(path.read_text(encoding="utf-8")))
