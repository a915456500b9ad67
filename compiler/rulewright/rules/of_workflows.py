"""The rules that look at workflows and their tasks, in the order they run."""

from __future__ import annotations

from typing import Final

from rulewright.rules import rules_named
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS

WORKFLOW: Final = rules_named(
    "workflow_version",
    "no_tasks",
    "unknown_agent",
    "agent_without_adapter",
    "adapter_names_missing_file",
    "script_for_no_agent",
    "unusable_reply",
    "cyclic_dependency",
    "unknown_dependency",
    "loop_without_bound",
    "challenger_is_the_reviewer",
    "judge_answers_as_the_author",
    "output_written_twice",
    "input_not_awaited",
    "misspelt_path",
    "contract_mismatch",
    "file_of_another_format",
    "weights_do_not_add_up",
    "listed_twice",
)

TASK: Final = (
    *rules_named(
        "loop_nothing_ends",
        "bound_never_reached",
        "paired_with_review",
        "partner_is_the_author",
        "partner_missing",
        "judge_without_evaluator",
        "judge_is_the_author",
        "evaluator_without_judge",
        "duplicate_metric",
        "confidence_without_metrics",
        "confidence_without_gate",
        "gate_without_evidence",
        "metric_without_source",
        "judge_without_output",
        "exit_below_threshold",
        "exit_on_failure",
        "overlay_not_enabled",
        "human_gate_bypassed",
        "sign_off_without_hil",
        "coverage_not_required",
        "bare_output_path",
        "yaml_trap",
    ),
    *CONDITIONS,
    *EXPRESSIONS,
    *rules_named(
        "threshold_of_zero",
        "weight_of_zero",
        "weights_far_apart",
        "report_of_another_kind",
    ),
)
