"""Removes or merges redundant findings: those that another finding explains better, those with one common cause, and
those that depend on a document that can't be read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from rulewright.categories import COMPLETENESS, CORRECTNESS, SUSPICIOUS, category_of
from rulewright.causes.related_codes import (
    ACROSS,
    COPIED,
    DEPENDENT,
    EXPECTED,
    EXPLAINED_BETTER_BY,
    FOLLOWED_ANYWHERE,
    FOLLOWED_BY,
    FOLLOWED_BY_QUOTING,
    GROUPED,
    LACKED_BY_QUOTED,
    MISSPELT,
    OF_CASES,
    OF_SCORECARDS,
    OF_TWO_DOCUMENTS,
    ONCE_A_DOCUMENT,
    ONCE_A_LINE,
    ONCE_A_MESSAGE,
    ONCE_A_PLACE,
    PROBES,
    REPORTED_WITH,
    SAME_MESSAGE,
    SAME_MESSAGE_IN_DOCUMENT,
    SURE,
    UNBRACKETED,
    UNKNOWN_NAMES,
)
from rulewright.diagnostics import (
    OF_THE_OTHER_FOLDER,
    OPEN_TYPE,
    RULE_SETS,
    Diagnostic,
    Guess,
    Note,
    Severity,
    Span,
    is_within,
)
from rulewright.documents.keys import key
from rulewright.documents.kinds import kind_of
from rulewright.load import Mapping as MappingNode
from rulewright.load import Node
from rulewright.load import Sequence as SequenceNode
from rulewright.load.nodes import repeated
from rulewright.spelling import is_slip_of

if TYPE_CHECKING:
    from rulewright.project import Project


def without_echoes(found: Sequence[Diagnostic], allowed: Sequence[Diagnostic] = ()) -> list[Diagnostic]:
    """Return the findings without those that another one at the same place, `allowed` or not, explains better. A
    missing key is still reported next to an allowed unknown key, because that was not meant to be the missing one.
    A misspelt word is not reported where another finding names it otherwise than as a guess."""
    own = _codes_by_place(found)
    codes = _codes_by_place((*found, *allowed))
    statements = " ".join(_parts(each)[0] for each in (*found, *allowed) if each.code != MISSPELT)
    found = [each for each in found if each.code != MISSPELT or each.subject not in statements]
    return [each for each in found if not _is_echo(each, own if each.code == "missing-key" else codes)]


def _parts(found: Diagnostic) -> tuple[str, str]:
    """What a finding says, without the name that it guesses, and what it guesses, in lower case."""
    stated, _, guessed = f"{found.message} {found.help}".lower().partition("did you mean")
    meant = f"`{found.help.meant.lower()}`" if isinstance(found.help, Guess) else ""
    return stated.replace(meant, "") if meant else stated, guessed


def _codes_by_place(found: Iterable[Diagnostic]) -> dict[Span, set[str]]:
    codes: dict[Span, set[str]] = {}
    for each in found:
        codes.setdefault(each.span, set()).add(each.code)
    return codes


def _is_echo(found: Diagnostic, codes: Mapping[Span, set[str]]) -> bool:
    if found.code == "missing-key":  # the key is present, but misspelt
        return any("unknown-key" in codes.get(note.span, ()) for note in found.notes)
    if found.code == "yaml-trap" and any(
        codes[span] & {"bad-expression", "mistyped-regex"} for span in codes if is_within(span, found.span)
    ):
        return True
    return bool(codes[found.span] & EXPLAINED_BETTER_BY.get(found.code, frozenset()))


def once_a_place(found: Sequence[Diagnostic], roots: Mapping[str, Node | None]) -> list[Diagnostic]:
    """Return the findings; one about a value that aliases repeat comes once, with all notes, since its message may
    name the place of one alias."""
    places = Counter((each.code, each.span, each.help) for each in found)
    paths = {each.span.path for each in found if places[each.code, each.span, each.help] > 1}
    shared = {path: [node.span for node in repeated(roots.get(path))] for path in paths}
    groups: dict[object, list[Diagnostic]] = {}
    for each in found:
        is_repeated = any(is_within(each.span, span) for span in shared.get(each.span.path, ()))
        groups.setdefault((each.code, each.span, each.help) if is_repeated else each, []).append(each)
    return [
        replace(group[0], notes=tuple(dict.fromkeys(note for each in group for note in each.notes)))
        for group in groups.values()
    ]


_MISNAMED: Final = "misnamed"  # files that are not read: checks, as far as is known
_REFUSED: Final = frozenset({"duplicate-key", "missing-key", "wrong-type"})  # findings of documents not read in full


def without_dependent(found: Iterable[Diagnostic], project: Project, unread: Collection[str]) -> list[Diagnostic]:
    """Return the findings without those that a document of one of the `unread` kinds might refute."""
    codes = {code for kind in unread for code in DEPENDENT.get(kind, ())}
    of_misnamed = DEPENDENT["checks"] if _MISNAMED in unread else frozenset[str]()
    cards = {card.path for card in project.scorecards.values()} if "scoring" in unread else set()
    return [
        each
        for each in found
        if each.code not in codes
        and not (each.code in of_misnamed and each.severity is not Severity.ERROR)  # else lint has no error for it
        and not (each.code in OF_SCORECARDS and each.span.path in cards)
        and not ("vocabulary" in unread and _is_of_vocabulary(each, project))
    ]


def unread_kinds(found: Sequence[Diagnostic], project: Project) -> frozenset[str]:
    """Return the kinds of documents that can't be read in full: with a value that is refused or missing, unless its
    key is documentation."""
    roots = {each.source.path: each.root for each in project.loaded}
    misnamed = [each for each in found if each.code == "misspelt-suffix"]
    if project.path is None and any(_is_beside(each, project) for each in misnamed):
        return frozenset(DEPENDENT)  # the project file has another name
    refused = [each for each in found if each.code in _REFUSED and each.severity is Severity.ERROR]
    kinds = {_kind_read_from(each.span, roots.get(each.span.path)) for each in refused}
    read = {kind if kind in DEPENDENT else f"{kind}s" for kind in kinds if kind is not None}
    return project.unreadable | read | ({_MISNAMED} if misnamed else set())


def _is_beside(found: Diagnostic, project: Project) -> bool:
    """Whether a finding is about a file in the folder of the project."""
    return PurePath(found.span.path).parent == project.root


def _kind_read_from(place: Span, root: Node | None) -> str | None:
    """The kind of a document that is read from a place; None for documentation."""
    kind = kind_of(root)
    entries = root.entries if isinstance(root, MappingNode) else ()
    around = [each.name for each in entries if is_within(place, each.value.span) or place == each.key.span]
    if kind == "project":  # which names the places of the other kinds
        return next((name for name in around if name in DEPENDENT), None)
    is_prose = kind is not None and any(key(kind, (name,)).use == "documentation" for name in around)
    return None if is_prose else kind


def _is_of_vocabulary(found: Diagnostic, project: Project) -> bool:
    """Whether the finding is about a word outside the project file that the vocabulary does not allow."""
    return "unknown-value" in (found.code, found.about) and found.span.path != str(project.path)


NAMING: Final = frozenset({"id", "name", "scenario_id", "scorecard", "project"})  # the keys of a document's name
JUDGED: Final = frozenset({CORRECTNESS, SUSPICIOUS, COMPLETENESS})
MOST_CAUSES: Final = 100  # findings of a code; the further ones stay on their own
_EXAMPLE: Final = "check-misses-own-example"
_FOR_KEY: Final = re.compile(" is not allowed for `[^`]+`;")  # an undeclared word is one mistake, whatever has it
_TASK: Final = re.compile(r"^task `[^`]*`, `[^`]*`: ")


def with_consequences_in_cases(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings of several documents; those about cases that follow from a scorecard's are its notes."""
    return [*with_consequences([each for each in found if each.code in OF_CASES])] + [
        each for each in found if each.code not in OF_CASES
    ]


def with_consequences(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings; those that usually follow from another one of the same document are its notes. A finding
    with a fix stays, because its fix is applied on its own, unless it writes a misspelt word."""
    followers: dict[Diagnostic, list[Diagnostic]] = {each: [] for each in found}
    order = {each: at for at, each in enumerate(followers)}  # once each: two stages may report the same mistake
    by_code: dict[str, list[Diagnostic]] = {}
    for each in order:
        by_code.setdefault(each.code, []).append(each)
    for each in order:
        causing = by_code if each.code == _EXAMPLE else _causing(each.code)
        possible = (one for code in causing for one in by_code.get(code, [])[:MOST_CAUSES])
        causes = (one for one in possible if one in followers and _causes(one, each))
        cause = min(causes, key=order.__getitem__, default=None)
        if cause is not None:
            followers[cause] += [each, *followers.pop(each)]
    return [_with_followers(each, others) for each, others in followers.items()]


def with_second_views(found: Sequence[Diagnostic], roots: Mapping[str, Node | None]) -> list[Diagnostic]:
    """Return the findings; of those about one value only the gravest, with the others as its notes: two rules that
    object to one value usually see one mistake. An error, and a finding with a fix, stays."""
    followers: dict[Diagnostic, Diagnostic] = {}
    for group in _overlapping(found):
        own = [each for each in group if _is_about_a_value(each, roots.get(each.span.path))]
        for at, each in enumerate(own):
            first = next((one for one in own[:at] if one not in followers and _is_second_view(one, each)), None)
            if first is not None:
                followers[each] = first
    views: dict[Diagnostic, list[Diagnostic]] = {}
    for each, first in followers.items():
        views.setdefault(first, []).append(each)
    return [_with_followers(each, views.get(each, [])) for each in found if each not in followers]


def _overlapping(found: Iterable[Diagnostic]) -> Iterator[list[Diagnostic]]:
    """Yield the findings in lists of several that begin in one line and overlap, the gravest first, and of equal ones
    that of the smallest part."""
    groups: list[list[Diagnostic]] = []
    line, end = ("", 0), (0, 0)
    for each in sorted(found, key=lambda each: (each.span.path, each.span.line, each.span.column)):
        span = each.span
        if line == (span.path, span.line) and (span.line, span.column) <= end:
            groups[-1].append(each)
            end = max(end, (span.end_line, span.end_column))
        else:
            groups.append([each])
            line, end = (span.path, span.line), (span.end_line, span.end_column)
    for group in groups:
        if len(group) > 1:
            yield sorted(group, key=lambda each: (each.severity.rank, each.fix is None, _width(each.span)))


def _width(span: Span) -> tuple[int, int]:
    """The lines and columns of a span."""
    return span.end_line - span.line, span.end_column - span.column


def _is_second_view(first: Diagnostic, found: Diagnostic) -> bool:
    """Whether a finding may be left out, since the place of another one is its place, or contains it or is in it."""
    one, other = first.span, found.span
    is_inside = one.line == one.end_line and other.line == other.end_line
    is_one_place = one == other or (is_inside and (is_within(one, other) or is_within(other, one)))
    is_doubt = found.severity is not Severity.ERROR and found.fix is None
    return is_doubt and is_one_place and category_of(found.code) in JUDGED and category_of(first.code) in JUDGED


def _is_about_a_value(found: Diagnostic, root: Node | None) -> bool:
    """Whether a finding is about a value. One at a key, or at the name of a document, is about what it holds, or does
    not hold."""
    at = 0 if root is None else root.source.offset(found.span.line, found.span.column)
    node, names = root, list[str]()
    while isinstance(node, MappingNode | SequenceNode):
        if isinstance(node, MappingNode):
            entry = next(
                (each for each in node.entries if each.key.start <= at < max(each.key.end, each.value.end)), None
            )
            if entry is None or at < entry.key.end:
                return False
            node, names = entry.value, [*names, entry.name]
        elif (item := next((each for each in node.items if each.start <= at < each.end), None)) is not None:
            node = item
        else:
            break
    return node is not None and not (len(names) == 1 and names[0] in NAMING)


@cache
def _causing(code: str) -> tuple[str, ...]:
    """The codes whose findings may be the cause of one with this code."""
    tables = (FOLLOWED_BY, FOLLOWED_ANYWHERE, FOLLOWED_BY_QUOTING, LACKED_BY_QUOTED)
    listed = {cause: None for table in tables for cause, codes in table.items() if code in codes}
    listed |= dict.fromkeys(UNKNOWN_NAMES.split() if code == "missing-path" else ())
    own = [code] if code in ONCE_A_LINE | ONCE_A_DOCUMENT | ONCE_A_MESSAGE | {"unknown-value"} else []
    return tuple(dict.fromkeys((MISSPELT, "unknown-key", "wrong-type", *listed, *own)))


def _causes(cause: Diagnostic, found: Diagnostic) -> bool:
    """Whether a finding usually follows from another one: the first relation that decides counts."""
    if cause.code == MISSPELT and found.code != MISSPELT and cause.subject in _parts(found)[1]:
        return True
    if found.fix is not None:
        return False
    decided = (relation(cause, found) for relation in _RELATIONS)
    return next((each for each in decided if each is not None), None) or False


def _by_lost_brackets(cause: Diagnostic, found: Diagnostic) -> bool | None:
    if cause.code != "wrong-type" or found.code not in UNBRACKETED:
        return None
    is_next_to_it = found.code == "unknown-key" and found.span.line == cause.span.line
    return cause.span.path == found.span.path and (is_next_to_it or is_within(cause.span, found.span))


def _by_misspelt_key(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether a key is missing in the mapping that has it under a misspelt name."""
    if (cause.code, found.code) != ("unknown-key", "missing-key") or cause.span.path != found.span.path:
        return None
    return (cause.quoted[1:] == found.quoted[1:] and is_slip_of(cause.subject, found.subject)) or None


def _by_quoting(cause: Diagnostic, found: Diagnostic) -> bool | None:
    if found.code not in FOLLOWED_BY_QUOTING.get(cause.code, ()) or cause.subject not in found.quoted:
        return None
    return cause.code != found.code or (cause is not found and cause.sort_key < found.sort_key)


def _by_doubled_word(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether a word seems misspelt only because two parameters have another one."""
    if cause.code != "setting-of-two-parameters" or found.code != MISSPELT:
        return None
    return not {*cause.quoted}.isdisjoint(found.quoted)


def _by_quoted_document(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether a finding is about what a document lacks that it quotes, such as the tag of a check, and the cause is in
    that document."""
    if found.code not in LACKED_BY_QUOTED.get(cause.code, ()):
        return None
    return cause.severity is not Severity.ADVICE and PurePath(cause.span.path).stem in found.quoted


def _by_input_path(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether a finding about cases or settings names a part of a misspelt path or of the one that was meant."""
    is_of_cases = cause.code == "misspelt-input-path" and found.code in ("bad-case", "bad-setting")
    if not is_of_cases or not isinstance(cause.help, Guess):
        return None
    if cause.about == OF_THE_OTHER_FOLDER:  # what is a case, and what an output, is told by these keys
        return True
    paths = (f".{cause.subject}.", f".{cause.help.meant}.")
    return any(f".{each}." in path for each in found.quoted if "." in each for path in paths)


def _by_probes(cause: Diagnostic, found: Diagnostic) -> bool | None:
    if cause.code != "probe-without-verifier" or found.code != "check-no-scenario-reaches":
        return None
    is_of_probes = isinstance(cause.help, Guess) or cause.about == EXPECTED
    return (is_of_probes or cause.span.path == found.span.path) and found.about == PROBES


def _by_missing_path(cause: Diagnostic, found: Diagnostic) -> bool | None:
    if found.code != "missing-path" or found.severity is not Severity.WARNING:
        return None
    return cause.code in DEPENDENT.get(found.about, ())  # the folder of the name is empty


def _anywhere(cause: Diagnostic, found: Diagnostic) -> bool | None:
    is_sure = cause.severity is Severity.ERROR or cause.code in SURE
    if found.code == "check-without-part" and _is_beside_it(cause, found):
        return None
    if found.code in FOLLOWED_ANYWHERE.get(cause.code, ()) and is_sure:
        return found.code != "unknown-value" or cause.subject == found.subject
    if cause.span.path != found.span.path and found.code == "bad-expression" and _is_named(cause, found):
        return found.subject == cause.subject
    return None


def _is_beside_it(cause: Diagnostic, found: Diagnostic) -> bool:
    """Whether two findings are in different files of one folder, such as two scorecards."""
    one, other = cause.span.path, found.span.path
    return one != other and PurePath(one).parent == PurePath(other).parent


def _by_condition(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether the cause is a part of the condition that decides a missed example."""
    if found.code != _EXAMPLE or cause.code == found.code:
        return None
    places = (found.span, *(note.span for note in found.notes))
    return any(is_within(cause.span, place) for place in places) or None


def _in_one_document(cause: Diagnostic, found: Diagnostic) -> bool:
    places = {found.span.path, *(note.span.path for note in found.notes if found.code in OF_TWO_DOCUMENTS)}
    if cause.span.path not in places or cause is found:
        return False
    if cause.code != found.code:
        return _is_named(cause, found) or found.code in FOLLOWED_BY.get(cause.code, ())
    return cause.sort_key <= found.sort_key and _is_repeated(cause, found)


def _is_repeated(cause: Diagnostic, found: Diagnostic) -> bool:
    """Whether two findings of one code in one document usually have one cause."""
    is_of_line = found.code in ONCE_A_LINE or (found.code == "unknown-value" and not isinstance(found.help, Guess))
    on_line = is_of_line and cause.span.line == found.span.line
    is_same = found.code in ONCE_A_MESSAGE and _TASK.sub("", cause.message) == _TASK.sub("", found.message)
    is_open = found.code == "bad-expression" and found.about == OPEN_TYPE
    return on_line or is_same or is_open or found.code in ONCE_A_DOCUMENT


_RELATIONS: Final = (
    _by_lost_brackets, _by_misspelt_key, _by_doubled_word, _by_quoted_document, _by_quoting, _by_input_path, _by_probes,
    _by_missing_path, _by_condition, _anywhere, _in_one_document,
)  # fmt: skip


def _is_named(cause: Diagnostic, found: Diagnostic) -> bool:
    """Whether a finding names the key that the cause reports as unknown, which may therefore be missing elsewhere, or
    whose value, with all below it, the cause refuses."""
    name = cause.subject.rpartition(".")[2]
    quoted = found.quoted if cause.code in ("unknown-key", "wrong-type") else ()
    if cause.code == "wrong-type" and any(each.startswith(f"{cause.subject}.") for each in quoted):
        return True
    return any(each.rpartition(".")[2].partition(":")[0] == name for each in quoted)


def _with_followers(found: Diagnostic, others: list[Diagnostic]) -> Diagnostic:
    severity = min((found, *others), key=lambda each: each.severity.rank).severity
    notes = (Note(each.span, _note(each, found)) for each in others)
    return replace(found, severity=severity, notes=(*found.notes, *notes)) if others else found


def together(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the findings in order; of those with one cause only the first, with the others as notes."""
    leaders = {(each.code, each.span): each for each in found}
    groups: dict[object, list[Diagnostic]] = {}
    joining: list[tuple[Diagnostic, Diagnostic]] = []
    for each in found:
        leader = _leader(each, leaders)
        if leader is None:
            groups.setdefault(_cause(each), []).append(each)
        else:
            joining.append((leader, each))
    for leader, each in joining:
        groups[_cause(leader)].append(each)
    return [_one_of(group) for group in _without_copies(groups.values())]


def _without_copies(groups: Iterable[list[Diagnostic]]) -> list[list[Diagnostic]]:
    """Return the groups; a group that only repeats the messages of an earlier one is merged into it."""
    kept: list[list[Diagnostic]] = []
    for group in groups:
        messages = {(each.code, each.message) for each in group}
        same = [other for other in kept if other[0].code == group[0].code] if group[0].code in COPIED else []
        earlier = next((other for other in same if messages <= {(each.code, each.message) for each in other}), None)
        if earlier is None:
            kept.append(group)
        else:
            earlier += group
    return kept


def _leader(found: Diagnostic, leaders: Mapping[tuple[str, Span], Diagnostic]) -> Diagnostic | None:
    """The finding that already reports the same mistake; None if this one has a fix of its own."""
    if _has_own_fix(found):
        return None
    spans = (*(note.span for note in found.notes), found.span)
    codes = REPORTED_WITH.get(found.code, frozenset())
    return next((leaders[code, span] for span in spans for code in codes if (code, span) in leaders), None)


def _has_own_fix(found: Diagnostic) -> bool:
    """Whether a finding has a fix other than the guess at a misspelt word, which may be misspelt in several places."""
    return found.fix is not None and not isinstance(found.help, Guess)


def _cause(found: Diagnostic) -> object:
    """The key that all findings with one cause share."""
    if found.about == RULE_SETS:
        return RULE_SETS
    if not _has_own_fix(found) and found.code in ACROSS:
        return found.code, found.severity, _FOR_KEY.sub("", found.message) if found.code in SAME_MESSAGE else None
    if not _has_own_fix(found) and found.code in ONCE_A_PLACE:
        return found.span, found.code
    if not _has_own_fix(found) and found.code in SAME_MESSAGE_IN_DOCUMENT:
        return found.span.path, found.code, found.message
    if not _has_own_fix(found) and found.code in GROUPED:
        return found.span.path, found.code, found.help if isinstance(found.help, Guess) else None
    return found


def _one_of(group: list[Diagnostic]) -> Diagnostic:
    first = min((each for each in group if each.code == group[0].code), key=lambda each: each.severity.rank)
    others = [each for each in group if each is not first]
    further = len({each.span for each in others} - {first.span})
    where = "this document" if all(each.span.path == first.span.path for each in others) else "other documents"
    more = f" (and {further} more {'place' if further == 1 else 'places'} in {where})" if further else ""
    notes = dict.fromkeys(note for each in others for note in _notes(each, first))
    fixes = [each.fix for each in group if each.fix is not None]
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    fix = first.fix and replace(first.fix, edits=tuple(edits))
    return replace(first, message=first.message + more, notes=(*first.notes, *notes), fix=fix)


def _notes(found: Diagnostic, first: Diagnostic) -> Sequence[Note]:
    """What remains of a finding next to the first one; of an equal one at its place only its own notes."""
    is_same = (found.span, found.message) == (first.span, first.message)
    return found.notes if is_same else (Note(found.span, _note(found, first)),)


def _note(found: Diagnostic, first: Diagnostic) -> str:
    if found.code == "missing-key" and found.help:
        return f"also missing, {found.help}"
    return "also here" if found.message == first.message else found.message
