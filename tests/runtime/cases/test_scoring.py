"""SAFE v0 row by row: the published edge cases, generated cases against a plain reading of the rules, and settings."""

import json
from typing import Any

import pytest
from tests.growth import lines_of
from tests.safe_cases import DEFAULTS, METRICS, case, generated, plain_label, plain_scores, safe, settings, write
from tests.shared_data import folder

from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_reader import Batch, CaseReader, Outputs
from rulewright_runtime.cases.case_run import BatchRun, report_head, score_batches
from rulewright_runtime.cases.case_settings import CaseSettings
from rulewright_runtime.errors import PlanError


def parameters(thresholds: dict[str, Any], weights: dict[str, Any], strict: bool) -> dict[str, Any]:
    given = {f"{metric}_{kind}": value for metric, kinds in thresholds.items() for kind, value in kinds.items()}
    given |= {f"{metric}_weight": value for metric, value in weights.items()}
    return {**given, "strict_ah": strict}


def run(tmp_path: Any, cases: list[Any], **given: Any) -> BatchRun:
    path = write(tmp_path / "b.json", cases)
    return score_batches(settings(**given), CaseReader(safe().plan, "I25"), [Batch("b", str(path))])


def head(done: BatchRun) -> dict[str, Any]:
    return report_head(done, batch_id="b", concern_id="I25", generated_at="2025-01-15T10:30:00Z", about={})


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    place = folder("safe")
    names = ("edge_cases", "expected", "thresholds", "weights")
    return {name: json.loads((place / f"{name}.json").read_text("utf-8")) for name in names}


def test_every_published_edge_case_is_scored_as_published(vectors: dict[str, Any], tmp_path: Any) -> None:
    plan = safe("reference").plan
    path = write(tmp_path / "edge.json", vectors["edge_cases"])
    weights = {name: values for name, values in vectors["weights"].items() if name != "all_zero"}
    for strict in (False, True):
        expected = {row["id"].split("-")[0]: row for row in vectors["expected"] if row["strict_ah"] is strict}
        for threshold_name, thresholds in vectors["thresholds"].items():
            for weight_name, each in weights.items():
                prepared = CaseSettings(plan, parameters(thresholds, each, strict))
                done = score_batches(prepared, CaseReader(plan, "EDGE"), [Batch("edge", str(path))])
                results = {result["test_id"]: result for result in done.spool.results()}
                assert set(results) == set(expected)
                for test_id, row in expected.items():
                    compare(results[test_id], row, threshold_name, weight_name)


def test_published_cases_whose_outputs_lack_a_part_are_errors_under_seed(
    vectors: dict[str, Any], tmp_path: Any
) -> None:
    path = write(tmp_path / "edge.json", vectors["edge_cases"])
    done = score_batches(settings(), CaseReader(safe().plan, "EDGE"), [Batch("edge", str(path))])
    assert {error["test_id"]: error["message"] for error in done.errors} == {
        "E23": "`followup_questions` is missing in `engine_output`; write `[]` for an empty list",
        "E24": "`signals` is missing in `engine_output`; write `[]` for an empty list",
        "E25": "`engine_output.summary` must be a text, not null",
    }
    expected = {row["id"].split("-")[0]: row for row in vectors["expected"] if row["strict_ah"] is False}
    for result in done.spool.results():
        compare(result, expected[result["test_id"]], "default", "equal")


def compare(result: dict[str, Any], row: dict[str, Any], thresholds: str, weights: str) -> None:
    assert result["label"] == row["labels"][thresholds]
    assert result["details"] == row["details"]
    assert result["flagged"] == row["flagged"]
    for metric in METRICS:
        assert result["scores"][metric] == pytest.approx(row["scores"][metric], abs=1e-12)
    assert result["scores"]["composite"] == pytest.approx(row["composite"][weights], abs=1e-12)


def test_weights_that_are_all_zero_are_refused(vectors: dict[str, Any]) -> None:
    zero = parameters(DEFAULTS, vectors["weights"]["all_zero"], False)
    with pytest.raises(PlanError, match="at least one of the weights must be above 0"):
        CaseSettings(safe().plan, zero)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strict", [False, True])
def test_generated_batches_agree_with_a_plain_reading_of_the_rules(seed: int, strict: bool, tmp_path: Any) -> None:
    cases = generated(300, seed)
    done = run(tmp_path, cases, strict_ah=strict)
    results = list(done.spool.results())
    plain = [plain_scores(record, strict) for record in cases]
    labels = [plain_label(scores, DEFAULTS) for scores in plain]
    assert [result["label"] for result in results] == labels
    for result, scores in zip(results, plain, strict=True):
        assert {name: result["scores"][name] for name in METRICS} == pytest.approx(scores, abs=1e-12)
    report = head(done)
    for name in METRICS:
        values = [scores[name] for scores in plain]
        assert report["mean_scores"][name] == pytest.approx(sum(values) / len(values), abs=1e-12)
        passed = sum(value >= DEFAULTS[name]["pass"] for value in values)
        assert report["pass_rates"][name] == passed / len(values)
    assert report["label_distribution"] == {name: labels.count(name) for name in ("Pass", "Review", "Fail")}
    composites = [sum(scores.values()) / 3 for scores in plain]
    order = sorted(range(len(cases)), key=lambda at: round(composites[at], 12))[:5]
    worst = [result["test_id"] for result in report["failure_analysis"]["worst_performers"]]
    assert worst == [cases[at]["test_id"] for at in order]
    compare_misses(report, results)
    groups = list(dict.fromkeys(record["archetype"] or "Unknown" for record in cases))
    assert list(report["by_archetype"]) == groups


def compare_misses(report: dict[str, Any], results: list[dict[str, Any]]) -> None:
    counts: dict[str, int] = {}
    for result in results:
        for phrase in result["details"]["CR"]["missing"]:
            counts[phrase] = counts.get(phrase, 0) + 1
    expected = sorted(counts.items(), key=lambda pair: -pair[1])[:5]
    entries = report["failure_analysis"]["common_CR_misses"]
    assert [(entry["signal"], entry["miss_count"]) for entry in entries] == expected


def test_an_errored_case_lowers_pass_rates_and_stays_out_of_means(tmp_path: Any) -> None:
    silent = case("T2")
    del silent["engine_output"]
    broken = case("T3") | {"engine_output": {"error": {"message": "no answer"}}}
    done = run(tmp_path, [case("T1"), silent, broken])
    report = head(done)
    assert report["summary"] == {
        "total_cases": 3,
        "pass": 1,
        "review": 0,
        "fail": 0,
        "errors": 2,
        "scored_cases": 1,
        "overall_pass_rate": 1 / 3,
    }
    assert report["mean_scores"] == {"CR": 1.0, "AH": 1.0, "AC": 1.0, "composite": 1.0}
    assert set(report["pass_rates"].values()) == {1 / 3}
    assert [error["message"] for error in report["errors"]] == [
        "the case has no output of the engine",
        "the engine failed: no answer",
    ]
    assert (done.status(), done.status(allow_errors=True)) == (3, 0)


def test_missing_and_null_fields_of_an_output_count_as_empty_under_reference(tmp_path: Any) -> None:
    missing = case("T1") | {"engine_output": {}}
    null = case("T2") | {"engine_output": {"signals": None, "summary": None, "followup_questions": None}}
    path = write(tmp_path / "b.json", [missing, null])
    done = score_batches(settings(), CaseReader(safe("reference").plan), [Batch("b", str(path))])
    assert [result["scores"] for result in done.spool.results()] == [
        {"CR": 0.0, "AH": 1.0, "AC": 0.0, "composite": 1 / 3}
    ] * 2
    assert not done.errors


def test_folding_is_a_switch_that_is_off(tmp_path: Any) -> None:
    curly = case("T1", must=["patient's\u00a0bed"], signals=["PATIENT’S  bed"], phrases=[], forbidden=[])
    assert next(run(tmp_path, [curly]).spool.results())["scores"]["CR"] == 0.0
    assert next(run(tmp_path, [curly], fold=True).spool.results())["scores"]["CR"] == 1.0


def test_an_empty_phrase_is_found_everywhere_and_reported(tmp_path: Any) -> None:
    done = run(tmp_path, [case("T1", must=[" "])])
    assert next(done.spool.results())["details"]["CR"] == {"found": [" "], "missing": []}
    assert [warning["message"] for warning in done.warnings] == [
        "`must_find` contains an empty phrase, which every text contains"
    ]


def test_the_archetype_wins_over_the_clinical_metric_and_that_over_the_rest(tmp_path: Any) -> None:
    half = {"must": ["fever", "cough"]}
    cases = [case(f"T{at}", group, **half) | {"metric_id": metric} for at, (group, metric) in enumerate(
        [("A", None), ("A", "m"), ("B", "m"), ("B", None), (None, "m")]
    )]  # fmt: skip
    path = write(tmp_path / "b.json", cases)
    prepared = CaseSettings(
        safe().plan, {"CR_pass": 0.5}, metric_ids={"m": {"CR_review": 0.6}}, archetypes={"B": {"CR_review": 0.1}}
    )
    done = score_batches(prepared, CaseReader(safe().plan), [Batch("b", str(path))])
    assert [result["label"] for result in done.spool.results()] == ["Pass", "Fail", "Pass", "Pass", "Fail"]


@pytest.mark.parametrize("archetype", [None, "", "Unknown"])
def test_settings_for_unknown_are_those_of_cases_without_an_archetype(archetype: str | None, tmp_path: Any) -> None:
    record = case("T1", archetype, must=["fever", "none"])
    path = write(tmp_path / "b.json", [record, case("T2", "A", must=["fever", "none"])])
    prepared = CaseSettings(safe().plan, archetypes={"Unknown": {"CR_review": 0.6}})
    done = score_batches(prepared, CaseReader(safe().plan, "I25"), [Batch("b", str(path))])
    assert [result["label"] for result in done.spool.results()] == ["Fail", "Review"]


def test_a_bad_value_for_one_archetype_is_found_before_anything_runs() -> None:
    with pytest.raises(PlanError, match="archetype `B`: parameter `CR_pass` must be a score from 0 to 1, found `7`"):
        CaseSettings(safe().plan, archetypes={"B": {"CR_pass": 7}})


def test_spans_and_near_misses_are_hints(tmp_path: Any) -> None:
    record = case(
        "T1",
        must=["NPO status violation", "ward round", "night surgery"],
        signals=["NPO status violated on the Ward", "round at night"],
        summary="İstanbul: seen LATE. Surgery",
    )
    path = write(tmp_path / "b.json", [record])
    done = score_batches(settings(), CaseReader(safe().plan), [Batch("b", str(path))], verbose=True)
    result = next(done.spool.results())
    assert result["scores"]["CR"] == pytest.approx(1 / 3)
    assert result["evidence"]["AC"] == [{"phrase": "late", "in": "summary", "start": 15, "end": 19}]
    assert result["evidence"]["CR"] == [{"phrase": "ward round", "in": "recall", "start": 27, "end": 37}]
    (near,) = result["near_misses"]["CR"]
    assert (near["phrase"], near["text"], near["in"]) == ("NPO status violation", "NPO status violated", "signals[0]")


def test_the_plan_is_data() -> None:
    import msgspec

    plan = safe().plan
    assert msgspec.json.decode(msgspec.json.encode(plan), type=CaseScorecardPlan) == plan


def test_a_test_id_that_occurred_before_counts_twice_and_is_reported(tmp_path: Any) -> None:
    done = run(tmp_path, [case("T1"), case("T2"), case("T1")])
    assert done.summary()["total_cases"] == 3
    assert [(warning["test_id"], warning["message"][:12]) for warning in done.warnings] == [("T1", "the test id ")]


@pytest.mark.parametrize("place", ["", "b.json"])
def test_an_output_without_a_case_is_reported(place: str, tmp_path: Any) -> None:
    (tmp_path / "outputs").mkdir()
    done = [{"test_id": name, **case(name)["engine_output"]} for name in ("T1", "T2")]
    for name in ("b.json", "other_batch.json"):
        write(tmp_path / "outputs" / name, done)
    outputs = Outputs(str(tmp_path / "outputs" / place))
    cases = [{key: value for key, value in case("T1").items() if key != "engine_output"}]
    path = write(tmp_path / "b.json", cases)
    found = score_batches(settings(), CaseReader(safe().plan, "I25", outputs), [Batch("b", str(path))])
    assert [each["message"] for each in found.warnings] == [
        "no case has the test id `T2`, so this output is not scored"
    ]
    write(path, [*cases, {**cases[0], "test_id": "T3", "concern_id": "I26"}])  # the output may be of a case left out
    outputs = Outputs(str(tmp_path / "outputs" / place))
    assert not score_batches(settings(), CaseReader(safe().plan, "I25", outputs), [Batch("b", str(path))]).warnings


def test_the_output_of_a_refused_case_is_not_said_to_have_no_case(tmp_path: Any) -> None:
    refused = case("T1")
    outputs = Outputs(str(write(tmp_path / "outputs.json", [{"test_id": "T1", **refused.pop("engine_output")}])))
    refused["expectations"]["event_summary"]["must_contain_phrases"] = "fever, cough"
    path = write(tmp_path / "b.json", [refused])
    found = score_batches(settings(), CaseReader(safe().plan, "I25", outputs), [Batch("b", str(path))])
    assert found.warnings == []
    assert found.errors[0]["message"].endswith('must be a list, not a text; write it like `["fever", "cough"]`')


def test_a_case_that_expects_nothing_passes_and_is_reported(tmp_path: Any) -> None:
    done = run(tmp_path, [case("T1", must=[], phrases=[], forbidden=[])])
    assert next(done.spool.results())["label"] == "Pass"
    assert [warning["message"] for warning in done.warnings] == [
        "the case expects nothing, so every metric has its best score"
    ]


def test_of_very_many_errors_the_first_are_kept_and_all_are_counted(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rulewright_runtime.cases.case_run._MAX_NOTES", 3)
    silent = [{"test_id": f"T{number}"} for number in range(5)]
    done = run(tmp_path, silent)
    assert [error["test_id"] for error in done.errors] == ["T0", "T1", "T2"]
    assert (head(done)["omitted"], head(done)["summary"]["errors"]) == ({"errors": 2}, 5)


def test_a_missing_phrase_is_compared_with_a_run_of_words_in_few_steps(tmp_path: Any) -> None:
    texts = [f"here are four {number}" for number in range(20)]
    runs = len(texts) * (3 + 4 + 2)  # as many words, one less and one more

    def work(phrases: int) -> int:
        missing = [f"xyz {number:03}" for number in range(phrases)]
        path = write(tmp_path / f"{phrases}.json", [case("T1", must=missing, signals=texts)])
        batches = [Batch("b", str(path))]
        return lines_of(lambda: score_batches(settings(), CaseReader(safe().plan), batches, verbose=True))

    work(1)  # which also imports
    assert work(40) - work(20) < 20 * runs * 6
