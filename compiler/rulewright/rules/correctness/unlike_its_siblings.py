from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from math import isclose
from typing import Final, TypeAlias

from rulewright.diagnostics import Findings, Span, warning
from rulewright.documents.base import Document, entries, items
from rulewright.documents.kinds import kind_of
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.expression.direction import conjoined
from rulewright.expression.syntax_tree import Binary, Call, Expr, Index, Literal, Name, Select
from rulewright.load import Entry, Mapping, Node, Scalar, Sequence, place
from rulewright.lower.expressions_of import WrittenExpression, expressions_of, parts_of
from rulewright.project import Project
from rulewright.spelling import Guess

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
MANY: Final = 8  # documents that show that none does without a key
LONG: Final = 8  # tokens of a text that nobody writes twice by chance
VERDICTS: Final = frozenset(["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"])
SLIPS: Final = 2  # tokens of one slip: an operator and the name next to it
CLASSES: Final = ("primary_bucket", "severity")
SENTENCE: Final = re.compile(r"[^.!?\n]+(?:\n(?! *\n)[^.!?\n]+)*")
WORD: Final = re.compile(r"[^\s,;:]+")
Word: TypeAlias = tuple[str, Scalar, tuple[int, int]]  # of a prompt, with its offsets
DENYING: Final = frozenset({"no", "not"})
ARTICLES: Final = frozenset({"a", "an", "the", "now", "on", "so"})  # also what is left of a denial
CHECKS: Final = 4  # checks whose ids agree with their buckets, to be a habit
FEW: Final = 4  # other numbers of a key that show its usual size
FAR: Final = 5  # times as large, or as small, as all of these
SPREAD: Final = 10  # the largest of these is at most so many times as large as the smallest
MOVED: Final = (0.1, 0.01, 0.001, 10, 100, 1000)
# Positions, ages, what `weights-far-apart` compares, and the numbers of parameters that measure different things.
UNCOMPARED: Final = frozenset({
    "age", "default", "max", "maximum", "min", "minimum", "number", "session", "session_number", "t", "turn",
    "turn_number", "weight",
})  # fmt: skip
NUMBER: Final = frozenset({int, float})
SETTINGS: Final = frozenset({"engine", "hyperparameters", "judge", "params"})  # whose numbers measure different things
SECTION_OF: Final = re.compile(r"\bscoring\.gates\.(\w+)")


def unlike_its_siblings(subject: Project | ScorecardDocument | CaseScorecardDocument) -> Findings:
    """One definition breaks the pattern that all similar definitions follow.

    Why it matters: it was probably copied and not changed: the dimension `c` has the weight of the dimension `a`, a
    metric fails below the threshold at which it should pass, or the id of a check names another bucket.
    Instead: write what the others write, with its own name.
    """
    if isinstance(subject, Document):
        parameters = {each.name for each in entries(subject.node, "parameters")}
        for section in SECTIONS:
            parts = entries(subject.node, section)
            yield from _section(((each.name, each.value) for each in parts), parameters)
            yield from _mixed(parts)
            yield from _copied(entries(subject.node, section))
            yield from _left_out(entries(subject.node, section))
        yield from _comparisons(subject, parameters)
        yield from _other_member(subject)
        named = {each.name for section in DEFINED for each in entries(subject.node, section)}
        yield from _copied(entries(subject.node, "output"), named)
        yield from _of_another(subject)
    elif isinstance(subject, Project):
        yield from _unclassified(subject)
        yield from _sentences(subject)
        yield from _buckets(subject)
        yield from _numbers(subject)
        yield from _positions(subject)
        yield from _sources(subject)


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
            both = set(SECTION_OF.findall(str(value.value))) if steps[-1:] == ("of",) else set()
            if len(both) > 1:
                settings = " and ".join(f"`{each}`" for each in sorted(both))
                yield warning(value, f"`{part.name}` mixes the settings of {settings}")


def _comparisons(subject: ScorecardDocument | CaseScorecardDocument, parameters: set[str]) -> Findings:
    """The only comparison of a condition that has another operator or kind of limit than those next to it, as the
    second of `recall < recall_review or clean < clean_pass or tone < tone_review`."""
    for written in expressions_of(subject):
        for part in conjoined(written.checked.expr):
            sides = [found for each in part if (found := _own_limit(each, parameters)) is not None]
            forms = Counter((operator, suffix) for operator, suffix, _ in sides)
            for operator, suffix, side in sides if len(forms) == SLIPS and max(forms.values()) >= OTHERS else ():
                (meant, ending), name = forms.most_common(1)[0][0], written.text(side.left)
                if forms[operator, suffix] == 1 and f"{name}{ending}" in parameters:
                    message = f"`{written.text(side)}` breaks the pattern of the comparisons next to it"
                    yield warning(written.span(side), message, help=Guess(f"{name} {meant} {name}{ending}"))


def _other_member(subject: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """The only condition that searches a list for a text of its own, where all others search it for one that it lacks:
    `'regard' in v.secondary_tags` in a scorecard of memory."""
    sought: dict[str, list[dict[str, Span]]] = {}
    for written in expressions_of(subject):
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
            if re.search(rf"!= ?'{re.escape(part.name)}'", str(value.value)):
                yield warning(value, f"`{part.name}` leaves out `{part.name}`", help="did you mean `==`?")


def _copied(parts: tuple[Entry, ...], named: Collection[str] = ()) -> Findings:
    """The texts that are those of another definition and name it, where the definition's own name has a meaning, too:
    it is `named`, or another of its texts has it."""
    written = {part.name: dict(_texts(part.value)) for part in parts}
    for name, texts in written.items():
        means = name in named or any(name in TOKEN.findall(str(each.value)) for each in texts.values())
        for steps, value in texts.items() if means else ():
            same = [each for each in written if each != name and _same(written[each].get(steps), value)]
            other = next((each for each in same if each in _others_named(steps, value)), None)
            if other is not None:
                yield warning(value, f"`{name}` has `{value.value}`, as `{other}` does", help=f"write `{name}`")


def _others_named(steps: tuple[str, ...], value: Scalar) -> list[str]:
    """The words of a text that may name another definition: all of a title, in a condition those after the first."""
    return TOKEN.findall(str(value.value))[steps[-1:] != ("title",) :]


def _of_another(subject: ScorecardDocument | CaseScorecardDocument) -> Findings:
    """The outputs that show another definition than the one they are named after: `unclear_count: counts.failed`."""
    variables = [each.name for item in items(subject.node, "variables") for each in entries(item)]
    names = {
        section: [each.name for each in entries(subject.node, section)] for section in ("counts", "lists", "rates")
    }
    names[""] = [*variables, *WHOLE]
    stems = {
        section: {_stem(each): (at, each) for at, each in reversed([*enumerate(names[section])])} for section in names
    }
    for entry in entries(subject.node, "output"):
        shown = SHOWN.fullmatch(str(entry.value.value)) if isinstance(entry.value, Scalar) else None
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


def _same(one: Scalar | None, other: Scalar) -> bool:
    return one is not None and one.value == other.value


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
    return tuple(TOKEN.findall(pattern.sub(SELF, str(value.value))))


def _texts(node: Node, steps: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Scalar]]:
    for entry in node.entries if isinstance(node, Mapping) else ():
        yield from _texts(entry.value, (*steps, entry.name))
    if isinstance(node, Scalar) and isinstance(node.value, str):
        yield steps, node


def _sentences(project: Project) -> Findings:
    """The sentences of prompts that differ by one word from one that several others have."""
    written: dict[tuple[str, ...], list[list[Word]]] = {}
    for prompt in (each for check in project.checks for each in _prompts(check.node)):
        for sentence in SENTENCE.finditer(str(prompt.value)):
            words = [(each[0], prompt, each.span()) for each in WORD.finditer(str(prompt.value), *sentence.span())]
            if len(words) >= LONG:
                written.setdefault(tuple(word for word, _, _ in words), []).append(words)
    usual = {half: form for form, found in written.items() if len(found) >= ALIKE for half in _halves(form)}
    for form, found in written.items():
        near = next((usual[half] for half in _halves(form) if half in usual), form)
        differing = [each for each in zip(found[0], near, strict=False) if each[0][0] != each[1]]
        if len(found) > 1 or len(form) != len(near) or len(differing) != 1:
            continue
        (word, prompt, span), meant = differing[0]
        if {word, meant} & DENYING and {word, meant} & ARTICLES:  # each may ask for something of its own
            message = f"`{word}` is only here; {len(written[near])} other prompts have this sentence"
            yield warning(place(prompt, *span), message, help=Guess(meant))


def _prompts(node: Node) -> Iterator[Scalar]:
    """The prompts below a node."""
    for entry in node.entries if isinstance(node, Mapping) else ():
        if entry.name == "prompt" and isinstance(entry.value, Scalar):
            yield entry.value
        else:
            yield from _prompts(entry.value)


def _halves(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The two halves of a sentence, of which a change of one word leaves one as it is."""
    middle = len(words) // 2
    return ("", *words[:middle]), words[middle:]


def _unclassified(project: Project) -> Findings:
    """The only check without a bucket or severity, or scenario without a category, among many."""
    for documents, keys in ((project.checks, CLASSES), (tuple(project.scenarios.values()), ("category",))):
        for key in keys if len(documents) > MANY else ():
            lacking = [each for each in documents if each.get(key) is None and each.get("use") is None]
            if len(lacking) == 1:
                yield warning(lacking[0].node, f"`{lacking[0].id}` has no `{key}`, unlike all others")


def _buckets(project: Project) -> Findings:
    """The only check whose id begins with the bucket of others, as all other ids begin with their own."""
    parted = [(check, set(re.split(r"[-_]|(?<=[A-Za-z])(?=\d)", check.id))) for check in project.checks]
    buckets = {check.primary_bucket for check in project.checks}
    odd = [(check, parts) for check, parts in parted if check.primary_bucket not in parts]
    if len(odd) == 1 and len(parted) > CHECKS and (meant := odd[0][1] & buckets):
        check = odd[0][0]
        message = f"all other ids name the bucket of their check, but `{check.id}` is in `{check.primary_bucket}`"
        yield warning(check.place("primary_bucket"), message, help=Guess(min(meant)))


def _positions(project: Project) -> Findings:
    """The only place that reads another turn than the first, if it is compared with the answer and at least two other
    checks read the first."""
    of_first: set[str] = set()
    others: list[tuple[WrittenExpression, Index, int]] = []
    compared: set[int] = set()  # turns next to the answer, by identity
    for check in project.checks:
        for written, part in parts_of(check):
            match part:
                case Index(operand=Name(name="turns"), index=Literal(value=0)):
                    of_first.add(check.id)
                case Index(operand=Name(name="turns"), index=Literal(value=int() as at)):
                    others.append((written, part, at))
                case Call(args=(Name(name="answer"), Select(operand=Index() as turn))):
                    compared.add(id(turn))
    if len(others) == 1 and id(others[0][1]) in compared and len(of_first) >= OTHERS:
        written, turn, at = others[0]
        message = f"`turns[{at}]` is only here; the other checks read `turns[0]`"
        yield warning(written.span(turn), message, help=Guess("turns[0]"))


def _sources(project: Project) -> Findings:
    """The only fact of a corpus with another source than its programme, that of another programme."""
    for corpus in project.corpora.values():
        sources = {each.source for each in corpus.programmes}
        facts = [(of, fact) for of in corpus.programmes for fact in of.facts if of.source and fact.source]
        odd = [each for each in facts if each[0].source != each[1].source]
        if len(odd) == 1 and len(facts) > CHECKS and odd[0][1].source in sources:
            programme, fact = odd[0]
            message = f"`{fact.id}` has the source of another programme; all other facts have that of their own"
            yield warning(fact.place("source"), message, help=Guess(programme.source))


def _numbers(project: Project) -> Findings:
    """The only number of a key that is another one with its decimal point moved, and far from all of them."""
    found: dict[tuple[str | None, str], list[tuple[float, Scalar]]] = {}
    for root in {each.source.path: each.root for each in project.loaded}.values():
        kind = kind_of(root)
        for key, value in _numbers_below(root):
            found.setdefault((kind, key), []).append((float(str(value.value)), value))
    for (_, key), numbers in found.items():
        numbers.sort(key=lambda each: each[0])
        for (size, odd), others in ((numbers[-1], numbers[:-1]), (numbers[0], numbers[1:])):
            usual = [each for each, _ in others if each > 0]
            moved = [size * by for by in MOVED if any(isclose(size * by, each) for each in usual)]
            is_usual = len(usual) >= FEW and max(usual) <= min(usual) * SPREAD
            is_far = is_usual and size > 0 and not min(usual) / FAR < size < max(usual) * FAR
            if is_far and moved:
                message = f"`{key}` is {odd.raw} here, but from {min(usual):g} to {max(usual):g} elsewhere"
                yield warning(odd, message, help=Guess(f"{moved[0]:g}"))


def _numbers_below(root: Node | None) -> Iterator[tuple[str, Scalar]]:
    """The numbers below a node, each with its key or, in a mapping of only numbers, with that of the mapping."""
    left: list[tuple[Node | None, str]] = [(root, "")]
    while left:
        node, key = left.pop()
        if type(node) is Sequence:
            left += [(item, key) for item in node.items if type(item) is not Scalar]
        elif type(node) is Mapping:
            numbers = [each for each in node.entries if type(each.value) is Scalar and type(each.value.value) in NUMBER]
            is_table = len(numbers) == len(node.entries) > 1 and key not in SETTINGS
            named = [(key if is_table else entry.name, entry.value) for entry in numbers]
            yield from ((name, value) for name, value in named if type(value) is Scalar and name not in UNCOMPARED)
            left += [(entry.value, entry.name) for entry in node.entries if type(entry.value) is not Scalar]
