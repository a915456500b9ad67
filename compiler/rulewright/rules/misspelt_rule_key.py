"""Rule: a key of a rule set that is written almost like one that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import descend
from rulewright.load import Mapping
from rulewright.spelling import did_you_mean

if TYPE_CHECKING:
    from rulewright.project import Project

READ: Final[dict[tuple[str, ...], frozenset[str]]] = {
    (): frozenset({"crisis", "disclosure", "extends", "forbidden"}),
    ("crisis",): frozenset(
        {"action_phrases", "cues_direct", "cues_indirect", "must_detect", "required_actions", "resources"}
    ),
    ("disclosure",): frozenset({"cadence_turns", "phrases"}),
}


def misspelt_rule_key(project: Project) -> Iterator[Diagnostic]:
    """A key of a rule set is read by nobody and differs by a letter or two from one that is.

    Why it matters: rule sets may hold whatever their authors like, so a misspelt key is legal; with `extendss` all
    that was to be inherited is missing, and nothing is demanded.
    Instead: correct the key.
    """
    for root in project.rule_files.values():
        for path, known in READ.items():
            node = descend(root, *path)
            if not isinstance(node, Mapping):
                continue
            for entry in node.entries:
                near = None if entry.name in known else did_you_mean(entry.name, known - set(node.keys))
                if near is not None:
                    yield warning(entry.key, f"nothing reads `{entry.name}`", help=near)
