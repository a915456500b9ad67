"""Removes or merges redundant findings: those that another finding explains better, those with one common cause, and
those that depend on a document that can't be read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from rulewright.diagnostics import OPEN_TYPE, RULE_SETS, Diagnostic, Note, Severity, Span, is_within
from rulewright.documents.keys import key
from rulewright.documents.kinds import kind_of
from rulewright.load import Mapping as MappingNode
from rulewright.load import Node
from rulewright.spelling import Guess

if TYPE_CHECKING:
    from rulewright.project import Project


def codes_in(listed: str) -> frozenset[str]:
    """Return the codes that a text lists."""
    return frozenset(listed.split())


def _code_sets(rows: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {key: codes_in(listed) for key, listed in rows.items()}


# A code, and the codes that explain the same place better.
EXPLAINED_BETTER_BY: Final = _code_sets(
    {
        "ascii-only-apostrophe": "yaml-trap",
        "condition-always-holds": "both-sides-equal",
        "condition-never-holds": """both-sides-equal gate-cannot-stop gate-check-never-applies
            gate-ignores-unclear part-without-checks""",
        "branch-never-taken": "branch-condition-incomplete",
        "check-without-part": "part-without-checks",
        "duplicate-key": "yaml-syntax",
        "detector-without-definition": "detector-is-not-routed",  # on which compile stops
        "gate-without-blindspot": "check-without-blindspot",
        "id-differs-from-file-name": "duplicate-id",
        "listed-twice": "exit-below-threshold",
        "limit-read-both-ways": "bound-excluded outcome-contradicts-condition unlike-its-siblings",
        "missing-path": "unset-variable",
        "more-votes-in-development": "dev-repetitions-nobody-uses directive-ignored-by-route",
        "out-of-range": "unknown-value",
        "outcome-contradicts-condition": "bound-excluded failure-is-rewarded",
        "part-without-checks": "gate-cannot-stop",
        "project-without-checks": "missing-path unset-variable",
        "misspelt-rule-key": "rule-no-answer-meets",
        "tag-no-scenario-carries": "comma-missing misspelt-name",
        "judge-answers-as-the-author": "judge-is-the-author",
        "unknown-key": "key-is-not-text",
        "wrong-type": "unknown-value",
        "unsupported-route": "unknown-value",
        "yaml-trap": "impossible-date unknown-jurisdiction unknown-value wrong-type",
    }
)
MISSPELT: Final = "misspelt-word"
PROBES: Final = "routing.probes"  # what findings about probes are about
EXPECTED: Final = "probes.expected"


def without_echoes(found: Sequence[Diagnostic], allowed: Sequence[Diagnostic] = ()) -> list[Diagnostic]:
    """Return the findings without those that another one at the same place, `allowed` or not, explains better. A
    missing key is still reported beside an allowed unknown key, because that was not meant to be the missing one.
    A misspelt word is not reported where another finding names it otherwise than as a guess."""
    own = _codes_by_place(found)
    codes = _codes_by_place((*found, *allowed))
    statements = " ".join(_parts(each)[0] for each in (*found, *allowed) if each.code != MISSPELT)
    found = [each for each in found if each.code != MISSPELT or each.subject not in statements]
    return [each for each in found if not _is_echo(each, own if each.code == "missing-key" else codes)]


def _parts(found: Diagnostic) -> tuple[str, str]:
    """What a finding says, and what it guesses, in lower case."""
    stated, _, guessed = f"{found.message} {found.help}".lower().partition("did you mean")
    return stated, guessed


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


# The codes that depend on all documents of a kind, by kind.
DEPENDENT: Final = _code_sets(
    {
        "blindspots": "check-without-blindspot gate-without-blindspot",
        "checks": """bucket-without-checks comment-contradicts-files number-contradicts-content empty-profile
        gate-without-blindspot part-without-checks probe-without-verifier project-without-checks
        prompt-names-another-check tag-no-check-looks-for unknown-check unused-lexicon unused-rule-set""",
        "corpora": "unknown-corpus",
        "lexicons": "detector-without-definition unknown-cue unknown-lexicon",
        "markers": "detector-without-definition unknown-marker-set",
        "profiles": "dev-repetitions-nobody-uses unknown-profile",
        "rules": "rule-nobody-has unknown-jurisdiction",
        "scenarios": """check-no-scenario-reaches comment-contradicts-files contrast-without-counterpart
        number-contradicts-content tag-no-scenario-carries unknown-scenario""",
        "scorecards": "unknown-scorecard",
        "scoring": "bad-weight bucket-without-policy event-window-without-anchor unit-of-analysis-missing",
        "state_machines": """detector-without-definition state-machine-without-definition unknown-state-machine
        unused-lexicon""",
        "vocabulary": "gate-severity-outside-gate-bucket",
    }
)
_OF_SCORECARDS: Final = frozenset({"bad-expression", "wrong-output"})  # if the scoring file can't be read
_REFUSED: Final = frozenset({"duplicate-key", "missing-key", "wrong-type"})  # findings of documents not read in full


def without_dependent(found: Iterable[Diagnostic], project: Project, unread: Collection[str]) -> list[Diagnostic]:
    """Return the findings without those that a document of one of the `unread` kinds might refute."""
    codes = {code for kind in unread for code in DEPENDENT.get(kind, ())}
    cards = {card.path for card in project.scorecards.values()} if "scoring" in unread else set()
    return [
        each
        for each in found
        if each.code not in codes
        and not (each.code in _OF_SCORECARDS and each.span.path in cards)
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
    kinds |= {"checks"} if misnamed else set()
    return project.unreadable | {kind if kind in DEPENDENT else f"{kind}s" for kind in kinds if kind is not None}


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


# Codes whose findings in one document usually have one cause: a copied anchor, a scheme of tags, a habit.
GROUPED: Final = codes_in("""
    adaptive-with-one-repetition anchor-names-ineligible-check ascii-only-apostrophe check-misses-own-example
    comment-contradicts-files cue-text-not-in-turn event-window-without-anchor lexicon-misses-own-example
    missing-contract-registry missing-path unknown-artifact-type pattern-shared-by-gates probe-expects-an-untold-name
    reference-to-missing-file retired-rubric-dialect several-anchors-for-check short-word-hits-inside-others
    subsumed-pattern tag-no-check-looks-for tag-no-scenario-carries unread-expectation
""")
# Codes whose findings with the same message have one cause in all documents: an unread key, an unknown dimension, an
# undeclared word, a check whose unit does not use anchors.
SAME_MESSAGE: Final = codes_in("""
    anchor-without-event-window bad-case dead-key event-window-without-anchor extends-nothing
    rubric-dimension-unknown unknown-corpus unknown-value
""")
# Codes whose findings are copied with the text: a tag in a family of checks, a probe in variants of a scenario.
COPIED: Final = frozenset({"probe-expects-an-untold-name", "tag-no-scenario-carries"})
SAME_MESSAGE_IN_DOCUMENT: Final = frozenset(
    {"bad-expression", "overlay-not-enabled", "unknown-source", "unknown-state"}
)  # as `SAME_MESSAGE`, in one document
# Codes whose findings have one cause whatever their message: a setting that no profile has, a habit of all prompts.
ACROSS: Final = SAME_MESSAGE | {"dev-repetitions-nobody-uses", "prompt-names-another-check"}
# A code, and the codes that report the same mistake at its own place or at one of its notes.
REPORTED_WITH: Final = _code_sets(
    {
        "any-mixed-with-tags": "tags-on-universal-check",
        "deprecated-spelling": "retired-rubric-dialect",
        "detector-without-definition": "state-machine-without-definition unknown-lexicon",
        "tag-no-scenario-carries": "tags-on-universal-check",
        "unchanged-copy": "unused-lexicon",
    }
)

# A code, and the codes that usually follow from it in the same document: they become notes of its finding.
FOLLOWED_BY: Final = _code_sets(
    {
        "anchor-names-ineligible-check": "event-window-without-anchor",
        "anchor-without-event-window": "event-window-without-anchor",
        "arguments-swapped": "bad-expression metric-points-both-ways wrong-output",
        "bad-expression": "unused-definition wrong-output",
        "bad-parameter": "review-above-pass",
        "bad-schema": "check-misses-own-example listed-twice",
        "blindspot-of-another-name": "unchanged-copy",
        "both-sides-equal": """comparison-out-of-range defaults-break-a-requirement
        outcome-contradicts-condition unread-parameter unused-definition""",
        "bound-excluded": "label-row-is-dead label-table-has-a-gap outcome-contradicts-condition review-above-pass",
        "branch-condition-incomplete": "branch-never-taken",
        "bucket-without-checks": "empty-profile",
        "check-never-fails": "check-misses-own-example unread-parameter",
        "check-never-passes": "check-misses-own-example unread-parameter",
        "comparison-out-of-range": """check-misses-own-example check-never-fails check-never-passes
        condition-always-holds gate-cannot-stop gate-ignores-unclear label-row-is-dead
        label-table-has-a-gap unread-parameter""",
        "condition-adds-nothing": "check-misses-own-example",
        "comma-missing": "check-misses-own-example",
        "condition-always-holds": "check-misses-own-example unread-parameter",
        "condition-never-holds": "check-misses-own-example check-no-scenario-reaches empty-profile unused-definition",
        "contract-mismatch": "file-of-another-format",
        "cue-in-another-turn": "window-starts-after-its-cue",
        "cue-lexicon-ignores-the-user": "reply-lexicon-reads-the-user",
        "cue-text-not-in-turn": "misspelt-word",
        "cyclic-dependency": "input-not-awaited",
        "detector-is-not-routed": """gate-judged-once llm-required-contradicts-routing missing-prompt
        reply-lexicon-reads-the-user""",
        "duplicate-key": """number-contradicts-content declared-for-nothing figures-without-figure missing-key
        unknown-dependency""",
        "duplicate-metric": "bad-condition report-of-another-kind weights-do-not-add-up",
        "duplicate-session-number": "probe-reads-a-later-session turn-that-does-not-exist",
        "empty-profile": "edge-without-votes",
        "empty-list-searched": """check-never-fails check-never-passes condition-always-holds condition-never-holds
        unread-parameter""",
        "exit-on-failure": "exit-below-threshold",
        "failure-counts-as-success": "unchanged-copy",
        "file-of-another-format": "input-nobody-writes",
        "gate-check-never-applies": "check-no-scenario-reaches",
        "gate-ignores-a-severity": "check-without-part",
        "gate-severity-outside-gate-bucket": "unlike-its-siblings",
        "guard-excludes-its-value": "check-never-fails check-never-passes condition-never-holds",
        "human-gate-bypassed": "sign-off-without-hil",
        "id-differs-from-file-name": "unchanged-copy unused-lexicon",
        "key-is-not-text": "weight-of-zero yaml-syntax",
        "label-table-has-a-gap": "label-row-is-dead",
        "limit-read-both-ways": "label-row-is-dead label-table-has-a-gap review-above-pass",
        "missing-key": "declared-for-nothing unused-definition unknown-source unknown-state unreachable-state",
        "missing-prompt": "directive-ignored-by-route",
        "misspelt-tool": "check-misses-own-example",
        "more-votes-in-development": "even-repetitions",
        "misspelt-word": "check-misses-own-example",
        "out-of-range": "probe-reads-a-later-session unused-definition",
        "order-reversed": """check-never-fails check-never-passes condition-always-holds condition-never-holds
        defaults-break-a-requirement out-of-range""",
        "output-written-twice": "file-of-another-format input-nobody-writes misspelt-path",
        "overlay-not-enabled": "bad-condition confidence-without-gate",
        "paired-with-review": "bound-never-reached",
        "parameter-does-not-fit": """check-misses-own-example check-never-fails check-never-passes
        comparison-out-of-range unread-parameter words-contradict-condition""",
        "parameter-of-another-metric": "condition-adds-nothing review-above-pass unlike-its-siblings",
        "part-exceeds-whole": "label-row-is-dead",
        "part-without-checks": "check-without-part",
        "partner-is-the-author": "challenger-is-the-reviewer",
        "prompt-contradicts-rules": "prompt-without-pass-or-fail",
        "review-above-pass": "defaults-break-a-requirement label-row-is-dead",
        "scorer-repetitions-contradict-routing": "even-repetitions gate-judged-once",
        "scorer-type-contradicts-routing": """corpus-required-contradicts-routing directive-ignored-by-route
        llm-required-contradicts-routing missing-prompt prompt-without-judge reply-lexicon-reads-the-user""",
        "shared-name": "unchanged-copy",
        "state-machine-without-definition": "detector-is-not-routed",
        "tag-no-scenario-carries": "check-no-scenario-reaches",
        "turn-numbers-out-of-order": "turn-that-does-not-exist window-ends-before-it-starts",
        "turn-that-does-not-exist": "window-ends-before-it-starts",
        "unclear-policy-without-its-path": "prompt-without-judge",
        "units-differ": "unread-parameter",
        "unknown-artifact-type": "contract-mismatch",
        "unknown-check": "check-without-part event-window-without-anchor",
        "unknown-dependency": "input-not-awaited",
        "unreachable-state": "transition-never-made",
        "unknown-input": "unused-definition",
        "unknown-jurisdiction": "check-no-scenario-reaches",
        "unknown-key": """exit-below-threshold number-contradicts-content trigger-without-condition unknown-state
        unreachable-state unused-suppression""",
        "unknown-alias": "yaml-syntax",
        "unknown-label": "accepted-label-fails",
        "unknown-lexicon": "detector-is-not-routed directive-ignored-by-route",
        "unknown-marker-set": "detector-is-not-routed unknown-lexicon",
        "unknown-state": "unreachable-state",
        "unknown-value": "ascii-only-apostrophe unused-suppression",
        "unknown-state-machine": "detector-is-not-routed",
        "unlike-its-siblings": """check-without-part label-row-is-dead label-table-has-a-gap limit-read-both-ways
        review-above-pass unchanged-copy unused-definition""",
        "unread-parameter": "check-misses-own-example condition-adds-nothing",
        "verdict-without-meaning": "failure-counts-as-success",
        "weight-of-zero": "weights-do-not-add-up",
        "weights-for-other-values": "unused-definition",
        "words-contradict-condition": """check-misses-own-example check-never-fails check-never-passes
        unread-parameter""",
        "wrong-type": """bad-expression check-never-fails check-never-passes confidence-without-gate
        detector-is-not-routed exit-below-threshold input-not-awaited missing-prompt trigger-without-condition""",
    }
)
# The same for an error in any document.
FOLLOWED_ANYWHERE: Final = _code_sets(
    {
        "bad-expression": "unknown-value",
        "bad-rule": "check-no-scenario-reaches",
        "bucket-without-checks": "gate-severity-outside-gate-bucket",
        "extends-cycle": "rule-nobody-has",
        "extends-nothing": "rule-nobody-has",
        "gate-cannot-stop": "check-without-part",
        "judge-is-the-author": "script-for-no-agent",
        "part-without-checks": "gate-ignores-a-severity",
        "partner-is-the-author": "script-for-no-agent",
        "misspelt-rule-key": "check-no-scenario-reaches rule-no-answer-meets",
        "probe-without-verifier": "check-no-scenario-reaches",
        "setting-of-two-parameters": "bad-case bad-setting",
        "unknown-dependency": "script-for-no-agent",
        "unknown-value": "check-no-scenario-reaches check-without-part",
        "yaml-trap": "cue-nobody-says phrase-nearly-said",
    }
)
UNKNOWN_NAMES: Final = " ".join(sorted(each for codes in DEPENDENT.values() for each in codes if "unknown-" in each))
# The same in any document, for findings that quote what the cause is about.
FOLLOWED_BY_QUOTING: Final = _code_sets(
    {
        "anchor-names-ineligible-check": "check-no-scenario-reaches",
        "bad-setting": "bad-setting",
        "bucket-without-checks": "gate-ignores-a-severity",
        "misspelt-input-path": "bad-case bad-setting",
        "misspelt-suffix": f"bad-expression unknown-check unknown-dependency {UNKNOWN_NAMES}",
        "opposites-agree": "subsumed-pattern",
        "question-of-common-words": "short-word-hits-inside-others subsumed-pattern",
        "short-word-hits-inside-others": "subsumed-pattern",
        "unit-of-analysis-unfit": "anchor-without-event-window",
        "unknown-value": "anchor-without-event-window",
    }
)
# Codes whose findings in one line, or in one document, usually have one cause.
ONCE_A_LINE: Final = codes_in("""
    bad-setting cyclic-dependency empty-list-searched gate-cannot-stop gate-ignores-unclear lexicon-hits-good-example
    lexicon-misses-own-example mistyped-regex outcome-contradicts-condition parameter-of-another-metric
    probe-without-verifier shared-name units-differ unknown-label unlike-its-siblings verdict-without-meaning
""")
# Warnings that are as certain as errors.
SURE: Final = frozenset({"misspelt-rule-key", "yaml-trap"})
# What follows from a text in the place of a list: `{tools: a, b}` has a key `b`, and `[0.1 0.4]` too few items.
UNBRACKETED: Final = frozenset({"out-of-range", "unknown-key"})
ONCE_A_DOCUMENT: Final = codes_in("""
    check-misses-own-example label-row-is-dead turn-numbers-out-of-order unknown-label wrong-output
""")
# The same, where the messages are equal but for the task.
ONCE_A_MESSAGE: Final = codes_in("""
    bad-case bad-condition bad-expression file-of-another-format input-not-awaited unknown-agent unknown-state
""")
_TASK: Final = re.compile(r"^task `[^`]*`, `[^`]*`: ")


# Findings about a scorecard over cases, and what follows from them in the files of cases, which are linted alone.
OF_CASES: Final = codes_in("bad-case bad-setting misspelt-input-path setting-of-two-parameters")


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
        possible = (one for code in _causing(each.code) for one in by_code.get(code, ()))
        causes = (one for one in possible if one in followers and _causes(one, each))
        cause = min(causes, key=order.__getitem__, default=None)
        if cause is not None:
            followers[cause] += [each, *followers.pop(each)]
    return [_with_followers(each, others) for each, others in followers.items()]


@cache
def _causing(code: str) -> tuple[str, ...]:
    """The codes whose findings may be the cause of one with this code."""
    tables = (FOLLOWED_BY, FOLLOWED_ANYWHERE, FOLLOWED_BY_QUOTING)
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


def _by_quoting(cause: Diagnostic, found: Diagnostic) -> bool | None:
    if found.code not in FOLLOWED_BY_QUOTING.get(cause.code, ()) or cause.subject not in found.quoted:
        return None
    return cause.code != found.code or (cause is not found and cause.sort_key < found.sort_key)


def _by_input_path(cause: Diagnostic, found: Diagnostic) -> bool | None:
    """Whether a finding about cases or settings names a part of a misspelt path or of the one that was meant."""
    is_of_cases = cause.code == "misspelt-input-path" and found.code in ("bad-case", "bad-setting")
    if not is_of_cases or not isinstance(cause.help, Guess):
        return None
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
    if found.code in FOLLOWED_ANYWHERE.get(cause.code, ()) and is_sure:
        return found.code != "unknown-value" or cause.subject == found.subject
    if cause.span.path != found.span.path and found.code == "bad-expression" and _is_named(cause, found):
        return found.subject == cause.subject
    return None


def _in_one_document(cause: Diagnostic, found: Diagnostic) -> bool:
    places = {found.span.path, *(note.span.path for note in found.notes if found.code == "unchanged-copy")}
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
    _by_lost_brackets, _by_quoting, _by_input_path, _by_probes, _by_missing_path, _anywhere, _in_one_document,
)  # fmt: skip


def _is_named(cause: Diagnostic, found: Diagnostic) -> bool:
    """Whether a finding names the key that the cause reports as unknown, which may therefore be missing elsewhere, or
    whose value the cause refuses."""
    name = cause.subject.rpartition(".")[2]
    quoted = found.quoted if cause.code in ("unknown-key", "wrong-type") else ()
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
    if found.fix is not None:
        return None
    spans = (*(note.span for note in found.notes), found.span)
    codes = REPORTED_WITH.get(found.code, frozenset())
    return next((leaders[code, span] for span in spans for code in codes if (code, span) in leaders), None)


def _cause(found: Diagnostic) -> object:
    """The key that all findings with one cause share."""
    if found.about == RULE_SETS:
        return RULE_SETS
    if found.fix is None and found.code in ACROSS:
        return found.code, found.severity, found.message if found.code in SAME_MESSAGE else None
    if found.fix is None and found.code in ("gate-ignores-unclear", "missing-key"):
        return found.span, found.code
    if found.fix is None and found.code in SAME_MESSAGE_IN_DOCUMENT:
        return found.span.path, found.code, found.message
    if found.fix is None and found.code in GROUPED:
        return found.span.path, found.code, found.help if isinstance(found.help, Guess) else None
    return found


def _one_of(group: list[Diagnostic]) -> Diagnostic:
    first = min((each for each in group if each.code == group[0].code), key=lambda each: each.severity.rank)
    others = [each for each in group if each is not first]
    further = len({each.span for each in others} - {first.span})
    where = "this document" if all(each.span.path == first.span.path for each in others) else "other documents"
    more = f" (and {further} more {'place' if further == 1 else 'places'} in {where})" if further else ""
    notes = [Note(each.span, _note(each, first)) for each in others]
    return replace(first, message=first.message + more, notes=(*first.notes, *notes))


def _note(found: Diagnostic, first: Diagnostic) -> str:
    if found.code == "missing-key" and found.help:
        return f"also missing, {found.help}"
    return "also here" if found.message == first.message else found.message
