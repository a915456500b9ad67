"""Documents compared as policies: what is claimed is what the runtime does with them."""

import itertools
import json
import random
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.rounds import rounds

from rulewright.claims.documents import lowered_alone_or_in, project_around, root_of
from rulewright.cli import main
from rulewright.documents.vocabulary import invisiblebench
from rulewright.errors import UsageError
from rulewright.expression.build import build
from rulewright.expression.environment import Environment
from rulewright.lower.scorecard import verdict_type
from rulewright.policies import example_rows
from rulewright.policies.compare import policy_diff
from rulewright.policies.example_rows import verdicts_of
from rulewright.project import load_project
from rulewright.proving.atoms import TRUE, bits_of
from rulewright_runtime.aggregate.aggregation import Scorecard
from rulewright_runtime.interpreter import prepare
from rulewright_runtime.score import score_of

PAIRS = rounds(2, 500)
SAFE = Path("benchmark/configs/scorecards/safe-v0.yaml").resolve()
WORKFLOW = Path("benchmark/workflows").resolve()
CARD = """\
scorecard: {name}
parameters:
  least: {{type: score, default: {least}}}
gates:
  g:
    of: "{of}"
    stops: "{stops}"
    undecided: "{undecided}"
    empty: {{not_eligible: passed, not_run: {not_run}}}
dimensions:
  d:
    rate: {{of: "{rate}", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate,
            empty: absent}}
    weight: {weight}
counts:
  seen: v.eligible
flags: {{raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}}
output:
  gates: gates
  overall_score: {score}
  hard_fail: "false"
  status: "{status}"
"""
PLAIN = {
    "name": "one", "least": "0.8", "of": "v.primary_bucket == A", "stops": "v.verdict == FAIL",
    "undecided": "v.verdict == UNCLEAR", "not_run": "undecided", "rate": "v.primary_bucket == C", "weight": "1",
    "score": "wmean_present(dimensions, weights)", "status": "counts.seen > 2 ? 'valid' : 'invalid'",
}  # fmt: skip
CONDITIONS = (
    "v.primary_bucket == A", "v.primary_bucket in [A, B]", "v.severity in [S5, S4_GATE]", "v.verdict == FAIL",
    "v.verdict in [FAIL, UNCLEAR]", "v.confidence < least", "v.confidence >= 0.5 && v.verdict != PASS", "!v.eligible",
    "v.adjudication_required || v.severity == S1", "v.verdict == FAIL && v.confidence > 0.7", "v.check_id == 'T-1'",
)  # fmt: skip
ENVIRONMENT = Environment(variables={"v": verdict_type(invisiblebench())})


def card(folder: Path, **changed: str) -> Path:
    parts = {**PLAIN, **changed}
    path = folder / f"{parts['name']}.yaml"
    path.write_text(CARD.format(**parts), encoding="utf-8")
    return path


def test_macros_over_the_gates_are_seen_through(tmp_path: Path) -> None:
    one = card(tmp_path, status="gates.exists(g, gates[g].failed) ? 'invalid' : 'valid'")
    two = card(tmp_path, name="two", status="gates.all(g, !gates[g].failed) ? 'valid' : 'invalid'")
    three = card(tmp_path, name="three", status="gates.all(g, gates[g].passed.orValue(false)) ? 'valid' : 'invalid'")
    assert policy_diff(one, two)["verdict"] == "equal"
    (region,) = policy_diff(one, three)["regions"]
    assert (region["before"], region["after"]) == ("'valid'", "'invalid'")
    assert region["witness"] is not None


TWO_DIMENSIONS = """
  e:
    rate: {of: v.primary_bucket == D, hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate,
           empty: absent}
    weight: "1"
counts:"""


def graded(folder: Path, name: str, weight: str, status: str) -> Path:
    """A card with two dimensions, in a project with a check for each, whose status may read `weighed`."""
    (folder / "checks").mkdir(exist_ok=True)
    (folder / "rulewright.yaml").write_text("project: p\nchecks: checks\n", encoding="utf-8")
    for bucket in "ACD":
        text = f'id: {bucket}\nprimary_bucket: {bucket}\nseverity: S5\nfail: answer == "{bucket}"\n'
        (folder / "checks" / f"{bucket}.yaml").write_text(text, encoding="utf-8")
    path = card(folder, name=name, weight=f'"{weight}"', status=status)
    text = path.read_text(encoding="utf-8").replace("\ncounts:", TWO_DIMENSIONS, 1)
    variables = "variables:\n  - weighed: wmean_present(dimensions, weights)\noutput:"
    path.write_text(text.replace("output:", variables, 1), encoding="utf-8")
    return path


def test_a_changed_weight_is_shown_by_verdicts_of_two_dimensions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grade = "!weighed.hasValue() ? 'none' : weighed.value() >= 0.9 ? 'A' : weighed.value() >= 0.7 ? 'B' : 'C'"
    parts = [graded(tmp_path, name, weight, grade) for name, weight in (("one", "3"), ("two", "2"))]
    assert main(["policy-diff", *map(str, parts)]) == 1
    written = capsys.readouterr().out
    assert "output.status: 'B' -> 'C'\n  where" in written
    assert "  for instance verdicts = C PASS, D FAIL\n" in written
    assert "are neither shown nor proved impossible\n  'A' -> 'B'," in written
    assert "not shown" not in written.partition("output.overall_score")[2].partition("\n\n")[0]


def random_ladder(chance: random.Random) -> str:
    """A status of a few rungs over scores, gates and counts."""
    tests = (
        "!weighed.hasValue()", "weighed.orValue(score(0)) >= {}", "weighed.hasValue() && weighed.value() < {}",
        "gates.g.failed", "gates.exists(g, gates[g].failed)", "gates.all(g, gates[g].passed.orValue(false))",
        "counts.seen > 1", "dimensions.d.orValue(score(1)) <= {}", "dimensions.all(d, dimensions[d].hasValue())",
        "wmean_present(dimensions, {{'d': 1, 'e': 1}}).orValue(score(0)) > {}",
    )  # fmt: skip
    rungs = [each.format(chance.choice((0.4, 0.5, 0.7, 0.75))) for each in chance.sample(tests, 3)]
    return "".join(f"{rung} ? '{label}' : " for rung, label in zip(rungs, "xyz", strict=True)) + "'w'"


def test_every_row_on_which_the_outputs_of_two_random_scorecards_differ_is_in_a_region(tmp_path: Path) -> None:
    chance = random.Random(11)
    different = 0
    for number in range(rounds(2, 400)):
        ladders = [random_ladder(chance), random_ladder(chance)]
        ladders = chance.choice((ladders, ladders[:1] * 2, [ladders[0], ladders[0].replace("0.5", "0.7")]))
        parts = [
            graded(tmp_path, f"{name}{number}", chance.choice("123"), ladder)
            for name, ladder in zip(("one", "two"), ladders, strict=True)
        ]
        project = load_project(tmp_path)
        found = policy_diff(*parts, project=project)
        told = {(each["before"], each["after"]) for each in found["regions"] if each["place"] == "output.status"}
        cards = [Scorecard(lowered_alone_or_in(project, root_of(path))[1]) for path in parts]
        for _ in range(60):
            row = [record(chance) for _ in range(chance.randrange(5))]
            before, after = (each.aggregate(row)["status"] for each in cards)
            if before != after and None not in (before, after):
                assert (f"'{before}'", f"'{after}'") in told, (ladders, row)
                different += 1
    assert different > 20


def record(chance: random.Random) -> SimpleNamespace:
    """A verdict of one of the checks."""
    check_id, verdict = chance.choice("ACD"), chance.choice(("PASS", "PASS", "FAIL", "FAIL", "UNCLEAR"))
    return SimpleNamespace(**verdicts()[0] | {"check_id": check_id, "verdict": verdict, "eligible": True})


def test_a_macro_that_is_a_whole_output_is_seen_through(tmp_path: Path) -> None:
    another = """\
  h:
    of: v.primary_bucket == B
    stops: v.verdict == FAIL
    undecided: v.verdict == UNCLEAR
    empty: {not_eligible: passed, not_run: undecided}
dimensions:"""
    parts = []
    for macro in ("exists", "all"):
        parts.append(path := card(tmp_path, name=macro))
        text = path.read_text(encoding="utf-8").replace("dimensions:", another, 1)
        output = f'hard_fail: "gates.{macro}(g, gates[g].failed)"'
        path.write_text(text.replace('hard_fail: "false"', output), encoding="utf-8")
    found = policy_diff(*parts)
    assert found["verdict"] == "different"
    assert [region["place"] for region in found["regions"]] == ["output.hard_fail"]


def verdicts() -> list[dict[str, Any]]:
    words = itertools.product(
        ("A", "C"), ("S1", "S5"), ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"), (True, False), (0.5, 0.75, 1.0)
    )
    return [
        {
            "check_id": f"T-{at % 2}", "primary_bucket": bucket, "severity": severity, "verdict": verdict,
            "eligible": eligible, "confidence": confidence, "adjudication_required": at % 3 == 0, "extra": {},
            "evidence": [], "secondary_tags": [], "scorer_version": "", "prompt_hash": None, "rationale_code": None,
        }
        for at, (bucket, severity, verdict, eligible, confidence) in enumerate(words)
    ]  # fmt: skip


def decides(card_of: Scorecard, verdict: dict[str, Any]) -> tuple[Any, ...]:
    """What the scorecard's gate and its dimension make of one verdict, by the runtime alone."""
    row = card_of.aggregate([SimpleNamespace(**verdict)])
    return (row["gates"]["g"]["passed"], row["overall_score"])


def test_every_verdict_on_which_two_random_scorecards_differ_is_in_a_region(tmp_path: Path) -> None:
    chance = random.Random(11)
    for _ in range(PAIRS):
        parts = [{key: chance.choice(CONDITIONS) for key in ("of", "stops", "undecided", "rate")} for _ in range(2)]
        if chance.random() < 0.5:
            parts[1] = {**parts[0], chance.choice(["of", "stops", "undecided", "rate"]): chance.choice(CONDITIONS)}
        one, two = card(tmp_path, **parts[0]), card(tmp_path, **parts[1], name="two")
        found = policy_diff(one, two)
        runtime = [Scorecard(lowered_alone_or_in(project_around(path, {}), root_of(path))[1]) for path in (one, two)]
        texts: dict[str, list[Any]] = {"gates.g": [], "dimensions.d": []}
        for region in found["regions"]:
            if region["place"] in texts:
                texts[region["place"]] += [prepare(build(each, ENVIRONMENT).program) for each in region["where"]]
        for verdict in verdicts():
            before, after = (decides(each, verdict) for each in runtime)
            for at, place in enumerate(texts):
                inside = any(bits_of(each, {"v": as_seen(verdict)}) == TRUE for each in texts[place])
                assert inside or before[at] == after[at], (parts, place, verdict)
        for region in found["regions"]:
            rows = region["row"]["rows"]
            if region["place"] == "gates.g" and "stops it" in (region["before"], region["after"]):
                assert rows[0]["gates"] != rows[1]["gates"]


def as_seen(verdict: dict[str, Any]) -> dict[str, Any]:
    return {**verdict, "confidence": score_of(verdict["confidence"])}


def test_a_threshold_a_weight_and_an_output_are_shown_by_rows(tmp_path: Path) -> None:
    one = card(tmp_path)
    assert policy_diff(one, card(tmp_path, name="two", of="!(v.primary_bucket != A)"))["verdict"] == "equal"
    found = policy_diff(one, card(tmp_path, name="two", status="counts.seen > 3 ? 'valid' : 'invalid'"))
    (region,) = found["regions"]
    assert (region["place"], region["before"], region["where"]) == ("output.status", "'valid'", ["counts.seen == 3"])
    assert [row["status"] for row in region["row"]["rows"]] == ["valid", "invalid"]
    failed = [
        card(tmp_path, name=name, status=f"{condition} ? 'invalid' : 'valid'")
        for name, condition in (("f1", "gates.g.failed"), ("f2", "gates.g.passed == optional.of(false)"))
    ]
    assert policy_diff(*failed)["verdict"] == "equal"
    found = policy_diff(one, card(tmp_path, name="two", not_run="passed"))
    assert (found["verdict"], found["settings"][0]["place"]) == ("different", "gates.g.not_run")
    assert [row["gates"]["g"]["passed"] for row in found["rows"]["gates"]["rows"]] == [None, True]
    found = policy_diff(one, card(tmp_path, name="two", weight="2"))
    assert found["verdict"] == "equal"  # of one dimension, the mean is its value
    assert policy_diff(one, card(tmp_path, name="two", least="0.7"))["verdict"] == "equal"  # nothing reads it
    found = policy_diff(*(card(tmp_path, name=name, weight=f"scoring.{name}") for name in ("one", "two")))
    assert [each["place"] for each in found["settings"]] == ["dimensions.d.weight, as written"]


def test_scorecards_of_projects_with_other_semantics_treat_unproven_failures_differently(tmp_path: Path) -> None:
    pair = []
    for semantics in ("seed", "reference"):
        folder = tmp_path / semantics
        folder.mkdir()
        (folder / "rulewright.yaml").write_text(f"project: {semantics}\nsemantics: {semantics}\n", encoding="utf-8")
        pair.append(card(folder, name="mine"))
    found = policy_diff(*pair)
    assert (found["verdict"], [each["place"] for each in found["settings"]]) == ("undecided", ["unproven failures"])


def test_scorecards_of_projects_with_other_words_are_compared_for_the_words_of_both(tmp_path: Path) -> None:
    pair = []
    for name, severities, hit in (("one", "low, high", "== 'high'"), ("two", "low, high, worst", "!= 'low'")):
        folder = tmp_path / name
        folder.mkdir()
        project = f"project: p\nvocabulary: {{severities: [{severities}]}}\n"
        (folder / "rulewright.yaml").write_text(project, encoding="utf-8")
        rate = f'{{of: "v.severity {hit}", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: '
        text = f"scorecard: s\nrates: {{r: {{rate: {rate}adjudicate, empty: absent}}}}}}\n"
        text += "output: {r: rates.r}\nheadline: r\n"
        (folder / "s.yaml").write_text(text, encoding="utf-8")
        pair.append(folder / "s.yaml")
    assert [policy_diff(*each)["verdict"] for each in (pair, pair[::-1])] == ["different", "different"]


def test_a_region_of_outputs_is_shown_by_a_row_that_makes_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example_rows, "MOST_ROWS", 4_000)
    two_tier = SAFE.with_name("two-tier.yaml")
    other = tmp_path / "earlier.yaml"  # stands in no project, so it belongs to that of the first
    other.write_text(two_tier.read_text(encoding="utf-8").replace("default: 0.80", "default: 0.95"), encoding="utf-8")
    found = policy_diff(two_tier, other)
    shown = [each for each in found["regions"] if each["place"] == "output.status"]
    assert {(each["before"], each["after"]) for each in shown} == {
        ("'valid'", "'invalid'"),
        ("'needs_adjudication'", "'invalid'"),
    }
    for each in shown:
        assert each["witness"] is not None
        assert [f"'{row['status']}'" for row in each["row"]["rows"]] == [each["before"], each["after"]]


def test_a_row_shows_what_an_unanswered_question_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example_rows, "MOST_ROWS", 4_000)
    two_tier, other = SAFE.with_name("two-tier.yaml"), tmp_path / "other.yaml"
    text = two_tier.read_text(encoding="utf-8")
    other.write_text(text.replace(" + counts.unanswered > 0", " > 0"), encoding="utf-8")
    (region,) = policy_diff(two_tier, other)["regions"]
    assert [row["status"] for row in region["row"]["rows"]] == ["needs_adjudication", "valid"]
    (unanswered,) = [each for each in region["row"]["verdicts"] if each["verdict"] == "UNCLEAR"]
    assert (unanswered["confidence"], unanswered["adjudication_required"]) == (0, True)


def test_entries_of_a_list_differ_only_for_the_verdicts_that_it_lists(tmp_path: Path) -> None:
    two_tier, other = SAFE.with_name("two-tier.yaml"), tmp_path / "other.yaml"
    text = two_tier.read_text(encoding="utf-8")
    other.write_text(text.replace("'hard_fail' : v.", "'unnamed' : v."), encoding="utf-8")
    (region,) = policy_diff(two_tier, other)["regions"]
    assert (region["place"], region["witness"]["v.verdict"]) == ("lists.hard_fails.each.reason", "FAIL")
    reasons = [[each["reason"] for each in row["hard_fail_reasons"]] for row in region["row"]["rows"]]
    assert reasons == [["hard_fail"], ["unnamed"]]


def test_verdicts_of_a_row_are_reported_once(tmp_path: Path) -> None:
    verdicts = [{"check_id": name, "verdict": "PASS"} for name in ("A", "B", "A", "A")]
    assert verdicts_of({"verdicts": verdicts}) == "A PASS (3 times), B PASS"
    assert verdicts_of({"verdicts": []}) == "no verdicts"


def test_checks_outside_a_project_are_compared_in_a_named_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = SAFE.parents[3] / "checks" / "RW-A1.yaml"
    two = tmp_path / "RW-A1.yaml"
    text = one.read_text(encoding="utf-8")
    two.write_text(text.replace("any: [veiled_hopelessness]", "any: [veiled_hopelessness, grief]"), encoding="utf-8")
    with pytest.raises(UsageError, match="name one with `--project`"):
        policy_diff(one, two)
    assert main(["policy-diff", str(one), str(two), "--project", str(SAFE.parents[2])]) == 1
    assert "eligibility: does not apply -> applies" in capsys.readouterr().out


def test_labels_of_cases_are_compared_score_by_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.yaml"
    row = "{label: Review, when: AH < AH_pass}"
    text = SAFE.read_text(encoding="utf-8")
    assert row in text
    other.write_text(text.replace(row, "{label: Fail, when: AH < AH_pass}"), encoding="utf-8")
    assert main(["policy-diff", str(SAFE), str(SAFE)]) == 0
    assert main(["policy-diff", str(SAFE), str(other)]) == 1
    assert "labels: 'Review' -> 'Fail'" in capsys.readouterr().out


def test_a_threshold_of_a_metric_is_a_region_of_its_score(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    written = SAFE.read_text(encoding="utf-8")
    other.write_text(written.replace("AH_pass: {type: score, default: 1.0", "AH_pass: {type: score, default: 0.9"))
    found = policy_diff(SAFE, other)["regions"]
    assert [(each["place"], each["where"], each["witness"]) for each in found if each["place"] != "labels"] == [
        ("metrics.AH.passes", ["AH >= 0.9 && AH < 1.0"], {"AH": "0.9"})
    ]
    assert all(each["witness"] for each in found)


CONFIG = "name: p\nvariables:\n  - {name: n, type_name: int}\n"
POLICY = """
name: p
rule:
  match:
    - {condition: n > 9, output: "'many'"}
    - {condition: n > 5, output: "'some'"}
    - {output: "'few'"}
"""


@pytest.mark.parametrize(
    ("rows", "changed", "regions"),
    [
        # A uint compares with a double as its nearest double: the greatest one as 2.0 to the power of 64.
        ("{condition: 'u < 18446744073709551616.0', output: 1}, {output: 2}", "{output: 1}", {("rule", "2", "1")}),
        # A condition that always holds gives a value where `true` or none is written, else an optional.
        ("{condition: 'true', output: u}", "{condition: 'true || u == 1u', output: u}",
         {("rule.returns", "a value", "an optional")}),
        # The neighbours of the least int and the last second are not values.
        ("{condition: 'x == {}', output: 1}, {output: 2}",
         "{condition: 'x == {} || x < -9223372036854775808', output: 1}, {output: 2}",
         {("rule", "2", "1"), ("rule", "2", "an error")}),
        ("{condition: 'l.map(n, n + 1).all(n, n >= -9223372036854775808)', output: 1}, {output: 2}",
         "{condition: 'u == 0u && l.map(n, n + 1).all(n, n >= -9223372036854775808)', output: 1}, {output: 2}",
         {("rule", "1", "2"), ("rule", "an error", "2")}),
        ("{condition: x == t, output: 1}, {output: 2}",
         "{condition: \"x == t && x < timestamp('9999-12-31T23:59:59Z')\", output: 1}, {output: 2}",
         {("rule", "1", "2"), ("rule", "1", "an error")}),
    ],
)  # fmt: skip
def test_the_ends_of_the_types_are_compared_as_they_are_executed(
    tmp_path: Path, rows: str, changed: str, regions: set[tuple[str, str, str]]
) -> None:
    config = tmp_path / "config.yaml"
    variables = (
        "{name: u, type_name: uint}",
        "{name: x, type_name: dyn}",
        "{name: t, type_name: timestamp}",
        "{name: l, type_name: list, params: [{type_name: int}]}",
    )
    config.write_text(f"name: p\nvariables: [{', '.join(variables)}]\n")
    for name, text in (("one", rows), ("two", changed)):
        (tmp_path / f"{name}.yaml").write_text(f"name: p\nrule: {{match: [{text}]}}\n")
    found = policy_diff(tmp_path / "one.yaml", tmp_path / "two.yaml", config=str(config))
    assert {(each["place"], each["before"], each["after"]) for each in found["regions"]} == regions


def test_two_policies_are_compared_input_by_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("config", CONFIG), ("one", POLICY), ("two", POLICY.replace("n > 9", "n >= 10"))):
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    Path("three.yaml").write_text(POLICY.replace("n > 9", "n >= 11"), encoding="utf-8")
    assert main(["policy-diff", "one.yaml", "two.yaml", "--config", "config.yaml"]) == 0
    capsys.readouterr()
    assert main(["policy-diff", "one.yaml", "three.yaml", "--config", "config.yaml", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["regions"] == [
        {"place": "rule", "before": "'many'", "after": "'some'", "where": ["n == 10"], "witness": {"n": "10"}}
    ]
    with pytest.raises(UsageError, match="compare two of the same kind"):
        policy_diff(Path("one.yaml"), SAFE)


def test_a_threshold_of_a_workflow_is_a_region_of_its_machine(tmp_path: Path) -> None:
    shutil.copytree(WORKFLOW, tmp_path / "w")
    one, two = tmp_path / "w/workflow.yaml", tmp_path / "w/changed.yaml"
    written = one.read_text(encoding="utf-8")
    two.write_text(written.replace("threshold: 0.90", "threshold: 0.95"), encoding="utf-8")
    assert policy_diff(one, one)["verdict"] == "equal"
    found = policy_diff(one, two)
    assert found["verdict"] == "different"
    assert any("confidence_score >= 0.9 && confidence_score < 0.95" in each["where"][0] for each in found["regions"])


RATE = """\
scorecard: s
rates:
  r: {rate: {of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE], error: adjudicate, empty: 0, credit: "CREDIT"}}
output: {overall_score: rates.r}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("credit", "where"),
    [
        ("v.confidence < 0.5 ? score(0.5) : score(1)", []),
        ("v.confidence >= 0.6 ? score(1) : score(0.5)", ["v.confidence >= 0.5", "v.confidence < 0.6"]),
    ],
)
def test_partial_credit_is_compared_for_every_confidence(tmp_path: Path, credit: str, where: list[str]) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text(RATE.replace("CREDIT", "v.confidence >= 0.5 ? score(1) : score(0.5)"), encoding="utf-8")
    two.write_text(RATE.replace("CREDIT", credit), encoding="utf-8")
    regions = [each for each in policy_diff(one, two)["regions"] if each["place"] == "rates.r"]
    assert [each["where"][0].split(" && ")[:2] for each in regions] == ([where] if where else [])


@pytest.mark.parametrize(
    ("document", "words", "said"),
    [
        ("project: p\n", {}, "can't be compared; expected a scorecard, a policy, a workflow, a check or a lexicon"),
        (RATE.replace("CREDIT", "score(1)"), {"given": {"least": "1"}}, "neither scorecard has a parameter `least`"),
    ],
)
def test_what_can_not_be_compared_is_refused(tmp_path: Path, document: str, words: dict[str, Any], said: str) -> None:
    (tmp_path / "one.yaml").write_text(document, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        policy_diff(tmp_path / "one.yaml", tmp_path / "one.yaml", **words)
