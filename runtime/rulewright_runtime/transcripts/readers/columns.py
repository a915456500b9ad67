"""The mapping of fields, such as `user` and `content`, to the columns of a table or the paths of a record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from rulewright_runtime.english import either
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.strict_json import Json
from rulewright_runtime.transcripts.readers.content import text_of_markup
from rulewright_runtime.transcripts.readers.openai import CONVERSATION_KEYS
from rulewright_runtime.transcripts.readers.plain_text import PlainText
from rulewright_runtime.transcripts.readers.record_values import Record, ShapeError, is_list, is_record, shown, word
from rulewright_runtime.transcripts.readers.shapes import (
    ROLE_WORDS,
    bot_in,
    columns_hint,
    refuse_agent,
    unknown_speaker,
)

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "messages": (),  # of a record that is not a row: see `mapped_format`
    "conversation": CONVERSATION_KEYS,
    "id": ("id", "example_id", "custom_id"),
    "role": ("role", "speaker", "sender", "author"),
    "content": ("content", "message", "text", "utterance"),
    "html": (),  # of a content that is HTML
    "system": ("system", "system_prompt", "instructions"),
    "user": ("user", "question", "prompt", "input", "query", "human", "instruction", "user_input"),
    "passages": ("contexts", "retrieved_contexts", "retrieval_context", "context"),
    "assistant": ("assistant", "answer", "response", "output", "completion", "reply", "bot", "actual_output"),
    "expected": ("expected", "expected_output", "ideal", "ground_truth", "reference", "target"),
    "model": ("model", "model_name"),
    "scenario_id": ("scenario_id",),
    "name": ("name",),
    "tool_calls": ("tool_calls",),
    "tool_call_id": ("tool_call_id",),
    "timestamp": (
        "timestamp", "created_at", "createdat", "createdAt", "time", "date", "ts", "timestamp_ms", "date_created",
        "sent_at",
    ),
}  # fmt: skip
EACH: Final = "[]"  # after a key in a path: all items of its list
OF_MESSAGES: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "timestamp")
SPEAKERS: Final = ("system", "user", "assistant")  # fields that name roles
TASK: Final = ("instruction", "input")  # of a data set of instructions
_FULL, _PATTERN, _ANY = 3, 2, 1  # how well the name of a speaker fits
_MEANINGS: Final = {"user": "question", "assistant": "answer"}


class Columns:
    """The mapping of fields to the columns of a table: given explicitly, or else by the usual names."""

    def __init__(
        self, mapping: Mapping[str, str], used: set[str], labels: set[str], bot_in_texts: Callable[[], str] = str
    ) -> None:
        """`mapping` maps fields (`user`, `content`) to column names; those that a record has are added to `used`, and
        names in a text that may be speakers and are read as text to `labels`. `bot_in_texts` returns an assistant, who
        isn't a person, of the texts of the file, or an empty text.
        An empty name for `conversation` means that all messages of a file are one. Raises RuntimeFailure for an
        unknown field."""
        for field in mapping:
            if field not in FIELDS:
                raise RuntimeFailure(f"unknown field `{field}` in a column mapping; expected {_one_of(FIELDS)}")
        self.mapping = {field: name for field, name in mapping.items() if name}
        self._html = self.mapping["html"].split("|") if "html" in self.mapping else []
        if self._html and "content" in self.mapping:
            raise RuntimeFailure("a column mapping names `content` and `html`; name the text in one of them")
        self.mapping |= {"content": self.mapping.pop("html")} if self._html else {}
        self.is_one_conversation = mapping.get("conversation") == ""
        self.used = used
        self.labels = labels
        self.bot_in_texts = bot_in_texts
        self._paths = () if "messages" in self.mapping else [path for path in self.mapping.values() if "." in path]

    def plain_text(self) -> PlainText:
        return PlainText(self.mapping, "", self.used, self.labels, self.bot_in_texts)

    def with_paths(self, record: Record) -> Record:
        """The record with each value that the mapping names by a path as a column of its own."""
        values = {path: value_at(record, path) for path in self._paths if path not in record}
        return {**record, **{path: value for path, value in values.items() if value is not None}} if values else record

    def has_path(self, record: Record) -> bool:
        """Whether a column of the record is a path that the mapping names."""
        return any(path in record for path in self._paths)

    def with_role(self, line: Record) -> Record:
        """The line with the role of its speaker if the mapping names one."""
        try:
            role = self._named(word(line.get("role")), "role")
        except ShapeError:  # named twice: an unknown role is refused with its line
            return line
        self.used.update([role] if role else [])
        return {**line, "role": role} if role else line

    def value(self, record: Record, field: str, usual: str) -> Json:
        """The value of a field at the path that the mapping has for it, else under its `usual` key; None if there is
        none."""
        value = value_at(record, self.mapping.get(field, usual))
        if value is not None and field in self.mapping:
            self.used.add(field)
        return value

    def text_of(self, content: Json, where: str) -> Json:
        """The content of a message: of one that the mapping names as HTML what it shows. Raises ShapeError."""
        if not self._html or content is None:
            return content
        self.used.add("html")
        return text_of_markup(content, where)

    def with_shown(self, row: Record) -> Record:
        """A row with a question and its answer, with what its columns of HTML show. Raises ShapeError."""
        shown = {name: self.text_of(row.get(name), f"column `{name}`") for name in self._html}
        return {**row, **shown} if shown else row

    def role_of(self, value: Json, where: str) -> str:
        """The role of a speaker, which the mapping may name. Raises ShapeError."""
        speaker = word(value)
        named = self._named(speaker, where)
        role = named or speaker.strip()
        if role.lower() not in ROLE_WORDS:
            raise unknown_speaker(speaker, where)
        if named:
            self.used.add(named)
        return role

    def _named(self, speaker: str, where: str) -> str:
        """The role whose names fit a speaker best; empty if there is none, or only the name `*` for a known role.
        Raises ShapeError if those of two roles do."""
        fits = {role: fit(speaker, self.mapping.get(role, "")) for role in SPEAKERS}
        best = max(fits.values())
        if best == 0 or (best == _ANY and speaker.lower() in ROLE_WORDS):
            return ""
        first, *more = (role for role in SPEAKERS if fits[role] == best)
        if more:
            raise ShapeError(f"{where} is {shown(speaker)}, which both `{first}` and `{more[0]}` of `--columns` name")
        return first

    def refuse_agent(self, speakers: Iterable[Json], bot: str = "", option: str = "", *, named: bool = True) -> None:
        """Raise ShapeError where a speaker that the mapping does not name may be a person. `bot` is the assistant
        elsewhere in the file, `named` says whether the mapping names speakers for it, and `option` is what `--columns`
        needs as well."""
        name = self.mapping.get("assistant", "") if named else ""
        refuse_agent(filter(self._is_unnamed, speakers), name or bot, option)

    def bot_in(self, speakers: Iterable[Json]) -> str:
        """The first speaker that the mapping does not name and that can only be the assistant; empty if none is."""
        return bot_in(filter(self._is_unnamed, speakers))

    def _is_unnamed(self, speaker: Json) -> bool:
        return not any(fit(word(speaker), self.mapping.get(role, "")) for role in SPEAKERS)

    def of(self, names: Sequence[str]) -> dict[str, str]:
        """Map fields to the columns of these names. Raises ShapeError if they hold no conversation."""
        plain = {name: "_".join(name.lower().replace("-", " ").split()) for name in names}
        roles = {*plain.values()}.intersection(FIELDS["role"])
        speakers = SPEAKERS if "role" in self.mapping or roles else ()
        html = () if speakers else tuple(("html", name) for name in self._html)
        columns = {
            field: name
            for field, name in self.mapping.items()
            if (name in names or field not in speakers) and not (html and field == "content")
        }
        self.used.update(field for field, name in columns.items() if name in names)
        for field, name in (*columns.items(), *html):
            if name not in names:
                raise ShapeError(f"unknown column `{name}` for `{field}`; the columns are {_one_of(names, 'and')}")
        taken = set(columns.values())
        fields = columns
        for field, usual in FIELDS.items():
            left = [name for name in names if name not in taken]
            matches = [name for each in usual for name in left if plain[name] == each]
            match = next(iter(matches), None)
            if field not in fields and match is not None:
                several = len(matches) > 1 and {*TASK} != {plain[each] for each in matches}
                if several and field in _MEANINGS and not {"role", "content"} <= fields.keys():
                    raise ShapeError(
                        f"the columns {_one_of(matches, 'and')} may all contain the {_MEANINGS[field]}; say which one "
                        f"with `--columns {field}={match}`"
                    )
                fields[field] = match
                taken.add(match)
        is_exchange = "assistant" in fields and ("user" in fields or "assistant" in self.mapping)
        if not (is_exchange or {"role", "content"} <= fields.keys()):
            raise ShapeError(
                f"unknown shape: a table with the columns {_one_of(names, 'and')}; expected `user` and `assistant`, or "
                f"`role` and `content` (name yours with {columns_hint(list(names))}; for a "
                "message per row `--columns conversation=NAME,role=NAME,content=NAME,user=SPEAKER,assistant=SPEAKER`)"
            )
        return fields


def fit(speaker: str, names: str) -> int:
    """How well the best of the names, between bars, fits a speaker: in full, as a pattern with `*`, or as `*` alone; 0
    if none does."""
    if not speaker:
        return 0
    return max(
        _FULL if name == speaker else (_ANY if name == "*" else _PATTERN) * _matches(name, speaker)
        for name in names.split("|")
    )


def _matches(name: str, speaker: str) -> bool:
    """Whether a name in which `*` stands for any text matches a speaker, in time linear in each part of the name."""
    first, *parts = map(re.escape, name.split("*"))
    inner = "".join(f"(?>.*?{part})" for part in parts[:-1])  # the first match of each part is enough
    pattern = first + inner + "".join(f".*{part}" for part in parts[-1:])
    return re.fullmatch(pattern, speaker, re.DOTALL) is not None


def _one_of(names: Mapping[str, object] | Sequence[str], last: str = "or") -> str:
    shown = [f"`{name[:40]}`" for name in list(names)[:20]]
    return either(shown, last) if shown else "none"


def _joined_lists(items: Json, path: str) -> Json:
    """The lists under a path in each of the items, one after the other; None if one of them has none."""
    each = items if is_list(items) else []
    lists = [(value_at(item, path) if is_record(item) else None) if path else item for item in each]
    return [*chain.from_iterable(filter(is_list, lists))] if lists and all(map(is_list, lists)) else None


def value_at(record: Record, path: str) -> Json:
    """The value under a key, or under keys that a path joins by dots; None if there is none. `sessions[].messages` is
    all messages of a list of sessions, if each has some."""
    if path in record:
        return record[path]
    first, dot, more = path.partition(".")
    if first.endswith(EACH):
        return _joined_lists(record.get(first.removesuffix(EACH)), more)
    inner = record.get(first)
    return value_at(inner, more) if dot and is_record(inner) else None
