"""The lint rules. A rule is one file: a function whose docstring is its manual page.

A rule looks at the one parameter that it takes: a document model (`Check`, `Scenario`, ...), one of several
(`Check | Profile`), or the whole `Project`. It yields `error(...)`, `warning(...)` or `advice(...)` of
`rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.

`RULES` lists the rules for each kind of document. `rules_of` imports only those that a kind needs, so that linting a
single document starts fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic

Model = TypeVar("Model")
Rule: TypeAlias = Callable[[Model], Iterable[Diagnostic]]

# The names of the rules, in the order they run. Rules about any expression:
_CONDITIONS: Final = "condition_never_holds condition_always_holds condition_adds_nothing comparison_out_of_range"
_EXPRESSIONS: Final = """
    units_differ guard_excludes_its_value bound_excluded part_exceeds_whole arguments_swapped integer_division
    equality_after_rounding both_sides_equal empty_list_searched index_past_the_end backspace_in_expression
    weights_for_other_values negated_twice outcome_contradicts_condition and_before_or item_finds_itself
"""
RULES: Final[dict[str, str]] = {
    "check": """
        unclear_policy_without_its_path directive_ignored_by_route prompt_without_judge even_repetitions
        adaptive_with_one_repetition unit_of_analysis_unfit hard_fail_contradicts_severity
        gate_severity_outside_gate_bucket gate_judged_once tags_on_universal_check any_mixed_with_tags
        trigger_without_condition prompt_asks_for_unreadable_reply prompt_holds_a_verdict yaml_trap
        transcript_outside_fence prompt_with_single_braces prompt_without_pass_or_fail prompt_contradicts_rules
        listed_twice impossible_date opposites_agree limit_of_zero more_votes_in_development quote_nobody_checks
    """,
    "profile": """
        even_repetitions adaptive_with_one_repetition yaml_trap listed_twice edge_without_votes impossible_date
        opposites_agree setting_overruled limit_of_zero
    """,
    "lexicon": """
        duplicate_pattern subsumed_pattern ascii_only_apostrophe invalid_regex mistyped_regex regex_between_slashes
        short_word_hits_inside_others pattern_lost_in_folding regex_taken_for_text yaml_trap
    """,
    "markers": """
        subsumed_pattern short_word_hits_inside_others regex_taken_for_text yaml_trap listed_twice
        question_of_common_words opposites_agree
    """,
    "scenario": """
        turn_numbers_out_of_order turn_numbers_disagree turn_that_does_not_exist probe_without_verifier
        window_ends_before_it_starts branch_never_taken branch_always_taken branch_changes_nothing duplicate_branch_id
        branch_without_triggers duplicate_session_number session_number_skipped level_skipped levels_not_read
        probe_reads_a_later_session unreadable_elapsed_time rubric_dimension_unknown retired_rubric_dialect
        subsumed_pattern ascii_only_apostrophe invalid_regex mistyped_regex short_word_hits_inside_others
        cue_in_another_turn cue_text_not_in_turn probe_names_another_turn update_of_unstated_fact yaml_trap listed_twice
        deprecated_spelling probe_expects_an_untold_name duplicate_criterion_id unchanged_copy impossible_date
        probes_contradict_each_other opposites_agree cue_misquotes_turn window_starts_after_its_cue weight_of_zero
    """,
    "scorecard": f"""
        yaml_trap {_CONDITIONS} {_EXPRESSIONS} unused_definition failure_counts_as_success failure_is_rewarded
        absent_counts_as_full gate_ignores_unrun_checks threshold_of_zero weight_of_zero weights_do_not_add_up
        weights_far_apart unchanged_copy unlike_its_siblings limit_read_both_ways
    """,
    "case_scorecard": f"""
        prompt_holds_a_verdict {_CONDITIONS} {_EXPRESSIONS} unused_definition review_above_pass one_threshold_for_both
        threshold_in_no_row defaults_break_a_requirement all_weights_zero setting_of_two_parameters
        parameter_of_another_metric misspelt_input_path accepted_label_fails unlike_its_siblings limit_read_both_ways
        prompt_asks_for_unreadable_reply metric_points_both_ways full_score_is_flagged threshold_of_zero item_in_quotes
    """,
    "state_machine": f"{_CONDITIONS} {_EXPRESSIONS} transition_never_made state_ends_twice code_denies_its_state",
    "project": """
        blindspot_of_another_name comma_missing unit_of_analysis_missing state_machine_without_definition
        prompt_names_another_check prompt_cannot_be_rendered tag_no_scenario_carries check_no_scenario_reaches
        anchor_names_ineligible_check anchor_without_event_window event_window_without_anchor event_window_unbounded
        list_and_tags_disagree expectation_without_question unknown_check dev_repetitions_nobody_uses
        pattern_shared_by_gates unused_lexicon number_contradicts_content reference_to_missing_file
        contrast_without_counterpart unused_rule_set bucket_without_policy gate_ignores_a_severity
        several_anchors_for_check cue_lexicon_ignores_the_user reply_lexicon_reads_the_user unknown_scenario
        file_named_unlike_its_scenario unknown_jurisdiction dead_key project_without_checks bucket_without_checks
        lexicon_misses_own_example lexicon_hits_good_example gate_lexicon_opts_out_of_folding tag_no_check_looks_for
        listed_check_is_silenced gate_without_blindspot check_without_blindspot detector_without_definition
        misspelt_rule_key weight_of_zero weights_far_apart misspelt_name misspelt_in_scorecard misspelt_tool
        misspelt_word mistyped_regex judge_reads_missing_file unknown_judge words_differ_in_case
        words_without_vocabulary unchanged_copy listed_twice order_reversed probe_without_verifier impossible_date
        unlike_its_siblings opposites_agree rule_no_answer_meets shared_name fact_nothing_decides limit_of_zero
        declared_for_nothing price_of_another_model cue_nobody_says phrase_nearly_said setting_overruled
        milliseconds_for_seconds
    """,
    "unread_files": "check_is_not_read misspelt_suffix unknown_scenario unread_definitions comment_contradicts_files",
    "workflow": """
        workflow_version no_tasks unknown_agent agent_without_adapter adapter_names_missing_file adapter_of_another_type
        script_for_no_agent unusable_reply cyclic_dependency unknown_dependency loop_without_bound
        challenger_is_the_reviewer judge_answers_as_the_author output_written_twice input_not_awaited misspelt_path
        contract_mismatch file_of_another_format weights_do_not_add_up listed_twice limit_of_zero declared_for_nothing
        input_nobody_writes defaults_switched_off misspelt_hyperparameter gate_unlike_its_siblings
        report_of_another_task
    """,
    "task": f"""
        loop_nothing_ends bound_never_reached paired_with_review partner_is_the_author partner_missing
        judge_without_evaluator judge_is_the_author evaluator_without_judge duplicate_metric confidence_without_metrics
        confidence_without_gate gate_without_evidence evidence_not_read metric_without_source judge_without_output
        exit_below_threshold exit_on_failure exit_by_count overlay_not_enabled human_gate_bypassed sign_off_without_hil
        coverage_not_required bare_output_path yaml_trap {_CONDITIONS} {_EXPRESSIONS} threshold_of_zero weight_of_zero
        weights_far_apart report_of_another_kind
    """,
}
# More rules for the documents of a kind that hold expressions; they take long to import.
EXPRESSION_RULES: Final[dict[str, str]] = {
    "check": f"""
        {_CONDITIONS} check_never_fails check_never_passes each_not_read parameter_does_not_fit unread_parameter
        bad_schema mistyped_regex words_contradict_condition {_EXPRESSIONS} harmless_reply_violates subsumed_pattern
    """,
    "profile": f"{_CONDITIONS} {_EXPRESSIONS}",
    "scenario": f"{_CONDITIONS} {_EXPRESSIONS}",
}
_ONE_OF: Final = {"lexicons": "lexicon", "profiles": "profile"}  # files that hold several


@cache
def rules_of(kind: str, *, of_expressions: bool = False) -> tuple[Rule[Any], ...]:
    """Return the rules for a kind of document, or only those in `EXPRESSION_RULES`; imported on first use."""
    names = (EXPRESSION_RULES if of_expressions else RULES).get(_ONE_OF.get(kind, kind), "")
    return tuple(getattr(import_module(f"{__name__}.{name}"), name) for name in names.split())


def code_of(rule: Rule[Model]) -> str:
    """Return the rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def findings(rules: Iterable[Rule[Model]], models: Iterable[Model]) -> Iterator[Diagnostic]:
    """Yield the findings of the rules in the models, each with its rule's code."""
    rules = tuple(rules)
    for model in models:  # a document at a time: what rules read of it is kept for a few documents only
        for rule in rules:
            for found in rule(model):
                yield replace(found, code=code_of(rule))


def rule_page(code: str) -> str | None:
    """Return the manual page of the rule with this code, or None."""
    name = code.replace("-", "_")
    if not (Path(__file__).parent / f"{name}.py").is_file():
        return None
    page: str | None = getattr(import_module(f"{__name__}.{name}"), name).__doc__
    return page
