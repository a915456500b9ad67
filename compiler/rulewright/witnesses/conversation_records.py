"""Conversations as records that a scan reads, made of what conditions hold: those that differ from a plain conversation
in few respects first; and their lines of text."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, pairwise, permutations, product
from typing import Any, Final, NamedTuple, TypeAlias

from rulewright.lower.expressions import MESSAGE_TYPE, TOOL_CALL_TYPE, USAGE_TYPE
from rulewright.witnesses.candidates import LONGEST, Written, is_json, placed
from rulewright.witnesses.guesses import InputModel, varied
from rulewright_runtime.strict_json import JsonMapping, JsonObject

Chosen: TypeAlias = "Mapping[str, Any]"  # what a conversation has in some respects
MOST_MESSAGES: Final = 80
MOST_REPLIES: Final = 20  # of which a share says the same
MOST_CALLS: Final = 8  # of tools, by their arguments, in pairs
MOST_TEXTS: Final = 8  # texts of two messages, in pairs
MOST_AMOUNTS: Final = 16  # of usage, in pairs
MOST_TRIED: Final = 200  # values of each respect, for their effects
MOST_TELLING: Final = 12  # calls of tools with their own effects, in pairs
MOST_PAIRED: Final = 24  # values of each respect, where conversations differ in several
USAGE: Final = ("input_tokens", "output_tokens", "total_tokens", "cost", "latency")
_OF_MESSAGES: Final = ("reasoning", "refusal", "name", "timestamp")
_OF_RECORDS: Final[tuple[str, ...]] = ("expected", "model", "id")
_REPLIES: Final = [f"{fold}{name}" for name in ("answer", "turn.content") for fold in ("", "fold: ", "lower: ")]
_TOOLS: Final = ["fetch", "lookup"]
_HELLO, _ANSWER = "Hello.", "So it is."
_MEDIA: Final = ("image_url", "input_audio", "file")
LONG: Final = 60  # characters from which on a text is shown line by line
_USUAL: Final = ("scenario_id", "open")  # keys of a scenario that every example has
_SHOWN: Final = ("role", "content", "tool_calls", "tool_call_id", "usage")  # keys of its messages that are shown
# Whose fields have a place of their own; others stand in metadata or are arguments of tools.
_TYPES: Final = (MESSAGE_TYPE, TOOL_CALL_TYPE, USAGE_TYPE)
PLAIN: Final = ({"role": "user", "content": _HELLO}, {"role": "assistant", "content": _ANSWER})


class _Length(NamedTuple):
    """How many messages there are, and how many of the last replies say the same; if all do, all questions do too."""

    messages: int
    alike: int = 1


class _Call(NamedTuple):
    """A call of a tool, and what it gave; without arguments that are JSON it has others."""

    name: str
    arguments: JsonObject | None
    result: str | None = None

    @property
    def written(self) -> str:
        """The arguments as a record holds them."""
        return "so" if self.arguments is None else json.dumps(self.arguments)


def records(written: Written, effect: Callable[[JsonObject], Hashable]) -> Iterator[Callable[[], JsonObject]]:
    """What makes conversations as records that a scan reads: the short ones first, then those that combine what has
    another `effect` alone."""
    respects = {name: values for name, values in _respects(written).items() if values}
    yield partial(_record, {})
    for name, values in respects.items():
        yield from (partial(_record, {name: value}) for value in values)
    telling = {name: _telling(name, values, effect) for name, values in respects.items()}
    kept = telling.get("record", [])[:MOST_TELLING]
    telling |= {"record": [*kept, *({**one, **two} for one, two in combinations(kept, 2) if one.keys() != two.keys())]}
    several = telling.get("calls", [])[:MOST_TELLING]
    joined = [{"calls": [*one, *two]} for one, two in permutations(several, 2)]
    yield from (partial(_record, chosen) for chosen in joined)
    yield from (partial(_record, chosen) for chosen in varied(telling) if len(chosen) > 1)
    few = {name: values[:MOST_PAIRED] for name, values in respects.items()}
    for chosen in filter(None, map(_of_model, written.models)):
        yield partial(_record, chosen)
        further = [name for name in few if name not in chosen]
        yield from (partial(_record, {**chosen, name: each}) for name in further for each in few[name])
    yield from (partial(_record, chosen) for chosen in varied(few) if len(chosen) > 1)


def _telling(name: str, values: Sequence[Any], effect: Callable[[JsonObject], Hashable]) -> list[Any]:
    """The first value for each effect that differs from that of a plain conversation."""
    found = {effect(_record({})): None}
    for value in values[:MOST_TRIED]:
        found.setdefault(effect(_record({name: value})), value)
    return list(found.values())[1:]


def _of_model(model: InputModel) -> JsonObject:
    """The respects in which a conversation of a model differs from a plain one."""
    usage = {path[1]: value for path, value in model.values.items() if path[0] == "usage" and is_json(value)}
    reply = next((model.texts[name] for name in _REPLIES if name in model.texts), None)
    return {**({"usage": usage} if usage else {}), **({} if reply is None else {"reply": reply})}


def _respects(written: Written) -> dict[str, list[Any]]:
    """In what conversations may differ, with what each may be."""
    texts, fields = written.texts, {*written.fields}
    parts = [" ".join(some) for size in range(1, len(texts) + 1) for some in combinations(texts, size)]
    texts = [*parts, *written.whole]
    long = [each for number in written.numbers for part in ("", *parts) for each in _padded(part, number)]
    return {
        "reply": [*texts[:4], None, "", *texts[4:], *long],
        "calls": list(_calls(written)) if fields & {"tool_calls", "tool_call", "messages", "answer"} else [],
        "usage": list(_usage(written)) if "usage" in fields else [],
        "length": list(_lengths(written)),
        "asked": [*texts, None],
        "asked last": texts,
        "extra": list(_extra(written, texts)),
        "record": list(_of_records(written)),
    }


def _lengths(written: Written) -> Iterator[_Length]:
    for number in dict.fromkeys((*written.numbers, 2)):
        several = [each for each in (2 * number, number, 2 * number + 1) if each <= MOST_MESSAGES]
        yield from (_Length(*pair) for pair in product(several, (1, MOST_MESSAGES)))
    yield from (_Length(2 * size, count) for count, size in _shares(written.shares))


def _shares(shares: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Parts and wholes whose shares are equal to one of these and are between two, as far as small ones are."""
    if not shares:
        return
    known = [(count, size) for size in range(2, MOST_REPLIES + 1) for count in range(1, size)]
    for low, high in pairwise((0.0, *shares, 1.0)):
        yield from islice((pair for pair in known if low < pair[0] / pair[1] < high), 1)
        yield from islice((pair for pair in known if pair[0] / pair[1] == high), 1)


def _calls(written: Written) -> Iterator[list[_Call]]:
    """Calls of tools: one with arguments or a result, two that differ, several."""
    names = [name for name in written.texts if name.isidentifier()] or _TOOLS
    given = [{key: value} for key, value in _further(written)]
    asked = [
        [_call(each, names[0]) for each in calls]
        for calls in written.guessed.get(("tool_calls",), ())
        if isinstance(calls, list) and all(isinstance(each, dict) and is_json(each) for each in calls)
    ]
    yield from ([_Call(name, {})] for name in names)
    yield from asked
    yield from ([each] for each in _single_calls(written, names, given))
    yield from ([*one, *two] for one, two in permutations(asked[:MOST_CALLS], 2))
    yield from _plain_calls(written.numbers, names)
    kinds = {type(value): each for each in reversed(given) for value in each.values()}
    few = [{}, *kinds.values(), *(each for each in given if each not in kinds.values())][:MOST_CALLS]
    for one, two in product(names[:MOST_CALLS], repeat=2):
        yield from ([_Call(one, first), _Call(two, second)] for first, second in product(few, few) if first or second)


def _single_calls(written: Written, names: Sequence[str], given: Sequence[JsonObject]) -> Iterator[_Call]:
    """Calls with the arguments that conditions ask for, with each that they read, and with results."""
    arguments = [each for each in written.guessed.get(("tool_call", "arguments"), ()) if isinstance(each, dict)]
    yield from (_Call(name, each) for name in names for each in filter(is_json, arguments))
    for name in names:
        yield from (_Call(name, each) for each in given)
        yield _Call(name, None)
        yield from (_Call(name, {}, text) for text in ("done", *written.texts, *written.whole))


def _plain_calls(numbers: Sequence[int], names: Sequence[str]) -> Iterator[list[_Call]]:
    """Several calls without arguments: of different tools, then as many as conditions count, of one tool or more."""
    for size in (2, 3):
        yield from ([_Call(name, {}) for name in several] for several in permutations(names, size))
    for number in (each for each in numbers if each <= MOST_MESSAGES):
        yield from ([_Call(name, {})] * number for name in names)
        yield [_Call(f"{names[0]}_{at}", {}) for at in range(number + 1)]
        yield [_Call(names[0], {"n": at}) for at in range(number + 1)]
        yield from ([_Call(one, {})] * number + [_Call(two, {})] for one, two in permutations(names[:MOST_CALLS], 2))


def _call(asked: JsonObject, name: str) -> _Call:
    """A call with the fields that conditions ask for."""
    arguments, result = asked.get("arguments"), asked.get("result")
    return _Call(
        str(asked.get("name", name)),
        arguments if isinstance(arguments, dict) else {},
        result if isinstance(result, str) else None,
    )


def _usage(written: Written) -> Iterator[JsonObject]:
    """What a reply cost, as people write it; tokens are whole."""
    read = [name for name in USAGE if name in written.fields] or USAGE
    some = sorted({*written.amounts, *written.numbers})
    for most in (1, 2):
        for names in combinations(read, most):
            for amounts in product(some if most == 1 else some[:MOST_AMOUNTS], repeat=most):
                yield {
                    name: round(amount) if name.endswith("_tokens") else float(f"{amount:.6g}")
                    for name, amount in zip(names, amounts, strict=True)
                }


def _extra(written: Written, texts: Sequence[str]) -> Iterator[tuple[str, object]]:
    """What the last reply holds besides its text, and the first message in a pair, and messages of other roles: a field
    and its value."""
    fields = {*written.fields}
    yield from ((name, text) for name in _OF_MESSAGES if name in fields for text in texts)
    yield from ((name, pair) for name in _OF_MESSAGES if name in fields for pair in permutations(texts[:MOST_TEXTS], 2))
    if fields & {"messages", "message"}:
        yield from (("system", text) for text in texts)
        yield from _further(written)
    if "media" in fields:
        yield from (("media", {"type": kind, "id": each}) for kind in _MEDIA for each in ("it", *texts))


def _of_records(written: Written) -> Iterator[JsonObject]:
    """What a record holds besides its messages; unknown keys are metadata."""
    texts = [*written.texts, *written.whole]
    for name in _OF_RECORDS:
        yield from ({name: text} for text in texts if name in written.fields)
    if "metadata" in written.fields:
        yield from (each for each in _asked_of(written, "transcript", "metadata") if isinstance(each, dict))
        yield from ({key: value} for key, value in _further(written))
    if "expected" in written.fields:
        yield from ({"expected": each} for each in _asked_of(written, "expected") if not isinstance(each, str))


def _asked_of(written: Written, *root: str) -> Iterator[object]:
    """What conditions ask of a value of any form, and of its parts."""
    asked = {path[len(root) :]: several for path, several in written.guessed.items() if path[: len(root)] == root}
    made = (*asked.pop((), ()), *(placed({}, chosen) for chosen in varied(asked)))
    yield from filter(is_json, made)


def _further(written: Written) -> Iterator[tuple[str, object]]:
    """What is in metadata or among arguments: each key that is read and nothing else, with what it may hold."""
    known = {name for kind in _TYPES for name in kind.fields}
    keys = sorted(name for name in written.fields if name and name not in known)
    yield from product(keys, written.values)


def _padded(part: str, number: int) -> Iterator[str]:
    """The text made so many characters, words, sentences and lines long."""
    start, missing = f"{part} " if part else "", number - len(part) - 1
    if missing >= 0:
        yield start.ljust(number, "o")
        yield "o" * missing + " " + part if part else "o" * number
    if 3 * number <= LONGEST:
        words = number - len(part.split())
        yield (start + "so " * words).strip()
        yield (start + "So. " * number).strip()
        yield "\n".join([f"{part}so"] * number)


def _record(chosen: Chosen) -> JsonObject:
    """The record of a conversation that differs in these respects from a plain one."""
    *before, last = _messages(chosen)
    messages = [each for at, message in enumerate(before) for each in _answered(message, (), at)]
    messages += _answered(last, chosen.get("calls", ()), len(before)) if last["role"] == "assistant" else [last]
    if "usage" in chosen:  # of every reply, since the sum is not known otherwise
        messages = [{**each, "usage": chosen["usage"]} if each["role"] == "assistant" else each for each in messages]
    name, value = chosen.get("extra", (None, None))
    if name == "system":
        messages.insert(0, {"role": "system", "content": value})
    elif name == "media" and messages:
        messages[0]["content"] = [{"type": "text", "text": messages[0]["content"]}, value]
    elif isinstance(value, tuple) and messages:
        messages[0][name], messages[-1][name] = value
    elif name is not None and messages:
        messages[-1][name] = value
    return {"messages": messages, **chosen.get("record", {})}


def _messages(chosen: Chosen) -> list[JsonObject]:
    """What is asked and answered in turn; an answer that is None is left out at the end, such a question everywhere."""
    length, reply = chosen.get("length", _Length(2)), chosen.get("reply", _ANSWER)
    asked, count = chosen.get("asked", _HELLO), length.messages - (length.messages % 2 == 0 and reply is None)
    again = chosen.get("asked last")
    count = count if again is None else max(count, 4)
    last = max((at for at in range(count) if at % 2), default=0)
    answers = {
        at: reply if reply is not None and at > last - 2 * length.alike else _ANSWER for at in range(1, count, 2)
    }
    questions = dict.fromkeys(range(0, count, 2 if 2 * length.alike >= count else count), asked)
    if again is not None:
        questions[(count - 1) // 2 * 2] = again
    return [
        {"role": "assistant", "content": answers[at]}
        if at in answers
        else {"role": "user", "content": questions.get(at, _HELLO)}
        for at in range(count)
        if at in answers or asked is not None or not answers
    ]


def _answered(answer: JsonObject, calls: Sequence[_Call], at: int) -> list[JsonObject]:
    """A message with calls of tools; one without words makes some. What they give is before the answer."""
    if not calls and answer["content"]:
        return [answer]
    calls = calls or [_Call(_TOOLS[-1], {})]
    ids = [f"call-{at}-{number}" for number in range(1, len(calls) + 1)]
    made = [
        {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.written}}
        for id_, call in zip(ids, calls, strict=True)
    ]
    given = [
        {"role": "tool", "tool_call_id": id_, "content": call.result}
        for id_, call in zip(ids, calls, strict=True)
        if call.result is not None
    ]
    if given:
        asking: JsonObject = {"role": "assistant", "content": None, "tool_calls": made}
        return [asking, *given, *([answer] if answer["content"] else [])]
    return [{**answer, **({"tool_calls": made} if made else {})}]


def conversation_lines(
    messages: Iterable[JsonMapping],
    scenario: JsonMapping | None = None,
    verdicts: JsonMapping | None = None,
    **more: Any,
) -> Iterator[str]:
    """The scenario and the other verdicts of a conversation, and its messages."""
    shown = {key: value for key, value in (scenario or {}).items() if key not in _USUAL}
    if scenario:
        yield f"scenario: {', '.join(f'{key} {as_json(value)}' for key, value in shown.items())}"
    yield from (f"{name}: {_other_verdict(value)}" for name, value in (verdicts or {}).items())
    yield from (f"{name}: {value}" for name, value in more.items())
    yield from map(_message, messages)


def _other_verdict(item: Any) -> str:
    """What another check says of a conversation."""
    if isinstance(item, dict):
        return f"{item['verdict']}, confidence {item['confidence']:g}, rationale_code {as_json(item['rationale_code'])}"
    return "no record" if item is None else str(item)


def _message(message: JsonMapping) -> str:
    content = message["content"] if isinstance(message["content"], str) else as_json(message["content"])
    called = ", ".join(
        call["function"]["name"] + call["function"]["arguments"].removesuffix("{}")
        for call in message.get("tool_calls", ())
    )
    more = {key: value for key, value in message.items() if key not in _SHOWN} | message.get("usage", {})
    others = "".join(f", {name} {as_json(value)}" for name, value in more.items())
    return f"{message['role']}: {as_json(content[:LONG])}{_beyond(content)}{called and f', and calls {called}'}{others}"


def _beyond(text: str) -> str:
    return f" ... ({len(text)} characters)" if len(text) > LONG else ""


def as_json(value: object) -> str:
    """A value as JSON on one line; None is `absent`."""
    return "absent" if value is None else json.dumps(value, ensure_ascii=False, default=str)
