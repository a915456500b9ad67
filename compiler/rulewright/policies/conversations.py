"""Conversations on which two expression checks say different things, found by carrying both out.

What the conditions write down - texts, patterns, numbers - makes the conversations: replies that hold some of the
texts, of lengths around the numbers, as many turns, tools of these names, and usage around the numbers. Nothing is
claimed that was not carried out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.documents.vocabulary import Vocabulary
from rulewright.errors import UsageError
from rulewright.policies.samples import samples
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import Engine, execute
from rulewright_runtime.ir import literal_value
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scan import Check, Plan
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.transcripts.transcript_reader import from_record

MOST: Final = 1_500  # conversations that are tried
MOST_TEXTS: Final = 6  # that are combined
LONGEST: Final = 5_000  # characters of a reply
MOST_TURNS: Final = 40
USAGE: Final = ("input_tokens", "output_tokens", "total_tokens", "cost", "latency")
Message: TypeAlias = dict[str, object]
Messages: TypeAlias = tuple[Message, ...]
Verdicts: TypeAlias = tuple[str, str]


def conversations_apart(
    checks: Sequence[Check], vocabulary: Vocabulary, wanted: Iterable[Verdicts], undecided: str
) -> dict[Verdicts, Messages]:
    """For each `wanted` pair of verdicts a conversation of which the two checks say them, as far as one was found.
    `undecided` is what a verdict is called that a person has to give. Checks that read other verdicts have none."""
    routes = [check.verifier for check in checks]
    if not all(isinstance(route, ExpressionVerifier) and not route.needs for route in routes):
        return {}
    left = set(wanted)
    try:
        engines = [_plan(check, vocabulary) for check in checks]
        found: dict[Verdicts, Messages] = {}
        for messages in islice(_candidates(*_written(checks)), MOST):
            if not left:
                break
            first, second = (_verdict(plan, messages, undecided) for plan in engines)
            if first is not None and second is not None and (first, second) in left:
                found[first, second] = messages
                left.remove((first, second))
    except (RuntimeFailure, UsageError):  # of a plug-in that is not installed here
        return {}
    return found


def _plan(check: Check, vocabulary: Vocabulary) -> Plan:
    """A plan of the check alone, which applies to every conversation."""
    anywhere = replace(check, eligible=None, suppressed=None)
    plan = Plan("", "", "", {}, {}, (anywhere,), plugins=dict(vocabulary.functions), severities=vocabulary.severities)
    Engine(plan, {})
    return plan


def _verdict(plan: Plan, messages: Messages, undecided: str) -> str | None:
    """What the check says of a conversation; None where it refuses it or does not apply."""
    try:
        (result,) = execute(plan, [from_record({"id": "chat", "messages": list(messages)})], None)
    except InputError:
        return None
    found = next(iter(result.verdicts), None)
    if result.errors or found is None or found.eligible is False:
        return None
    return undecided if found.rationale_code == "condition_undecided" else found.verdict


def _written(checks: Iterable[Check]) -> tuple[list[str], list[int], list[float]]:
    """What the conditions and the parameters of checks hold, each once: texts, whole numbers with their neighbours,
    and all numbers with those a little below and above."""
    values: list[object] = []
    for check in checks:
        nodes = (node for program in programs_of(check.verifier) for node in program.nodes)
        values += [literal_value(node.value) for node in nodes if node.op == "const"]
        values += getattr(check.verifier, "parameters", {}).values()
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    texts = [text for each in flat if isinstance(each, str) for text in (each, *samples(each)[:2]) if text.strip()]
    numbers = [each for each in flat if isinstance(each, int | float) and not isinstance(each, bool)]
    around = {near for each in map(int, numbers) for near in (each - 1, each, each + 1) if 0 < near <= LONGEST}
    amounts = {float(near) for each in numbers for near in (0.9 * each, each, 1.1 * each) if near >= 0}
    return list(dict.fromkeys(texts))[:MOST_TEXTS], sorted(around), sorted(amounts)


def _candidates(texts: Sequence[str], numbers: Sequence[int], amounts: Sequence[float]) -> Iterator[Messages]:
    """Conversations, the short ones first."""
    parts = [" ".join(some) for size in range(len(texts) + 1) for some in combinations(texts, size)]
    replies = [part or "So it is." for part in parts]
    yield from (_pair("Hello.", reply) for reply in replies)
    yield from (_pair(reply, "So it is.") for reply in replies[1:])
    yield from (_calling(name, 1) for name in texts if name.isidentifier())
    for amount in amounts:
        user, answer = _pair("Hello.", "So it is.")
        yield from ((user, {**answer, "usage": {name: _counted(name, amount)}}) for name in USAGE)
    for number in numbers:
        yield from (_pair("Hello.", long) for part in parts for long in _padded(part, number))
        if number <= MOST_TURNS:
            for reply in replies[: MOST_TEXTS + 1]:
                yield (*_pair("Hello.", "So it is.") * (number - 1), *_pair("Hello.", reply))
                yield (_pair("Hello.", reply) * number)[:number]
                yield _pair("Hello.", reply) * number
            yield from (_calling(name, number) for name in texts if name.isidentifier())


def _pair(said: str, answered: str) -> Messages:
    return {"role": "user", "content": said}, {"role": "assistant", "content": answered}


def _counted(name: str, amount: float) -> float:
    """An amount of usage as people write it; tokens are whole."""
    return round(amount) if name.endswith("_tokens") else float(f"{amount:.6g}")


def _calling(name: str, count: int) -> Messages:
    call = {"type": "function", "function": {"name": name, "arguments": json.dumps({})}}
    calls = [{"id": f"call-{number}", **call} for number in range(1, count + 1)]
    return {"role": "user", "content": "Hello."}, {"role": "assistant", "content": "So it is.", "tool_calls": calls}


def _padded(part: str, number: int) -> Iterator[str]:
    """The text made so many characters and so many words long, and followed by so many sentences."""
    start = f"{part} " if part else ""
    if number > len(start):
        yield start.ljust(number, "o")
    words = number - len(part.split())
    if words > 0 and 3 * number <= LONGEST:
        yield (start + "so " * words).strip()
        yield (start + "So. " * number).strip()
