"""The contents of chat files: counts, roles, tools, lengths and scripts, before anything runs."""

from collections import Counter
from collections.abc import Iterable, Iterator

from rulewright_runtime.english import plural
from rulewright_runtime.errors import EvaluationError, InputError
from rulewright_runtime.functions.texts import scripts
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import wrapped
from rulewright_runtime.transcripts.messages import SPEAKERS, Message, Transcript
from rulewright_runtime.transcripts.readers.content import is_markup

MOST = 8  # of a kind, as people see them
_ENGLISH = frozenset((
    "the", "and", "you", "your", "that", "this", "with", "what", "how", "would", "should", "please", "from", "they",
    "about", "been", "can't", "could", "don't", "i'm", "it's", "our", "there", "their", "were", "when", "which",
))  # fmt: skip
_TELLING = 20  # words of which one in 25 is common English ones, if the language is English
_COUNTED = ("formats", "models", "scenarios", "roles", "last_speaker", "tools", "scripts", "media", "holds")


class DataSummary:
    """Counts over the conversations that were added."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.refused: list[InputError] = []
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
        self._messages: list[int] = []
        self._lengths: dict[str, list[int]] = {}
        self._words = self._english_words = 0

    @property
    def is_english(self) -> bool:
        """Whether the chats are in English, or may be because they are short."""
        scripts = self._counts["scripts"]
        is_latin = all(name == "Latin" or scripts["Latin"] > count for name, count in scripts.items())
        return is_latin and (self._words < _TELLING or self._english_words * 25 >= self._words)

    def add(self, item: Transcript | InputError) -> None:
        """Count one conversation, or one input that is refused."""
        self.files.add(item.path)
        if isinstance(item, InputError):
            self.refused.append(item)
            return
        chat = item.conversation
        self._messages.append(len(chat.messages))
        self._counts["formats"][chat.source] += 1
        self._counts["models"][item.model] += 1
        self._counts["scenarios"][item.scenario_id or "none"] += 1
        self._counts["holds"].update(_held(item))
        for message in chat.messages:
            self._add_message(message)
        spoken = [message.role for message in chat.messages if message.role in SPEAKERS]
        self._counts["last_speaker"].update(spoken[-1:])

    def _add_message(self, message: Message) -> None:
        text = message.text
        self._counts["roles"][message.role] += 1
        self._counts["tools"].update(call.name for call in message.tool_calls)
        self._counts["media"].update(part.kind for part in message.parts if part.kind != "text")
        self._counts["scripts"].update(_scripts(text))
        self._lengths.setdefault(message.role, []).append(len(text))
        if message.role in SPEAKERS:
            words = text.lower().split()
            self._words += len(words)
            self._english_words += sum(map(_ENGLISH.__contains__, words))

    def result(self) -> JsonObject:
        """Return the counts as JSON data. Lengths are the minimum, median and maximum number of characters."""
        return {
            "files": len(self.files),
            "conversations": len(self._messages),
            "refused": len(self.refused),
            "messages": sum(self._messages),
            "messages_per_conversation": _spread(self._messages),
            **{name: dict(counts.most_common()) for name, counts in self._counts.items()},
            "characters": {role: _spread(lengths) for role, lengths in sorted(self._lengths.items())},
        }


def summary_of(items: Iterable[Transcript | InputError]) -> DataSummary:
    """Return the summary of all conversations."""
    made = DataSummary()
    for item in items:
        made.add(item)
    return made


def _held(item: Transcript) -> Iterator[str]:
    """Count the further fields that checks can read."""
    chat = item.conversation
    facts = {
        "expected": chat.expected is not None,
        "usage": bool(chat.usage) or any(message.usage for message in chat.messages),
        "reasoning": any(message.reasoning for message in chat.messages),
        "refusal": any(message.refusal for message in chat.messages),
        "timestamp": any(message.timestamp for message in chat.messages),
        "HTML": any(is_markup(message.text) for message in chat.messages),
        "error": any(turn.error is not None for turn in item.turns),
    }
    yield from (name for name, holds in facts.items() if holds)
    yield from (f"metadata.{key}" for key in chat.metadata)
    of_messages = {key: None for message in chat.messages for key in message.metadata if key not in chat.metadata}
    yield from (f"metadata.{key} of messages" for key in of_messages)


def _scripts(text: str) -> list[str]:
    if text.isascii():
        return ["Latin"] if any(map(str.isalpha, text)) else []
    try:
        return scripts(text)
    except EvaluationError:
        return []


def _spread(numbers: list[int]) -> dict[str, float] | None:
    if not numbers:
        return None
    ordered = sorted(numbers)
    middle = ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]
    return {"min": ordered[0], "median": middle / 2 if middle % 2 else middle // 2, "max": ordered[-1]}


def summary_lines(found: JsonObject, columns: int) -> list[str]:
    """Return the summary for people, one fact per line, wrapped to `columns`."""
    per = found["messages_per_conversation"]
    lines = [
        ("files", f"{found['files']}, {plural(found['conversations'], 'conversation')}, {found['refused']} refused"),
        ("messages", f"{found['messages']}{f', {_range(per)} in a conversation' if per else ''}"),
        *((name, _listed(found[name])) for name in ("formats", "models", "scenarios", "roles")),
        ("last speaker", _listed(found["last_speaker"])),
        *((name, _listed(found[name])) for name in ("tools", "media")),
        *((f"characters {role}", _range(spread)) for role, spread in found["characters"].items()),
        ("scripts", _listed(found["scripts"])),
        ("also contains", _listed(found["holds"])),
    ]
    lines = lines if found["conversations"] else lines[:1]
    width = max(len(name) for name, _ in lines) + 2
    return [line.rstrip() for name, text in lines for line in wrapped(text, columns, f"{name:<{width}}")]


def _range(spread: dict[str, float]) -> str:
    if spread["min"] == spread["max"]:
        return str(spread["min"])
    return f"{spread['min']} to {spread['max']}, median {spread['median']}"


def _listed(counts: dict[str, int]) -> str:
    named = [f"{name} {count}" for name, count in list(counts.items())[:MOST]]
    more = [f"{len(counts) - MOST} more"] if len(counts) > MOST else []
    return ", ".join([*named, *more]) or "none"
