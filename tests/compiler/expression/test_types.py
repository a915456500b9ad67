"""Types read and print alike, and what is not a type is refused."""

import pytest

from rulewright.expression.types import (
    BOOL,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    EnumType,
    ListType,
    MapType,
    OpaqueType,
    OptionalType,
    RecordType,
    Type,
    TypeParam,
    TypeType,
    WrapperType,
    parse_type,
)
from rulewright.expression.unify import Substitution, is_ground, most_general

WRITTEN = (
    *("int", "uint", "double", "bool", "string", "bytes", "null_type", "timestamp", "duration", "dyn", "score", "type"),
    *("list(int)", "map(string, dyn)", "map(string, list(map(int, bool)))", "optional_type(double)", "type(int)"),
    *("wrapper(int)", "tuple(int, string)"),
)


@pytest.mark.parametrize("text", WRITTEN)
def test_a_type_prints_as_it_is_written(text: str) -> None:
    assert str(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("list", ListType(DYN)),
        ("map", MapType(DYN, DYN)),
        ("optional(int)", OptionalType(INT)),
        ("T", TypeParam("T")),
        ("google.protobuf.Timestamp", TIMESTAMP),
        ("google.protobuf.Int64Value", WrapperType(INT)),
        (" map( string ,int ) ", MapType(STRING, INT)),
    ],
)
def test_short_and_foreign_spellings_are_understood(text: str, meant: Type) -> None:
    assert parse_type(text) == meant


@pytest.mark.parametrize(
    "text",
    ["", "map(", "list(int", "int)", "a b", "(int)", "list(int,)", "list()", "map(int)", "list(int, int)", "l@st"],
)
def test_an_invalid_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_type(text)


def test_a_type_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="nests deeper"):
        parse_type("list(" * 500 + "int" + ")" * 500)


VERDICT = EnumType("verdict", ("PASS", "FAIL"))
FITS: list[tuple[Type, Type, bool]] = [
    (INT, INT, True), (INT, STRING, False), (INT, DYN, True), (DYN, INT, True), (ListType(INT), ListType(DYN), True),
    (ListType(INT), ListType(STRING), False), (ListType(INT), MapType(INT, INT), False),
    (parse_type("null_type"), TIMESTAMP, True), (parse_type("null_type"), INT, False), (INT, WrapperType(INT), True),
    (WrapperType(INT), INT, True), (parse_type("null_type"), WrapperType(INT), True),
    (TypeType(INT), TypeType(STRING), True), (OpaqueType("a", (INT,)), OpaqueType("b", (INT,)), False),
    (OpaqueType("a", (INT,)), OpaqueType("a", (DYN,)), True), (VERDICT, STRING, True), (STRING, VERDICT, True),
    (VERDICT, INT, False), (VERDICT, EnumType("answer", ("FAIL",)), True),
    (VERDICT, EnumType("answer", ("NO",)), False), (RecordType("r", {"a": INT}), MapType(STRING, INT), True),
    (RecordType("r", {"a": INT}), MapType(STRING, STRING), False),
    (RecordType("r", {"a": INT}), MapType(INT, INT), False), (OptionalType(INT), OptionalType(TypeParam("T")), True),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted", "fits"), FITS, ids=[f"{g}-{w}" for g, w, _ in FITS])
def test_which_type_fits_which(given: Type, wanted: Type, fits: bool) -> None:
    assert Substitution().fits(given, wanted) is fits


def test_a_failed_comparison_teaches_nothing() -> None:
    known = Substitution()
    unknown = known.fresh()
    assert not known.all_fit([INT, STRING], [unknown, BOOL])
    assert known.resolve(unknown, final=True) == DYN


def test_an_unknown_takes_the_most_general_type_it_meets() -> None:
    known = Substitution()
    unknown = known.fresh()
    assert known.all_fit([ListType(INT), ListType(DYN)], [unknown, unknown])
    assert known.resolve(unknown) == ListType(DYN)


def test_a_type_never_holds_itself() -> None:
    known = Substitution()
    unknown = known.fresh()
    assert not known.fits(unknown, ListType(unknown)) or known.resolve(unknown) == unknown


def test_a_type_with_an_unknown_is_not_ground() -> None:
    assert is_ground(MapType(STRING, INT))
    assert not is_ground(MapType(STRING, TypeParam("T")))


def test_different_enums_meet_in_text() -> None:
    assert most_general(VERDICT, EnumType("answer", ("FAIL",))) == STRING
