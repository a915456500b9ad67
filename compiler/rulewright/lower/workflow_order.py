"""The order of a workflow's tasks: cycles, an order that keeps to the file's, and waves that may run side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.documents.workflow import WorkflowDocument


def edges(document: WorkflowDocument) -> dict[str, tuple[str, ...]]:
    """For each task the known tasks it depends on, in the order of the file."""
    known = {task.id for task in document.tasks}
    return {
        task.id: tuple(dict.fromkeys(str(each.value) for each in task.dependencies if each.value in known))
        for task in document.tasks
    }


def cycles(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """Cycles of dependencies, each as the ids along it without the first repeated; of those that cross, one."""
    below = edges(document)
    done: set[str] = set()
    found: list[tuple[str, ...]] = []
    for root in below:
        path: dict[str, None] = {}  # a set that keeps the order of the way
        walk: list[Iterator[str]] = [iter((root,))]
        while walk:
            name = next(walk[-1], None)
            if name is None:
                walk.pop()
                if path:
                    done.add(path.popitem()[0])
            elif name in path:
                found.append(tuple(path)[list(path).index(name) :])
            elif name not in done:
                path[name] = None
                walk.append(iter(below[name]))
    return found


def order(document: WorkflowDocument) -> tuple[str, ...]:
    """The tasks so that each stands after those it depends on; what cycles keep apart comes last, as in the file."""
    placed = tuple(name for wave in waves(document) for name in wave)
    return placed + tuple(task.id for task in document.tasks if task.id not in set(placed))


def waves(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """The tasks wave by wave: each wave depends only on those before it, so that its tasks may run side by side."""
    below = edges(document)
    position = {name: number for number, name in enumerate(below)}
    sorter = TopologicalSorter(below)
    with suppress(CycleError):  # what no cycle keeps apart is ordered all the same
        sorter.prepare()
    found: list[tuple[str, ...]] = []
    while wave := sorter.get_ready():
        found.append(tuple(sorted(wave, key=position.__getitem__)))
        sorter.done(*wave)
    return found


def ancestors(document: WorkflowDocument) -> dict[str, frozenset[str]]:
    """For each task all those that are COMPLETED before it starts; a task of a cycle waits for none."""
    below = edges(document)
    found: dict[str, frozenset[str]] = {name: frozenset() for name in below}
    for name in order(document):
        found[name] = frozenset(below[name]).union(*(found[each] for each in below[name]))
    return found
