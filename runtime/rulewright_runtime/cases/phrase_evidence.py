"""Where a phrase was found, and what stands there instead of a missing one: hints for people, never counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from rulewright_runtime.cases.case_plan import CaseMetric, CaseScorecardPlan
from rulewright_runtime.cases.scoring import Scored
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.plan.scorecard import mentioned
from rulewright_runtime.strict_json import JsonMapping, JsonObject

NEAR: Final = 0.8
_WORDS: Final = 2000
_WORD: Final = re.compile(r"\S+")


class Witness:
    """Finds spans and near misses of scored cases."""

    def __init__(self, plan: CaseScorecardPlan) -> None:
        """Learn which inputs each metric searches."""
        names = [each.name for each in plan.inputs]
        texts = {text.name: text.value for text in plan.texts}
        self._texts = {name: prepare(value) for name, value in texts.items()}
        self._metrics: list[tuple[CaseMetric, list[str], list[str]]] = []
        for metric in plan.metrics:
            read = mentioned([metric.share.found])
            through = [name for name in texts if name in read]
            read |= mentioned(texts[name] for name in through)
            self._metrics.append((metric, [name for name in names if name in read], through))

    def testify(self, inputs: JsonMapping, scored: Scored) -> JsonObject:
        """`evidence` (by metric: phrase, `in`, `start`, `end`) and `near_misses` (phrase, `text`, `in`, `similarity`).

        Offsets count characters of the named part; a phrase that spans two parts is placed in the joined text.
        """
        evidence: dict[str, list[JsonObject]] = {}
        near: dict[str, list[JsonObject]] = {}
        for at, (metric, names, through) in enumerate(self._metrics):
            parts = list(parts_of(inputs, names))
            joined = [(name, str(self._texts[name](inputs))) for name in through]
            evidence[metric.name] = [_span(phrase, [*parts, *joined]) for phrase in scored.found[at]]
            hints = [_near(phrase, parts) for phrase in scored.missing[at]]
            near[metric.name] = [hint for hint in hints if hint is not None]
        return {"evidence": evidence, "near_misses": near}


def parts_of(inputs: JsonMapping, names: list[str]) -> Iterator[tuple[str, str]]:
    """The texts of some inputs, each with its name, such as `signals[1]`."""
    for name in names:
        value = inputs[name]
        if isinstance(value, str):
            yield name, value
        else:
            yield from ((f"{name}[{at}]", text) for at, text in enumerate(value))


def _span(phrase: str, parts: list[tuple[str, str]]) -> JsonObject:
    needle = phrase.lower().strip()
    for name, text in parts:
        lowered = text.lower()
        at = lowered.find(needle)
        if at >= 0:
            start, end = at, at + len(needle)
            if len(lowered) != len(text):
                start, end = _before(text, start), _before(text, end)
            return {"phrase": phrase, "in": name, "start": start, "end": end}
    return {"phrase": phrase, "in": None, "start": None, "end": None}


def _before(text: str, lowered: int) -> int:
    """How many characters of `text` make up the first `lowered` characters of its lower-case form."""
    count = 0
    for at, char in enumerate(text):
        if count >= lowered:
            return at
        count += len(char.lower())
    return len(text)


def _near(phrase: str, parts: list[tuple[str, str]]) -> JsonObject | None:
    """The run of words most like the phrase, when it is very like it."""
    wanted = " ".join(phrase.lower().split())
    size = len(wanted.split())
    if not size:
        return None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    for sizes in ((size,), (max(size - 1, 1), size + 1)):  # as many words, else one less or more
        best = max(_likenesses(matcher, parts, sizes), default=None, key=lambda found: found[0])
        if best is not None:
            return {"phrase": phrase, "text": best[1], "in": best[2], "similarity": round(best[0], 3)}
    return None


def _likenesses(
    matcher: SequenceMatcher[str], parts: list[tuple[str, str]], sizes: tuple[int, ...]
) -> Iterator[tuple[float, str, str]]:
    """Every run of so many words that is like the phrase: how much, the words, the part."""
    for name, text in parts:
        words = [found.span() for found in _WORD.finditer(text)][:_WORDS]
        for size in sizes:
            for at in range(len(words) - size + 1):
                window = text[words[at][0] : words[at + size - 1][1]]
                matcher.set_seq1(window.lower())
                if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR:
                    yield matcher.ratio(), window, name
