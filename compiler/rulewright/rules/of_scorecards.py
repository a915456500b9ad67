"""The rules that look at scorecards over verdicts and over cases, in the order they run."""

from __future__ import annotations

from typing import Final

from rulewright.documents.scorecard import read_case_scorecard, read_scorecard
from rulewright.rules import DocumentKind, rules_named
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS

SCORECARD: Final = (
    *rules_named("yaml_trap"),
    *CONDITIONS,
    *EXPRESSIONS,
    *rules_named(
        "unused_definition",
        "failure_counts_as_success",
        "failure_is_rewarded",
        "absent_counts_as_full",
        "gate_ignores_unrun_checks",
        "threshold_of_zero",
        "weight_of_zero",
        "weights_do_not_add_up",
        "weights_far_apart",
        "unchanged_copy",
        "unlike_its_siblings",
    ),
)

CASE_SCORECARD: Final = (
    *rules_named("prompt_holds_a_verdict"),
    *CONDITIONS,
    *EXPRESSIONS,
    *rules_named(
        "unused_definition",
        "review_above_pass",
        "defaults_break_a_requirement",
        "all_weights_zero",
        "setting_of_two_parameters",
        "parameter_of_another_metric",
        "misspelt_input_path",
        "accepted_label_fails",
        "unlike_its_siblings",
    ),
)

KINDS: Final = {
    "scorecard": DocumentKind(lambda root, *_: tuple(filter(None, read_scorecard(root)[:1])), SCORECARD),
    "case_scorecard": DocumentKind(lambda root, *_: (read_case_scorecard(root),), CASE_SCORECARD),
}
