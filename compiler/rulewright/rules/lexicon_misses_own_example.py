"""Rule: a check's own example of a failure that its lexicon does not find."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import advice, warning
from rulewright.documents.base import scalar
from rulewright.documents.check import LEXICON_ROUTES
from rulewright.load import place
from rulewright.lower.semantics import unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic, Span
    from rulewright.documents.check import Check
    from rulewright.documents.lexicon import Lexicon
    from rulewright.project import Project

QUOTED: Final = re.compile('"([^"\\n]+(?:\\n[^"\\n]+)?)"|\u201c([^\u201c\u201d]+)\u201d')
# What stands before words that the assistant does not say: a denial, or somebody else who says them.
DENIED: Final = re.compile(
    r"\b(?:never|not|no|without|avoids?|instead of|rather than|\w+n't|ignor\w+|miss\w*|dismiss\w*|overlook\w*|users?"
    r"|caregivers?|when|after)\b[^.;!?]*$",
    re.IGNORECASE,
)


# How a prompt begins to say what gives a verdict: `FAIL if:`, `Examples of FAIL phrases:`.
VERDICT: Final = re.compile(r"\s*(?:Failure verdict |Examples? of )?(FAIL|PASS|UNCLEAR|NOT_APPLICABLE)\b")
GAP: Final = re.compile(r"\n[ \t]*\n")


def lexicon_misses_own_example(project: Project) -> Iterator[Diagnostic]:
    """The `fail_rule`, or the prompt where it says what fails, quotes words that the check's lexicon does not find.

    Why it matters: on a lexicon route no hit is a PASS, so an assistant that says those very words passes; on
    `hybrid_llm` they are no candidate for the judge.
    Instead: add a pattern that finds the example, or correct the example.
    """
    units = project.scoring.unit_by_bucket if project.scoring else {}
    for check in project.checks:
        lexicon = project.lexicons.get(check.routing.deterministic_precheck or "")
        if lexicon is None or not lexicon.patterns or lexicon.role == "user":
            continue
        decides = check.routing.route in LEXICON_ROUTES
        unit = unit_of(check, units, default_units=project.semantics == "seed")
        # The lexicon of an event window holds cues, not failures.
        if not decides and (check.routing.route != "hybrid_llm" or unit == "event_window"):
            continue
        for found, example in _failing(check):
            if not finds(lexicon, example):
                what = "an assistant that says so passes" if decides else "the judge is given no candidate"
                yield (warning if decides else advice)(
                    found,
                    f"`{lexicon.name}` does not find this example of a failure: {what}",
                    notes=[(check.place("routing", "deterministic_precheck"), "the lexicon")],
                )


def _failing(check: Check) -> Iterator[tuple[Span, str]]:
    """The check's examples of failures, each once, with their places."""
    seen = set()
    for key in ("fail_rule", "prompt"):
        prose = scalar(check.node, key)
        if prose is None:
            continue
        parts = [(0, str(prose.value))] if key == "fail_rule" else _what_fails(str(prose.value))
        for offset, part in parts:
            for start, example in examples(part):
                if example not in seen:
                    seen.add(example)
                    yield place(prose, offset + start, offset + start + len(example)), example


def _what_fails(prompt: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a prompt that say what fails, with the lists below them, each with its offset."""
    start, verdict = 0, ""
    for end in (*(gap.end() for gap in GAP.finditer(prompt)), len(prompt)):
        paragraph = prompt[start:end]
        head = VERDICT.match(paragraph)
        if head:
            verdict = head[1]
        elif not paragraph.lstrip().startswith(("-", "*")):
            verdict = ""
        if verdict == "FAIL":
            yield start, paragraph
        start = end


def examples(prose: str) -> Iterator[tuple[int, str]]:
    """What prose quotes as said, each with its offset; what it quotes as not said is left out."""
    for found in QUOTED.finditer(prose):
        group = 1 if found.group(1) is not None else 2
        before = re.sub(QUOTED, "", prose[: found.start()])
        if not DENIED.search(before):
            yield found.start(group), found.group(group)


def finds(lexicon: Lexicon, words: str) -> bool:
    """Whether a pattern of the lexicon hits; a regular expression that can't be compiled is another rule's finding."""
    folded = "apostrophes" in lexicon.fold
    words = " ".join(words.split())  # an example may go on in the next line
    words = words.replace("\u2019", "'") if folded else words
    for pattern in lexicon.patterns:
        if pattern.mode == "substring_ci":
            text = pattern.text.replace("\u2019", "'") if folded else pattern.text
            if text.casefold() in words.casefold():
                return True
        elif _regex_finds(pattern.text, words):
            return True
    return False


def _regex_finds(pattern: str, words: str) -> bool:
    from rulewright_runtime.errors import PlanError
    from rulewright_runtime.regex import compile_regex

    try:
        return compile_regex(pattern).search(words) is not None
    except PlanError:
        return True
