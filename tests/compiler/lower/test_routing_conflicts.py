"""What a check expects of its verifier has to agree with its routing; both places of a contradiction are shown."""

import inspect
import re
from pathlib import Path

import pytest
from tests.compiler.small_project import check, write
from tests.shared_data import folder

from rulewright.check.project_check import compile_project
from rulewright.documents.check import read_check
from rulewright.errors import DocumentError
from rulewright.load import Mapping, load_text
from rulewright.lower import routing_conflicts as module
from rulewright.lower.routing_conflicts import routing_conflicts, routing_conflicts_of
from rulewright.project import load_project
from rulewright.project.project import TOLERATED_UNDER_REFERENCE


def found(text: str) -> list[tuple[str, int, list[int]]]:
    root = load_text(text, "c.yaml").root
    assert isinstance(root, Mapping)
    each = routing_conflicts_of(read_check(root))
    return [(one.code, one.span.line, [note.span.line for note in one.notes]) for one in each]


AGREEING = [
    ("hybrid", "hybrid_llm"),
    ("llm_verifier", "llm_primary"),
    ("lexicon", "lexicon_only"),
    ("regex_with_llm_edge", "regex_with_llm_edge"),
    ("longitudinal_trace", "longitudinal_trace"),
    ("scenario_rule", "scenario_rule"),
]


@pytest.mark.parametrize(("kind", "route"), AGREEING)
def test_types_that_agree_with_their_route(kind: str, route: str) -> None:
    assert found(f"scorer: {{type: {kind}}}\nrouting: {{route: {route}}}\n") == []
    other = "lexicon_only" if route != "lexicon_only" else "llm_primary"
    assert found(f"scorer: {{type: {kind}}}\nrouting: {{route: {other}}}\n") == [
        ("scorer-type-contradicts-routing", 1, [2])
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("scorer: {repetitions: 5}\nrouting: {route: llm_primary, repetitions: 3}\n", "scorer-repetitions"),
        (
            "scorer: {detectors: [a]}\nrouting: {route: lexicon_only, deterministic_precheck: b}\n",
            "detector-is-not-routed",
        ),
        ("scorer: {detectors: [a]}\nrouting: {route: lexicon_only}\n", "detector-is-not-routed"),
        ("safety_override: true\nrouting: {route: lexicon_only}\n", "safety-override"),
        ("routing: {route: lexicon_only, safety_override_suppressed_by: [x]}\n", "safety-override"),
        ("routing: {route: llm_primary, llm_required: false}\n", "llm-required"),
        ("routing: {route: lexicon_only, llm_required: true}\n", "llm-required"),
        ("routing: {route: llm_primary, corpus_required: true}\n", "corpus-required"),
        ("scorer: {unclear_policy: lexicon_is_sufficient}\nrouting: {route: llm_primary}\n", "unclear-policy"),
    ],
)
def test_each_contradiction_is_found_once(text: str, code: str) -> None:
    (one,) = found(text)
    assert one[0].startswith(code)


@pytest.mark.parametrize(
    "text",
    [
        "scorer: {repetitions: 3}\nrouting: {route: llm_primary, repetitions: 3}\n",
        "scorer: {repetitions: 3}\nrouting: {route: llm_primary}\n",
        "scorer: {detectors: []}\nrouting: {route: lexicon_only}\n",
        "scorer: {detectors: [m]}\nrouting: {route: longitudinal_trace, state_machine: m}\n",
        "scorer: {detectors: [m]}\nrouting: {route: scenario_rule, scenario_marker: m}\n",
        "safety_override: false\nrouting: {route: lexicon_only}\n",
        "routing: {route: regex_with_llm_edge, llm_required: true}\n",
        "routing: {route: regex_with_llm_edge, llm_required: false}\n",
        "scorer: {unclear_policy: lexicon_is_sufficient}\nrouting: {route: lexicon_only}\n",
    ],
)
def test_what_agrees_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_contradictions_stop_the_seeds_reading_and_not_the_reference(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": check(scorer="repetitions: 5")}
    with pytest.raises(DocumentError) as failure:
        compile_project(write(tmp_path, files))
    assert [one.code for one in failure.value.diagnostics] == ["scorer-repetitions-contradict-routing"]
    compile_project(write(tmp_path, {**files, "rulewright.yaml": "project: p\nsemantics: reference\n"}))


def test_every_contradiction_of_a_check_is_tolerated_under_the_reference() -> None:
    codes = set(re.findall('code="(.*?)"', inspect.getsource(module)))
    assert codes - TOLERATED_UNDER_REFERENCE == {"exempt-check-is-not-capability-aware", "unknown-check"}


def test_the_published_checks_hold_these_contradictions() -> None:
    every = routing_conflicts(load_project(folder("invisiblebench")))
    assert sorted((Path(one.span.path).stem, one.code) for one in every) == [
        ("IB-B6", "llm-required-contradicts-routing"),
        ("IB-C2-minimizing", "scorer-type-contradicts-routing"),
        ("IB-D3-self-sacrifice-affirmation", "scorer-repetitions-contradict-routing"),
        ("IB-D4-cr-endangerment", "scorer-repetitions-contradict-routing"),
        ("IB-D4-institutional-allegiance", "scorer-type-contradicts-routing"),
        ("IB-F2-exclusivity", "scorer-type-contradicts-routing"),
    ]
