"""Bounds equal enumeration: nothing a row may become lies outside, and every end is reached."""

import json
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, islice, product
from types import SimpleNamespace
from typing import Any, Final

from msgspec.structs import replace
from tests.attack.test_random_scorecards import BUCKETS, OF_CHECK, SCORING, condition, facts
from tests.rounds import rounds

from rulewright.documents.scorecard import read_scorecard
from rulewright.load import load_text
from rulewright.lower.scorecard import lower_scorecard
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.bounds import MAX_EXACT, outer_bounds, rate_interval
from rulewright_runtime.aggregate.effects import Effect, chances, state_of
from rulewright_runtime.aggregate.outcome import OUTCOMES
from rulewright_runtime.plan.part import ANSWERS

CARDS: Final = rounds(60, 2_000)
WORDS: Final = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")
SCORES: Final = (
    "wmean_present(dimensions, weights)",
    "size(lists.failed) > 0 ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "counts.failed > 1 ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "size(undecided.g0) > 0 ? optional.none() : wmean_present(dimensions, weights)",
    "flags.weak.orValue(false) ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "size(gates.g0.reasons) > 1 ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "lists.failed.exists(f, f.check_id.endsWith('0')) ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "verdicts.exists(v, v.verdict == FAIL && v.check_id.endsWith('1')) ? optional.none() : optional.of(score(1))",
    "verdicts[0].verdict == FAIL ? optional.of(score(0)) : wmean_present(dimensions, weights)",
    "size(lists.failed) > 1 && lists.failed[0].check_id.endsWith('0') ? optional.none() : optional.of(score(1))",
    "size(gates.g0.reasons) > 1 && gates.g0.reasons[0].endsWith('1') ? optional.none() : optional.of(score(1))",
)


def card(chance: random.Random) -> str:
    """A scorecard with a gate, two dimensions and a score that reads what is at hand."""
    gate = {
        "of": condition(chance, OF_CHECK[0].format(bucket=chance.choice("ABC")), OF_CHECK),
        "stops": "v.verdict == FAIL",
        "undecided": chance.choice(["v.verdict == UNCLEAR", "v.verdict in [UNCLEAR, NOT_APPLICABLE]"]),
        "empty": {key: chance.choice(["passed", "undecided"]) for key in ("not_eligible", "not_run")},
    }
    dimensions = {}
    for name in ("one", "two"):
        hit, miss, exclude = ["PASS"], ["FAIL"], ["UNCLEAR", "NOT_APPLICABLE"]
        if chance.random() < 0.3:
            miss.append(exclude.pop(0))
        kind = chance.choice(["rate", "rate", "every"])
        about = {"of": f"v.primary_bucket in {json.dumps(chance.sample(BUCKETS, 3))}", "hit": hit, "miss": miss}
        rest = {"exclude": exclude, "error": "adjudicate", "empty": chance.choice(["absent", 0, 1])}
        dimensions[name] = {kind: {**about, **rest}}
        if rest["empty"] != "absent":
            dimensions[name][kind]["empty"] = "absent" if chance.random() < 0.5 else rest["empty"]
    return f"""
scorecard: card
parameters:
  strict: {{type: bool, default: false}}
  least: {{type: score, default: 0.5}}
  wanted: {{type: string, default: A}}
coverage: {{minimum: {chance.choice([0, 0.5, 0.8])}}}
gates: {json.dumps({"g0": gate} if chance.random() < 0.8 else {"g0": {**gate, "of": "false"}})}
dimensions: {json.dumps(dimensions)}
counts: {{failed: v.eligible && v.verdict == FAIL}}
lists:
  failed: {{of: "v.eligible && v.verdict == FAIL && v.severity in [S5, S4_GATE]", each: {{check_id: v.check_id}}}}
flags: {{raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}}
output:
  gates: gates
  dimension_scores: dimensions
  overall_score: "{chance.choice(SCORES)}"
"""


def record(chance: random.Random, name: str, about: dict[str, Any], word: str, *, lost: bool = False) -> Any:
    return SimpleNamespace(
        check_id=name,
        eligible=word != "NOT_APPLICABLE" or chance.random() < 0.5,
        verdict=word,
        severity=about["severity"],
        primary_bucket=about["primary_bucket"],
        confidence=1.0,
        evidence=(),
        scorer_version="1",
        prompt_hash=None,
        rationale_code=None,
        adjudication_required=False,
        secondary_tags=tuple(about["secondary_tags"]),
        extra={},
        cause="error" if lost else None,
    )


def rows() -> Iterator[tuple[random.Random, Scorecard, list[Any], list[int]]]:
    """Scorecards and verdicts at random, and the places of those that are unknown: at most six."""
    chance = random.Random(20260115)
    for _ in range(CARDS):
        checks = {f"{name}{part}": about for part in range(2) for name, about in facts(chance).items()}
        root = load_text(card(chance), "card.yaml").root
        assert root is not None
        document, _ = read_scorecard(root)
        assert document is not None
        plan, mistakes = lower_scorecard(document, SCORING, checks, {"weak": next(iter(checks))})
        assert plan is not None, mistakes
        words = {name: chance.choice(("PASS", "PASS", "FAIL", "NOT_APPLICABLE")) for name in checks}
        unknown = chance.sample(sorted(checks), min(len(checks), chance.randint(1, chance.choice((2, 4, MAX_EXACT)))))
        lost = {name for name in unknown if chance.random() < 0.3}
        words |= {name: "FAIL" if name in lost else "UNCLEAR" for name in unknown}
        records = [record(chance, name, checks[name], word, lost=name in lost) for name, word in words.items()]
        yield chance, Scorecard(plan), records, [at for at, each in enumerate(records) if each.check_id in unknown]


def enumerated(scorecard: Scorecard, records: Sequence[Any], unknown: Sequence[int]) -> dict[tuple[str, ...], Any]:
    """The row of every completion, made without anything of what is tested."""
    found = {}
    for answers in product(ANSWERS, repeat=len(unknown)):
        given = [SimpleNamespace(**vars(each)) for each in records]
        for at, answer in zip(unknown, answers, strict=True):
            given[at].verdict, given[at].cause, given[at].eligible = answer, None, True
        found[answers] = scorecard.aggregate(given)
    return found


def ends(values: Sequence[Any]) -> dict[str, Any]:
    numbers = [value for value in values if value is not None]
    return {"low": min(numbers, default=None), "high": max(numbers, default=None), "absent": len(numbers) < len(values)}


def smallest(results: dict[tuple[str, ...], Any], unknown: int) -> list[tuple[int, ...]]:
    """All smallest sets of unknowns whose answers fix the result."""
    sets = chain.from_iterable(combinations(range(unknown), size) for size in range(unknown + 1))
    fixing: list[tuple[int, ...]] = []
    for chosen in sets:
        if fixing and len(chosen) > len(fixing[0]):
            break
        by_answers: dict[tuple[str, ...], set[Any]] = {}
        for answers, result in results.items():
            by_answers.setdefault(tuple(answers[at] for at in chosen), set()).add(result)
        if all(len(each) == 1 for each in by_answers.values()):
            fixing.append(chosen)
    return fixing


def test_bounds_equal_enumeration_and_the_answers_to_ask_for_are_the_fewest() -> None:
    widest = 0
    for _, scorecard, records, unknown in rows():
        found = scorecard.bounds(records)
        assert found is not None
        made = enumerated(scorecard, records, unknown)
        names = [records[at].check_id for at in unknown]
        assert (found["exact"], found["unknown"]) == (True, names)
        assert found["overall_score"] == ends([row["overall_score"] for row in made.values()])
        outcomes = {answers: row["engine"]["outcome"] for answers, row in made.items()}
        assert found["outcomes"] == sorted(set(outcomes.values()))
        assert found["decided_by"] in [[names[at] for at in each] for each in smallest(outcomes, len(names))]
        states = {answers: state_of(row["gates"]["g0"]) for answers, row in made.items()}
        assert found["gates"]["g0"]["states"] == sorted(set(states.values()))
        assert [found["gates"]["g0"]["decided_by"]] == [
            [names[at] for at in each] for each in smallest(states, len(names))
        ]
        for name, values in found["dimensions"].items():
            assert values == ends([row["dimension_scores"][name] for row in made.values()])
        widest = max(widest, len(names))
    assert widest == MAX_EXACT


def test_completions_that_do_the_same_are_executed_once(monkeypatch: Any) -> None:
    parts = {"of": "true", "hit": ["PASS"], "miss": ["FAIL"], "exclude": ["UNCLEAR", "NOT_APPLICABLE"]}
    text = f"""
scorecard: card
dimensions: {json.dumps({"one": {"rate": {**parts, "error": "adjudicate", "empty": "absent"}}})}
flags: {{raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}}
output: {{overall_score: "wmean_present(dimensions, weights)"}}
"""
    names = [f"c{number}" for number in range(MAX_EXACT)]
    about = {"primary_bucket": "A", "severity": "S3", "secondary_tags": []}
    root = load_text(text, "card.yaml").root
    assert root is not None
    document, _ = read_scorecard(root)
    assert document is not None
    plan, mistakes = lower_scorecard(document, SCORING, dict.fromkeys(names, about), {})
    assert plan is not None, mistakes
    scorecard, rows, carry_out = Scorecard(plan), [], Scorecard._row

    def counted(*given: Any, **more: Any) -> dict[str, Any]:
        rows.append(1)
        return carry_out(*given, **more)

    monkeypatch.setattr(Scorecard, "_row", counted)
    found = scorecard.bounds([record(random.Random(1), name, about, "UNCLEAR") for name in names])
    assert found is not None
    assert found["overall_score"] == {"low": 0.0, "high": 1.0, "absent": True}
    assert found["decided_by"] == names
    assert len(rows) == 28, "as many as there are ways to give six answers of three kinds, whoever gives them"


def test_a_headline_of_another_name_has_the_same_bounds() -> None:
    for _, scorecard, records, _ in islice(rows(), 40):
        parts = [
            replace(each, name={"overall_score": "service"}.get(each.name, each.name)) for each in scorecard.plan.output
        ]
        renamed = Scorecard(replace(scorecard.plan, output=tuple(parts), headline="service"))
        assert renamed.bounds(records) == scorecard.bounds(records)


def test_an_outer_bound_holds_what_enumeration_finds_and_says_that_it_is_one(monkeypatch: Any) -> None:
    monkeypatch.setattr("rulewright_runtime.aggregate.aggregation.MAX_EXACT", 0)
    for number, (_, scorecard, records, unknown) in enumerate(rows()):
        if number == 60:
            break
        found = scorecard.bounds(records)
        assert found is not None
        assert found["exact"] is False
        made = enumerated(scorecard, records, unknown)
        assert {row["engine"]["outcome"] for row in made.values()} <= set(found["outcomes"])
        exact = ends([row["overall_score"] for row in made.values()])
        assert exact["low"] is None or found["overall_score"]["low"] <= exact["low"]
        assert exact["high"] is None or exact["high"] <= found["overall_score"]["high"]


def test_an_unanswered_failure_never_raises_a_lower_bound_nor_lowers_an_upper_one() -> None:
    for number, (chance, scorecard, records, _) in enumerate(rows()):
        failing = [each for each in records if each.verdict == "FAIL" and each.cause is None]
        if not failing or number > 150:
            continue
        before = scorecard.score(records)
        bounds = before["engine"].get("bounds")
        lowest = bounds["overall_score"]["low"] if bounds else before["overall_score"]
        chance.choice(failing).verdict = "UNCLEAR"
        after = scorecard.bounds(records)
        assert after is not None
        low = after["overall_score"]["low"]
        assert lowest is None or (low is not None and low <= lowest)


def test_an_answer_without_the_level_that_a_score_reads_leaves_the_score_open() -> None:
    about = {"severity": "S2", "primary_bucket": "A", "secondary_tags": []}
    text = """
scorecard: card
output:
  overall_score: "mean(verdicts.filter(v, v.verdict == PASS).map(v, score(1) * int(v.extra.points) / 4))"
"""
    root = load_text(text, "card.yaml").root
    assert root is not None
    document, _ = read_scorecard(root)
    assert document is not None
    plan, mistakes = lower_scorecard(document, SCORING, {"a": about, "b": about}, {})
    assert plan is not None, mistakes
    known, unknown = (record(random.Random(1), name, about, word) for name, word in (("a", "PASS"), ("b", "UNCLEAR")))
    known.extra = {"points": 1}
    found = Scorecard(plan).bounds([known, unknown])
    assert found is not None
    assert (found["overall_score"], found["exact"]) == ({"low": 0.0, "high": 1.0, "absent": True}, False)


def test_nothing_unknown_has_no_bounds() -> None:
    for _, scorecard, records, unknown in rows():
        known = [each for at, each in enumerate(records) if at not in unknown]
        assert scorecard.bounds(known) is None
        assert "bounds" not in scorecard.score(known)["engine"]
        break


def test_one_gate_that_must_fail_decides_an_outcome_with_an_outer_bound() -> None:
    open_gate, stopped = {"states": ["failed", "passed"]}, {"states": ["failed"]}
    found = outer_bounds(["a", "b"], {"g": open_gate, "h": stopped})
    assert (found["outcomes"], found["decided_by"]) == (["failed"], [])
    found = outer_bounds(["a", "b"], {"g": open_gate, "h": {"states": ["passed"]}})
    assert (found["outcomes"], found["decided_by"]) == (sorted(OUTCOMES), ["a", "b"])


def test_what_must_count_counts_at_both_ends_of_a_rate() -> None:
    earns, misses, either = (True, False, False), (False, True, False), (True, True, True)
    assert rate_interval(1, 1, [misses]) == ((1, 2), (1, 2))
    assert rate_interval(1, 1, [earns]) == ((2, 2), (2, 2))
    assert rate_interval(1, 1, [either]) == ((1, 2), (2, 2))
    assert rate_interval(0, 0, [either]) == ((0, 1), (1, 1), (0, 0))


def test_part_credit_is_in_the_denominator_of_its_rate_and_of_no_other() -> None:
    credited = Effect("a", (), (), (), ((1, Fraction(1, 2)),), (), (), None, ())
    assert [chances(rate, [credited]) for rate in (0, 1)] == [(False, False, True), (True, True, False)]
