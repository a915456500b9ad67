"""The rules that look at workflows and their tasks, in the order they run."""

from typing import Final

from rulewright.documents.workflow import TaskDocument
from rulewright.rules import Rule
from rulewright.rules.completeness.agent_without_adapter import agent_without_adapter
from rulewright.rules.completeness.confidence_without_gate import confidence_without_gate
from rulewright.rules.completeness.confidence_without_metrics import confidence_without_metrics
from rulewright.rules.completeness.coverage_not_required import coverage_not_required
from rulewright.rules.completeness.declared_for_nothing import declared_for_nothing
from rulewright.rules.completeness.evaluator_without_judge import evaluator_without_judge
from rulewright.rules.completeness.evidence_not_read import evidence_not_read
from rulewright.rules.completeness.gate_without_evidence import gate_without_evidence
from rulewright.rules.completeness.judge_without_output import judge_without_output
from rulewright.rules.completeness.metric_without_source import metric_without_source
from rulewright.rules.completeness.number_contradicts_content import number_contradicts_content
from rulewright.rules.completeness.overlay_not_enabled import overlay_not_enabled
from rulewright.rules.completeness.sign_off_without_hil import sign_off_without_hil
from rulewright.rules.correctness.contract_mismatch import contract_mismatch
from rulewright.rules.correctness.cyclic_dependency import cyclic_dependency
from rulewright.rules.correctness.defaults_switched_off import defaults_switched_off
from rulewright.rules.correctness.duplicate_metric import duplicate_metric
from rulewright.rules.correctness.exit_by_count import exit_by_count
from rulewright.rules.correctness.exit_on_failure import exit_on_failure
from rulewright.rules.correctness.file_of_another_format import file_of_another_format
from rulewright.rules.correctness.gate_unlike_its_siblings import gate_unlike_its_siblings
from rulewright.rules.correctness.judge_is_the_author import judge_is_the_author
from rulewright.rules.correctness.judge_without_evaluator import judge_without_evaluator
from rulewright.rules.correctness.loop_without_bound import loop_without_bound
from rulewright.rules.correctness.model_of_another_provider import model_of_another_provider
from rulewright.rules.correctness.no_tasks import no_tasks
from rulewright.rules.correctness.output_outside_the_project import output_outside_the_project
from rulewright.rules.correctness.paired_with_review import paired_with_review
from rulewright.rules.correctness.partner_is_the_author import partner_is_the_author
from rulewright.rules.correctness.partner_missing import partner_missing
from rulewright.rules.correctness.report_of_another_task import report_of_another_task
from rulewright.rules.correctness.unknown_agent import unknown_agent
from rulewright.rules.correctness.unknown_dependency import unknown_dependency
from rulewright.rules.correctness.weights_in_raw_mode import weights_in_raw_mode
from rulewright.rules.correctness.workflow_version import workflow_version
from rulewright.rules.of_conditions import CONDITIONS, EXPRESSIONS
from rulewright.rules.style.bare_output_path import bare_output_path
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.suspicious.adapter_names_missing_file import adapter_names_missing_file
from rulewright.rules.suspicious.adapter_of_another_type import adapter_of_another_type
from rulewright.rules.suspicious.bound_never_reached import bound_never_reached
from rulewright.rules.suspicious.challenger_is_the_reviewer import challenger_is_the_reviewer
from rulewright.rules.suspicious.default_conditions_dropped import default_conditions_dropped
from rulewright.rules.suspicious.exit_below_threshold import exit_below_threshold
from rulewright.rules.suspicious.human_gate_bypassed import human_gate_bypassed
from rulewright.rules.suspicious.input_nobody_writes import input_nobody_writes
from rulewright.rules.suspicious.input_not_awaited import input_not_awaited
from rulewright.rules.suspicious.judge_answers_as_the_author import judge_answers_as_the_author
from rulewright.rules.suspicious.limit_of_zero import limit_of_zero
from rulewright.rules.suspicious.loop_nothing_ends import loop_nothing_ends
from rulewright.rules.suspicious.misspelt_hyperparameter import misspelt_hyperparameter
from rulewright.rules.suspicious.misspelt_path import misspelt_path
from rulewright.rules.suspicious.output_written_twice import output_written_twice
from rulewright.rules.suspicious.report_of_another_kind import report_of_another_kind
from rulewright.rules.suspicious.script_for_no_agent import script_for_no_agent
from rulewright.rules.suspicious.threshold_of_zero import threshold_of_zero
from rulewright.rules.suspicious.unusable_reply import unusable_reply
from rulewright.rules.suspicious.weight_of_zero import weight_of_zero
from rulewright.rules.suspicious.weights_do_not_add_up import weights_do_not_add_up
from rulewright.rules.suspicious.weights_far_apart import weights_far_apart
from rulewright.rules.suspicious.yaml_trap import yaml_trap
from rulewright.workflow import Workflow

WORKFLOW: Final[tuple[Rule[Workflow], ...]] = (
    workflow_version,
    no_tasks,
    unknown_agent,
    agent_without_adapter,
    adapter_names_missing_file,
    adapter_of_another_type,
    script_for_no_agent,
    unusable_reply,
    cyclic_dependency,
    unknown_dependency,
    loop_without_bound,
    challenger_is_the_reviewer,
    judge_answers_as_the_author,
    output_written_twice,
    input_not_awaited,
    misspelt_path,
    contract_mismatch,
    file_of_another_format,
    weights_do_not_add_up,
    listed_twice,
    number_contradicts_content,
    limit_of_zero,
    declared_for_nothing,
    input_nobody_writes,
    defaults_switched_off,
    misspelt_hyperparameter,
    model_of_another_provider,
    gate_unlike_its_siblings,
    report_of_another_task,
    default_conditions_dropped,
)

TASK: Final[tuple[Rule[TaskDocument], ...]] = (
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
    gate_without_evidence,
    evidence_not_read,
    metric_without_source,
    judge_without_output,
    exit_below_threshold,
    exit_on_failure,
    exit_by_count,
    overlay_not_enabled,
    human_gate_bypassed,
    sign_off_without_hil,
    coverage_not_required,
    bare_output_path,
    output_outside_the_project,
    yaml_trap,
    *CONDITIONS,
    *EXPRESSIONS,
    threshold_of_zero,
    weight_of_zero,
    weights_far_apart,
    weights_in_raw_mode,
    report_of_another_kind,
)
