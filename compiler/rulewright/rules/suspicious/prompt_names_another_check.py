from __future__ import annotations

import re
from typing import Final

from rulewright.diagnostics import Findings, advice, error, warning
from rulewright.load import place
from rulewright.project import Project

_NAME: Final = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+")


def prompt_names_another_check(project: Project) -> Findings:
    """A prompt names another check, or an id that no check has, instead of its own.

    Why it matters: a judge that sees several checks by name may answer for the other one, and readers of the recorded
    prompt can't tell which check was asked.
    Instead: write the check's full id, or `{{ check.id }}`.
    """
    ids = {check.id for check in project.checks}
    for check in project.checks:
        if check.prompt is None or not isinstance(check.prompt.value, str) or check.id in check.prompt.value:
            continue
        for found in _NAME.finditer(check.prompt.value):
            name = found.group()
            span = place(check.prompt, found.start(), found.end())
            sharing = sorted(each for each in ids if each.startswith(f"{name}-"))
            if name in ids:
                yield error(span, f"this prompt of `{check.id}` names the check `{name}`", help=f"write `{check.id}`")
                break
            if sharing == [check.id]:
                yield advice(span, f"`{name}` is not a check's id", help=f"write `{check.id}`")
                break
            if len(sharing) > 1:
                report = advice if check.id in sharing else warning  # its own id, cut off, misleads nobody
                yield report(span, f"`{name}` could be any of {len(sharing)} checks", help=f"write `{check.id}`")
                break
