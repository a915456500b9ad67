"""The rules that look at scenarios, in the order they run; `of_conditions` has more."""

from typing import Final

from rulewright.documents.scenario import ScenarioDocument, read_scenario
from rulewright.rules import DocumentKind, Rule
from rulewright.rules.completeness.branch_without_triggers import branch_without_triggers
from rulewright.rules.completeness.probe_without_verifier import probe_without_verifier
from rulewright.rules.correctness.duplicate_branch_id import duplicate_branch_id
from rulewright.rules.correctness.duplicate_session_number import duplicate_session_number
from rulewright.rules.correctness.invalid_regex import invalid_regex
from rulewright.rules.correctness.turn_numbers_disagree import turn_numbers_disagree
from rulewright.rules.correctness.turn_that_does_not_exist import turn_that_does_not_exist
from rulewright.rules.correctness.window_ends_before_it_starts import window_ends_before_it_starts
from rulewright.rules.pedantic.cue_text_not_in_turn import cue_text_not_in_turn
from rulewright.rules.style.deprecated_spelling import deprecated_spelling
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.style.retired_rubric_dialect import retired_rubric_dialect
from rulewright.rules.style.subsumed_pattern import subsumed_pattern
from rulewright.rules.suspicious.ascii_only_apostrophe import ascii_only_apostrophe
from rulewright.rules.suspicious.branch_always_taken import branch_always_taken
from rulewright.rules.suspicious.branch_changes_nothing import branch_changes_nothing
from rulewright.rules.suspicious.branch_hides_what_a_probe_expects import branch_hides_what_a_probe_expects
from rulewright.rules.suspicious.branch_never_taken import branch_never_taken
from rulewright.rules.suspicious.cue_in_another_turn import cue_in_another_turn
from rulewright.rules.suspicious.cue_misquotes_turn import cue_misquotes_turn
from rulewright.rules.suspicious.description_names_another import description_names_another
from rulewright.rules.suspicious.duplicate_criterion_id import duplicate_criterion_id
from rulewright.rules.suspicious.expectation_of_an_unstated_fact import expectation_of_an_unstated_fact
from rulewright.rules.suspicious.fact_no_message_tells import fact_no_message_tells
from rulewright.rules.suspicious.impossible_date import impossible_date
from rulewright.rules.suspicious.level_skipped import level_skipped
from rulewright.rules.suspicious.levels_not_read import levels_not_read
from rulewright.rules.suspicious.mistyped_regex import mistyped_regex
from rulewright.rules.suspicious.opposites_agree import opposites_agree
from rulewright.rules.suspicious.phrase_hits_inside_words import phrase_hits_inside_words
from rulewright.rules.suspicious.probe_expects_an_unstated_name import probe_expects_an_unstated_name
from rulewright.rules.suspicious.probe_expects_unstated_words import probe_expects_unstated_words
from rulewright.rules.suspicious.probe_names_another_turn import probe_names_another_turn
from rulewright.rules.suspicious.probe_reads_a_later_session import probe_reads_a_later_session
from rulewright.rules.suspicious.probes_contradict_each_other import probes_contradict_each_other
from rulewright.rules.suspicious.rubric_dimension_unknown import rubric_dimension_unknown
from rulewright.rules.suspicious.session_number_skipped import session_number_skipped
from rulewright.rules.suspicious.short_word_hits_inside_others import short_word_hits_inside_others
from rulewright.rules.suspicious.turn_numbers_out_of_order import turn_numbers_out_of_order
from rulewright.rules.suspicious.unchanged_copy import unchanged_copy
from rulewright.rules.suspicious.unreadable_elapsed_time import unreadable_elapsed_time
from rulewright.rules.suspicious.update_of_unstated_fact import update_of_unstated_fact
from rulewright.rules.suspicious.weight_of_zero import weight_of_zero
from rulewright.rules.suspicious.window_starts_after_its_cue import window_starts_after_its_cue
from rulewright.rules.suspicious.yaml_trap import yaml_trap

SCENARIO: Final[tuple[Rule[ScenarioDocument], ...]] = (
    turn_numbers_out_of_order,
    turn_numbers_disagree,
    turn_that_does_not_exist,
    probe_without_verifier,
    window_ends_before_it_starts,
    branch_never_taken,
    branch_always_taken,
    branch_changes_nothing,
    duplicate_branch_id,
    branch_without_triggers,
    duplicate_session_number,
    session_number_skipped,
    level_skipped,
    levels_not_read,
    probe_reads_a_later_session,
    unreadable_elapsed_time,
    rubric_dimension_unknown,
    retired_rubric_dialect,
    subsumed_pattern,
    ascii_only_apostrophe,
    invalid_regex,
    mistyped_regex,
    short_word_hits_inside_others,
    phrase_hits_inside_words,
    cue_in_another_turn,
    cue_text_not_in_turn,
    probe_names_another_turn,
    update_of_unstated_fact,
    yaml_trap,
    listed_twice,
    deprecated_spelling,
    probe_expects_an_unstated_name,
    probe_expects_unstated_words,
    branch_hides_what_a_probe_expects,
    fact_no_message_tells,
    expectation_of_an_unstated_fact,
    duplicate_criterion_id,
    unchanged_copy,
    impossible_date,
    probes_contradict_each_other,
    opposites_agree,
    cue_misquotes_turn,
    window_starts_after_its_cue,
    weight_of_zero,
    description_names_another,
)

KINDS: Final = {"scenario": DocumentKind(lambda root, *_: (read_scenario(root),), SCENARIO)}
