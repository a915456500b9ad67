"""Models and schemas: every key that a model reads is a key of its schema, and what is read is what the type says."""

from typing import Annotated

import pytest
from msgspec import Struct

from rulewright.documents import (
    agents,
    check,
    corpus,
    lexicon,
    profile,
    project_file,
    scenario,
    scorecard,
    state_machine,
    workflow,
)
from rulewright.documents.base import Document
from rulewright.documents.keys import EACH, keys_of
from rulewright.documents.typed_reader import At, Key, paths_of, read
from rulewright.load import Mapping, Scalar, load_text
from rulewright_runtime.workflow.workflow_plan import Contract

PROGRAMME = ("programmes", EACH)
TURN = ("turns", EACH)
TASK = ("tasks", EACH)
MODELS: dict[type, tuple[str, tuple[str, ...]]] = {
    Contract: ("contracts", ("contracts", EACH)),
    agents.AgentDocument: ("agent", ()),
    scorecard.CaseScorecardDocument: ("case_scorecard", ()),
    scorecard.LabelDocument: ("case_scorecard", ("labels", EACH)),
    scorecard.MetricDocument: ("case_scorecard", ("metrics", EACH)),
    scorecard.SettingDocument: ("case_scorecard", ("parameters", EACH)),
    check.CheckDocument: ("check", ()),
    check.Phases: ("check", ("phases",)),
    check.Routing: ("check", ("routing",)),
    check.Scorer: ("check", ("scorer",)),
    corpus.CorpusDocument: ("corpus", ()),
    corpus.FactDocument: ("corpus", (*PROGRAMME, "facts", EACH)),
    corpus.ProgrammeDocument: ("corpus", PROGRAMME),
    lexicon.LexiconDocument: ("lexicon", ()),
    lexicon.MarkerSet: ("markers", ()),
    profile.Profile: ("profile", ()),
    project_file.Accept: ("project", ("accept", EACH)),
    project_file.JudgeSection: ("project", ("judge",)),
    project_file.ProjectFile: ("project", ()),
    scenario.BranchDocument: ("scenario", (*TURN, "branches", EACH)),
    scenario.Criterion: ("scenario", (*TURN, "rubric", EACH)),
    scenario.CueAnchorDocument: ("scenario", ("cue_anchors", EACH)),
    scenario.Persona: ("scenario", ("persona",)),
    scenario.ProbeDocument: ("scenario", ("probes", EACH)),
    scenario.ScenarioDocument: ("scenario", ()),
    scenario.SessionDocument: ("scenario", ("sessions", EACH)),
    scenario.TurnDocument: ("scenario", TURN),
    scorecard.GateDocument: ("scorecard", ("gates", EACH)),
    scorecard.ListDocument: ("scorecard", ("lists", EACH)),
    scorecard.ParameterDocument: ("scorecard", ("parameters", EACH)),
    scorecard.RateDocument: ("scorecard", ("rates", EACH, "rate")),
    scorecard.ScorecardDocument: ("scorecard", ()),
    state_machine.Cue: ("state_machine", ("cues", EACH)),
    state_machine.EndingDocument: ("state_machine", ("endings", EACH)),
    state_machine.ForbiddenDocument: ("state_machine", ("forbidden", EACH)),
    state_machine.StateMachineDocument: ("state_machine", ()),
    state_machine.TransitionDocument: ("state_machine", ("transitions", EACH)),
    workflow.TaskDocument: ("workflow", TASK),
    workflow.TaskMetricDocument: ("workflow", (*TASK, "overlays", "confidence_loop", "metrics", EACH)),
    workflow.WorkflowDocument: ("workflow", ()),
}
# What a caller gives instead, from under one of several keys.
GIVEN = {
    Contract: {"type"},
    lexicon.MarkerSet: {"name"},
    project_file.ProjectFile: {"places", "unset"},
    scenario.TurnDocument: {"number"},
    scorecard.RateDocument: {"kind", "weight"},
    workflow.TaskDocument: {"id", "key", "enabled", "loops", "metrics"},
    workflow.TaskMetricDocument: {"field"},
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_that_a_model_reads_is_a_key_of_its_schema(model: type[Struct]) -> None:
    kind, above = MODELS[model]
    known = keys_of(kind)
    read_by_type = [(*above, *steps) for steps in paths_of(model) if steps[0] not in GIVEN.get(model, ())]
    assert [path for path in read_by_type if path not in known] == []


class Inner(Struct, frozen=True):
    word: str | None
    flag: bool


class Outer(Document, frozen=True, eq=False):
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


class Entry(Struct, frozen=True):
    name: Key
    when: Scalar
    flag: bool


class Listed(Struct, frozen=True):
    when: Scalar


class Holder(Struct, frozen=True):
    by_key: tuple[Entry, ...]
    listed: tuple[Listed, ...]


def test_a_model_with_a_key_is_in_a_mapping_and_items_without_a_needed_text_are_left_out() -> None:
    text = "{by_key: {a: {when: x, flag: true}, b: {flag: true}, c: 1}, listed: [{when: y}, {when: 1}, {}]}"
    found = read(Holder, load_text(text, "x.yaml").root)
    assert [(each.name, each.when.value, each.flag) for each in found.by_key] == [("a", "x", True)]
    assert [each.when.value for each in found.listed] == ["y"]
    assert read(Holder, load_text("{by_key: [{when: x}], listed: {a: {when: x}}}", "x.yaml").root) == Holder((), ())
