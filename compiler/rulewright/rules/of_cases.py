"""The rules that look at files of test cases and outputs, in the order they run."""

from typing import Final

from rulewright.documents.case_batch import CaseBatch
from rulewright.rules import Rule
from rulewright.rules.correctness.bad_case import bad_case
from rulewright.rules.correctness.contradictory_expectations import contradictory_expectations
from rulewright.rules.correctness.duplicate_test_id import duplicate_test_id
from rulewright.rules.correctness.unknown_concern import unknown_concern
from rulewright.rules.pedantic.phrase_not_in_payload import phrase_not_in_payload
from rulewright.rules.pedantic.unread_expectation import unread_expectation
from rulewright.rules.style.listed_twice import listed_twice
from rulewright.rules.style.subsumed_pattern import subsumed_pattern
from rulewright.rules.suspicious.case_expects_nothing import case_expects_nothing
from rulewright.rules.suspicious.comma_missing import comma_missing
from rulewright.rules.suspicious.impossible_date import impossible_date
from rulewright.rules.suspicious.misspelt_expectation import misspelt_expectation
from rulewright.rules.suspicious.misspelt_group import misspelt_group
from rulewright.rules.suspicious.output_without_case import output_without_case
from rulewright.rules.suspicious.plan_of_another_length import plan_of_another_length

CASES: Final[tuple[Rule[CaseBatch], ...]] = (
    bad_case,
    duplicate_test_id,
    unknown_concern,
    misspelt_group,
    misspelt_expectation,
    plan_of_another_length,
    output_without_case,
    case_expects_nothing,
    comma_missing,
    impossible_date,
    contradictory_expectations,
    listed_twice,
    subsumed_pattern,
    phrase_not_in_payload,
    unread_expectation,
)
