import re
from collections.abc import Iterator
from math import isclose
from typing import Final, TypeAlias

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.kinds import kind_of
from rulewright.expression.syntax_tree import Call, Index, Literal, Name, Select
from rulewright.load import Mapping, Node, Scalar, Sequence, place
from rulewright.lower.expressions_of import WrittenExpression, parts_of
from rulewright.project import Project

OTHERS: Final = 2  # checks that agree, to be a habit
ALIKE: Final = 3  # prompts that have the same sentence
LONG: Final = 8  # words of a sentence that nobody writes twice by chance
MANY: Final = 8  # documents that show that none does without a key
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


def unlike_other_documents(project: Project) -> Findings:
    """One document breaks the pattern that all similar documents follow.

    Why it matters: it was probably copied and not changed, or a digit was lost: the id of a check names another bucket
    than its own, a prompt asks without the `not` of all others, or a threshold is ten times the usual one.
    Instead: write what the other documents write, or suppress the finding with the reason for the difference.
    """
    yield from _unclassified(project)
    yield from _sentences(project)
    yield from _buckets(project)
    yield from _numbers(project)
    yield from _positions(project)
    yield from _sources(project)


def _sentences(project: Project) -> Findings:
    """The sentences of prompts that differ by one word from one that several others have."""
    written: dict[tuple[str, ...], list[list[Word]]] = {}
    for prompt in (each for check in project.checks for each in _prompts(check.node)):
        for sentence in SENTENCE.finditer(prompt.text):
            words = [(each[0], prompt, each.span()) for each in WORD.finditer(prompt.text, *sentence.span())]
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
            found.setdefault((kind, key), []).append((value.as_float, value))
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
