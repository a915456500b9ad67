"""Rule: tags where every scenario is eligible anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.diagnostics import warning
from rulewright.documents.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic


def tags_on_universal_check(check: Check) -> Iterator[Diagnostic]:
    """A check of scope `universal` lists tags.

    Why it matters: a universal check applies everywhere, so the tags restrict nothing; where its author meant them
    to, the check fails transcripts it was never made for.
    Instead: remove the tags, or set `scope: trigger`.
    """
    if check.scope == "universal" and check.tags and check.tags != ("any",):
        yield warning(
            check.key_place("eligibility", "scenario_tags_any"),
            "these tags restrict nothing: the check is universal",
            notes=[(check.place("scope"), "the scope is set here")],
        )
