"""The lint rules, in the order they run. A rule is one file: a function whose docstring is its manual page.

A rule says by the annotation of its one parameter what it looks at: a document model (`Check`, `Scenario`, ...) or
several (`Check | Profile`) are given each document of that kind, `Project` is given the whole. It yields `error(...)`,
`warning(...)` or `advice(...)` of `rulewright.diagnostics`; the engine writes the rule's name, with dashes, into
`code`.

`RULES` repeats what each rule looks at, so that its file is only read when there is something to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from rulewright.diagnostics import Diagnostic

Rule: TypeAlias = Callable[[Any], Iterable[Diagnostic]]

RULES: tuple[str, ...] = (
    "unclear_policy_without_its_path: Check",
    "directive_ignored_by_route: Check",
    "prompt_without_judge: Check",
    "even_repetitions: Check",
    "adaptive_with_one_repetition: Check | Profile",
    "unit_of_analysis_unfit: Check",
    "unit_of_analysis_missing: Project",
    "hard_fail_contradicts_severity: Check",
    "gate_severity_outside_gate_bucket: Check",
    "gate_judged_once: Check",
    "tags_on_universal_check: Check",
    "any_mixed_with_tags: Check",
    "trigger_without_condition: Check",
    "state_machine_without_definition: Project",
    "prompt_asks_for_unreadable_reply: Check",
    "prompt_holds_a_verdict: Check | CaseScorecardDocument",
    "prompt_names_another_check: Project",
    "prompt_cannot_be_rendered: Project",
    "tag_no_scenario_carries: Project",
    "check_no_scenario_reaches: Project",
    "anchor_names_ineligible_check: Project",
    "anchor_without_event_window: Project",
    "event_window_without_anchor: Project",
    "event_window_unbounded: Project",
    "list_and_tags_disagree: Project",
    "expectation_without_question: Project",
    "unknown_check: Project",
    "dev_repetitions_nobody_uses: Project",
    "pattern_shared_by_gates: Project",
    "unused_lexicon: Project",
    "count_contradicts_files: Project",
    "reference_to_missing_file: Project",
    "turn_numbers_out_of_order: Scenario",
    "turn_numbers_disagree: Scenario",
    "turn_that_does_not_exist: Scenario",
    "probe_without_verifier: Scenario",
    "contrast_without_counterpart: Project",
    "window_ends_before_it_starts: Scenario",
    "branch_never_taken: Scenario",
    "branch_always_taken: Scenario",
    "branch_changes_nothing: Scenario",
    "duplicate_branch_id: Scenario",
    "branch_without_triggers: Scenario",
    "duplicate_session_number: Scenario",
    "rubric_dimension_unknown: Scenario",
    "retired_rubric_dialect: Scenario",
    "duplicate_pattern: Lexicon",
    "subsumed_pattern: Lexicon | MarkerSet | Scenario",
    "ascii_only_apostrophe: Lexicon | Scenario",
    "invalid_regex: Lexicon | Scenario",
    "unused_rule_set: Project",
    "bucket_without_policy: Project",
    "several_anchors_for_check: Project",
    "cue_lexicon_ignores_the_user: Project",
    "short_word_hits_inside_others: Lexicon | MarkerSet | Scenario",
    "unknown_scenario: Project",
    "unknown_jurisdiction: Project",
    "workflow_version: Workflow",
    "no_tasks: Workflow",
    "unknown_agent: Workflow",
    "agent_without_adapter: Workflow",
    "cyclic_dependency: Workflow",
    "unknown_dependency: Workflow",
    "loop_without_bound: Workflow",
    "loop_nothing_ends: TaskDocument",
    "bound_never_reached: TaskDocument",
    "paired_with_review: TaskDocument",
    "partner_is_the_author: TaskDocument",
    "partner_missing: TaskDocument",
    "challenger_is_the_reviewer: Workflow",
    "judge_without_evaluator: TaskDocument",
    "judge_is_the_author: TaskDocument",
    "judge_answers_as_the_author: Workflow",
    "evaluator_without_judge: TaskDocument",
    "duplicate_metric: TaskDocument",
    "confidence_without_metrics: TaskDocument",
    "confidence_without_gate: TaskDocument",
    "gate_without_evidence: TaskDocument",
    "metric_without_source: TaskDocument",
    "judge_without_output: TaskDocument",
    "exit_below_threshold: TaskDocument",
    "overlay_not_enabled: TaskDocument",
    "human_gate_bypassed: TaskDocument",
    "sign_off_without_hil: TaskDocument",
    "coverage_not_required: TaskDocument",
    "output_written_twice: Workflow",
    "bare_output_path: TaskDocument",
    "input_not_awaited: Workflow",
    "contract_mismatch: Workflow",
    "file_of_another_format: Workflow",
    "dead_key: Project",
    "project_without_checks: Project",
    "bucket_without_checks: Project",
    "lexicon_misses_own_example: Project",
    "lexicon_hits_good_example: Project",
    "gate_lexicon_opts_out_of_folding: Project",
    "pattern_lost_in_folding: Lexicon",
    "cue_text_not_in_turn: Scenario",
    "probe_names_another_turn: Scenario",
    "update_of_unstated_fact: Scenario",
    "yaml_trap: Check | Lexicon | MarkerSet | Profile | Scenario | ScorecardDocument | TaskDocument",
    "transcript_outside_fence: Check",
    "listed_twice: Check | MarkerSet | Profile | Scenario",
    "condition_never_holds: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument",
    "condition_always_holds: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument",
    "check_never_fails: Check",
    "check_never_passes: Check",
    "condition_adds_nothing: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument",
    "comparison_out_of_range: Check | ScorecardDocument | CaseScorecardDocument | TaskDocument",
    "tag_no_check_looks_for: Project",
    "deprecated_spelling: Scenario",
    "probe_expects_an_untold_name: Scenario",
    "listed_check_is_silenced: Project",
    "integer_division: CaseScorecardDocument | Check | Profile | Scenario | ScorecardDocument | TaskDocument",
    "equality_after_rounding: CaseScorecardDocument | Check | Profile | Scenario | ScorecardDocument | TaskDocument",
    "both_sides_equal: CaseScorecardDocument | Check | Profile | Scenario | ScorecardDocument | TaskDocument",
    "unused_definition: CaseScorecardDocument | ScorecardDocument",
    "review_above_pass: CaseScorecardDocument",
    "defaults_break_a_requirement: CaseScorecardDocument",
    "all_weights_zero: CaseScorecardDocument",
    "failure_counts_as_success: ScorecardDocument",
    "gate_without_blindspot: Project",
    "duplicate_criterion_id: Scenario",
    "question_of_common_words: MarkerSet",
    "detector_without_definition: Project",
    "misspelt_rule_key: Project",
    "unread_definitions: UnreadFiles",
    "comment_contradicts_files: UnreadFiles",
)


def code_of(rule: Rule) -> str:
    """The rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def rule_page(code: str) -> str | None:
    """The manual page of the rule that has this code; None when there is no such rule."""
    name = code.replace("-", "_")
    return _rule(name).__doc__ if any(_parts(row)[0] == name for row in RULES) else None


@cache
def rules_for(subject: str) -> tuple[Rule, ...]:
    """The rules that look at a model of this name, in the order they run."""
    return tuple(_rule(name) for name, subjects in map(_parts, RULES) if subject in subjects)


def every_rule() -> tuple[Rule, ...]:
    """All rules, in the order they run."""
    return tuple(_rule(name) for name, _ in map(_parts, RULES))


def findings(subjects: Mapping[str, Sequence[Any]]) -> list[Diagnostic]:
    """What the rules find in `subjects`, models by the name of their kind; each finding under its rule's code."""
    return [
        replace(found, code=code_of(rule))
        for kind, models in subjects.items()
        if models
        for rule in rules_for(kind)
        for subject in models
        for found in rule(subject)
    ]


def _parts(row: str) -> tuple[str, tuple[str, ...]]:
    name, _, subjects = row.partition(": ")
    return name, tuple(subjects.split(" | "))


@cache
def _rule(name: str) -> Rule:
    rule: Rule = getattr(import_module(f"{__name__}.{name}"), name)
    return rule
