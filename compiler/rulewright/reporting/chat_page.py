"""One transcript of a run as its page shows it: the conversation with highlighted quotes, and the verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import msgspec
from msgspec import Struct

from rulewright.render.verdict_record import record_lines
from rulewright.reporting.formats import conditions
from rulewright.reporting.judge_answers import JudgeAnswer, JudgeAnswers, rationale_of
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.plan.part import GRAVITY
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.report.summary import UNPROVEN, gaps
from rulewright_runtime.report.text import reason_words
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.transcripts.messages import Message, Transcript, is_turn

REJECTED: Final = "unverified_evidence"


class ShownQuote(msgspec.Struct, frozen=True):
    """A quote of a verdict; `anchor` is that of the message that contains it, empty if none does."""

    quote: str
    role: str
    turn: str
    why: str = ""
    anchor: str = ""


class ShownVerdict(msgspec.Struct, frozen=True):
    """One verdict with everything recorded about its origin; `place` ends its anchor, which starts with that of its
    transcript. Equal verdicts on several transcripts are equal."""

    place: str
    check_id: str
    name: str
    about: str
    verdict: str
    reason: str
    confidence: float
    decides: bool
    waits: bool
    conditions: tuple[tuple[str, str], ...]
    rejected: tuple[ShownQuote, ...]
    record: tuple[tuple[str, str], ...]
    quotes: tuple[ShownQuote, ...] = ()
    answers: tuple[JudgeAnswer, ...] = ()

    @property
    def rationale(self) -> str:
        """The judge's reason for this verdict; empty without one."""
        return rationale_of(self.answers, self.verdict)


class ShownMessage(msgspec.Struct, frozen=True):
    """One message of a conversation."""

    anchor: str
    role: str
    who: str
    pieces: tuple[HighlightPiece, ...]
    notes: tuple[str, ...]


class Chat(Struct, frozen=True):
    """One transcript: its row, the verdicts that need attention, the others, the checks that did not apply, and the
    messages (None if the conversation is gone)."""

    number: int
    row: JsonMapping
    engine: JsonMapping
    missing: str
    to_review: tuple[ShownVerdict, ...]
    others: tuple[ShownVerdict, ...]
    not_applied: tuple[str, ...]
    messages: tuple[ShownMessage, ...] | None

    @property
    def anchor(self) -> str:
        return f"t{self.number}"


@dataclass(slots=True)
class ChatViews:
    """Builds the views of transcripts, one after the other."""

    run: FinishedRun
    answers: JudgeAnswers
    places: dict[str, int] = field(init=False)
    conditions: dict[str, tuple[tuple[str, str], ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Number the checks and format their conditions."""
        self.conditions = {
            name: tuple((f"{word} when", text) for word, text in conditions(check))
            for name, check in self.run.checks.items()
        }
        self.places = {name: place for place, name in enumerate(self.run.checks)}

    def view(self, number: int, judged: JudgedTranscript, transcript: Transcript | None) -> Chat:
        applied = [verdict for verdict in judged.verdicts if verdict.get("eligible")]
        conversation = None if transcript is None else _Conversation(number, transcript)
        answers = self.answers.about(judged.id, applied) if self.answers.known else {}
        shown = [self._shown(number, judged, verdict, conversation, answers) for verdict in applied]
        to_review = sorted((each for each in shown if needs_review(each)), key=self._order)
        return Chat(
            number,
            judged.row,
            judged.engine,
            gaps(judged.row.get("missing") or ()),
            tuple(to_review),
            tuple(each for each in shown if not needs_review(each)),
            tuple(str(verdict["check_id"]) for verdict in judged.verdicts if not verdict.get("eligible")),
            None if conversation is None else tuple(conversation.messages()),
        )

    def anchor(self, number: int, check_id: str) -> str:
        return f"t{number}{self._place(check_id)}"

    def _place(self, check_id: str) -> str:
        place = self.places.get(check_id)
        return "" if place is None else f"-c{place}"

    def _order(self, shown: ShownVerdict) -> tuple[bool, bool, int, int]:
        """Verdicts that await a person first, then those that decided, then by severity."""
        check = self.run.checks.get(shown.check_id)
        gravity = self.run.plan.gravity(check.severity) if check else 0
        return not shown.waits, not shown.decides, -gravity, self.places.get(shown.check_id, 0)

    def _shown(
        self,
        number: int,
        judged: JudgedTranscript,
        verdict: JsonMapping,
        conversation: _Conversation | None,
        answers: Mapping[str, Sequence[JudgeAnswer]],
    ) -> ShownVerdict:
        shown = self._without_quotes(verdict, verdict["check_id"] in judged.engine["because"])
        spans, own = verdict.get("evidence") or (), tuple(answers.get(shown.check_id, ()))
        if not spans and not own:
            return shown
        anchor = f"t{number}{shown.place}"
        quotes = tuple(_quoted(span, conversation, shown.verdict, shown.check_id, anchor) for span in spans)
        conditions = {text for _, text in shown.conditions}
        quotes = tuple(msgspec.structs.replace(each, why="") if each.why in conditions else each for each in quotes)
        return msgspec.structs.replace(shown, quotes=quotes, answers=own)

    def _without_quotes(self, verdict: JsonMapping, decides: bool) -> ShownVerdict:
        """A verdict without its quotes and the judge's answers."""
        check_id, word, extra = str(verdict["check_id"]), str(verdict["verdict"]), verdict.get("extra") or {}
        check = self.run.checks.get(check_id)
        return ShownVerdict(
            self._place(check_id),
            check_id,
            "" if check is None or check.name == check_id else check.name,
            _about(verdict, check),
            word,
            _reason(verdict),
            float(verdict.get("confidence") or 0.0),
            decides,
            bool(verdict.get("adjudication_required")) or word == "UNCLEAR",
            self.conditions.get(check_id, ()),
            rejected=tuple(_as_quoted(span) for span in _rejected(extra)),
            record=tuple(record_lines({key: value for key, value in extra.items() if key != REJECTED})),
        )


def unmarked_messages(number: int, transcript: Transcript | None) -> tuple[ShownMessage, ...] | None:
    """Return a conversation without any verdict; None if it is gone."""
    return None if transcript is None else tuple(_Conversation(number, transcript).messages())


class _Conversation:
    """The messages of a transcript, with the highlights of its verdicts."""

    def __init__(self, number: int, transcript: Transcript) -> None:
        self._number = number
        self._messages = transcript.conversation.messages
        turns = iter(transcript.turns)
        self._turns = [next(turns, None) if is_turn(message) else None for message in self._messages]
        self._texts = [message.shown for message in self._messages]
        self._marks: dict[int, list[Mark]] = {}

    def mark(self, role: str, turn: int, quote: str, verdict: str, label: str, anchor: str) -> str:
        """Highlight a quote and return the anchor of its message; empty if no message contains it."""
        for at, known in enumerate(self._turns):
            if known is None or (known.role, known.turn) != (role, turn):
                continue
            if places := find(quote, self._texts[at]):
                marks = self._marks.setdefault(at, [])
                marks += [Mark(start, end, verdict, label, anchor) for start, end in places]
                return self._anchor(at)
        return ""

    def messages(self) -> Iterator[ShownMessage]:
        """Return the messages with their highlights."""
        for at, message in enumerate(self._messages):
            turn = self._turns[at]
            who = message.role + (f", {message.name}" if message.name else "") + (f", turn {turn.turn}" if turn else "")
            found = tuple(pieces(self._texts[at], self._marks.get(at, ())))
            yield ShownMessage(self._anchor(at), message.role, who, found, tuple(_notes(message)))

    def _anchor(self, at: int) -> str:
        return f"t{self._number}-m{at}"


def _notes(message: Message) -> Iterator[str]:
    """Return the parts of a message other than its text."""
    if message.reasoning:
        yield f"reasoning: {message.reasoning}"
    for call in message.tool_calls:
        yield f"calls {call.name}: {call.raw or json.dumps(call.arguments, ensure_ascii=False)}"
    if message.metadata.get("error") is not None:
        yield f"error: {message.metadata['error']}"


def needs_review(shown: ShownVerdict) -> bool:
    """Whether a verdict needs attention: it fails, is unclear, or awaits a person."""
    return shown.waits or shown.verdict in ("FAIL", "UNCLEAR")


def _quoted(
    span: Mapping[str, object], conversation: _Conversation | None, verdict: str, label: str, anchor: str
) -> ShownQuote:
    role, turn, quote = str(span.get("role")), span.get("turn"), str(span.get("quote"))
    place = (
        conversation.mark(role, turn, quote, verdict, label, anchor) if conversation and isinstance(turn, int) else ""
    )
    return ShownQuote(quote, role, str(turn), str(span.get("rationale") or ""), place)


def _as_quoted(span: object) -> ShownQuote:
    if not isinstance(span, dict):
        return ShownQuote(json.dumps(span, ensure_ascii=False), "", "")
    quote = span.get("quote")
    text = quote if isinstance(quote, str) else json.dumps(span, ensure_ascii=False)
    return ShownQuote(text, str(span.get("role", "")), str(span.get("turn", "")))


def _rejected(extra: object) -> Iterator[object]:
    """Return the quotes that do not occur in the conversation, including those of single windows."""
    if isinstance(extra, dict):
        found = extra.get(REJECTED)
        yield from found if isinstance(found, list) else ()
        for key, value in extra.items():
            if key != REJECTED:
                yield from _rejected(value)
    elif isinstance(extra, list):
        for value in extra:
            yield from _rejected(value)


def _about(verdict: JsonMapping, check: Check | None) -> str:
    words = [
        str(verdict.get("severity") or ""),
        f"bucket {verdict['primary_bucket']}" if verdict.get("primary_bucket") else "",
    ]
    words += ["gate check"] if check is not None and check.is_gate else []
    return ", ".join(filter(None, words))


def _reason(verdict: Mapping[str, object]) -> str:
    code, cause = str(verdict.get("rationale_code") or ""), verdict.get("cause")
    if (words := reason_words(code)) != code:
        return words
    return ", ".join(filter(None, (code.replace("_", " "), UNPROVEN.get(str(cause), str(cause)) if cause else "")))


MOST_WORDS: Final = 200
_ELLIPSIS: Final = re.compile(r"[\[(]?(?:\.{3,}|…)[\])]?")
_WORD: Final = re.compile(r"\w+")


class Mark(msgspec.Struct, frozen=True):
    """A part of a text that a verdict quotes: from `start` to `end`, and the verdict's anchor."""

    start: int
    end: int
    verdict: str
    label: str
    anchor: str


class HighlightPiece(msgspec.Struct, frozen=True):
    """A part of a text. `verdict` is empty if no verdict quotes it; `ends` are the marks that end with it."""

    text: str
    verdict: str = ""
    ends: tuple[Mark, ...] = ()


def find(quote: str, text: str) -> list[tuple[int, int]]:
    """Find a quote in a text: verbatim, else word by word with anything between the words. A quote with an ellipsis has
    several parts."""
    at = text.find(quote)
    if quote and at >= 0:
        return [(at, at + len(quote))]
    places: list[tuple[int, int]] = []
    after = 0
    for part in _ELLIPSIS.split(quote):
        words = _WORD.findall(part)[:MOST_WORDS]
        if not words:
            continue
        found = re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE).search(text, after)
        if found is None:
            return []
        after = found.end()
        places.append(found.span())
    return places


def pieces(text: str, marks: Sequence[Mark]) -> list[HighlightPiece]:
    """Return the pieces of the text in order; of overlapping marks the most severe verdict is shown."""
    cuts = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    found = []
    for start, end in pairwise(cuts):
        over = [mark for mark in marks if mark.start < end and mark.end > start]
        ends = tuple(dict.fromkeys(mark for mark in over if mark.end == end))
        found.append(HighlightPiece(text[start:end], worst(mark.verdict for mark in over), ends))
    return found


def worst(verdicts: Iterable[str]) -> str:
    """Return the most severe of some verdicts; empty for none."""
    known = set(verdicts)
    return next((verdict for verdict in GRAVITY if verdict in known), min(known, default=""))
