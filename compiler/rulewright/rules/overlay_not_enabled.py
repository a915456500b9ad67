"""Rule: an overlay that is configured, but not enabled."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping


def overlay_not_enabled(task: TaskDocument) -> Iterator[Diagnostic]:
    """A task configures an overlay, but does not enable it.

    Why it matters: all overlays but `hil` are off unless they set `enabled: true`, so the configuration has no effect.
    Instead: write `enabled: true`, or `enabled: false` where that is meant. Defaults of a workflow or project for tasks
    that use the overlay are not reported.
    """
    for overlay in task.overlays.values():
        is_own = isinstance(task.get("overlays", overlay.name), Mapping)
        if overlay.name != "hil" and is_own and overlay.find("enabled") is None:
            message = f"`{overlay.name}` is configured, but not enabled"
            yield task.warning(overlay.place, overlay.field, message, help="write `enabled: true`")
