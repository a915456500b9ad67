"""Models and schemas: every key that a model reads is a key of its schema, and what is read is what the type says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from rulewright.documents import (
    case_scorecard,
    check,
    corpus,
    profile,
    project_file,
    scenario,
    scorecard,
    state_machine,
)
from rulewright.documents.base import Document
from rulewright.documents.typed_reader import At, paths_of, read
from rulewright.keys import EACH, keys_of
from rulewright.load import Mapping, load_text

PROGRAMME = ("programmes", EACH)
TURN = ("turns", EACH)
MODELS: dict[type, tuple[str, tuple[str, ...]]] = {
    case_scorecard.CaseScorecardDocument: ("case_scorecard", ()),
    case_scorecard.MetricDocument: ("case_scorecard", ("metrics", EACH)),
    case_scorecard.SettingDocument: ("case_scorecard", ("parameters", EACH)),
    check.Check: ("check", ()),
    check.Phases: ("check", ("phases",)),
    check.Routing: ("check", ("routing",)),
    check.Scorer: ("check", ("scorer",)),
    corpus.Corpus: ("corpus", ()),
    corpus.Fact: ("corpus", (*PROGRAMME, "facts", EACH)),
    corpus.Programme: ("corpus", PROGRAMME),
    profile.Profile: ("profile", ()),
    project_file.JudgeSection: ("project", ("judge",)),
    scenario.Branch: ("scenario", (*TURN, "branches", EACH)),
    scenario.Criterion: ("scenario", (*TURN, "rubric", EACH)),
    scenario.CueAnchor: ("scenario", ("cue_anchors", EACH)),
    scenario.Persona: ("scenario", ("persona",)),
    scenario.Probe: ("scenario", ("probes", EACH)),
    scenario.Scenario: ("scenario", ()),
    scenario.Session: ("scenario", ("sessions", EACH)),
    scenario.Turn: ("scenario", TURN),
    scorecard.GateDocument: ("scorecard", ("gates", EACH)),
    scorecard.ParameterDocument: ("scorecard", ("parameters", EACH)),
    scorecard.RateDocument: ("scorecard", ("rates", EACH, "rate")),
    scorecard.ScorecardDocument: ("scorecard", ()),
    state_machine.Cue: ("state_machine", ("cues", EACH)),
    state_machine.Ending: ("state_machine", ("endings", EACH)),
    state_machine.Forbidden: ("state_machine", ("forbidden", EACH)),
    state_machine.StateMachine: ("state_machine", ()),
    state_machine.Transition: ("state_machine", ("transitions", EACH)),
}
# What a caller gives instead: the key that something stands under, and what stands under one of several keys.
GIVEN = {
    case_scorecard.CaseScorecardDocument: {"settings"},
    case_scorecard.MetricDocument: {"name"},
    case_scorecard.SettingDocument: {"name"},
    corpus.Corpus: {"name"},
    corpus.Fact: {"id"},
    corpus.Programme: {"id"},
    profile.Profile: {"name"},
    scenario.Turn: {"number"},
    scorecard.GateDocument: {"name"},
    scorecard.ParameterDocument: {"name"},
    scorecard.RateDocument: {"name", "kind", "weight"},
    state_machine.Cue: {"name"},
    state_machine.StateMachine: {"name"},
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_that_a_model_reads_is_a_key_of_its_schema(model: type) -> None:
    kind, above = MODELS[model]
    known = keys_of(kind)
    read_by_type = [(*above, *steps) for steps in paths_of(model) if steps[0] not in GIVEN.get(model, ())]
    assert [path for path in read_by_type if path not in known] == []


@dataclass(frozen=True, slots=True)
class Inner:
    word: str | None
    flag: bool


@dataclass(frozen=True, slots=True, eq=False)
class Outer(Document):
    name: str
    share: Annotated[float | None, At("deep", "share")]
    count: Annotated[int, At(usual=3)]
    inner: Inner
    maybe: Inner | None
    many: tuple[Inner, ...]


def outer(text: str) -> Outer:
    root = load_text(text, "x.yaml").root
    assert isinstance(root, Mapping)
    return read(Outer, root, name="given", count=1)


def test_what_is_missing_or_of_a_wrong_type_reads_as_absent() -> None:
    found = outer("{name: ignored, deep: [1], inner: 3, many: {a: 1}}")
    assert (found.name, found.share, found.inner) == ("given", None, Inner(None, False))
    assert (found.maybe, found.many) == (None, ())


def test_models_hold_models() -> None:
    found = outer("{deep: {share: 1}, inner: {word: w}, maybe: {flag: true}, many: [{word: a}, 2, {flag: 'no'}]}")
    assert (found.share, found.inner, found.maybe) == (1.0, Inner("w", False), Inner(None, True))
    assert found.many == (Inner("a", False), Inner(None, False))
