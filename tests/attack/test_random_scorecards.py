"""For every scorecard that lints clean: a FAIL of a check that one of its gates holds never exits with 0.

Gates, dimensions and outputs are put together at random; so are the facts of checks and the verdicts about them.
"""

import json
import random
from typing import Any, Final

from tests.compiler.lower.test_scorecard import Record
from tests.rounds import SEED, rounds

from rulewright.documents.scorecard import read_scorecard
from rulewright.documents.validation import validate
from rulewright.load import load_text
from rulewright.lower.scorecard import lower_scorecard
from rulewright.proving.gate_findings import gate_findings
from rulewright.proving.gates import prove_gates
from rulewright.rules import findings
from rulewright.rules.of_scorecards import SCORECARD
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.report.summary import Summary, exit_status

CARDS: Final = rounds(30, 3_000)
DATA: Final = 12  # verdicts of each check that a gate holds
BUCKETS: Final = "ABCDEF"
SEVERITIES: Final = ("S1", "S2", "S3", "S4", "S4_GATE", "S5")
# What a condition may ask: of the check, of its verdict, of a setting. The first three are what an author should write.
OF_CHECK: Final = (
    "v.primary_bucket == '{bucket}'", "v.severity in [S5, S4_GATE]", "v.primary_bucket in scoring.grave",
    "v.check.hard_fail", "v.severity == {severity}", "'x' in v.secondary_tags", "v.check_id != 'K1'", "true",
    "v.check.routing.route == 'llm_primary'",
)  # fmt: skip
OF_VERDICT: Final = (
    "v.verdict == FAIL", "v.verdict in [FAIL, UNCLEAR]", "v.verdict != PASS", "v.verdict == UNCLEAR",
    "v.verdict == PASS", "v.adjudication_required", "v.confidence >= 0.5", "v.rationale_code == null", "has(v.extra.x)",
    "v.eligible", "false", "size(v.evidence) > 0", "v.extra.grade > 2", "v.prompt_hash != null",
)  # fmt: skip
OF_SETTING: Final = ("strict", "least > 0.5", "wanted == v.primary_bucket", "scoring.strict")
OUTPUTS: Final = (
    "{}", "{gates: gates}", "{gates: '{}', status: \"'valid'\"}", "{hard_fail: 'false', overall_score: score(1)}",
    "{renamed: gates, status: \"'valid'\"}", "{left: undecided, status: \"counts.any > 0 ? 'valid' : 'invalid'\"}",
)  # fmt: skip
SCORING: Final = {"grave": ["A", "B"], "strict": False}


def condition(chance: random.Random, usual: str, *kinds: tuple[str, ...]) -> str:
    """Mostly what an author should write, else some parts joined somehow."""
    if chance.random() < 0.5:
        return usual
    parts = [chance.choice(chance.choice(kinds)) for _ in range(chance.randint(1, 3))]
    parts = [f"!({part})" if chance.random() < 0.2 else part for part in parts]
    text = chance.choice([" && ", " || "]).join(f"({part})" for part in parts)
    if chance.random() < 0.3:
        text = f"({usual}) {chance.choice(['&&', '||'])} ({text})"
    return text.format(bucket=chance.choice(BUCKETS), severity=chance.choice(SEVERITIES))


def card(chance: random.Random) -> str:
    gates = {}
    for number in range(chance.randint(0, 3)):
        usual = chance.choice(OF_CHECK[:5]).format(bucket=chance.choice("ABC"), severity=chance.choice(SEVERITIES))
        gates[f"g{number}"] = {
            "of": condition(chance, usual, OF_CHECK, OF_CHECK, OF_VERDICT, OF_SETTING),
            "stops": condition(chance, "v.verdict == FAIL", OF_VERDICT, OF_VERDICT, OF_CHECK, OF_SETTING),
            "undecided": condition(chance, "v.verdict == UNCLEAR", OF_VERDICT, OF_SETTING),
            "empty": {key: chance.choice(["passed", "undecided"]) for key in ("not_eligible", "not_run")},
            "left_out": chance.choice(["open", "ignore"]),
        }
    return f"""
scorecard: card
parameters:
  strict: {{type: bool, default: {chance.choice(["true", "false"])}}}
  least: {{type: score, default: {chance.choice([0, 0.6, 1])}}}
  wanted: {{type: string, default: {chance.choice(BUCKETS)}}}
coverage: {{minimum: {chance.choice([0, 0.5, 0.8])}}}
gates: {json.dumps(gates)}
counts: {{any: v.eligible}}
output: {chance.choice(OUTPUTS)}
"""


def facts(chance: random.Random) -> dict[str, dict[str, Any]]:
    return {
        f"K{number}": {
            "primary_bucket": chance.choice(BUCKETS),
            "severity": chance.choice(SEVERITIES),
            "hard_fail": chance.random() < 0.5,
            "secondary_tags": chance.choice([[], ["x"], ["x", "y"]]),
            "routing": {"route": chance.choice(["llm_primary", "lexicon_only"])},
        }
        for number in range(chance.randint(1, 6))
    }


def verdict(chance: random.Random, name: str, about: dict[str, Any], word: str) -> Record:
    return Record(
        name,
        word,
        eligible=word == "FAIL" or chance.random() < 0.8,
        severity=about["severity"],
        primary_bucket=about["primary_bucket"],
        confidence=chance.choice([0.0, 0.3, 0.5, 1.0, 2.0]),
        evidence=chance.choice([(), ({"role": "assistant", "turn": 1, "quote": "q"},)]),
        prompt_hash=chance.choice([None, "p"]),
        rationale_code=chance.choice([None, "c"]),
        adjudication_required=chance.random() < 0.5,
        secondary_tags=tuple(about["secondary_tags"]),
        extra=chance.choice([{}, {"x": 1}, {"grade": 3}, {"grade": "high"}]),
    )


def clean(text: str, checks: dict[str, dict[str, Any]]) -> ScorecardPlan | None:
    """The plan of a scorecard in which lint finds no error; None for any other."""
    root = load_text(text, "card.yaml").root
    assert root is not None
    document, found = read_scorecard(root)
    assert document is not None
    plan, mistakes = lower_scorecard(document, SCORING, checks, {})
    wrong = [*validate("scorecard", root), *found, *mistakes, *findings(SCORECARD, [document])]
    if plan is None or any(each.severity.value == "error" for each in wrong):
        return None
    return None if list(gate_findings(document, prove_gates(plan))) else plan


def exit_code(scorecard: Scorecard, records: list[Record]) -> int:
    summary = Summary()
    row = {"transcript_id": "t", "scenario_id": "s", "model": "m", **scorecard.aggregate(records)}
    summary.add(row, records)
    return exit_status(summary.result())


def test_whatever_lints_clean_never_exits_with_0_on_a_fail_of_a_gate_check() -> None:
    chance = random.Random(SEED)
    tried, judged, passed = 0, 0, []
    for number in range(CARDS):
        text, checks = card(chance), facts(chance)
        plan = clean(text, checks)
        if plan is None:
            continue
        tried += 1
        settings = {
            "strict": chance.random() < 0.5,
            "least": chance.choice([0, 0.6, 1]),
            "wanted": chance.choice(BUCKETS),
        }
        scorecard = Scorecard(plan, settings)
        for name, about in checks.items():
            samples = [verdict(chance, name, about, word) for word in VERDICTS for _ in range(2)]
            gates = [effect.gates for effect in map(scorecard.effects.effect, samples)]
            if plan.gates and not any(gates):
                continue  # no gate holds the check
            for _ in range(DATA):
                records = [
                    verdict(chance, other, checks[other], chance.choice(VERDICTS)) for other in checks if other != name
                ]
                records.insert(chance.randint(0, len(records)), verdict(chance, name, about, "FAIL"))
                judged += 1
                if exit_code(scorecard, records) != 1:
                    passed.append((number, name, text))
    assert passed == []
    assert tried > CARDS / 5
    assert judged > CARDS


def test_without_gates_any_fail_exits_with_1() -> None:
    chance = random.Random(SEED)
    for output in ("{}", "{status: \"'valid'\"}", "{hard_fail: 'false', overall_score: score(1)}", "{gates: '{}'}"):
        checks = facts(chance)
        plan = clean(f"scorecard: card\noutput: {output}\n", checks)
        assert plan is not None, output
        name = chance.choice(list(checks))
        assert exit_code(Scorecard(plan), [verdict(chance, name, checks[name], "FAIL")]) == 1
