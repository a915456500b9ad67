"""Finds conversations on which two checks give different verdicts, by running both on the same conversation, scenario
and judge."""

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
from rulewright.policies.policy_model import difference
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
_MOST_WITH_HITS: Final = 60  # conversations with hits, each with a judge
_MOST_FIELDS: Final = 64  # ways to fill in the fields of a reply
_CONFIDENCE: Final = ", confidence "
PROMPT: Final = "check.prompt"  # where only what a judge is asked differs
_NO_REPLY: Final = "no usable reply"
_OTHER_ROLES: Final = {"system": "Be brief.", "tool": "It is done."}  # messages of other roles
_RECALLED: Final = "the old garden gate stays closed all winter long"
_SAID_OF_RUTH: Final = ("Ruth said that she was late.", "Ruth said that he was late.")
_PRONOUNS: Final = "she/her for Ruth"
Reading: TypeAlias = Callable[[str, str | None], Transcript | None]  # a record and the id of its scenario
Messages: TypeAlias = list[JsonObject]
Input: TypeAlias = "tuple[JsonObject | None, Messages, _StatedJudge | None]"  # a scenario, a conversation and its judge


class _Vote(NamedTuple):
    """One reply of a judge: its verdict (None for an unusable reply), the place of the turn it quotes (0 for no quote),
    and its fields."""

    verdict: str | None
    turn: int = 0
    fields: str = ""  # JSON

    def __str__(self) -> str:
        quoting = f" quoting message {self.turn}" if self.turn else ""
        return f"{self.verdict or _NO_REPLY}{quoting}{self.fields and f' with {self.fields}'}"

    def reply(self, messages: Sequence[JsonMapping]) -> str | None:
        turn = [each for each in messages if each["role"] in ("user", "assistant")][self.turn - 1]
        number = (self.turn + 1) // 2  # a question and its reply share one
        quoted = [{"turn": number, "role": turn["role"], "quote": turn["content"]}] if self.turn else []
        given = {"verdict": self.verdict, "evidence": quoted, **json.loads(self.fields or "{}")}
        return None if self.verdict is None else json.dumps(given)


class _StatedJudge(Struct, frozen=True):
    """A judge with prepared answers to one conversation; `words` describes it for people."""

    vote: Callable[[JudgeRequest], _Vote]
    messages: Sequence[JsonMapping]
    words: str
    reads_prompts: bool = True

    def ask(self, request: JudgeRequest) -> str | None:
        return self.vote(request).reply(self.messages)


def _judge_with_votes(
    votes: Sequence[_Vote], messages: Sequence[JsonMapping], confirms: _Vote | None = None
) -> _StatedJudge:
    """A judge that gives the same votes on every window. With `confirms`, it answers questions about candidates with
    that vote, and with PASS when it is asked again because its fields contradict the verdict."""

    def vote(request: JudgeRequest) -> _Vote:
        if confirms is not None and request.purpose == "confirm":
            return confirms._replace(verdict="PASS", turn=0) if request.attempt % 2 else confirms
        return votes[min(request.repetition, len(votes) - 1)]

    counts = Counter(map(str, votes))
    words = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts.items())
    refused = "on each candidate, or PASS if its fields contradict that"
    words = words if confirms is None else f"{confirms} {refused}, else {words}"
    return _StatedJudge(vote, messages, words, reads_prompts=False)


def _judge_by_prompt(texts: Sequence[str], messages: Sequence[JsonMapping], fields: str = "") -> _StatedJudge:
    """A judge that answers FAIL if its prompt contains all these texts, and PASS otherwise."""
    turns = [each["content"] for each in messages if each["role"] in ("user", "assistant")]
    fail = _Vote("FAIL", turns.index(texts[0]) + 1 if texts[0] in turns else 0, fields)

    def vote(request: JudgeRequest) -> _Vote:
        return fail if all(each in request.prompt for each in texts) else _Vote("PASS", 0, fields)

    return _StatedJudge(vote, messages, f"FAIL where it is shown {' and '.join(map(json.dumps, texts))}, else PASS")


def _recording_judge(vote: _Vote, messages: Sequence[JsonMapping], prompts: list[str]) -> _StatedJudge:
    """A judge that appends every prompt to `prompts` and always gives the same vote."""

    def recorded(request: JudgeRequest) -> _Vote:
        prompts.append(request.prompt)
        return vote

    return _StatedJudge(recorded, messages, "")


def differing_verdicts(checks: Sequence[LoweredCheck]) -> list[JsonObject]:
    """A difference for each pair of verdicts that two checks give on the same conversation, with the same votes if a
    judge decides. Empty if none was found, and for two checks that are decided by expressions, which are compared
    exactly."""
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
        given = [_verdict_of(each, messages, scenario, judge, read) for each in engines[key]] or [None, None]
        if (differs := _differing(*given)) is not None and differs not in found:
            context = {"scenario": scenario, "votes": None if judge is None else judge.words}
            found[differs] = {**{key: value for key, value in context.items() if value}, "messages": messages}
    if any(_CONFIDENCE not in after for _, after in found):  # what verdicts carry matters where they are alike
        found = {differs: witness for differs, witness in found.items() if _CONFIDENCE not in differs[1]}
    place = "verdict"
    if not found and most_votes(checks):
        place, found = PROMPT, _verdicts_by_prompt(checks, anywhere)
    where = ["a judge gives the votes below"] if most_votes(checks) else []
    return [difference(place, one, two, where, witness) for (one, two), witness in found.items()]


def _verdicts_by_prompt(
    checks: Sequence[LoweredCheck], anywhere: Sequence[LoweredCheck]
) -> dict[tuple[str, str], JsonObject]:
    """The verdicts on the first conversation for which the prompts differ, of a judge that decides by the
    difference."""
    engines = _engines(anywhere, None)
    read = cache(read_conversation)
    fields = next(iter(_fields(checks)), "")
    for messages in _plain_conversations(checks) if engines else ():
        asked: list[list[str]] = [[] for _ in engines]
        for engine, prompts in zip(engines, asked, strict=True):
            _verdict_of(engine, messages, None, _recording_judge(_Vote("PASS", 0, fields), messages, prompts), read)
        one, two = map("\n".join, asked)
        part = _only_in(one, two) or _only_in(two, one)
        if part is not None:
            judge = _judge_by_prompt([messages[-1]["content"], part], messages, fields)
            differs = _differing(*(_verdict_of(engine, messages, None, judge, read) for engine in engines))
            if differs is not None:
                return {differs: {"votes": judge.words, "messages": messages}}
    return {}


def _only_in(one: str, two: str) -> str | None:
    """The shortest run of lines of one text that the other does not contain; None if it contains the whole text."""
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
        yield from ((scenario, *each) for each in _judged_conversations(checks, most))
    if any(isinstance(each.node.verifier, ProbeVerifier) for each in checks):
        yield from ((*each, None) for each in _probe_inputs(checks))


def _judged_conversations(checks: Sequence[LoweredCheck], most: int) -> Iterator[tuple[Messages, _StatedJudge | None]]:
    """Conversations, each with a judge of it that gives `most` votes; without votes, none."""
    if not most:
        yield from ((each, None) for each in (*_plain_conversations(checks), *_conversations_with_hits(checks)))
        return
    for messages, verdict in product(islice(_conversations_with_hits(checks), _MOST_WITH_HITS), VERDICTS):
        yield messages, _judge_with_votes([_Vote(verdict, len(messages))], messages)
    fields = _fields(checks)
    for messages in _plain_conversations(checks):
        yield from ((messages, _judge_with_votes(votes, messages)) for votes in _ballots(most, messages))
    hits = [_extend(_numbered_turns(_EXCHANGES), 4 + at, [text]) for text in _texts(checks) for at in range(2)]
    for messages, reply in product(hits if fields else (), fields):
        confirmed = [_Vote("FAIL", 5 + at, reply) for at in range(2)]
        swept = product(confirmed, [[_Vote(verdict)] for verdict in ("PASS", "UNCLEAR")])
        yield from ((messages, _judge_with_votes(votes, messages, vote)) for vote, votes in swept)
    for messages in (*map(_numbered_turns, _lengths(checks)), _with_other_roles(), *hits):
        texts = [each["content"] for each in messages]
        pairs = [(texts[0], texts[-1]), *zip(texts, strict=True), *((texts[0], each) for each in texts[1:-1])]
        yield from ((messages, _judge_by_prompt(some, messages)) for some in pairs)


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


def _probe_inputs(checks: Sequence[LoweredCheck]) -> Iterator[tuple[JsonObject, Messages]]:
    """Scenarios with one probe, and conversations whose last reply says less and less of what the probe expects."""
    routes = [each.node.verifier for each in checks]
    kinds = sorted({kind for route in routes if isinstance(route, ProbeVerifier) for kind in route.kinds})
    base = {**SCENARIO, "category": checks[0].document.vocabulary.categories[0]}
    words = _RECALLED.split()
    partly = [" ".join(words[:number]) for number in range(len(words) + 1)]
    for kind, count, at in product(kinds, range(1, len(words) + 1), (2, 4)):
        item = _PRONOUNS if kind == "pronoun_continuity" else _RECALLED
        scenario = {**base, "probes": [{"t": at, "kind": kind, "expected": [item] if count == 1 else words[:count]}]}
        answers = [*partly, *_SAID_OF_RUTH, *_less_and_less_similar(_RECALLED)] if count == 1 else partly
        yield from ((scenario, _extend([dict(each) for each in PLAIN * 2], 3, [answer])) for answer in answers)


def _less_and_less_similar(text: str) -> Iterator[str]:
    """Texts that are less and less similar to one: one for each degree of similarity."""
    made = (text[:kept] + "x" * (len(text) - kept) for kept in range(len(text), len(text) // 2, -1))
    found = {span.likeness: each for each in made if (span := find(text, each, 0.5)) is not None}
    yield from found.values()


def _plain_conversations(checks: Sequence[LoweredCheck]) -> Iterator[Messages]:
    """A plain conversation, one of each role alone, a longer one, and one in which every lexicon has a hit."""
    yield list(map(dict, PLAIN))
    yield from ([dict(each)] for each in PLAIN)
    yield list(map(dict, PLAIN * _EXCHANGES))
    cued = list(map(dict, PLAIN * _EXCHANGES))
    for each in _lexicons(checks).values():
        _extend(cued, 3 if each.role == "assistant" else 2, texts_of(each))
    if _lexicons(checks):
        yield cued


def _conversations_with_hits(checks: Sequence[LoweredCheck]) -> Iterator[Messages]:
    """Conversations with a hit of one lexicon in either role, then of two in one reply, then of one in a user's turn
    and of another in a later reply."""
    texts = _texts(checks)
    for text, at in product(texts, range(2)):
        yield _extend(list(map(dict, PLAIN)), at, [text])
    yield from (_extend(list(map(dict, PLAIN)), 1, pair) for pair in permutations(texts, 2))
    withins = [each.node.verifier.within for each in checks if isinstance(each.node.verifier, CueResponse)]
    for later, (cue, reply) in product(sorted({1, *withins}), permutations(texts, 2)):
        yield _extend(_extend(list(map(dict, PLAIN * later)), 0, [cue]), 2 * later - 1, [reply])


def _lexicons(checks: Sequence[LoweredCheck]) -> Mapping[str, Lexicon]:
    return {name: each for check in checks for name, each in check.around.lexicons.items()}


def _texts(checks: Sequence[LoweredCheck]) -> list[str]:
    """A text for each lexicon; for one that the checks have in two forms, one for each."""
    lexicons = [each for check in checks for each in check.around.lexicons.values()]
    return list(dict.fromkeys(text for each in lexicons for text in texts_of(each)))


def _extend(messages: Messages, at: int, texts: Sequence[str]) -> Messages:
    messages[at]["content"] = " ".join([messages[at]["content"], *texts])
    return messages


def _numbered_turns(exchanges: int) -> Messages:
    """A longer conversation in which every turn says something else."""
    return [_extend([dict(each)], 0, [f"({at})"])[0] for at, each in enumerate(PLAIN * exchanges, start=1)]


def _with_other_roles() -> Messages:
    """A conversation with messages of other roles."""
    system, tool = ({"role": role, "content": content} for role, content in _OTHER_ROLES.items())
    call = {"id": "call-1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    asking = {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
    return [system, dict(PLAIN[0]), asking, {**tool, "tool_call_id": "call-1"}, dict(PLAIN[1])]


def _ballots(most: int, messages: Sequence[JsonMapping]) -> Iterator[list[_Vote]]:
    """All combinations of `most` votes of one kind, then of two kinds."""
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


def _verdict_of(
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


def _differing(one: VerdictResult | None, two: VerdictResult | None) -> tuple[str, str] | None:
    """The first difference of two verdicts, as words: the verdict itself, else whether a person has to look at it, else
    the confidence and code. None if they are equal."""
    if one is None or two is None:
        return None
    if one.verdict != two.verdict:
        return one.verdict, two.verdict
    before, after = (f"{each.verdict}{LOOKED_AT if each.adjudication_required else ''}" for each in (one, two))
    if before == after and (one.confidence, one.rationale_code) != (two.confidence, two.rationale_code):
        before, after = (f"{before}{_CONFIDENCE}{each.confidence:g}, {each.rationale_code}" for each in (one, two))
    return None if before == after else (before, after)
