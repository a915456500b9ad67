from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.load import Mapping, Scalar, walk
from rulewright.project import Project


def count_contradicts_files(project: Project) -> Iterator[Diagnostic]:
    """The metadata beside the checks states a number of checks that differs from the files.

    Why it matters: reports and papers quote these numbers.
    Instead: correct the number, or remove it.
    """
    gates = sum(check.is_gate for check in project.checks)
    total = len(project.checks)
    actual = {
        "total_modes": (total, "checks"),
        "total_checks": (total, "checks"),
        "gate_modes": (gates, "gate checks"),
        "gate_checks": (gates, "gate checks"),
        "quality_modes": (total - gates, "checks that are not gate checks"),
        "quality_checks": (total - gates, "checks that are not gate checks"),
    }
    for node in walk(project.roots.get("meta")):
        if not isinstance(node, Mapping):
            continue
        for name, (count, what) in actual.items():
            written = node.get(name)
            if isinstance(written, Scalar) and isinstance(written.value, int) and written.value != count:
                yield warning(written, f"`{name}` is {written.value}, but the project has {count} {what}")
        yield from _parts(node)


def _parts(node: Mapping) -> Iterator[Diagnostic]:
    """`total_modes` has to be the sum of the modes by their state, where those are given."""
    states = [node.get(f"{state}_modes") for state in ("active", "beta", "proposed")]
    counts = [each.value for each in states if isinstance(each, Scalar) and isinstance(each.value, int)]
    total = node.get("total_modes")
    if isinstance(total, Scalar) and isinstance(total.value, int) and len(counts) == 3 and sum(counts) != total.value:
        yield warning(
            node.key_span("active_modes"),
            f"active, beta and proposed modes add up to {sum(counts)}, not to {total.value}",
            notes=[(total, "the total")],
        )
