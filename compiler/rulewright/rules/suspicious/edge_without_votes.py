import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import flag, scalar, text_scalars
from rulewright.documents.check import JUDGE_ROUTES, TRACED
from rulewright.documents.profile import Profile
from rulewright_runtime.english import ticked

# `Every check with all of its votes`, without a denial.
VOTES: Final = re.compile(
    r"(?!.*\b(?:0|disabled|no|none|not|off|skipped|without|zero)\b).*\bwith (?:all|its|three|full)\b[^.;]*\bvotes\b.*",
    re.I | re.S,
)
UNJUDGED: Final = frozenset({"cue_response", "expression", "jurisdiction_rule", "lexicon_only", "memory_probe"})


def edge_without_votes(profile: Profile) -> Findings:
    """A profile enables `llm_edge` or routes that ask a judge, but sets 0 votes; or sets votes that no route uses.

    Why it matters: without votes no judge is asked, so no match of a lexicon is confirmed.
    Instead: set `llm_edge: false`, or allow at least one vote.
    """
    judged = set(profile.include_routes) & (JUDGE_ROUTES - {TRACED})
    place = profile.place("llm_repetitions")
    only_routes = profile.include_routes and not (profile.include_all or profile.include_modes)
    if profile.repetitions == 0 and judged:
        odd = [each for each in text_scalars(profile.node, "include_routes") if each.value in judged]
        is_odd = len(odd) == 1 < len(profile.include_routes)  # the other routes need no votes
        message = f"with 0 votes, no check of the route {ticked(sorted(judged))} runs"
        yield warning(odd[0] if is_odd else place, message, notes=[(place, "the number of votes")] if is_odd else [])
    elif profile.repetitions and only_routes and not {*profile.include_routes} - UNJUDGED:
        yield warning(place, "none of the routes of this profile asks a judge", help="set it to 0")
    described = scalar(profile.node, "description")
    if profile.repetitions == 0 and profile.include_all and described and VOTES.fullmatch(described.text):
        message = "the description speaks of votes, but with 0 votes no judge is asked"
        yield warning(place, message, notes=[(described, "said here")])
    if profile.repetitions == 0 and flag(profile.node, "llm_edge"):
        notes = [(profile.place("llm_repetitions"), "the number of votes")]
        help = "set it to false, or `llm_repetitions` to at least 1"
        yield warning(profile.place("llm_edge"), "with 0 votes, `llm_edge` asks no judge", help=help, notes=notes)
