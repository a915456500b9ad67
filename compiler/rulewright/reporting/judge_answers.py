"""The judge's answers by transcript and check, from the run's record or from the replies that it replayed."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.exchanges import RecordedExchange, is_repeated_miss
from rulewright_runtime.judging.judge import REPLAY, ReplayJudge, open_judge
from rulewright_runtime.judging.replies import lenient, only_object, reader, why_unusable
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.strict_json import JsonMapping, JsonObject


class JudgeAnswer(Struct, frozen=True):
    """One answer of the judge: its number, vote, reason and whole reply, or why there is none."""

    label: str
    verdict: str = ""
    reason: str = ""
    reply: str = ""
    error: str = ""


class _CallUsage(msgspec.Struct):
    transcript_id: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class JudgeAnswers:
    """Looks up answers. It keeps the offsets of the lines of a record in memory, not the lines."""

    def __init__(self, run: FinishedRun, files: Sequence[Path]) -> None:
        """`files` are replies that the run may have replayed; the one with the recorded digest is used."""
        self._path = run.folder / REPLIES
        self._readers = {check.id: tuple(map(reader, check.verifier.judgings())) for check in run.plan.checks}
        self._lines: dict[str, list[int]] = {}
        self.tokens = (0, 0)  # in and out, as far as the endpoint counted
        self.uncounted = 0  # exchanges of which it did not say
        self._index()
        self._replayed = None if self._lines else replayed(run.summary, files)

    def _index(self) -> None:
        if not self._path.is_file():
            return
        offset, sent, received, uncounted = 0, 0, 0, 0
        with self._path.open("rb") as stream:
            for line in stream:
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # a damaged line has no content
                    place = msgspec.json.decode(line, type=_CallUsage)
                    self._lines.setdefault(place.transcript_id, []).append(offset)
                    sent += place.input_tokens or 0
                    received += place.output_tokens or 0
                    uncounted += place.input_tokens is None or place.output_tokens is None
                offset += len(line)
        self.tokens, self.uncounted = (sent, received), uncounted

    @property
    def known(self) -> bool:
        """Whether answers are available."""
        return bool(self._lines) or self._replayed is not None

    def about(self, transcript: str, verdicts: Iterable[JsonMapping]) -> dict[str, list[JudgeAnswer]]:
        """Return the answers on a transcript by check, as far as its verdicts say that they were asked for, each
        missing recorded reply once."""
        found: dict[str, list[JudgeAnswer]] = {}
        for each in self._recorded(transcript, verdicts):
            if not is_repeated_miss(each.attempt, each.error):
                found.setdefault(each.check_id, []).append(_answer_of(each, self._readers.get(each.check_id, ())))
        return found

    def rationale(self, transcript: str, check: str, verdict: str) -> str:
        """Return the reason of the first answer with this verdict; empty if there is none."""
        return rationale_of(self.about(transcript, [{"check_id": check}]).get(check, ()), verdict) if self.known else ""

    def _recorded(self, transcript: str, verdicts: Iterable[JsonMapping]) -> Iterable[RecordedExchange]:
        if self._replayed is not None:
            for verdict in verdicts:
                yield from _of_replay(self._replayed, transcript, str(verdict["check_id"]), _repetitions(verdict))
        if transcript in self._lines:
            with self._path.open("rb") as stream:
                for offset in self._lines[transcript]:
                    stream.seek(offset)
                    yield msgspec.json.decode(stream.readline(), type=RecordedExchange)


def rationale_of(answers: Iterable[JudgeAnswer], verdict: str) -> str:
    """Return the reason of the first answer with this verdict; empty if there is none."""
    return next((each.reason for each in answers if each.verdict == verdict and each.reason), "")


def replayed(summary: JsonMapping, files: Iterable[Path]) -> ReplayJudge | None:
    """Return the recorded replies that a run replayed, by their digest in its summary; None if no file holds them."""
    judge = summary.get("judge") or {}
    for file in files:
        opened = open_judge(f"{REPLAY}{file}")
        if isinstance(opened, ReplayJudge) and opened.record.digest == judge.get("digest"):
            return opened
    return None


def _of_replay(judge: ReplayJudge, transcript: str, check: str, repetitions: int) -> Iterable[RecordedExchange]:
    for key, sequence in judge.about(transcript, check).items():
        _, *question = key.rsplit("/", 2) if "/" in key else (key,)
        purpose, window = (question[0], int(question[1])) if len(question) == 2 and question[1].isdecimal() else ("", 0)
        for repetition, attempts in enumerate(sequence[:repetitions] if not question else sequence):
            for attempt, entry in enumerate(attempts):
                reply, error = (entry, None) if isinstance(entry, str) else (None, _error(entry))
                yield RecordedExchange(transcript, check, repetition, attempt, window, purpose or "check", reply, error)


def _repetitions(verdict: JsonMapping) -> int:
    """Return how many repetitions were asked; more than any if the record does not say."""
    extra = verdict.get("extra") or {}
    planned, unasked = extra.get("planned"), extra.get("unasked", 0)
    return planned - unasked if isinstance(planned, int) and isinstance(unasked, int) else 1_000


def _error(entry: object) -> str:
    return str(entry.get("raise")) if isinstance(entry, dict) else "no reply"


def vote_label(repetition: int, attempt: int, window: int, purpose: str) -> str:
    """Return which vote of a check an exchange belongs to, in words."""
    again = f", attempt {attempt + 1}" if attempt else ""
    part = f", window {window + 1}" if window else ""
    return f"vote {repetition + 1}{again}{part}" + (f", {purpose}" if purpose != "check" else "")


def _answer_of(each: RecordedExchange, readers: Sequence[Callable[[str], object]]) -> JudgeAnswer:
    label = vote_label(each.repetition, each.attempt, each.window, each.purpose)
    if each.reply is None:
        return JudgeAnswer(label, error=each.error or "no reply")
    unusable = why_unusable(each.reply, each.finish, readers)
    if unusable:
        return JudgeAnswer(label, reply=each.reply, error=f"not a vote: {unusable}")
    return JudgeAnswer(label, *verdict_and_reason(each.reply), each.reply)


def verdict_and_reason(reply: str) -> tuple[str, str]:
    """Return the verdict of a reply and its reason; empty where they are missing."""
    answer = _object(reply)
    verdict, reason = answer.get("verdict"), answer.get("rationale") or answer.get("rationale_code")
    return verdict if type(verdict) is str else "", reason if type(reason) is str else ""


def _object(reply: str) -> JsonObject:
    """The object that a reading finds in a reply; empty if there is none."""
    for reading in (lambda raw: only_object(raw)[0], lenient):
        with suppress(JudgeError):
            return reading(reply)
    return {}
