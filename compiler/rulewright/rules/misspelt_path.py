"""Rule: a path that spells a folder or a file otherwise than the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.layout import path_meant
from rulewright.load import Scalar, walk
from rulewright.spelling import Guess, is_slip_of

if TYPE_CHECKING:
    from rulewright.workflow import Workflow

PATH: Final = re.compile(r"(?:[\w.*-]+/)+[\w.*-]+|[\w.-]+\.[a-z]\w{1,4}")
DIGITS: Final = re.compile(r"\d")
SHORTEST: Final = 4  # letters of a name: shorter ones differ by one letter often enough


def misspelt_path(workflow: Workflow) -> Iterator[Diagnostic]:
    """A path of a workflow is one letter from the name that others have, or from an output that a task reads.

    Why it matters: what is written under one name is looked for under the other, after the work was paid. Several paths
    name a folder or file with one letter more, less or other; or a task reads a file that differs so, or in its
    capitals, from what a task writes or from what lies in the working folder.
    Instead: spell both alike. A folder or file that exists is not asked about.
    """
    paths = [
        node
        for task in workflow.document.tasks
        for node in walk(task.node)
        if type(node) is Scalar and isinstance(node.value, str) and PATH.fullmatch(node.value)
    ]
    named: defaultdict[str, set[int]] = defaultdict(set)  # the places of every name
    for place, node in enumerate(paths):
        for name in str(node.value).split("/"):
            named[name].add(place)
    outputs, folder = _outputs(workflow), workflow.place("folder", ".")
    for node in paths:
        path = str(node.value)
        if dependencies.exists(folder / path):
            continue
        names = path.split("/")
        written = _output_meant(path, outputs)
        if written is not None:
            message = f"no task writes `{path}`, and one writes `{written}`"
            yield warning(node, message, help=Guess(written))
            continue
        if path not in outputs and "*" not in path and (help := path_meant(folder / path, path)):
            yield warning(node, f"no task writes `{path}`, and there is no such file", help=help)
            continue
        for at, name in enumerate(names):
            meant = _meant(name, named)
            if meant is not None and not dependencies.exists(folder.joinpath(*names[: at + 1])):
                right = "/".join([*names[:at], meant, *names[at + 1 :]])
                message = f"no other path of the workflow names `{name}`, and {len(named[meant])} name `{meant}`"
                yield warning(node, message, help=Guess(right))


def _outputs(workflow: Workflow) -> set[str]:
    """The paths that tasks write."""
    written = (task.node.get("outputs") for task in workflow.document.tasks)
    return {str(each.value) for node in written for each in walk(node) if isinstance(each, Scalar)}


def _output_meant(path: str, outputs: set[str]) -> str | None:
    """The output in the same folder whose file has this path's name but for one letter or its capitals."""
    if path in outputs or "*" in path:
        return None
    folder, _, name = path.rpartition("/")
    for other in sorted(outputs):
        other_folder, _, written = other.rpartition("/")
        is_near = is_slip_of(name, written) or name.casefold() == written.casefold()
        if folder == other_folder and len(name) >= SHORTEST and is_near and not _differ_in_digits(name, written):
            return other
    return None


def _meant(name: str, named: defaultdict[str, set[int]]) -> str | None:
    """The name that several other paths have, where only one has this one and it is a slip of it."""
    if len(name) < SHORTEST or len(named[name]) > 1:
        return None
    several = (other for other in sorted(named) if len(named[other]) > 1 and is_slip_of(name, other))
    return next((other for other in several if not _is_on_purpose(name, other)), None)


def _is_on_purpose(name: str, other: str) -> bool:
    """Whether two names differ in a digit or in a plural: `part1.md` and `part2.md`, `user.py` and `users.py`."""
    stems = [each.partition(".")[0] for each in (name, other)]
    return _differ_in_digits(name, other) or stems[0] + "s" == stems[1] or stems[1] + "s" == stems[0]


def _differ_in_digits(name: str, other: str) -> bool:
    return DIGITS.sub("", name) == DIGITS.sub("", other)
