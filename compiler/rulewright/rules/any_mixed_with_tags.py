"""Rule: the tag `any` among others."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.check import CheckDocument


def any_mixed_with_tags(check: CheckDocument) -> Iterator[Diagnostic]:
    """The tag `any` stands among other tags.

    Why it matters: `any` means everywhere only when it stands alone; among others it is a tag like them, which no
    scenario bears.
    Instead: leave `any` alone, or remove it.
    """
    tags = check.tags or ()
    if "any" in tags and len(tags) > 1:
        place = check.place("eligibility", "scenario_tags_any", tags.index("any"))
        listed = check.key_place("eligibility", "scenario_tags_any")
        yield warning(
            place,
            "`any` means everywhere only when it stands alone; here it is a tag like the others",
            notes=[(listed, "the check is universal: no tag selects it")] if check.is_universal else (),
        )
