"""Rule: a second copy of definitions that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, advice
from rulewright.project.unread_files import UnreadFiles


def unread_definitions(unread: UnreadFiles) -> Iterator[Diagnostic]:
    """Definitions of one kind lie in two places where one looks for them, and only the first is read.

    Why it matters: whoever mends the file that is not read changes nothing, and the two drift apart.
    Instead: remove one of the two, or name the place in the project file.
    """
    for copy in unread.copies:
        kind = copy.kind.replace("_", " ")
        yield advice(
            copy.source.span(0, 0),
            f"nothing reads this file: the {kind} are those of `{copy.taken}`",
            help=f"remove one of the two, or name the place in the project file: `{copy.kind}: {copy.taken}`",
        )
