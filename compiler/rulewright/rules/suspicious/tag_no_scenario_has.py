from collections.abc import Iterator
from functools import partial
from operator import eq

from rulewright.diagnostics import Findings, Guess, Span, advice, warning
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import TAG_KEYS
from rulewright.documents.vocabulary import ANY
from rulewright.expression.syntax_tree import NOWHERE, Name, Select, texts_sought
from rulewright.load import scalars_below
from rulewright.lower.expressions_of import texts_in
from rulewright.lower.selection import select_everywhere
from rulewright.project import Project
from rulewright.spelling import did_you_mean


def tag_no_scenario_has(project: Project) -> Findings:
    """A check is selected or suppressed by a tag that no scenario has.

    Why it matters: the tag has no effect; if it is misspelt, the check misses the scenarios it was made for. Where
    every scenario lists its checks in `eligible_modes`, tags select none, and only tags that look misspelt are shown,
    and checks of which no scenario has any tag.
    Instead: correct the tag, give it to a scenario, or remove it.
    """
    if not project.scenarios:
        return
    known = {tag for scenario in project.scenarios.values() for tag in scenario.tags}
    is_selecting = not all(scenario.eligible_modes for scenario in project.scenarios.values())
    if known and not is_selecting:
        yield from _idle(project, known)
    for check in project.checks:
        for steps, tags in (
            (("routing", "safety_override_suppressed_by"), check.routing.safety_override_suppressed_by),
            (("eligibility", "scenario_tags_any"), check.tags),
        ):
            # The tags of a universal check never select anything.
            is_idle = check.is_universal and steps[0] == "eligibility"
            is_any = select_everywhere(tags or (), project.semantics)
            for i, tag in enumerate(tags or ()):
                guess = did_you_mean(tag, known)
                if (
                    tag not in known
                    and not (tag == ANY and is_any)
                    and (is_selecting or guess or steps[0] == "routing")
                ):
                    yield (advice if is_idle else warning)(
                        check.place(*steps, i),
                        f"no scenario has the tag `{tag}`",
                        notes=[(check.key_place(*steps), "the check is universal: no tag selects it")]
                        if is_idle
                        else _carried(guess, project),
                        help=guess,
                    )
        for tag, place in _sought(check):
            if tag not in known:
                guess = did_you_mean(tag, known)
                notes = _carried(guess, project)
                yield warning(place, f"no scenario has the tag `{tag}`", notes=notes, help=guess)


def _idle(project: Project, known: set[str]) -> Findings:
    """One finding about all checks of which no scenario has a tag."""
    tagged = [each for each in project.checks if each.tags and not each.is_universal]
    restricted = [each for each in tagged if not select_everywhere(each.tags or (), project.semantics)]
    places = [
        (check.key_place("eligibility", "scenario_tags_any"), f"no scenario has a tag of `{check.id}`")
        for check in restricted
        if known.isdisjoint(check.tags or ())
    ]
    if len(places) < len(restricted):  # otherwise these are tags of other scenarios
        for place, message in places[:1]:
            yield advice(place, message, notes=places[1:])


def _carried(guess: Guess | None, project: Project) -> list[tuple[Span, str]]:
    """Where the first scenario has the tag that was probably meant: either of the two may be misspelt."""
    tags = scalars_below(*(each.get(key) for each in project.scenarios.values() for key in TAG_KEYS))
    return [(each.span, "a scenario spells it like this") for each in tags if guess and each.value == guess.meant][:1]


def _sought(check: CheckDocument) -> Iterator[tuple[str, Span]]:
    """The tags that a check's condition looks for, with their places."""
    if check.when is None or "tags" not in check.when.text:
        return
    tags = Select(Name("scenario", NOWHERE), "tags", NOWHERE)
    yield from texts_in(check, partial(texts_sought, names=partial(eq, tags)))
