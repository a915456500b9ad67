"""Names resolve from the innermost namespace outwards, and environments say which functions and constants there are."""

import pytest

from rulewright.expression.build import build
from rulewright.expression.checker import check
from rulewright.expression.declarations import parse_signature, profile_functions, strict_functions
from rulewright.expression.environment import Environment, enums_in
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import BOOL, DYN, INT, STRING, EnumType, ListType, RecordType
from rulewright_runtime.functions.language import PROFILE, STRICT

GATE = EnumType("gate", ("PASS", "FAIL"))


def test_candidates_go_from_the_container_outwards() -> None:
    environment = Environment(container="a.b")
    assert list(environment.candidates("x.y")) == ["a.b.x.y", "a.x.y", "x.y"]
    assert list(environment.candidates("x", absolute=True)) == ["x"]


def test_the_most_qualified_declaration_wins() -> None:
    environment = Environment(variables={"a.x": INT, "x": STRING}, container="a", dialect=Dialect.STRICT)
    assert str(check(parse("x", Dialect.STRICT), "x", environment).type) == "int"
    assert str(check(parse(".x", Dialect.STRICT), ".x", environment).type) == "string"


def test_a_dotted_variable_beats_a_selection() -> None:
    environment = Environment(variables={"a.b": INT, "a": RecordType("a", {"b": STRING})})
    assert build("a.b", environment).type == INT


def test_having_adds_names_and_the_new_ones_win() -> None:
    environment = Environment(variables={"x": INT}).having({"x": BOOL, "y": INT})
    assert environment.variable("x") == ("x", BOOL)
    assert environment.variable("y") == ("y", INT)


def test_the_members_of_every_enum_in_sight_are_constants() -> None:
    inner = RecordType("task", {"gates": ListType(RecordType("gate", {"verdict": GATE}))})
    environment = Environment(variables={"task": inner, "other": EnumType("other", ("MAYBE",))})
    assert environment.members == {"PASS", "FAIL", "MAYBE"}


def test_a_record_that_holds_itself_is_searched_once() -> None:
    fields: dict[str, object] = {"gate": GATE}
    record = RecordType("r", fields)  # type: ignore[arg-type]
    fields["again"] = record
    assert list(enums_in(record)) == [GATE]


def test_own_functions_come_on_top_of_the_library() -> None:
    environment = Environment(functions={"size": (parse_signature("(bool) -> int"),)})
    assert build("size(true) + size('a')", environment, fold=False).type == INT


@pytest.mark.parametrize("text", ["int -> int", "(int) int", "", "(in t) -> int"])
def test_an_invalid_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_signature(text)


@pytest.mark.parametrize("text", ["(int, list(T)) -> T", "string.() -> int", "map(K, V).(K) -> V"])
def test_a_signature_prints_as_it_is_written(text: str) -> None:
    assert str(parse_signature(text)) == text


EVALUATED_SPECIALLY = {"_?_:_", "!_", "_[_]", "_[?_]", "or", "orValue"}


def test_every_declared_function_can_be_run() -> None:
    assert set(strict_functions()) - EVALUATED_SPECIALLY <= set(STRICT)
    assert set(profile_functions()) - EVALUATED_SPECIALLY <= set(PROFILE)


def test_every_function_that_runs_is_declared() -> None:
    assert set(STRICT) <= set(strict_functions())
    assert set(PROFILE) <= set(profile_functions())


def test_an_open_environment_takes_any_root_for_unknown() -> None:
    assert build("whatever.it.is", Environment(open=True)).type == DYN
