"""Related codes: which findings explain, cause or repeat others, by their codes."""

from collections.abc import Mapping
from typing import Final


def codes_in(listed: str) -> frozenset[str]:
    """Return the codes that a text lists."""
    return frozenset(listed.split())


def code_sets(rows: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the sets of codes that texts list, by key."""
    return {key: codes_in(listed) for key, listed in rows.items()}


# A code, and the codes that explain the same place better.
EXPLAINED_BETTER_BY: Final = code_sets(
    {
        "ascii-only-apostrophe": "yaml-trap",
        "condition-always-holds": "both-sides-equal",
        "condition-never-holds": """both-sides-equal gate-cannot-stop gate-check-never-applies
            gate-ignores-unclear part-without-checks""",
        "branch-never-taken": "branch-condition-incomplete",
        "check-without-part": "part-without-checks unchanged-copy",
        "duplicate-key": "yaml-syntax",
        "detector-without-definition": "detector-is-not-routed",  # on which compile stops
        "gate-without-blindspot": "check-without-blindspot",
        "id-differs-from-file-name": "duplicate-id",
        "listed-twice": "exit-below-threshold",
        "limit-read-both-ways": "bound-excluded outcome-contradicts-condition unlike-its-siblings",
        "missing-path": "unset-variable",
        "more-votes-in-development": "dev-repetitions-nobody-uses directive-ignored-by-route",
        "out-of-range": "unknown-value",
        "outcome-contradicts-condition": "bound-excluded failure-is-rewarded words-contradict-condition",
        "part-without-checks": "gate-cannot-stop",
        "project-without-checks": "missing-path unset-variable",
        "misspelt-rule-key": "rule-no-answer-meets",
        "tag-no-scenario-has": "comma-missing misspelt-name",
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
# The codes that depend on all documents of a kind, by kind.
DEPENDENT: Final = code_sets(
    {
        "blindspots": "check-without-blindspot gate-without-blindspot",
        "checks": """bucket-without-checks check-without-part comment-contradicts-files number-contradicts-content
        empty-profile gate-without-blindspot part-without-checks probe-without-verifier project-without-checks
        prompt-names-another-check tag-no-check-looks-for unknown-check unused-lexicon
        unused-rule-set""",
        "corpora": "unknown-corpus",
        "lexicons": "detector-without-definition unknown-cue unknown-lexicon",
        "markers": "detector-without-definition unknown-marker-set",
        "pricing": "limit-without-price",
        "profiles": "dev-repetitions-nobody-uses part-without-checks unknown-profile",
        "rules": "rule-nobody-has unknown-jurisdiction",
        "scenarios": """check-no-scenario-reaches comment-contradicts-files contrast-without-counterpart
        part-without-checks number-contradicts-content tag-no-scenario-has unknown-scenario""",
        "scorecards": "unknown-scorecard",
        "scoring": "bad-weight bucket-without-policy event-window-without-anchor unit-of-analysis-missing",
        "state_machines": """detector-without-definition state-machine-without-definition unknown-state-machine
        unused-lexicon""",
        "vocabulary": "gate-severity-outside-gate-bucket",
    }
)
OF_SCORECARDS: Final = frozenset({"bad-expression", "wrong-output"})  # if the scoring file can't be read
# Codes whose findings in one document usually have one cause: a copied anchor, a scheme of tags, a habit.
GROUPED: Final = codes_in("""
    adaptive-with-one-repetition anchor-names-ineligible-check ascii-only-apostrophe check-misses-own-example
    comment-contradicts-files cue-text-not-in-turn event-window-without-anchor lexicon-misses-own-example
    missing-contract-registry missing-path unknown-artifact-type pattern-shared-by-gates probe-expects-an-unstated-name
    reference-to-missing-file retired-rubric-dialect several-anchors-for-check short-word-hits-inside-others
    subsumed-pattern tag-no-check-looks-for tag-no-scenario-has unread-expectation
""")
# Codes whose findings with the same message have one cause in all documents: an unread key, an unknown dimension, an
# undeclared word, a check whose unit does not use anchors, a slip that is copied from case to case.
SAME_MESSAGE: Final = codes_in("""
    anchor-without-event-window bad-case comma-missing contradictory-expectations dead-key event-window-without-anchor
    extends-nothing misspelt-expectation rubric-dimension-unknown unknown-corpus unknown-value
""")
# Codes whose findings are copied with the text: a tag in a family of checks, a probe in variants of a scenario.
COPIED: Final = frozenset({"probe-expects-an-unstated-name", "tag-no-scenario-has"})
SAME_MESSAGE_IN_DOCUMENT: Final = frozenset(
    {"bad-expression", "overlay-not-enabled", "unknown-source", "unknown-state"}
)  # as `SAME_MESSAGE`, in one document
# Codes whose findings have one cause whatever their message: a setting that no profile has, a habit of all prompts or
# phrases.
ACROSS: Final = SAME_MESSAGE | codes_in("""
    branch-hides-what-a-probe-expects dev-repetitions-nobody-uses expectation-of-an-unstated-fact fact-no-message-tells
    pattern-without-counterpart phrase-hits-inside-words probe-expects-unstated-words prompt-names-another-check
""")
# A code, and the codes that report the same mistake at its own place or at one of its notes.
REPORTED_WITH: Final = code_sets(
    {
        "any-mixed-with-tags": "tags-on-universal-check",
        "deprecated-spelling": "retired-rubric-dialect",
        "detector-without-definition": "state-machine-without-definition unknown-lexicon",
        "tag-no-scenario-has": "tags-on-universal-check",
        "unchanged-copy": "unused-lexicon",
    }
)
# A code, and the codes that usually follow from it in the same document: they become notes of its finding.
FOLLOWED_BY: Final = code_sets(
    {
        "anchor-names-ineligible-check": "event-window-without-anchor",
        "anchor-without-event-window": "event-window-without-anchor",
        "arguments-swapped": "bad-expression metric-points-both-ways wrong-output",
        "bad-expression": "parameter-does-not-fit unused-definition words-contradict-condition wrong-output",
        "bad-parameter": "review-above-pass threshold-of-zero",
        "bad-schema": "check-misses-own-example listed-twice",
        "blindspot-of-another-name": "unchanged-copy",
        "both-sides-equal": """check-misses-own-example check-without-part comparison-out-of-range
        defaults-break-a-requirement outcome-contradicts-condition unread-parameter unused-definition""",
        "bound-never-reached": "comparison-out-of-range",
        "bound-excluded": """defaults-break-a-requirement label-row-is-dead label-table-has-a-gap
        outcome-contradicts-condition review-above-pass words-contradict-condition""",
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
        "detector-is-not-routed": """gate-judged-once lexicon-misses-own-example llm-required-contradicts-routing
        cue-lexicon-ignores-the-user missing-prompt reply-lexicon-reads-the-user""",
        "duplicate-key": """level-skipped number-contradicts-content declared-for-nothing figures-without-figure
        input-not-awaited
        missing-key unknown-dependency unused-definition""",
        "duplicate-metric": "bad-condition report-of-another-kind weights-do-not-add-up",
        "duplicate-session-number": "probe-reads-a-later-session turn-that-does-not-exist",
        "empty-profile": "edge-without-votes",
        "empty-list-searched": """check-never-fails check-never-passes condition-always-holds condition-never-holds
        unread-parameter""",
        "failure-counts-as-success": "failure-is-rewarded unchanged-copy",
        "failure-is-rewarded": "outcome-contradicts-condition",
        "file-of-another-format": "input-nobody-writes",
        "gate-check-never-applies": "check-no-scenario-reaches",
        "gate-ignores-a-severity": "unchanged-copy",
        "gate-severity-outside-gate-bucket": "unlike-other-documents",
        "gate-cannot-stop": "failure-is-rewarded",
        "guard-excludes-its-value": "check-never-fails check-never-passes condition-never-holds",
        "human-gate-bypassed": "sign-off-without-hil",
        "id-differs-from-file-name": "unchanged-copy unused-lexicon",
        "key-is-not-text": "weight-of-zero yaml-syntax",
        "label-table-has-a-gap": "label-row-is-dead",
        "limit-read-both-ways": "label-row-is-dead label-table-has-a-gap review-above-pass",
        "missing-key": """declared-for-nothing unlike-other-documents unused-definition unknown-source unknown-state
        unreachable-state""",
        "missing-prompt": "directive-ignored-by-route",
        "misspelt-in-scorecard": "unknown-value",
        "misspelt-path": "file-of-another-format",
        "misspelt-tool": "check-misses-own-example",
        "more-votes-in-development": "even-repetitions",
        "misspelt-word": "check-misses-own-example rule-no-answer-meets",
        "out-of-range": """check-misses-own-example check-never-fails check-never-passes comparison-out-of-range
        condition-always-holds condition-never-holds probe-reads-a-later-session unused-definition""",
        "number-contradicts-content": "edge-without-votes setting-overruled",
        "one-threshold-for-both": "unlike-its-siblings",
        "order-reversed": """check-misses-own-example check-never-fails check-never-passes condition-always-holds
        condition-never-holds
        defaults-break-a-requirement out-of-range""",
        "outcome-contradicts-condition": "or-joins-one-case words-contradict-condition",
        "metric-points-both-ways": "limit-read-both-ways outcome-contradicts-condition",
        "output-written-twice": "file-of-another-format input-nobody-writes misspelt-path",
        "overlay-not-enabled": "bad-condition confidence-without-gate",
        "paired-with-review": "bound-never-reached challenger-is-the-reviewer",
        "parameter-does-not-fit": """check-misses-own-example check-never-fails check-never-passes
        comparison-out-of-range unread-parameter words-contradict-condition""",
        "parameter-of-another-metric": """condition-adds-nothing review-above-pass threshold-in-no-row
        unlike-its-siblings""",
        "part-exceeds-whole": "label-row-is-dead",
        "part-without-checks": "check-without-part",
        "partner-is-the-author": "challenger-is-the-reviewer",
        "prompt-cannot-be-rendered": "check-misses-own-example",
        "prompt-contradicts-rules": "prompt-without-pass-or-fail",
        "review-above-pass": "defaults-break-a-requirement label-row-is-dead",
        "scorer-repetitions-contradict-routing": "even-repetitions gate-judged-once more-votes-in-development",
        "scorer-type-contradicts-routing": """corpus-required-contradicts-routing directive-ignored-by-route
        llm-required-contradicts-routing missing-prompt prompt-without-judge reply-lexicon-reads-the-user""",
        "shared-name": "unchanged-copy",
        "state-machine-without-definition": "detector-is-not-routed",
        "tag-no-scenario-has": "check-no-scenario-reaches",
        "threshold-of-zero": "review-above-pass",
        "turn-numbers-out-of-order": "turn-that-does-not-exist window-ends-before-it-starts",
        "turn-that-does-not-exist": "probe-reads-a-later-session window-ends-before-it-starts",
        "unclear-policy-without-its-path": "prompt-without-judge",
        "units-differ": "unread-parameter unused-definition words-contradict-condition",
        "unknown-artifact-type": "contract-mismatch",
        "unknown-check": "check-without-part event-window-without-anchor",
        "unknown-cue": "transition-never-made",
        "unknown-dependency": "input-not-awaited",
        "unreachable-state": "transition-never-made",
        "unknown-input": "unused-definition",
        "unknown-jurisdiction": "check-no-scenario-reaches",
        "unknown-key": """exit-below-threshold number-contradicts-content trigger-without-condition unknown-state
        unreachable-state unused-suppression""",
        "unchanged-copy": "check-without-part",
        "unknown-alias": "yaml-syntax",
        "unknown-label": "accepted-label-fails",
        "unknown-lexicon": "detector-is-not-routed directive-ignored-by-route",
        "unknown-marker-set": "detector-is-not-routed unknown-lexicon",
        "unknown-source": "declared-for-nothing",
        "unknown-state": "unreachable-state",
        "unknown-value": "ascii-only-apostrophe unused-suppression",
        "unknown-state-machine": "detector-is-not-routed",
        "unlike-its-siblings": """check-without-part label-row-is-dead label-table-has-a-gap limit-read-both-ways
        threshold-in-no-row review-above-pass unchanged-copy unused-definition""",
        "unlike-other-documents": "check-without-part unchanged-copy",
        "unread-parameter": "check-misses-own-example condition-adds-nothing",
        "verdict-without-meaning": "failure-counts-as-success",
        "weight-of-zero": "weights-do-not-add-up",
        "weights-for-other-values": "unused-definition",
        "words-contradict-condition": """check-misses-own-example check-never-fails check-never-passes exception-fails
        name-contradicts-condition or-joins-one-case unread-parameter""",
        "wrong-type": """bad-expression check-never-fails check-never-passes confidence-without-gate
        detector-is-not-routed exit-below-threshold input-not-awaited missing-prompt trigger-without-condition""",
    }
)
# Codes whose findings are about the documents of their notes too.
OF_TWO_DOCUMENTS: Final = frozenset({"cue-lexicon-ignores-the-user", "unchanged-copy"})
# The same for an error in any document.
FOLLOWED_ANYWHERE: Final = code_sets(
    {
        "bad-expression": "unknown-value",
        "bad-rule": "check-no-scenario-reaches",
        "duplicate-key": "script-for-no-agent unknown-artifact-type",
        "bucket-without-checks": "gate-severity-outside-gate-bucket",
        "extends-cycle": "rule-nobody-has",
        "extends-nothing": "rule-nobody-has",
        "gate-cannot-stop": "check-without-part",
        "gate-ignores-a-severity": "check-without-part",
        "judge-is-the-author": "script-for-no-agent",
        "judge-without-evaluator": "script-for-no-agent",
        "missing-key": "bucket-without-policy",
        "order-reversed": "tags-on-universal-check trigger-without-condition",
        "part-without-checks": "gate-ignores-a-severity",
        "partner-is-the-author": "script-for-no-agent",
        "misspelt-rule-key": "check-no-scenario-reaches rule-no-answer-meets rule-nobody-has",
        "probe-without-verifier": "check-no-scenario-reaches",
        "cue-lexicon-ignores-the-user": "unused-lexicon",
        "reply-lexicon-reads-the-user": "check-misses-own-example unused-lexicon",
        "setting-of-two-parameters": "bad-case bad-setting",
        "unknown-dependency": "script-for-no-agent",
        "unknown-value": "check-no-scenario-reaches check-without-part part-without-checks",
        "yaml-trap": "cue-nobody-says phrase-nearly-said",
    }
)
UNKNOWN_NAMES: Final = " ".join(sorted(each for codes in DEPENDENT.values() for each in codes if "unknown-" in each))
# The same in any document, for findings that quote what the cause is about.
FOLLOWED_BY_QUOTING: Final = code_sets(
    {
        "anchor-names-ineligible-check": "check-no-scenario-reaches",
        "bad-setting": "bad-setting",
        "bucket-without-checks": "gate-ignores-a-severity",
        "misspelt-input-path": "bad-case bad-setting",
        "misspelt-suffix": f"bad-expression unknown-check unknown-dependency {UNKNOWN_NAMES}",
        "opposites-agree": "subsumed-pattern",
        "question-of-common-words": "short-word-hits-inside-others subsumed-pattern",
        "short-word-hits-inside-others": "subsumed-pattern",
        "setting-of-two-parameters": "misspelt-word",
        "unit-of-analysis-unfit": "anchor-without-event-window",
        "weights-in-raw-mode": "bad-condition",
        "unknown-value": "anchor-without-event-window",
        "yaml-trap": "bad-expression",
    }
)
# The same, for findings about what a document lacks that they quote: what is wrong in it may be what it lacks.
LACKED_BY_QUOTED: Final = code_sets(
    {
        "tag-no-scenario-has": "anchor-names-ineligible-check",
        "unknown-key": "exempt-check-is-not-capability-aware",
        "wrong-type": "exempt-check-is-not-capability-aware",
    }
)
# Codes whose findings in one line, or in one document, usually have one cause.
ONCE_A_LINE: Final = codes_in("""
    bad-setting cyclic-dependency empty-list-searched gate-cannot-stop gate-ignores-unclear lexicon-hits-good-example
    lexicon-misses-own-example misspelt-name mistyped-regex outcome-contradicts-condition parameter-of-another-metric
    failure-is-rewarded probe-without-verifier shared-name units-differ unknown-label unlike-its-siblings
    verdict-without-meaning
""")
# Warnings that are as certain as errors.
SURE: Final = codes_in("""
    cue-lexicon-ignores-the-user gate-ignores-a-severity misspelt-rule-key order-reversed reply-lexicon-reads-the-user
    yaml-trap
""")
# What follows from a text in the place of a list: `{tools: a, b}` has a key `b`, and `[0.1 0.4]` too few items.
UNBRACKETED: Final = frozenset({"out-of-range", "unknown-key"})
ONCE_A_DOCUMENT: Final = codes_in("""
    check-misses-own-example label-row-is-dead turn-numbers-out-of-order unknown-label wrong-output
""")
# The same, where the messages are equal but for the task.
ONCE_A_MESSAGE: Final = codes_in("""
    bad-case bad-condition bad-expression file-of-another-format input-not-awaited unknown-agent unknown-dependency
    unknown-state
""")
ONCE_A_PLACE: Final = codes_in("cue-lexicon-ignores-the-user gate-ignores-unclear missing-key")
# Findings about a scorecard over cases, and what follows from them in the files of cases, which are linted alone.
OF_CASES: Final = codes_in("bad-case bad-setting misspelt-input-path setting-of-two-parameters")
