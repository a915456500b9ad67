"""Rule: a description that counts other scenarios than there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.project.unread_files import UnreadFiles

# `probes:  # Probes of the whole scenario (optional, 31/64)`
COUNTED: Final = re.compile(
    r"^(?P<key>\w+):[^#\n]*#[^\n]*"
    r"\((?:[^()\n]*\s)?(?P<count>(?P<having>\d+)/(?P<all>\d+))(?:\s[^()\n]*)?\)",
    re.MULTILINE,
)


def comment_contradicts_files(unread: UnreadFiles) -> Iterator[Diagnostic]:
    """The description beside the scenarios says that `31/64` of them have a key, and the files say otherwise.

    Why it matters: nobody recounts what a description says; papers and plans are written by it.
    Instead: correct the numbers, or leave them out.
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
