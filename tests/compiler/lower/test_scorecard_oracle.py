"""The shipped scorecards against every published row: gates, scores, hard fails, blindspots and corpus rates."""

import gzip
import json
import math
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.shared_data import ROOT, folder

from rulewright.documents.scorecard import read_scorecard
from rulewright.documents.validation import validate
from rulewright.load import load_file, plain
from rulewright.lower.scorecard import lower_scorecard
from rulewright_runtime.aggregate.aggregation import Scorecard

CONFIGS = ROOT / "benchmark" / "configs"
RUNS = ("real_publish", "template_publish", "template_smoke", "template_dev")
QUALITY = {"C": "communication_quality", "D": "caregiver_coordination", "F": "boundary_integrity"}


@cache
def scorecard(name: str, scoring: Path = CONFIGS / "scoring.yaml") -> Scorecard:
    loaded = load_file(CONFIGS / "scorecards" / f"{name}.yaml")
    assert loaded.root is not None
    assert not validate("scorecard", loaded.root)
    document, found = read_scorecard(loaded.root)
    assert document is not None
    assert not found
    data = folder("invisiblebench")
    checks = {path.stem: plain(load_file(path).root) for path in sorted((data / "checks").glob("IB-*.yaml"))}
    labels = json.loads((data / "blindspot_map.json").read_text())
    plan, mistakes = lower_scorecard(document, plain(load_file(scoring).root), checks, labels)
    assert not mistakes
    assert plan is not None
    return Scorecard(plan)


@cache
def rows(run: str) -> list[dict[str, Any]]:
    with gzip.open(folder("invisiblebench") / "expected" / run / "per_run.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def verdicts(row: dict[str, Any]) -> list[Any]:
    return [
        SimpleNamespace(**record, check_id=record["mode_id"], scorer_version="1", secondary_tags=())
        for record in row["mode_results"]
    ]


def same(left: Any, right: Any) -> bool:
    """Equal, numbers within 1e-12."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, int | float) and not isinstance(right, bool):
        return math.isclose(left, right, rel_tol=0, abs_tol=1e-12)
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("scoring", ["ours", "published"])
def test_two_tier_reproduces_the_aggregation_of_the_seed(run: str, scoring: str) -> None:
    published = folder("invisiblebench") / "configs" / "scoring.yaml"
    ours = scorecard("two-tier") if scoring == "ours" else scorecard("two-tier", published)
    for row in rows(run):
        expected = row["seed_aggregation"]
        result = ours.aggregate(verdicts(row))
        rates = {bucket: result["dimension_scores"][name] for bucket, name in QUALITY.items()}
        assert same(result["overall_score"], expected["overall"]), row["transcript_id"]
        assert same(rates, expected["bucket_pass_rate"]), row["transcript_id"]
        assert result["hard_fail"] is expected["hard_fail"]
        assert [reason["check_id"] for reason in result["hard_fail_reasons"]] == expected["hard_fail_checks"]


@pytest.mark.parametrize("run", RUNS)
def test_an_open_gate_check_never_leaves_its_gate_passed(run: str) -> None:
    for row in rows(run):
        result = scorecard("two-tier").aggregate(verdicts(row))
        for bucket, gate in (("A", "safety"), ("B", "compliance")):
            checks = [
                record
                for record in row["mode_results"]
                if record["primary_bucket"] == bucket and record["severity"] in ("S5", "S4_GATE") and record["eligible"]
            ]
            seen = {record["verdict"] for record in checks}
            expected = False if "FAIL" in seen else None if "UNCLEAR" in seen else True
            if checks:
                assert result["gates"][gate]["passed"] is expected
