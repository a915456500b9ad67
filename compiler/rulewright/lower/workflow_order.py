"""The order of a workflow's tasks: cycles, a stable topological order, and waves that may run in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter

from rulewright.documents.workflow import WorkflowDocument


def edges(document: WorkflowDocument) -> dict[str, tuple[str, ...]]:
    """Return the known dependencies of each task, in file order."""
    ids = {task.id for task in document.tasks}
    return {
        task.id: tuple(dict.fromkeys(str(each.value) for each in task.dependencies if each.value in ids))
        for task in document.tasks
    }


def cycles(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """Return the cycles of dependencies as ids, the first not repeated; of overlapping cycles, one."""
    dependencies = edges(document)
    done: set[str] = set()
    result: list[tuple[str, ...]] = []
    for root in dependencies:
        path: dict[str, None] = {}  # an ordered set
        walk: list[Iterator[str]] = [iter((root,))]
        while walk:
            name = next(walk[-1], None)
            if name is None:
                walk.pop()
                if path:
                    done.add(path.popitem()[0])
            elif name in path:
                result.append(tuple(path)[list(path).index(name) :])
            elif name not in done:
                path[name] = None
                walk.append(iter(dependencies[name]))
    return result


def order(document: WorkflowDocument) -> tuple[str, ...]:
    """Return the tasks in topological order; those in or behind cycles come last, in file order."""
    placed = tuple(name for wave in waves(document) for name in wave)
    return placed + tuple(task.id for task in document.tasks if task.id not in set(placed))


def waves(document: WorkflowDocument) -> list[tuple[str, ...]]:
    """Return the tasks in waves: each wave depends only on earlier ones, so that its tasks may run in parallel."""
    dependencies = edges(document)
    position = {name: number for number, name in enumerate(dependencies)}
    sorter = TopologicalSorter(dependencies)
    with suppress(CycleError):  # tasks outside cycles are ordered all the same
        sorter.prepare()
    result: list[tuple[str, ...]] = []
    while wave := sorter.get_ready():
        result.append(tuple(sorted(wave, key=position.__getitem__)))
        sorter.done(*wave)
    return result


def ancestors(document: WorkflowDocument) -> dict[str, frozenset[str]]:
    """Return for each task all those that are COMPLETED before it starts; a task in a cycle waits for none."""
    dependencies = edges(document)
    result: dict[str, frozenset[str]] = {name: frozenset() for name in dependencies}
    for name in order(document):
        result[name] = frozenset(dependencies[name]).union(*(result[each] for each in dependencies[name]))
    return result
