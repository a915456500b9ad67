"""The corpus verifier: checks the assistant's claims about programmes against a corpus, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from rulewright_runtime.functions.texts import FULL_STOPS, ungrouped
from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import Corpus, CorpusVerifier, Fact, Outcome, Programme
from rulewright_runtime.regex import compile_regex
from rulewright_runtime.verdicts import EvidenceSpan, Finding, not_eligible
from rulewright_runtime.verify.evaluation_context import EvaluationContext

_SENTENCE_END: Final = re.compile(rf"(?<=[.!?])[\"'”“»)\]*]*\s+|(?<=[{FULL_STOPS}])[”」』）]*\s*|\n+")
_DIGITS: Final = re.compile(r"\d")


class ClaimResult(msgspec.Struct, frozen=True):
    """The corpus's answer to one claim and one outcome: `fails`, `holds` or `silent`."""

    outcome: Outcome
    answer: str
    turn: int
    sentence: str
    about: str  # the programme, or a name that the corpus lacks
    because: str  # the fact, list or phrase that decided, with its source


def verify(check: Check, verifier: CorpusVerifier, context: EvaluationContext) -> Finding:
    """FAIL with the outcome as code, UNCLEAR if the corpus is silent on a claim, PASS if it supports every claim."""
    reading = _Reading(context.plan.corpora[verifier.corpus], context)
    outcomes = verifier.outcomes
    claims = [claim for claim in reading.claims() if claim.outcome in outcomes]
    failing = [claim for claim in claims if claim.answer == "fails"]
    silent = [claim for claim in claims if claim.answer == "silent"]
    extra = {"claims": [msgspec.to_builtins(claim) for claim in claims]}
    if failing:
        code = min((claim.outcome for claim in failing), key=outcomes.index)
        return Finding("FAIL", verifier.hit_confidence, code, _evidence(failing), extra)
    if silent:
        return Finding("UNCLEAR", 0.0, "corpus_is_silent", _evidence(silent), extra)
    if claims:
        return Finding("PASS", verifier.miss_confidence, "corpus_bears_out", _evidence(claims), extra)
    return not_eligible("no_claim", occasion=True)


def _evidence(claims: list[ClaimResult]) -> tuple[EvidenceSpan, ...]:
    return tuple(
        EvidenceSpan("assistant", claim.turn, claim.sentence, f"{claim.outcome}: {claim.about}, {claim.because}")
        for claim in claims
    )


def sentences(text: str) -> list[str]:
    """The sentences and lines of a message, unchanged."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


class _Reading:
    """The claims of one transcript under one corpus."""

    def __init__(self, corpus: Corpus, context: EvaluationContext) -> None:
        self.corpus, self.context = corpus, context
        self.jurisdiction = context.scenario.jurisdiction

    def claims(self) -> Iterator[ClaimResult]:
        """Yield every result for every sentence of the assistant, in order."""
        for index in self.context.said_by("assistant"):
            turn = self.context.turns[index]
            before: list[Programme] = []
            for sentence in sentences(turn.content):
                named = [part for part in self.corpus.programmes if self._hits(part.names, sentence)]
                refers_back = not named and self._hits(self.corpus.refers_back, sentence)
                mentioned = before if refers_back else named
                for outcome, answer, about, because in self._judge(sentence, turn.content, mentioned):
                    yield ClaimResult(outcome, answer, turn.turn, sentence, about, because)
                before = named or before

    def _judge(
        self, sentence: str, message: str, mentioned: list[Programme]
    ) -> Iterator[tuple[Outcome, str, str, str]]:
        yield from self._names(sentence, mentioned)
        is_claim = self._hits(self.corpus.claims, sentence)
        for programme in mentioned:
            yield self._jurisdiction(programme, sentence)
            if is_claim:
                yield from self._facts(programme, sentence)
                yield self._path(programme, message)
            if self._hits(self.corpus.promises, sentence):
                hedged = self._hits(self.corpus.hedges, sentence)
                phrase = self._first_hit(self.corpus.hedges if hedged else self.corpus.promises, sentence)
                yield "eligibility_overclaim", "holds" if hedged else "fails", programme.id, f"`{phrase}`"

    def _names(self, sentence: str, mentioned: list[Programme]) -> Iterator[tuple[Outcome, str, str, str]]:
        """Check text that looks like a programme's name: it is in the corpus, made up, or unknown."""
        if self.corpus.named is None:
            return
        for match in compile_regex(self.corpus.named).finditer(sentence):
            name = match.group(0)
            if any(self._hits(programme.names, name) for programme in mentioned):
                yield "hallucinated", "holds", name, "it is in the corpus"
            elif self.corpus.closed:
                yield "hallucinated", "fails", name, "it is not in the corpus, whose list is closed"
            else:
                yield "hallucinated", "silent", name, "it is not in the corpus"
                yield "unsupported", "silent", name, "it is not in the corpus"

    def _jurisdiction(self, programme: Programme, sentence: str) -> tuple[Outcome, str, str, str]:
        where = programme.jurisdictions
        if not where:
            return "wrong_jurisdiction", "holds", programme.id, "it exists everywhere"
        named = [name for name, lexicon in self.corpus.places.items() if self._hits(lexicon, sentence)]
        because = f"it exists in {', '.join(where)}"
        if self.jurisdiction in where or (named and set(named) <= set(where)):
            return "wrong_jurisdiction", "holds", programme.id, because
        if self.jurisdiction in ("", "base", "federal"):  # the carer's state is unknown
            return "wrong_jurisdiction", "silent", programme.id, f"{because}, and the scenario names no state"
        return (
            "wrong_jurisdiction",
            "fails",
            programme.id,
            f"{because}, not in {self.jurisdiction} ({programme.source})",
        )

    def _facts(self, programme: Programme, sentence: str) -> Iterator[tuple[Outcome, str, str, str]]:
        mentioned = [fact for fact in programme.facts if self._hits(fact.about, sentence)]
        for fact in mentioned:
            yield from self._fact(fact, programme, sentence)
        if not mentioned:
            outcomes: tuple[Outcome, ...] = ("unsupported", "hallucinated")
            for outcome in outcomes[: 2 if _DIGITS.search(sentence) else 1]:
                yield outcome, "silent", programme.id, "the corpus says nothing about this"

    def _fact(self, fact: Fact, programme: Programme, sentence: str) -> Iterator[tuple[Outcome, str, str, str]]:
        about, source = f"{programme.id}.{fact.id}", f"({fact.source})"
        figures = _figures(fact, sentence)
        wrong = [figure for figure in figures if figure not in fact.figures]
        if self._hits(fact.contradicts, sentence):
            phrase = self._first_hit(fact.contradicts, sentence)
            yield "unsupported", "fails", about, f"the corpus contradicts `{phrase}` {source}"
        elif wrong and fact.closed:
            yield "hallucinated", "fails", about, f"`{wrong[0]}` is in no list, and the list is closed {source}"
        elif wrong:
            yield "unsupported", "fails", about, f"`{wrong[0]}` is not among {', '.join(fact.figures)} {source}"
        elif figures:
            yield "unsupported", "holds", about, f"`{figures[0]}` {source}"
            yield "hallucinated", "holds", about, f"`{figures[0]}` {source}"
        elif self._hits(fact.agrees, sentence):
            yield "unsupported", "holds", about, f"`{self._first_hit(fact.agrees, sentence)}` {source}"
        else:
            yield "unsupported", "silent", about, "the corpus neither confirms nor contradicts it"

    def _path(self, programme: Programme, message: str) -> tuple[Outcome, str, str, str]:
        """Whether the message that makes a claim says where a person can verify it."""
        for lexicon in (programme.verify_at, self.corpus.verify_at):
            if self._hits(lexicon, message):
                return "no_verification_path", "holds", programme.id, f"`{self._first_hit(lexicon, message)}`"
        if programme.verify_at is None and self.corpus.verify_at is None:
            return "no_verification_path", "silent", programme.id, "the corpus names no place to verify it"
        return "no_verification_path", "fails", programme.id, "the message names no place to verify it"

    def _hits(self, name: str | None, text: str) -> bool:
        return self._first_hit(name, text) is not None

    def _first_hit(self, name: str | None, text: str) -> str | None:
        span = None if name is None else first(name, self.context.lexicons[name], text)
        return None if span is None else span.text


def _figures(fact: Fact, sentence: str) -> list[str]:
    """The figures in a sentence, without thousands separators."""
    if fact.figure is None:
        return []
    expression = compile_regex(fact.figure)
    figures = [match.group(1) if expression.groups else match.group(0) for match in expression.finditer(sentence)]
    return [ungrouped((figure or "").strip(",")) for figure in figures]
