import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import entries, items, numeric, scalar, text, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.check_claims import WORDS
from rulewright.documents.prose_limits import MEASURES, NUMBER, ONE, limits_in, numbers_in, units_agree
from rulewright.load import Mapping, Scalar, Sequence, place, walk
from rulewright.project import Project
from rulewright.workflow import Workflow
from rulewright_runtime.english import plural

OTHERS: Final = ("check that is not a gate check", "checks that are not gate checks")
SHARES: Final = ("%", "percent")
LATER: Final = re.compile(rf"\bafter {NUMBER} [a-z]+|\b{NUMBER} [a-z]+ later", re.IGNORECASE)

RATIO: Final = re.compile(
    rf"\b(?P<one>\w+) (?:(?:counts|is|weighs) )?(?P<times>twice|{NUMBER}(?= times))(?: times)?"
    r" as (?:heavily|heavy|important|much) as (?:the )?(?P<other>\w+)"
)
TURNS: Final = re.compile(rf"\bevery ({NUMBER}) (?:turns|answers|replies)\b", re.IGNORECASE)
NEXT: Final = re.compile(r"\bin the (?:very )?next (?:answer|reply|message|response)\b(?! or)", re.IGNORECASE)
EACH: Final = re.compile(r" (?:per|(?:of|for|in|from) (?:each|every))\b", re.IGNORECASE)  # `two checks of each kind`
PLAIN: Final = re.compile(r"\d+(?:\.\d+)?")

# How a description calls what a number next to it counts, and the end of its key.
COUNTED: Final = {
    "vote": "repetitions",
    "votes": "repetitions",
    "repetitions": "repetitions",
    "iterations": "iterations",
    "pass": "repetitions",
    "passes": "repetitions",
    "rounds": "iterations",
    "retries": "retries",
}
COURSE: Final = frozenset({"turn", "session"})  # of which a description may mention a part: `calm for three turns`


def number_contradicts_content(subject: Project | Workflow) -> Findings:
    """A description, or the metadata next to the checks, states a number that differs from the content.

    Why it matters: reports and papers quote these numbers. A description is compared with the checks and scenarios of
    its project, the lists below it (`four tasks`), the numbers next to it (`three votes`), the default of its parameter
    (`at least 0.9`), the figures of its fact, and the time between sessions.
    Instead: correct the number, or remove it.
    """
    project = subject if isinstance(subject, Project) else None
    listed = {} if project is None else {"checks": len(project.checks), "scenarios": len(project.scenarios)}
    for root in {each.source.path: each.root for each in subject.loaded}.values():
        for node in (each for each in walk(root) if isinstance(each, Mapping)):
            description = scalar(node, "description")
            if description is not None and ONE.search(description.text):
                counts = listed if project and project.file and node is project.file.node else _lengths(node)
                yield from _of_lists(description, description.text, counts)
                yield from _of_figures(description, description.text, node)
                yield from _of_times(description, description.text, node)
                yield from _of_numbers(description, description.text, node)
                yield from _of_thresholds(description, description.text, node)
                yield from _of_named(description, description.text, node)
                yield from _of_weights(description, description.text, node)
                yield from _of_default(description, description.text, node)
    yield from _of_metadata(project) if project is not None else ()
    yield from (found for check in project.checks for found in _of_check(check, project)) if project is not None else ()


def _of_check(check: CheckDocument, project: Project) -> Findings:
    """The number of replies, or of turns between disclosures, that differs from the words of a check."""
    texts = [found for key in WORDS if (found := scalar(check.node, key)) is not None]
    within = numeric(check.node, "routing", "within_replies")
    if within is not None and within.value != 1:
        phrases = [(each, next_one[0]) for each in texts if (next_one := NEXT.search(each.text)) is not None]
        for written, words in phrases[:1]:
            message = f"the check says `{words}`, but `within_replies` is {within.value}"
            yield warning(within, message, notes=[(written, "said here")])
    if check.routing.rule != "disclosure":
        return
    read = (numeric(root, "disclosure", "cadence_turns") for root in project.rule_files.values())
    sets = [each for each in read if each is not None]
    stated = {numbers_in(one)[0][0] for each in texts for one in TURNS.findall(each.text)}
    cadences = {each.as_float for each in sets}
    if len(stated) == len(cadences) == 1 and stated != cadences:
        message = f"`{check.id}` says every {stated.pop():g} turns, but `cadence_turns` is {cadences.pop():g}"
        yield warning(sets[0], message, notes=[(texts[0], "said here")])


def _lengths(node: Mapping) -> dict[str, int]:
    """The lengths of the lists below a mapping. The parts of another one may be called the same: each of the
    `dimensions` has a `rate`."""
    parts = (part for each in node.entries for part in entries(each.value))
    also = {key.name for part in parts for key in entries(part.value) if isinstance(key.value, Mapping)} | COURSE
    return {
        each.name: _length(each.value, one)
        for each in node.entries
        if isinstance(each.value, Mapping | Sequence) and (one := each.name.removesuffix("s")) not in also
    }


def _length(part: Mapping | Sequence, one: str) -> int:
    """The number of entries or items. Rows that all name what they are counted by are counted by their names: two rows
    `{label: Late}` are one of the `labels`."""
    if isinstance(part, Mapping):
        return len(part.entries)
    named = [found.text for each in part.items if (found := scalar(each, one)) is not None]
    return len({*named} if len(named) == len(part.items) else part.items)


def _of_lists(description: Scalar, words: str, counts: dict[str, int]) -> Findings:
    """The first number before the name of a list that has another length."""
    for found in ONE.finditer(words):
        unit = (found["unit"] or "").lower()
        ((number, _),) = numbers_in(found[0])[:1]
        count = counts.get(f"{unit}s" if number == 1 else unit)  # in `two gate checks`, gates are not what is counted
        if count is not None and number != count and count > 0 and not EACH.match(words, found.end()):
            message = f"the description says `{found[0]}`, but there {'is' if count == 1 else 'are'} {count}"
            yield warning(place(description, *found.span()), message)
            return


def _of_numbers(description: Scalar, words: str, node: Mapping) -> Findings:
    """The only number of votes or iterations next to a description that states other ones."""
    stated = [(number, unit) for number, unit in numbers_in(words) if unit in COUNTED]
    ends = {COUNTED[unit] for _, unit in stated}
    found = [(key, value) for key, value in _numbers_below(node) if key.rsplit("_", 1)[-1] in ends]
    if len(found) == len(ends) == 1 and found[0][1].as_float not in {number for number, _ in stated}:
        message = f"the description says `{stated[0][0]:g} {stated[0][1]}`, but `{found[0][0]}` is {found[0][1].value}"
        yield warning(found[0][1], message, notes=[(description, "said here")])


def _numbers_below(node: Mapping) -> Iterator[tuple[str, Scalar]]:
    """The numbers that a description is about: those next to it, and those below without a description of their own."""
    for entry in node.entries:
        if (value := numeric(node, entry.name)) is not None:
            yield entry.name, value
        elif isinstance(entry.value, Mapping) and "description" not in entry.value.index:
            yield from _numbers_below(entry.value)


def _of_thresholds(description: Scalar, words: str, node: Mapping) -> Findings:
    """The only threshold below a description that states another share: `confidence of at least 85 %`; the only
    `pass_rate` below one that states a single percentage."""
    stated = [(each.number, each.text) for each in limits_in(words) if each.unit in SHARES or 0 < each.number < 1]
    percentages = [(number, f"{number:g} {unit}") for number, unit in numbers_in(words) if unit in SHARES]
    found: dict[str, list[Scalar]] = {"threshold": [], "pass_rate": []}
    for key, value in _numbers_below(node):
        name = key if key == "pass_rate" else key.rsplit("_", 1)[-1]
        found.get(name, []).append(value)
    for name, numbers in (("threshold", stated), ("pass_rate", percentages)):
        below = found[name]
        if len(numbers) == len(below) == 1 and not units_agree(numbers[0][0], "%", below[0].as_float, ""):
            message = f"the description says `{numbers[0][1]}`, but the {name.replace('_', ' ')} is {below[0].value}"
            yield warning(below[0], message, notes=[(description, "said here")])


def _of_named(description: Scalar, words: str, node: Mapping) -> Findings:
    """The parameters that a description names with another number than their default: `good from 0.9`."""
    for entry in entries(node, "parameters"):
        default = numeric(entry.value, "default")
        found = re.search(rf"\b{re.escape(entry.name)} (?:from|is|at|of) ({NUMBER}) ?(%)?", words)
        if found is not None and default is not None:
            (number, _), unit = numbers_in(found[1])[0], found[2] or ""
            if not units_agree(number, unit, default.as_float, ""):
                message = f"the description says `{found[0].strip()}`, but the default is {default.value}"
                yield warning(default, message, notes=[(description, "said here")])


def _of_weights(description: Scalar, words: str, node: Mapping) -> Findings:
    """Two parts of which a description says how much more the first weighs: `care counts twice as much as maths`."""
    found = RATIO.search(words)
    parts = [_weight(node, found[each]) for each in ("one", "other")] if found is not None else []
    if found is not None and None not in parts:
        one, other = (each.as_float for each in parts if each is not None)
        if one != other * numbers_in(found["times"])[0][0] and parts[0] is not None:
            message = f"the description says `{found[0]}`, but the weights are {one:g} and {other:g}"
            yield warning(parts[0], message, notes=[(description, "said here")])


def _weight(node: Mapping, name: str) -> Scalar | None:
    """The weight of the part with this name, also as a text."""
    parts = (each.value for section in node.entries for each in entries(node, section.name) if each.name == name)
    found = (numeric(each, "weight") or scalar(each, "weight") for each in parts if isinstance(each, Mapping))
    return next((each for each in found if each is not None and PLAIN.fullmatch(each.text)), None)


def _of_default(description: Scalar, words: str, node: Mapping) -> Findings:
    """The default of a parameter whose description states a single number, which is a limit and no bound of it."""
    default, limits = numeric(node, "default"), [*limits_in(words)]
    if default is None or len(limits) != 1 or len(numbers_in(words)) != 1:
        return
    bounds = [
        each for key in ("default", "min", "max", "minimum", "maximum") if (each := numeric(node, key)) is not None
    ]
    limit, is_score = limits[0], text(node, "type") == "score"
    is_meant = not is_score or limit.unit in ("%", "percent") or 0 < limit.number < 1
    if is_meant and not any(units_agree(limit.number, limit.unit, each.as_float, "") for each in bounds):
        stated = limit.text if limit.unit in MEASURES else limit.text.removesuffix(f" {limit.unit}")
        message = f"the description says `{stated}`, but the default is {default.value}"
        yield warning(default, message, notes=[(description, "said here")])


def _of_figures(description: Scalar, words: str, node: Mapping) -> Findings:
    """The number of a fact, or of the facts below without a description, that is not among their figures, while it
    lacks one of them."""
    facts = [each.value for each in entries(node, "facts") if scalar(each.value, "description") is None]
    stated = [each for fact in (node, *facts) for each in text_scalars(fact, "figures")]
    numbers = {f"{number:g}" for number, _ in numbers_in(words)}
    lacking = [each for each in stated if each.text.isdecimal() and each.value not in numbers]
    if lacking and numbers - {each.text for each in stated}:
        message = f"the description states other numbers than the figure {lacking[0].value}"
        yield warning(lacking[0], message, notes=[(description, "the description")])


def _of_times(description: Scalar, words: str, node: Mapping) -> Findings:
    """The time after which something is told to happen, if no session begins then."""
    begun = [begin for each in items(node, "sessions") if (begin := text(each, "time_elapsed"))]
    times = {(number, unit.rstrip("s")) for each in begun for number, unit in numbers_in(each)}
    for found in LATER.finditer(words) if len(begun) > 1 else ():
        time = next((number, unit.rstrip("s")) for number, unit in numbers_in(found[0]))
        if time not in times and any(time[0] == number or time[1] == unit for number, unit in times):
            message = f"the description says `{found[0]}`, but no session begins then: {', '.join(begun[1:])}"
            yield warning(place(description, *found.span()), message)
            return


def _of_metadata(project: Project) -> Findings:
    gates = sum(check.is_gate for check in project.checks)
    total = len(project.checks)
    others = total - gates
    actual = {
        "total_modes": (total, plural(total, "check")),
        "total_checks": (total, plural(total, "check")),
        "gate_modes": (gates, plural(gates, "gate check")),
        "gate_checks": (gates, plural(gates, "gate check")),
        "quality_modes": (others, plural(others, *OTHERS)),
        "quality_checks": (others, plural(others, *OTHERS)),
    }
    for node in walk(project.roots.get("meta")):
        if not isinstance(node, Mapping):
            continue
        for name, (count, what) in actual.items():
            written = node.get(name)
            if isinstance(written, Scalar) and isinstance(written.value, int) and written.value != count:
                yield warning(written, f"`{name}` is {written.value}, but the project has {what}")
        yield from _parts(node)


def _parts(node: Mapping) -> Findings:
    """`total_modes` has to be the sum of the modes by their state, where those are given."""
    states = [node.get(f"{state}_modes") for state in ("active", "beta", "proposed")]
    counts = [each.value for each in states if isinstance(each, Scalar) and isinstance(each.value, int)]
    total = node.get("total_modes")
    if isinstance(total, Scalar) and isinstance(total.value, int) and len(counts) == 3 and sum(counts) != total.value:
        yield warning(
            node.key_span("active_modes"),
            f"active, beta and proposed modes add up to {sum(counts)}, not to {total.value}",
            notes=[(total, "the total")],
        )
