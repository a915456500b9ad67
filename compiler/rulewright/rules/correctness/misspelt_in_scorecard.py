from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from typing import Final, TypeAlias

from rulewright.diagnostics import Findings, Guess, Span, error
from rulewright.documents.base import text_scalars
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.expression.syntax_tree import Binary, Expr, Literal, Select
from rulewright.load import place
from rulewright.lower.expressions_of import expressions_of
from rulewright.project import Project
from rulewright.spelling import is_spelt_like

Word: TypeAlias = tuple[str, Span]
Part: TypeAlias = tuple[str, int, int]  # a word, and its start and end in the expression
# The outputs that reports read, and the numbers that verifiers write about a verdict.
OUTPUTS: Final = (
    "overall_score", "status", "gates", "hard_fail", "hard_fail_reasons", "dimension_scores", "blindspot_profile",
)  # fmt: skip
EXTRA: Final = ("items_expected", "items_met", "level", "points", "weight", "unverified_fail")


def misspelt_in_scorecard(project: Project) -> Findings:
    """A scorecard misspells a tag of checks, an output that reports read, or a field of `v.extra`.

    Why it matters: a misspelt tag selects no check, reports do not show a misspelt output, and a misspelt field is
    absent in every verdict.
    Instead: correct the spelling. The rule knows the tags of the project's checks, the outputs that reports read, and
    the names that the project's scorecards use several times.
    """
    cards = project.scorecards.values()
    used = {each.text for check in project.checks for each in text_scalars(check.node, "secondary_tags")}
    tags = {id(card): [*_words(card, _tag)] for card in cards}
    fields = [word for card in cards for word in _words(card, _extra)]
    outputs = [(name, card.key_place("output", name)) for card in cards for name, _ in card.output]
    usual_tags, usual_outputs = _usual(word for words in tags.values() for word in words), _usual(outputs)
    yield from _misspelt(fields, [*EXTRA, *_usual(fields)], "no verdict has `extra.{}`")
    for card in cards:
        known = usual_tags | (used if _is_for(tags[id(card)], used) else set())
        yield from _misspelt(tags[id(card)], known, "no check has the tag `{}`", but=used)
        own = [(name, card.key_place("output", name)) for name, _ in card.output]
        known = {*OUTPUTS, *usual_outputs} - {name for name, _ in own}
        yield from _misspelt(own, known, "nothing reads the output `{}`", but={*OUTPUTS, *usual_outputs})


def _is_for(tags: list[Word], used: set[str]) -> bool:
    """Whether checks have at least half of a scorecard's tags; otherwise it belongs to another project."""
    distinct = {tag for tag, _ in tags}
    return 2 * len(distinct & used) >= len(distinct)


def _misspelt(words: list[Word], known: Collection[str], message: str, but: Container[str] = ()) -> Findings:
    """Findings for unknown words that are spelt like a known one."""
    for word, where in words:
        near = next((each for each in sorted(known) if is_spelt_like(word, each)), None)
        if near is not None and word not in known and word not in but:
            yield error(where, message.format(word), help=Guess(near))


def _usual(words: Iterable[Word]) -> set[str]:
    """The words that occur several times."""
    return {word for word, count in Counter(word for word, _ in words).items() if count > 1}


def _words(card: ScorecardDocument, read: Callable[[Expr], Part | None]) -> Iterator[Word]:
    for written in expressions_of(card):
        for part in written.parts:
            found = read(part)
            if found is not None:
                word, start, end = found
                yield word, place(written.scalar, start, end)


def _tag(part: Expr) -> Part | None:
    """The tag that a part looks for among those of a check."""
    if not isinstance(part, Binary) or part.operator != "in" or not isinstance(part.left, Literal):
        return None
    is_tag = isinstance(part.right, Select) and part.right.field == "secondary_tags"
    word, span = part.left.value, part.left.span
    return (word, span.start, span.end) if is_tag and isinstance(word, str) else None


def _extra(part: Expr) -> Part | None:
    """The field of `extra` that a part reads."""
    if isinstance(part, Select) and isinstance(part.operand, Select) and part.operand.field == "extra":
        return part.field, part.span.end - len(part.field), part.span.end
    return None
