"""Plain text: chats whose lines begin with a speaker, such as `User: ...`, and continue up to the next speaker.

A colon after any other word is text, and so is everything in a block of code. A chat that may be read in two ways is
refused, and the message says how to name its speakers: also where another name begins a line as the known ones do, and
stands where one side would speak twice in a row. Any other is noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise, zip_longest
from shlex import quote
from typing import Final, NamedTuple

import msgspec

from rulewright_runtime.english import ticked
from rulewright_runtime.errors import InputError
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.containers import MAX_DOCUMENT, Row
from rulewright_runtime.transcripts.messages import Conversation
from rulewright_runtime.transcripts.readers.captions import are_captions, out_of_order, spoken
from rulewright_runtime.transcripts.readers.record_values import Record, records_at, rest
from rulewright_runtime.transcripts.readers.shapes import AGENT, Format, chat, columns_hint, one_by_one

SPEAKERS: Final = {
    "system": ("system",),
    "user": ("user", "human", "customer", "caller"),
    "assistant": ("assistant", "ai", "bot", "chatbot", "agent"),
}
_MARK: Final = "rulewright-text"  # the format of a record that is made here
# Times as messengers write them, with and without brackets.
_BRACKETS: Final = r"\[(?P<time>[0-9 ,.:/T-]{1,30}:[0-9]{2}[0-9 .:ZAPMapm\u202f+-]{0,20})\] *"
_DATE: Final = r"[0-9]{1,4}(?P<mark>[./-])[0-9]{1,2}(?P=mark)[0-9]{1,4}"
_DATE_AND_TIME: Final = rf"{_DATE},? [0-9]{{1,2}}(?::[0-9]{{2}}){{1,2}}(?:[ \u202f][APap]\.?[Mm]\.?)?"
_STAMP: Final = rf"(?P<stamp>{_DATE_AND_TIME}) - "
_NAME_BEGINS: Final = r"(?P<bold>\*\*|__)?(?P<name>(?:[^\w\s\[\](*:_#>\"'`|/\\.-]{1,4}[ \u00a0\u202f]?)?[^\W_]"
_NAMED: Final = rf"{_NAME_BEGINS}[^:*_\[\]]{{0,39}}?)[ \u00a0\u202f]?"
_COLON: Final = r"(?(bold)(?::(?P=bold)|(?P=bold) ?:)|:)(?:\s+|$)"
_SPEAKER: Final = re.compile(
    r"(?:#{1,6} +)?"  # as a heading
    rf"[\u200e\u200f\u202a]?(?:{_BRACKETS}|{_STAMP})?\u200e?{_NAMED}{_COLON}"
)
# A speaker after a time that is in no brackets; before one; and before one on a line of their own.
_CLOCK: Final = (
    r"(?:[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:T|,? ))?[0-9]{1,3}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,6})?)?"
    r"(?:[ \u202f]?[APap]\.?[Mm]\.?|Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_DATED: Final = rf"(?:(?<=[(\[])[^\W_][^()\[\]:]{{0,29}}[ ,])?{_CLOCK}"  # in brackets also after words
_LONG: Final = rf"{_NAME_BEGINS}[^:*\[\]]{{0,79}}?)"  # a name with a company or a team
_ENDS: Final = r"(?(bold)(?P=bold)?)"  # bold type may end before the time, after it or after the colon
_AFTER_TIME: Final = re.compile(  # but for a time as messengers write it
    rf"(?P<stamp>)(?!{_DATE_AND_TIME} - )\(?(?P<time>{_CLOCK})\)?(?:,? +(?:[-\u2013|] +)?|: +){_NAMED}{_COLON}"
)
_BEFORE_TIME: Final = re.compile(
    rf"(?P<stamp>){_LONG}{_ENDS}[ \u00a0\u202f]{{0,2}}[(\[](?P<time>{_DATED})[)\]]{_ENDS} ?:{_ENDS}(?:\s+|$)"
)
_TITLED_BEFORE_TIME: Final = re.compile(
    rf"(?:#{{1,6}} +)?{_LONG}{_ENDS}"
    rf"(?: {{2,40}}|\t| [-\u2013] | ?(?=[(\[]))[(\[]?(?P<time>{_DATED})[)\]]?{_ENDS}(?P<stamp>)\Z"
)
# A time and a speaker on a line of their own, as in texts that are copied from Teams.
_TIMED: Final = re.compile(
    r"[\u200b\u200e]?\[(?P<time>(?:[^\W\d_]{1,12} )?[0-9 ,./-]{0,30}[0-9]:[0-9]{2}[0-9 :APMapm\u202f]{0,12})\] "
    r"(?P<name>[^\W_][^:*_\[\]]{0,39})(?P<stamp>)\Z"
)
# A speaker as a heading or in bold type, on a line of its own and without a colon.
_TITLED: Final = re.compile(
    r"(?:#{1,6} +)?(?P<bold>\*\*|__)?(?<=[ *_])"
    r"(?P<name>[^\W_][^:*_\[\]]{0,39}?)(?(bold)(?P=bold))(?P<time>)(?P<stamp>)\Z"
)
_OF_TIMES: Final = (_AFTER_TIME, _BEFORE_TIME, _TITLED_BEFORE_TIME, _TIMED)
_STYLES: Final = (_SPEAKER, _TITLED, *_OF_TIMES)
_BY_THE_APP: Final = "\u200e"  # before what a messenger says under a speaker's name
_NOTICE: Final = re.compile(_STAMP)  # of a messenger, by no speaker
_NAME: Final = re.compile(r"[+~]?[ \u00a0\u202f]?[\w.'-]+( \(?[\w.'-]+\)?){0,2}")  # not any text before a colon
_HEADING: Final = re.compile(r"#{1,6} +(.+)")
_DIGITS: Final = re.compile(r"[0-9]+(?:[ \u202f]?[APap]\.?[Mm]\b\.?)?")
_RULE: Final = re.compile(r"-{3,}|={3,}")
_CODE: Final = re.compile(r"\s*(```[^`]*$|~~~)")  # not code in a line
_LINE: Final = 64  # bytes that a line takes in memory, also an empty one
_LINE_ENDS: Final = (b"\r", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")
_SEEN: Final = 5  # speakers in an error message
_BEGINNING: Final = 30  # characters of a line in a note
_LEAST: Final = 5  # letters of a name whose misspellings are not other words
_NUMBER: Final = re.compile(r"[ #]*[0-9]{1,2}$")
_CALLED: Final = re.compile(r"(?:[^\W\d_][\w.'()-]*)(?: [\w.'()-]+){0,2}")  # a name that another speaker may have
# A name with blanks, a time or another colon.
_LOOSE: Final = re.compile(
    rf"\s*(?:[(\[]?{_CLOCK}[)\]]?[ ,-]*)?(?P<name>[^\W_][^:\uff1a]{{0,39}}?)\s{{0,9}}(?:[(\[]{_CLOCK}[)\]]\s{{0,9}})?"
    r"[:\uff1a](?=\s*\S)"
)
_HEADS: Final = frozenset((  # what heads a part of a message, and is nobody's name
    "answer", "caution", "example", "examples", "important", "note", "notes", "ps", "p.s.", "question", "reference",
    "references", "result", "source", "sources", "step", "summary", "tip", "tips", "total", "warning",
))  # fmt: skip


class _Manner(NamedTuple):
    """How a line that begins with a name and a colon is written."""

    is_heading: bool
    bold: str | None
    is_timed: bool
    has_text: bool
    is_after_blank: bool


class _Utterance(msgspec.Struct):
    """What a speaker says from line `number` on; `opens` says that a rule or a heading (`title`) is before."""

    number: int
    name: str = ""
    role: str = ""
    time: str | None = None
    opens: bool = False
    title: str = ""
    lines: list[str] = []
    labels: dict[str, int] = {}  # other names at the beginning of its lines, as speakers are written
    loose: dict[str, int] = {}  # known names at the beginning of its lines, but not as speakers are written

    def cut(self) -> tuple[bool, str]:
        """Remove the rules and headings at the end, which belong to what follows; returns whether there are any, and
        the text of the headings. What is next to the speaker was said."""
        opens, titles = False, list[str]()
        while len(self.lines) > (self.role != ""):
            last, before = self.lines[-1], self.lines[-2] if len(self.lines) > 1 else ""
            heading = _HEADING.fullmatch(last) if not before or _RULE.fullmatch(before) else None
            if last and not heading and not _RULE.fullmatch(last):
                break
            opens = opens or last != ""
            titles += [heading[1].strip()] if heading else []
            self.lines.pop()
        return opens, "\n".join(reversed(titles))


class PlainText:
    """Reads the conversations of a text, in which each role speaks under one name."""

    def __init__(
        self,
        mapping: Mapping[str, str],
        shown: str,
        used: set[str],
        labels: set[str],
        bot_elsewhere: Callable[[], str] = str,
    ) -> None:
        """`mapping` gives the names of a role in place of the usual ones, as in `{"assistant": "Bot|Agent"}`; a role
        that speaks under one of them is added to `used`. Other names that may be speakers, and are read as text, are
        added to `labels`. `bot_elsewhere` returns an assistant of other texts of the file, or an empty text."""
        self._shown = shown
        self._used = used
        self._labels = labels
        self._mapping = {role: mapping[role].casefold().split("|") for role in SPEAKERS if role in mapping}
        names = {**SPEAKERS, **self._mapping}
        self._roles = {name: role for role in (*SPEAKERS, *self._mapping) for name in names[role]}
        self._seen: Counter[str] = Counter()
        self._bots: set[str] = set()  # who is the assistant, and no person, in some conversation of the text
        self._bot_elsewhere = bot_elsewhere
        self._is_caption = False
        self._style = _SPEAKER  # how speakers are written
        self._times: set[str] = set()  # the shapes of the times before them

    def is_chat(self, head: str) -> bool:
        """Whether the beginning of a file has a known speaker in its first line with text, and a user and an assistant
        in all."""
        numbered = [(number, line) for number, line in enumerate(map(str.rstrip, head.splitlines()), 1) if line]
        lines = [line for _, line in self._spoken_in(numbered) if not _RULE.fullmatch(line)]
        self._note_style(lines)
        others = (_HEADING, _NOTICE)
        first = next((line for line in lines if self._spoken(line)[0] or not any(o.match(line) for o in others)), "")
        return self._spoken(first)[0] is not None and {"user", "assistant"} <= {self._spoken(line)[0] for line in lines}

    def rows(self, lines: Iterable[tuple[int, bytes | InputError]]) -> Iterator[Row]:
        """Yield a record for each conversation in numbered lines, or why one is refused."""
        try:
            utterances = self._utterances(self._texts(lines))
            separates = self._separates(utterances)
        except InputError as refused:
            yield refused.line, refused
            return
        self._bots = {each.name for each in utterances if each.role == "assistant" and each.name.casefold() != AGENT}
        starts = [at for at, each in enumerate(utterances) if at == 0 or (separates and each.opens)]
        for start, end in zip(starts, [*starts[1:], len(utterances)], strict=True):
            yield utterances[start].number, self._record(utterances[start:end])

    def of_one(self, text: str) -> list[JsonObject]:
        """The messages of a text that is one conversation. Raises InputError."""
        lines = enumerate(text.encode("utf-8", "surrogatepass").splitlines(), 1)
        (_, first), *others = self.rows((number, line) for number, line in lines if line.strip())
        if isinstance(first, InputError):
            raise first
        if others:
            raise self._refused("a rule or heading begins another conversation", others[0][0])
        return [rest(each) for each in records_at(first["messages"], "messages")]

    def _spoken(self, line: str) -> tuple[str | None, re.Match[str] | None]:
        """The role of the known speaker with whom a line begins, and the match for any speaker."""
        found = self._style.match(line)
        return (self._roles.get(found["name"].casefold()) if found else None), found

    def _note_style(self, lines: Sequence[str]) -> None:
        """Note how speakers are written: as most of the known ones are, else with times if there are any."""
        known, seen = dict.fromkeys(_STYLES, 0), dict.fromkeys(_STYLES, 0)
        for self._style in _STYLES:
            for role, found in self._outside_code(lines):
                known[self._style] += role is not None
                seen[self._style] += found is not None
        self._style = max(_STYLES, key=known.__getitem__)
        if not known[self._style]:
            timed = max(_OF_TIMES, key=seen.__getitem__)
            self._style = timed if seen[timed] else _SPEAKER

    def _outside_code(self, lines: Iterable[str]) -> Iterator[tuple[str | None, re.Match[str] | None]]:
        """What `_spoken` returns for each line that is in no block of code."""
        is_code = False
        for line in lines:
            role, found = (None, None) if is_code else self._spoken(line)
            if not is_code:
                yield role, found
            is_code ^= _CODE.match(line, found.end() if found and role else 0) is not None

    def _spoken_in(self, texts: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """The lines of a text; those that are said in captions."""
        self._is_caption = are_captions([text for _, text in texts[:2]])
        return spoken(texts, self._speaker_of) if self._is_caption else texts

    def _speaker_of(self, line: str) -> tuple[str, int]:
        role, found = self._spoken(line)
        name = found["name"] if found and (role or _may_speak(found["name"])) else ""
        return name, found.end() if found and role else 0

    def _texts(self, lines: Iterable[tuple[int, bytes | InputError]]) -> list[tuple[int, str]]:
        texts: list[tuple[int, str]] = []
        size = 0
        for number, line in lines:
            if isinstance(line, InputError):
                raise line
            size += len(line) + _LINE * sum(map(line.rstrip().count, _LINE_ENDS))
            if size + number * _LINE > MAX_DOCUMENT:
                reason = f"the text has more than {MAX_DOCUMENT} bytes, {_LINE} for each line and its own; split it"
                raise InputError(reason, self._shown, number)
            try:
                texts += [(number, text.rstrip()) for text in line.decode().rstrip().splitlines() or [""]]
            except UnicodeDecodeError:
                raise InputError("the line is not UTF-8 text", self._shown, number) from None
        texts, late = self._spoken_in(texts), out_of_order(texts)
        if self._is_caption and late:
            reason = "the caption begins before the one above it; sort the captions by their times"
            raise InputError(reason, self._shown, late)
        self._note_style([text for _, text in texts])
        for _, text in texts:
            role, found = self._spoken(text)
            if found:
                self._seen[found["name"]] += 1
                before = _shape(text[: found.start("name")]).rstrip("*_\u200e")
                self._times |= {before} if role and "0" in before and not self._is_caption else set()
        return texts

    def _utterances(self, texts: Sequence[tuple[int, str]]) -> list[_Utterance]:
        """What is said, in order. Raises InputError for text of an unknown speaker."""
        utterances, others = [_Utterance(1)], dict[str, int]()
        labels: list[tuple[_Utterance, str, int, _Manner]] = []
        manners: list[_Manner] = []
        last = code = 0  # the number of the last line, and of the line that began an open block of code
        for number, text in texts:
            role, found = (None, None) if code else self._spoken(text)
            utterances[-1].lines += [""] * (0 if self._is_caption else number - last - 1)
            is_after_blank, last = number > last + 1, number
            if found and role:
                first = utterances[1].time if len(utterances) > 1 else found["time"]
                if self._style is _AFTER_TIME and _is_dated(found["time"]) != _is_dated(first):
                    raise self._unlike(found["name"], number)
                utterances.append(
                    _Utterance(number, found["name"], role, found["time"] or found["stamp"], *utterances[-1].cut())
                )
                if len(utterances) > 2 and not utterances[-1].opens:
                    manners.append(self._manner(found, is_after_blank))
                text = text[found.end() :]
            elif found and (found["time"] or found["stamp"]):
                raise self._refused(f"`{found['name']}` is not a known speaker", number)
            elif not code and (notice := _NOTICE.match(text)):
                if stamped := _SPEAKER.match(text):
                    raise self._unlike(stamped["name"], number)
                text = text[notice.end() :]
                utterances.append(_Utterance(number, "", "system", notice["stamp"], *utterances[-1].cut()))
            elif found and not code:
                others.setdefault(found["name"], number)
                labels.append((utterances[-1], found["name"], number, self._manner(found, is_after_blank)))
            elif not code and (name := self._loose_name(text)):
                utterances[-1].loose.setdefault(name, number)
            utterances[-1].lines.append(text)
            if _CODE.match(text):
                code = 0 if code else number
        if code:
            raise InputError("the block of code is not closed, so that its end is unknown", self._shown, code)
        utterances[-1].cut()
        self._refuse_misspelt({each.name: each.role for each in utterances[1:]}, others)
        before = next((at for at, line in enumerate(utterances[0].lines, 1) if line), None)
        if before is not None and (unlike := next(iter(utterances[0].loose), "")):
            raise self._unlike(unlike, utterances[0].loose[unlike])
        if before is not None or len(utterances) == 1:
            raise self._refused("the text does not begin with a known speaker", before or 1)
        _keep_labels(labels, manners, is_lower=any(each.name[:1].islower() for each in utterances[1:]))
        return utterances[1:]

    def _refuse_misspelt(self, names: Mapping[str, str], others: Mapping[str, int]) -> None:
        """Raise InputError for a line that begins with what is nearly the name of one who speaks in the text."""
        known = {_without_number(name): name for name, role in names.items() if role not in self._mapping}
        for other, number in others.items():
            plain = _without_number(other)
            if name := next((name for each, name in known.items() if _is_nearly(plain, each)), None):
                raise self._unclear(names[name], name, other, number)

    def _unclear(self, role: str, name: str, other: str, number: int) -> InputError:
        return InputError(
            f"`{name}` is the {role}, so `{other}` may be another one or a part of the message; "
            f"say which with `--columns {role}={name}` or `--columns '{role}={name}|{other}'`",
            self._shown,
            number,
        )

    def _separates(self, utterances: Sequence[_Utterance]) -> bool:
        """Whether rules and headings separate conversations, because all of them are opened by the same side; False if
        one is before every speaker. Raises InputError for anything else."""
        opened = [each for each in utterances[1:] if each.opens]
        other = next(
            (each for each in opened if (each.role == "assistant") != (utterances[0].role == "assistant")), None
        )
        if other is not None and len(opened) < len(utterances) - 1:
            raise InputError(
                f"a rule or heading comes before `{other.name}`; keep them before `{utterances[0].name}` only, where a "
                "conversation begins, or before every message",
                self._shown,
                other.number,
            )
        return other is None

    def _record(self, utterances: Sequence[_Utterance]) -> JsonObject | InputError:
        """The conversation as a record, or why it is refused."""
        names: dict[str, str] = {}
        for each in utterances:
            name = names.setdefault(each.role, each.name)
            if each.name.casefold() != name.casefold() and each.role not in self._mapping:
                return self._unclear(each.role, name, each.name, each.number)
        if missing := next((role for role in ("user", "assistant") if role not in names), None):
            return self._refused(f"no message of the {missing}", utterances[0].number)
        if names["assistant"].casefold() == AGENT and "assistant" not in self._mapping:
            number = next(each.number for each in utterances if each.role == "assistant")
            if bot := min(self._bots, default="") or self._bot_elsewhere():
                return self._unclear("assistant", bot, names["assistant"], number)
        if doubt := self._doubt(utterances, names):
            return doubt
        self._used.update(names.keys() & self._mapping.keys())
        return {
            "format": _MARK,
            "messages": [
                {
                    "role": "system" if each is utterances[0] and each.lines[0].startswith(_BY_THE_APP) else each.role,
                    "content": "\n".join(each.lines).strip(),
                    "name": each.name if each.role in self._mapping else None,
                    "timestamp": each.time,
                    "title": each.title or None,
                }
                for each in utterances
            ],
        }

    def _loose_name(self, line: str) -> str:
        """The name of a known speaker with which a line begins, in another way than speakers are written; the
        beginning of a line that has a time as before speakers, but no speaker; or an empty text."""
        found = (each.match(line) for each in (_LOOSE, *_STYLES))
        timed = "" if self._times.isdisjoint(accumulate(_shape(line))) else line[:_BEGINNING]
        return next((each["name"] for each in found if each and each["name"].casefold() in self._roles), timed)

    def _manner(self, found: re.Match[str], is_after_blank: bool) -> _Manner:
        is_timed = bool(found["time"] or found["stamp"]) and not self._is_caption
        has_text, bold = found.end() < len(found.string), found.groupdict().get("bold")
        return _Manner(found.string.startswith("#"), bold, is_timed, has_text, is_after_blank)

    def _doubt(self, utterances: Sequence[_Utterance], names: Mapping[str, str]) -> InputError | None:
        """Why a conversation is refused in which another name may be a speaker: it stands where one side would speak
        twice in a row, and nothing else does. Other such names are noted."""
        spoken = [each for each in utterances if each.role != "system"]
        before = [one for one, other in pairwise(spoken) if one.name.casefold() == other.name.casefold()]
        for each in before:
            for name, number in each.loose.items():
                reason = (
                    f"`{name}` begins a line between two messages of `{each.name}`, but not as speakers are written"
                )
                timed = "write a speaker after the time, such as `System: `, or a blank before it if it is text"
                cure = f"write `{name}: ` at its beginning" if name.casefold() in self._roles else timed
                return InputError(f"{reason}; {cure}", self._shown, number)
        turns = [each for each in before if each.labels] if all(each.labels for each in before) else []
        counted = Counter(name for each in utterances for name in each.labels)
        for each in turns:
            name, number = next(reversed(each.labels.items()))
            if each.role not in self._mapping and (each.role == "assistant" or counted[name] > 1):
                return self._may_be_speaker(name, number, names)
        self._labels.update(counted, *(each.loose for each in utterances))
        return None

    def _may_be_speaker(self, name: str, number: int, names: Mapping[str, str]) -> InputError:
        both = [quote(f"{role}={names[role]}|{name}") for role in ("user", "assistant")]
        return InputError(
            f"`{name}` begins a line as a speaker does, between two messages of one side; say who it is with "
            f"`--columns {both[0]}`, `{both[1]}` or, if neither, `{quote(f'system={name}')}`, or that it is text with "
            f"`--columns {quote('assistant=' + names['assistant'])}`",
            self._shown,
            number,
        )

    def _unlike(self, name: str, number: int) -> InputError:
        reason = f"`{name}` is not written as most speakers of the text are; write all of them alike"
        return InputError(reason, self._shown, number)

    def _refused(self, reason: str, number: int) -> InputError:
        names = list(islice(filter(_NAME.fullmatch, (name for name, _ in self._seen.most_common())), _SEEN))
        seen = f"; the speakers seen are {ticked(names)}" if names else ""
        hint = f"expected `User:`, `Assistant:` or others named with {columns_hint(names)}"
        return InputError(f"{reason}{seen}; {hint}", self._shown, number)


def _keep_labels(
    labels: Iterable[tuple[_Utterance, str, int, _Manner]], manners: Sequence[_Manner], *, is_lower: bool
) -> None:
    """Note the names that are written as the known speakers are, in `manners`, with the messages that they are in."""
    known = [frozenset(values) for values in zip(*manners, strict=True)]
    for utterance, name, number, manner in labels if known else ():
        is_written_alike = all(value in values for value, values in zip(manner, known, strict=True))
        if is_written_alike and _may_speak(name) and (is_lower or not name[0].islower()):
            utterance.labels.setdefault(name, number)


def _shape(line: str) -> str:
    """The beginning of a line without the digits of its numbers and what cannot be seen."""
    return _DIGITS.sub("0", line[:80].lstrip("\u200b\u200e\u200f\u202a\u202b\ufeff"))


def _is_dated(time: str | None) -> bool:
    return re.match("[0-9]+[./-]", time or "") is not None


def _may_speak(name: str) -> bool:
    """Whether a speaker may have the name."""
    return _CALLED.fullmatch(name) is not None and _without_number(name) not in _HEADS


def _without_number(name: str) -> str:
    """The name as a reader sees it, without a number at its end."""
    return _NUMBER.sub("", folded_name(name))


def _is_nearly(other: str, name: str) -> bool:
    """Whether a name is another one or, if that is long enough, has one letter that is wrong, missing, additional or
    swapped with the next, but not the `s` of a plural."""
    if other == name:
        return True
    if len(name) < _LEAST or abs(len(other) - len(name)) > 1 or other == f"{name}s":
        return False
    start = next(at for at, (one, two) in enumerate(zip_longest(other, name)) if one != two)
    one, two = other[start:], name[start:]
    is_swapped = one[:2] == two[1::-1] and one[2:] == two[2:]
    return is_swapped or one[1:] in (two, two[1:]) or one == two[1:]


def _conversation(record: Record) -> Conversation:
    return Conversation("", chat(record.get("messages")), source="text")


FORMAT: Final = Format("text", lambda record: record.get("format") == _MARK, one_by_one(_conversation))
