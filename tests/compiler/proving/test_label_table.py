"""The proof of label tables: gaps with the scores that fall through, rows that never decide, and honest silence."""

import random
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.growth import growth_of
from tests.rounds import rounds
from tests.safe_cases import DEFAULTS, METRICS, safe, settings
from tests.shared_data import ROOT

from rulewright import prove
from rulewright.documents.scorecard import CaseScorecardDocument
from rulewright.documents.typed_reader import read
from rulewright.linting.lint_run import lint_text
from rulewright.load import Mapping, load_text
from rulewright.proving.scorecard_conditions import both_hold
from rulewright.proving.tables import case_findings, table_findings
from rulewright.scoring.case_scorecards import CaseScorecard, load_scorecard
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


def test_defaults_that_break_a_requirement_are_reported_once() -> None:
    path = ROOT / "tests" / "compiler" / "rules" / "defaults_break_a_requirement" / "bad.yaml"
    found = lint_text(path.read_text(), "bad.yaml").diagnostics
    assert [each.code for each in found if each.severity == "error"] == ["defaults-break-a-requirement"]
    root = load_text(path.read_text(), "bad.yaml").root
    assert isinstance(root, Mapping)
    assert case_findings(root) == []


@pytest.mark.parametrize(("before", "line"), [(1, 1), (15, 15), (25, None)])
def test_the_row_that_leaves_nothing_to_a_dead_one_is_named_unless_it_is_far_below(
    before: int, line: int | None, tmp_path: Path
) -> None:
    start = TEXT.splitlines().index("labels:") + 1
    rows = [f"  - {{label: Fail, when: CR < 0.{50 - number}}}" for number in range(1, before)]
    rows += ["  - {label: Review, when: CR < 0.8}", "  - {label: Fail, when: CR < 0.6 && AH < 0.5}"]
    path = changed(tmp_path, "labels:", "\n".join(["labels:", *rows]))
    card = load_scorecard(str(path))
    found = table_findings(card, CaseSettings(card.plan).scorer(None, None))
    (dead,) = [each for each in found if each.message.startswith(f"row {before + 1} of the label table (`Fail`)")]
    assert [each.span.line - start for each in dead.notes] == ([] if line is None else [line])


def test_both_conditions_of_a_metric_are_only_shown_where_they_can_be_read() -> None:
    path = ROOT / "tests" / "compiler" / "rules" / "review_above_pass" / "bad.yaml"
    for more, shown in ((" && true", "FOUND = 0.8"), (" && ", None)):
        root = load_text(
            path.read_text().replace("fails: FOUND < found_review", f"fails: 'FOUND < found_review{more}'"), "x"
        )
        assert isinstance(root.root, Mapping)
        document = read(CaseScorecardDocument, root.root)
        (metric,) = document.metrics
        assert metric.passes is not None
        assert metric.fails is not None
        assert both_hold(document, metric.passes, metric.fails) == shown


def test_the_work_for_the_thresholds_of_a_table_grows_with_the_square_of_their_number_at_most(tmp_path: Path) -> None:
    def prepared(size: int) -> Callable[[], object]:
        rows = [f"  - {{label: Fail, when: CR < {number / 1000}}}\n" for number in range(1, size + 1)]
        return partial(prove, changed(tmp_path, "labels:\n", "labels:\n" + "".join(rows)))

    assert growth_of(prepared, 10) < 5 / 3
