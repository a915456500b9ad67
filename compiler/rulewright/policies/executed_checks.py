"""Conversations on which two checks give different verdicts, found by running both, with a scenario and a judge that
both are given."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, permutations, product
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from rulewright.policies.checks import LOOKED_AT, LoweredCheck, engines_of, most_votes
from rulewright.policies.lexicons import texts_of
from rulewright.witnesses.candidates import SCENARIO
from rulewright.witnesses.conversation_records import PLAIN
from rulewright.witnesses.example_conversations import read_conversation, scenario_of
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.matching.near_matches import find
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.question import AnchoredWindow, Judging, ReplyField
from rulewright_runtime.plan.scan import Lexicon
from rulewright_runtime.plan.verifiers import CueResponse, ExpressionVerifier, JurisdictionRule, ProbeVerifier
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.verdicts import VerdictResult

_DECIDES: Final = ("applies", "verifier", "unclear", "adjudicate", "fields")
_EXCHANGES: Final = 5
_MOST_EXCHANGES: Final = 40
_MOST: Final = 2_000  # conversations, each with one judge and one scenario
_MOST_CUED: Final = 60  # conversations with hits, each with a judge
_MOST_FIELDS: Final = 64  # ways to fill in the fields of a reply
_CARRIED: Final = ", confidence "
PROMPT: Final = "check.prompt"  # where only what a judge is asked differs
_NO_REPLY: Final = "no usable reply"
_BESIDE: Final = {"system": "Be brief.", "tool": "It is done."}  # messages of other roles
_RECALLED: Final = "the old garden gate stays closed all winter long"
_SAID_OF_RUTH: Final = ("Ruth said that she was late.", "Ruth said that he was late.")
_PRONOUNS: Final = "she/her for Ruth"
Reading: TypeAlias = Callable[[str, str | None], Transcript | None]  # a record and the id of its scenario
Messages: TypeAlias = list[JsonObject]
Input: TypeAlias = "tuple[JsonObject | None, Messages, _StatedJudge | None]"  # a scenario, a conversation and its judge


class _Vote(NamedTuple):
    """A verdict with a quote of a turn by its place, if it is not 0, and fields; without a verdict the reply is not
    usable."""

    verdict: str | None
    turn: int = 0
    fields: str = ""  # JSON

    def __str__(self) -> str:
        quoting = f" quoting message {self.turn}" if self.turn else ""
        return f"{self.verdict or _NO_REPLY}{quoting}{self.fields and f' with {self.fields}'}"

    def reply(self, messages: Sequence[JsonMapping]) -> str | None:
        said = [each for each in messages if each["role"] in ("user", "assistant")][self.turn - 1]
        number = (self.turn + 1) // 2  # a question and its reply share one
        quoted = [{"turn": number, "role": said["role"], "quote": said["content"]}] if self.turn else []
        given = {"verdict": self.verdict, "evidence": quoted, **json.loads(self.fields or "{}")}
        return None if self.verdict is None else json.dumps(given)


class _StatedJudge(Struct, frozen=True):
    """A judge of a conversation, in `words`; what it votes on a request."""

    vote: Callable[[JudgeRequest], _Vote]
    messages: Sequence[JsonMapping]
    words: str
    reads_prompts: bool = True

    def ask(self, request: JudgeRequest) -> str | None:
        return self.vote(request).reply(self.messages)


def _voting(votes: Sequence[_Vote], messages: Sequence[JsonMapping], confirms: _Vote | None = None) -> _StatedJudge:
    """A judge that gives the same votes on every window. With `confirms` it gives that on candidates, and PASS when it
    is asked again because its fields contradict it."""

    def vote(request: JudgeRequest) -> _Vote:
        if confirms is not None and request.purpose == "confirm":
            return confirms._replace(verdict="PASS", turn=0) if request.attempt % 2 else confirms
        return votes[min(request.repetition, len(votes) - 1)]

    counts = Counter(map(str, votes))
    words = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())
    refused = "on each candidate, or PASS if its fields contradict that"
    words = words if confirms is None else f"{confirms} {refused}, else {words}"
    return _StatedJudge(vote, messages, words, reads_prompts=False)


def _reading(said: Sequence[str], messages: Sequence[JsonMapping], fields: str = "") -> _StatedJudge:
    """A judge that fails where it is shown certain texts together, and passes everything else."""
    turns = [each["content"] for each in messages if each["role"] in ("user", "assistant")]
    fail = _Vote("FAIL", turns.index(said[0]) + 1 if said[0] in turns else 0, fields)

    def vote(request: JudgeRequest) -> _Vote:
        return fail if all(each in request.prompt for each in said) else _Vote("PASS", 0, fields)

    return _StatedJudge(vote, messages, f"FAIL where it is shown {' and '.join(map(json.dumps, said))}, else PASS")


def _recording(vote: _Vote, messages: Sequence[JsonMapping], prompts: list[str]) -> _StatedJudge:
    """A judge that keeps what it is asked."""

    def recorded(request: JudgeRequest) -> _Vote:
        prompts.append(request.prompt)
        return vote

    return _StatedJudge(recorded, messages, "")


def executed_apart(checks: Sequence[LoweredCheck]) -> list[JsonObject]:
    """A region for each pair of verdicts that two checks give on the same conversation and, if a judge decides, on the
    same votes, as far as one was found; nothing of two checks whose conditions decide."""
    if all(isinstance(each.node.verifier, ExpressionVerifier) for each in checks) or _are_alike(*checks):
        return []
    anywhere = [each._replace(node=replace(each.node, eligible=None, suppressed=None)) for each in checks]
    found: dict[tuple[str, str], JsonObject] = {}
    engines: dict[str, list[Engine]] = {}
    read = cache(read_conversation)
    for scenario, messages, judge in islice(_inputs(checks), _MOST):
        key = json.dumps(scenario)
        if key not in engines:
            engines[key] = _engines(anywhere, scenario)
        given = [_given(each, messages, scenario, judge, read) for each in engines[key]] or [None, None]
        if (said := _apart(*given)) is not None and said not in found:
            beside = {"scenario": scenario, "votes": None if judge is None else judge.words}
            found[said] = {**{key: value for key, value in beside.items() if value}, "messages": messages}
    if any(_CARRIED not in after for _, after in found):  # what verdicts carry matters where they are alike
        found = {said: witness for said, witness in found.items() if _CARRIED not in said[1]}
    place = "verdict"
    if not found and most_votes(checks):
        place, found = PROMPT, _asked_apart(checks, anywhere)
    where = ["a judge gives the votes below"] if most_votes(checks) else []
    places = {"place": place, "where": where}
    return [{**places, "before": one, "after": two, "witness": witness} for (one, two), witness in found.items()]


def _asked_apart(checks: Sequence[LoweredCheck], anywhere: Sequence[LoweredCheck]) -> dict[tuple[str, str], JsonObject]:
    """The verdicts on the first conversation about which a judge is asked in other words, if it goes by them."""
    engines = _engines(anywhere, None)
    read = cache(read_conversation)
    fields = next(iter(_fields(checks)), "")
    for messages in _usual(checks) if engines else ():
        asked: list[list[str]] = [[] for _ in engines]
        for engine, prompts in zip(engines, asked, strict=True):
            _given(engine, messages, None, _recording(_Vote("PASS", 0, fields), messages, prompts), read)
        one, two = map("\n".join, asked)
        part = _only_in(one, two) or _only_in(two, one)
        if part is not None:
            judge = _reading([messages[-1]["content"], part], messages, fields)
            said = _apart(*(_given(engine, messages, None, judge, read) for engine in engines))
            if said is not None:
                return {said: {"votes": judge.words, "messages": messages}}
    return {}


def _only_in(one: str, two: str) -> str | None:
    """The fewest lines of one text that another one does not hold together; None where it holds all."""
    lines = one.split("\n")
    parts = ("\n".join(lines[at : at + size]) for size in range(1, len(lines) + 1) for at in range(len(lines)))
    return None if one in two else next(each for each in parts if each not in two)


def _are_alike(one: LoweredCheck, two: LoweredCheck) -> bool:
    """Whether both certainly decide the same."""
    around = [(each.around.lexicons, each.around.machines, each.around.corpora) for each in (one, two)]
    return around[0] == around[1] and all(getattr(one.node, key) == getattr(two.node, key) for key in _DECIDES)


def _inputs(checks: Sequence[LoweredCheck]) -> Iterator[Input]:
    """Plain inputs first, then those that are made for what the checks verify."""
    most = most_votes(checks)
    for scenario in (None, *_scenarios(checks)):
        yield from ((scenario, *each) for each in _asked(checks, most))
    if any(isinstance(each.node.verifier, ProbeVerifier) for each in checks):
        yield from ((*each, None) for each in _probed(checks))


def _asked(checks: Sequence[LoweredCheck], most: int) -> Iterator[tuple[Messages, _StatedJudge | None]]:
    """Conversations, each with a judge of it that gives `most` votes; without votes there is no judge."""
    if not most:
        yield from ((each, None) for each in (*_usual(checks), *_cued(checks)))
        return
    for messages, verdict in product(islice(_cued(checks), _MOST_CUED), VERDICTS):
        yield messages, _voting([_Vote(verdict, len(messages))], messages)
    fields = _fields(checks)
    for messages in _usual(checks):
        yield from ((messages, _voting(votes, messages)) for votes in _ballots(most, messages))
    hits = [_say(_told_apart(_EXCHANGES), 4 + at, [text]) for text in _texts(checks) for at in range(2)]
    for messages, said in product(hits if fields else (), fields):
        confirmed = [_Vote("FAIL", 5 + at, said) for at in range(2)]
        swept = product(confirmed, [[_Vote(verdict)] for verdict in ("PASS", "UNCLEAR")])
        yield from ((messages, _voting(votes, messages, vote)) for vote, votes in swept)
    for messages in (*map(_told_apart, _lengths(checks)), _beside(), *hits):
        texts = [each["content"] for each in messages]
        pairs = [(texts[0], texts[-1]), *zip(texts, strict=True), *((texts[0], each) for each in texts[1:-1])]
        yield from ((messages, _reading(some, messages)) for some in pairs)


def _fields(checks: Sequence[LoweredCheck]) -> list[str]:
    """Ways to fill in the fields that replies must have, as JSON."""
    among: dict[str, dict[str, object]] = {}
    for field in (field for judging in _judgings(checks) for field in judging.fields):
        among.setdefault(field.name, {}).update((json.dumps(value), value) for value in _field_values(field))
    several = [[(name, value) for value in values.values()] for name, values in among.items()]
    return [json.dumps(dict(chosen)) for chosen in islice(product(*several), _MOST_FIELDS)] if several else []


def _field_values(field: ReplyField) -> Sequence[object]:
    usual: dict[str, Sequence[object]] = {"boolean": (True, False), "integer": (0, 1, 2), "string": ("", "so")}
    return field.words or usual.get(field.type, ())


def _lengths(checks: Sequence[LoweredCheck]) -> list[int]:
    """Numbers of exchanges: a few, and those for which a window is too short."""
    sizes = [getattr(each.window, name, 0) or 0 for each in _judgings(checks) for name in ("turns", "radius")]
    return sorted({_EXCHANGES, *(size // 2 + 1 for size in sizes if 2 * _EXCHANGES <= size <= 2 * _MOST_EXCHANGES)})


def _judgings(checks: Sequence[LoweredCheck]) -> list[Judging]:
    return [judging for check in checks for judging in check.node.verifier.judgings()]


def _scenarios(checks: Sequence[LoweredCheck]) -> Iterator[JsonObject]:
    """Scenarios with what the checks read of one: a jurisdiction, the turns around a cue."""
    routes = [each.node.verifier for each in checks]
    places = {name for route in routes if isinstance(route, JurisdictionRule) for name in route.rules}
    base = {**SCENARIO, "category": checks[0].document.vocabulary.categories[0]}
    yield from ({**base, "jurisdiction": name} for name in sorted(places))
    if any(isinstance(each.window, AnchoredWindow) for each in _judgings(checks)):
        anchors = [{"cue_turn": at, "response_window": {"from_turn": at, "to_turn": at + 1}} for at in (3, 7)]
        yield from ({**base, "cue_anchors": anchors[:count]} for count in (1, 2))


def _probed(checks: Sequence[LoweredCheck]) -> Iterator[tuple[JsonObject, Messages]]:
    """Scenarios with one probe and conversations whose last reply says ever less of what is expected."""
    routes = [each.node.verifier for each in checks]
    kinds = sorted({kind for route in routes if isinstance(route, ProbeVerifier) for kind in route.kinds})
    base = {**SCENARIO, "category": checks[0].document.vocabulary.categories[0]}
    words = _RECALLED.split()
    partly = [" ".join(words[:number]) for number in range(len(words) + 1)]
    for kind, count, at in product(kinds, range(1, len(words) + 1), (2, 4)):
        item = _PRONOUNS if kind == "pronoun_continuity" else _RECALLED
        scenario = {**base, "probes": [{"t": at, "kind": kind, "expected": [item] if count == 1 else words[:count]}]}
        answers = [*partly, *_SAID_OF_RUTH, *_alike(_RECALLED)] if count == 1 else partly
        yield from ((scenario, _say([dict(each) for each in PLAIN * 2], 3, [answer])) for answer in answers)


def _alike(text: str) -> Iterator[str]:
    """Texts that are ever less alike to one: one for each likeness."""
    made = (text[:kept] + "x" * (len(text) - kept) for kept in range(len(text), len(text) // 2, -1))
    found = {span.likeness: each for each in made if (span := find(text, each, 0.5)) is not None}
    yield from found.values()


def _usual(checks: Sequence[LoweredCheck]) -> Iterator[Messages]:
    """A plain conversation, one of one role, a longer one, and one in which each lexicon has a hit."""
    yield list(map(dict, PLAIN))
    yield from ([dict(each)] for each in PLAIN)
    yield list(map(dict, PLAIN * _EXCHANGES))
    cued = list(map(dict, PLAIN * _EXCHANGES))
    for each in _lexicons(checks).values():
        _say(cued, 3 if each.role == "assistant" else 2, texts_of(each))
    if _lexicons(checks):
        yield cued


def _cued(checks: Sequence[LoweredCheck]) -> Iterator[Messages]:
    """Conversations with a hit of one lexicon in either role, then of two in one reply, then of one in a user's turn
    and of another in a later reply."""
    texts = _texts(checks)
    for text, at in product(texts, range(2)):
        yield _say(list(map(dict, PLAIN)), at, [text])
    yield from (_say(list(map(dict, PLAIN)), 1, pair) for pair in permutations(texts, 2))
    withins = [each.node.verifier.within for each in checks if isinstance(each.node.verifier, CueResponse)]
    for later, (cue, reply) in product(sorted({1, *withins}), permutations(texts, 2)):
        yield _say(_say(list(map(dict, PLAIN * later)), 0, [cue]), 2 * later - 1, [reply])


def _lexicons(checks: Sequence[LoweredCheck]) -> Mapping[str, Lexicon]:
    return {name: each for check in checks for name, each in check.around.lexicons.items()}


def _texts(checks: Sequence[LoweredCheck]) -> list[str]:
    """A text for each lexicon; for one that the checks have in two forms, one for each."""
    lexicons = [each for check in checks for each in check.around.lexicons.values()]
    return list(dict.fromkeys(text for each in lexicons for text in texts_of(each)))


def _say(messages: Messages, at: int, texts: Sequence[str]) -> Messages:
    messages[at]["content"] = " ".join([messages[at]["content"], *texts])
    return messages


def _told_apart(exchanges: int) -> Messages:
    """A longer conversation in which every turn says something else."""
    return [_say([dict(each)], 0, [f"({at})"])[0] for at, each in enumerate(PLAIN * exchanges, start=1)]


def _beside() -> Messages:
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


def _engines(checks: Sequence[LoweredCheck], scenario: JsonObject | None) -> list[Engine]:
    if scenario is None:
        return engines_of(checks)
    facts = scenario_of(scenario, (), checks[0].document.vocabulary)
    return [] if facts is None else engines_of(checks, scenarios={str(scenario["scenario_id"]): facts})


def _given(
    engine: Engine, messages: Messages, scenario: JsonObject | None, judge: _StatedJudge | None, read: Reading
) -> VerdictResult | None:
    """The verdict of a check, as a scan of the conversation and its scenario gives it."""
    transcript = read(json.dumps({"messages": messages}), None if scenario is None else str(scenario["scenario_id"]))
    if transcript is None:
        return None
    try:
        (result,) = results(engine, [transcript], judge)
    except RuntimeFailure:
        return None
    return None if result.errors or len(result.verdicts) != 1 else result.verdicts[0]


def _apart(one: VerdictResult | None, two: VerdictResult | None) -> tuple[str, str] | None:
    """The verdicts, if they differ, else whether a person has to look at them, else what they carry."""
    if one is None or two is None:
        return None
    if one.verdict != two.verdict:
        return one.verdict, two.verdict
    before, after = (f"{each.verdict}{LOOKED_AT if each.adjudication_required else ''}" for each in (one, two))
    if before == after and (one.confidence, one.rationale_code) != (two.confidence, two.rationale_code):
        before, after = (f"{before}{_CARRIED}{each.confidence:g}, {each.rationale_code}" for each in (one, two))
    return None if before == after else (before, after)
