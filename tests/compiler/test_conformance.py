"""The published conformance cases of CEL, through the public module: values, types and mistakes, policies."""

from __future__ import annotations

import collections
import importlib.util
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.shared_data import folder

Case = dict[str, Any]
Result = tuple[Case, str, str]


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_conformance", folder("cel") / "run_conformance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(runner: ModuleType, name: str) -> list[Result]:
    """Every case of a file with its status and detail, run in this process."""
    adapter = runner.Adapter("rulewright.cel:evaluate")
    cases: Iterator[Case] = runner.read_cases([folder("cel") / name])
    return [(case, *runner.run_case(case, adapter, False, {})) for case in cases]


def failures(results: list[Result]) -> list[tuple[str, str, str]]:
    return [(case["id"], status, detail) for case, status, detail in results if status != "pass"]


def rate(results: list[Result]) -> float:
    return sum(status == "pass" for _, status, _ in results) / len(results)


def test_values_are_those_of_the_specification(runner: ModuleType) -> None:
    results = run(runner, "open.json")
    assert len(results) > 900
    assert rate(results) >= 0.99, failures(results)
    assert not [r for r in results if r[1] == "crash"]
    suites = collections.defaultdict(list)
    for result in results:
        suites[result[0]["suite"]].append(result)
    for suite, of_suite in suites.items():
        assert len(of_suite) < 20 or rate(of_suite) >= 0.96, (suite, failures(of_suite))


def test_types_and_the_places_of_mistakes_are_those_of_cel_go(runner: ModuleType) -> None:
    results = run(runner, "static_open.json")
    assert len(results) > 1000
    assert rate(results) >= 0.98, failures(results)
    placed = [detail for case, _, detail in results if "errors" in case["expect"] and detail.startswith("position")]
    same = sum(detail.startswith(("position: same", "position: none expected")) for detail in placed)
    assert same / len(placed) >= 0.93


def test_policies_give_what_the_policy_suite_expects(runner: ModuleType) -> None:
    results = [r for r in run(runner, "policy_open.json") if r[1] != "unsupported"]
    assert len(results) >= 30
    assert rate(results) >= 0.95, failures(results)


def test_the_cases_are_the_published_ones() -> None:
    for name in ("open.json", "static_open.json", "policy_open.json"):
        assert json.loads((folder("cel") / name).read_text(encoding="utf-8"))
