"""Traces: the conversations in the steps of runs, as tracing tools export them.

A thread (or else a trace) is the input and output of its model calls, in the order of their starts, without those of
scorers; a trace without any is read by its outermost steps. What a step does not record itself, such as the model or
the expected answer, is taken from the root of its trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, Role
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, OUTPUT_KEYS, run_messages
from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError, is_record, optional
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.spans import unrepeated

Kind = Literal["call", "scorer", "other"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a trace. `start` is compared with those of the same tool only; `about` may name the scenario and the
    model, and `kept` is what else the step records."""

    id: str
    trace: str
    kind: Kind
    input: Json
    output: Json
    parents: Sequence[str] = ()
    thread: str = ""
    start: float | str = 0
    ended: str | None = None
    error: Json = None
    expected: Json = None
    about: Record = {}
    model: str = ""
    usage: JsonObject = {}
    kept: JsonObject = {}
    where: str = ""


class Tool(msgspec.Struct, frozen=True):
    """How a tool exports its traces: whether a record is one of its exports, the steps in it (None for an item that is
    none), what it calls a step, what a step needs, its keys for input and output, and whether values without messages
    are read as their JSON."""

    name: str
    recognises: Callable[[Record], bool]
    steps: Callable[[Record], Iterable[Step | None]]
    noun: str
    needs: str
    keys: tuple[str, str] = ("input", "output")
    unanswered: str = "the event has no output"
    reads_json: bool = True

    @property
    def format(self) -> Format:
        """The format of its exports."""
        return Format(self.name, self.recognises, self.read, joins=True)

    def read(self, records: Sequence[Record]) -> Iterator[Conversation | ShapeError]:
        """Yield the conversations in exported records, or why a step is refused."""
        traces: dict[str, list[Step]] = {}
        for number, step in enumerate((each for record in records for each in self.steps(record)), 1):
            if step is None:
                yield ShapeError(f"{self.noun} {number} has no {self.needs}")
            else:
                traces.setdefault(step.trace, []).append(replace(step, where=f"{self.noun} {number}"))
        threads: dict[str, list[list[Step]]] = {}
        for name, steps in traces.items():
            thread = next((step.thread for step in steps if step.thread), name)
            threads.setdefault(thread, []).append(steps)
        for name, of_thread in threads.items():
            yield from self._thread(name, of_thread)

    def _thread(self, name: str, traces: Sequence[list[Step]]) -> Iterator[Conversation | ShapeError]:
        relevant: list[tuple[Step, list[Step]]] = []
        for steps in traces:
            roots = [step for step in steps if not step.parents]
            selected = _relevant(steps)
            relevant += [(step, roots) for step in selected]
            if not selected:
                reason = f"has no outermost {self.noun}; its {self.noun}s stand below each other"
                yield ShapeError(f"trace `{steps[0].trace[:60]}` {reason}")
        found = []
        for step, roots in sorted(relevant, key=lambda each: each[0].start):
            try:
                found.append(self._conversation(step, roots, name))
            except ShapeError as wrong:
                yield wrong
        yield from unrepeated(found, name)

    def _conversation(self, step: Step, roots: Sequence[Step], name: str) -> Conversation:
        asked = self._messages(step.input, self.keys[0], INPUT_KEYS, "user", step.where)
        replies = self._messages(step.output, self.keys[1], OUTPUT_KEYS, "assistant", step.where)
        if not asked and not self.reads_json:
            raise ShapeError(f"{step.where}: {self.keys[0]} hold neither `messages` nor one text")
        if replies[: len(asked)] == asked:  # the state of a graph repeats its input
            replies = replies[len(asked) :]
        has_answer = bool(replies) and replies[-1].role == "assistant"
        errors = (step.error, *(root.error for root in roots), "" if has_answer else self.unanswered)
        error = next(filter(None, errors), None)
        if error:
            replies.append(Message("assistant", metadata={"error": error}))
        if step.ended is not None:
            replies = [replace(each, timestamp=each.timestamp or step.ended) for each in replies]
        root = roots[0] if roots else step
        return Conversation(
            name,
            (*asked, *replies),
            optional(step.about.get("scenario_id") or root.about.get("scenario_id")),
            root.expected if step.expected is None else step.expected,
            {**root.kept, **step.kept},
            step.usage or next((each.usage for each in replies if each.usage), {}),
            self.name,
            step.model or root.model,
        )

    def _messages(self, value: Json, key: str, names: Sequence[str], role: Role, where: str) -> list[Message]:
        """The messages in an input or an output; where JSON is read, any other value becomes a message."""
        if value is None:
            return []
        values, path = (value, f"{where}: {key}") if is_record(value) else ({key: value}, where)
        found = run_messages(values, names, role, path)
        if found or not self.reads_json:
            return found
        return [Message(role, (Part(text=msgspec.json.encode(value).decode()),))]


def _relevant(steps: Sequence[Step]) -> list[Step]:
    """The steps of a trace that hold its conversation: the model calls, or else those whose parents are not there."""
    known = {step.id: step for step in steps}
    calls = [step for step in steps if step.kind == "call" and not _is_scoring(step, known)]
    return calls or [step for step in steps if known.keys().isdisjoint(step.parents)]


def _is_scoring(step: Step, known: Mapping[str, Step]) -> bool:
    """Whether a step or one of its ancestors belongs to a scorer."""
    visited: set[str] = set()
    pending = [step]
    while pending:
        each = pending.pop()
        if each.kind == "scorer":
            return True
        parents = (known.keys() & set(each.parents)) - visited
        visited |= parents
        pending += [known[parent] for parent in parents]
    return False
