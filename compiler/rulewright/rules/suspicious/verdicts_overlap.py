import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import repeated, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.prompt_prose import QUOTED, examples, paragraphs_by_subject
from rulewright.documents.prose_limits import limits_in
from rulewright.load import Scalar, place
from rulewright_runtime.plan.part import VERDICTS

NEAR: Final = 60  # characters before an example that may introduce it
MOST: Final = 20  # phrases of a prompt that are compared with others
VERDICT: Final = "|".join(VERDICTS)
LINE: Final = re.compile(rf"\n[ \t]*(?:Failure verdict )?({VERDICT})\b(?= if\b|:)")
# What closes a list of examples: `These are PASS or UNCLEAR, not FAIL.`
CLOSING: Final = re.compile(
    rf"(?:T(?<!\w.)hey|T(?<!\w.)hese|A(?<!\w.)ll of these) are ((?:(?:{VERDICT})(?: or |, )?)+)"
)
RANGE: Final = re.compile(r"(?P<text>(?P<low>\d(?<!\w.)\d{0,5})(?:-|\u2013| to )(?P<high>\d{1,6}) (?P<unit>[a-z]+))")
NEITHER: Final = re.compile(r"\b(?:does|do|did) not (\w+)\b[^.;]{0,120}? or (?:does|do|did) not (\w+)", re.IGNORECASE)
EITHER: Final = r"\b{}s?\b[^.;]{{0,120}}? or {}s?\b"  # of the verbs of `NEITHER`
# What comes before an example, and not before words that are spoken about.
EXEMPLARY: Final = re.compile(r"(?:^|[-*:(,]|\blike|\bsuch as|e\.g\.,?)\s*$")
SILENT: Final = re.compile(
    r"\b(?:says? nothing about|(?:does not|doesn't|never) (?:mentions?|discuss(?:es)?)) (?:(?:the|its|any) )?(\w+)",
    re.IGNORECASE,
)
UNSAID: Final = re.compile(
    r"\b(?:assistant|answer|model|reply|response)\b[^.;]{0,20}\b(?:no|nothing about) (\w+)", re.IGNORECASE
)
OPTIONAL: Final = re.compile(r"\b(?:do|does|need) not (?:require|need) ([^.;]+)", re.IGNORECASE)
LACKING: Final = re.compile(
    r"\bNo ((?:[\w/-]+ ){2,4}?)(?:is |was |are |were )?(?:disclosed|expressed|given|mentioned|present|stated|in)\b"
)


def verdicts_overlap(check: CheckDocument) -> Findings:
    """A prompt explains one answer as two verdicts.

    Why it matters: judges decide such an answer differently from vote to vote. The same example is listed under two
    verdicts, two ranges share a number ("1-2 sentences", "2-3 sentences"), an answer has one part of two, of which FAIL
    misses either and PASS needs either, or silence is PASS and NOT_APPLICABLE.
    Instead: decide for one of the verdicts, and write `and` for `or` where both parts are needed.
    """
    prompt = check.prompt
    if prompt is None:
        return
    parts = [*_explanations(prompt.text)]
    for (one, start, end), (other, its_start, its_end), what in (
        *_same_examples(prompt.text, parts),
        *_shared_numbers(parts),
        *_half_met(parts),
        *_silent(parts),
    ):
        notes = [(place(prompt, its_start, its_end), f"{other} here")]
        yield warning(place(prompt, start, end), f"{what} is {one} here, but {other} elsewhere", notes=notes)
    yield from _not_required(check, prompt, parts)


Part = tuple[str, int, str]  # a verdict, and the offset and text of what explains it
Place = tuple[str, int, int]  # a verdict, and the start and end of a text about it


def _explanations(prompt: str) -> Iterator[Part]:
    """The paragraphs and lines of a prompt that explain a verdict, with the lists below; line breaks are spaces."""
    for subject, start, paragraph in paragraphs_by_subject(prompt):
        starts = {0: subject} | {found.start(): found[1] for found in LINE.finditer(f"\n{paragraph}")}
        for (at, verdict), end in zip(starts.items(), [*starts, len(paragraph)][1:], strict=True):
            if verdict in VERDICTS:
                yield verdict, start + at, paragraph[at:end].replace("\n", " ")


def _same_examples(prompt: str, parts: list[Part]) -> Iterator[tuple[Place, Place, str]]:
    """Examples that are listed under two verdicts."""
    listed = [
        (verdict, at + offset, text)
        for verdict, at, part in parts
        for offset, text in examples(part)
        if EXEMPLARY.search(part, max(0, offset - NEAR), offset - 1)
    ]
    for closing in islice(CLOSING.finditer(prompt), MOST):
        verdicts = " or ".join(re.findall(VERDICT, closing[1]))
        start = prompt.rfind("\n\n", 0, closing.start()) + 1
        quoted = QUOTED.finditer(prompt, start, closing.start())
        listed += [(verdicts, each.start(1), each[1]) for each in quoted if each[1]]
    for one, other in repeated(listed, lambda each: " ".join(each[2].lower().split()).strip(".,!?")):
        if one[0] != other[0]:
            yield _of(*one), _of(*other), f"`{' '.join(one[2].split()).strip(',.')}`"


def _of(verdict: str, start: int, text: str) -> Place:
    return verdict, start, start + len(text)


def _shared_numbers(parts: list[Part]) -> Iterator[tuple[Place, Place, str]]:
    """Ranges and limits of two verdicts of which one ends with the number that the other begins with."""
    ends: dict[tuple[bool, float, str], Place] = {}  # by whether it is the higher end, the number and the unit
    for verdict, at, text in parts:
        for low, high, unit, written in _ranges(text):
            here = _of(verdict, at + text.index(written), written)
            for number, other in ((low, (True, low, unit)), (high, (False, high, unit))):
                before = ends.get(other)
                if before is not None and before[0] != verdict:
                    yield here, before, f"an answer with {number:g} {unit}s"
                    return
            ends.setdefault((False, low, unit), here)
            ends.setdefault((True, high, unit), here)


def _ranges(text: str) -> Iterator[tuple[float, float, str, str]]:
    """The lowest and highest number of each range or limit of a text, with the unit and the words."""
    for found in RANGE.finditer(text):
        yield float(found["low"]), float(found["high"]), found["unit"].rstrip("s"), found["text"]
    for limit in limits_in(text):
        if limit.operator in ("<=", ">=") and limit.unit:
            low, high = (-math.inf, limit.number) if limit.operator == "<=" else (limit.number, math.inf)
            yield low, high, limit.unit.rstrip("s"), limit.text


def _half_met(parts: list[Part]) -> Iterator[tuple[Place, Place, str]]:
    """FAIL where one of two is missing, and PASS where one of the two is there."""
    for at, fails in islice(_found(NEITHER, "FAIL", parts), MOST):
        either = re.compile(EITHER.format(fails[1], fails[2]), re.IGNORECASE)
        for its_at, passes in _found(either, "PASS", parts):
            what = f"an answer that does not {fails[1]} or does not {fails[2]}"
            yield _of("PASS", its_at, passes[0]), _of("FAIL", at, fails[0]), what
            return


def _silent(parts: list[Part]) -> Iterator[tuple[Place, Place, str]]:
    """An assistant that does not talk about something: PASS, and NOT_APPLICABLE."""
    unsaid = {found[1].lower(): (at, found[0]) for at, found in _found(UNSAID, "NOT_APPLICABLE", parts)}
    for at, silent in _found(SILENT, "PASS", parts):
        if (its := unsaid.get(silent[1].lower())) is not None:
            what = f"an answer that says nothing about {silent[1]}"
            yield _of("NOT_APPLICABLE", *its), _of("PASS", at, silent[0]), what
            return


def _found(pattern: re.Pattern[str], verdict: str, parts: list[Part]) -> Iterator[tuple[int, re.Match[str]]]:
    """Where the explanations of a verdict match, with the offset in the prompt."""
    for of, at, text in parts:
        for found in pattern.finditer(text) if of == verdict else ():
            yield at + found.start(), found


def _not_required(check: CheckDocument, prompt: Scalar, parts: list[Part]) -> Findings:
    """What a rule does not require, and without which the prompt says NOT_APPLICABLE."""
    lacking = list(islice(_found(LACKING, "NOT_APPLICABLE", parts), MOST))
    for rule in filter(None, (scalar(check.node, key) for key in ("pass_rule", "fail_rule"))):
        for optional in islice(OPTIONAL.finditer(rule.text.replace("\n", " ")), MOST):
            for at, found in lacking:
                if {*found[1].lower().split()} <= {*optional[1].lower().split()}:
                    message = f"NOT_APPLICABLE without {found[1].strip()} here, but the rule does not require it"
                    yield warning(place(prompt, at, at + len(found[0])), message, notes=[(rule, "the rule")])
                    return
