"""Rule: a lexicon of cues that is held against the assistant's turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import first_place
from rulewright.lower.semantics import unit_of

if TYPE_CHECKING:
    from rulewright.project import Project

ADDRESS: Final = re.compile(r"\byou(?:r|rs|rself)?\b", re.IGNORECASE)


def cue_lexicon_ignores_the_user(project: Project) -> Iterator[Diagnostic]:
    """The lexicon that finds the cues of an event window does not say whose words they are.

    Why it matters: cues are mostly what users say; looked for in the assistant's words they are not found, and the
    judge gets the whole transcript instead of the window. Patterns that mostly address somebody ("you're just tired")
    are an assistant's words and need no role.
    Instead: write `role: user` (or `both`) in the lexicon; `role: assistant` where the assistant's words are the cue.
    """
    units = project.scoring.unit_by_bucket if project.scoring else {}
    for check in project.checks:
        lexicon = project.lexicons.get(check.routing.deterministic_precheck or "")
        unit = unit_of(check, units, default_units=project.semantics == "seed")
        if lexicon is None or not check.is_judged or unit != "event_window" or lexicon.role:
            continue
        if 2 * sum(ADDRESS.search(pattern.text) is not None for pattern in lexicon.patterns) > len(lexicon.patterns):
            continue
        yield warning(
            check.place("routing", "deterministic_precheck"),
            f"`{lexicon.name}` looks for cues in the assistant's turns only",
            notes=[(first_place(lexicon.node), "no `role` here means `assistant`")],
            help="say whose words they are: `role: user`, `assistant` or `both`",
        )
