"""Example rows for a difference of two scorecards: few verdicts, on which both scorecards are executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, islice, pairwise, product
from types import SimpleNamespace
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary
from rulewright.policies.policy_model import ENDED
from rulewright.proving.domains import boolean, score, text
from rulewright.proving.program_parts import constants_of, numbers_of, paths_of
from rulewright.proving.results import in_words
from rulewright.witnesses.guesses import choices, guesses, varied
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE, NO_RECORD
from rulewright_runtime.aggregate.scorecard_values import export
from rulewright_runtime.plan.part import VERDICTS, programs_of
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import Value

Step: TypeAlias = tuple[str, str, str]  # an output, and its values under both scorecards, as written in documents
MOST_ROWS: Final = 12_000
MOST_KINDS: Final = 3  # verdicts in one row
MOST_OF_TWO: Final = 10  # verdicts of two kinds in one row
MOST_FURTHER: Final = 32  # records of one verdict
MOST_OF_A_SHARE: Final = 40  # verdicts of a row in which one kind has a certain share
_RECORD: Final[Mapping[str, object]] = {
    "eligible": True, "confidence": 1.0, "evidence": [], "scorer_version": "", "prompt_hash": None,
    "rationale_code": None, "adjudication_required": False, "secondary_tags": [], "extra": {},
    "severity": "", "primary_bucket": "", "verdict": "PASS",
}  # fmt: skip
_BESIDE: Final = (1, 9)  # usual verdicts
_STATED: Final = "a check"
_FREE: Final = {"confidence": score(), "rationale_code": text(), "scorer_version": text(), "prompt_hash": text(),
                "adjudication_required": boolean()}  # fmt: skip


def shown_by(
    plans: Sequence[ScorecardPlan], given: Mapping[str, object], verdict: Mapping[str, Value]
) -> dict[str, object]:
    """The rows of both scorecards for a verdict with these fields: beside as many of the usual ones as it takes for two
    different rows, else alone."""
    check_id = str(verdict.get("check_id", _STATED))
    facts = dict(verdict.get("check") or {})
    record = _record({**{key: export(value) for key, value in verdict.items() if key != "check"}, "check_id": check_id})
    cards = [_card(replace(plan, checks={check_id: facts, **plan.checks}), given) for plan in plans]
    usual = _record({"check_id": check_id})
    made = ([record, *[usual] * number] for number in (0, *_BESIDE))
    shown = [_shown(verdicts, [card.aggregate(verdicts) for card in cards]) for verdicts in made]
    return next((each for each in shown if _differ(each)), shown[0])


def _differ(row: Mapping[str, Value]) -> bool:
    one, two = row["rows"]
    return bool(one != two)


def rows_apart(
    plans: Sequence[ScorecardPlan],
    given: Mapping[str, object],
    vocabulary: Vocabulary,
    wanted: Sequence[str],
    steps: Collection[Step] = (),
) -> tuple[dict[str, dict[str, object]], dict[Step, dict[str, object]]]:
    """For each wanted output, the first row found on which the two scorecards differ, and under `engine` the
    first with another outcome; for each of the `steps`, the first row on which an output takes it."""
    cards = [_card(_knowing(plan, vocabulary), given) for plan in plans]
    found: dict[str, dict[str, object]] = {}
    made: dict[Step, dict[str, object]] = {}
    names = sorted({name for name, _, _ in steps})
    for verdicts in _rows(_pool(cards), _shares(cards)):
        rows = [card.aggregate(verdicts) for card in cards]
        for name in (*wanted, ENGINE):
            if name not in found and _value(rows[0], name) != _value(rows[1], name):
                found[name] = _shown(verdicts, rows)
        for name in names:
            step = name, _shown_output(rows[0], name), _shown_output(rows[1], name)
            if step in steps and step not in made:
                made[step] = _shown(verdicts, rows)
        if len(found) == len(wanted) + 1 and len(made) == len(steps):
            break
    return found, made


def verdicts_of(row: Mapping[str, Value]) -> str:
    """The verdicts of a row in words: equal ones once, with their number."""
    counts = Counter(" ".join([each["check_id"], each["verdict"], *_beside(each)]) for each in row["verdicts"])
    parts = [text if count == 1 else f"{text} ({count} times)" for text, count in counts.items()]
    return ", ".join(parts) or "no verdicts"


def _beside(verdict: Mapping[str, Value]) -> Iterator[str]:
    more = (f"{name} {in_words(value)}" for name, value in verdict.items() if name in _FREE)
    if parts := ", ".join(more):
        yield f"({parts})"


def _shown_output(row: Mapping[str, Value], name: str) -> str:
    """What an output is, as regions tell it."""
    is_open = any(each["place"] == f"output.{name}" for each in row.get("undecided", ()))
    return ENDED.text if is_open else in_words(row.get(name))


def _value(row: Mapping[str, Value], name: str) -> Value:
    return row[ENGINE]["outcome"] if name == ENGINE else row.get(name)


def _record(values: Mapping[str, Value]) -> Value:
    fields: dict[str, object] = dict(_RECORD)
    return SimpleNamespace(**(fields | dict(values)))


def _card(plan: ScorecardPlan, given: Mapping[str, object]) -> Scorecard:
    return Scorecard(plan, plan.declared(given))


def _knowing(plan: ScorecardPlan, vocabulary: Vocabulary) -> ScorecardPlan:
    """The plan, or one with a check for each bucket and severity if it has no checks."""
    if plan.checks:
        return plan
    checks = {
        f"{bucket} {severity}": {"primary_bucket": bucket, "severity": severity}
        for bucket in vocabulary.buckets
        for severity in vocabulary.severities
    }
    return replace(plan, checks=checks)


def _pool(cards: Sequence[Scorecard]) -> list[object]:
    """A verdict for each distinct effect of a verdict on both scorecards."""
    shared = {name: facts for name, facts in cards[0].plan.checks.items() if name in cards[1].plan.checks}
    found: dict[object, object] = {}
    further = _further(cards)
    for name, facts in shared.items():
        about: dict[str, object] = {
            key: facts[key] for key in ("primary_bucket", "severity", "secondary_tags") if key in facts
        }
        for verdict, more in product((*VERDICTS, NO_RECORD), further):
            record = _record({**about, **more, "check_id": name, "verdict": verdict})
            found.setdefault(tuple([_does(card, record) for card in cards]), record)
    return list(found.values())


def _further(cards: Sequence[Scorecard]) -> list[dict[str, Value]]:
    """What verdicts may hold beside their words where conditions of the scorecards turn."""
    programs = [program for card in cards for program in programs_of(card.plan)]
    read = {path[1] for program in programs for path in paths_of(program) or () if path[0] == "v" and len(path) > 1}
    asked: dict[str, list[Value]] = {name: [] for name in sorted(read & _FREE.keys())}
    for path, values in guesses(programs).items():
        if path[0] == "v" and len(path) == 2:
            asked.setdefault(path[1], []).extend(values)
        for each in (each for value in values if path == ("verdicts",) for each in value if isinstance(each, dict)):
            for name, value in each.items():
                asked.setdefault(name, []).append(value)
    among = {name: choices(domain, asked[name]) for name, domain in _FREE.items() if name in asked}
    return [
        {name: leave(value) if isinstance(value, Score) else value for name, value in more.items()}
        for more in islice(varied(among), MOST_FURTHER)
    ]


def _does(card: Scorecard, record: Value) -> tuple[object, ...]:
    """What a verdict does to a row: alone it may look like another, but count in other dimensions beside it."""
    row, effect = card.aggregate([record]), card.effects.effect(record)
    about = {key: value for key, value in row[ENGINE].items() if key != "because"}
    gates = {name: gate["state"] for name, gate in about.pop("gates").items()}
    alone = repr(({k: v for k, v in row.items() if k not in (ENGINE, "gates")}, about, gates))
    return alone.replace(repr(record.check_id), "it"), effect.mark(-1, by_name=False), effect.credits


def _shares(cards: Sequence[Scorecard]) -> list[Fraction]:
    """The shares between 0 and 1 that two scorecards may distinguish: the numbers in them and their parameters,
    and values between these."""
    numbers: set[Fraction] = set()
    for card in cards:
        plan = card.plan
        programs = [*programs_of(plan), *([plan.minimum_coverage] if plan.minimum_coverage else [])]
        known = numbers_of([*constants_of(programs), *card.parameters.values()])
        numbers |= {each for each in known if 0 < each < 1}
    line = sorted({*numbers, Fraction(0), Fraction(1)})
    between = [(low + high) / 2 for low, high in pairwise(line)]
    return [share.limit_denominator(MOST_OF_A_SHARE) for share in (*line[1:-1], *between)]


def _rows(pool: Sequence[Value], shares: Sequence[Fraction]) -> Iterator[list[Value]]:
    """Rows of few verdicts, the shortest first, rows of two kinds in which one has one of the shares, and longer rows
    of two kinds."""
    short = (list(chosen) for size in range(MOST_KINDS) for chosen in combinations_with_replacement(pool, size))
    pairs = list(combinations(pool, 2))
    long = (
        [one] * count + [other] * (size - count)
        for size in range(MOST_KINDS, MOST_OF_TWO + 1)
        for one, other in pairs
        for count in range(1, size)
    )
    shared = (
        [one] * share.numerator + [other] * (share.denominator - share.numerator)
        for share in shares
        for two in pairs
        for one, other in (two, two[::-1])
    )
    three = (list(chosen) for chosen in combinations(pool, MOST_KINDS))
    some = MOST_ROWS // 3
    return islice(chain(short, islice(shared, some), islice(three, some), long), MOST_ROWS)


def _shown(verdicts: Sequence[Value], rows: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    return {
        "verdicts": [
            {"check_id": each.check_id, "eligible": each.eligible, "verdict": each.verdict}
            | {name: value for name in _FREE if (value := getattr(each, name)) != _RECORD[name]}
            for each in verdicts
        ],
        "rows": [dict(row) for row in rows],
    }
