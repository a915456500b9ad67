"""The rules that look at whole projects and unread files, in the order they run; and all rules over a project."""

from collections.abc import Iterable
from typing import Final

from rulewright.diagnostics import Findings
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.project import Project
from rulewright.project.unread_files import UnreadFiles
from rulewright.rules import Rule, findings, of_conditions
from rulewright.rules.completeness.bucket_without_checks import bucket_without_checks
from rulewright.rules.completeness.bucket_without_policy import bucket_without_policy
from rulewright.rules.completeness.check_without_blindspot import check_without_blindspot
from rulewright.rules.completeness.comment_contradicts_files import comment_contradicts_files
from rulewright.rules.completeness.contrast_without_counterpart import contrast_without_counterpart
from rulewright.rules.completeness.dead_key import dead_key
from rulewright.rules.completeness.declared_for_nothing import declared_for_nothing
from rulewright.rules.completeness.detector_without_definition import detector_without_definition
from rulewright.rules.completeness.dev_repetitions_nobody_uses import dev_repetitions_nobody_uses
from rulewright.rules.completeness.event_window_without_anchor import event_window_without_anchor
from rulewright.rules.completeness.expectation_without_question import expectation_without_question
from rulewright.rules.completeness.fact_nothing_decides import fact_nothing_decides
from rulewright.rules.completeness.limit_without_price import limit_without_price
from rulewright.rules.completeness.number_contradicts_content import number_contradicts_content
from rulewright.rules.completeness.probe_without_verifier import probe_without_verifier
from rulewright.rules.completeness.project_without_checks import project_without_checks
from rulewright.rules.completeness.reference_to_missing_file import reference_to_missing_file
from rulewright.rules.completeness.state_machine_without_definition import state_machine_without_definition
from rulewright.rules.completeness.unread_definitions import unread_definitions
from rulewright.rules.completeness.unused_lexicon import unused_lexicon
from rulewright.rules.correctness.misspelt_in_scorecard import misspelt_in_scorecard
from rulewright.rules.correctness.misspelt_name import misspelt_name
from rulewright.rules.correctness.model_of_another_provider import model_of_another_provider
from rulewright.rules.correctness.order_reversed import order_reversed
from rulewright.rules.correctness.prompt_cannot_be_rendered import prompt_cannot_be_rendered
from rulewright.rules.correctness.unknown_check import unknown_check
from rulewright.rules.correctness.unknown_judge import unknown_judge
from rulewright.rules.correctness.unknown_jurisdiction import unknown_jurisdiction
from rulewright.rules.correctness.unknown_scenario import unknown_scenario
from rulewright.rules.correctness.words_without_vocabulary import words_without_vocabulary
from rulewright.rules.of_checks import CHECK, PROFILE
from rulewright.rules.of_lexicons import LEXICON, MARKER_SET
from rulewright.rules.of_scenarios import SCENARIO
from rulewright.rules.of_scorecards import CASE_SCORECARD as CASE_SCORECARD_RULES
from rulewright.rules.of_scorecards import SCORECARD
from rulewright.rules.of_state_machines import STATE_MACHINE
from rulewright.rules.pedantic.gate_without_blindspot import gate_without_blindspot
from rulewright.rules.pedantic.list_and_tags_disagree import list_and_tags_disagree
from rulewright.rules.pedantic.pattern_shared_by_gates import pattern_shared_by_gates
from rulewright.rules.pedantic.several_anchors_for_check import several_anchors_for_check
from rulewright.rules.pedantic.tag_no_check_looks_for import tag_no_check_looks_for
from rulewright.rules.pedantic.unit_of_analysis_missing import unit_of_analysis_missing
from rulewright.rules.pedantic.unused_rule_set import unused_rule_set
from rulewright.rules.style.gate_lexicon_opts_out_of_folding import gate_lexicon_opts_out_of_folding
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.suspicious.anchor_names_ineligible_check import anchor_names_ineligible_check
from rulewright.rules.suspicious.anchor_without_event_window import anchor_without_event_window
from rulewright.rules.suspicious.blindspot_of_another_name import blindspot_of_another_name
from rulewright.rules.suspicious.check_is_not_read import check_is_not_read
from rulewright.rules.suspicious.check_no_scenario_reaches import check_no_scenario_reaches
from rulewright.rules.suspicious.comma_missing import comma_missing
from rulewright.rules.suspicious.cue_lexicon_ignores_the_user import cue_lexicon_ignores_the_user
from rulewright.rules.suspicious.cue_nobody_says import cue_nobody_says
from rulewright.rules.suspicious.event_window_unbounded import event_window_unbounded
from rulewright.rules.suspicious.excluded_check_not_selected import excluded_check_not_selected
from rulewright.rules.suspicious.file_named_unlike_its_scenario import file_named_unlike_its_scenario
from rulewright.rules.suspicious.gate_ignores_a_severity import gate_ignores_a_severity
from rulewright.rules.suspicious.impossible_date import impossible_date
from rulewright.rules.suspicious.judge_reads_missing_file import judge_reads_missing_file
from rulewright.rules.suspicious.lexicon_hits_good_example import lexicon_hits_good_example
from rulewright.rules.suspicious.lexicon_misses_own_example import lexicon_misses_own_example
from rulewright.rules.suspicious.limit_of_zero import limit_of_zero
from rulewright.rules.suspicious.listed_check_is_suppressed import listed_check_is_suppressed
from rulewright.rules.suspicious.milliseconds_for_seconds import milliseconds_for_seconds
from rulewright.rules.suspicious.misspelt_rule_key import misspelt_rule_key
from rulewright.rules.suspicious.misspelt_suffix import misspelt_suffix
from rulewright.rules.suspicious.misspelt_tool import misspelt_tool
from rulewright.rules.suspicious.misspelt_word import misspelt_word
from rulewright.rules.suspicious.mistyped_regex import mistyped_regex
from rulewright.rules.suspicious.opposites_agree import opposites_agree
from rulewright.rules.suspicious.phrase_nearly_said import phrase_nearly_said
from rulewright.rules.suspicious.price_of_another_model import price_of_another_model
from rulewright.rules.suspicious.prompt_excludes_every_scenario import prompt_excludes_every_scenario
from rulewright.rules.suspicious.prompt_names_another_check import prompt_names_another_check
from rulewright.rules.suspicious.reply_lexicon_reads_the_user import reply_lexicon_reads_the_user
from rulewright.rules.suspicious.rule_no_answer_meets import rule_no_answer_meets
from rulewright.rules.suspicious.shared_name import shared_name
from rulewright.rules.suspicious.tag_no_scenario_has import tag_no_scenario_has
from rulewright.rules.suspicious.tool_unlike_the_words import tool_unlike_the_words
from rulewright.rules.suspicious.unchanged_copy import unchanged_copy
from rulewright.rules.suspicious.unlike_other_documents import unlike_other_documents
from rulewright.rules.suspicious.weight_of_zero import weight_of_zero
from rulewright.rules.suspicious.weights_do_not_add_up import weights_do_not_add_up
from rulewright.rules.suspicious.weights_far_apart import weights_far_apart
from rulewright.rules.suspicious.words_differ_in_case import words_differ_in_case

PROJECT: Final[tuple[Rule[Project], ...]] = (
    blindspot_of_another_name,
    comma_missing,
    unit_of_analysis_missing,
    state_machine_without_definition,
    prompt_names_another_check,
    prompt_cannot_be_rendered,
    tag_no_scenario_has,
    check_no_scenario_reaches,
    anchor_names_ineligible_check,
    anchor_without_event_window,
    event_window_without_anchor,
    event_window_unbounded,
    list_and_tags_disagree,
    expectation_without_question,
    unknown_check,
    dev_repetitions_nobody_uses,
    pattern_shared_by_gates,
    unused_lexicon,
    number_contradicts_content,
    reference_to_missing_file,
    contrast_without_counterpart,
    unused_rule_set,
    bucket_without_policy,
    gate_ignores_a_severity,
    several_anchors_for_check,
    cue_lexicon_ignores_the_user,
    reply_lexicon_reads_the_user,
    unknown_scenario,
    file_named_unlike_its_scenario,
    unknown_jurisdiction,
    dead_key,
    project_without_checks,
    bucket_without_checks,
    lexicon_misses_own_example,
    lexicon_hits_good_example,
    gate_lexicon_opts_out_of_folding,
    tag_no_check_looks_for,
    listed_check_is_suppressed,
    gate_without_blindspot,
    check_without_blindspot,
    detector_without_definition,
    misspelt_rule_key,
    weight_of_zero,
    weights_do_not_add_up,
    weights_far_apart,
    misspelt_name,
    misspelt_in_scorecard,
    misspelt_tool,
    tool_unlike_the_words,
    misspelt_word,
    mistyped_regex,
    judge_reads_missing_file,
    unknown_judge,
    words_differ_in_case,
    words_without_vocabulary,
    unchanged_copy,
    listed_twice,
    order_reversed,
    probe_without_verifier,
    impossible_date,
    unlike_other_documents,
    opposites_agree,
    rule_no_answer_meets,
    shared_name,
    fact_nothing_decides,
    limit_of_zero,
    limit_without_price,
    declared_for_nothing,
    price_of_another_model,
    model_of_another_provider,
    cue_nobody_says,
    phrase_nearly_said,
    excluded_check_not_selected,
    milliseconds_for_seconds,
    prompt_excludes_every_scenario,
)

UNREAD_FILES: Final[tuple[Rule[UnreadFiles], ...]] = (
    check_is_not_read,
    misspelt_suffix,
    unknown_scenario,
    unread_definitions,
    comment_contradicts_files,
)


def rule_findings(project: Project, cards: Iterable[CaseScorecardDocument], unread: UnreadFiles) -> Findings:
    """The findings of the rules, except those of workflows, which `workflow_check` runs."""
    yield from findings(PROJECT, [project])
    yield from findings((*CHECK, *of_conditions.CHECK), project.checks)
    yield from findings((*PROFILE, *of_conditions.PROFILE), project.profiles.values())
    yield from findings((*SCENARIO, *of_conditions.SCENARIO), project.scenarios.values())
    yield from findings(LEXICON, project.lexicons.values())
    yield from findings(MARKER_SET, project.markers)
    yield from findings(SCORECARD, project.scorecards.values())
    yield from findings(CASE_SCORECARD_RULES, cards)
    yield from findings(STATE_MACHINE, project.state_machines.values())
    yield from findings(UNREAD_FILES, [unread])
