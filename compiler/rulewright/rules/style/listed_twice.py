from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, advice
from rulewright.documents.base import Document, repeated
from rulewright.load import Mapping, Node, Sequence, is_text

if TYPE_CHECKING:
    from rulewright.documents.case_batch import CaseBatch
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.project import Project
    from rulewright.workflow import Workflow

# Lists in which a repeated entry has a meaning, or is reported by another rule.
VALUES: Final = frozenset({"levels", "params"})  # mappings whose texts differ
EXCEPTIONS: Final = frozenset({"args", "chat", "command", "dependencies", "judge", "outputs", "path", "replies"})
# Lists of entries with a name or a number, whose repetition another rule reports.
NAMED: Final = frozenset({"branches", "labels", "sessions", "turns", "variables"})


def listed_twice(
    subject: CaseBatch | CheckDocument | MarkerSet | Profile | ScenarioDocument | Project | Workflow,
) -> Findings:
    """A list of names or phrases contains an entry twice, or two levels or parameters are the same text.

    Why it matters: the second one has no effect; usually another one was meant.
    Instead: correct or remove the second.
    """
    if hasattr(subject, "cases"):  # whose texts are compared without their case
        for node in (node for each in subject.cases for node in each.expectations):
            yield from repeated_in(node, fold=True)
    else:
        for node in nodes_of(subject):
            yield from repeated_in(node)


def nodes_of(subject: Document | Project | Workflow) -> Iterator[Node]:
    """The node of a document, or those of the documents of a project or workflow that are not checked one by one."""
    yield from (subject.node,) if isinstance(subject, Document) else _others(subject)


def _others(subject: Project | Workflow) -> Iterator[Node]:
    """The documents of a project or workflow that are not checked one by one."""
    if hasattr(subject, "scripts"):
        read = {each.source.path for each in subject.scripts.values()}
    else:
        single = (*subject.checks, *subject.scenarios.values(), *subject.profiles.values(), *subject.markers)
        read = {each.path for each in (*single, *subject.lexicons.values())}
    roots = {each.source.path: each.root for each in subject.loaded if each.source.path not in read}
    yield from (each for each in roots.values() if each is not None)


def repeated_in(node: Node, *, is_reported: bool = True, fold: bool = False) -> Findings:
    """The texts that occur twice, with `fold` in either case, in a list below a node, or in the node itself where
    `is_reported`."""
    if type(node) is Sequence:
        yield from _repeated(node.items, fold=fold) if is_reported else ()
        for item in node.items:
            yield from repeated_in(item, fold=fold)
    elif type(node) is Mapping:
        for entry in node.entries:
            yield from repeated_in(entry.value, is_reported=entry.key.value not in EXCEPTIONS, fold=fold)
            if type(entry.value) is Sequence and entry.key.value not in (*EXCEPTIONS, *NAMED):
                yield from _repeated_entries(entry.value)
            if entry.key.value in VALUES and isinstance(entry.value, Mapping):
                yield from _repeated([each.value for each in entry.value.entries], fold=fold)


def _repeated(nodes: Iterable[Node], *, fold: bool) -> Findings:
    for item, first in repeated(filter(is_text, nodes), lambda each: each.text.lower() if fold else each.value):
        yield advice(item, f"`{item.value}` is listed twice", notes=[(first, "the first")])


def _repeated_entries(listed: Sequence) -> Findings:
    entries = [each for each in listed.items if type(each) is Mapping]
    for entry, same in repeated(entries, lambda each: each.source.text[each.start : each.end].strip()):
        yield advice(entry, "this entry is listed twice", notes=[(same, "the first")])
