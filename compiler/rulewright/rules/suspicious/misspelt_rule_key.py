from collections import Counter
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend, entries, text_scalars
from rulewright.load import Mapping
from rulewright.project import Project
from rulewright.spelling import did_you_mean

READ: Final[dict[tuple[str, ...], frozenset[str]]] = {
    (): frozenset({"crisis", "disclosure", "extends", "forbidden"}),
    ("crisis",): frozenset(
        {"action_phrases", "cues_direct", "cues_indirect", "must_detect", "required_actions", "resources"}
    ),
    ("disclosure",): frozenset({"cadence_turns", "phrases"}),
}


def misspelt_rule_key(project: Project) -> Findings:
    """A key or an action of a rule set differs by a letter or two from one that is read.

    Why it matters: rule sets may contain any key, so a misspelt one is legal: with `extendss`, nothing is inherited and
    no requirement applies.
    Instead: correct the key.
    """
    roots = list(project.rule_files.values())
    lists = Counter(entry.name for each in roots for entry in entries(each, "forbidden"))
    for root in roots:
        for path, known in READ.items():
            node = descend(root, *path)
            present = {entry.name for entry in entries(node)}
            for entry in entries(node):
                near = None if entry.name in known else did_you_mean(entry.name, known - present)
                if near is not None:
                    yield warning(entry.key, f"nothing reads `{entry.name}`", help=near)
        yield from _other_lists(root, lists)
        phrases = descend(root, "crisis", "action_phrases")
        if not isinstance(phrases, Mapping):
            continue
        for action in text_scalars(root, "crisis", "required_actions"):
            near = None if action.text in phrases else did_you_mean(action.text, phrases.keys)
            if near is not None:
                message, note = f"`action_phrases` has no entry for `{action.value}`", "possibly meant here"
                yield warning(action, message, help=near, notes=[(phrases.key_span(near.meant), note)])


def _other_lists(root: Mapping, lists: Counter[str]) -> Findings:
    """The lists under `forbidden` that almost have the name of a list of other rule sets, which they should replace."""
    own = Counter(entry.name for entry in entries(root, "forbidden"))
    for entry in entries(root, "forbidden") if "extends" in root else ():
        is_known = lists[entry.name] > own[entry.name]
        near = None if is_known else did_you_mean(entry.name, lists.keys() - own.keys())
        if near is not None:
            yield warning(entry.key, f"no other rule set has a list `{entry.name}`", help=near)
