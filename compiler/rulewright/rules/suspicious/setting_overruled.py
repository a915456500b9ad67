from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.profile import Profile

NARROWER: Final = frozenset({"include_routes", "include_buckets", "hard_fail_only"})


def setting_overruled(profile: Profile) -> Findings:
    """A setting of a profile has no effect, because another setting overrules it.

    Why it matters: `include_all` selects every check, whatever else narrows the selection next to it, and
    `llm_repetitions` is the number of votes of every check, so `use_dev_repetitions` has no effect. Without votes,
    no judge is asked about rubrics.
    Instead: remove one of the two.
    """
    switched = {"hard_fail_only": profile.hard_fail_only}
    narrowing = [each for each in profile.node.entries if each.name in NARROWER and switched.get(each.name, True)]
    for entry, *others in [narrowing] if profile.include_all and narrowing else ():
        also = [(each.key.span, "also overruled") for each in others]
        notes = [(profile.key_place("include_all"), "overruled here"), *also]
        yield warning(entry.key, f"`{entry.name}` has no effect with `include_all`", notes=notes)
    votes = [(profile.place("llm_repetitions"), "the number of votes")]
    if profile.repetitions is not None and profile.use_dev_repetitions:
        message = "`use_dev_repetitions` has no effect: `llm_repetitions` sets the number of votes"
        yield warning(profile.key_place("use_dev_repetitions"), message, notes=votes)
    if profile.repetitions == 0 and profile.include_rubrics:
        yield warning(profile.key_place("include_rubrics"), "with 0 votes, no rubric is asked about", notes=votes)
