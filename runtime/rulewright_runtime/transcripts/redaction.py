"""Redaction: replaces a project's patterns in transcripts, before anything is judged, sent or stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from rulewright_runtime.regex import compile_regex
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.messages import Conversation, Message, Transcript, Turn


class Redaction:
    """The redaction rules of a project, in order: an RE2 pattern and its replacement text."""

    def __init__(self, rules: Sequence[tuple[str, str]]) -> None:
        """Compile the rules. Raises PlanError for a pattern that RE2 refuses."""
        self.rules = tuple(rules)
        self._compiled = [(compile_regex(pattern), replacement) for pattern, replacement in rules]

    def text(self, text: str) -> str:
        """The text after all rules; a replacement is inserted literally."""
        for pattern, replacement in self._compiled:
            text = pattern.sub(lambda _, replacement=replacement: replacement, text)  # type: ignore[misc]
        return text

    def transcript(self, transcript: Transcript) -> Transcript:
        """The transcript with every text redacted; its id, scenario and model are unchanged."""
        if not self._compiled:
            return transcript
        recorded = None if transcript.recorded is None else self._conversation(transcript.recorded)
        return replace(transcript, turns=tuple(map(self._turn, transcript.turns)), recorded=recorded)

    def _turn(self, turn: Turn) -> Turn:
        return replace(turn, content=self.text(turn.content), error=self.data(turn.error))

    def _conversation(self, conversation: Conversation) -> Conversation:
        messages = tuple(map(self._message, conversation.messages))
        return replace(conversation, messages=messages, **self._fields(conversation, "expected", "metadata", "usage"))

    def _message(self, message: Message) -> Message:
        parts = (
            replace(part, text=self.text(part.text), reference=self.text(part.reference)) for part in message.parts
        )
        calls = (
            replace(call, arguments=self.data(call.arguments), raw=self.text(call.raw)) for call in message.tool_calls
        )
        others = self._fields(message, "name", "reasoning", "refusal", "metadata", "usage")
        return replace(message, parts=tuple(parts), tool_calls=tuple(calls), **others)

    def _fields(self, part: Conversation | Message, *names: str) -> JsonObject:
        return {name: self.data(getattr(part, name)) for name in names}

    def data(self, value: Any) -> Any:
        """JSON data with every text redacted, except keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return {key: self.data(item) for key, item in value.items()} if isinstance(value, dict) else value


NOTHING: Final = Redaction(())
