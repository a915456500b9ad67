from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, warning
from rulewright.documents.base import text_scalars
from rulewright.documents.profile import Profile
from rulewright.lower.selection import select

if TYPE_CHECKING:
    from rulewright.project import Project

NARROWER: Final = ("include_routes", "include_buckets")


def setting_overruled(subject: Profile | Project) -> Findings:
    """A setting of a profile has no effect, because another setting overrules it.

    Why it matters: `include_all` selects every check, whatever routes and buckets are listed next to it, and
    `llm_repetitions` is the number of votes of every check, so `use_dev_repetitions` has no effect. Without votes,
    no judge is asked about rubrics. A profile need not exclude a check that it does not select.
    Instead: remove one of the two, or correct the name of the check.
    """
    if isinstance(subject, Profile):
        yield from _overruled(subject)
        return
    for profile in subject.profiles.values():
        written = text_scalars(profile.node, "exclude_modes")
        found: list[Diagnostic] = []  # reported where the profile is compiled
        left = select(replace(profile, exclude_modes=()), subject.checks, found) if written else ()
        idle = {each.id for each in subject.checks} - {each.id for each in left}
        for each in () if found else written:
            if each.value in idle:
                message = f"the profile `{profile.name}` does not select `{each.value}`, so it need not exclude it"
                yield warning(each, message)


def _overruled(profile: Profile) -> Findings:
    """The settings that others in the same profile overrule."""
    for key in NARROWER if profile.include_all else ():
        if key in profile.node:
            notes = [(profile.key_place("include_all"), "overruled here")]
            yield warning(profile.key_place(key), f"`{key}` has no effect with `include_all`", notes=notes)
    votes = [(profile.place("llm_repetitions"), "the number of votes")]
    if profile.repetitions is not None and profile.use_dev_repetitions:
        message = "`use_dev_repetitions` has no effect: `llm_repetitions` sets the number of votes"
        yield warning(profile.key_place("use_dev_repetitions"), message, notes=votes)
    if profile.repetitions == 0 and profile.include_rubrics:
        yield warning(profile.key_place("include_rubrics"), "with 0 votes, no rubric is asked about", notes=votes)
