"""Second opinions on a case: words similar to a missing phrase, by a local embedding, and a judge's verdicts. Both are
recorded next to the score, and counted when the scorecard says so.

Embeddings rate paraphrases as similar, and with small models negations as more similar still: "fever" is nearer to "no
fever" than to "raised temperature". So a match reports its similarity and whether it negates the phrase.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Question, Semantic
from rulewright_runtime.cases.phrase_evidence import parts_of
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.embedding.opening import Embedding
from rulewright_runtime.errors import JudgeError, OutageError, RuntimeFailure
from rulewright_runtime.judging.judge import Judge, JudgeRequest, UnansweredError
from rulewright_runtime.judging.replies import strict
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.completeness import says_something

_WORD: Final = re.compile(r"\w+")
_MAX_WINDOWS: Final = 500  # compared with one phrase


class _Window(Struct, frozen=True):
    """Some words of a part: their text, the range of their word indexes, and whether exactly one of them and the phrase
    is negated."""

    part: str
    text: str
    first: int
    last: int
    negated: bool


class SemanticMatcher:
    """Finds semantic matches for the missing phrases of scored cases."""

    def __init__(self, plan: CaseScorecardPlan, embedding: Embedding) -> None:
        """Find the inputs that each metric of `plan` searches; texts are compared by `embedding`."""
        self._embedding = embedding
        texts = {text.name: text.value for text in plan.texts}
        self._metrics = []
        for metric in plan.metrics:
            read = mentioned([metric.share.found])
            read |= mentioned(value for name, value in texts.items() if name in read)
            names = [each.name for each in plan.inputs if each.name in read]
            is_of_missing = metric.common.of == "missing"
            is_matched = is_of_missing or metric.semantic is not None
            semantic = metric.semantic or Semantic(embedding.near)
            self._metrics.append((metric.name, semantic, is_of_missing, names if is_matched else []))

    def matches(self, inputs: JsonMapping, scored: Scored) -> dict[str, list[JsonObject]]:
        """Return by metric at most one match for each missing phrase: `phrase`, `text`, `in`, `similarity`, `negated`
        when one of the two negates the other, and `counted` when it counts. A negation never counts for a phrase that
        has to be found; for an unwanted phrase it does, because the mention is the harm."""
        matches: dict[str, list[JsonObject]] = {}
        for at, (name, semantic, is_of_missing, names) in enumerate(self._metrics):
            best = [self._match(phrase, inputs, names, semantic.threshold) for phrase in scored.missing[at] if names]
            matches[name] = [match for match in best if match is not None]
            for match in matches[name]:
                if semantic.counts and not (is_of_missing and "negated" in match):
                    match["counted"] = True
        return matches

    def _match(
        self, phrase: str, inputs: Mapping[str, object], names: list[str], threshold: float
    ) -> JsonObject | None:
        """Return the most similar words that are not a negation, else the most similar negation, else None."""
        size = len(_WORD.findall(phrase))
        if not size:
            return None
        parts = [_Part(name, text, phrase) for name, text in parts_of(inputs, names)]
        coarse = [window for part in parts for window in part.windows(size)][:_MAX_WINDOWS]
        similarities = self._similarities(phrase, coarse)
        for negated in (False, True):
            scored = [pair for pair in zip(similarities, coarse, strict=True) if pair[1].negated is negated]
            if not scored:
                continue
            best = max(scored, key=_rank)
            part = next(part for part in parts if part.name == best[1].part)
            fine = [window for window in part.around(best[1], size) if window.negated is negated]
            similarity, window = max([best, *zip(self._similarities(phrase, fine), fine, strict=True)], key=_rank)
            if similarity >= threshold:
                match = {"phrase": phrase, "text": window.text, "in": window.part, "similarity": similarity}
                return {**match, "negated": True} if negated else match
        return None

    def _similarities(self, phrase: str, windows: Sequence[_Window]) -> list[float]:
        """Return the similarity of each window, rounded as in the report; -1 when the embedding has no vector."""
        own, *others = self._embedding.embed([phrase, *(window.text for window in windows)])
        return [-1.0 if own is None or other is None else round(cosine(own, other), 3) for other in others]


def _rank(pair: tuple[float, _Window]) -> tuple[float, int]:
    """Sort key: similarity, and among equals the shorter window."""
    similarity, window = pair
    return similarity, window.first - window.last


class _Part:
    """A text that is searched by runs of its words."""

    def __init__(self, name: str, text: str, phrase: str) -> None:
        self.name = name
        self._text = text
        self._words = [match.span() for match in _WORD.finditer(text)]
        self._phrase_negated = is_negated(phrase)

    def windows(self, size: int) -> Iterator[_Window]:
        """Yield runs of `size` + 1 words, each starting half a phrase after the last, so that every run is nearly
        covered."""
        length = min(size + 1, len(self._words))
        starts = range(0, len(self._words) - length + 1, max(1, size // 2))
        yield from (self._window(at, length) for at in dict.fromkeys([*starts, len(self._words) - length]) if length)

    def around(self, window: _Window, size: int) -> Iterator[_Window]:
        """Yield runs of about `size` words that start up to `size` words before or after the start of `window`."""
        for first in range(max(0, window.first - size), min(len(self._words), window.first + size + 1)):
            for length in dict.fromkeys((max(size - 1, 1), size, size + 1, size + 2)):
                if first + length <= len(self._words):
                    yield self._window(first, length)

    def _window(self, first: int, length: int) -> _Window:
        start, end = self._words[first][0], self._words[first + length - 1][1]
        negated = is_negated(self._text, start, end) is not self._phrase_negated
        return _Window(self.name, self._text[start:end], first, first + length, negated)


def cosine(one: Sequence[float], two: Sequence[float]) -> float:
    """Return the cosine similarity of two vectors, from -1 to 1; 0 for a zero vector."""
    length = math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in two))
    return math.fsum(a * b for a, b in zip(one, two, strict=True)) / length if length else 0.0


_WORDS_BEFORE: Final = 6
_CONTEXT: Final = 200  # characters before and after that are searched
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|den(?:y|ies|ied|ying)|lack(?:s|ed|ing)?"
    r"|absen(?:t|ce)|negative|free of|fail(?:s|ed|ing)? to|unable to|rul(?:e|es|ed|ing) out|exclud(?:e|es|ed|ing)"
    r"|unlikely)\b",
    re.IGNORECASE,
)
_NEGATION_AFTER: Final = re.compile(
    r"[^\w.;,!?\n]*(?:(?:was|were|is|are|has|have|had|been|be|being|could)\s+)*"
    r"(?:not|never|\w+n['’]t|cannot|denied|absent|negative|ruled out|excluded|unlikely)\b",
    re.IGNORECASE,
)
_CLAUSE_ENDS: Final = re.compile(r"[.;:,!?\n]|\b(?:but|however|although|though|except)\b", re.IGNORECASE)


def is_negated(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether `text[start:end]` is negated in English: by words in it, shortly before it in its clause, or right after
    it. Two negations cancel out; antonyms ("kept" for "broken") are not detected."""
    end = len(text) if end is None else end
    before = _CLAUSE_ENDS.split(text[max(0, start - _CONTEXT) : start])[-1]
    near = " ".join(before.split()[-_WORDS_BEFORE:])
    negations = len(_NEGATION.findall(near)) + len(_NEGATION.findall(text[start:end]))
    after = _NEGATION_AFTER.match(text[end : end + _CONTEXT])
    return (negations + (after is not None)) % 2 == 1


BUDGETS: Final = (4000, 8000, 16000)  # tokens of the reply, by attempt
SILENT: Final = "the text to judge is empty"
_FENCE: Final = "~~~"


class CaseJudge:
    """Asks a judge the questions of a scorecard, one for each case and metric, but none about an empty list.

    An empty text is not sent, and counts as a question without an answer.
    """

    def __init__(self, plan: CaseScorecardPlan, judge: Judge) -> None:
        self._questions = [(metric.name, metric.judge) for metric in plan.metrics if metric.judge is not None]
        self._judge = judge
        self.verdicts: dict[str, dict[str, int]] = {name: {} for name, _ in self._questions}
        self.unanswered: dict[str, dict[str, int]] = {}  # questions without a usable reply: by metric, by reason
        self.why_given_up = ""  # the cause for which later questions were not put

    def judge_case(self, test_id: str, inputs: JsonMapping) -> dict[str, JsonObject]:
        """Return by metric `{verdict, rationale}`, with `counted` when it counts. Without a usable reply after three
        attempts the verdict is UNCLEAR, with `unanswered` and the reason as rationale."""
        answers: dict[str, JsonObject] = {}
        for name, question in self._questions:
            subject = inputs[question.of]
            if subject or isinstance(subject, str):  # an empty list holds nothing to object to
                silent = isinstance(subject, str) and not says_something(subject)
                answer = answers[name] = _unanswered(SILENT) if silent else self._ask(test_id, name, question, subject)
                if question.unclear is not None:
                    answer["counted"] = True
                counts = self.verdicts[name]
                counts[answer["verdict"]] = counts.get(answer["verdict"], 0) + 1
                if "unanswered" in answer:
                    reasons = self.unanswered.setdefault(name, {})
                    reasons[answer["rationale"]] = reasons.get(answer["rationale"], 0) + 1
        return answers

    def _ask(self, test_id: str, metric: str, question: Question, subject: Any) -> JsonObject:
        prompt = f"{question.prompt.rstrip()}\n\n{_fence(subject)}"
        problem = "no reply"
        for attempt, budget in enumerate(BUDGETS):
            try:
                raw = self._judge.ask(JudgeRequest(test_id, metric, prompt, budget, 0.0, 0, attempt))
                if raw is not None:
                    reply = strict(raw)
                    rationale = reply.get("rationale")
                    return {"verdict": reply["verdict"], "rationale": rationale if isinstance(rationale, str) else None}
            except UnansweredError as error:
                problem = str(error)
                break
            except JudgeError as error:
                problem = str(error)
            except RuntimeFailure as error:  # the model's client has retried already
                problem = f"the judge failed: {error}"
                if isinstance(error, OutageError):
                    self.why_given_up = error.cause
                break
            except Exception as error:  # a judge may be third-party code: an error is not a usable reply
                problem = f"the judge failed: {type(error).__name__}"
        return _unanswered(problem)


def _unanswered(problem: str) -> JsonObject:
    return {"verdict": "UNCLEAR", "rationale": problem, "unanswered": True}


class QuestionCollector:
    """A judge that records requests and answers none."""

    def __init__(self) -> None:
        self.questions: list[JudgeRequest] = []

    def ask(self, request: JudgeRequest) -> str:
        """Record the request. Raises UnansweredError, so that it is not retried."""
        self.questions.append(request)
        raise UnansweredError("nobody is asked yet")


def _fence(subject: Any) -> str:
    """Return the subject as fenced text; a fence within it is defused."""
    lines = [subject] if isinstance(subject, str) else [f"- {text}" for text in subject]
    body = "\n".join(lines).replace(_FENCE, "~ ~ ~")
    return f"{_FENCE}\n{body}\n{_FENCE}"
