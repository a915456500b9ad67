"""Completeness: the parts of its scenario that a transcript lacks, and its turns that say nothing.

A scenario fixes the user's turns, the messages that each may hold, and that each has a reply. A model that plays the
user uses its own words: then only the turns are checked, not the messages. A branch that was not taken is not missing.
Without a scenario only empty replies can be detected.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.plan.scan import Scenario
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.transcripts.messages import CUT, Transcript, Turn
from rulewright_runtime.transcripts.thoughts import separated

Kind = Literal[
    "missing_session",
    "missing_turn",
    "missing_reply",
    "empty_reply",
    "cut_reply",
    "failed_turn",
    "other_message",
    "other_branch",
    "unexpected_turn",
]
# Characters that Unicode classifies as letters or symbols but that are invisible or placeholders.
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\ufffc\ufffd")
# What is not shown: HTML comments and tags, fence lines, link definitions, links without a text.
_MARKUP: Final = re.compile(
    r"""<!--.*?(?:-->|\Z)
    |</?[A-Za-z][A-Za-z0-9-]*(?=[\s/>])[^<>]*>
    |^[ ]{0,3}(?:`{3,}|~{3,})[^`\n]*$
    |^[ ]{0,3}\[[^\]\n]+\]:[ \t]*\S+(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*$
    |\[\]\([^()\[\]\n]*\)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


class Gap(msgspec.Struct, frozen=True, omit_defaults=True):
    """A missing or wrong part of a transcript: its kind, turn and session, and the reason in words."""

    kind: Kind
    turn: int
    reason: str
    session: int | None = None

    def __str__(self) -> str:
        return self.reason if self.session is None else f"session {self.session}: {self.reason}"


class Completeness(msgspec.Struct, frozen=True):
    """The gaps of a transcript; the indices of turns that say nothing and of incomplete turns; and the branches that
    were inferred from messages, by turn index.

    `wordless` are gaps only for checks that read the text: the assistant called tools and said nothing.
    """

    gaps: tuple[Gap, ...] = ()
    wordless: tuple[Gap, ...] = ()
    silent: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()
    branches: dict[int, str] = {}


def says_something(text: str) -> bool:
    """Whether `text` contains a visible letter, digit or symbol such as an emoji.

    White space, invisible characters, punctuation, markup and the thought of a model alone say nothing.
    """
    if text[:1].isascii() and text[:1].isalnum():  # nearly every reply
        return True
    text = _MARKUP.sub("", separated(text)[1])
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return any(map(_is_seen, text))


def _is_seen(char: str) -> bool:
    category = unicodedata.category(char)  # So: emoji and the like
    return (category[0] in "LN" or category == "So") and char not in _BLANK


@lru_cache(4096)
def message_digest(text: str) -> str:
    """The digest that identifies a user's message in a plan; white space between words does not matter."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return blake2b(" ".join(plain.split()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


OF_TESTS: Final = "test"  # the category of the scenarios that `init --from` makes of a promptfoo configuration


class ScenariosByMessages:
    """Finds the scenario of a promptfoo result that does not name it: the test names none, or it has several prompts,
    each with a scenario of its own."""

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        self._scenarios = scenarios
        self.are_tests = any(scenario.category == OF_TESTS for scenario in scenarios.values())
        self._by_opening: dict[str, list[str]] = {}
        for name, scenario in scenarios.items():
            for digest in scenario.turns[0].messages if scenario.turns else ():
                self._by_opening.setdefault(digest, []).append(name)

    def of(self, result: Transcript) -> list[str]:
        """The scenarios in which the user says the same, with the same variables, or else without other values of them.
        One of those that the same checks apply to."""
        asked = {turn.turn: message_digest(turn.content) for turn in result.turns if turn.role == "user"}
        names = [name for name in self._by_opening.get(next(iter(asked.values()), ""), ()) if self._says(name, asked)]
        names = [name for name in names if name.startswith(f"{result.scenario_id}-prompt-") or not result.scenario_id]
        given = _mapping(result.conversation.metadata.get("vars"))
        # A plan has the variables only if a condition reads them.
        known = {name: _mapping(self._metadata(name).get("vars", given)) for name in names}
        same = [name for name in names if known[name] == given] or [
            name for name in names if all(given.get(key, value) == value for key, value in known[name].items())
        ]
        return sorted({self._scenarios[name].eligible_modes: name for name in reversed(same)}.values())

    def _says(self, name: str, asked: Mapping[int, str]) -> bool:
        script = {turn.number: turn.messages for turn in self._scenarios[name].turns}
        return script.keys() == asked.keys() and all(asked[number] in script[number] for number in asked)

    def _metadata(self, name: str) -> JsonMapping:
        return _mapping(self._scenarios[name].fields.get("metadata"))


def _mapping(value: object) -> JsonMapping:
    return value if isinstance(value, dict) else {}


class ScriptedScenario:
    """A scenario, prepared for comparison with transcripts."""

    def __init__(self, scenario: Scenario | None, empty_reply: Literal["error", "reply"] = "error") -> None:
        """Without a scenario, or if it names no turns, none is expected."""
        self._turns = {turn.number: dict(turn.messages) for turn in scenario.turns} if scenario else {}
        self._sessions = scenario.sessions if scenario else ()
        self._empty_reply = empty_reply

    def completeness(self, turns: Sequence[Turn]) -> Completeness:
        failed = frozenset(index for index, turn in enumerate(turns) if turn.error is not None)
        numbers = [turns[index].turn for index in sorted(failed)]
        gaps = [
            self._gap("failed_turn", turn, f"turn {turn} contains an error in place of a message") for turn in numbers
        ]
        if self._empty_reply == "reply":
            return Completeness(tuple(gaps)) if gaps else _COMPLETE
        replies = {index: turn for index, turn in enumerate(turns) if turn.role == "assistant"}
        silent = frozenset(index for index, turn in replies.items() if not says_something(turn.content))
        cut = frozenset(index for index, turn in enumerate(turns) if _is_cut(turn))
        branches: dict[int, str] = {}
        gaps += [*self._replies(turns, silent - failed), *self._messages(turns, branches)]
        if not gaps and not branches:
            return _COMPLETE
        return Completeness(tuple(sorted(gaps, key=lambda gap: gap.turn)), (), silent, failed | cut, branches)

    def of_conversation(self, transcript: Transcript) -> Completeness:
        """The completeness of the transcript. If no turns are expected, tool calls also count as a reply."""
        complete = self.completeness(transcript.turns)
        if self._turns or [gap.kind for gap in complete.gaps] != ["missing_reply"] or transcript.recorded is None:
            return complete
        if not any(message.role == "assistant" and message.tool_calls for message in transcript.recorded.messages):
            return complete
        gap = msgspec.structs.replace(complete.gaps[0], reason="the assistant calls tools and says nothing")
        return msgspec.structs.replace(complete, gaps=(), wordless=(gap,))

    def _gap(self, kind: Kind, turn: int, reason: str) -> Gap:
        sessions = (one.number for one in self._sessions if one.first_turn <= turn <= one.last_turn)
        return Gap(kind, turn, reason, next(sessions, None))

    def _replies(self, turns: Sequence[Turn], silent: frozenset[int]) -> Iterator[Gap]:
        """Yield a gap for each empty or missing reply; if no turns are expected, one reply is enough."""
        waiting: int | None = None
        for index, turn in enumerate(turns):
            if index in silent:
                yield self._gap("empty_reply", turn.turn, f"the reply of turn {turn.turn} is empty")
            elif _is_cut(turn):
                ended = CUT[turn.finish or "other"]
                yield self._gap("cut_reply", turn.turn, f"the reply of turn {turn.turn} was cut off {ended}")
            if turn.role == "assistant":
                waiting = None
            elif turn.role == "user":
                if waiting is not None:
                    yield self._gap("missing_reply", waiting, f"turn {waiting} has no reply")
                waiting = turn.turn if turn.turn in self._turns else None
        if waiting is not None:
            yield self._gap("missing_reply", waiting, f"turn {waiting} has no reply")
        if not self._turns and not any(turn.role == "assistant" for turn in turns):
            last = turns[-1].turn if turns else 0
            yield self._gap("missing_reply", last, "the assistant says nothing")

    def _messages(self, turns: Sequence[Turn], branches: dict[int, str]) -> Iterator[Gap]:
        """Yield a gap for each user's turn that differs from the scenario, and for each reply to no turn of it; fills
        `branches` from the messages. A greeting before the first turn is accepted."""
        if not self._turns:
            return
        present: list[int] = []
        asked = {turn.turn for turn in turns if turn.role == "user"}
        for index, turn in enumerate(turns):
            number = turn.turn
            if turn.role != "user":
                if number > min(self._turns) and number not in self._turns.keys() | asked:
                    yield self._gap("unexpected_turn", number, f"the scenario has no turn {number} to answer")
                continue
            if number not in self._turns or (present and number <= present[-1]):
                yield self._gap("unexpected_turn", number, f"the scenario has no turn {number} of the user here")
                continue
            present.append(number)
            taken = self._turns[number].get(message_digest(turn.content))
            if taken is None and turn.simulated_by:  # a model's own words; any of the turn's branches is accepted
                taken = tuple(name for names in self._turns[number].values() for name in names)
                if not says_something(turn.content):
                    yield self._gap(
                        "other_message", number, f"the message of the simulated user in turn {number} is empty"
                    )
            if not taken:
                yield self._gap("other_message", number, f"the user's message of turn {number} is not the scenario's")
            elif (turn.branch_id or "") not in taken:
                if not turn.branch_id:
                    branches[index] = taken[0]
                else:
                    reason = f"turn {number} names the branch `{turn.branch_id}`, which its message does not belong to"
                    yield self._gap("other_branch", number, reason)
        yield from self._missing(present)

    def _missing(self, present: Sequence[int]) -> Iterator[Gap]:
        missing = sorted(self._turns.keys() - set(present))
        for session in self._sessions:
            inside = [number for number in self._turns if session.first_turn <= number <= session.last_turn]
            if inside and set(inside) <= set(missing) and len(self._sessions) > 1:
                where = f"turns {session.first_turn} to {session.last_turn}"
                yield Gap("missing_session", min(inside), f"the session is missing ({where})", session.number)
                missing = [number for number in missing if number not in inside]
        last = max(present, default=0)
        for number in missing:
            ends = f": the transcript ends after turn {last}" if number > last else ""
            yield self._gap("missing_turn", number, f"turn {number} is missing{ends}")


_COMPLETE: Final = Completeness()


def _is_cut(turn: Turn) -> bool:
    return turn.finish is not None and turn.finish in CUT and turn.role == "assistant"


def as_records(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    records: list[dict[str, object]] = msgspec.to_builtins(gaps)
    return records
