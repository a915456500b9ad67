from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import scalar
from rulewright.project import Project
from rulewright.rules.completeness.unused_lexicon import has_unused

KEYS: Final = {
    "cue_response": ("expected_reply", "forbidden_reply"),
    "lexicon_only": ("deterministic_precheck",),
    "three_phase": ("deterministic_precheck",),
}


def reply_lexicon_reads_the_user(project: Project) -> Findings:
    """The lexicon of replies, or of the candidates of a `three_phase` check, has `role: user` or is also the cue.

    Why it matters: replies are the assistant's turns, so nothing is ever found in them: an expected phrase is always
    missing, a forbidden one never noticed. Often the lexicons of cue and reply are swapped, or one was copied.
    Instead: name the lexicon of the assistant's words, or correct its `role`.
    """
    for check in project.checks:
        for key in KEYS.get(check.routing.route, ()):
            name = getattr(check.routing, key)
            lexicon = project.lexicons.get(name or "")
            if lexicon is None:
                continue
            place = check.place("routing", key)
            role = scalar(lexicon.node, "role")
            if name == check.routing.cue:
                notes = [(check.place("routing", "cue"), "the cue")]
                yield warning(place, f"`{name}` is both the cue and the reply", notes=notes)
            elif lexicon.role == "user" and role is not None:
                message = f"`{name}` searches the user's turns, but replies are the assistant's"
                cue = project.lexicons.get(check.routing.cue or "")
                if cue is not None and cue.role != "user":
                    yield warning(place, message, notes=[(role, "its role")], help="swap it with `cue`")
                elif has_unused(project, "assistant", "both"):
                    yield warning(place, message, notes=[(role, "its role")])
                else:
                    yield warning(role, message, notes=[(place, "used here")])
