"""Rule: a description that counts other scenarios than there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import warning
from rulewright.documents.beside import Beside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic

# `probes:  # Probes of the whole scenario (optional, 31/64)`
COUNTED: Final = re.compile(
    r"^(?P<key>\w+):[^#\n]*#[^\n]*"
    r"\((?:[^()\n]*\s)?(?P<count>(?P<having>\d+)/(?P<all>\d+))(?:\s[^()\n]*)?\)",
    re.MULTILINE,
)


def comment_contradicts_files(beside: Beside) -> Iterator[Diagnostic]:
    """The description beside the scenarios says `31/64` of a key, and other scenarios have it than so many.

    Why it matters: nobody recounts what a description says; papers and plans are written by it.
    Instead: correct the numbers, or leave them out.
    """
    scenarios = beside.project.scenarios.values()
    for source in beside.descriptions if scenarios else ():
        for found in COUNTED.finditer(source.text):
            key, having = found["key"], sum(found["key"] in scenario.node for scenario in scenarios)
            if (int(found["having"]), int(found["all"])) != (having, len(scenarios)):
                yield warning(
                    source.span(*found.span("count")),
                    f"`{found['count']}` contradicts the files: {having} of {len(scenarios)} scenarios have `{key}`",
                )
