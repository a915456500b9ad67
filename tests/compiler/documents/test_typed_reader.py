"""Models and schemas: every key that a model reads is a key of its schema, and what is read is what the type says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from rulewright.documents import check, profile, scenario
from rulewright.documents.base import Document
from rulewright.documents.typed_reader import At, paths_of, read
from rulewright.keys import EACH, keys_of
from rulewright.load import Mapping, load_text

TURN = ("turns", EACH)
MODELS: dict[type, tuple[str, tuple[str, ...]]] = {
    check.Check: ("check", ()),
    check.Phases: ("check", ("phases",)),
    check.Routing: ("check", ("routing",)),
    check.Scorer: ("check", ("scorer",)),
    profile.Profile: ("profile", ()),
    scenario.Branch: ("scenario", (*TURN, "branches", EACH)),
    scenario.Criterion: ("scenario", (*TURN, "rubric", EACH)),
    scenario.CueAnchor: ("scenario", ("cue_anchors", EACH)),
    scenario.Persona: ("scenario", ("persona",)),
    scenario.Probe: ("scenario", ("probes", EACH)),
    scenario.Scenario: ("scenario", ()),
    scenario.Session: ("scenario", ("sessions", EACH)),
    scenario.Turn: ("scenario", TURN),
}
GIVEN = {("number",), ("name",)}  # what the caller knows: a turn's number has several keys, a file's name none


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_that_a_model_reads_is_a_key_of_its_schema(model: type) -> None:
    kind, above = MODELS[model]
    known = keys_of(kind)
    read_by_type = [(*above, *steps) for steps in paths_of(model) if steps not in GIVEN]
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
