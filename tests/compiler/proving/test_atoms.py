"""Atoms: where a condition of one variable can change, and which conditions are beyond knowing that."""

from fractions import Fraction
from typing import Any

import pytest
from tests.compiler.proving.conditions_at_random import DOMAINS, program

from rulewright.proving.atoms import Atoms
from rulewright.proving.program_parts import inline, paths_of, substitute, written
from rulewright_runtime.score import Score


def studied(text: str) -> Atoms:
    atoms = Atoms(DOMAINS)
    atoms.formula(program(text))
    return atoms


@pytest.mark.parametrize(
    ("text", "path", "cuts"),
    [
        ("x < 0.3", ("x",), ["3/10"]),
        ("1 + -(y - 0.25) < 0.5", ("y",), ["3/4"]),
        ("2 * y - 0.5 >= 0.25", ("y",), ["3/8"]),
        ("y / 3 > 0.1", ("y",), ["3/10"]),
        ("1 - x == x", ("x",), ["1/2"]),
        ("x in [0.25, 0.5]", ("x",), ["1/4", "1/2"]),
        ("(x > 0.5 ? 1 - x : 2 * x) in [0.25, 0.5]", ("x",), ["1/8", "1/4", "1/2", "3/4"]),
        ("(x > 0.6 ? 1 - x : 2 * x) > 0.3", ("x",), ["3/20", "3/5", "7/10"]),
        ("o.orValue(0.25) * 2 > 0.5", ("o",), ["1/4"]),
        ("n >= 2 || 3.5 < n", ("n",), ["2", "7/2"]),
        ("s == 'a' || 'b' != s", ("s",), ["a", "b"]),
        ("ts.exists(t, t in ['a', 'b'] || t == 'c') && 'd' in ts", ("ts",), ["a", "b", "c", "d"]),
    ],
)
def test_a_condition_can_change_at_its_cuts_and_nowhere_else(text: str, path: tuple[str, ...], cuts: list[str]) -> None:
    atoms = studied(text)
    assert all(atom.opaque is None for atom in atoms.atoms)
    expected: set[Any] = {each if each.isalpha() else Fraction(each) for each in cuts}
    assert atoms.cuts[path] == expected


@pytest.mark.parametrize(
    "text",
    [
        "x * y > 0.5", "x * x > 0.5", "0.5 / x > 1.0", "n * 2 > 3", "s < 'b'", "s.startsWith('a')", "size(ts) > 1",
        "ts[0] == 'a'", "ts == ['a']", "ts.exists(t, t.startsWith('a'))", "ts.exists(t, s == t)", "double(x) > 0.5",
    ],
)  # fmt: skip
def test_what_is_beyond_is_said_to_be(text: str) -> None:
    (atom,) = studied(text).atoms
    assert atom.opaque is not None
    assert atom.opaque.startswith(f"`{written(program(text))}` is too complex for this proof")


def test_equal_atoms_are_one() -> None:
    assert len(studied("x > 0.5 && (b || x > 0.5)").atoms) == 2


def test_settings_become_constants() -> None:
    assert written(substitute(program("x > y && b"), {"y": Score(4, 5), "b": True})) == "x > 0.8 && true"


def test_a_composite_is_written_out_and_taken_out_of_its_optional() -> None:
    whole = inline(program("x > 0.5 && y < 0.5"), "x", program("mean([y]).value() > 0.5"))
    assert paths_of(whole) == [("y",)]
