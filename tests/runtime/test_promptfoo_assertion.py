"""The assertion for promptfoo: which checks count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.plans import check, plan

from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.promptfoo_assertion import get_assert


def graded(folder: Path, **config: object) -> Any:
    path = folder / "plan.json"
    path.write_bytes(encode(plan(check(), check(name="X2"))))
    return get_assert("I promise.", {"config": {"plan": str(path), **config}, "prompt": "Will it work?"})


def test_only_the_chosen_checks_count(tmp_path: Path) -> None:
    (part,) = graded(tmp_path, checks=["X2"])["componentResults"]
    assert part["reason"].startswith("X2: FAIL")


def test_an_unknown_check_is_refused_and_never_left_out(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="the plan has no check `X3`; it has `X1`, `X2`"):
        graded(tmp_path, checks=["X1", "X3"])
