"""The lint rules, in the order they run. A rule is one file: a function whose docstring is its manual page.

A rule says by the annotation of its one parameter what it looks at: a document model (`Check`, `Scenario`, ...) or
several (`Check | Profile`) are given each document of that kind, `Project` is given the whole. It yields `error(...)`,
`warning(...)` or `advice(...)` of `rulewright.diagnostics`; the engine writes the rule's name, with dashes, into
`code`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

from rulewright.diagnostics import Diagnostic
from rulewright.rules.adaptive_with_one_repetition import adaptive_with_one_repetition
from rulewright.rules.anchor_names_ineligible_check import anchor_names_ineligible_check
from rulewright.rules.anchor_without_event_window import anchor_without_event_window
from rulewright.rules.any_mixed_with_tags import any_mixed_with_tags
from rulewright.rules.ascii_only_apostrophe import ascii_only_apostrophe
from rulewright.rules.bound_never_reached import bound_never_reached
from rulewright.rules.branch_always_taken import branch_always_taken
from rulewright.rules.branch_changes_nothing import branch_changes_nothing
from rulewright.rules.branch_never_taken import branch_never_taken
from rulewright.rules.bucket_without_checks import bucket_without_checks
from rulewright.rules.bucket_without_policy import bucket_without_policy
from rulewright.rules.check_no_scenario_reaches import check_no_scenario_reaches
from rulewright.rules.comparison_out_of_range import comparison_out_of_range
from rulewright.rules.condition_adds_nothing import condition_adds_nothing
from rulewright.rules.condition_always_holds import condition_always_holds
from rulewright.rules.condition_never_holds import condition_never_holds
from rulewright.rules.confidence_without_gate import confidence_without_gate
from rulewright.rules.confidence_without_metrics import confidence_without_metrics
from rulewright.rules.count_contradicts_files import count_contradicts_files
from rulewright.rules.cue_lexicon_ignores_the_user import cue_lexicon_ignores_the_user
from rulewright.rules.cue_text_not_in_turn import cue_text_not_in_turn
from rulewright.rules.cyclic_dependency import cyclic_dependency
from rulewright.rules.dead_key import dead_key
from rulewright.rules.dev_repetitions_nobody_uses import dev_repetitions_nobody_uses
from rulewright.rules.directive_ignored_by_route import directive_ignored_by_route
from rulewright.rules.duplicate_branch_id import duplicate_branch_id
from rulewright.rules.duplicate_metric import duplicate_metric
from rulewright.rules.duplicate_pattern import duplicate_pattern
from rulewright.rules.evaluator_without_judge import evaluator_without_judge
from rulewright.rules.even_repetitions import even_repetitions
from rulewright.rules.event_window_without_anchor import event_window_without_anchor
from rulewright.rules.exit_below_threshold import exit_below_threshold
from rulewright.rules.gate_judged_once import gate_judged_once
from rulewright.rules.gate_severity_outside_gate_bucket import gate_severity_outside_gate_bucket
from rulewright.rules.hard_fail_contradicts_severity import hard_fail_contradicts_severity
from rulewright.rules.human_gate_bypassed import human_gate_bypassed
from rulewright.rules.input_not_awaited import input_not_awaited
from rulewright.rules.invalid_regex import invalid_regex
from rulewright.rules.judge_is_the_author import judge_is_the_author
from rulewright.rules.judge_without_evaluator import judge_without_evaluator
from rulewright.rules.lexicon_hits_good_example import lexicon_hits_good_example
from rulewright.rules.lexicon_misses_own_example import lexicon_misses_own_example
from rulewright.rules.list_and_tags_disagree import list_and_tags_disagree
from rulewright.rules.listed_twice import listed_twice
from rulewright.rules.loop_nothing_ends import loop_nothing_ends
from rulewright.rules.loop_without_bound import loop_without_bound
from rulewright.rules.no_tasks import no_tasks
from rulewright.rules.output_written_twice import output_written_twice
from rulewright.rules.overlay_not_enabled import overlay_not_enabled
from rulewright.rules.paired_with_review import paired_with_review
from rulewright.rules.partner_is_the_author import partner_is_the_author
from rulewright.rules.partner_missing import partner_missing
from rulewright.rules.pattern_shared_by_gates import pattern_shared_by_gates
from rulewright.rules.probe_names_another_turn import probe_names_another_turn
from rulewright.rules.prompt_asks_for_unreadable_reply import prompt_asks_for_unreadable_reply
from rulewright.rules.prompt_names_another_check import prompt_names_another_check
from rulewright.rules.prompt_without_judge import prompt_without_judge
from rulewright.rules.reference_to_missing_file import reference_to_missing_file
from rulewright.rules.retired_rubric_dialect import retired_rubric_dialect
from rulewright.rules.rubric_dimension_unknown import rubric_dimension_unknown
from rulewright.rules.several_anchors_for_check import several_anchors_for_check
from rulewright.rules.short_word_hits_inside_others import short_word_hits_inside_others
from rulewright.rules.sign_off_without_hil import sign_off_without_hil
from rulewright.rules.state_machine_without_definition import state_machine_without_definition
from rulewright.rules.subsumed_pattern import subsumed_pattern
from rulewright.rules.tag_no_check_looks_for import tag_no_check_looks_for
from rulewright.rules.tag_no_scenario_carries import tag_no_scenario_carries
from rulewright.rules.tags_on_universal_check import tags_on_universal_check
from rulewright.rules.transcript_outside_fence import transcript_outside_fence
from rulewright.rules.turn_numbers_disagree import turn_numbers_disagree
from rulewright.rules.turn_numbers_out_of_order import turn_numbers_out_of_order
from rulewright.rules.turn_that_does_not_exist import turn_that_does_not_exist
from rulewright.rules.unclear_policy_without_its_path import unclear_policy_without_its_path
from rulewright.rules.unit_of_analysis_missing import unit_of_analysis_missing
from rulewright.rules.unit_of_analysis_unfit import unit_of_analysis_unfit
from rulewright.rules.unknown_agent import unknown_agent
from rulewright.rules.unknown_check import unknown_check
from rulewright.rules.unknown_dependency import unknown_dependency
from rulewright.rules.unknown_jurisdiction import unknown_jurisdiction
from rulewright.rules.unknown_kind import unknown_kind
from rulewright.rules.unknown_scenario import unknown_scenario
from rulewright.rules.unused_lexicon import unused_lexicon
from rulewright.rules.unused_rule_set import unused_rule_set
from rulewright.rules.window_ends_before_it_starts import window_ends_before_it_starts
from rulewright.rules.workflow_version import workflow_version
from rulewright.rules.yaml_trap import yaml_trap

Rule: TypeAlias = Callable[[Any], Iterable[Diagnostic]]

RULES: tuple[Rule, ...] = (
    unclear_policy_without_its_path,
    directive_ignored_by_route,
    prompt_without_judge,
    even_repetitions,
    adaptive_with_one_repetition,
    unit_of_analysis_unfit,
    unit_of_analysis_missing,
    hard_fail_contradicts_severity,
    gate_severity_outside_gate_bucket,
    gate_judged_once,
    tags_on_universal_check,
    any_mixed_with_tags,
    state_machine_without_definition,
    prompt_asks_for_unreadable_reply,
    prompt_names_another_check,
    tag_no_scenario_carries,
    check_no_scenario_reaches,
    anchor_names_ineligible_check,
    anchor_without_event_window,
    event_window_without_anchor,
    list_and_tags_disagree,
    unknown_check,
    dev_repetitions_nobody_uses,
    pattern_shared_by_gates,
    unused_lexicon,
    count_contradicts_files,
    reference_to_missing_file,
    turn_numbers_out_of_order,
    turn_numbers_disagree,
    turn_that_does_not_exist,
    window_ends_before_it_starts,
    branch_never_taken,
    branch_always_taken,
    branch_changes_nothing,
    duplicate_branch_id,
    rubric_dimension_unknown,
    retired_rubric_dialect,
    duplicate_pattern,
    subsumed_pattern,
    ascii_only_apostrophe,
    invalid_regex,
    unused_rule_set,
    unknown_kind,
    bucket_without_policy,
    several_anchors_for_check,
    cue_lexicon_ignores_the_user,
    short_word_hits_inside_others,
    unknown_scenario,
    unknown_jurisdiction,
    workflow_version,
    no_tasks,
    unknown_agent,
    cyclic_dependency,
    unknown_dependency,
    loop_without_bound,
    loop_nothing_ends,
    bound_never_reached,
    paired_with_review,
    partner_is_the_author,
    partner_missing,
    judge_without_evaluator,
    judge_is_the_author,
    evaluator_without_judge,
    duplicate_metric,
    confidence_without_metrics,
    confidence_without_gate,
    exit_below_threshold,
    overlay_not_enabled,
    human_gate_bypassed,
    sign_off_without_hil,
    output_written_twice,
    input_not_awaited,
    dead_key,
    bucket_without_checks,
    lexicon_misses_own_example,
    lexicon_hits_good_example,
    cue_text_not_in_turn,
    probe_names_another_turn,
    yaml_trap,
    transcript_outside_fence,
    listed_twice,
    condition_never_holds,
    condition_always_holds,
    condition_adds_nothing,
    comparison_out_of_range,
    tag_no_check_looks_for,
)


def code_of(rule: Rule) -> str:
    """The rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


@cache
def subjects_of(rule: Rule) -> tuple[str, ...]:
    """The names of the models the rule looks at, read from its parameter's annotation."""
    return tuple(str(next(iter(rule.__annotations__.values()))).split(" | "))
