"""Finds example rows for a difference of two scorecards: a few verdicts, which both scorecards aggregate."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, combinations_with_replacement, islice, pairwise, product
from types import SimpleNamespace
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary
from rulewright.policies.policy_model import ENDED
from rulewright.policies.scorecards import OPEN, SETTLED, VARIABLES
from rulewright.proving.domains import boolean, score, text
from rulewright.proving.program_parts import constants_of, numbers_of, paths_of
from rulewright.proving.results import in_words
from rulewright.witnesses.guesses import choices, guesses, varied
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.aggregate.outcome import ENGINE, NO_RECORD
from rulewright_runtime.aggregate.scorecard_values import export
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import VERDICTS, programs_of
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.score import Score, leave
from rulewright_runtime.values import Value

Step: TypeAlias = tuple[str, str, str]  # an output, and its values under both scorecards, as written in documents
CHOSEN: Final = ("@headline", "@label")  # the outputs that a scorecard names
MOST_ROWS: Final = 8_000
MOST_KINDS: Final = 3  # verdicts in one row
MOST_OF_TWO: Final = 10  # verdicts of two kinds in one row
MOST_FURTHER: Final = 32  # records of one verdict
MOST_TAGGED: Final = 24  # sets of tags
MOST_OF_A_SHARE: Final = 40  # verdicts of a row in which one kind has a certain share
_RECORD: Final[Mapping[str, object]] = {
    "eligible": True, "confidence": 1.0, "evidence": [], "scorer_version": "", "prompt_hash": None,
    "rationale_code": None, "adjudication_required": False, "secondary_tags": [], "extra": {},
    "severity": "", "primary_bucket": "", "verdict": "PASS",
}  # fmt: skip
_NUMBERS_BESIDE: Final = (1, 9)  # usual verdicts
_ANY_CHECK: Final = "a check"
_FREE: Final = {"confidence": score(), "rationale_code": text(), "scorer_version": text(), "prompt_hash": text(),
                "adjudication_required": boolean()}  # fmt: skip
_SHOWN_FIELDS: Final = (*_FREE, "extra")


def shown_by(
    plans: Sequence[ScorecardPlan], given: Mapping[str, object], verdict: Mapping[str, Value]
) -> dict[str, object]:
    """The rows of both scorecards for a verdict with these fields: next to as many plain verdicts as it takes to make
    the rows differ, or alone if they never do."""
    check_id = str(verdict.get("check_id", _ANY_CHECK))
    facts = dict(verdict.get("check") or {})
    record = _record({**{key: export(value) for key, value in verdict.items() if key != "check"}, "check_id": check_id})
    cards = [_card(replace(plan, checks={check_id: facts, **plan.checks}), given) for plan in plans]
    usual = _record({"check_id": check_id})
    made = ([record, *[usual] * number] for number in (0, *_NUMBERS_BESIDE))
    shown = [_shown(verdicts, [card.aggregate(verdicts) for card in cards]) for verdicts in made]
    return next((each for each in shown if each["rows"][0] != each["rows"][1]), shown[0])


def differing_rows(
    plans: Sequence[ScorecardPlan],
    given: Mapping[str, object],
    vocabulary: Vocabulary,
    wanted: Sequence[str],
    steps: Collection[Step],
) -> tuple[dict[str, dict[str, object]], dict[Step, dict[str, object]]]:
    """For each wanted output, which may be one of `CHOSEN`, the first row found on which the two scorecards differ, and
    under `engine` the first with another outcome; for each of the `steps`, the first row on which an output takes it.
    """
    tags = list(islice(_tags(plans), MOST_TAGGED))
    cards = [_card(_knowing(plan, vocabulary, tags), given) for plan in plans]
    found: dict[str, dict[str, object]] = {}
    made: dict[Step, dict[str, object]] = {}
    names = sorted({name for name, _, _ in steps})
    pool = _pool(cards)
    known = [(card, {id(each): card.effects.effect(each) for each in pool}) for card in cards]
    for verdicts in _rows(pool, _shares(cards)):
        rows = [
            card.aggregate(verdicts, summed=card.summed_of([effects[id(each)] for each in verdicts]))
            for card, effects in known
        ]
        for name in (*wanted, ENGINE):
            if name not in found and _value(plans[0], rows[0], name) != _value(plans[1], rows[1], name):
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
    counts = Counter(" ".join([each["check_id"], each["verdict"], *_extra_fields(each)]) for each in row["verdicts"])
    parts = [text if count == 1 else f"{text} ({count} times)" for text, count in counts.items()]
    return ", ".join(parts) or "no verdicts"


def _extra_fields(verdict: Mapping[str, Value]) -> Iterator[str]:
    more = (f"{name} {in_words(value)}" for name, value in verdict.items() if name in _SHOWN_FIELDS)
    if parts := ", ".join(more):
        yield f"({parts})"


def _shown_output(row: Mapping[str, Value], name: str) -> str:
    """The value of an output as regions write it; for `VARIABLES`, whether all variables have a value."""
    if name == VARIABLES:
        without = any(each["place"].startswith(f"{VARIABLES}.") for each in row.get("undecided", ()))
        return (OPEN if without else SETTLED).text
    is_open = any(each["place"] == f"output.{name}" for each in row.get("undecided", ()))
    return ENDED.text if is_open else in_words(row.get(name))


def _value(plan: ScorecardPlan, row: Mapping[str, Value], name: str) -> Value:
    chosen = getattr(plan, name.removeprefix("@")) if name in CHOSEN else name
    return row[ENGINE]["outcome"] if name == ENGINE else row.get(chosen)


def _record(values: Mapping[str, Value]) -> Value:
    fields: dict[str, object] = dict(_RECORD)
    return SimpleNamespace(**(fields | dict(values)))


def _card(plan: ScorecardPlan, given: Mapping[str, object]) -> Scorecard:
    return Scorecard(plan, plan.declared(given))


def _knowing(plan: ScorecardPlan, vocabulary: Vocabulary, tags: Iterable[tuple[str, ...]]) -> ScorecardPlan:
    """The plan with its checks, or with one for each bucket and severity if it has none, and one for each of the
    `tags`."""
    usual = {"primary_bucket": vocabulary.buckets[0], "severity": vocabulary.severities[0]}
    tagged = {f"a check tagged {' and '.join(each)}": {**usual, "secondary_tags": list(each)} for each in tags}
    checks = plan.checks or {
        f"{bucket} {severity}": {"primary_bucket": bucket, "severity": severity}
        for bucket in vocabulary.buckets
        for severity in vocabulary.severities
    }
    return replace(plan, checks={**checks, **tagged})


def _tags(plans: Sequence[ScorecardPlan]) -> Iterator[tuple[str, ...]]:
    """Sets of the tags that conditions look for: one, two, all."""
    asked = [values for path, values in _guessed(plans) if path[-1] == "secondary_tags"]
    tags = sorted({tag for values in asked for several in values if isinstance(several, list) for tag in several})
    for size in dict.fromkeys((1, 2, len(tags))):
        yield from combinations(tags, size) if tags else ()


def _guessed(plans: Iterable[ScorecardPlan]) -> Iterator[tuple[tuple[str, ...], list[Value]]]:
    """What conditions compare with by paths, in lists of verdicts as well."""
    for path, values in guesses([program for plan in plans for program in programs_of(plan)]).items():
        yield path, values
        for each in (each for value in values if path == ("verdicts",) for each in value if isinstance(each, dict)):
            yield from (((*path, name), [value]) for name, value in each.items())


def _pool(cards: Sequence[Scorecard]) -> list[Value]:
    """A verdict for each distinct effect of a verdict on both scorecards."""
    shared = {name: facts for name, facts in cards[0].plan.checks.items() if name in cards[1].plan.checks}
    found: dict[object, Value] = {}
    further = _further(cards)
    for name, facts in shared.items():
        about: dict[str, object] = {
            key: facts[key] for key in ("primary_bucket", "severity", "secondary_tags") if key in facts
        }
        for verdict, more in product((*VERDICTS, NO_RECORD), further):
            record = _record({**about, **more, "check_id": name, "verdict": verdict})
            found.setdefault(tuple([_effect_of(card, record) for card in cards]), record)
    return list(found.values())


def _further(cards: Sequence[Scorecard]) -> list[dict[str, Value]]:
    """What verdicts may hold besides their words where conditions of the scorecards turn."""
    programs = [program for card in cards for program in programs_of(card.plan)]
    read = {path[1] for program in programs for path in paths_of(program) or () if path[0] == "v" and len(path) > 1}
    asked: dict[str, list[Value]] = {name: [] for name in sorted(read & _FREE.keys())}
    for path, values in _guessed([card.plan for card in cards]):
        if path[0] in ("v", "verdicts") and len(path) == 2:
            asked.setdefault(path[1], []).extend(values)
    among = {name: choices(domain, asked[name]) for name, domain in _FREE.items() if name in asked}
    found = [
        {name: leave(value) if isinstance(value, Score) else value for name, value in more.items()}
        for more in islice(varied(among), MOST_FURTHER)
    ]
    return [*found, *({**found[0], "extra": extra} for extra in _extras(programs))]


def _extras(programs: Iterable[Program]) -> Iterator[dict[str, Value]]:
    """Values of `extra` for the fields that conditions read: 1 for all, then another number for one of them."""
    parts = [(program, node) for program in programs for node in program.nodes if node.op in ("select", "has")]
    names = sorted({str(node.value) for program, node in parts if program.nodes[node.args[0]].value == "extra"})
    if names:
        usual = dict.fromkeys(names, 1)
        yield usual
        yield from ({**usual, name: value} for name in names for value in (0, 2))


def _effect_of(card: Scorecard, record: Value) -> tuple[object, ...]:
    """What a verdict contributes to a row, as a key: two verdicts with the same key are interchangeable."""
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
            | {name: value for name in _SHOWN_FIELDS if (value := getattr(each, name)) != _RECORD[name]}
            for each in verdicts
        ],
        "rows": [dict(row) for row in rows],
    }
