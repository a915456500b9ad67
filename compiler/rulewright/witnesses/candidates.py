"""Inputs on which two conditions may differ, made of what the conditions write down.

Texts, patterns and numbers make the conversations: replies that hold some of the texts, of lengths around the numbers,
as many turns, tools of these names with results and arguments, thoughts, usage and metadata. What they compare with is
carried back through functions (`guesses`): a reply may be what a text encodes. The fields that are read make the
scenarios, and the checks that are read make their verdicts. Whoever takes one up tries it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations, product
from typing import Any, Final, NamedTuple, TypeAlias

from rulewright.documents.vocabulary import Vocabulary
from rulewright.expression.types import BOOL, DOUBLE, INT, STRING, EnumType, ListType, RecordType, Type
from rulewright.lower.environments import message_type, scenario_type, tool_call_type, usage_type
from rulewright.proving.domains import number as domain_of_numbers
from rulewright.proving.domains import text as domain_of_texts
from rulewright.proving.program_parts import path_at
from rulewright.witnesses.guesses import choices, guesses, varied
from rulewright.witnesses.samples import samples
from rulewright_runtime.ir import Program, literal_value
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.strict_json import JsonMapping, JsonObject

MOST_TEXTS: Final = 6  # that are combined
LONGEST: Final = 5_000  # characters of a reply
MOST_TURNS: Final = 40
MOST_WHOLE: Final = 40
MOST_SHAPES: Final = 8  # of calls of tools, with each of the replies
MOST_ARGUMENTS: Final = 8  # of calls of tools, in pairs
MOST_CONTEXTS: Final = 300
MOST_RECORDS: Final = 300  # that another check's verdict may have
USAGE: Final = ("input_tokens", "output_tokens", "total_tokens", "cost", "latency")
_OF_MESSAGES: Final = ("reasoning", "refusal", "name", "timestamp")
_OF_RECORDS: Final = ("expected", "model", "id")
_TOOL: Final = "lookup"
_HELLO, _ANSWER = "Hello.", "So it is."
# Whose fields have a place of their own; others stand in metadata or are arguments of tools.
_TYPES: Final = (message_type(), tool_call_type(), usage_type())
_SCENARIO: Final = {"scenario_id": "example", "title": "Example", "open": True}
_KEYS: Final = {"id": "scenario_id"}  # how a file writes what expressions see
# A text in which a function finds something.
_FOUND_BY: Final = {
    "card_numbers": "4111 1111 1111 1111",
    "citations": "It is so [1].",
    "code_blocks": "```\nx = 1\n```",
    "emails": "ann@example.org",
    "ibans": "DE89 3704 0044 0532 0130 00",
    "is_json": '{"a": 1}',
    "is_refusal": "I can't help with that.",
    "numbers": "It costs 12 euros.",
    "personal_data": "ann@example.org",
    "phone_numbers": "+41 44 668 18 00",
    "urls": "https://example.org/a",
}
Messages: TypeAlias = tuple[JsonObject, ...]
PLAIN: Final = ({"role": "user", "content": _HELLO}, {"role": "assistant", "content": _ANSWER})
Path: TypeAlias = tuple[str, ...]


class OtherVerdict(NamedTuple):
    """What another check says of a conversation; None as its verdict where it has no record of it."""

    verdict: str | None
    confidence: float = 1.0
    code: str | None = None


class ConversationContext(NamedTuple):
    """What a conversation is judged beside: a scenario as its file holds it, and the verdicts of other checks."""

    scenario: JsonObject | None
    verdicts: Mapping[str, OtherVerdict]


@dataclass(frozen=True, slots=True)
class Written:
    """What conditions hold: texts, texts that are said as a whole, whole numbers with their neighbours, all numbers
    with those a little below and above, the paths that are read, and what each may be where a condition turns."""

    texts: Sequence[str]
    whole: Sequence[str]
    numbers: Sequence[int]
    amounts: Sequence[float]
    paths: frozenset[Path]
    guessed: Mapping[Path, Sequence[Any]]

    @property
    def values(self) -> list[Any]:
        """What may stand in a place of any type."""
        return [*self.texts, *self.whole, *self.amounts, True, False]

    @property
    def fields(self) -> list[str]:
        """The names of the fields that are read."""
        return sorted({name for path in self.paths for name in path[1:]} | {path[0] for path in self.paths})


def written_in(programs: Sequence[Program], parameters: Iterable[object], needs: Sequence[str]) -> Written:
    """What the programs and the values of parameters hold; `needs` are checks, whose verdicts are no texts."""
    values = list(parameters)
    paths: set[Path] = set()
    for program in programs:
        values += [literal_value(node.value) for node in program.nodes if node.op == "const"]
        paths |= {path for at in range(len(program.nodes)) if (path := path_at(program, at)) is not None}
        paths |= {("", str(node.value)) for node in program.nodes if node.op in ("select", "opt_select", "has")}
    guessed = guesses(programs)
    values += [_FOUND_BY[name] for name in sorted(_called(programs) & _FOUND_BY.keys())]
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    asked = list(_leaves([each for path, several in guessed.items() if path[0] != "v" for each in several]))
    known = {*needs, *VERDICTS} if needs else set()
    plain = [each for each in flat if isinstance(each, str) and each not in known]
    texts = [text for each in plain for text in (each, *samples(each)[:2]) if text.strip()]
    numbers = [each for each in (*flat, *asked) if isinstance(each, int | float) and not isinstance(each, bool)]
    around = {near for each in map(int, numbers) for near in (each - 1, each, each + 1) if 0 < near <= LONGEST}
    amounts = {float(near) for each in numbers for near in (0.9 * each, each, 1.1 * each) if near >= 0}
    few = list(dict.fromkeys(texts))[:MOST_TEXTS]
    whole = dict.fromkeys(each for each in asked if isinstance(each, str) and each.strip() and len(each) <= LONGEST)
    rest = [each for each in whole if each not in few][:MOST_WHOLE]
    return Written(few, rest, sorted(around), sorted(amounts), frozenset(paths), guessed)


def _called(programs: Iterable[Program]) -> set[str]:
    """The functions that programs call."""
    return {str(node.value) for program in programs for node in program.nodes if node.op == "call"}


def _leaves(value: object) -> Iterator[object]:
    """The texts and numbers in a value."""
    if isinstance(value, list | dict):
        for each in value if isinstance(value, list) else value.values():
            yield from _leaves(each)
    else:
        yield value


def contexts(written: Written, needs: Sequence[str], vocabulary: Vocabulary) -> list[ConversationContext]:
    """Scenarios and verdicts of other checks, the plain ones first."""
    scenarios: Iterable[JsonObject | None] = [None]
    if any(path[0] == "scenario" for path in written.paths):
        scenarios = list(islice(_scenarios(written, vocabulary), MOST_CONTEXTS))
    records = {name: list(islice(_records_of(name, written), MOST_RECORDS)) for name in needs}
    usual = {name: records[0] for name, records in records.items()}
    further = {name: records[1:] for name, records in records.items()}
    verdicts = [usual | some for some in islice(varied(further), MOST_CONTEXTS)]
    return [ConversationContext(*pair) for pair in islice(product(scenarios, verdicts), MOST_CONTEXTS)]


def _records_of(name: str, written: Written) -> Iterator[OtherVerdict]:
    """What a check may say, its verdicts first."""
    domains = (("confidence", domain_of_numbers(0, 1)), ("rationale_code", domain_of_texts()))
    confidences, codes = (
        choices(domain, written.guessed[path], path) if (path := ("v", name, key)) in written.guessed else []
        for key, domain in domains
    )
    yield from map(OtherVerdict, VERDICTS)
    yield OtherVerdict(None)
    matters = any(("v", name, key) in written.paths for key in ("verdict", "eligible", "adjudication_required"))
    records = product((None, *codes), (1.0, *confidences), VERDICTS if matters else VERDICTS[:1])
    yield from (OtherVerdict(verdict, confidence, code) for code, confidence, verdict in records)


def _scenarios(written: Written, vocabulary: Vocabulary) -> Iterator[JsonObject]:
    """Scenarios whose fields have the values that conditions may ask for; those that differ in few fields first."""
    base = {**_SCENARIO, "category": vocabulary.categories[0]}
    paths = sorted(path[1:] for path in written.paths if path[0] == "scenario" and len(path) > 1)
    among = {path: values for path in paths if (values := _values(_type_at(path, vocabulary), written))}
    yield from (_with(base, chosen) for chosen in varied(among))


def _with(base: JsonObject, values: Mapping[Path, object]) -> JsonObject:
    made: JsonObject = json.loads(json.dumps(base))
    for path, value in values.items():
        place = made
        for name in path[:-1]:
            place = place.setdefault(name, {"name": "Ann"} if name == "persona" else {})
        place[_KEYS.get(path[-1], path[-1]) if len(path) == 1 else path[-1]] = value
    return made


def _type_at(path: Path, vocabulary: Vocabulary) -> Type | None:
    found: Type | None = scenario_type(vocabulary)
    for name in path:
        found = found.fields.get(name) if isinstance(found, RecordType) else None
    return found


def _values(kind: Type | None, written: Written) -> list[Any]:
    """What a field of a type may hold."""
    if isinstance(kind, EnumType):
        return sorted(kind.members, key=lambda word: word not in written.texts)
    if isinstance(kind, ListType):
        each = _values(kind.element, written)[:MOST_TEXTS]
        return [*([one] for one in each), *([each] if len(each) > 1 else [])]
    if kind == INT:
        return list(written.numbers)
    texts = [*written.texts, *written.whole]
    simple: dict[Type, list[Any]] = {STRING: texts, DOUBLE: list(written.amounts), BOOL: [True, False]}
    return simple.get(kind, []) if kind is not None else []


def records(written: Written) -> Iterator[JsonObject]:
    """Conversations as records that a scan reads, the short ones first."""
    further = list(_further(written)) if "metadata" in written.fields else []
    further += [(name, each) for name in _OF_RECORDS if name in written.fields for each in _of_records(name, written)]
    for messages in _conversations(written):
        yield {"messages": list(messages)}
        yield from ({"messages": list(messages), key: value} for key, value in further)


def _of_records(name: str, written: Written) -> Iterator[Any]:
    """What a key of a record may hold: texts and, where another value may be expected, those that are read of it."""
    yield from (*written.texts, *written.whole)
    if name == "expected":
        asked = {path[1:]: values for path, values in written.guessed.items() if path[0] == name}
        yield from (value for values in asked.values() for value in values if not isinstance(value, str))
        for chosen in varied({path: values for path, values in asked.items() if path}):
            yield _with({}, chosen)


def _further(written: Written) -> Iterator[tuple[str, Any]]:
    """What stands in metadata or among arguments: each key that is read and nothing else, with what it may hold."""
    known = {name for kind in _TYPES for name in kind.fields}
    keys = sorted(name for name in written.fields if name and name not in known)
    yield from product(keys, written.values)


def _conversations(written: Written) -> Iterator[Messages]:
    texts, fields = written.texts, written.fields
    parts = [" ".join(some) for size in range(len(texts) + 1) for some in combinations(texts, size)]
    replies = [part or _ANSWER for part in (*parts, *written.whole)]
    yield from (_pair(_HELLO, reply) for reply in replies)
    yield PLAIN[:1]
    yield from (_pair(reply, _ANSWER) for reply in replies[1:])
    yield from _with_more(written, [*parts, *written.whole])
    if not {"tool_calls", "tool_call", "messages", "message", "answer"}.isdisjoint(fields):
        yield from _with_tools(written, [*parts, *written.whole])
    if "usage" in fields:
        yield from (_answered(usage={name: _counted(name, each)}) for each in written.amounts for name in USAGE)
    for number in written.numbers:
        yield from (_pair(_HELLO, long) for part in parts for long in _padded(part, number))
        if number <= MOST_TURNS:
            for reply in (*replies[: MOST_TEXTS + 1], *written.whole):
                yield (*_pair(reply, _ANSWER), *_pair(_HELLO, _ANSWER) * (number - 1))[:number]
                yield (*_pair(_HELLO, _ANSWER) * (number - 1), *_pair(_HELLO, reply))
                yield (_pair(_HELLO, reply) * number)[:number]
                yield _pair(_HELLO, reply) * number
            yield from (_calling(name, *[{}] * number) for name in _tools(texts))
    shapes = islice(_with_tools(written, [""]), MOST_SHAPES) if "tool_calls" in fields else ()
    yield from ((*messages[:-1], {**messages[-1], "content": reply}) for messages in shapes for reply in replies)


def _with_more(written: Written, parts: Sequence[str]) -> Iterator[Messages]:
    """Messages with what they hold beside their text, and of the other roles."""
    for name in _OF_MESSAGES:
        if name in written.fields:
            yield from (_answered(**{name: part}) for part in parts[1:])
    if "messages" in written.fields or "message" in written.fields:
        yield from (({"role": "system", "content": part}, *_answered()) for part in parts[1:])
        yield from (_answered(**{key: value}) for key, value in _further(written))
    if "media" in written.fields:
        for kind, reference in product(("image_url", "input_audio", "file"), ("it", *written.texts, *written.whole)):
            medium = {"type": kind, "id": reference}
            yield ({"role": "user", "content": [{"type": "text", "text": _HELLO}, medium]}, *_answered()[1:])


def _with_tools(written: Written, parts: Sequence[str]) -> Iterator[Messages]:
    """Calls of tools with arguments and with results, and without a word."""
    for name in _tools(written.texts):
        yield _calling(name, {})
        yield tuple({**each, "content": ""} if each["role"] == "assistant" else each for each in _calling(name, {}))
        given: list[JsonObject] = [{}, *({key: value} for key, value in _further(written))]
        yield from (_calling(name, each) for each in given[1:])
        yield from (_calling(name, *pair) for pair in permutations(given[:MOST_ARGUMENTS], 2))
        yield from (_given(_calling(name, {}), part or "done") for part in parts)


def _tools(texts: Iterable[str]) -> list[str]:
    return [name for name in texts if name.isidentifier()] or [_TOOL]


def _pair(asked: str, answered: str) -> Messages:
    return {"role": "user", "content": asked}, {"role": "assistant", "content": answered}


def _answered(**more: object) -> Messages:
    user, answer = _pair(_HELLO, _ANSWER)
    return user, {**answer, **more}


def _counted(name: str, amount: float) -> float:
    """An amount of usage as people write it; tokens are whole."""
    return round(amount) if name.endswith("_tokens") else float(f"{amount:.6g}")


def _calling(name: str, *arguments: JsonMapping) -> Messages:
    """One call for each of the arguments."""
    calls = [
        {"id": f"call-{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(dict(each))}}
        for number, each in enumerate(arguments, 1)
    ]
    return _answered(tool_calls=calls)


def _given(messages: Messages, result: str) -> Messages:
    """The messages, with what their call gave."""
    return (*messages, {"role": "tool", "tool_call_id": "call-1", "content": result}, _answered()[1])


def _padded(part: str, number: int) -> Iterator[str]:
    """The text made so many characters and so many words long, and followed by so many sentences."""
    start = f"{part} " if part else ""
    if number > len(start):
        yield start.ljust(number, "o")
    words = number - len(part.split())
    if words > 0 and 3 * number <= LONGEST:
        yield (start + "so " * words).strip()
        yield (start + "So. " * number).strip()
