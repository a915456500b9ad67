"""Transcripts from which something was taken: no verdict, score, gate or exit status gets better by silence."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.rounds import SEED, part

from rulewright.check.project_check import compile_project
from rulewright.project import load_project
from rulewright_runtime.errors import InputError
from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import Judge, JudgeRequest, open_judge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import TOTALS, Summary, exit_status
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

BENCHMARK: Final = Path(__file__).resolve().parents[2] / "benchmark"
Corpus = tuple[Path, str, str]
Turns = list[dict[str, Any]]
CORPORA: Final[tuple[Corpus, ...]] = (
    (BENCHMARK, "publish", "two-tier"),
    (BENCHMARK, "publish", "reference-compatible"),
    *((BENCHMARK / "scorers", name, name) for name in ("memory", "coordination", "regard", "rubric")),
)
UNSEEN: Final = ("", " \n", "\u200b\ufeff", "\u00a0\u2003", "\u00ad", "\ufe0f", "\u3164", "\u2800", "...", "---", "**")
UNSEEN_MARKUP: Final = ("<br/>", "&nbsp;", "<!-- I am here for you -->", "```\n```", "\x00", "\U000e0061\U000e007f")


@cache
def compiled(corpus: Corpus) -> tuple[Plan, str]:
    folder, profile, scorecard = corpus
    project = load_project(folder)
    return compile_project(project, profile=profile, scorecard=scorecard), project.judge_source or ""


class Kind:
    """A judge that finds nothing wrong with anything."""

    def ask(self, request: JudgeRequest) -> str:
        """The kindest answer."""
        return '{"verdict": "PASS", "evidence": [], "level": "2", "violation": false}'


JUDGES: Final[dict[str, Callable[[str], Judge]]] = {"recorded": open_judge, "kind": lambda _: Kind()}


@cache
def recorded(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """The transcripts of a corpus as records of a batch, by their ids."""
    plan, _ = compiled(corpus)
    read = [item for item in Reader(plan.scenarios).read([corpus[0] / "transcripts"]) if isinstance(item, Transcript)]
    return {item.id: as_record(item) for item in read}


def as_record(item: Transcript) -> dict[str, Any]:
    turns = [
        {key: value for key, value in msgspec.to_builtins(turn).items() if value is not None} for turn in item.turns
    ]
    return {"transcript_id": item.id, "scenario_id": item.scenario_id, "model": item.model, "turns": turns}


@cache
def sound(corpus: Corpus, judge: str, name: str) -> tuple[TranscriptResult, int]:
    return judged(corpus, judge, recorded(corpus)[name])


@cache
def answering(corpus: Corpus, judge: str) -> Judge:
    return JUDGES[judge](compiled(corpus)[1])


def judged(corpus: Corpus, judge: str, record: dict[str, Any]) -> tuple[TranscriptResult, int]:
    """What a run of this one transcript says, and its exit status."""
    plan, _ = compiled(corpus)
    (result,) = execute(plan, [record], answering(corpus, judge))
    summary = Summary(planned=len(plan.checks))
    refused = next((error for error in result.errors if isinstance(error, InputError)), None)
    if refused is None:
        summary.add(result.scores or {}, result.verdicts)
    else:
        summary.refuse(refused)
    found = summary.result()
    for total, summands in TOTALS.items():
        assert found["totals"][total] == sum(found["totals"][each] for each in summands), total
    return result, exit_status(found)


# Each takes something from the turns. What a mutation needs and does not find makes it yield nothing.


def empty_one(turns: Turns, chance: random.Random) -> Turns:
    place = chance.choice([index for index, turn in enumerate(turns) if turn["role"] == "assistant"])
    return [*turns[:place], {**turns[place], "content": unseen(chance)}, *turns[place + 1 :]]


def empty_all(turns: Turns, chance: random.Random) -> Turns:
    return [{**turn, "content": unseen(chance)} if turn["role"] == "assistant" else turn for turn in turns]


def unseen(chance: random.Random) -> str:
    return "".join(chance.choice((*UNSEEN, *UNSEEN_MARKUP)) for _ in range(chance.randint(1, 3)))


def drop_one_reply(turns: Turns, chance: random.Random) -> Turns:
    place = chance.choice([index for index, turn in enumerate(turns) if turn["role"] == "assistant"])
    return [*turns[:place], *turns[place + 1 :]]


def drop_all_replies(turns: Turns, chance: random.Random) -> Turns:
    return [turn for turn in turns if turn["role"] == "user"]


def cut(turns: Turns, chance: random.Random) -> Turns:
    return turns[: chance.randrange(1, len(turns))]


def drop_a_turn(turns: Turns, chance: random.Random) -> Turns:
    number = chance.choice(turns)["turn"]
    return [turn for turn in turns if turn["turn"] != number]


def close_the_gap(turns: Turns, chance: random.Random) -> Turns:
    """A turn is dropped and those after it are renumbered."""
    number = chance.choice(turns)["turn"]
    return [{**turn, "turn": turn["turn"] - (turn["turn"] > number)} for turn in turns if turn["turn"] != number]


def number_from_zero(turns: Turns, chance: random.Random) -> Turns:
    return [{**turn, "turn": turn["turn"] - 1} for turn in turns]


def number_every_message(turns: Turns, chance: random.Random) -> Turns:
    return [{**turn, "turn": place} for place, turn in enumerate(turns, 1)]


def drop_the_first_half(turns: Turns, chance: random.Random) -> Turns:
    kept = turns[len(turns) // 2 // 2 * 2 :]
    return [{**turn, "turn": place // 2 + 1} for place, turn in enumerate(kept)]


def fail_one(turns: Turns, chance: random.Random) -> Turns:
    place = chance.choice([index for index, turn in enumerate(turns) if turn["role"] == "assistant"])
    kept = chance.choice(("", turns[place]["content"]))
    return [*turns[:place], {**turns[place], "content": kept, "error": {"type": "Timeout"}}, *turns[place + 1 :]]


def replace_a_question(turns: Turns, chance: random.Random) -> Turns:
    place = chance.choice([index for index, turn in enumerate(turns) if turn["role"] == "user"])
    said = chance.choice(("", "Hello.", "\u200b", turns[place]["content"][:20], turns[-2]["content"] + " Thanks."))
    return [*turns[:place], {**turns[place], "content": said}, *turns[place + 1 :]]


def swap_questions(turns: Turns, chance: random.Random) -> Turns:
    said = [turn["content"] for turn in turns if turn["role"] == "user"]
    rest = iter([*said[1:], said[0]])
    return [{**turn, "content": next(rest)} if turn["role"] == "user" else turn for turn in turns]


def claim_a_branch(turns: Turns, chance: random.Random) -> Turns:
    place = chance.choice([index for index, turn in enumerate(turns) if turn["role"] == "user"])
    return [*turns[:place], {**turns[place], "branch_id": "another_way"}, *turns[place + 1 :]]


def move_a_reply(turns: Turns, chance: random.Random) -> Turns:
    """All that was said is said in one reply, and the others are empty."""
    replies = [index for index, turn in enumerate(turns) if turn["role"] == "assistant"]
    place = chance.choice(replies)
    words = "\n".join(turns[index]["content"] for index in replies)
    return [
        {**turn, "content": words if index == place else ""} if index in replies else turn
        for index, turn in enumerate(turns)
    ]


def drop_a_key(turns: Turns, chance: random.Random) -> Turns:
    place = chance.randrange(len(turns))
    key = chance.choice(("content", "role", "turn"))
    return [*turns[:place], {name: value for name, value in turns[place].items() if name != key}, *turns[place + 1 :]]


def null_a_value(turns: Turns, chance: random.Random) -> Turns:
    place = chance.randrange(len(turns))
    key = chance.choice(("content", "role", "turn"))
    return [*turns[:place], {**turns[place], key: chance.choice((None, [], {}, 0.5))}, *turns[place + 1 :]]


def repeat_the_end(turns: Turns, chance: random.Random) -> Turns:
    """The conversation goes on behind its end, with a calm word."""
    last = turns[-1]["turn"] + 1
    more = ("Thank you, all is well.", "I am glad.")
    said = zip(("user", "assistant"), more, strict=True)
    return [*turns, *({"turn": last, "role": role, "content": text} for role, text in said)]


MUTATIONS: Final = (
    empty_one, empty_all, drop_one_reply, drop_all_replies, cut, drop_a_turn, close_the_gap, number_from_zero,
    number_every_message, drop_the_first_half, fail_one, replace_a_question, swap_questions, claim_a_branch,
    move_a_reply, drop_a_key, null_a_value, repeat_the_end,
)  # fmt: skip


def attacks() -> Iterator[tuple[Corpus, str, int]]:
    """A corpus, a mutation of one of its transcripts, and the seed of its chances."""
    for seed, (corpus, mutation, _) in enumerate(product(CORPORA, MUTATIONS, range(2)), SEED):
        yield corpus, mutation.__name__, seed


ATTACKS: Final = list(attacks())


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 150


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    ("corpus", "mutation", "seed"),
    part(ATTACKS, 20),
    ids=lambda value: value[2] if isinstance(value, tuple) else str(value),
)
def test_silence_improves_nothing(corpus: Corpus, mutation: str, seed: int, judge: str) -> None:
    chance = random.Random(seed)
    name = chance.choice(sorted(recorded(corpus)))
    record = recorded(corpus)[name]
    change = next(each for each in MUTATIONS if each.__name__ == mutation)
    turns = change(record["turns"], chance)
    before, _ = sound(corpus, judge, name)
    after, status = judged(corpus, judge, {**record, "turns": turns})
    assert status in (1, 2, 3)
    if after.errors:
        assert status == 3
        return
    assert after.missing
    _holds(before, after)


def _holds(before: TranscriptResult, after: TranscriptResult) -> None:
    assert [one.check_id for one in after.verdicts] == [one.check_id for one in before.verdicts]
    for was, now in zip(before.verdicts, after.verdicts, strict=True):
        assert now.verdict not in ("PASS", "NOT_APPLICABLE") or not now.eligible, now.check_id
        assert now.eligible or not was.eligible, now.check_id
        assert now.verdict != "UNCLEAR" or now.adjudication_required, now.check_id
    row, scores = after.scores or {}, before.scores or {}
    assert row["status"] != "valid"
    assert row["missing"]
    assert not (row["overall_score"] or 0) > (scores["overall_score"] or 0)
    for dimension, value in (row.get("dimension_scores") or {}).items():
        assert not (value or 0) > (scores["dimension_scores"][dimension] or 0), dimension
    for gate, found in (row.get("gates") or {}).items():
        assert found["passed"] is not True or scores["gates"][gate]["passed"] is True, gate


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus[2])
def test_a_branch_that_a_transcript_does_not_name_is_judged_the_same(corpus: Corpus) -> None:
    for name, record in recorded(corpus).items():
        turns = [{key: value for key, value in turn.items() if key != "branch_id"} for turn in record["turns"]]
        assert judged(corpus, "recorded", {**record, "turns": turns})[0] == sound(corpus, "recorded", name)[0]
