"""How often the expressions of a check are checked to find the parameters that they can't use."""

from collections.abc import Mapping

import pytest

from rulewright.diagnostics import Diagnostic
from rulewright.documents.check import CheckDocument
from rulewright.expression.types import Type
from rulewright.linting.lint_run import lint_text
from rulewright.lower.expression_checks import mistakes_with


@pytest.mark.parametrize(("unfit", "most"), [([], 4), ([7], 30), ([7, 80], 60)])
def test_parameters_that_fit_are_tried_together(unfit: list[int], most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []

    def counted(check: CheckDocument, typed: Mapping[str, Type]) -> list[Diagnostic]:
        tried.append(typed)
        return mistakes_with(check, typed)

    monkeypatch.setattr("rulewright.rules.correctness.parameter_does_not_fit.mistakes_with", counted)
    values = "".join(f"  p{at}: {repr('x') if at in unfit else at}\n" for at in range(100))
    condition = " || ".join(f"word_count(answer) == params.p{at}" for at in range(100))
    found = lint_text(f"id: long\nparams:\n{values}fail: {condition}\n", "long.yaml").diagnostics
    assert [each.span.line - 3 for each in found if each.code == "parameter-does-not-fit"] == unfit
    assert 0 < len(tried) <= most
