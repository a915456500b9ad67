import re
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import first_place, optional_text
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import LexiconDocument
from rulewright.documents.scenario import CueAnchorDocument
from rulewright.lower.semantics import unit_of
from rulewright.project import Project
from rulewright.rules.completeness.unused_lexicon import has_unused

ADDRESS: Final = re.compile(r"\byou(?:r|rs|rself)?\b", re.IGNORECASE)


def cue_lexicon_ignores_the_user(project: Project) -> Findings:
    """A lexicon of cues has no `role`, or has the role `assistant` although a cue of the user is in it.

    Why it matters: without a role it searches only the assistant's turns, but cues are mostly words of the user. The
    judge then gets the whole transcript instead of the window. Lexicons whose patterns mostly address somebody ("you're
    just tired") are left alone: those are an assistant's words.
    Instead: write `role: user` or `role: both` in the lexicon, or `role: assistant` where the assistant's words are the
    cue.
    """
    for check in project.checks:
        cue = project.lexicons.get(check.routing.cue or "") if check.routing.route == "cue_response" else None
        if cue is not None and cue.role in (None, "assistant"):
            why = "" if cue.role else " has no `role`, so it"
            message = f"`{cue.name}`{why} searches the assistant's turns, but cues are the user's"
            named, role = check.place("routing", "cue"), cue.place("role") if cue.role else first_place(cue.node)
            if not _is_exchanged(check, project) and not has_unused(project, "user", "both"):
                yield warning(role, message, notes=[(named, "used here")])
            else:
                yield warning(named, message, notes=[(role, "its role" if cue.role else "no `role`")])
        lexicon = project.precheck_of(check)
        unit = unit_of(check, project)
        if lexicon is None or not check.is_judged or unit != "event_window":
            continue
        if lexicon.role == "assistant" and (anchor := _cue_in(lexicon, check.id, project)) is not None:
            message = f"`{lexicon.name}` searches the assistant's turns, but a cue of the user is one of its phrases"
            yield warning(lexicon.place("role"), message, notes=[(anchor.place("cue_text_match"), "the cue")])
        if lexicon.role:
            continue
        if addresses_somebody(lexicon):
            continue
        yield warning(
            check.place("routing", "deterministic_precheck"),
            f"`{lexicon.name}` searches for cues only in the assistant's turns",
            notes=[(first_place(lexicon.node), "no `role` here means `assistant`")],
            help="set `role: user`, `assistant` or `both` in the lexicon",
        )


def _is_exchanged(check: CheckDocument, project: Project) -> bool:
    """Whether the lexicon of a reply searches the user's turns."""
    names = (check.routing.expected_reply, check.routing.forbidden_reply)
    replies = (project.lexicons.get(each or "") for each in names)
    return any(each is not None and each.role == "user" for each in replies)


def addresses_somebody(lexicon: LexiconDocument) -> bool:
    """Whether most patterns are words to somebody, as an assistant says them."""
    return 2 * sum(ADDRESS.search(pattern.text) is not None for pattern in lexicon.patterns) > len(lexicon.patterns)


def _cue_in(lexicon: LexiconDocument, check: str, project: Project) -> CueAnchorDocument | None:
    """The first cue of a check that is a phrase of a lexicon."""
    phrases = [each.text.lower() for each in lexicon.patterns if each.mode == "substring_ci"]
    for scenario in project.scenarios.values():
        for anchor in scenario.cue_anchors:
            cue = (optional_text(anchor.node, "cue_text_match") or "").lower()
            if anchor.is_for(check) and cue in phrases:
                return anchor
    return None
