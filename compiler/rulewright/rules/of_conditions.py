"""The rules that look at expressions, in the order they run.

Many checks, profiles and scenarios have no expression, so the lists of their rules leave these out: they are imported
only for a document with an expression. The lists for documents that always have some include them.
"""

from typing import Any, Final

from rulewright.documents.check import CheckDocument
from rulewright.documents.profile import Profile
from rulewright.documents.scenario import ScenarioDocument
from rulewright.rules import Rule
from rulewright.rules.completeness.unread_parameter import unread_parameter
from rulewright.rules.correctness.all_of_none import all_of_none
from rulewright.rules.correctness.and_before_or import and_before_or
from rulewright.rules.correctness.bad_schema import bad_schema
from rulewright.rules.correctness.empty_list_searched import empty_list_searched
from rulewright.rules.correctness.exception_fails import exception_fails
from rulewright.rules.correctness.name_contradicts_condition import name_contradicts_condition
from rulewright.rules.correctness.or_joins_one_case import or_joins_one_case
from rulewright.rules.correctness.outcome_contradicts_condition import outcome_contradicts_condition
from rulewright.rules.correctness.parameter_does_not_fit import parameter_does_not_fit
from rulewright.rules.correctness.weights_for_other_values import weights_for_other_values
from rulewright.rules.correctness.words_contradict_condition import words_contradict_condition
from rulewright.rules.style.subsumed_pattern import subsumed_pattern
from rulewright.rules.suspicious.all_of_alternatives import all_of_alternatives
from rulewright.rules.suspicious.arguments_swapped import arguments_swapped
from rulewright.rules.suspicious.backspace_in_expression import backspace_in_expression
from rulewright.rules.suspicious.both_sides_equal import both_sides_equal
from rulewright.rules.suspicious.bound_excluded import bound_excluded
from rulewright.rules.suspicious.check_never_fails import check_never_fails
from rulewright.rules.suspicious.check_never_passes import check_never_passes
from rulewright.rules.suspicious.comparison_out_of_range import comparison_out_of_range
from rulewright.rules.suspicious.condition_adds_nothing import condition_adds_nothing
from rulewright.rules.suspicious.condition_always_holds import condition_always_holds
from rulewright.rules.suspicious.condition_never_holds import condition_never_holds
from rulewright.rules.suspicious.counted_unlike_the_others import counted_unlike_the_others
from rulewright.rules.suspicious.each_not_read import each_not_read
from rulewright.rules.suspicious.equality_after_rounding import equality_after_rounding
from rulewright.rules.suspicious.guard_excludes_its_value import guard_excludes_its_value
from rulewright.rules.suspicious.harmless_reply_violates import harmless_reply_violates
from rulewright.rules.suspicious.index_past_the_end import index_past_the_end
from rulewright.rules.suspicious.integer_division import integer_division
from rulewright.rules.suspicious.item_finds_itself import item_finds_itself
from rulewright.rules.suspicious.mistyped_regex import mistyped_regex
from rulewright.rules.suspicious.negated_twice import negated_twice
from rulewright.rules.suspicious.part_exceeds_whole import part_exceeds_whole
from rulewright.rules.suspicious.role_unlike_the_words import role_unlike_the_words
from rulewright.rules.suspicious.same_compared_apart import same_compared_apart
from rulewright.rules.suspicious.units_differ import units_differ

CONDITIONS: Final = (condition_never_holds, condition_always_holds, condition_adds_nothing, comparison_out_of_range)
EXPRESSIONS: Final = (
    units_differ,
    guard_excludes_its_value,
    bound_excluded,
    part_exceeds_whole,
    arguments_swapped,
    integer_division,
    equality_after_rounding,
    both_sides_equal,
    empty_list_searched,
    index_past_the_end,
    backspace_in_expression,
    weights_for_other_values,
    negated_twice,
    outcome_contradicts_condition,
    and_before_or,
    item_finds_itself,
)

CHECK: Final[tuple[Rule[CheckDocument], ...]] = (
    *CONDITIONS,
    all_of_none,
    check_never_fails,
    check_never_passes,
    each_not_read,
    parameter_does_not_fit,
    unread_parameter,
    bad_schema,
    mistyped_regex,
    words_contradict_condition,
    name_contradicts_condition,
    or_joins_one_case,
    exception_fails,
    same_compared_apart,
    role_unlike_the_words,
    all_of_alternatives,
    counted_unlike_the_others,
    *EXPRESSIONS,
    harmless_reply_violates,
    subsumed_pattern,
)
PROFILE: Final[tuple[Rule[Profile], ...]] = (*CONDITIONS, *EXPRESSIONS)
SCENARIO: Final[tuple[Rule[ScenarioDocument], ...]] = (*CONDITIONS, *EXPRESSIONS)
BY_KIND: Final[dict[str, tuple[Rule[Any], ...]]] = {
    "check": CHECK,
    "profile": PROFILE,
    "profiles": PROFILE,
    "scenario": SCENARIO,
}
