from rulewright.diagnostics import Findings, warning
from rulewright.documents.check import CheckDocument


def any_mixed_with_tags(check: CheckDocument) -> Findings:
    """The tag `any` is listed among other tags.

    Why it matters: `any` selects every scenario, so the other tags restrict nothing. Under `semantics: reference` `any`
    among others is an ordinary tag.
    Instead: list `any` alone, or remove it.
    """
    tags = check.tags or ()
    if "any" in tags and len(tags) > 1:
        place = check.place("eligibility", "scenario_tags_any", tags.index("any"))
        listed = check.key_place("eligibility", "scenario_tags_any")
        yield warning(
            place,
            "`any` selects every scenario, whatever the other tags (under `semantics: reference` only by itself)",
            notes=[(listed, "the check is universal: no tag selects it")] if check.is_universal else (),
        )
