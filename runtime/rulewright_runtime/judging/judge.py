"""Judges: the interface that answers a check's requests, and judges that replay recorded replies.

The caller passes the judge when a run starts; a plan never names one.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from typing import Any, Final, Protocol

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256, sha256_of_much
from rulewright_runtime.english import reason_of
from rulewright_runtime.errors import JudgeError, RuntimeFailure
from rulewright_runtime.files.input_files import MAX_EXPANDED, read_expanded
from rulewright_runtime.plan.question import Judging, ReplyField
from rulewright_runtime.strict_json import JsonObject

REPLAY: Final = "replay:"
PLUGIN: Final = "plugin:"  # a judge from an installed distribution
SPEAKERS: Final = ("user", "assistant")
WRAPPER: Final = "2"  # the version of prompt format and reply parsing; a change makes a different judge


def is_live(judge: str | None) -> bool:
    """Whether the judge of `--judge` is a model, not recorded replies or a plug-in."""
    return judge is not None and not judge.startswith((REPLAY, PLUGIN))


class JudgeRequest(msgspec.Struct, frozen=True):
    """One call: the prompt, its repetition and attempt (from 0), and the token limit of the reply.

    `window` counts the windows of the check from 0; `purpose` is `check`, `edge`, `confirm` or `sweep`. `fields` are
    the fields that the reply must have besides its verdict, `roles` the roles that its quotes may name. `judging` says
    how the reply is read, unless it is not a vote.
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
    judging: Judging | None = None


class JudgeRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A judge's record in a run. Unknown and inapplicable fields are omitted.

    `digest` is the sha256 (hex) of recorded replies. `prompts` maps checks to the hashes of their prompts. `wrapper` is
    the version of prompt format and reply parsing.
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
    """Answers requests. Any exception, and None, counts as an attempt without a usable reply.

    A judge may also have an `identity`, a text that differs for judges that answer differently; a `record`
    (JudgeRecord); `recorded`, which says that its replies are already stored; and `reads_prompts`: if it is False, the
    prompts of its requests are empty.
    """

    def ask(self, request: JudgeRequest) -> str | None:
        """The raw reply, or None."""


class UnansweredError(JudgeError):
    """A request was not sent, for a reason unrelated to its content: the check stays UNCLEAR."""

    code = "judge_not_asked"


class BudgetExhaustedError(UnansweredError):
    """No further call is allowed."""

    code = "judge_budget_exhausted"


class TooLongError(UnansweredError):
    """The conversation does not fit into the judge's context window; it is never truncated."""

    code = "conversation_too_long"


class NotRecordedError(JudgeError):
    """The recorded replies have none for the request."""


RecordedReplies = dict[str, dict[str, list[list[Any]]]]  # by transcript and check


class ReplayJudge:
    """Answers with recorded replies: `{transcript_id: {check_id: [repetition][attempt]}}`.

    An entry is the raw reply, null, or `{"raise": message}`; the last entry of a repetition answers all later attempts.
    The key `CHECK/PURPOSE/WINDOW` holds the replies to one question of a check; other questions use the check's own
    key. A request without a recorded reply is not answered.
    """

    recorded = True
    reads_prompts = False

    def __init__(self, replies: RecordedReplies, name: str = "", digest: str = "") -> None:
        """`replies` are the recorded replies, `name` is the name of their file, `digest` their fingerprint if it is
        known."""
        self._replies, self._name, self._digest = replies, name, digest

    def about(self, transcript: str, check: str) -> dict[str, list[list[Any]]]:
        """The recorded replies of a check on a transcript, by key."""
        by_key = self._replies.get(transcript, {})
        return {key: replies for key, replies in by_key.items() if key == check or key.startswith(f"{check}/")}

    @property
    def identity(self) -> str:
        return REPLAY + self.record.digest

    @cached_property
    def record(self) -> JudgeRecord:
        """The name and the fingerprint of the recorded replies."""
        digest = self._digest or sha256_of_much(msgspec.json.encode(self._replies, order="deterministic")).hexdigest()
        return JudgeRecord("replay", self._name, digest)

    def ask(self, request: JudgeRequest) -> str | None:
        """The recorded reply. Raises NotRecordedError if there is none, JudgeError for a recorded error."""
        by_key = self._replies.get(request.transcript_id, {})
        question = f"{request.check_id}/{request.purpose}/{request.window}"
        repetitions = by_key.get(question) or by_key.get(request.check_id, [])
        attempts = repetitions[request.repetition] if request.repetition < len(repetitions) else []
        if not attempts:
            raise NotRecordedError(f"no reply was recorded for {request.transcript_id}, {request.check_id}")
        entry = attempts[min(request.attempt, len(attempts) - 1)]
        if isinstance(entry, dict):
            if entry.get("code") == TooLongError.code:
                raise TooLongError("the conversation does not fit into the judge's window")
            raise JudgeError(str(entry.get("raise", "the recorded call failed")))
        return entry if isinstance(entry, str) else None


class _JudgeAnswer(msgspec.Struct, frozen=True):
    """The reply to one question, or the reason why it is `lost`."""

    reply: str | None
    lost: str = ""
    model: str = ""


def custom_id(question: JudgeRequest) -> str:
    """The id of a question in a batch, unique for its prompt, vote, window, check and transcript."""
    key = (question.transcript_id, question.check_id, question.purpose, question.window, question.repetition)
    return id_of_question(*key, question.prompt)


def id_of_question(transcript: str, check: str, purpose: str, window: int, repetition: int, prompt: str) -> str:
    """The `custom_id` of one vote on a prompt."""
    key = (transcript, check, purpose, window, repetition)
    return f"q-{sha256(msgspec.json.encode((key, prompt))).hexdigest()[:40]}"


def holds_answers(data: bytes) -> bool:
    """Whether a file holds lines of batch answers, judging by its first line."""
    first = data.lstrip().partition(b"\n")[0]
    if b"custom_id" not in first:  # reading a whole file of recorded replies is slow
        return False
    try:
        return "custom_id" in msgspec.json.decode(first, type=dict[str, msgspec.Raw])
    except strict_json.UNDECODED:
        return False


class BatchAnswers:
    """Answers from a file of batch answers. Each question is answered once, so an unusable reply is lost."""

    def __init__(self, data: bytes, name: str) -> None:
        """Read the lines; `name` is the name of their file. Raises MsgspecError for a line that is not JSON, JudgeError
        for one without a `custom_id`."""
        self._answers: dict[str, _JudgeAnswer] = {}
        for number, line in enumerate(data.splitlines(), 1):
            if line.strip():
                answer = strict_json.decode(line, type=JsonObject)
                key = answer.get("custom_id")
                if not isinstance(key, str):
                    raise JudgeError(f"line {number} has no `custom_id`")
                repeated = key in self._answers
                self._answers[key] = _JudgeAnswer(None, "answered twice") if repeated else _answer(answer)
        self._digest, self._name = sha256(data).hexdigest(), name
        self.identity = f"answers:{self._digest}"
        self.lost: Counter[str] = Counter()  # questions without a usable answer, by reason

    @property
    def record(self) -> JudgeRecord:
        """The file, and the models that answered, as the endpoint named them."""
        models = tuple(sorted({answer.model for answer in self._answers.values()} - {""}))
        return JudgeRecord("replay", self._name, self._digest, served_models=models)

    def ask(self, request: JudgeRequest) -> str | None:
        """The reply. Raises NotRecordedError if there is none or it is lost."""
        key = custom_id(request)
        answer = self._answers.get(key, _JudgeAnswer(None, "missing"))
        if request.attempt:
            raise NotRecordedError("a batch answers a question only once")
        if answer.lost:
            self.lost[answer.lost] += 1
            raise NotRecordedError(f"the question `{key}` has no answer: {answer.lost}")
        return answer.reply


def _answer(line: JsonObject) -> _JudgeAnswer:
    """The answer in a line: `{"reply": TEXT}`, or the object that the text would be, optionally with `finish`; or the
    output of a chat completions batch."""
    from rulewright_runtime.models.wire import WIRES  # only batch answers need it

    response = line.get("response")
    if line.get("error"):
        return _JudgeAnswer(None, "failed")
    reply = line.get("reply")
    if isinstance(reply, str | dict):
        if response is not None:
            return _JudgeAnswer(None, "answered twice")
        text = reply if isinstance(reply, str) else msgspec.json.encode(reply).decode()
        return _JudgeAnswer(text) if line.get("finish", "stop") == "stop" else _JudgeAnswer(None, "incomplete")
    body = response.get("body") if isinstance(response, dict) and response.get("status_code") == 200 else None
    if not isinstance(body, dict):
        return _JudgeAnswer(None, "failed")
    try:
        answer = WIRES["openai"].answer(body, "")
    except RuntimeFailure:
        return _JudgeAnswer(None, "failed")
    return _JudgeAnswer(answer.text if answer.is_whole else None, "" if answer.is_whole else "incomplete", answer.model)


class LimitedJudge:
    """Forwards at most `calls` requests to another judge."""

    def __init__(self, judge: Judge, calls: int) -> None:
        self._judge, self._left = judge, calls

    def ask(self, request: JudgeRequest) -> str | None:
        """The other judge's reply. Raises BudgetExhaustedError if no calls are left."""
        if self._left <= 0:
            raise BudgetExhaustedError("the budget of judge calls is exhausted")
        self._left -= 1
        return self._judge.ask(request)


def record_of(judge: object, prompts: dict[str, str]) -> JudgeRecord:
    """The record of a judge that answered these prompts (hashes by check). A judge without a record is named by its
    class."""
    record = getattr(judge, "record", None)
    if not isinstance(record, JudgeRecord):
        record = JudgeRecord("python", f"{type(judge).__module__}.{type(judge).__qualname__}")
    return msgspec.structs.replace(record, prompts=prompts, wrapper=WRAPPER)


def identity(judge: object) -> str:
    """The judge's fingerprint, which a resumed run compares; empty for None and for a judge without one."""
    return str(getattr(judge, "identity", ""))


def open_judge(specification: str, max_expanded: int = MAX_EXPANDED) -> Judge:
    """Open the judge of a command line: `replay:FILE`, a JSON file of recorded replies or lines of batch answers,
    gzipped or not, of at most `max_expanded` bytes; or `plugin:NAME[:ARGUMENT]`, a judge from an installed
    distribution.

    Raises JudgeError for an unknown judge, or if its file can't be read.
    """
    if specification.startswith(PLUGIN):
        from rulewright_runtime.plugins import judge

        name, _, argument = specification.removeprefix(PLUGIN).partition(":")
        opened = judge(name, argument)
        opened.record = record_of(opened.judge, {})
        return opened
    if not specification.startswith(REPLAY):
        raise JudgeError(f"unknown judge `{specification}`; expected `{REPLAY}FILE` or `{PLUGIN}NAME`")
    path = specification.removeprefix(REPLAY)
    try:
        data = read_expanded(path, max_expanded)
        if holds_answers(data):
            return BatchAnswers(data, os.path.basename(path))
        replies = msgspec.json.decode(data, type=RecordedReplies)
        encoded = msgspec.json.encode(replies, order="deterministic")
        strict_json.refuse_lost_keys(data, encoded)
        return ReplayJudge(replies, os.path.basename(path), sha256_of_much(encoded).hexdigest())
    except msgspec.ValidationError as error:
        expected = "expected `{transcript: {check: [repetitions]}}`, as `rulewright record RUN -o FILE` writes it"
        raise JudgeError(f"`{path}` has no recorded replies; {expected} ({error})") from None
    except (OSError, ValueError, JudgeError) as error:
        raise JudgeError(f"the recorded replies `{path}` can't be read: {reason_of(error)}") from None
    except RecursionError:
        raise JudgeError(f"the recorded replies `{path}` are nested too deeply") from None
