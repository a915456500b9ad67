"""Rule: a lexicon of replies that searches only the user's turns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Diagnostic, warning
from rulewright.documents.base import optional_text, scalar
from rulewright.documents.check import LEXICON_ROUTES

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import LexiconDocument
    from rulewright.project import Project

ASSISTANT: Final = re.compile(r"^(?:The )?(?:assistant|bot|chat|agent|answer|reply)\b", re.IGNORECASE)


def reply_lexicon_reads_the_user(project: Project) -> Iterator[Diagnostic]:
    """The lexicon under `expected_reply` or `forbidden_reply` has `role: user`, or is that of the cue.

    Why it matters: replies are the assistant's turns, so nothing is ever found in them: an expected phrase is always
    missing, a forbidden one never noticed. Often the lexicons of cue and reply are swapped, or one was copied.
    Instead: name the lexicon of the assistant's words, or correct its `role`.
    """
    for check in project.checks:
        yield from _deciding(check, project.lexicons.get(check.routing.deterministic_precheck or ""))
        for key in ("expected_reply", "forbidden_reply"):
            name = getattr(check.routing, key)
            lexicon = project.lexicons.get(name or "")
            if lexicon is None or check.routing.route != "cue_response":
                continue
            place = check.place("routing", key)
            role = scalar(lexicon.node, "role")
            if name == check.routing.cue:
                notes = [(check.place("routing", "cue"), "the cue")]
                yield warning(place, f"`{name}` is both the cue and the reply", notes=notes)
            elif lexicon.role == "user" and role is not None:
                message = f"`{name}` searches the user's turns, but replies are the assistant's"
                swapped = project.lexicons.get(check.routing.cue or "")
                help = "exchange it with `cue`" if swapped is not None and swapped.role != "user" else None
                yield warning(place, message, notes=[(role, "its role")], help=help)


def _deciding(check: CheckDocument, lexicon: LexiconDocument | None) -> Iterator[Diagnostic]:
    """The lexicon of a check whose words are about the assistant, and which fails for words of the user."""
    words = " ".join(filter(None, (optional_text(check.node, key) for key in ("note", "pass_rule", "fail_rule"))))
    role = None if lexicon is None else scalar(lexicon.node, "role")
    if lexicon is None or role is None or lexicon.role != "user" or check.routing.route not in LEXICON_ROUTES:
        return
    if ASSISTANT.search(words):
        message = f"`{lexicon.name}` searches the user's turns, but the check is about the assistant"
        place = check.place("routing", "deterministic_precheck")
        yield warning(place, message, notes=[(role, "its role")])
