"""The rules that look at scorecards over verdicts and over cases, in the order they run."""

from typing import Final

from rulewright.documents.scorecard import CaseScorecardDocument, ScorecardDocument, read_scorecard
from rulewright.documents.typed_reader import read
from rulewright.rules import DocumentKind, Rule
from rulewright.rules.completeness.unused_definition import unused_definition
from rulewright.rules.correctness.accepted_label_fails import accepted_label_fails
from rulewright.rules.correctness.all_weights_zero import all_weights_zero
from rulewright.rules.correctness.defaults_break_a_requirement import defaults_break_a_requirement
from rulewright.rules.correctness.failure_counts_as_success import failure_counts_as_success
from rulewright.rules.correctness.name_contradicts_condition import name_contradicts_condition
from rulewright.rules.correctness.one_threshold_for_both import one_threshold_for_both
from rulewright.rules.correctness.or_joins_one_case import or_joins_one_case
from rulewright.rules.correctness.prompt_asks_for_unreadable_reply import prompt_asks_for_unreadable_reply
from rulewright.rules.correctness.prompt_holds_a_verdict import prompt_holds_a_verdict
from rulewright.rules.correctness.setting_of_two_parameters import setting_of_two_parameters
from rulewright.rules.correctness.threshold_in_no_row import threshold_in_no_row
from rulewright.rules.correctness.unlike_its_siblings import unlike_its_siblings
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS
from rulewright.rules.suspicious.absent_counts_as_full import absent_counts_as_full
from rulewright.rules.suspicious.failure_is_rewarded import failure_is_rewarded
from rulewright.rules.suspicious.full_score_is_flagged import full_score_is_flagged
from rulewright.rules.suspicious.gate_ignores_unrun_checks import gate_ignores_unrun_checks
from rulewright.rules.suspicious.item_in_quotes import item_in_quotes
from rulewright.rules.suspicious.limit_read_both_ways import limit_read_both_ways
from rulewright.rules.suspicious.metric_points_both_ways import metric_points_both_ways
from rulewright.rules.suspicious.misspelt_input_path import misspelt_input_path
from rulewright.rules.suspicious.parameter_of_another_metric import parameter_of_another_metric
from rulewright.rules.suspicious.review_above_pass import review_above_pass
from rulewright.rules.suspicious.threshold_of_zero import threshold_of_zero
from rulewright.rules.suspicious.unchanged_copy import unchanged_copy
from rulewright.rules.suspicious.weight_of_zero import weight_of_zero
from rulewright.rules.suspicious.weights_do_not_add_up import weights_do_not_add_up
from rulewright.rules.suspicious.weights_far_apart import weights_far_apart
from rulewright.rules.suspicious.yaml_trap import yaml_trap

SCORECARD: Final[tuple[Rule[ScorecardDocument], ...]] = (
    yaml_trap,
    *CONDITIONS,
    *EXPRESSIONS,
    unused_definition,
    failure_counts_as_success,
    failure_is_rewarded,
    absent_counts_as_full,
    gate_ignores_unrun_checks,
    threshold_of_zero,
    weight_of_zero,
    weights_do_not_add_up,
    weights_far_apart,
    unchanged_copy,
    unlike_its_siblings,
    limit_read_both_ways,
    name_contradicts_condition,
    or_joins_one_case,
)

CASE_SCORECARD: Final[tuple[Rule[CaseScorecardDocument], ...]] = (
    unchanged_copy,
    prompt_holds_a_verdict,
    *CONDITIONS,
    *EXPRESSIONS,
    unused_definition,
    review_above_pass,
    one_threshold_for_both,
    threshold_in_no_row,
    defaults_break_a_requirement,
    all_weights_zero,
    weights_far_apart,
    setting_of_two_parameters,
    parameter_of_another_metric,
    misspelt_input_path,
    accepted_label_fails,
    unlike_its_siblings,
    limit_read_both_ways,
    prompt_asks_for_unreadable_reply,
    metric_points_both_ways,
    full_score_is_flagged,
    threshold_of_zero,
    item_in_quotes,
)

KINDS: Final = {
    "scorecard": DocumentKind(lambda root, *_: tuple(filter(None, read_scorecard(root)[:1])), SCORECARD),
    "case_scorecard": DocumentKind(lambda root, *_: (read(CaseScorecardDocument, root),), CASE_SCORECARD),
}
