"""Rule: a prompt that explains PASS and FAIL the other way round, or names an unknown verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import scalar
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar, place
from rulewright.spelling import Guess, is_slip_of
from rulewright_runtime.plan.part import VERDICTS

NAMED: Final = r"[ \t]*([A-Z][A-Z_]{2,})(?::| if\b)"  # a word explained in a line of its own
LINE: Final = re.compile(rf"^{NAMED}(.*(?:\n(?!{NAMED.replace('(', '(?:', 1)}|\n).*)*)", re.MULTILINE)
WORD: Final = re.compile(
    r"([A-Z](?<!\w.)[A-Z_]{2,})(?::| if\b)"
)  # anywhere; it starts with a letter, because a search for that is fast
EVIDENCE: Final = re.compile(r"For (PASS|UNCLEAR|NOT_APPLICABLE),? (?:quote|cite)\b")
# A sentence without a condition: `Answer FAIL if a price is on no list` may stand anywhere.
AND_THEN: Final = re.compile(
    r"\b(?:Answer|Reply|Give|Say|Return) (PASS|FAIL|UNCLEAR|NOT_APPLICABLE)(?: (?:here|instead|then))?[.;]"
)
NEGATION: Final = re.compile(r"\b(?:no|not|never|cannot|nobody|nothing|without)\b|n't\b", re.IGNORECASE)
DENIES: Final = re.compile(r" ?(?:the \w+|it|they|\w+) (?:does not|do not|did not|is not|never) \w+", re.IGNORECASE)
PREDICATE: Final = re.compile(r"^:? ?(?:the |an? )?\w+ (\w+(?: \w+){1,3})\.?\s*$")  # `the customer can pay`
CLAUSE: Final = 2  # words that a clause has
ALIKE: Final = 2  # words that two texts share beyond those of the other pair
SHORTEST: Final = 4  # letters of a word that says something


def prompt_contradicts_rules(check: CheckDocument) -> Iterator[Diagnostic]:
    """A prompt explains a verdict in the words of the other or without its negation, or an unknown one.

    Why it matters: the judge follows the prompt, readers follow the rules, and each believes the opposite. An unknown
    verdict is an unusable reply.
    Instead: exchange the explanations, or write the name of the verdict.
    """
    if check.prompt is None or not isinstance(check.prompt.value, str):
        return
    text = check.prompt.value
    words = [*WORD.finditer(text)]
    slips = _misspelt({found[1] for found in words if not found[1].startswith(VERDICTS)}, text)
    for found in words:
        if found[1] in slips:
            yield warning(place(check.prompt, *found.span(1)), f"`{found[1]}` is not a verdict", help=slips[found[1]])
    lines = {found[1]: found for found in LINE.finditer(text) if found[1] not in slips}
    lacking = [each for each in VERDICTS if each not in lines]
    ends = {found.end() + 1 for word, found in lines.items() if word in VERDICTS}  # of the explanations
    for word, found in lines.items():
        is_one = len(lacking) == 1 and found.start() in ends and not text.startswith(":", found.end(1))
        near = next((each for each in lacking if is_one or _start(each) == _start(word)), None)
        if word not in VERDICTS and near is not None:
            yield warning(place(check.prompt, *found.span(1)), f"`{word}` is not a verdict", help=Guess(near))
        inner = AND_THEN.search(found[2])
        if word in VERDICTS and inner is not None and inner[1] != word:
            at = found.start(2)
            message = f"the prompt asks for {inner[1]} where it explains {word}"
            yield warning(place(check.prompt, at + inner.start(), at + inner.end()), message)
    wrong = EVIDENCE.search(text)
    within = next((word for word, found in lines.items() if wrong and found.start() < wrong.start() < found.end()), "")
    if wrong is not None and "for fail" not in text.lower() and within != wrong[1]:
        message = f"evidence is needed for FAIL, but the prompt asks for it for {wrong[1]}"
        yield warning(place(check.prompt, *wrong.span(1)), message, help=Guess("FAIL"))
    yield from _swapped(check, lines)
    yield from _denied(check, check.prompt, lines)


def _swapped(check: CheckDocument, lines: dict[str, re.Match[str]]) -> Iterator[Diagnostic]:
    """A finding where the explanations of PASS and FAIL have the words of the rule for the other."""
    rules = [scalar(check.node, key) for key in ("pass_rule", "fail_rule")]
    passes, fails = (_words(str(each.value)) if each is not None else set[str]() for each in rules)
    if check.prompt is None or not {"PASS", "FAIL"} <= lines.keys() or not passes or not fails:
        return
    told = {word: _words(lines[word][2]) for word in ("PASS", "FAIL")}
    straight = len(told["PASS"] & passes - fails) + len(told["FAIL"] & fails - passes)
    crossed = len(told["PASS"] & fails - passes) + len(told["FAIL"] & passes - fails)
    if crossed >= straight + ALIKE:
        notes = [(each, "the rule") for each in rules if each is not None]
        message = "the prompt explains PASS and FAIL in the words of the rule for the other"
        yield warning(place(check.prompt, *lines["PASS"].span(1)), message, notes=notes)


def _denied(check: CheckDocument, prompt: Scalar, lines: dict[str, re.Match[str]]) -> Iterator[Diagnostic]:
    """The explanations and rules that differ by a negation, and a rule for what is not applicable."""
    rules = {word: scalar(check.node, key) for word, key in (("PASS", "pass_rule"), ("FAIL", "fail_rule"))}
    note = scalar(check.node, "note")
    for word, rule in rules.items():
        if rule is None:
            continue
        for one in _clauses(lines[word][2]) if word in lines else ():
            if any(_words(one) == _words(other) and _is_denied(one) != _is_denied(other) for other in _clauses(rule)):
                message = f"the prompt and `{word.lower()}_rule` differ by a negation: `{one}`"
                yield warning(place(prompt, *lines[word].span(2)), message, notes=[(rule, "the rule")])
        unfit = PREDICATE.search(lines["NOT_APPLICABLE"][2]) if "NOT_APPLICABLE" in lines else None
        if unfit is not None and re.search(rf"\b{re.escape(unfit[1])}\b", str(rule.value)):
            message = f"`{unfit[1]}` is NOT_APPLICABLE in the prompt, but `{word.lower()}_rule` is about it"
            yield warning(rule, message, notes=[(place(prompt, *lines["NOT_APPLICABLE"].span(2)), "said here")])
    if note is not None and "FAIL" in lines and DENIES.match(str(note.value)) and DENIES.match(lines["FAIL"][2][1:]):
        message = "the note and the explanation of FAIL both deny something"
        yield warning(place(prompt, *lines["FAIL"].span(2)), message, notes=[(note, "the note")])


def _clauses(text: Scalar | str) -> list[str]:
    """The clauses of a text that are long enough to tell something."""
    parts = re.split(r"[.;:,]\s|\n|\band\b", text if isinstance(text, str) else str(text.value))
    return [each.strip(" .:") for each in parts if len(_words(each)) >= CLAUSE]


def _is_denied(clause: str) -> bool:
    return len(NEGATION.findall(clause)) % 2 == 1


def _misspelt(words: set[str], text: str) -> dict[str, Guess]:
    """The words that misspell a verdict, with it: one that a prompt with other verdicts does not name."""
    meant = {word: near for word in words if (near := [each for each in VERDICTS if is_slip_of(word, each)])}
    named = [each for each in VERDICTS if meant and re.search(rf"\b{each}\b", text)]
    unnamed = {word: [each for each in near if each not in named] for word, near in meant.items() if named}
    return {word: Guess(near[0]) for word, near in unnamed.items() if near}


def _start(word: str) -> str:
    """The first letters of a verdict, which also its misspellings have."""
    return word.replace("_", "")[:4]


def _words(text: str) -> set[str]:
    return {each.lower()[:6] for each in re.findall(r"[A-Za-z]+", text) if len(each) >= SHORTEST}
