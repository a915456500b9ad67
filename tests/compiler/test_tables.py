"""Decision tables: which row decides, what is refused and where in the file it stands."""

from textwrap import dedent
from typing import Any

import pytest

from rulewright.errors import DocumentError
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, DYN, INT, SCORE, STRING, EnumType, MapType
from rulewright.expression.unparse import decompile, unparse
from rulewright.load import load_text
from rulewright.lower.decision_table import Table, build_table
from rulewright.lower.policy import compile_policy
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.values import Optional

PLACE = Environment(
    variables={
        "n": INT,
        "m": INT,
        "ok": BOOL,
        "score": SCORE,
        "data": MapType(STRING, DYN),
        "verdict": EnumType("verdict", ("PASS", "FAIL")),
    }
)


def table(text: str) -> Table:
    loaded = load_text(dedent(text).lstrip("\n"), "table.yaml")
    assert loaded.root is not None
    return build_table(loaded.root, PLACE)


def refused(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(DocumentError) as raised:
        table(text)
    return [(d.code, d.span.line, d.span.column) for d in raised.value.diagnostics]


def decide(made: Table, **bindings: Any) -> Any:
    """The output of the whole program, checked against a walk over the rows."""
    validate(made.program)
    value = prepare(made.program)(bindings)
    if not made.total:
        assert isinstance(value, Optional)
        value = value.value if value.present else None
    assert value == walked(made, bindings)
    return value


def walked(made: Table, bindings: dict[str, Any]) -> Any:
    for row in made.rows:
        if row.condition is None or prepare(row.condition)(bindings):
            return None if row.output is None else prepare(row.output)(bindings)
    return None


def shown(program: Program | None) -> str | None:
    return None if program is None else unparse(decompile(program))


LADDER = """
    variables:
      - {name: twice, expression: n * 2}
      - {name: sum, expression: variables.twice + m}
    match:
      - condition: variables.sum > 10
        output: "'high'"
      - condition: sum > 5
        output: "'middle'"
      - output: "'low'"
"""


def test_the_first_row_that_holds_decides() -> None:
    made = table(LADDER)
    assert made.total
    assert made.type == STRING
    assert [decide(made, n=n, m=0) for n in (6, 3, 1)] == ["high", "middle", "low"]


def test_rows_are_independent_with_their_variables_written_out() -> None:
    made = table(LADDER)
    assert [(shown(r.condition), shown(r.output)) for r in made.rows] == [
        ("n * 2 + m > 10", "'high'"),
        ("n * 2 + m > 5", "'middle'"),
        (None, "'low'"),
    ]


def test_the_program_keeps_the_texts_of_its_cells() -> None:
    program = table(LADDER).program
    assert program.source.splitlines()[:2] == ["n * 2", "variables.twice + m"]
    places = [program.source[slice(*node.at)] for node in program.nodes if node.value == "_>_"]
    assert places == ["variables.sum > 10", "sum > 5"]


def test_a_table_without_a_matching_row_has_no_value() -> None:
    made = table("match: [{condition: n > 5, output: '1'}]")
    assert not made.total
    assert str(made.type) == "optional_type(int)"
    assert decide(made, n=6) == 1
    assert decide(made, n=5) is None


NESTED = """
    match:
      - condition: n > 0
        rule:
          match:
            - condition: n > 10
              output: "'much'"
            - condition: n > 5
              output: "'some'"
      - rule:
          variables: [{name: n, expression: "-n"}]
          match:
            - condition: variables.n > 10
              output: "'little'"
      - condition: ok
        output: "'fine'"
"""


def test_a_nested_table_under_a_condition_decides_alone() -> None:
    made = table(NESTED)
    assert decide(made, n=11, ok=True) == "much"
    assert decide(made, n=6, ok=True) == "some"
    assert decide(made, n=1, ok=True) is None
    assert decide(made, n=-11, ok=True) == "little"
    assert decide(made, n=-1, ok=True) == "fine"
    assert decide(made, n=-1, ok=False) is None


def test_rows_of_nested_tables_include_the_conditions_around_them() -> None:
    rows = table(NESTED).rows
    assert [(shown(r.condition), shown(r.output)) for r in rows] == [
        ("n > 0 && n > 10", "'much'"),
        ("n > 0 && n > 5", "'some'"),
        ("n > 0", None),
        ("-n > 10", "'little'"),
        ("ok", "'fine'"),
    ]


def test_a_nested_variable_hides_the_outer_one_only_inside() -> None:
    made = table("""
        variables: [{name: x, expression: n}]
        match:
          - condition: n > 100
            rule:
              variables:
                - {name: x, expression: variables.x + 1}
                - {name: x2, expression: variables.x * 2}
              match:
                - output: variables.x2
          - output: x
    """)
    assert decide(made, n=200) == 402
    assert decide(made, n=5) == 5


def test_a_variable_may_be_written_short() -> None:
    made = table("""
        variables:
          - twice: n * 2
          - more: twice + 1
        match: [{output: more}]
    """)
    assert decide(made, n=3) == 7


def test_a_total_nested_table_may_be_the_last_row() -> None:
    made = table("""
        match:
          - condition: n == 1
            output: "1"
          - rule:
              match:
                - {condition: n == 2, output: 2}
                - {output: 3}
    """)
    assert made.total
    assert [decide(made, n=n) for n in (1, 2, 9)] == [1, 2, 3]


def test_an_aggregate_collects_every_row_that_holds() -> None:
    made = table("""
        aggregate:
          - {condition: n > 1, output: "'one'"}
          - condition: n > 2
            rule:
              match:
                - {condition: n > 10, output: "'ten'"}
                - {condition: n > 5, output: "'five'"}
          - condition: n > 3
            rule:
              aggregate:
                - {condition: ok, output: "'ok'"}
                - {output: "'three'"}
          - output: "'always'"
    """)
    assert str(made.type) == "list(string)"
    assert prepare(made.program)({"n": 11, "ok": True}) == ["one", "ten", "ok", "three", "always"]
    assert prepare(made.program)({"n": 3, "ok": True}) == ["one", "always"]
    assert prepare(made.program)({"n": 6, "ok": False}) == ["one", "five", "three", "always"]


def test_an_output_that_is_a_list_stays_one_element() -> None:
    made = table("aggregate: [{output: \"['a', 'b']\"}]")
    assert prepare(made.program)({}) == [["a", "b"]]


def test_a_variable_is_computed_only_where_it_is_needed() -> None:
    made = table("""
        variables: [{name: broken, expression: 1 / n}]
        match:
          - {condition: n == 0, output: 0}
          - {output: variables.broken}
    """)
    assert decide(made, n=0) == 0
    assert decide(made, n=1) == 1


def test_an_error_in_a_condition_ends_the_table() -> None:
    made = table("match: [{condition: 1 / n > 0, output: 1}, {output: 2}]")
    with pytest.raises(EvaluationError):
        prepare(made.program)({"n": 0})


def ladder(rows: int) -> str:
    written = "\n".join(f"  - {{condition: n == {i}, output: {i * 2}}}" for i in range(rows))
    return f"match:\n{written}\n  - {{output: -1}}"


def test_a_table_may_have_many_rows() -> None:
    made = table(ladder(250))
    assert prepare(made.program)({"n": 240}) == 480
    assert prepare(made.program)({"n": 5000}) == -1


def test_a_table_that_no_run_would_take_is_refused() -> None:
    assert refused(ladder(1500)) == [("malformed-table", 1, 1)]


def test_variables_that_double_each_other_are_refused_in_time() -> None:
    doubling = "\n".join(f"  - v{i}: v{i - 1} + v{i - 1}" for i in range(1, 60))
    assert refused(f"variables:\n  - v0: n\n{doubling}\nmatch: [{{output: v59}}]") == [("malformed-table", 1, 1)]


def test_a_row_after_one_that_always_decides_is_refused_at_its_place() -> None:
    assert refused("""
        match:
          - condition: ok
            output: 1
          - output: 2
          - condition: n > 1
            output: 3
    """) == [("unreachable-row", 5, 5)]


@pytest.mark.parametrize("always", ["condition: 'true'\n            output: 1", "rule: {match: [{output: 1}]}"])
def test_a_literal_true_and_a_total_table_always_decide(always: str) -> None:
    text = f"""
        match:
          - {always}
          - output: 3
    """
    assert [code for code, _, _ in refused(text)] == ["unreachable-row"]


def test_outputs_of_different_types_are_refused_at_the_second() -> None:
    assert refused("""
        match:
          - {condition: ok, output: 1}
          - condition: n > 1
            rule:
              match:
                - output: "'text'"
          - output: 2
    """) == [("bad-table-output", 3, 5)]


MISTAKES = [
    ("match: [{condition: n + 1, output: 1}]", ("bad-expression", 1, 21)),
    ("match: [{condition: data.x, output: 1}]", ("bad-expression", 1, 21)),
    ("match: [{condition: ok, output: nn}]", ("bad-expression", 1, 33)),
    ("match: [{condition: 'verdict == PAS', output: 1}]", ("bad-expression", 1, 33)),
    ("match: [{condition: \"ok and\\tn > 'a'\", output: 1}]", ("bad-expression", 1, 32)),
    ("match:\n  - condition: >\n      ok and\n      n > 'a'\n    output: 1", ("bad-expression", 4, 9)),
    ("match: [{condition: ok, output: 1, explanation: 1}]", ("bad-expression", 1, 49)),
    ("match: [{condition: ok}]", ("malformed-table", 1, 9)),
    ("match: [{output: }]", ("malformed-table", 1, 18)),
    ("match: [{condition: [], output: 1}]", ("malformed-table", 1, 21)),
    ("match: [1]", ("malformed-table", 1, 9)),
    ("match: {}", ("malformed-table", 1, 8)),
    ("match: []", ("malformed-table", 1, 1)),
    ("{}", ("malformed-table", 1, 1)),
    ("aggregate: [{output: 1}]\nmatch: [{output: 1}]", ("malformed-table", 2, 1)),
    ("match: [{output: 1, rule: {match: [{output: 1}]}}]", ("malformed-table", 1, 21)),
    ("match: [{ouput: 1, output: 1}]", ("malformed-table", 1, 10)),
    ("variables: [{name: x}]\nmatch: [{output: 1}]", ("malformed-table", 1, 13)),
    ("variables: [{name: a b, expression: 1}]\nmatch: [{output: 1}]", ("malformed-table", 1, 20)),
    (
        "variables: [{name: x, expression: 1}, {name: x, expression: 2}]\nmatch: [{output: 1}]",
        ("malformed-table", 1, 46),
    ),
    ("variables: [{a-b: 1}]\nmatch: [{output: 1}]", ("malformed-table", 1, 14)),
    ("variables: [{x: [1]}]\nmatch: [{output: 1}]", ("malformed-table", 1, 17)),
    ("variables: 1\nmatch: [{output: 1}]", ("malformed-table", 1, 12)),
    ("variables: [{name: x, expression: y}]\nmatch: [{output: 1}]", ("bad-expression", 1, 35)),
    ("match: [{rule: {match: [{output: 1}]}, explanation: \"'a'\"}]", ("malformed-table", 1, 40)),
    ("match: [{rule: 1}]", ("malformed-table", 1, 16)),
]


@pytest.mark.parametrize(("text", "first"), MISTAKES, ids=[t.replace("\n", " ") for t, _ in MISTAKES])
def test_a_mistake_is_shown_at_its_place_in_the_file(text: str, first: tuple[str, int, int]) -> None:
    assert refused(text)[0] == first


def test_one_run_shows_every_mistake() -> None:
    codes = [code for code, _, _ in refused("match: [{condition: nn, output: 1}, {output: mm}, {output: 2}]")]
    assert codes == ["bad-expression", "bad-expression"]


@pytest.mark.parametrize("key", ["imports", "variables", "functions"])
@pytest.mark.parametrize("value", ["3", "true", "0.5", "{a: 1}", "text"])
def test_declarations_that_are_not_a_list_are_refused(key: str, value: str) -> None:
    with pytest.raises(DocumentError) as refused:
        compile_policy("rule: {match: [{output: 1}]}", f"{key}: {value}\n")
    assert [found.message for found in refused.value.diagnostics] == [f"`{key}` must be a list"]
