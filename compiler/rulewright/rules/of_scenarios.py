"""The rules that look at scenarios, in the order they run; `of_conditions` has more."""

from __future__ import annotations

from typing import Final

from rulewright.documents.scenario import read_scenario
from rulewright.rules import DocumentKind, rules_named

SCENARIO: Final = rules_named(
    "turn_numbers_out_of_order",
    "turn_numbers_disagree",
    "turn_that_does_not_exist",
    "probe_without_verifier",
    "window_ends_before_it_starts",
    "branch_never_taken",
    "branch_always_taken",
    "branch_changes_nothing",
    "duplicate_branch_id",
    "branch_without_triggers",
    "duplicate_session_number",
    "session_number_skipped",
    "level_skipped",
    "probe_reads_a_later_session",
    "unreadable_elapsed_time",
    "rubric_dimension_unknown",
    "retired_rubric_dialect",
    "subsumed_pattern",
    "ascii_only_apostrophe",
    "invalid_regex",
    "mistyped_regex",
    "short_word_hits_inside_others",
    "cue_in_another_turn",
    "cue_text_not_in_turn",
    "probe_names_another_turn",
    "update_of_unstated_fact",
    "yaml_trap",
    "listed_twice",
    "deprecated_spelling",
    "probe_expects_an_untold_name",
    "duplicate_criterion_id",
    "unchanged_copy",
    "impossible_date",
    "probes_contradict_each_other",
)

KINDS: Final = {"scenario": DocumentKind(lambda root, *_: (read_scenario(root),), SCENARIO)}
