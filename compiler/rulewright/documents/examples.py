"""The examples in a check's file: conversations with expected verdicts, and whether the check gives them."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Guess, Note, error
from rulewright.documents.base import descend, items, scalar, text
from rulewright.documents.check import CheckDocument
from rulewright.load import Mapping, Node, Sequence, plain, scalars_below
from rulewright.spelling import did_you_mean, is_slip_of
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import InputError
from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import Judge, JudgeRequest
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.text import because
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.redaction import Redaction
from rulewright_runtime.transcripts.transcript_reader import from_record
from rulewright_runtime.verdicts import VerdictResult

_CONDITION: Final = "the condition"
_OPTION: Final = re.compile(r"(?:; | \()[^;(]*`--columns.*", re.DOTALL)  # of commands that read files
# The keys of chats in the commonest format: of the record, a message, a call, and its function.
LEVELS: Final = (
    frozenset({"messages"}),
    frozenset({"content", "role", "tool_call_id", "tool_calls"}),
    frozenset({"function", "type"}),
    frozenset({"arguments", "name"}),
)
_MESSAGE: Final = re.compile(r"messages\[(\d+)\]")  # the message that an error of a record names


class Example(Struct, frozen=True):
    """One of a check's `examples`; `number` counts from 1."""

    check: CheckDocument
    number: int
    node: Node

    @property
    def name(self) -> str:
        """Its `name`, or its number."""
        return text(self.node, "name") or f"example {self.number}"

    @property
    def verdict(self) -> str:
        return text(self.node, "verdict")

    @property
    def record(self) -> dict[str, Any]:
        """The conversation as a record in a format that a reader recognizes."""
        chat = plain(descend(self.node, "chat"))
        if not isinstance(chat, list) or not all(isinstance(each, dict) for each in chat):
            return {"id": self.name, **chat} if isinstance(chat, dict) else {}
        turns = [(role, content) for each in chat for role, content in each.items()]
        return {"id": self.name, "messages": [{"role": role, "content": content} for role, content in turns]}

    @property
    def judge(self) -> Judge | None:
        """A judge that gives the replies in the example; None without replies."""
        replies = [plain(each) for each in items(self.node, "judge")]
        return _Recorded(replies) if replies else None


class _Recorded:
    """A judge that gives replies in the order of the questions; the last one repeats."""

    def __init__(self, replies: list[object]) -> None:
        self._replies = [each if isinstance(each, str) else json.dumps(each) for each in replies]
        self._asked = 0

    def ask(self, request: JudgeRequest) -> str:
        """The next reply."""
        self._asked += 1
        return self._replies[min(self._asked, len(self._replies)) - 1]


def examples_of(check: CheckDocument) -> Iterator[Example]:
    """The examples in a check's file, in order."""
    for number, node in enumerate(items(check.node, "examples"), 1):
        yield Example(check, number, node)


def example_chats(check: CheckDocument) -> list[dict[str, Any]]:
    """The conversations of a check's examples without their names, as records with `messages`."""
    records = [example.record for example in examples_of(check)]
    return [{key: value for key, value in each.items() if key != "id"} for each in records if "messages" in each]


def example_findings(checks: Iterable[CheckDocument], plan: Plan) -> Findings:
    """Findings for examples whose check gives another verdict; those without the replies they need are skipped."""
    asking = set(needs_judge(plan))
    for check in checks:
        if (found := _of_one_chat(check)) is not None:
            yield found
            continue
        if misspelt := [*_misspelt_keys(check)]:
            yield from misspelt
            continue
        wrong: list[tuple[str, Diagnostic]] = []
        right: set[str] = set()
        for example in examples_of(check):
            yield from _without_call(example)
            if example.judge is None and asking & with_dependencies(plan, [check.id]):
                continue
            found = example_mismatch(example, verdict_on(example, plan), plan.redact)
            wrong += [] if found is None else [(example.verdict, found)]
            right |= {example.verdict} if found is None else set()
        deciding = {note.span for _, found in wrong for note in found.notes if note.message == _CONDITION}
        lacking = {verdict for verdict, _ in wrong} - right
        # Hardly all examples are wrong, nor the only one with a verdict beside one with the other verdict.
        if len(deciding) == 1 and ({"PASS", "FAIL"} <= lacking or (right & {"PASS", "FAIL"} and lacking)):
            first = wrong[0][1]
            yield replace(first, span=deciding.pop(), notes=(Note(first.span, "this example"),))
        else:
            yield from (each for _, each in wrong)


def _misspelt_keys(check: CheckDocument) -> Findings:
    """The keys of the records of chats that differ by a letter from a usual one, which their mapping lacks."""
    nodes = [found for example in examples_of(check) if (found := descend(example.node, "chat")) is not None]
    for usual, below in zip(LEVELS, ("messages", "tool_calls", "function", ""), strict=True):
        mappings = [each for each in nodes if isinstance(each, Mapping)]
        for node in mappings:
            for entry in node.entries:
                lacking = sorted(usual - {*node.keys}) if entry.name not in usual else ()
                near = (each for each in lacking if is_slip_of(entry.name, each))
                meant = next((each for each in near if entry.name.rstrip("s") != each.rstrip("s")), None)
                if meant is not None:
                    message = f"unknown key `{entry.name}` in the chat of an example"
                    yield error(entry.key, message, code="check-misses-own-example", help=Guess(meant))
        held = [found for node in mappings if (found := node.get(below)) is not None]
        nodes = [each for node in held for each in (node.items if isinstance(node, Sequence) else (node,))]


def _of_one_chat(check: CheckDocument) -> Diagnostic | None:
    """The finding of the first example that has the chat and replies of one before it, but expects another verdict."""
    seen: dict[str, Example] = {}
    for example in examples_of(check):
        given = json.dumps([plain(descend(example.node, "chat")), plain(descend(example.node, "judge"))], default=str)
        first = seen.setdefault(given, example)
        if first.verdict != example.verdict:
            message = f"{example.name} has the chat of {first.name}, but expects another verdict"
            place, notes = descend(example.node, "verdict") or example.node, [(first.node, "the other one")]
            return error(place, message, code="check-misses-own-example", notes=notes)
    return None


def _without_call(example: Example) -> Findings:
    """Findings for the results of an example that name a call which its messages do not have."""
    messages = items(example.node, "chat", "messages")
    calls = {text(call, "id") for each in messages for call in items(each, "tool_calls")}
    for written in (scalar(each, "tool_call_id") for each in messages):
        if written is not None and written.text not in calls:
            message = f"no call of {example.name} has the id `{written.value}` of this result"
            yield error(written, message, code="check-misses-own-example", help=did_you_mean(written.text, calls))


def verdict_on(example: Example, plan: Plan, judge: Judge | None = None) -> VerdictResult | InputError:
    """The check's verdict on the conversation, or the error in its record. The example's own replies are used unless
    `judge` is given. Raises PlanError if the check needs a judge and there is none."""
    try:
        read = from_record(example.record)
    except InputError as refused:
        return refused
    return verdict_of(example.check.id, plan, read, judge or example.judge)


def verdict_of(name: str, plan: Plan, chat: Transcript, judge: Judge | str | None = None) -> VerdictResult:
    """The verdict of the check called `name` on a conversation. Only this check and those it reads are run.
    Raises PlanError if it needs a judge and there is none, InputError for a chat that a run would refuse."""
    result = next(execute(part_of(plan, [name]), [chat], judge))
    if result.errors:
        raise InputError(str(result.errors[0]), chat.path, chat.line)
    return next(each for each in result.verdicts if each.check_id == name)


def part_of(plan: Plan, names: Iterable[str]) -> Plan:
    """The plan with only the checks of these names and those whose verdicts they read, without its scorecard."""
    kept = with_dependencies(plan, names)
    return replace(plan, checks=tuple(each for each in plan.checks if each.id in kept), scorecard=None, left_out=())


def with_dependencies(plan: Plan, names: Iterable[str]) -> set[str]:
    """The ids of the checks of these names and of those whose verdicts they read."""
    by_id = {check.id: check for check in plan.checks}
    found, waiting = set(names), list(names)
    while waiting:
        others = set(getattr(by_id[waiting.pop()].verifier, "needs", ())) & by_id.keys() - found
        found |= others
        waiting += others
    return found


def example_mismatch(
    example: Example, found: VerdictResult | InputError, redact: tuple[tuple[str, str], ...] = ()
) -> Diagnostic | None:
    """The message for an example with another verdict, or that can't be read; None if the verdict is as expected. It
    says whether a project's patterns to `redact` change the conversation."""
    if isinstance(found, InputError):
        number = _MESSAGE.search(str(found))
        spoken = items(example.node, "chat", "messages") or items(example.node, "chat")
        messages = spoken[int(number[1]) :] if number else ()
        place = messages[0] if messages else example.node
        reason = _OPTION.sub("", str(found))
        help = "write `chat` as a list of `ROLE: text`" if reason != str(found) and not number else None
        return error(place, f"this example can't be read: {reason}", code="check-misses-own-example", help=help)
    if found.verdict == example.verdict:
        return None
    quotes = ticked(span.quote for span in found.evidence)
    redacted = Redaction(redact).data(example.record) != example.record and "after `redact` of the project"
    parts = (because(found.rationale_code), quotes and f"with the evidence {quotes}", redacted)
    why = ", ".join(each for each in parts if each)
    message = f"`{example.check.id}` gives {found.verdict} for {example.name}, which expects {example.verdict}"
    place = descend(example.node, "verdict") or example.node
    conditions: tuple[Node, ...] = example.check.verdict_conditions
    if example.check.applies is not None and "NOT_APPLICABLE" in (found.verdict, example.verdict):
        conditions = (example.check.applies,)
    if found.rationale_code == "no_scenario" and (eligibility := descend(example.check.node, "eligibility")):
        conditions = (eligibility,)
    notes: list[tuple[Node, str]] = [(conditions[0], _CONDITION)] if len(conditions) == 1 else []
    replies, lost = items(example.node, "judge"), found.extra.get("unverified_evidence")
    if replies and (lost or found.cause == "error"):
        notes.append((place, "the expected verdict"))
        place = replies[0]
    if replies and lost:
        quoted = {each.quote for each in lost}
        place = next((each for each in scalars_below(*replies) if each.value in quoted), place)
        why = f"{ticked(sorted(quoted))} is in no message"
    return error(place, message, code="check-misses-own-example", help=why or None, notes=notes)
