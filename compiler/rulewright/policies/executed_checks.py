"""Conversations on which two checks give different verdicts, found by running both, and votes of a judge that both are
given."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import ClassVar, Final, NamedTuple

from msgspec.structs import replace

from rulewright.policies.checks import LOOKED_AT
from rulewright.policies.lexicons import texts_of
from rulewright.policies.stored_checks import LoweredCheck, engines_of, most_votes
from rulewright.witnesses.conversation_records import PLAIN
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.judging.judge import Judge, JudgeRequest
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.plan.verifiers import CueResponse, ExpressionVerifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verdicts import VerdictResult

_DECIDES: Final = ("verifier", "unclear", "adjudicate")
_EXCHANGES: Final = 5
_MOST: Final = 2_000  # conversations, each with one judge
_NO_REPLY: Final = "no usable reply"
_BESIDE: Final = {"system": "Be brief.", "tool": "It is done."}  # messages of other roles


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
        return _reply(self.votes[min(request.repetition, len(self.votes) - 1)], self.messages)

    def __str__(self) -> str:
        counts = Counter(map(str, self.votes))
        return ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())


@dataclass(frozen=True, slots=True)
class _Reader:
    """A judge that fails where it is shown certain messages together, and passes everything else."""

    said: Sequence[str]
    messages: Sequence[JsonMapping]

    def ask(self, request: JudgeRequest) -> str | None:
        if not all(each in request.prompt for each in self.said):
            return _reply(_Vote("PASS"), self.messages)
        turns = [each["content"] for each in self.messages if each["role"] in ("user", "assistant")]
        first = self.said[0]
        return _reply(_Vote("FAIL", turns.index(first) + 1 if first in turns else 0), self.messages)

    def __str__(self) -> str:
        return f"FAIL where it is shown {' and '.join(map(json.dumps, self.said))}, else PASS"


def _reply(vote: _Vote, messages: Sequence[JsonMapping]) -> str | None:
    turns = [each for each in messages if each["role"] in ("user", "assistant")]
    quoted = [{"turn": vote.turn, **_as_quote(turns[vote.turn - 1])}] if vote.turn else []
    return None if vote.verdict is None else json.dumps({"verdict": vote.verdict, "evidence": quoted})


def _as_quote(message: JsonMapping) -> JsonObject:
    return {"role": message["role"], "quote": message["content"]}


def executed_apart(checks: Sequence[LoweredCheck]) -> list[JsonObject]:
    """A region for each pair of verdicts that two checks give on the same conversation and, if a judge decides, on the
    same votes, as far as one was found; nothing of two checks whose conditions decide."""
    if all(isinstance(each.node.verifier, ExpressionVerifier) for each in checks) or _are_alike(*checks):
        return []
    most = most_votes(checks)
    anywhere = [each._replace(node=replace(each.node, eligible=None, suppressed=None)) for each in checks]
    engines = engines_of(anywhere)
    found: dict[tuple[str, str], JsonObject] = {}
    for messages, judge in islice(_asked(checks, most) if engines else (), _MOST):
        conversation = from_record({"id": "chat", "messages": messages})
        given = [_given(each, conversation, judge) for each in engines]
        if (said := _apart(*given)) is not None and said not in found:
            found[said] = {**({} if judge is None else {"votes": str(judge)}), "messages": messages}
    where = ["a judge gives the votes below"] if most else []
    places = {"place": "verdict", "where": where}
    return [{**places, "before": one, "after": two, "witness": witness} for (one, two), witness in found.items()]


def _are_alike(one: LoweredCheck, two: LoweredCheck) -> bool:
    """Whether both certainly decide the same."""
    return one.around.lexicons == two.around.lexicons and all(
        getattr(one.node, key) == getattr(two.node, key) for key in _DECIDES
    )


def _asked(checks: Sequence[LoweredCheck], most: int) -> Iterator[tuple[list[JsonObject], Judge | None]]:
    """Conversations, each with a judge of it that gives `most` votes; without votes there is no judge."""
    if not most:
        yield from ((each, None) for each in (*_usual(checks), *_cued(checks)))
        return
    for messages in _usual(checks):
        yield from ((messages, _GivenVotes(votes, messages)) for votes in _ballots(most, messages))
    hits = [_say(_told_apart(), 4 + at, [text]) for text in _texts(checks) for at in range(2)]
    for messages in (_told_apart(), _beside(), *hits):
        said = [each["content"] for each in messages]
        yield from ((messages, _Reader(some, messages)) for some in (*zip(said, strict=True), (said[0], said[-1])))


def _usual(checks: Sequence[LoweredCheck]) -> Iterator[list[JsonObject]]:
    """A plain conversation, a longer one, and one in which each lexicon has a hit."""
    yield list(map(dict, PLAIN))
    yield list(map(dict, PLAIN * _EXCHANGES))
    cued = list(map(dict, PLAIN * _EXCHANGES))
    for each in _lexicons(checks).values():
        _say(cued, 3 if each.role == "assistant" else 2, texts_of(each))
    if _lexicons(checks):
        yield cued


def _cued(checks: Sequence[LoweredCheck]) -> Iterator[list[JsonObject]]:
    """Conversations with a hit of one lexicon in either role, then of one in a user's turn and of another in a later
    reply."""
    texts = _texts(checks)
    for text, at in product(texts, range(2)):
        yield _say(list(map(dict, PLAIN)), at, [text])
    withins = [each.node.verifier.within for each in checks if isinstance(each.node.verifier, CueResponse)]
    for later, (cue, reply) in product(sorted({1, *withins}), permutations(texts, 2)):
        yield _say(_say(list(map(dict, PLAIN * later)), 0, [cue]), 2 * later - 1, [reply])


def _lexicons(checks: Sequence[LoweredCheck]) -> Mapping[str, Lexicon]:
    return {name: each for check in checks for name, each in check.around.lexicons.items()}


def _texts(checks: Sequence[LoweredCheck]) -> list[str]:
    return [text for each in _lexicons(checks).values() for text in texts_of(each)]


def _say(messages: list[JsonObject], at: int, texts: Sequence[str]) -> list[JsonObject]:
    messages[at]["content"] = " ".join([messages[at]["content"], *texts])
    return messages


def _told_apart() -> list[JsonObject]:
    """A longer conversation in which every turn says something else."""
    return [_say([dict(each)], 0, [f"({at})"])[0] for at, each in enumerate(PLAIN * _EXCHANGES, start=1)]


def _beside() -> list[JsonObject]:
    """A conversation with messages of other roles."""
    system, tool = ({"role": role, "content": content} for role, content in _BESIDE.items())
    call = {"id": "call-1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    asking = {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
    return [system, dict(PLAIN[0]), asking, {**tool, "tool_call_id": "call-1"}, dict(PLAIN[1])]


def _ballots(most: int, messages: Sequence[JsonMapping]) -> Iterator[list[_Vote]]:
    """The votes of at most two kinds, one kind first."""
    quoting = [_Vote("FAIL", turn) for turn in dict.fromkeys((len(messages), 4, 2)) if turn <= len(messages)]
    kinds = [*quoting, *map(_Vote, VERDICTS), _Vote(None)]
    yield from ([kind] * most for kind in kinds)
    yield from (
        [one] * count + [two] * (most - count) for one, two in permutations(kinds, 2) for count in range(1, most)
    )


def _given(engine: Engine, conversation: Transcript, judge: Judge | None) -> VerdictResult | None:
    try:
        (result,) = results(engine, [conversation], judge)
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
