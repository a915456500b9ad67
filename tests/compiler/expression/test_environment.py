"""Names resolve from the innermost namespace outwards, and environments say which functions and constants there are."""

import pytest

from rulewright.expression.build import build
from rulewright.expression.checker import check
from rulewright.expression.declarations import Overload, parse_signature, profile_functions, strict_functions
from rulewright.expression.environment import Environment, enums_in
from rulewright.expression.parser import parse
from rulewright.expression.syntax_tree import Dialect
from rulewright.expression.types import (
    BOOL,
    DYN,
    INT,
    STRING,
    EnumType,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    Type,
    TypeType,
)
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.functions.language import PROFILE, STRICT
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.ir import Node, Program, literal
from rulewright_runtime.score import parse_score
from rulewright_runtime.values import Duration, Optional, Timestamp, TypeValue, UInt

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


SAMPLES = {
    **{"int": 1, "uint": UInt(1), "double": 1.0, "string": "1", "bytes": b"1", "bool": True, "null_type": None},
    **{"timestamp": Timestamp(0), "duration": Duration(0), "score": parse_score("1/1"), "dyn": 1},
}


def sample(of: Type) -> object:
    """A value of a type; a type variable is an int."""
    match of:
        case ListType(params=(item,)):
            return [] if item == DYN else [sample(item)]
        case MapType(params=(key, value)):
            return {sample(key): sample(value)}
        case OptionalType(params=(item,)):
            return Optional(sample(item))
    return TypeValue("int") if isinstance(of, TypeType) else SAMPLES.get(str(of), 1)


@pytest.mark.parametrize(("name", "overloads"), profile_functions().items(), ids=lambda each: str(each)[:30])
def test_every_overload_that_rule_files_may_use_exists_at_run_time(name: str, overloads: tuple[Overload, ...]) -> None:
    for overload in overloads:
        if name == "_[_]" and isinstance(overload.arguments[0], OptionalType):
            continue  # lowered to `_[?_]`
        constants = [Node("const", value=literal(sample(each))) for each in overload.arguments]
        call = Node("call", tuple(range(len(constants))), name)
        assert refusal(Program((*constants, call))) != "no_such_overload", (
            f"{name}{tuple(map(str, overload.arguments))}"
        )


def refusal(program: Program) -> str | None:
    """The code of the error that a program ends with."""
    try:
        prepare(program)({})
    except EvaluationError as error:
        return error.code
    return None
