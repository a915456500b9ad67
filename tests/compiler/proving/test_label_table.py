"""The proof of label tables: gaps with the scores that fall through, rows that never decide, and honest silence."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tests.rounds import rounds
from tests.safe_cases import DEFAULTS, METRICS, safe, settings
from tests.shared_data import ROOT

from rulewright.proving.tables import table_findings
from rulewright.scoring.batches import CaseScorecard, load_scorecard
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.plan.scorecard import parameter_values

TEXT = (ROOT / "benchmark" / "configs" / "scorecards" / "safe-v0.yaml").read_text()


def changed(tmp_path: Path, old: str, new: str) -> Path:
    assert old in TEXT
    path = tmp_path / "card.yaml"
    path.write_text(TEXT.replace(old, new))
    return path


def result(path: Path, **given: object) -> list[str]:
    card = load_scorecard(str(path))
    return codes(card, CaseSettings(card.plan, given))


def codes(card: CaseScorecard, given: CaseSettings) -> list[str]:
    """The codes of the findings, that of a dead row with its number."""
    found = table_findings(card, given.scorer(None, None))
    return [each.code + "".join(re.findall(r"row( \d+) of", each.message)[:1]) for each in found]


def test_the_shipped_table_leaves_no_case_out_and_every_row_decides() -> None:
    assert codes(safe(), settings()) == []


def test_the_shipped_table_is_total_under_any_thresholds() -> None:
    chance = random.Random(3)
    for _ in range(rounds(20, 60)):
        given = {f"{m}_{kind}": round(chance.random(), 2) for m in METRICS for kind in ("pass", "review")}
        given["strict_ah"] = chance.random() < 0.5
        assert all(each.startswith("label-row-is-dead") for each in codes(safe(), settings(**given)))


@pytest.mark.parametrize("metric", METRICS)
def test_a_strict_comparison_in_the_last_row_is_reported_with_the_scores_that_fall_through(
    metric: str, tmp_path: Path
) -> None:
    old = "{label: Pass, when: CR >= CR_pass && AH >= AH_pass && AC >= AC_pass}"
    path = changed(tmp_path, old, old.replace(f"{metric} >= {metric}_pass", f"{metric} > {metric}_pass"))
    card = load_scorecard(str(path))
    (finding,) = [f for f in table_findings(card, CaseSettings(card.plan).scorer(None, None)) if "gap" in f.code]
    assert finding.code == "label-table-has-a-gap"
    assert f"`{metric}` is {DEFAULTS[metric]['pass']:g}" in finding.message
    assert finding.span.line == TEXT.splitlines().index(f"  - {old}") + 1


def test_the_row_that_strictness_takes_away_is_reported() -> None:
    card = safe()
    (finding,) = table_findings(card, settings(strict_ah=True).scorer(None, None))
    assert finding.code == "label-row-is-dead"
    assert finding.message.startswith("row 2 of the label table (`Review`) never decides")


def test_a_threshold_that_nothing_is_below_takes_rows_away(tmp_path: Path) -> None:
    zero = {f"{metric}_{kind}": 0 for metric in METRICS for kind in ("pass", "review")}
    path = tmp_path / "same.yaml"
    path.write_text(TEXT)
    assert result(path, **zero) == [f"label-row-is-dead {row}" for row in (1, 2, 3)]


def test_a_table_over_the_composite_is_not_claimed_to_be_proved(tmp_path: Path) -> None:
    path = changed(tmp_path, "when: AH < AH_pass}", "when: composite < AH_pass}")
    assert result(path) == ["label-table-not-proved"]


def test_a_formula_that_is_not_linear_is_not_proved(tmp_path: Path) -> None:
    path = changed(tmp_path, 'score(1)) : 1 - share"', 'score(1)) : 1 - share * share"')
    card = load_scorecard(str(path))
    (finding,) = table_findings(card, CaseSettings(card.plan).scorer(None, None))
    assert finding.message.endswith(": the score of `AH` is not linear between the shares that it compares with")


def test_the_values_a_formula_takes_are_found_exactly(tmp_path: Path) -> None:
    formula = '"strict_ah ? (share > 0 ? score(0) : score(1)) : (share >= 0.5 ? score(0.25) : 1 - share / 2)"'
    path = changed(tmp_path, '"strict_ah ? (share > 0 ? score(0) : score(1)) : 1 - share"', formula)
    never = parameter_values([s.parameter for s in safe().plan.settings], {})
    assert never["AH_review"] == 0.5
    # AH is 0.25, or above 0.75: between 0.5 and 0.75 nothing lies, so a threshold there changes no label
    assert result(path, AH_pass=0.6, AH_review=0.2) == result(path, AH_pass=0.7, AH_review=0.2) == []
    assert result(path, AH_pass=0.25, AH_review=0.2) == ["label-row-is-dead 2"]
