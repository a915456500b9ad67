"""Plans: one canonical form, and nothing that an honest compiler never writes gets in."""

import json
import re
from typing import Any

import msgspec
import pytest
from tests.runtime.plans import asked, check, lexicon, plan, sealed

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Node, Program
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import content_hash, encode
from rulewright_runtime.plan.file import decode, seal
from rulewright_runtime.plan.guard import PlanLimits
from rulewright_runtime.plan.question import AnchoredWindow
from rulewright_runtime.plan.scan import Plan, Scenario
from rulewright_runtime.plan.verifiers import (
    CorpusVerifier,
    JurisdictionRule,
    LexiconVerifier,
    RulePart,
    ScenarioRule,
    TraceVerifier,
    Verifier,
)

CANARY = plan(check(), asked(name="X2"))


def changed(data: bytes, change: Any) -> bytes:
    """A plan whose JSON was edited, then sealed again by somebody who knows how."""
    tree = json.loads(data)
    change(tree)
    return sealed(tree)


def edited(old: bytes, new: bytes) -> bytes:
    """The same with one text in place of another."""
    return sealed(json.loads(encode(CANARY).replace(old, new)))


def test_a_plan_survives_its_file() -> None:
    assert decode(encode(CANARY)) == CANARY


def test_the_same_plan_has_the_same_bytes_however_its_maps_were_filled() -> None:
    one = plan(check(), scenarios={"b": Scenario(), "a": Scenario()})
    other = plan(check(), scenarios={"a": Scenario(), "b": Scenario()})
    assert encode(one) == encode(other)


def test_every_check_has_a_hash_of_its_own() -> None:
    other = plan(check(severity="S5"), asked(name="X2"))
    assert seal(CANARY).checks[0].hash == CANARY.checks[0].hash != other.checks[0].hash
    assert re.fullmatch("[0-9a-f]{64}", CANARY.checks[0].hash)
    assert CANARY.checks[1].hash == other.checks[1].hash
    assert CANARY.hash != other.hash


def test_a_description_changes_no_rule() -> None:
    described = plan(msgspec.structs.replace(check(), description="No promises."), asked(name="X2"))
    assert described.checks[0].hash == CANARY.checks[0].hash
    assert decode(encode(described)) == described


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "can't be decoded"),
        (b"\xff\xfe", "can't be decoded"),
        (b"[]", "can't be decoded"),
        (b"[" * 100_000, "can't be decoded"),
        (encode(CANARY)[:-9], "can't be decoded"),
        (edited(b'"severity":"S3"', b'"severity":"S9"'), "severity"),
        (edited(b'"type":"lexicon"', b'"type":"shell"'), "Invalid value 'shell'"),
        (edited(b'"language"', b'"judge":"x","language"'), "unknown field `judge`"),
        (edited(b'"version":2', b'"version":3,"new":0'), "has version 3; this runtime is older and reads version 2"),
        (edited(b'"version":2', b'"version":1'), "has version 1; `rulewright compile` writes it again, in version 2"),
        (edited(b'"version":2', b'"version":"2"'), "has version 2; `rulewright compile` writes it again"),
        (edited(b'"rulewright-plan"', b'"rulewright-cases"'), "format `rulewright-cases`; expected `rulewright-plan`"),
        (b"{}", "has no format; expected `rulewright-plan`, which `rulewright compile` writes"),
        (encode(CANARY).replace(b"i promise", b"i swear"), "hash does not match"),
    ],
)
def test_a_damaged_plan_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        decode(data)


def test_a_new_word_of_a_lexicon_changes_the_checks_that_look_for_it() -> None:
    before = plan(check(), asked(name="X2"))
    after = plan(check(), asked(name="X2"), lexicons={"words": lexicon("i promise", "always", "never")})
    assert before.checks[0].hash != after.checks[0].hash
    assert before.checks[1].hash == after.checks[1].hash


def test_a_plan_with_a_right_hash_and_a_wrong_check_is_refused() -> None:
    def swap(tree: dict[str, Any]) -> None:
        tree["checks"][0]["hard_fail"] = True

    with pytest.raises(PlanError, match="hash of check `X1`"):
        decode(changed(encode(CANARY), swap))


@pytest.mark.parametrize(
    "nodes",
    [
        (),
        (Node("call", (1,), "f"), Node("const", (), ["bool", True])),
        (Node("eval", (), "1"),),
        (Node("local", (), 0),),
        (Node("not", ()),),
        (Node("const", (), ["int", "99999999999999999999"]),),
        (Node("const", (), ["pickle", "x"]),),
    ],
)
def test_an_expression_that_no_compiler_writes_is_refused(nodes: tuple[Node, ...]) -> None:
    bad = Program(nodes, "x")
    for hostile in (check(eligible=bad), check(suppressed=bad)):
        forged = seal(msgspec.structs.replace(plan(), checks=(hostile,)))
        data = encode(msgspec.structs.replace(forged, hash=content_hash(forged)))
        with pytest.raises(PlanError):
            decode(data)


@pytest.mark.parametrize("pattern", ["a(b", "(?=look)", r"(a)\1", "((a{100}){100}){100}"])
def test_a_regular_expression_that_re2_refuses_stops_the_plan(pattern: str) -> None:
    with pytest.raises(PlanError, match="regular expression"):
        decode(encode(plan(check(), lexicons={"words": lexicon(pattern, mode="regex")})))


def test_a_regular_expression_may_not_take_more_memory_than_allowed() -> None:
    hungry = plan(check(), lexicons={"words": lexicon(r"(\pL{1,500})x" * 5, mode="regex")})
    with pytest.raises(PlanError, match="regular expression"):
        decode(encode(hungry), PlanLimits(regex_memory=2**14))


def test_an_empty_pattern_is_refused_because_it_would_hit_everywhere() -> None:
    with pytest.raises(PlanError, match="empty pattern"):
        decode(encode(plan(check(), lexicons={"words": lexicon("")})))


def unsealed(verifier: Verifier) -> Plan:
    """A plan whose checks have no hashes, which the compiler can't compute."""
    return envelope.seal(msgspec.structs.replace(CANARY, checks=(check(verifier),)))


@pytest.mark.parametrize(
    ("hostile", "message"),
    [
        (plan(check(), check()), "two checks `X1`"),
        (plan(check(ScenarioRule("words", "words", "none"))), "needs the lexicon `none`"),
        (
            plan(check(JurisdictionRule("crisis", {"base": RulePart("law", actions={"call": "none"})}))),
            "lexicon `none`",
        ),
        (unsealed(TraceVerifier("none")), "needs the state machine `none`"),
        (unsealed(CorpusVerifier("none", ("unsupported",))), "needs the corpus `none`"),
        (plan(check(), lexicons={"words": lexicon()}), "length >= 1"),
        (plan(asked(precheck="none")), "needs the lexicon `none`"),
        (plan(asked(window=AnchoredWindow(cue="none"))), "needs the lexicon `none`"),
        (plan(check(LexiconVerifier("words", window=AnchoredWindow(cue="none")))), "needs the lexicon `none`"),
    ],
)
def test_what_leads_nowhere_is_refused(hostile: Plan, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        decode(encode(hostile))


@pytest.mark.parametrize(
    "limits",
    [
        PlanLimits(size=10),
        PlanLimits(checks=1),
        PlanLimits(scenarios=0),
        PlanLimits(patterns=1),
        PlanLimits(pattern_length=3),
    ],
)
def test_a_plan_larger_than_its_limits_is_refused(limits: PlanLimits) -> None:
    with pytest.raises(PlanError):
        decode(encode(CANARY), limits)


def test_repetitions_have_a_sane_bound() -> None:
    with pytest.raises(PlanError, match="repetitions"):
        decode(edited(b'"repetitions":1', b'"repetitions":1000000'))


def test_sealing_twice_changes_nothing() -> None:
    assert seal(CANARY) == CANARY
