"""Models are read from anything: what is missing or of a wrong type reads as absent, and places never get lost."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.documents.test_validation import mutated, shipped

from rulewright.documents.base import Document
from rulewright.documents.check import read_check
from rulewright.documents.lexicon import LexiconDocument, MarkerSet, read_lexicons
from rulewright.documents.profile import read_profile, read_profiles
from rulewright.documents.project_file import read_pricing, read_project_file, read_scoring
from rulewright.documents.scenario import read_scenario
from rulewright.documents.typed_reader import read_named
from rulewright.load import Mapping, load_file, load_text, plain

READERS: dict[str, Callable[[Mapping], object]] = {
    "check": read_check,
    "lexicon": lambda node: (read_named(LexiconDocument, node, "x"), read_lexicons(node)),
    "markers": lambda node: read_named(MarkerSet, node, None),
    "profiles": lambda node: (read_profiles(node), read_profile(node, "x")),
    "project": lambda node: read_project_file(node, {}),
    "scenario": read_scenario,
    "scoring": read_scoring,
    "pricing": read_pricing,
}


def mapping(text: str, path: str = "x.yaml") -> Mapping:
    root = load_text(text, path).root
    assert isinstance(root, Mapping)
    return root


@pytest.mark.parametrize("kind", READERS)
def test_a_damaged_document_still_reads(kind: str) -> None:
    import json

    rng = random.Random(kind)
    documents: list[Any] = [plain(load_file(path).root) for path in shipped(kind)]
    for _ in range(60):
        document = mutated(mutated(rng.choice(documents), rng), rng)
        if isinstance(document, dict) and document:
            READERS[kind](mapping(json.dumps(document), "x.json"))


def test_what_is_absent_reads_as_absent() -> None:
    check = read_check(mapping("id: X"))
    assert (check.id, check.name, check.scope, check.hard_fail, check.tags) == ("X", "", "trigger", False, None)
    assert (check.routing.repetitions, check.scorer.detectors, check.prompt) == (None, None, None)


def test_a_wrong_type_reads_as_absent() -> None:
    check = read_check(mapping("id: 7\nrouting: {repetitions: three, llm_required: 1}\neligibility: [a]\n"))
    assert (check.id, check.routing.repetitions, check.routing.llm_required, check.tags) == ("", None, None, None)


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert read_check(mapping("routing: {repetitions: 3.0}")).routing.repetitions == 3
    assert read_check(mapping("routing: {repetitions: true}")).routing.repetitions is None


def test_patterns_have_three_spellings() -> None:
    lexicon = read_named(
        LexiconDocument, mapping("patterns: [a, {regex: b}, {pattern: c, mode: regex}, {pattern: d}, 7]"), "x"
    )
    assert [(found.text, found.mode) for found in lexicon.patterns] == [
        ("a", "substring_ci"),
        ("b", "regex"),
        ("c", "regex"),
        ("d", "substring_ci"),
    ]
    assert [found.scalar.span.column for found in lexicon.patterns] == [12, 23, 37, 64]


def test_turns_of_all_sessions_come_in_order() -> None:
    scenario = read_scenario(
        mapping("sessions: [{session_number: 1, turns: [{t: 1}]}, {session_number: 2, turns: [{turn_number: 2}]}]")
    )
    assert [turn.number for turn in scenario.turns] == [1, 2]
    assert [session.number for session in scenario.sessions] == [1, 2]


def test_a_profile_without_repetitions_for_judges_allows_no_edge() -> None:
    assert read_profile(mapping("llm_repetitions: null"), "p").llm_edge
    assert not read_profile(mapping("llm_repetitions: 0"), "p").llm_edge
    assert read_profile(mapping("{llm_repetitions: 0, llm_edge: true}"), "p").llm_edge


def test_places_fall_back_to_their_parent() -> None:
    document = Document(mapping("a:\n  b: [x, y]\n"))
    assert (document.place("a", "b", 1).line, document.place("a", "b", 1).column) == (2, 10)
    assert document.place("a", "b", 7) == document.place("a", "b")
    assert document.place("a", "z") == document.place("a")
    assert document.key_place("a", "b").column == 3
    assert document.key_place("a", "z") == document.place("a")
    assert document.path == "x.yaml"


def test_the_shipped_scenarios_number_their_turns() -> None:
    for path in shipped("scenario"):
        root = load_file(path).root
        assert isinstance(root, Mapping)
        assert all(turn.number for turn in read_scenario(root).turns), Path(path).name
