"""Small plans and transcripts, built by hand for the tests of the runtime."""

import json
from hashlib import sha256
from typing import Any

import msgspec

from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.file import seal
from rulewright_runtime.plan.question import Judging, TextSegment, WholeWindow
from rulewright_runtime.plan.scan import (
    Check,
    Lexicon,
    Pattern,
    Plan,
    Scenario,
)
from rulewright_runtime.plan.verifiers import JudgeVerifier, LexiconVerifier, Verifier
from rulewright_runtime.transcripts.messages import Transcript, Turn


def lexicon(*patterns: str, mode: Any = "substring_ci", role: Any = "assistant") -> Lexicon:
    """A lexicon of patterns of one mode."""
    return Lexicon(tuple(Pattern(pattern, mode) for pattern in patterns), role)


def judging(**settings: Any) -> Judging:
    """A question about the whole transcript, asked once unless told otherwise."""
    usual: dict[str, Any] = {"prompt": (TextSegment("Judge it."),), "prompt_hash": "0" * 16, "window": WholeWindow()}
    return Judging(**{**usual, "repetitions": 1, **settings})


def check(verifier: Verifier | None = None, name: str = "X1", **settings: Any) -> Check:
    """A universal check of bucket C; without a verifier it looks for the lexicon `words`."""
    usual: dict[str, Any] = {"name": "x", "primary_bucket": "C", "severity": "S3", "hard_fail": False}
    usual |= {"scope": "universal", "route": "any", "scorer_type": "any"}
    return Check(id=name, verifier=verifier or LexiconVerifier("words"), **{**usual, **settings})


def asked(**settings: Any) -> Check:
    """A check that a judge decides."""
    about = {key: settings.pop(key) for key in list(settings) if key in Check.__struct_fields__}
    return check(JudgeVerifier(judging(**settings)), **about)


def plan(*checks: Check, scenario: Scenario | None = None, **settings: Any) -> Plan:
    """A sealed plan over the scenario `s` and the lexicon `words` (`always`, `i promise`)."""
    usual: dict[str, Any] = {"lexicons": {"words": lexicon("i promise", "always")}, "language": "1"}
    usual |= {"semantics": "seed", "profile": "test", "scenarios": {"s": scenario or Scenario()}}
    return seal(Plan(checks=checks, **{**usual, **settings}))


def sealed(document: dict[str, Any]) -> bytes:
    """A plan's JSON with a hash that fits, whatever was done to it: what somebody writes who knows how."""
    emptied = {**document, "hash": ""}
    return msgspec.json.encode({**emptied, "hash": sha256(msgspec.json.encode(emptied)).hexdigest()})


def talk(*said: str, name: str = "m__s") -> Transcript:
    """A conversation in which user and assistant take turns, two messages to a number."""
    turns = [Turn(i // 2 + 1, "assistant" if i % 2 else "user", text) for i, text in enumerate(said)]
    return Transcript(name, "s", "m", tuple(turns), f"{name}.jsonl", 1)


def reply(verdict: str, *quotes: str, code: str | None = None, turn: int = 1) -> str:
    """A judge's answer, which quotes the assistant in one turn."""
    evidence = [{"role": "assistant", "turn": turn, "quote": quote} for quote in quotes]
    return json.dumps({"verdict": verdict, "evidence": evidence, "rationale_code": code})


class Scripted:
    """A judge that gives prepared answers in order and keeps what it was asked; exceptions among them are raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[JudgeRequest] = []

    def ask(self, request: JudgeRequest) -> str | None:
        """The next answer; the last one is repeated."""
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, str) else None
