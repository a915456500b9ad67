from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import first_place
from rulewright.documents.check import CheckDocument
from rulewright.documents.lexicon import LexiconDocument
from rulewright.project import Project
from rulewright.spelling import suggest

KEYS: Final = ("deterministic_precheck", "cue", "expected_reply", "forbidden_reply")


def unused_lexicon(project: Project) -> Findings:
    """A lexicon is not used by any check or state machine.

    Why it matters: its patterns are never searched for.
    Instead: name it in a check, for instance as `deterministic_precheck`, or in a cue of a state machine, or remove it.
    """
    used = Counter(name for check in project.checks for name in _lexicons_of(check).values())
    named = _named(project)
    # A lexicon that a misspelt name was meant for is not unused.
    unknown = {name for name in named if name and name not in project.lexicons}
    meant = {suggest(name, project.lexicons) for name in unknown}
    taken = named | meant
    unused = {name for name in project.lexicons if name not in taken}
    if len(unknown) == len(unused) == 1 and None in meant:  # one of the two was renamed
        return
    # `reply-lexicon-reads-the-user` reports a check that names one lexicon twice.
    doubled = any(len(each) > len(set(each.values())) for each in map(_lexicons_of, project.checks))
    named_keys = ((check, key, other) for check in project.checks for key, other in _lexicons_of(check).items())
    sharing = [(check, key) for check, key, other in named_keys if used[other] > 1]
    for name, lexicon in project.lexicons.items():
        if project.checks and name in unused and not (doubled and len(unused) == 1):
            place = lexicon.node.key_span(name) if name in lexicon.node else first_place(lexicon.node)
            message = f"nothing uses the lexicon `{name}`"
            instead = _used_instead(name, sharing)
            if instead is None and len(unused) == 1:
                instead = _used_apart(lexicon, project, used)
            if instead is None:
                yield warning(place, message)
            else:
                check, key = instead
                message = f"{message}, but `{check.id}` uses the lexicon of another check"
                yield warning(check.place("routing", key), message, notes=[(place, "unused")], help=Guess(name))


def _used_apart(unused: LexiconDocument, project: Project, used: Mapping[str, int]) -> tuple[CheckDocument, str] | None:
    """The only check that shares no word with a lexicon that another check with such a word uses, too; with the key."""
    for other, count in used.items():
        lexicon = project.lexicons.get(other)
        if count < 2 or lexicon is None or lexicon.role != unused.role:
            continue
        users = [(each, key) for each in project.checks for key, name in _lexicons_of(each).items() if name == other]
        words = set(other.replace("-", "_").split("_"))
        apart = [(each, key) for each, key in users if words.isdisjoint(each.id.replace("-", "_").split("_"))]
        if len(apart) == 1 < len(users):
            return apart[0]
    return None


def has_unused(project: Project, *roles: str) -> bool:
    """Whether a lexicon of one of these roles is used by nothing, and may be meant where another one is named."""
    named = _named(project)
    return any(each.role in roles and name not in named for name, each in project.lexicons.items())


def _named(project: Project) -> set[str | None]:
    """The names of lexicons in checks and state machines."""
    named: set[str | None] = {name for check in project.checks for name in _lexicons_of(check).values()}
    named |= {name for check in project.checks for name in check.scorer.detectors or ()}
    return named | {cue.lexicon for machine in project.state_machines.values() for cue in machine.cues.values()}


def _used_instead(name: str, sharing: Iterable[tuple[CheckDocument, str]]) -> tuple[CheckDocument, str] | None:
    """The first of these checks that is named like a lexicon, with the key of the lexicon that it uses instead."""
    return next(
        (pair for pair in sharing if name in (suggest(pair[0].id, [name]), suggest(pair[0].name, [name]))), None
    )


def _lexicons_of(check: CheckDocument) -> dict[str, str]:
    """The lexicons that a check's routing names, by their keys."""
    return {key: name for key in KEYS if (name := getattr(check.routing, key)) is not None}
