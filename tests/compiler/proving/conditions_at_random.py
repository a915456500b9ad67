"""Random conditions over one fixed set of variables, and inputs for them that no proof has chosen."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, INT, SCORE, STRING, EnumType, ListType, OptionalType, RecordType, Type
from rulewright.policies.policy_model import PolicyDecision, PolicyOutcome, guarding
from rulewright.proving.atoms import ERROR, FALSE, TRUE
from rulewright.proving.domains import Domain, Domains, NumberRange, Path
from rulewright.proving.results import Result
from rulewright.proving.search import out_of_reach
from rulewright_runtime.ir import Program
from rulewright_runtime.polarity import Decision, Polarity, condition
from rulewright_runtime.score import Score
from rulewright_runtime.values import NONE, Optional

TYPES: Final[dict[str, Type]] = {
    "x": SCORE, "y": SCORE, "n": INT, "b": BOOL, "e": EnumType("e", ("GO", "NO_GO", "WAIT")),
    "f": EnumType("e", ("GO", "NO_GO", "WAIT")), "s": STRING, "o": OptionalType(SCORE), "ts": ListType(STRING),
    "r": RecordType("r", {"p": SCORE, "q": BOOL}, frozenset({"p"})),
}  # fmt: skip
ENVIRONMENT: Final = Environment(variables=TYPES)
DOMAINS: Final = Domains(TYPES)
TEXTS: Final[tuple[list[str], ...]] = ([], ["a"], ["b", "b"], ["a", "c"], ["d"], ["c", "b", "a"], ["a", "d", "a"])
ORDER: Final = ("<", "<=", ">", ">=", "==", "!=")


@cache
def program(text: str) -> Program:
    """The condition that `text` writes."""
    return build(text, ENVIRONMENT, expect=BOOL).program


@cache
def table_condition(text: str) -> Callable[[Mapping[str, Any]], Decision]:
    """The condition that `text` writes, evaluated as in a row of a table."""
    return condition(program(text), Polarity.TABLE)


def deciding_row(texts: Sequence[str], bindings: Mapping[str, Any]) -> object:
    """The number of the row that decides, or `error`, or None: the table as it runs."""
    for number, text in enumerate(texts):
        decision = table_condition(text)(bindings)
        if decision.undecided is not None:
            return "error"
        if decision.holds:
            return number
    return None


def truth(place: str, guard: Program, held: str, not_held: str) -> PolicyDecision:
    """The decision of a guarding condition alone."""
    return PolicyDecision(place, (guarding(guard, PolicyOutcome(held, held)),), PolicyOutcome(not_held, not_held))


def implies(one: Program, two: Program) -> Result:
    """Whether `two` is true wherever `one` is; a witness is an input for which it is not."""
    return out_of_reach([one, two], DOMAINS, [(0, TRUE), (1, FALSE | ERROR)])


def same(one: Program, two: Program) -> Result:
    """Whether two conditions are true, false and undecided for the same inputs."""
    apart = [[(0, bits), (1, (TRUE | FALSE | ERROR) & ~bits)] for bits in (TRUE, FALSE, ERROR)]
    return out_of_reach([one, two], DOMAINS, *apart)


_decimals: Final = st.sampled_from(("0.0", "0.25", "0.3", "0.5", "0.8", "1.0"))
_scores: Final = st.sampled_from(
    (
        "x", "y", "1 - x", "2 * y - 0.5", "x / 4", "r.p", "o.orValue(0.25)", "o.value()", "(b ? x : 1 - x)",
        "(x > 0.5 ? 1 - x : x)", "1 + -(y - 0.25)", "o.orValue(0.5) / 2 + 0.25",
    )
)  # fmt: skip
_atoms: Final = st.one_of(
    st.builds("{} {} {}".format, _scores, st.sampled_from(ORDER), _decimals),
    st.builds("n {} {}".format, st.sampled_from(ORDER), st.integers(-2, 2)),
    st.builds("{} {} e".format, st.sampled_from(("GO", "NO_GO")).map("'{}'".format), st.sampled_from(ORDER[-2:])),
    st.sampled_from(
        (
            "b", "r.q", "has(r.p)", "o.hasValue()", "e in [GO, WAIT]", "s == 'a'", "s != 'b'", "s in ['a', 'b']",
            "b == (x > 0.5)", "b != r.q", "x in [0.25, 0.5]", "n in [1, 2]", "true", "false", "r.p in [1.0]",
            "'a' in ts", "ts.exists(t, t in ['a', 'b'])", "ts.all(t, t == 'a' || t == 'c')", "size(ts) > 0",
            "ts.exists(t, !(t == 'a'))", "e == f", "e != f", "f in [e, GO]",
            "(x > 0.5 ? 1 - x : 2 * x) in [0.25, 0.5]", "(x > 0.5 ? x : 1 - x) in [0.7, 0.8]",
        )
    ),
)  # fmt: skip
conditions: Final = st.recursive(
    _atoms,
    lambda below: st.one_of(
        st.builds("({} && {})".format, below, below),
        st.builds("({} || {})".format, below, below),
        st.builds("!({})".format, below),
        st.builds("({} ? {} : {})".format, below, below, below),
    ),
    max_leaves=6,
)


_pieces: Final = st.builds(
    lambda low, size: NumberRange.inside(Fraction(low, 40), Fraction(min(low + size, 40), 40)),
    st.integers(0, 40),
    st.integers(0, 12),
)


@st.composite
def narrowed(draw: st.DrawFn) -> Domains:
    """The domains with scores that lie on one small piece, so that a cut that is missing can't hide."""
    known: dict[Path, Domain] = {(name,): Domain("score", pieces=(draw(_pieces),)) for name in ("x", "y")}
    known["o",] = Domain("score", pieces=(draw(_pieces),), optional=True)
    return Domains(TYPES, known)


def inputs() -> Iterator[dict[str, Any]]:
    """A grid over the variables with more places than the conditions tell apart, but fewer of each at a time."""
    scores = [Score(f.numerator, f.denominator) for f in (Fraction(k, 20) for k in range(21))]
    some = [scores[0], scores[5], scores[7], scores[10], scores[16], scores[20]]
    records: list[dict[str, Any]] = [{"q": q} for q in (True, False)]
    records += [{"p": p, "q": q} for p in (some[1], some[4], some[5]) for q in (True, False)]
    for number, x in enumerate(scores):
        optionals = (NONE, Optional(some[number % 6]))
        for y, n, b, e, o in itertools.product(
            some[number % 2 :: 2], (-2, 0, 1, 3), (True, False), ("GO", "WAIT"), optionals
        ):
            yield {
                "x": x,
                "y": y,
                "n": n,
                "b": b,
                "e": e,
                "f": ("GO", "NO_GO", "WAIT")[(n + number) % 3],
                "o": o,
                "s": "abc"[n % 3],
                "ts": TEXTS[(n + number) % len(TEXTS)],
                "r": records[(n + number) % 8],
            }
