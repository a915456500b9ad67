"""What the profile adds: mixed arithmetic, exact scores, statistics that are absent where they have no value."""

from __future__ import annotations

from typing import Final

from rulewright.expression.declarations.signature import Functions, table

_NUMBERS = ("int", "uint", "double", "score")


def _joined(left: str, right: str) -> str:
    """The type two different numbers meet in."""
    return "score" if "score" in (left, right) else "double" if "double" in (left, right) else "int"


def _mixed(result: str = "") -> str:
    pairs = [(a, b) for a in _NUMBERS for b in _NUMBERS if a != b or a == "score"]
    return " | ".join(f"({a}, {b}) -> {result or _joined(a, b)}" for a, b in pairs)


_ARITHMETIC = _mixed()
_TEXT_TEST = "(string, string) -> bool | string.(string) -> bool"
_STATISTIC = (
    "(list(score)) -> optional_type(score) | (list(double)) -> optional_type(double)"
    " | (list(int)) -> optional_type(double) | (list(uint)) -> optional_type(double)"
)
_SAME = (
    "(list(score)) -> optional_type(score) | (list(double)) -> optional_type(double)"
    " | (list(int)) -> optional_type(int) | (list(uint)) -> optional_type(uint)"
)

OPERATORS: Final[Functions] = table(
    {
        "-_": "(score) -> score",
        "_<_": _mixed("bool"),
        "_<=_": _mixed("bool"),
        "_>_": _mixed("bool"),
        "_>=_": _mixed("bool"),
        "_==_": _mixed("bool"),
        "_!=_": _mixed("bool"),
        "_+_": _ARITHMETIC,
        "_-_": _ARITHMETIC,
        "_*_": _ARITHMETIC,
        "_/_": _ARITHMETIC,
        "_%_": "(int, uint) -> int | (uint, int) -> int",
        "@in": " | ".join(f"({a}, list({b})) -> bool" for a in _NUMBERS for b in _NUMBERS if a != b),
    }
)

FUNCTIONS: Final[Functions] = table(
    {
        "score": "(score) -> score | (double) -> score | (int) -> score | (uint) -> score",
        "double": "(score) -> double",
        "sum": _SAME.replace("optional_type(uint)", "optional_type(int)"),
        "min": _SAME,
        "max": _SAME,
        "mean": _STATISTIC,
        "quantile": " | ".join(s.strip().replace(") ->", ", double) ->", 1) for s in _STATISTIC.split("|")),
        "wmean": " | ".join(
            f"(list({value}), list({weight})) -> optional_type({'score' if value == 'score' else 'double'})"
            for value in _NUMBERS
            for weight in ("double", "int", "uint", "score")
        ),
        "wmean_present": "(map(string, dyn), map(string, dyn)) -> optional_type(score)",
        "share": "(list(bool)) -> optional_type(score)",
        "rate": "(list(bool)) -> optional_type(score) | (int, int) -> optional_type(score)",
        "contains_ci": _TEXT_TEST,
        "substring_ci": _TEXT_TEST,
    }
)
