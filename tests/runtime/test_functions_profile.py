"""What the profile adds: statistics that never invent a number, and texts compared without case."""

import math
import subprocess
import sys
from typing import Any

import pytest
from tests.runtime.programs import value_of as run

from rulewright_runtime.functions import lookup
from rulewright_runtime.functions.language import PROFILE, STRICT
from rulewright_runtime.functions.table import Table
from rulewright_runtime.score import Score
from rulewright_runtime.values import NONE, Duration, Optional, UInt, equal

HALF = Score(1, 2)
CASES: list[tuple[Any, ...]] = [
    ("sum", [], NONE), ("mean", [], NONE), ("min", [], NONE), ("max", [], NONE), ("quantile", [], 0.5, NONE),
    ("share", [], NONE), ("rate", 0, 0, NONE), ("wmean", [], [], NONE), ("wmean", [0.5], [0], NONE),
    ("wmean_present", {}, {}, NONE), ("wmean_present", {"a": 0.5}, {"b": 1.0}, NONE),
    ("wmean_present", {"a": None, "b": NONE}, {"a": 1.0, "b": 1.0}, NONE),
    ("wmean_present", {"a": Optional(HALF), "b": None, "c": Score(1)}, {"a": 1, "b": 5, "c": 3}, Optional(Score(7, 8))),
    ("sum", [1, 2, UInt(3)], Optional(6)), ("sum", [0.1, 0.2], Optional(0.3)),
    ("sum", [2**63 - 1, 1], "error overflow"), ("sum", [HALF, 1], Optional(Score(3, 2))),
    ("mean", [1, 2], Optional(1.5)), ("mean", [0.1] * 10, Optional(0.1)), ("mean", [HALF, 1.0], Optional(Score(3, 4))),
    ("mean", [math.nan], "error not_a_score"), ("mean", [math.inf, 1.0], "error not_a_score"),
    ("mean", ["a"], "error no_such_overload"), ("mean", [True], "error no_such_overload"),
    ("mean", 1, "error no_such_overload"), ("mean", [None, 1.0], "error no_such_overload"),
    ("wmean", [1.0, 0.0], [3, 1], Optional(0.75)), ("wmean", [1.0], [1, 1], "error invalid_argument"),
    ("wmean", [1.0], [-1], "error invalid_argument"), ("min", [2, 1.5, UInt(3)], Optional(1.5)),
    ("max", [HALF, 0.4], Optional(HALF)), ("max", [math.nan, 1.0], "error not_a_score"),
    ("quantile", [4, 1, 3, 2], 0.5, Optional(2.5)), ("quantile", [1.0, 3.0], 0.25, Optional(1.5)),
    ("quantile", [1.0], 1.5, "error invalid_argument"), ("share", [True, False, True], Optional(Score(2, 3))),
    ("share", [1, 0], "error no_such_overload"), ("rate", 1, 3, Optional(Score(1, 3))),
    ("rate", 3, 1, "error invalid_argument"), ("rate", [True], Optional(Score(1))),
    ("contains_ci", "The İSTANBUL", "istanbul", False), ("contains_ci", "Grüße", "GRÜSSE", False),
    ("contains_ci", "Call 911 NOW", "now", True), ("contains_ci", "abc", "", True),
    ("contains_ci", "abc", None, "error no_such_overload"), ("substring_ci", "ΣΊΣΥΦΟΣ", "σίσυφος", True),
    ("substring_ci", "Straße", "STRASSE", False), ("substring_ci", "ABC", "bc", True),
    ("substring_ci", 1, "bc", "error no_such_overload"), ("score", 0.5, HALF), ("score", 1, Score(1)),
    ("score", HALF, HALF), ("score", 1.5, "error not_a_score"), ("score", True, "error not_a_score"),
    ("_+_", 1, 2.5, 3.5), ("_-_", UInt(1), 2, -1), ("_*_", 2, UInt(3), 6), ("_/_", 1.0, 4, 0.25),
    ("_%_", UInt(7), 4, 3), ("_+_", HALF, 0.25, Score(3, 4)), ("_+_", "a", 1, "error no_such_overload"),
    ("_+_", HALF, "a", "error no_such_overload"), ("_+_", HALF, True, "error no_such_overload"),
    ("_/_", 0.0, 0.0, "error divide_by_zero"), ("_/_", 1, -0.0, "error divide_by_zero"),
    ("double", "NaN", "error not_a_number"), ("double", "1.5", 1.5), ("double", "inf", math.inf),
    ("math.sqrt", -1, "error not_a_number"), ("math.sqrt", 4, 2.0), ("_-_", math.inf, math.inf, "error not_a_number"),
    ("_+_", math.inf, -math.inf, "error not_a_number"), ("_*_", 0, math.inf, "error not_a_number"),
    ("_/_", math.inf, math.inf, "error not_a_number"), ("_*_", 1e308, 10, math.inf),
    ("_/_", HALF, 0, "error divide_by_zero"), ("dyn", HALF, 0.5), ("string", HALF, "0.5"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case)[:60])
def test_a_function_of_the_profile_answers_as_documented(case: tuple[Any, ...]) -> None:
    function, *args, wanted = case
    found = run(function, *args)
    assert type(found) is type(wanted)
    assert equal(found, wanted), found


ODD: list[Any] = [None, True, 1, UInt(1), 1.5, math.nan, math.inf, "a", [], [1], ["a"], [math.nan], {}, {"a": 1}, NONE]
ODD += [HALF, Score(3), [HALF, 2**70], Duration(1), "", "\ud800", b"a", [{"name": 1}]]


@pytest.mark.parametrize("function", [*sorted(set(PROFILE) - set(STRICT)), "_+_", "_/_", "_%_", "-_"])
def test_any_function_takes_any_values_and_raises_only_evaluation_errors(function: str) -> None:
    _, least, most = PROFILE[function]
    for count in range(least, most + 1):
        for first in ODD:
            for second in ODD if count > 1 else [None]:
                run(function, *[first, second, {"a": 1}][:count])


def test_a_sum_of_many_kinds_of_fractions_is_a_limit() -> None:
    primes = [n for n in range(2, 6000) if all(n % d for d in range(2, int(n**0.5) + 1))]
    assert run("sum", [Score(1, prime) for prime in primes]) == "error limit"


@pytest.mark.parametrize(("strict", "table"), [(True, STRICT), (False, PROFILE)])
def test_every_function_is_found_as_its_table_names_it(strict: bool, table: Table) -> None:
    found = {name: lookup(name, least, strict) for name, (_, least, _) in table.items()}
    assert found == {name: function for name, (function, _, _) in table.items()}


@pytest.mark.parametrize("call", ["lookup('@in', 2, False)('a', ['a'])", "lookup('max', 1, False)([0, 1]).value == 1"])
def test_operators_and_statistics_are_found_without_loading_the_other_functions(call: str) -> None:
    without = "import sys; sys.modules['rulewright_runtime.functions.language'] = None"
    asks = f"from rulewright_runtime.functions import lookup; print({call})"
    done = subprocess.run([sys.executable, "-c", f"{without}; {asks}"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
