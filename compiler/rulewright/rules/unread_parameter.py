"""Rule: a parameter that no condition of its check reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.load import Mapping

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument

READ: Final = re.compile(r"""\bparams\s*(?:\.\s*(\w+)|\[\s*(?:"(\w+)"|'(\w+)')\s*\])?""")


def unread_parameter(check: CheckDocument) -> Iterator[Diagnostic]:
    """A name under `params` that no condition of the check reads.

    Why it matters: whoever changes its value believes that the check changes with it.
    Instead: read it in a condition, or remove it.
    """
    params = check.node.get("params")
    if not isinstance(params, Mapping) or "use" in check.node or not check.verdict_conditions:
        return
    uses = [use for each in check.verdict_conditions for use in READ.finditer(str(each.value))]
    read = {use[1] or use[2] or use[3] for use in uses}
    if not read <= {*params.keys, *check.params}:  # the map itself, or a name that is told of where it is read
        return
    for entry in params.entries:
        if entry.key.value not in read:
            yield warning(entry.key, f"no condition reads the parameter `{entry.key.value}`")
