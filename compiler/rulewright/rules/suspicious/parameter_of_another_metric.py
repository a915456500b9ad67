import re
from collections import Counter
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.expression.direction import COMPARISONS
from rulewright.expression.syntax_tree import Name
from rulewright.load import Scalar
from rulewright.lower.expressions_of import WrittenExpression, operations_in

CONDITIONS: Final = ("passes", "fails", "flagged")
WORD: Final = re.compile(r"\w+")


def parameter_of_another_metric(scorecard: CaseScorecardDocument) -> Findings:
    """A metric is compared with a parameter of another metric, or one of its conditions reads only another metric.

    Why it matters: changing the metric's own threshold or score has no effect here. A requirement that compares the
    thresholds of two metrics does not keep those of one in order.
    Instead: compare the metric with its own parameter, which is named after it, or with which it is compared elsewhere.
    """
    metrics = {metric.name for metric in scorecard.metrics}
    settings = {setting.name for setting in scorecard.settings}
    yield from _of_other_groups(scorecard, metrics, settings)
    for written, part in operations_in(scorecard, COMPARISONS):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(side, Name) or not isinstance(other, Name) or side.name not in metrics:
                continue
            owner = _owner(other.name, metrics) or side.name
            own = f"{side.name}{other.name.removeprefix(owner)}"
            if owner != side.name and other.name in settings and own in settings:
                message = f"`{side.name}` is compared with `{other.name}`, a parameter of `{owner}`"
                yield warning(written.span(other), message, help=Guess(own))
    yield from _weighed(scorecard, metrics, settings)
    yield from _mixed(scorecard, metrics, settings)
    yield from _foreign(scorecard, metrics)
    yield from _prose(scorecard, metrics)


def _owner(parameter: str, metrics: set[str]) -> str | None:
    """The metric that a parameter is named after; of several the one with the longest name."""
    name = parameter
    while name := name.rpartition("_")[0]:
        if name in metrics:
            return name
    return None


def _weighed(scorecard: CaseScorecardDocument, metrics: set[str], settings: set[str]) -> Findings:
    """The metrics that are multiplied by the weight of another one: `weight_kept * found`."""
    weights = {name: {f"weight_{name}", f"{name}_weight"} & settings for name in metrics}
    for written, part in operations_in(scorecard, ("*",)):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(side, Name) or not isinstance(other, Name) or not weights.get(side.name):
                continue
            owner = next((name for name, own in weights.items() if other.name in own), side.name)
            if owner != side.name:
                message = f"`{side.name}` is multiplied by `{other.name}`, a parameter of `{owner}`"
                yield warning(written.span(side), message, help=Guess(owner))


def _mixed(scorecard: CaseScorecardDocument, metrics: set[str], settings: set[str]) -> Findings:
    """The only requirement that compares the thresholds of two metrics, where all others compare those of one."""
    found: list[tuple[WrittenExpression, Name, str, str]] = []
    for written, part in operations_in(scorecard, COMPARISONS):
        if isinstance(part.left, Name) and isinstance(part.right, Name):
            one, other = _owner(part.left.name, metrics), _owner(part.right.name, metrics)
            found += [(written, part.right, one, other)] if one is not None and other is not None else []
    mixed = [each for each in found if each[2] != each[3]]
    for written, name, owner, other in mixed if len(mixed) == 1 < len(found) - 1 else ():
        own = f"{owner}{name.name.removeprefix(other)}"
        if own in settings:
            message = f"a parameter of `{owner}` is compared with `{name.name}`, a parameter of `{other}`"
            yield warning(written.span(name), message, help=Guess(own))


def _prose(scorecard: CaseScorecardDocument, metrics: set[str]) -> Findings:
    """The requirements whose message names another metric than their condition."""
    for that, otherwise in scorecard.requires:
        read = {owner for word in WORD.findall(that.text) if (owner := _owner(f"{word}_", metrics)) is not None}
        named = metrics.intersection(WORD.findall(otherwise))
        if len(read) == len(named) == 1 and read != named:
            message = f"this compares the parameters of `{min(read)}`, but the message names `{min(named)}`"
            yield warning(that, message, help=Guess(min(read)))


def _foreign(scorecard: CaseScorecardDocument, metrics: set[str]) -> Findings:
    """The only condition of a kind that reads another metric and not the one it belongs to."""
    for key in CONDITIONS:
        read: list[tuple[str, Scalar, set[str]]] = []
        for metric in scorecard.metrics:
            written: Scalar | None = getattr(metric, key)
            names = set() if written is None else metrics.intersection(WORD.findall(written.text))
            read += [(metric.name, written, names)] if written is not None and names else []
        foreign = [each for each in read if each[0] not in each[2]]
        for name, place, names in foreign if len(foreign) == 1 < len(read) else ():
            yield warning(place, f"`{key}` of `{name}` reads only `{min(names)}`", help=Guess(name))


def _of_other_groups(scorecard: CaseScorecardDocument, metrics: set[str], settings: set[str]) -> Findings:
    """The findings about groups of parameters that are not named after metrics: `facts_pass` and `facts_review`."""
    sizes = Counter(map(_group, settings))
    usual = _usual_groups(scorecard, metrics, sizes)
    for written, part in operations_in(scorecard, COMPARISONS):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if not isinstance(side, Name) or not isinstance(other, Name) or sizes[_group(other.name)] < 2:
                continue
            is_setting = side.name in settings and sizes[_group(side.name)] > 1 and side is part.left
            group = _group(side.name) if is_setting else usual.get(side.name)
            own = f"{group}{other.name.removeprefix(_group(other.name))}"
            if group in metrics or _group(other.name) in metrics:  # compared above
                continue
            if group is not None and group != _group(other.name) and own in settings - {side.name}:
                message = f"`{side.name}` is compared with `{other.name}`, not with `{own}`"
                yield warning(written.span(other), message, help=Guess(own))


def _usual_groups(scorecard: CaseScorecardDocument, metrics: set[str], sizes: Counter[str]) -> dict[str, str]:
    """The group of parameters with which a metric is compared except once, where no other metric has it."""
    compared: dict[str, Counter[str]] = {}
    for _, part in operations_in(scorecard, COMPARISONS):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if (
                isinstance(side, Name)
                and isinstance(other, Name)
                and side.name in metrics
                and sizes[_group(other.name)] > 1
            ):
                compared.setdefault(side.name, Counter())[_group(other.name)] += 1
    groups = {
        name: counts.most_common(1)[0][0]
        for name, counts in compared.items()
        if counts.total() - counts.most_common(1)[0][1] <= 1 < counts.most_common(1)[0][1]
    }
    return {
        name: group for name, group in groups.items() if group not in metrics and [*groups.values()].count(group) == 1
    }


def _group(parameter: str) -> str:
    return parameter.rpartition("_")[0]
