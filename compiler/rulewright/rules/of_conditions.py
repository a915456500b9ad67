"""The rules that look at expressions, in the order they run.

Many checks, profiles and scenarios have no expression, so the lists of their rules leave these out: they are imported
only for a document with an expression. The lists for documents that always have some include them.
"""

from __future__ import annotations

from typing import Final

from rulewright.rules import rules_named

CONDITIONS: Final = rules_named(
    "condition_never_holds",
    "condition_always_holds",
    "condition_adds_nothing",
    "comparison_out_of_range",
)
EXPRESSIONS: Final = rules_named(
    "units_differ",
    "guard_excludes_its_value",
    "bound_excluded",
    "part_exceeds_whole",
    "arguments_swapped",
    "integer_division",
    "equality_after_rounding",
    "both_sides_equal",
    "empty_list_searched",
    "index_past_the_end",
    "backspace_in_expression",
    "weights_for_other_values",
    "negated_twice",
    "outcome_contradicts_condition",
    "and_before_or",
)

CHECK: Final = (
    *CONDITIONS,
    *rules_named(
        "check_never_fails",
        "check_never_passes",
        "each_not_read",
        "parameter_does_not_fit",
        "unread_parameter",
        "bad_schema",
        "words_contradict_condition",
    ),
    *EXPRESSIONS,
)
PROFILE: Final = (*CONDITIONS, *EXPRESSIONS)
SCENARIO: Final = (*CONDITIONS, *EXPRESSIONS)
BY_KIND: Final = {
    "check": CHECK,
    "profile": PROFILE,
    "profiles": PROFILE,
    "scenario": SCENARIO,
}
