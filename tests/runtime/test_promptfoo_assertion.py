"""The assertion for promptfoo: which checks count."""

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.plans import check, plan
from tests.runtime.programs import const, program

from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.promptfoo_assertion import get_assert


def graded(folder: Path, *checks: Check, output: str | None = "I promise.", **config: object) -> Any:
    path = folder / "plan.json"
    path.write_bytes(encode(plan(*(checks or (check(), check(name="X2"))))))
    return get_assert(output, {"config": {"plan": str(path), **config}, "prompt": "Will it work?"})


def test_only_the_chosen_checks_count(tmp_path: Path) -> None:
    (part,) = graded(tmp_path, checks=["X2"])["componentResults"]
    assert part["reason"].startswith("X2: FAIL")


def test_one_check_may_be_named_as_a_text_and_its_reason_is_shown(tmp_path: Path) -> None:
    (part,) = graded(tmp_path, checks="X2")["componentResults"]
    assert part["reason"] == "X2: FAIL (detected) `I promise`"
    assert graded(tmp_path, checks="X2", output=None)["reason"] == "X2: UNCLEAR (there is nothing to judge)"


@pytest.mark.parametrize("config", [None, {}, {"plans": "plan.json"}])
def test_without_a_plan_the_key_that_names_it_is_reported(config: dict[str, str] | None) -> None:
    with pytest.raises(PlanError, match="the assertion's `config` names no `plan`; `rulewright compile` writes one"):
        get_assert("Yes.", {"config": config, "prompt": "Will it work?"})


def test_an_unknown_check_is_refused_and_never_left_out(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="the plan has no check `X3`; it has `X1`, `X2`"):
        graded(tmp_path, checks=["X1", "X3"])


def test_a_check_that_does_not_apply_adds_nothing_to_the_score(tmp_path: Path) -> None:
    """promptfoo compares the score with a threshold, also where the assertion did not pass."""
    elsewhere = [check(name=name, applies=program(const(False))) for name in ("E1", "E2", "E3")]
    found = graded(tmp_path, *elsewhere, output="Yes.")
    assert (found["pass"], found["score"], found["reason"]) == (False, 0.0, "no check applies")


@pytest.mark.parametrize(("output", "score"), [("I promise.", 0.0), ("Perhaps.", 1.0)])
def test_the_score_is_the_share_of_the_checks_that_apply(output: str, score: float, tmp_path: Path) -> None:
    elsewhere = [check(name=name, applies=program(const(False))) for name in ("E1", "E2", "E3")]
    found = graded(tmp_path, check(), *elsewhere, output=output)
    assert (found["pass"], found["score"]) == (score == 1.0, score)


def test_no_output_does_not_pass(tmp_path: Path) -> None:
    assert (graded(tmp_path, output=None)["pass"], graded(tmp_path, output="Perhaps.")["pass"]) == (False, True)


@pytest.mark.parametrize("role", ["user", "tool", "system"])
def test_an_output_of_another_role_is_not_graded_by_an_earlier_reply(role: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(encode(plan(check())))
    prompt = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    with pytest.raises(RuntimeError, match=f"the output is a message of the role `{role}`; expected `assistant`"):
        get_assert({"role": role, "content": "d"}, {"config": {"plan": str(path)}, "prompt": prompt})
