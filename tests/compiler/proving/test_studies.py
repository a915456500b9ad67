"""Studies of conditions: an expression is taken apart once, also when its document is linted again."""

import pytest

from rulewright.expression.environment import Environment
from rulewright.expression.types import DOUBLE, SCORE, Type
from rulewright.load import Scalar, load_text
from rulewright.proving import studies
from rulewright.proving.studies import Study, placed


def studied(text: str, **variables: Type) -> Study:
    """The study of a condition in an environment made for it."""
    root = load_text(text, "x.yaml").root
    assert isinstance(root, Scalar)
    (found,) = placed([root], Environment(variables=variables))
    return found.study


def test_equal_environments_share_a_study(monkeypatch: pytest.MonkeyPatch) -> None:
    first = studied("rate >= 0.8151", rate=SCORE)
    monkeypatch.setattr(studies, "_study", None)
    assert studied("rate >= 0.8151", rate=SCORE) is first


def test_another_type_or_name_is_another_study() -> None:
    assert not studied("rate <= 1.0", rate=DOUBLE).always
    assert studied("rate <= 1.0", rate=SCORE).always
    assert not studied("rate <= 1.0", rate=DOUBLE, other=SCORE).always


def test_values_of_variables_that_a_condition_does_not_read_make_no_other_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = load_text("rate >= 0.8152", "x.yaml").root
    assert isinstance(root, Scalar)
    environment = Environment(variables={"rate": SCORE, "other": SCORE})
    (first,) = placed([root], environment)
    monkeypatch.setattr(studies, "_study", None)
    (second,) = placed([root], environment, usual=((("other",), 0.5),))
    assert second.study is first.study
