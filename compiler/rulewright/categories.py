"""The categories of findings, which decide whether they are shown by default.

A code in no row is `correctness`. `pedantic` findings are correct, but rarely worth a change, so they are shown only
when selected. Codes in `PREVIEW` are new and may still change; `--preview` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from rulewright.diagnostics import Severity

CORRECTNESS: Final = "correctness"
SUSPICIOUS: Final = "suspicious"
COMPLETENESS: Final = "completeness"
STYLE: Final = "style"
PEDANTIC: Final = "pedantic"

LEVELS: Final = {
    CORRECTNESS: Severity.ERROR,
    SUSPICIOUS: Severity.WARNING,
    COMPLETENESS: Severity.WARNING,
    STYLE: Severity.ADVICE,
    PEDANTIC: Severity.ADVICE,
}
MEANINGS: Final = {
    CORRECTNESS: "the document is refused, or does not mean what it says",
    SUSPICIOUS: "it is allowed, but most likely a mistake",
    COMPLETENESS: "something is missing or unused",
    STYLE: "it works, but there is a clearer way to write it",
    PEDANTIC: "correct, but rarely worth a change; off by default",
}
ROWS: Final[dict[str, str]] = {
    SUSPICIOUS: """
        misspelt-expectation misspelt-group output-without-case plan-of-another-length
        absent-counts-as-full adapter-names-missing-file adapter-of-another-type adaptive-with-one-repetition
        anchor-names-ineligible-check anchor-without-event-window any-mixed-with-tags arguments-swapped
        ascii-only-apostrophe backspace-in-expression blindspot-of-another-name both-sides-equal bound-excluded
        bound-never-reached branch-always-taken branch-changes-nothing branch-never-taken case-expects-nothing
        challenger-is-the-reviewer check-is-not-read check-never-fails check-never-passes check-no-scenario-reaches
        check-without-part code-denies-its-state comma-missing comparison-out-of-range condition-adds-nothing
        condition-always-holds condition-never-holds cue-in-another-turn cue-lexicon-ignores-the-user cue-misquotes-turn
        cue-nobody-says directive-ignored-by-route duplicate-criterion-id each-not-read edge-without-votes
        equality-after-rounding even-repetitions event-window-unbounded exit-below-threshold failure-is-rewarded
        file-named-unlike-its-scenario full-score-is-flagged gate-ignores-a-severity gate-ignores-unrun-checks
        gate-judged-once gate-severity-outside-gate-bucket guard-excludes-its-value hard-fail-contradicts-severity
        harmless-reply-violates human-gate-bypassed impossible-date index-past-the-end input-nobody-writes
        input-not-awaited integer-division item-finds-itself item-in-quotes judge-answers-as-the-author
        judge-reads-missing-file label-row-is-dead label-table-not-proved level-skipped levels-not-read
        lexicon-hits-good-example lexicon-misses-own-example limit-of-zero limit-read-both-ways listed-check-is-silenced
        loop-nothing-ends metric-points-both-ways milliseconds-for-seconds misspelt-hyperparameter misspelt-input-path
        misspelt-path misspelt-rule-key misspelt-suffix misspelt-tool misspelt-word mistyped-regex
        more-votes-in-development negated-twice opposites-agree output-written-twice parameter-of-another-metric
        part-exceeds-whole pattern-lost-in-folding pattern-shared-by-gates phrase-nearly-said price-of-another-model
        probe-expects-an-untold-name probe-names-another-turn probe-reads-a-later-session probes-contradict-each-other
        prompt-names-another-check prompt-with-single-braces prompt-without-judge prompt-without-pass-or-fail
        question-of-common-words quote-nobody-checks regex-between-slashes regex-taken-for-text
        reply-lexicon-reads-the-user report-of-another-kind review-above-pass rubric-dimension-unknown
        rule-no-answer-meets script-for-no-agent session-number-skipped setting-overruled shared-name
        short-word-hits-inside-others state-ends-twice tag-no-scenario-carries tags-on-universal-check threshold-of-zero
        transcript-outside-fence transition-never-made trigger-without-condition turn-numbers-out-of-order
        unchanged-copy unclear-policy-without-its-path unit-of-analysis-unfit units-differ unreadable-elapsed-time
        unusable-reply update-of-unstated-fact weight-of-zero weights-do-not-add-up weights-far-apart
        window-starts-after-its-cue words-differ-in-case yaml-trap
    """,
    COMPLETENESS: """
        agent-without-adapter agent-without-description branch-without-triggers bucket-without-checks
        bucket-without-policy check-without-blindspot comment-contradicts-files confidence-without-gate
        confidence-without-metrics contrast-without-counterpart coverage-not-required dead-key
        declared-for-nothing detector-without-definition dev-repetitions-nobody-uses evaluator-without-judge
        event-window-without-anchor evidence-not-read expectation-without-question fact-nothing-decides
        gate-without-evidence judge-without-output metric-without-source no-tasks number-contradicts-content
        overlay-not-enabled probe-without-verifier project-without-checks reference-to-missing-file sign-off-without-hil
        state-machine-without-definition unread-definitions unread-parameter unused-definition unused-lexicon
        unused-suppression
    """,
    STYLE: """
        bare-output-path deprecated-spelling duplicate-pattern gate-lexicon-opts-out-of-folding listed-twice
        retired-rubric-dialect subsumed-pattern
    """,
    PEDANTIC: """
        cue-text-not-in-turn gate-without-blindspot list-and-tags-disagree phrase-not-in-payload
        several-anchors-for-check tag-no-check-looks-for unit-of-analysis-missing unread-expectation unused-rule-set
    """,
}
CATEGORIES: Final = tuple(LEVELS)
PREVIEW: Final = frozenset({"words-differ-in-case"})
SINCE: Final[dict[str, str]] = {}  # the version that added a code, if later than FIRST
FIRST: Final = "0.1.0"
_CATEGORY_OF: Final = {code: category for category, codes in ROWS.items() for code in codes.split()}


def category_of(code: str) -> str:
    """Return the category of a code."""
    return _CATEGORY_OF.get(code, CORRECTNESS)


def since(code: str) -> str:
    """Return the version of the package that added the code."""
    return SINCE.get(code, FIRST)


def category_line(code: str) -> str:
    """Return sentences with a code's category, the version that added it, and whether it is a preview."""
    category = category_of(code)
    new = " Preview: `--preview` shows it." if code in PREVIEW else ""
    return f"Category: {category} ({MEANINGS[category]}). Since: {since(code)}.{new}"


def is_default(code: str, *, preview: bool = False) -> bool:
    """Whether findings of a code are shown without a selection."""
    return category_of(code) != PEDANTIC and (preview or code not in PREVIEW)


def fits_any(code: str, patterns: Iterable[str]) -> bool:
    """Whether a code matches one of the patterns; a category matches all of its codes."""
    category = category_of(code)
    return any(pattern == category or fnmatchcase(code, pattern) for pattern in patterns)
