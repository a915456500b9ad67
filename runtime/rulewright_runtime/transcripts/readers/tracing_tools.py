"""Tracing tools: the conversations in the traces that Langfuse, LangSmith, Braintrust and OpenAI's agents SDK export.

Langfuse exports traces with their observations, of which those of a session are one conversation; LangSmith runs, with
messages as LangChain, OpenAI or Anthropic write them; Braintrust events of experiments and logs; the agents SDK the
spans of traces, of which those of a group are one conversation. All are read as steps:
a thread (or else a trace) is the input and output of its model calls, in the order of their starts, without those of
scorers; a trace without any is read by its outermost steps. What a step does not record itself, such as the model or
the expected answer, is taken from the root of its trace. What retrievers found is the result of a tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from rulewright_runtime.strict_json import Json, JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Part, Role
from rulewright_runtime.transcripts.readers.payloads import INPUT_KEYS, OUTPUT_KEYS, object_of, run_messages
from rulewright_runtime.transcripts.readers.record_values import (
    Record,
    ShapeError,
    duration,
    first_of,
    instant,
    is_list,
    is_record,
    list_at,
    object_in,
    optional,
    parsed,
    rest,
    word,
)
from rulewright_runtime.transcripts.readers.shapes import Format
from rulewright_runtime.transcripts.readers.span_attributes import (
    Retrieval,
    SpanKey,
    TracedCall,
    are_documents,
    has_passages,
    retrieval_message,
    with_passages,
)
from rulewright_runtime.transcripts.readers.spans import unrepeated, without_agents

_RETRIEVER: Final = re.compile(r"(?i)retriev|(?:vector|similarity|semantic)[ _-]?search")  # in a step's name
Kind = Literal["call", "scorer", "retrieval", "other"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a trace. `start` and `end` are times in nanoseconds, 0 if unknown; `about` may name the scenario
    and the model, and `kept` is what else the step records."""

    id: str
    trace: str
    kind: Kind
    name: str = ""
    input: Json
    output: Json
    parents: Sequence[str] = ()
    thread: str = ""
    start: int = 0
    end: int = 0
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
                reason = f"has no outermost {self.noun}; its {self.noun}s are below each other"
                yield ShapeError(f"trace `{steps[0].trace[:60]}` {reason}")
        calls: list[TracedCall] = []
        for step, roots in sorted(relevant, key=lambda each: each[0].start):
            try:
                calls.append(TracedCall(_key(step, step.id), step.start, self._conversation(step, roots, name)))
            except ShapeError as wrong:
                yield wrong
        retrievals = [each for steps in traces for each in _retrievals(steps)]
        parents = {_key(step, step.id): _key(step, *step.parents[:1]) for steps in traces for step in steps}
        calls = [*without_agents(calls, parents)]
        yield from with_passages(unrepeated(calls, name), calls, retrievals)

    def _conversation(self, step: Step, roots: Sequence[Step], name: str) -> Conversation:
        asked = self._messages(step.input, self.keys[0], INPUT_KEYS, "user", step.where)
        replies = self._messages(step.output, self.keys[1], OUTPUT_KEYS, "assistant", step.where)
        for key, value, found in zip(self.keys, (step.input, step.output), (asked, replies), strict=True):
            is_needed = key == self.keys[0] or (rest(object_in(value)) and not step.error)
            if not found and not self.reads_json and is_needed:
                raise ShapeError(f"{step.where}: {key} contain neither `messages` nor one text")
        if replies[: len(asked)] == asked:  # the state of a graph repeats its input
            replies = replies[len(asked) :]
        if not (asked or replies or step.error):
            raise ShapeError(f"{step.where} records neither what was asked nor what was answered")
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
            duration(step.start, step.end) | (step.usage or next((each.usage for each in replies if each.usage), {})),
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


def _key(step: Step, own: str = "") -> SpanKey:
    return step.trace, own or step.where


def _relevant(steps: Sequence[Step]) -> list[Step]:
    """The steps of a trace that hold its conversation: the model calls, or else those whose parents are not there."""
    known = {step.id: step for step in steps}
    scored = _scored(known)
    calls = [step for step in steps if step.kind == "call" and scored.isdisjoint(step.parents)]
    outer = [step for step in steps if known.keys().isdisjoint(step.parents)]
    return calls or [step for step in outer if step.kind != "retrieval"] or outer


def _retrievals(steps: Sequence[Step]) -> Iterator[Retrieval]:
    """Yield what the retrievers of a trace found; an outermost step that stands for its calls begins before them."""
    known = {step.id: step for step in steps}
    relevant = _relevant(steps)
    is_called = any(step.kind == "call" for step in relevant)
    spoken, scored = {each.id for each in _lineages(relevant, known)}, _scored(known)
    for step in sorted(steps, key=lambda each: each.start):
        if not _retrieves(step, spoken) or not scored.isdisjoint(step.parents):
            continue
        if (found := retrieval_message(step.output)) is not None:
            yield Retrieval(step.trace, step.start if is_called else 0, found)


def _retrieves(step: Step, spoken: Set[str]) -> bool:
    """Whether a step is a retriever: by its kind or, if it does not hold what is `spoken`, by its output, of which the
    name may say that its texts are passages."""
    if step.kind != "other" or step.id in spoken:
        return step.kind == "retrieval"
    is_named = _RETRIEVER.search(step.name) is not None
    return are_documents(step.output) or (is_named and has_passages(step.output))


def _scored(known: Mapping[str, Step]) -> set[str]:
    """The ids of scorers and of the steps below them."""
    below: dict[str, list[str]] = {}
    for step in known.values():
        for parent in step.parents:
            below.setdefault(parent, []).append(step.id)
    found: set[str] = set()
    pending = [step.id for step in known.values() if step.kind == "scorer"]
    while pending:
        if (name := pending.pop()) not in found:
            found.add(name)
            pending += below.get(name, ())
    return found


def _lineages(steps: Iterable[Step], known: Mapping[str, Step]) -> Iterator[Step]:
    """Yield the steps and their ancestors."""
    visited: set[str] = set()
    pending = [*steps]
    while pending:
        yield (each := pending.pop())
        parents = (known.keys() & set(each.parents)) - visited
        visited |= parents
        pending += [known[parent] for parent in parents]


_OBSERVATIONS: Final = frozenset({
    "SPAN", "EVENT", "GENERATION", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
})  # fmt: skip
_TRACES: Final = ("traceId", "trace_id")
_PARENTS: Final = ("parentObservationId", "parent_observation_id")
_SESSIONS: Final = ("sessionId", "session_id")
_USAGE_OF_LANGFUSE: Final = {"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"}
_COSTS_OF_LANGFUSE: Final = ("cost", "totalCost", "total_cost", "calculatedTotalCost", "calculated_total_cost")
_KINDS: Final[dict[str, Kind]] = {"GENERATION": "call", "EVALUATOR": "scorer", "RETRIEVER": "retrieval"}


def _is_of_langfuse(record: Record) -> bool:
    return _is_observation(record) or _is_trace(record) or (is_record(record.get("trace")) and "observations" in record)


def _is_observation(record: Record) -> bool:
    known = word(record.get("type")).upper() in _OBSERVATIONS and "attributes" not in record
    return known and any(key in record for key in _TRACES) and ("input" in record or "output" in record)


def _is_trace(record: Record) -> bool:
    about = "timestamp" in record and ("input" in record or "output" in record)
    return about and "messages" not in record and any(key in record for key in (*_SESSIONS, "observations"))


def _observations(record: Record) -> Iterator[Step]:
    """Yield each trace or observation as a step, with its session."""
    if _is_observation(record):
        yield _step_of_observation(record, "", word(first_of(record, _SESSIONS)))
        return
    trace = record["trace"] if is_record(record.get("trace")) else record
    session = word(first_of(trace, _SESSIONS))
    outer = word(trace.get("id")) if first_of(trace, ("input", "output")) is not None else ""
    if outer:
        yield _step_of_observation({**trace, "type": "TRACE", "traceId": outer}, "", session)
    for observation in list_at(record.get("observations") or [], "observations"):
        if is_record(observation):  # a list of traces has the ids only
            yield _step_of_observation({"traceId": trace.get("id"), **observation}, outer, session)


def _step_of_observation(record: Record, outer: str, session: str) -> Step:
    metadata = object_of(record.get("metadata"))
    failed = word(record.get("level")).upper() == "ERROR"
    usage = object_of(first_of(record, ("usageDetails", "usage_details", "usage")))
    costs = object_of(first_of(record, ("costDetails", "cost_details")))
    cost = first_of({**record, "cost": costs.get("total")}, _COSTS_OF_LANGFUSE)
    parent = word(first_of(record, _PARENTS)) or outer
    return Step(
        id=word(record.get("id")),
        trace=word(first_of(record, _TRACES)),
        name=word(record.get("name")),
        kind=_KINDS.get(word(record.get("type")).upper(), "other"),
        input=_decoded(record.get("input")),
        output=_decoded(record.get("output")),
        parents=[parent] if parent else (),
        thread=session,
        start=instant(first_of(record, ("startTime", "start_time", "timestamp"))),
        end=instant(first_of(record, ("endTime", "end_time"))),
        error=(word(record.get("statusMessage")) or "the observation failed") if failed else None,
        about=metadata,
        model=word(record.get("model")) or word(metadata.get("model")),
        usage={name: usage[key] for key, name in _USAGE_OF_LANGFUSE.items() if usage.get(key) is not None}
        | ({} if cost is None else {"cost": cost}),
        kept=rest(record, "input", "output", "observations"),
    )


def _decoded(value: Json) -> Json:
    """The value of an input or output, which some exports write as JSON text."""
    decoded = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"') else None
    return value if decoded is None else decoded


LANGFUSE: Final = Tool("langfuse", _is_of_langfuse, _observations, "event", "trace").format

_THREADS: Final = ("session_id", "thread_id", "conversation_id")  # in the metadata of a run
_KINDS_OF_RUNS: Final[dict[str, Kind]] = {"llm": "call", "retriever": "retrieval"}
_USAGE_OF_RUN: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "total_cost")
_MODELS: Final = ("ls_model_name", "model", "model_name")
_MAX_DEPTH: Final = 64


def _is_of_langsmith(record: Record) -> bool:
    runs = record.get("runs")
    return _is_run(record) or (is_list(runs) and any(is_record(run) and _is_run(run) for run in runs[:1]))


def _is_run(record: Record) -> bool:
    return isinstance(record.get("run_type"), str) and "inputs" in record


def _steps_of_runs(record: Record) -> Iterator[Step | None]:
    for run in _runs(record, 0):
        yield _step_of_run(run) if is_record(run) and _is_run(run) else None


def _runs(record: object, depth: int) -> Iterator[object]:
    """Yield the runs in an API response, or the record itself and its child runs."""
    if depth > _MAX_DEPTH:
        raise ShapeError("the runs are nested too deeply")
    if not is_record(record) or _is_run(record):
        yield record
    inner = (record.get("child_runs") if _is_run(record) else record.get("runs")) if is_record(record) else None
    for run in inner if is_list(inner) else []:
        yield from _runs(run, depth + 1)


def _step_of_run(run: Record) -> Step:
    extra, inputs, outputs = (object_of(run.get(key)) for key in ("extra", "inputs", "outputs"))
    metadata = object_of(extra.get("metadata")) or object_of(run.get("metadata"))
    named = (metadata, object_of(extra.get("invocation_params")), object_of(outputs.get("llm_output")), outputs)
    return Step(
        id=word(run.get("id")),
        trace=word(first_of(run, ("trace_id", "id"))),
        name=word(run.get("name")),
        kind=_KINDS_OF_RUNS.get(run["run_type"], "other"),
        input=inputs,
        output=outputs,
        parents=[word(run["parent_run_id"])] if run.get("parent_run_id") else (),
        thread=word(first_of(metadata, _THREADS)),
        start=instant(run.get("start_time")),
        end=instant(run.get("end_time")),
        ended=optional(run.get("end_time")),
        error=run.get("error"),
        about=metadata,
        model=next((model for record in named if (model := word(first_of(record, _MODELS)))), ""),
        usage=_usage_of_run(run),
        kept=rest(run, "inputs", "outputs", "child_runs", "events", "serialized", *_USAGE_OF_RUN),
    )


def _usage_of_run(run: Record) -> JsonObject:
    """The usage of a run; a cost may be written as text."""
    usage = {key: run[key] for key in _USAGE_OF_RUN if run.get(key) is not None}
    cost = usage.get("total_cost")
    return {**usage, "total_cost": parsed(cost)} if isinstance(cost, str) else usage


LANGSMITH: Final = Tool(
    "langsmith",
    _is_of_langsmith,
    _steps_of_runs,
    "run",
    "`run_type` and `inputs`",
    keys=("inputs", "outputs"),
    unanswered="the run has no answer",
    reads_json=False,
).format

_LISTS: Final = ("events", "data")  # of an API response
_METRICS: Final = {
    "prompt_tokens": "prompt_tokens",
    "completion_tokens": "completion_tokens",
    "tokens": "total_tokens",
    "estimated_cost": "cost",
}


def _is_event(record: Record) -> bool:
    return "root_span_id" in record and ("input" in record or "output" in record) and "attributes" not in record


def _listed(record: Record) -> list[Json] | None:
    lists = (record.get(key) for key in _LISTS)
    return next((each for each in lists if is_list(each) and each and is_record(each[0]) and _is_event(each[0])), None)


def _steps_of_events(record: Record) -> Iterator[Step | None]:
    for event in _listed(record) or [record]:
        yield _step_of_event(event) if is_record(event) and _is_event(event) else None


def _step_of_event(event: Record) -> Step:
    metadata, metrics = object_of(event.get("metadata")), object_of(event.get("metrics"))
    attributes = object_of(event.get("span_attributes"))
    parents = event.get("span_parents")
    return Step(
        id=word(event.get("span_id")),
        trace=word(event["root_span_id"]),
        kind=_kind_of_event(attributes),
        name=word(attributes.get("name")),
        input=_decoded(event.get("input")),
        output=_decoded(event.get("output")),
        parents=[word(each) for each in parents] if is_list(parents) and not event.get("is_root") else (),
        start=instant(metrics.get("start")),
        end=instant(metrics.get("end")),
        error=event.get("error"),
        expected=event.get("expected"),
        about=metadata,
        model=word(metadata.get("model")),
        usage={name: metrics[key] for key, name in _METRICS.items() if metrics.get(key) is not None},
        kept=rest(event, "input", "output", "expected"),
    )


def _kind_of_event(attributes: Record) -> Kind:
    if attributes.get("type") == "score" or attributes.get("purpose") == "scorer":
        return "scorer"
    return "call" if attributes.get("type") == "llm" else "other"


BRAINTRUST: Final = Tool(
    "braintrust",
    lambda record: _is_event(record) or _listed(record) is not None,
    _steps_of_events,
    "event",
    "`root_span_id` with `input` or `output`",
).format


def _is_of_agents(record: Record) -> bool:
    return record.get("object") in ("trace", "trace.span") and ("workflow_name" in record or "span_data" in record)


def _steps_of_agents(record: Record) -> Iterator[Step]:
    data = object_of(record.get("span_data"))  # none in the record of the trace itself
    answered = object_of(data.get("response"))
    yield Step(
        id=word(record.get("id")),
        trace=word(first_of(record, ("trace_id", "id"))),
        kind="call" if data.get("type") in ("generation", "response") else "other",
        name=word(data.get("name")),
        input=data.get("input"),
        output=first_of({**data, "response": answered.get("output")}, ("output", "response")),
        parents=[word(record["parent_id"])] if record.get("parent_id") else (),
        thread=word(record.get("group_id")),
        start=instant(record.get("started_at")),
        end=instant(record.get("ended_at")),
        error=record.get("error"),
        about=object_of(record.get("metadata")),
        model=word(data.get("model")) or word(answered.get("model")),
        usage=object_in(data.get("usage")) or object_in(answered.get("usage")),
        kept=rest(record, "span_data"),
    )


AGENTS: Final = Tool("openai-agents", _is_of_agents, _steps_of_agents, "span", "trace").format
