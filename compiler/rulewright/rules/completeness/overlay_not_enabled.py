from rulewright.diagnostics import Findings, warning
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Mapping


def overlay_not_enabled(task: TaskDocument) -> Findings:
    """A task configures an overlay, but neither the task nor a default enables it.

    Why it matters: all overlays but `hil` are off unless they set `enabled: true`, so the configuration has no effect.
    Instead: write `enabled: true` in the task or in the default, or `enabled: false` in the task where that is meant.
    Defaults of a workflow or project for tasks that use the overlay are not reported.
    """
    for overlay in task.overlays.values():
        own, switch = task.get("overlays", overlay.name), overlay.find("enabled")
        if overlay.name == "hil" or not isinstance(own, Mapping) or overlay.enabled or "enabled" in own:
            continue
        message = f"`{overlay.name}` is configured, but not enabled"
        if switch is None:
            yield task.warning(overlay.place, overlay.field, message, help="write `enabled: true`")
        else:
            message = f"`{overlay.name}` is disabled here, but configured by tasks that do not enable it"
            yield warning(switch, message, notes=[(overlay.place, "configured here")])
