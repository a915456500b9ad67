"""Judges: who answers a check's question, and the judge that replays recorded answers.

A judge is handed in when a run starts; a plan never names one.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from functools import cached_property
from typing import Any, Final, Protocol

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.input_files import MAX_EXPANDED, read_expanded
from rulewright_runtime.plan.question import ReplyField
from rulewright_runtime.strict_json import JsonObject

REPLAY: Final = "replay:"
PLUGIN: Final = "plugin:"  # a judge that an installed distribution brings
SPEAKERS: Final = ("user", "assistant")
WRAPPER: Final = "1"  # how questions are put and replies are read; another number is another judge


def is_live(judge: str | None) -> bool:
    """Whether a judge, as `--judge` names it, is a model: not recorded replies and no plug-in."""
    return judge is not None and not judge.startswith((REPLAY, PLUGIN))


class JudgeRequest(msgspec.Struct, frozen=True):
    """One call: which question is asked, for which repetition and attempt (from 0), and how much may be answered.

    `window` counts the windows of the check from 0; `purpose` is `check`, `edge`, `confirm` or `sweep`. `fields` are
    those that the reply must hold besides its verdict, `roles` those that its quotes may name.
    """

    transcript_id: str
    check_id: str
    prompt: str
    max_tokens: int
    temperature: float
    repetition: int
    attempt: int
    window: int = 0
    purpose: str = "check"
    fields: tuple[ReplyField, ...] = ()
    roles: tuple[str, ...] = SPEAKERS


class JudgeRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who judged, as a run records it. What is not known, or is not so, is left out.

    `digest` is the sha256 (hex) of recorded replies. `prompts` are the hashes of the prompts by check: the part of the
    plan that a judge answers. `wrapper` is the version of what puts the questions and reads the replies.
    """

    provider: str
    name: str = ""
    digest: str = ""
    requested_model: str = ""
    served_models: tuple[str, ...] = ()
    parameters: JsonObject = {}
    prompts: dict[str, str] = {}
    wrapper: str = ""


class Judge(Protocol):
    """Answers questions. Whatever it raises, and None, counts as an attempt without a usable reply.

    A judge may also have an `identity`, a text that is another one for whoever answers differently; a `record` of who
    it is; and `recorded`, which says that its answers are on the disk already.
    """

    def ask(self, request: JudgeRequest) -> str | None:
        """The raw reply, or None."""


class UnansweredError(JudgeError):
    """A question that nobody was asked, for a reason that has nothing to do with it: the check stays UNCLEAR."""

    code = "judge_not_asked"


class BudgetExhaustedError(UnansweredError):
    """No further call is allowed."""

    code = "judge_budget_exhausted"


class TooLongError(UnansweredError):
    """What is to be judged does not fit into the judge's window; nothing of it is left out."""

    code = "conversation_too_long"


class NotRecordedError(JudgeError):
    """A question to which the recorded replies hold none."""


class ReplayJudge:
    """Answers with recorded replies: `{transcript_id: {check_id: [repetition][attempt]}}`.

    An entry is the raw reply, null, or `{"raise": message}`; the last entry of a repetition answers all later attempts.
    Under `CHECK/PURPOSE/WINDOW` stands the sequence of one question of a check; every other one is answered with the
    check's own sequence. What was never recorded is not a reply.
    """

    recorded = True

    def __init__(self, replies: dict[str, dict[str, list[list[Any]]]], name: str = "") -> None:
        """Keep the recorded replies; `name` is that of their file."""
        self._replies = replies
        self._name = name

    def about(self, transcript: str, check: str) -> dict[str, list[list[Any]]]:
        """What was recorded about a check on a transcript, by the key under which it stands."""
        known = self._replies.get(transcript, {})
        return {key: replies for key, replies in known.items() if key == check or key.startswith(f"{check}/")}

    @property
    def identity(self) -> str:
        """The fingerprint of the recorded replies."""
        return REPLAY + self.record.digest

    @cached_property
    def record(self) -> JudgeRecord:
        """The name and the fingerprint of the recorded replies."""
        digest = sha256(msgspec.json.encode(self._replies, order="deterministic")).hexdigest()
        return JudgeRecord("replay", self._name, digest)

    def ask(self, request: JudgeRequest) -> str | None:
        """The recorded reply. Raises NotRecordedError where there is none, JudgeError where the recording says so."""
        known = self._replies.get(request.transcript_id, {})
        question = f"{request.check_id}/{request.purpose}/{request.window}"
        repetitions = known.get(question) or known.get(request.check_id, [])
        attempts = repetitions[request.repetition] if request.repetition < len(repetitions) else []
        if not attempts:
            raise NotRecordedError(f"no reply was recorded for {request.transcript_id}, {request.check_id}")
        entry = attempts[min(request.attempt, len(attempts) - 1)]
        if isinstance(entry, dict):
            if entry.get("code") == TooLongError.code:
                raise TooLongError("the conversation does not fit into the judge's window")
            raise JudgeError(str(entry.get("raise", "the recorded call failed")))
        return entry if isinstance(entry, str) else None


class _Answer(msgspec.Struct, frozen=True):
    """What came of one question: the reply, or why there is none."""

    reply: str | None
    lost: str = ""
    model: str = ""


def custom_id(question: JudgeRequest) -> str:
    """The name of a question in a batch: another one for another prompt, vote, window, check or transcript."""
    place = (question.transcript_id, question.check_id, question.purpose, question.window, question.repetition)
    return f"q-{sha256(msgspec.json.encode((place, question.prompt))).hexdigest()[:40]}"


def holds_answers(data: bytes) -> bool:
    """Whether a file is lines of answers, told by its first one."""
    first = data.lstrip().partition(b"\n")[0]
    try:
        return "custom_id" in msgspec.json.decode(first, type=JsonObject)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False


class AnsweredElsewhere:
    """A judge whose answers stand in a file. A question is answered once, so a reply that can't be used is lost."""

    def __init__(self, data: bytes, name: str = "") -> None:
        """Read the lines; `name` is that of their file. Raises MsgspecError for a line that is not JSON, JudgeError for
        one without a `custom_id`."""
        self._answers: dict[str, _Answer] = {}
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                found = strict_json.decode(line, type=JsonObject)
                key = found.get("custom_id")
                if not isinstance(key, str):
                    raise JudgeError(f"line {number} has no `custom_id`")
                twice = key in self._answers
                self._answers[key] = _Answer(None, "answered twice") if twice else _answer(found)
        self._digest, self._name = sha256(data).hexdigest(), name
        self.lost: Counter[str] = Counter()  # questions without a usable answer, by reason

    @property
    def identity(self) -> str:
        """The fingerprint of the file."""
        return f"answers:{self._digest}"

    @property
    def record(self) -> JudgeRecord:
        """The file, and the models that answered, as the endpoint named them."""
        models = tuple(sorted({answer.model for answer in self._answers.values()} - {""}))
        return JudgeRecord("replay", self._name, self._digest, served_models=models)

    def ask(self, request: JudgeRequest) -> str | None:
        """The answer. Raises NotRecordedError where there is none, JudgeError where there is none to use."""
        key = custom_id(request)
        answer = self._answers.get(key)
        if request.attempt:
            raise NotRecordedError("a question of a batch is answered once")
        lost = "missing" if answer is None else answer.lost
        if lost:
            self.lost[lost] += 1
            raise NotRecordedError(f"the question `{key}` has no answer: {lost}")
        assert answer is not None, "what is missing is lost"
        return answer.reply


def _answer(line: JsonObject) -> _Answer:
    """The answer in a line: `{"reply": TEXT}`, or what a batch of chat completions gives."""
    if line.get("error"):
        return _Answer(None, "failed")
    if isinstance(line.get("reply"), str):
        return _Answer(line["reply"])
    response = line.get("response")
    if not isinstance(response, dict) or response.get("status_code") != 200:
        return _Answer(None, "failed")
    from rulewright_runtime.models.call import CallFailure
    from rulewright_runtime.models.wire import WIRES

    body = response.get("body")
    try:
        said = WIRES["openai"].answer(body, "") if isinstance(body, dict) else None
    except CallFailure:
        said = None
    if said is None:
        return _Answer(None, "failed")
    return _Answer(said.text, "", said.model) if said.is_whole else _Answer(None, "not whole", said.model)


class LimitedJudge:
    """Passes at most `calls` questions on to another judge."""

    def __init__(self, judge: Judge, calls: int) -> None:
        """`calls` may be asked from now on."""
        self._judge, self._left = judge, calls

    def ask(self, request: JudgeRequest) -> str | None:
        """The other judge's answer. Raises BudgetExhaustedError when the calls are used up."""
        if self._left <= 0:
            raise BudgetExhaustedError("the budget of judge calls is exhausted")
        self._left -= 1
        return self._judge.ask(request)


def who_judged(judge: object, prompts: dict[str, str]) -> JudgeRecord:
    """The record of a judge that answered these prompts (hashes by check). One that says nothing of itself is known by
    its class."""
    record = getattr(judge, "record", None)
    if not isinstance(record, JudgeRecord):
        record = JudgeRecord("python", f"{type(judge).__module__}.{type(judge).__qualname__}")
    return msgspec.structs.replace(record, prompts=prompts, wrapper=WRAPPER)


def identity(judge: object) -> str:
    """Who answers, as a resumed run compares it; empty for nobody, and for a judge that does not say."""
    return str(getattr(judge, "identity", ""))


def open_judge(specification: str, max_expanded: int = MAX_EXPANDED) -> Judge:
    """The judge that a command line names: `replay:FILE`, a JSON file of recorded replies, or lines of answers to
    exported questions, gzipped or not, of at most `max_expanded` bytes; or `plugin:NAME`, one that an installed
    distribution brings, with what stands behind a further colon as its argument.

    Raises JudgeError where there is no such judge or its file can't be read.
    """
    if specification.startswith(PLUGIN):
        from rulewright_runtime.plugins import judge

        name, _, argument = specification.removeprefix(PLUGIN).partition(":")
        made: Judge = judge(name, argument)
        return made
    if not specification.startswith(REPLAY):
        raise JudgeError(f"unknown judge `{specification}`; expected `{REPLAY}FILE` or `{PLUGIN}NAME`")
    path = specification.removeprefix(REPLAY)
    try:
        data = read_expanded(path, max_expanded)
        if holds_answers(data):
            return AnsweredElsewhere(data, os.path.basename(path))
        decoder = strict_json.Decoder(dict[str, dict[str, list[list[Any]]]], defaulted=lambda _: 0)
        return ReplayJudge(decoder.decode(data), os.path.basename(path))
    except (OSError, EOFError, zlib.error, msgspec.MsgspecError, ValueError, RecursionError, JudgeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise JudgeError(f"the recorded replies `{path}` can't be read: {reason}") from None
