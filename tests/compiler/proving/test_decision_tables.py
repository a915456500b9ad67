"""Tables: gaps, dead rows, overlaps and differences, found by proof and shown by inputs that replay."""

from collections.abc import Sequence
from textwrap import dedent

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiler.proving.conditions_at_random import (
    DOMAINS,
    ENVIRONMENT,
    conditions,
    deciding_row,
    inputs,
    program,
    table_condition,
)
from tests.safe_cases import safe
from tests.safe_cases import settings as of_safe

from rulewright.load import load_text
from rulewright.lower.decision_table import Table, build_table
from rulewright.proving.domains import Domains
from rulewright.proving.results import Counterexample, Proved, Refuted, Result, Unknown
from rulewright.proving.tables import RowLike, disjoint, label_table, survey
from rulewright_runtime.ir import Program

INPUTS = list(inputs())[::11]


def total(rows: Sequence[RowLike], domains: Domains) -> Result:
    """Whether some row decides every input."""
    return survey(rows, domains)[0]


def witness(result: Result) -> Counterexample:
    assert isinstance(result, (Proved, Refuted))
    assert result.witness is not None
    return result.witness


def rows(*texts: str) -> list[Program]:
    return [program(text) for text in texts]


def table(text: str) -> Table:
    loaded = load_text(dedent(text).lstrip("\n"), "table.yaml")
    assert loaded.root is not None
    return build_table(loaded.root, ENVIRONMENT)


@settings(max_examples=80)
@given(st.lists(conditions, min_size=1, max_size=4))
def test_a_table_runs_as_its_proof_says(texts: list[str]) -> None:
    programs = rows(*texts)
    answers = [deciding_row(texts, given_) for given_ in INPUTS]
    decides, reached = survey(programs, DOMAINS)
    if isinstance(decides, Proved):
        assert None not in answers
    else:
        assert deciding_row(texts, dict(witness(decides).bindings)) is None
    for at, result in enumerate(reached):
        if isinstance(result, Proved):
            assert deciding_row(texts, dict(witness(result).bindings)) == at
        else:
            assert isinstance(result, Refuted)
            assert at not in answers


@settings(max_examples=60)
@given(st.lists(conditions, min_size=2, max_size=3))
def test_rows_called_disjoint_never_hold_together(texts: list[str]) -> None:
    evaluators = [table_condition(each) for each in texts]
    result = disjoint(rows(*texts), DOMAINS)
    shown = INPUTS if isinstance(result, Proved) else [dict(witness(result).bindings)]
    most = max(sum(each(given_).holds for each in evaluators) for given_ in shown)
    assert most < 2 if isinstance(result, Proved) else most >= 2


def test_a_gap_between_two_thresholds_is_shown_by_the_number_in_it() -> None:
    assert str(witness(total(rows("x < 0.5", "x > 0.5"), DOMAINS))) == "x = 0.5"
    assert total(rows("x < 0.5", "x >= 0.5"), DOMAINS) == Proved()


def test_thirds_are_exact() -> None:
    result = total(rows("x * 3 < 1", "x * 3 > 1"), DOMAINS)
    assert str(witness(result)) == "x = score(1) / 3"
    assert isinstance(result, Refuted)


def test_an_absent_value_ends_a_table_with_an_error_and_is_not_a_gap() -> None:
    result = total(rows("r.p < 0.5", "r.p >= 0.5"), DOMAINS)
    assert result == Proved(remarks=("with r.p absent the table ends with `error`",))


def test_an_error_that_no_proof_excludes_is_reported() -> None:
    assert total(rows("n * n > 4", "true"), DOMAINS) == Proved(
        remarks=("no proof excludes that the table ends with `error`",)
    )
    assert total(rows("s.contains('a') && n > 4", "true"), DOMAINS) == Proved()


def test_a_missing_member_of_an_enum_is_a_gap() -> None:
    assert str(witness(total(rows("e == GO", "e == NO_GO"), DOMAINS))) == "e = WAIT"


def test_why_a_row_is_dead_is_reported() -> None:
    _, found = survey(rows("x > 0.5", "x > 0.8", "n > 1 && n < 1", "x <= 0.5", "b"), DOMAINS)
    assert [each.reason if isinstance(each, Refuted) else "" for each in found] == [
        "",
        "row 1 always decides before it",
        "its condition never holds",
        "",
        "the rows before it always decide",
    ]


def test_what_no_proof_understands_is_unknown_unless_it_does_not_matter() -> None:
    some = "s.contains('a')"
    assert isinstance(total(rows(some, "s.contains('b')"), DOMAINS), Unknown)
    assert isinstance(total(rows(some, "true"), DOMAINS), Proved)
    assert isinstance(total(rows(some, f"!{some}"), DOMAINS), Proved)
    assert isinstance(survey(rows("x > 0.5", f"x > 0.7 && {some}"), DOMAINS)[1][1], Refuted)
    assert isinstance(survey(rows(some), DOMAINS)[1][0], Unknown)


def test_a_nested_table_without_a_match_is_a_gap() -> None:
    inner = table("""
        match:
          - condition: b
            rule: {match: [{condition: x > 0.5, output: "'high'"}]}
          - output: "'rest'"
    """)
    assert str(witness(total(inner.rows, DOMAINS))) == "b = true, x = 0.0"


def test_the_shipped_label_table_is_proved_total() -> None:
    plan, scorer = safe().plan, of_safe().scorer(None, None)
    proof = label_table(plan, scorer.parameters)
    assert total(proof.conditions, proof.domains) == Proved()
