"""Votes of a judge that two checks count differently: both are run on a conversation with these votes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar, Final, NamedTuple

from msgspec.structs import replace

from rulewright.policies.checks import LOOKED_AT
from rulewright.policies.lexicons import texts_of
from rulewright.policies.stored_checks import LoweredCheck, engines_of, most_votes
from rulewright.witnesses.conversation_records import PLAIN
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verdicts import VerdictResult

_DECIDES: Final = ("verifier", "unclear", "adjudicate")
_EXCHANGES: Final = 5
_NO_REPLY: Final = "no usable reply"


class _Vote(NamedTuple):
    """A verdict with a quote of a turn, if it is not 0; without a verdict the reply is not usable."""

    verdict: str | None
    turn: int = 0

    def __str__(self) -> str:
        quoting = f" quoting turn {self.turn}" if self.turn else ""
        return f"{self.verdict or _NO_REPLY}{quoting}"


@dataclass(frozen=True, slots=True)
class _GivenVotes:
    """A judge that gives the same votes on every window."""

    votes: Sequence[_Vote]
    messages: Sequence[JsonMapping]
    reads_prompts: ClassVar[bool] = False

    def ask(self, request: JudgeRequest) -> str | None:
        verdict, turn = self.votes[min(request.repetition, len(self.votes) - 1)]
        quoted = [{"turn": turn, **_as_quote(self.messages[turn - 1])}] if turn else []
        return None if verdict is None else json.dumps({"verdict": verdict, "evidence": quoted})


def _as_quote(message: JsonMapping) -> JsonObject:
    return {"role": message["role"], "quote": message["content"]}


def counted_apart(checks: Sequence[LoweredCheck]) -> list[JsonObject]:
    """A region for each pair of verdicts that two judged checks give on the same votes, as far as one was found."""
    nodes = [check.node for check in checks]
    most = most_votes(checks)
    if not most or all(getattr(nodes[0], key) == getattr(nodes[1], key) for key in _DECIDES):
        return []
    anywhere = [each._replace(node=replace(each.node, eligible=None, suppressed=None)) for each in checks]
    engines = engines_of(anywhere)
    found: dict[tuple[str, str], JsonObject] = {}
    for messages in _conversations(checks) if engines else ():
        conversation = from_record({"id": "chat", "messages": messages})
        for votes in _ballots(most, messages):
            given = [_given(each, conversation, _GivenVotes(votes, messages)) for each in engines]
            if (said := _apart(*given)) is not None:
                found.setdefault(said, {"votes": _in_words(votes), "messages": messages})
    places = {"place": "verdict", "where": ["a judge gives the votes below"]}
    return [{**places, "before": one, "after": two, "witness": witness} for (one, two), witness in found.items()]


def _conversations(checks: Sequence[LoweredCheck]) -> Iterator[list[JsonObject]]:
    """A plain conversation, a longer one, and one in which each lexicon has a hit."""
    yield list(map(dict, PLAIN))
    yield list(map(dict, PLAIN * _EXCHANGES))
    cued = list(map(dict, PLAIN * _EXCHANGES))
    lexicons: Mapping[str, Lexicon] = {name: each for check in checks for name, each in check.around.lexicons.items()}
    for each in lexicons.values():
        at = 3 if each.role == "assistant" else 2
        cued[at]["content"] = " ".join([cued[at]["content"], *texts_of(each)])
    if lexicons:
        yield cued


def _ballots(most: int, messages: Sequence[JsonMapping]) -> Iterator[list[_Vote]]:
    """The votes of at most two kinds, one kind first."""
    quoting = [_Vote("FAIL", turn) for turn in dict.fromkeys((len(messages), 4, 2)) if turn <= len(messages)]
    kinds = [*quoting, *map(_Vote, VERDICTS), _Vote(None)]
    yield from ([kind] * most for kind in kinds)
    yield from (
        [one] * count + [two] * (most - count) for one, two in permutations(kinds, 2) for count in range(1, most)
    )


def _in_words(votes: Iterable[_Vote]) -> str:
    counts = Counter(map(str, votes))
    return ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())


def _given(engine: Engine, conversation: Transcript, ballot: _GivenVotes) -> VerdictResult | None:
    try:
        (result,) = results(engine, [conversation], ballot)
    except RuntimeFailure:
        return None
    return None if result.errors or len(result.verdicts) != 1 else result.verdicts[0]


def _apart(one: VerdictResult | None, two: VerdictResult | None) -> tuple[str, str] | None:
    """The verdicts, if they differ, else whether a person has to look at them."""
    if one is None or two is None:
        return None
    if one.verdict != two.verdict:
        return one.verdict, two.verdict
    if one.adjudication_required == two.adjudication_required:
        return None
    before, after = (f"{each.verdict}{LOOKED_AT if each.adjudication_required else ''}" for each in (one, two))
    return before, after
