import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Findings, Span, warning
from rulewright.documents.base import Document, descend, entries, items, optional_text, place_of, scalar, text_scalars
from rulewright.documents.check import CheckDocument
from rulewright.documents.scenario import ScenarioDocument, TurnDocument
from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument
from rulewright.load import Entry, Mapping, Node, place, plain
from rulewright.project import Project

SECTIONS: Final = {"gates": "gate", "dimensions": "dimension", "rates": "rate", "counts": "count", "lists": "list"}
UNCOMPARED: Final = frozenset({"weight", "description", "pass_rate", "title"})  # of a part of a scorecard
CHOOSING: Final = (("rate", "of"), ("every", "of"), ("of",))  # the key that chooses the verdicts of a part
NAMED: Final = ("contracts", "facts", "programmes", "tasks")  # sections whose definitions have a description
SENTENCE: Final = 4  # words of a description that says something
FEW: Final = 3  # phrases of a list that is hardly there twice
LIST: Final = re.compile(r"\[([^\[\]]*)\]")
PASS: Final = re.compile(r"^ *PASS: (.+?)(?= (?:FAIL|UNCLEAR|NOT_APPLICABLE):|$)", re.MULTILINE)
STEM: Final = 4  # letters of a word without its ending
# The keys of a check that decide nothing, unless its prompt inserts them.
PROSE: Final = frozenset(
    {"id", "name", "note", "description", "pass_rule", "fail_rule", "good_complement", "caregiver_benefit", "examples"}
)
# What decides a check: the first of these that it has is where a copy is reported.
DECISIVE: Final = (
    ("routing", "deterministic_precheck"),
    ("routing", "cue"),
    ("routing", "probes"),
    ("routing", "rule"),
    ("routing", "route"),
    ("fail",),
    ("pass",),
    ("prompt",),
    ("use",),
)


class Definition(Struct, frozen=True):
    """A definition: its name, what is compared with others, and where a copy is reported."""

    name: str
    content: object
    place: Span

    @property
    def rank(self) -> tuple[float, list[int]]:
        """The order in which equal definitions are an original: the more words of its name the content has, and the
        smaller the numbers in its name; else the first is."""
        words, content = _plain_name(self.name).split("_"), _plain_name(repr(self.content))
        own = sum(word[:STEM] in content for word in words) / len(words)
        return -own, [int(each) for each in re.findall(r"\d{1,9}", self.name)]


def unchanged_copy(subject: Project | ScenarioDocument | ScorecardDocument | CaseScorecardDocument) -> Findings:
    """A definition has the content, the name or the description of another one, or a turn the message of another turn.

    Why it matters: it looks like a copy in which something was not changed. Two checks that decide alike count one
    failure twice, two equal dimensions count one aspect twice, and readers of a report can't distinguish two checks
    or scenarios with the same name.
    Instead: change what was forgotten, or remove the copy.
    """
    if isinstance(subject, Document):
        yield from _of_document(subject)
        return
    for message, pairs in _in_project(subject):
        for original, copy in pairs:
            yield _finding(message, original, copy)


def _in_project(project: Project) -> Iterator[tuple[str, Iterable[tuple[Definition, Definition]]]]:
    """The pairs of an original and its copy, with the message for them."""
    equal = list(_copies(found for check in project.checks for found in _check(check)))
    copied = {copy.name for _, copy in equal}
    yield "`{}` decides the same as `{}`", equal
    others = [check for check in project.checks if check.id not in copied]
    yield "`{}` decides by the outcomes of `{}`", _copies(found for each in others for found in _routed(each))
    yield "`{}` searches for the phrases of `{}`", _of_other_names(others)
    yield "`{}` explains PASS like `{}`", _copies(found for each in others for found in _meanings(each))
    yield (
        "`{}` has the name of `{}`",
        _copies(_texts((each for each in project.checks if each.id not in copied), "name")),
    )
    own = [each for each in others if each.get("use") is None]
    rules = list(_copies(_sentences(own, "pass_rule")))
    yield "`{}` has the rule of `{}`", rules
    rewritten = {copy.name for _, copy in rules}
    rest = (each for each in own if each.id not in rewritten)
    yield "`{}` has the rule of `{}`", _copies(_sentences(rest, "fail_rule"))
    programmes = (
        Definition(each.id, name.value, name.span)
        for corpus in project.corpora.values()
        for each in corpus.programmes
        for name in text_scalars(each.node, "names")
    )
    yield "the programme `{}` has a name of `{}`", _copies(programmes)
    titles = _texts((each for each in project.scenarios.values() if each.contrast_group is None), "title")
    yield "`{}` has the title of `{}`", _copies(titles)
    lexicons = (
        Definition(each.name, [(entry.mode, entry.text) for entry in each.patterns], each.patterns[0].scalar.span)
        for each in project.lexicons.values()
        if each.patterns
    )
    yield "the lexicon `{}` has the patterns of `{}`", _copies(lexicons)
    yield "the lexicon `{}` has the description of `{}`", _copies(_descriptions(project))
    flags = descend(project.roots.get("blindspots"))
    raised = (
        Definition(entry.name, plain(entry.value), entry.value.span)
        for entry in (flags.entries if isinstance(flags, Mapping) else ())
    )
    yield "`{}` is raised by the check of `{}`", _copies(raised)
    weighted = None if project.scoring is None else project.scoring.get("quality_dimensions")
    yield (
        "the dimension `{}` has the buckets of `{}`",
        _copies(_parts(weighted)) if isinstance(weighted, Mapping) else (),
    )
    yield "`{}` has the description of `{}`", _copies(_described(project, copied))
    yield "`{}` has the description of `{}`", _of_other_documents(project, copied)


def _of_document(document: Document) -> Findings:
    parameters = [(each.name, scalar(each.value, "description")) for each in entries(document.node, "parameters")]
    reasons = [
        (f"requires[{at}]", scalar(each, "otherwise")) for at, each in enumerate(items(document.node, "requires"))
    ]
    for texts in (parameters, reasons):
        found = (Definition(name, each.value, each.span) for name, each in texts if each is not None)
        for original, copy in _copies(found):
            yield _finding("`{}` has the text of `{}`", original, copy)
    variables = ((entry.name, entry.value) for each in items(document.node, "variables") for entry in entries(each))
    own = (Definition(name, plain(value), value.span) for name, value in variables)
    for original, copy in _copies(own):
        yield _finding("the variable `{}` is defined like `{}`", original, copy)
    for section, kind in SECTIONS.items():
        parts = document.get(section)
        for original, copy in _copies(_parts(parts)) if isinstance(parts, Mapping) else ():
            yield _finding(f"the {kind} `{{}}` is defined like `{{}}`", original, copy)
    for original, copy in _copies(_messages(getattr(document, "turns", ()))):
        yield _finding("turn {} says the same as turn {}", original, copy)
    for turn in getattr(document, "turns", ()):
        for rubric in (items(node, "rubric") for node in turn.nodes):
            for original, copy in _copies(_questions(rubric)):
                yield _finding("the criterion `{}` asks what `{}` asks", original, copy)


def _finding(message: str, original: Definition, copy: Definition) -> Diagnostic:
    return warning(copy.place, message.format(copy.name, original.name), notes=[(original.place, "the other one")])


def _copies(definitions: Iterable[Definition]) -> Iterator[tuple[Definition, Definition]]:
    """The original and the copy for every two definitions with the same content."""
    alike: dict[str, list[Definition]] = {}
    for each in definitions:
        alike.setdefault(repr(each.content), []).append(each)
    for group in alike.values():
        original = min(group, key=lambda each: each.rank)
        yield from ((original, each) for each in group if each is not original)


def _check(check: CheckDocument) -> Iterator[Definition]:
    """What decides a check, with its bucket, severity and tags: a check may be asked again for another purpose."""
    at = next((steps for steps in DECISIVE if check.get(*steps) is not None), None)
    if at is not None:
        kept = () if "check." in (optional_text(check.node, "prompt") or "") else PROSE
        content = {entry.name: plain(entry.value) for entry in check.node.entries if entry.name not in kept}
        yield Definition(check.id, content, check.place(*at))


def _routed(check: CheckDocument) -> Iterator[Definition]:
    """What a check without a judge looks up, by its outcomes or its rule, and for which scenarios."""
    for key in ("outcomes", "rule"):
        if check.get("routing", key) is not None:
            read = [check.get("routing", "corpus"), check.get("routing", key), check.get("eligibility")]
            yield Definition(
                check.id, [None if each is None else plain(each) for each in read], check.place("routing", key)
            )


def _meanings(check: CheckDocument) -> Iterator[Definition]:
    """What a prompt says that PASS means, unless it is short, such as `it does`."""
    prompt = scalar(check.node, "prompt")
    found = None if prompt is None else PASS.search(prompt.text)
    if prompt is not None and found is not None and len(found[1].split()) > SENTENCE:
        yield Definition(check.id, found[1], place(prompt, *found.span(1)))


def _of_other_names(checks: Iterable[CheckDocument]) -> Iterator[tuple[Definition, Definition]]:
    """The lists of phrases that two checks have under different names: one has probably the wrong list."""
    named: dict[int, str] = {}
    found = []
    for check in checks:
        for entry in entries(check.node, "params"):
            phrases = [each.text for each in text_scalars(check.node, "params", entry.name)]
            if len(phrases) >= FEW and any(" " in each for each in phrases):
                found.append(Definition(check.id, phrases, entry.value.span))
                named[id(found[-1])] = entry.name
    yield from (pair for pair in _copies(found) if named[id(pair[0])] != named[id(pair[1])])


def _texts(documents: Iterable[CheckDocument | ScenarioDocument], key: str) -> Iterator[Definition]:
    """The names or titles that documents give themselves."""
    for document in documents:
        written = scalar(document.node, key)
        if written is not None:
            yield Definition(document.id, written.value, written.span)


def _sentences(checks: Iterable[CheckDocument], key: str) -> Iterator[Definition]:
    """The texts of checks that say something by themselves: `It does not.` only answers the question of its check."""
    return (each for each in _texts(checks, key) if len(str(each.content).split()) >= SENTENCE)


def _described(project: Project, copied: set[str]) -> Iterator[Definition]:
    """The descriptions of the definitions in documents."""
    roots = {each.source.path: each.root for each in project.loaded}
    for root in (each for each in roots.values() if isinstance(each, Mapping)):
        for part in _definitions(root):
            description = scalar(part.value, "description")
            if description is not None and part.name not in copied and len(description.text.split()) >= SENTENCE:
                yield Definition(part.name, (root.source.path, description.value), description.span)


def _descriptions(project: Project) -> Iterator[Definition]:
    for lexicon in project.lexicons.values():
        described = scalar(lexicon.node, "description")
        if described is not None and len(described.text.split()) >= SENTENCE:
            yield Definition(lexicon.name, described.value, described.span)


def _definitions(node: Mapping) -> Iterator[Entry]:
    """The entries of a document that may be definitions, and those of its named sections at any depth."""
    for entry in node.entries:
        if isinstance(entry.value, Mapping) and entry.name != "parameters":
            yield entry
            for below in entry.value.entries if entry.name in NAMED else ():
                yield below
                yield from _definitions(below.value) if isinstance(below.value, Mapping) else ()


def _of_other_documents(project: Project, copied: set[str]) -> Iterator[tuple[Definition, Definition]]:
    """The descriptions of checks that have no words of the check's own id."""
    checks = [each for each in project.checks if each.id not in copied]
    for one, other in _copies(each for key in ("description", "note") for each in _texts(checks, key)):
        words = {word[:STEM] for word in re.findall(r"[a-z]{4,}", str(one.content).lower())}
        differs = [
            not words.isdisjoint(word[:STEM] for word in _plain_name(each.name).split("_")) for each in (one, other)
        ]
        if differs != [True, True] and len(str(one.content).split()) > SENTENCE:
            yield (one, other) if differs[0] or not differs[1] else (other, one)


def _parts(section: Mapping) -> Iterator[Definition]:
    for entry in section.entries:
        content = plain(entry.value)
        if isinstance(content, dict):
            content = {key: value for key, value in content.items() if key not in UNCOMPARED}
        steps = next((steps for steps in CHOOSING if descend(entry.value, *steps)), ())
        # In a condition with `in`, and of the verdicts of a rate, the order does not matter.
        unordered = LIST.sub(lambda found: str(sorted(found[1].split(", "))), repr(content))
        yield Definition(entry.name, unordered, place_of(entry.value, *steps))


def _questions(rubric: Iterable[Node]) -> Iterator[Definition]:
    for criterion in rubric:
        question = scalar(criterion, "question")
        if question is not None:
            name = optional_text(criterion, "id") or optional_text(criterion, "criterion_id") or question.text
            yield Definition(name, question.value, question.span)


def _messages(turns: Iterable[TurnDocument]) -> Iterator[Definition]:
    """The messages of turns that are long enough to say something: nobody says the same twice."""
    for turn in turns:
        message = scalar(turn.node, "user_message")
        if message is not None and len(message.text.split()) > SENTENCE:
            yield Definition(str(turn.number), message.text.lower(), message.span)


def _plain_name(text: str) -> str:
    return text.replace("-", "_").lower()
