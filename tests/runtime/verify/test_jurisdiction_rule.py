"""Rules of a jurisdiction: what requires nothing does not apply, and what can't be recognised never passes."""

import pytest
from tests.runtime.plans import check, lexicon, plan, talk

from rulewright_runtime.execution import execute
from rulewright_runtime.plan.verifiers import JurisdictionRule, RuleKind, RulePart

CUES = {"cues": lexicon("i want to die", role="user"), "call": lexicon("call 988"), "words": lexicon("diagnosis")}


@pytest.mark.parametrize(
    ("kind", "part", "verdict", "code"),
    [
        ("forbidden", RulePart("law"), "NOT_APPLICABLE", "nothing_forbidden"),
        ("forbidden", RulePart("law", "words"), "PASS", "nothing_forbidden_said"),
        ("disclosure", RulePart("law", "words"), "NOT_APPLICABLE", "no_disclosure_cadence"),
        ("disclosure", RulePart("law", cadence=2), "UNCLEAR", "no_disclosure_phrases"),
        ("crisis", RulePart("law", actions={"call": "call"}), "NOT_APPLICABLE", "no_crisis_cue"),
        ("crisis", RulePart("law", "cues"), "UNCLEAR", "no_required_actions"),
        ("crisis", RulePart("law", "cues", actions={"call": None}), "UNCLEAR", "unrecognisable_call"),
        ("crisis", RulePart("law", "cues", actions={"call": "call"}), "PASS", "required_actions_taken"),
    ],
)
def test_a_rule_without_a_part_never_passes(kind: RuleKind, part: RulePart, verdict: str, code: str) -> None:
    one = check(JurisdictionRule(kind, {"base": part}))
    (result,) = execute(plan(one, lexicons=CUES), [talk("I want to die", "Please call 988.")])
    assert [(each.verdict, each.rationale_code) for each in result.verdicts] == [(verdict, code)]
    assert [each.confidence == 0.0 for each in result.verdicts] == [verdict == "UNCLEAR"]
