from __future__ import annotations

import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.project.unread_files import UnreadFiles

# `probes:  # Probes of the whole scenario (optional, 31/64)`
COUNTED: Final = re.compile(
    r"^(?P<key>\w+):[^#\n]*#[^\n]*"
    r"\((?:[^()\n]*\s)?(?P<count>(?P<having>\d+)/(?P<all>\d+))(?:\s[^()\n]*)?\)",
    re.MULTILINE,
)


def comment_contradicts_files(unread: UnreadFiles) -> Findings:
    """A comment in `SCENARIO_SCHEMA.yaml` says that, for example, `31/64` scenarios have a key, but the files differ.

    Why it matters: readers rely on these numbers and do not count again.
    Instead: correct the numbers, or remove them.
    """
    total = len(unread.scenarios)
    for source in unread.descriptions if total else ():
        for found in COUNTED.finditer(source.text):
            key, having = found["key"], sum(found["key"] in scenario for scenario in unread.scenarios)
            if (int(found["having"]), int(found["all"])) != (having, total):
                yield warning(
                    source.span(*found.span("count")),
                    f"`{found['count']}` contradicts the files: {having} of {total} scenarios have `{key}`",
                )
