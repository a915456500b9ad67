import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from rulewright.diagnostics import Findings, Guess, Span, warning
from rulewright.documents.base import entries, items
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.expression.direction import conjoined
from rulewright.expression.syntax_tree import Binary, Expr, Literal, Name
from rulewright.load import Entry, Mapping, Node, Scalar, is_text
from rulewright.lower.expressions_of import expressions_of

SECTIONS: Final = ("gates", "dimensions", "rates", "metrics", "parameters")
TOKEN: Final = re.compile(r"\w+|[<>=!]=|&&|\|\||[^\w\s]")
OPERATORS: Final = frozenset(["&&", "||", "and", "or", "<", "<=", ">", ">=", "==", "!=", "!", "not", "in"])
DEFINED: Final = ("gates", "rates", "counts", "lists", "dimensions")  # what an output may show under its name
SHOWN: Final = re.compile(r"\s*(?:(counts|lists|rates)\.)?(\w+)\s*")  # a definition that an output shows
WHOLE: Final = ("gates", "rates", "counts", "lists", "dimensions", "flags")  # sections that an output shows as a whole
LONGEST: Final = 20  # words of a name that are compared
SELF: Final = "SELF0"  # stands for the name of a definition
HABIT: Final = 4  # conditions that agree, to be that of a scorecard
OTHERS: Final = 2  # definitions that agree, to be a habit
ALIKE: Final = 3  # definitions that agree in a long text without their names
LONG: Final = 8  # tokens of a text that nobody writes twice by chance
VERDICTS: Final = frozenset(["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"])
SLIPS: Final = 2  # tokens of one slip: an operator and the name next to it
SECTION_OF: Final = re.compile(r"\bscoring\.gates\.(\w+)")


def unlike_its_siblings(scorecard: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """One definition breaks the pattern that all similar definitions follow.

    Why it matters: it was probably copied and not changed: the dimension `c` has the weight of the dimension `a`, or a
    metric fails below the threshold at which it should pass.
    Instead: write what the others write, with its own name.
    """
    named = {each.name for section in DEFINED for each in entries(scorecard.node, section)}
    parameters = {each.name for each in entries(scorecard.node, "parameters")}
    for section in SECTIONS:
        parts = entries(scorecard.node, section)
        yield from _section(((each.name, each.value) for each in parts), parameters)
        yield from _mixed(parts)
        yield from _copied(parts)
        yield from _left_out(parts)
    yield from _comparisons(scorecard, parameters)
    yield from _other_member(scorecard)
    yield from _copied(entries(scorecard.node, "output"), named)
    yield from _of_another(scorecard)


def _section(parts: Iterable[tuple[str, Node]], parameters: Collection[str] = ()) -> Findings:
    """The texts that break by one token the pattern of definitions that agree, but for their own names."""
    parts = list(parts)
    names = {name for name, _ in parts}
    written: dict[tuple[str, ...], list[tuple[str, Scalar]]] = {}
    for name, node in parts:
        for steps, value in _texts(node):
            written.setdefault(steps, []).append((name, value))
    forms = {steps: Counter(_form(name, value) for name, value in found) for steps, found in written.items()}
    usual = {token for counts in forms.values() for form, count in counts.items() if count >= OTHERS for token in form}
    for steps, found in written.items():
        form, count = forms[steps].most_common(1)[0]
        is_own = any(SELF in token for token in form)
        if count < (OTHERS if is_own else ALIKE) or not (is_own or len(form) >= LONG):
            continue
        slips = []
        for name, value in found:
            differing = _differing(_form(name, value), form)
            is_only = forms[steps][_form(name, value)] == 1
            if is_only and differing and all(_is_slip(*each, names, usual, len(form)) for each in differing):
                slips.append((name, value, [each.replace(SELF, name) for each in differing[0]]))
        for name, value, (written_here, meant) in slips if len(slips) == 1 else ():
            if meant.startswith(f"{name}_") and meant not in parameters:
                continue  # the definition has no such parameter
            message = f"`{name}` has `{written_here}`, which breaks the pattern of the other definitions"
            yield warning(value, message, help=Guess(meant))


def _differing(own: tuple[str, ...], form: tuple[str, ...]) -> list[tuple[str, str]]:
    """The tokens of one slip by which two texts differ: one, or an operator and the name next to it."""
    found = [(one, other) for one, other in zip(own, form, strict=False) if one != other]
    is_one = len(found) == 1 or (len(found) == SLIPS and sum(SELF in one for one, _ in found) == 1)
    return found if is_one and len(own) == len(form) else []


def _mixed(parts: tuple[Entry, ...]) -> Findings:
    """The definitions that read the settings of several gates."""
    for part in parts:
        for steps, value in _texts(part.value):
            both = set(SECTION_OF.findall(value.text)) if steps[-1:] == ("of",) else set()
            if len(both) > 1:
                settings = " and ".join(f"`{each}`" for each in sorted(both))
                yield warning(value, f"`{part.name}` mixes the settings of {settings}")


def _comparisons(scorecard: ScorecardDocument | CaseScorecardDocument, parameters: set[str]) -> Findings:
    """The only comparison of a condition that has another operator or kind of limit than those next to it, as the
    second of `recall < recall_review or clean < clean_pass or tone < tone_review`."""
    for written in expressions_of(scorecard):
        for part in conjoined(written.checked.expr):
            sides = [found for each in part if (found := _own_limit(each, parameters)) is not None]
            forms = Counter((operator, suffix) for operator, suffix, _ in sides)
            for operator, suffix, side in sides if len(forms) == SLIPS and max(forms.values()) >= OTHERS else ():
                (meant, ending), name = forms.most_common(1)[0][0], written.text(side.left)
                if forms[operator, suffix] == 1 and f"{name}{ending}" in parameters:
                    message = f"`{written.text(side)}` breaks the pattern of the comparisons next to it"
                    yield warning(written.span(side), message, help=Guess(f"{name} {meant} {name}{ending}"))


def _other_member(scorecard: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """The only condition that searches a list for a text of its own, where all others search it for one that it lacks:
    `'regard' in v.secondary_tags` in a scorecard of memory."""
    sought: dict[str, list[dict[str, Span]]] = {}
    for written in expressions_of(scorecard):
        found: dict[str, dict[str, Span]] = {}
        for part in written.parts:
            match part:
                case Binary(operator="in", left=Literal(value=str() as word) as left, right=right):
                    found.setdefault(written.text(right), {})[word] = written.span(left)
        for listed, words in found.items():
            sought.setdefault(listed, []).append(words)
    for listed, conditions in sought.items():
        counts = Counter(word for words in conditions for word in words)
        usual = [word for word, count in counts.items() if count == len(conditions) - 1 >= HABIT]
        odd = next((each for each in conditions if len(usual) == 1 and usual[0] not in each), {})
        for word, where in odd.items():
            if counts[word] == 1:
                message = f"`{word}` is only here; every other condition on `{listed}` searches for `{usual[0]}`"
                yield warning(where, message, help=Guess(usual[0]))


def _own_limit(part: Expr, parameters: set[str]) -> tuple[str, str, Binary] | None:
    """The operator of a comparison of a metric with a parameter that is named after it, and the rest of its name."""
    match part:
        case Binary(left=Name(name=name), right=Name(name=limit)) if limit in parameters and limit.startswith(name):
            return part.operator, limit.removeprefix(name), part
    return None


def _left_out(parts: tuple[Entry, ...]) -> Findings:
    """The definitions that choose everything except what they are named after."""
    for part in parts:
        for value in dict(_texts(part.value)).values():
            if re.search(rf"!= ?'{re.escape(part.name)}'", value.text):
                yield warning(value, f"`{part.name}` leaves out `{part.name}`", help="did you mean `==`?")


def _copied(parts: tuple[Entry, ...], named: Collection[str] = ()) -> Findings:
    """The texts that are those of another definition and name it, where the definition's own name has a meaning, too:
    it is `named`, or another of its texts has it."""
    written = {part.name: dict(_texts(part.value)) for part in parts}
    having: dict[tuple[object, ...], list[str]] = {}
    for name, texts in written.items():
        for steps, value in texts.items():
            having.setdefault((steps, value.value), []).append(name)
    for name, texts in written.items():
        means = name in named or any(name in TOKEN.findall(each.text) for each in texts.values())
        for steps, value in texts.items():
            if not means and not _is_setting_of_its_own(steps, value):
                continue
            others = {*_others_named(steps, value)} - {name}
            other = next((each for each in having[steps, value.value] if each in others), None)
            if other is not None:
                yield warning(value, f"`{name}` has `{value.value}`, as `{other}` does", help=f"write `{name}`")


def _is_setting_of_its_own(steps: tuple[str, ...], value: Scalar) -> bool:
    """Whether a text reads a setting that each definition has under its own name: `scoring.dimensions.tone.weight`."""
    return steps == ("weight",) and value.text.startswith("scoring.")


def _others_named(steps: tuple[str, ...], value: Scalar) -> list[str]:
    """The words of a text that may name another definition: all of a title, in a condition those after the first."""
    return TOKEN.findall(value.text)[steps[-1:] != ("title",) :]


def _of_another(scorecard: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """The outputs that show another definition than the one they are named after: `unclear_count: counts.failed`."""
    variables = [each.name for item in items(scorecard.node, "variables") for each in entries(item)]
    names = {
        section: [each.name for each in entries(scorecard.node, section)] for section in ("counts", "lists", "rates")
    }
    names[""] = [*variables, *WHOLE]
    stems = {
        section: {_stem(each): (at, each) for at, each in reversed([*enumerate(names[section])])} for section in names
    }
    for entry in entries(scorecard.node, "output"):
        shown = SHOWN.fullmatch(entry.value.text) if isinstance(entry.value, Scalar) else None
        if shown is None:
            continue
        section, name = shown[1] or "", shown[2]
        ends = _ends(entry.name)
        meant = min((stems[section][each] for each in ends if each in stems[section]), default=None)
        if meant is not None and _stem(name) not in ends and name not in entry.name and name in names[section]:
            help = Guess(f"{section}.{meant[1]}" if section else meant[1])
            yield warning(entry.value, f"`{entry.name}` shows `{name}`", help=help)


def _stem(definition: str) -> str:
    """The form of a definition's name in the name of an output: `dimension` in `dimension_scores`."""
    return definition.removesuffix("s") if definition in WHOLE else definition


def _ends(name: str) -> set[str]:
    """What a name begins and ends with, up to each of its first underscores and from each of its last ones."""
    words = name.split("_")
    count = min(len(words), LONGEST)
    return {"_".join(part) for at in range(1, count) for part in (words[:at], words[-at:])}


def _is_slip(token: str, other: str, names: set[str], usual: set[str], size: int) -> bool:
    """Whether a token is another operator, the name of another definition, or one that the others have elsewhere; in a
    long text also another verdict or ten times a number."""
    words = token.split("_")[:LONGEST]
    named = any("_".join(words[at:end]) in names for at in range(len(words)) for end in range(at + 1, len(words) + 1))
    is_value = size >= LONG and ({token, other} <= VERDICTS or f"{token}0" == other or token == f"{other}0")
    return (token in OPERATORS and other in OPERATORS) or named or is_value or (SELF in token and token in usual)


def _form(name: str, value: Scalar) -> tuple[str, ...]:
    """The tokens of a text with the name of its definition left open."""
    pattern = re.compile(rf"(?<![a-zA-Z0-9]){re.escape(name)}(?![a-zA-Z0-9])", re.IGNORECASE)
    return tuple(TOKEN.findall(pattern.sub(SELF, value.text)))


def _texts(node: Node, steps: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Scalar]]:
    for entry in node.entries if isinstance(node, Mapping) else ():
        yield from _texts(entry.value, (*steps, entry.name))
    if is_text(node):
        yield steps, node
