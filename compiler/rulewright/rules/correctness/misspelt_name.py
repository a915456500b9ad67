import re
from collections import Counter
from typing import Final

from rulewright.diagnostics import Findings, Guess, error, replace, warning
from rulewright.documents.base import entries, items, scalar, text, text_scalars
from rulewright.load import Scalar
from rulewright.project import Project
from rulewright.spelling import did_you_mean, is_spelt_like, suggest
from rulewright_runtime.english import plural

DECLARED: Final = {"buckets": "primary_bucket", "severities": "severity"}  # declared words, and the key that uses them
SOUGHT: Final = (("eligibility", "scenario_tags_any"), ("routing", "safety_override_suppressed_by"))
TAGS: Final = ("failure_mode_tags", "tags")  # of a scenario
DIGIT: Final = re.compile(r"\d")
SHORTEST: Final = 5  # letters of a tag: shorter ones differ by one letter often enough


def misspelt_name(project: Project) -> Findings:
    """A declared word, a tag or the judge's model differs by one letter from the usual one, or is not declared.

    Why it matters: what is meant to be one group is two, and a selection by name misses a part of it.
    Instead: use one spelling, or declare the word in the vocabulary.
    """
    yield from _declared(project)
    yield from _judge_model(project)
    yield from _priced_models(project)
    yield from _tags(project)


def _declared(project: Project) -> Findings:
    """Declared words that no check uses while several use a similar one, and words of several checks that are missing
    from a list."""
    for part, key in DECLARED.items():
        used = Counter(found.text for each in project.checks if (found := scalar(each.node, key)))
        words = None if project.file is None else project.file.get("vocabulary", part)
        listed = [each for each in items(words) if isinstance(each, Scalar)]
        known = {each.text for each in listed}
        unknown = [word for word in used if used[word] > 1 and word not in known]
        for each in listed:
            meant = next((word for word in unknown if suggest(word, known) == each.value), None)
            if meant is not None and each.text not in used:
                message = f"no check has the {key} `{each.value}`, but {used[meant]} have `{meant}`"
                yield error(each, message, help=Guess(meant))
        lacking = [word for word in unknown if not did_you_mean(word, known)] if listed else []
        if lacking and words is not None and words.source.text[words.start] == "[":
            message = f"`{part}` does not declare `{lacking[0]}`, the {key} of {plural(used[lacking[0]], 'check')}"
            written = f"{words.source.text[words.start : words.end - 1].rstrip()}, {', '.join(lacking)}]"
            yield error(words, message, fix=replace(words, written, f"write `{written}`", safe=False))


def _judge_model(project: Project) -> Findings:
    """The judge's model, or a price, under a name that differs from that of the other."""
    model = None if project.file is None else scalar(project.file.node, "judge", "model")
    near = None if model is None else suggest(model.text, project.pricing)
    if model is not None and near is not None and model.value not in project.pricing:
        written = model.text
        text = "" if project.file is None else project.file.node.source.text
        own, other = (len(re.findall(rf"(?<![\w-]){re.escape(each)}(?![\w-])", text)) for each in (written, near))
        is_usual = own > max(other, 1)
        if is_usual and is_spelt_like(written, near):  # so the other is misspelt
            price = project.roots["pricing"].key_span(near)
            yield error(price, f"no model is called `{near}`, and `{written}` has no price", help=Guess(written))
        else:
            yield error(model, f"no price is known for the model `{written}`", help=Guess(near))


def _priced_models(project: Project) -> Findings:
    """The price of a model that is not declared, while one with a similar name is, and has no price."""
    file = None if project.file is None else project.file.node
    declared = [each.name for each in entries(file, "models")]
    known = {*declared, text(file, "judge", "model")}
    for name in declared:
        near = [each for each in project.pricing if each not in known and is_spelt_like(each, name)]
        strange = [each for each in near if DIGIT.findall(each) == DIGIT.findall(name)]  # else another model
        if name not in project.pricing and len(strange) == 1:
            price = project.roots["pricing"].key_span(strange[0])
            yield warning(price, f"no model is called `{strange[0]}`, and `{name}` has no price", help=Guess(name))


def _tags(project: Project) -> Findings:
    """Misspelt tags: those of checks among themselves, and those that checks look for against those of scenarios."""
    sought = [each for check in project.checks for steps in SOUGHT for each in text_scalars(check.node, *steps)]
    scenarios = project.scenarios.values()
    carried = [each for scenario in scenarios for key in TAGS for each in text_scalars(scenario.node, key)]
    sides = [{each.text for each in side} for side in (sought, carried)]
    if carried and sought:
        counts = Counter(each.text for each in (*sought, *carried))
        for each, others in [*((each, sides[1]) for each in sought), *((each, sides[0]) for each in carried)]:
            word = each.text
            near = None if word in others else next((tag for tag in others if is_spelt_like(word, tag)), None)
            if near is not None and counts[word] == 1 and counts[near] > 1 and len(word) >= SHORTEST:
                message = f"the tag `{word}` occurs only here, but `{near}` occurs {counts[near]} times"
                yield error(each, message, help=Guess(near))
