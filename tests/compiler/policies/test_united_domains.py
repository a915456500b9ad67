"""Two policies that declare a variable differently are compared over the values of both."""

import pytest
from tests.compiler.proving.conditions_at_random import truth

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import DOUBLE, DYN, INT, STRING, EnumType, OptionalType, RecordType, Type
from rulewright.policies.compare import compared
from rulewright.policies.policy_model import Policy
from rulewright.proving.domains import Domain, Domains, Path, score, whole

NOTHING: dict[Path, Domain] = {}


def policy(condition: str, types: dict[str, Type], known: dict[Path, Domain] = NOTHING) -> Policy:
    environment = Environment(variables=types or {path[0]: DYN for path in known})
    return Policy({"c": truth("c", build(condition, environment).program, "yes", "no")}, {}, Domains(types, known))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (policy("p == 'a'", {"p": STRING}), policy("false", {"p": INT})),
        (policy("p == 1.5", {"p": DYN}), policy("false", {"p": INT})),
        (policy("p == c", {"p": EnumType("e", ("a", "c"))}), policy("false", {"p": EnumType("e", ("a", "b"))})),
        (policy("p == 7", {"p": INT}, {("p",): whole(0, 9)}), policy("false", {"p": INT}, {("p",): whole(0, 5)})),
        (policy("p == 7", {"p": INT}), policy("false", {"p": INT}, {("p",): whole(0, 5)})),
        (policy("p == 1.0", {}, {("p",): score(pieces=())}), policy("false", {}, {("p",): score()})),
        (policy("p == 'a'", {}, {("p",): Domain("string")}), policy("false", {}, {("p",): whole(0)})),
        (
            policy("!r.p.hasValue()", {"r": RecordType("r", {"p": OptionalType(DOUBLE), "q": INT})}),
            policy("false", {"r": RecordType("r", {"p": DOUBLE})}),
        ),
    ],
)
def test_a_variable_may_have_any_value_that_one_of_the_policies_allows(one: Policy, two: Policy) -> None:
    assert not compared(one, two)["c"].equal
    assert not compared(two, one)["c"].equal


def test_what_both_know_or_only_one_declares_is_kept() -> None:
    counts = [RecordType("counts", dict.fromkeys(names, INT)) for names in (("a", "b"), ("a",))]
    one = policy("counts.b < 0 || counts.a < 0", {"counts": counts[0]}, {("counts", each): whole(0) for each in "ab"})
    two = policy("false", {"counts": counts[1]}, {("counts", "a"): whole(0)})
    assert compared(one, two)["c"].equal
    assert compared(two, one)["c"].equal
