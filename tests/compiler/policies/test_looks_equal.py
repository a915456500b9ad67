"""Pairs of policies that look equal and are not: by a verdict nobody wrote, an error, a setting or a text."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.compiler.policies.test_policy_diff import SAFE, WORKFLOW, card

from rulewright.cli import main
from rulewright.policies.compare import policy_diff

DESK = Path("benchmark/service_desk").resolve()


@pytest.mark.parametrize(
    ("one", "two", "where"),
    [
        # A check that owes a record has a verdict of its own, which leaves its gate open.
        (
            {"stops": "v.verdict == FAIL"},
            {"stops": "!(v.verdict in [PASS, UNCLEAR, NOT_APPLICABLE])"},
            "v.eligible && v.primary_bucket == A && !(v.verdict in [PASS, FAIL, UNCLEAR, NOT_APPLICABLE])",
        ),
        ({"rate": "v.verdict != PASS"}, {"rate": "v.verdict in [FAIL, UNCLEAR, NOT_APPLICABLE]"}, None),
        # A check without a bucket is in none of them.
        ({"of": "true"}, {"of": "v.primary_bucket in [A, B, C, D, E, F]"}, None),
        # Both stop the gate; of one nobody knows why, so the row waits for a person.
        ({"stops": "true"}, {"stops": "1 / 0 == 1"}, "v.eligible && v.primary_bucket == A"),
        ({"undecided": "v.verdict != PASS"}, {"undecided": "v.verdict != PASS || 1 / 0 == 1"}, None),
        # A gate that holds a check decides the outcome, one that holds none leaves that to the FAILs.
        (
            {"of": "v.primary_bucket == A && v.verdict == PASS", "stops": "false", "not_run": "passed"},
            {"of": "false", "stops": "false", "not_run": "passed"},
            None,
        ),
        # A key that a check may leave out is not a separate word.
        ({"stops": "v.primary_bucket == A"}, {"stops": "v.check.primary_bucket == A"}, None),
    ],
)
def test_scorecards_that_only_look_equal_are_distinguished_by_rows(
    tmp_path: Path, one: dict[str, str], two: dict[str, str], where: str | None
) -> None:
    found = policy_diff(card(tmp_path, **one), card(tmp_path, **two, name="two"))
    assert found["verdict"] == "different"
    shown = [region for region in found["regions"] if region["witness"] is not None]
    assert shown
    for region in shown:
        before, after = region["row"]["rows"]
        assert before != after
    assert where is None or where in [each for region in shown for each in region["where"]]


def test_a_variable_without_a_value_differs_from_none(tmp_path: Path) -> None:
    pair = []
    for name, condition in (("one", "counts.seen >= 0"), ("two", "counts.seen / 0 == 1")):
        path = card(tmp_path, name=name)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("output:\n", f"variables:\n  - idle: {condition}\noutput:\n"), encoding="utf-8")
        pair.append(path)
    found = policy_diff(*pair)
    assert [region["place"] for region in found["regions"]] == ["variables"]
    assert found["verdict"] == "different"


def test_no_input_is_shown_on_which_both_scorecards_give_the_same_row(tmp_path: Path) -> None:
    one, two = card(tmp_path, of="v.mode_id == 'T-1'"), card(tmp_path, of="v.check_id == 'T-1'", name="two")
    assert policy_diff(one, two)["verdict"] == "equal"
    one, two = card(tmp_path, stops="v.severity == S1"), card(tmp_path, stops="v.check.severity == S1", name="two")
    for region in policy_diff(one, two)["regions"]:
        assert region["witness"] is None or region["row"]["rows"][0] != region["row"]["rows"][1]


def test_policies_that_are_equal_under_their_defaults_only_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = card(tmp_path, stops="v.confidence < least"), card(tmp_path, stops="v.confidence < 0.8", name="two")
    found = policy_diff(one, two)
    assert (found["verdict"], found["under"]) == ("equal", {"least": 0.8})
    assert main(["policy-diff", str(one), str(two)]) == 0
    assert "they decide the same for every input, with least = 0.8" in capsys.readouterr().out
    assert policy_diff(one, two, given={"least": "0.8"})["under"] == {}
    assert policy_diff(one, two, given={"least": "0.7"})["verdict"] == "different"
    other = tmp_path / "other.yaml"
    other.write_text(SAFE.read_text(encoding="utf-8").replace("when: AH < AH_pass", "when: AH < 1.0"), encoding="utf-8")
    assert policy_diff(SAFE, other)["under"].keys() >= {"AH_pass"}
    assert policy_diff(SAFE, SAFE)["under"] == {}


def edited(folder: Path, written: str, changed: str) -> Path:
    """The shipped scorecard over cases with one edit."""
    text = SAFE.read_text(encoding="utf-8")
    assert written in text
    other = folder / "other.yaml"
    other.write_text(text.replace(written, changed, 1), encoding="utf-8")
    return other


def test_a_search_by_meaning_is_part_of_a_scorecard_over_cases(tmp_path: Path) -> None:
    words = "title: AC Misses, plural: misses}"
    found = policy_diff(SAFE, edited(tmp_path, words, f"{words}\n    semantic: {{threshold: 0.9}}"))
    assert found["verdict"] == "undecided"
    assert "metrics.AC.semantic.threshold" in [each["place"] for each in found["settings"]]


@pytest.mark.parametrize(
    ("written", "changed", "expected"),
    [
        ("accepted: Pass", "accepted: Review", ("'Pass, accepted, exit code 0'", "'Pass, exit code 0'")),
        ("Review: 2", "Review: 0", ("'Review, exit code 2'", "'Review, exit code 0'")),
    ],
)
def test_a_label_that_leads_to_something_else_is_a_difference(
    tmp_path: Path, written: str, changed: str, expected: tuple[str, str]
) -> None:
    found = policy_diff(SAFE, edited(tmp_path, written, changed))
    assert found["verdict"] == "different"
    shown = [(each["before"], each["after"]) for each in found["regions"] if each["witness"]]
    assert expected in shown


def test_a_composite_of_other_weights_is_another_one(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    text = SAFE.read_text(encoding="utf-8")
    weights = "[CR_weight, AH_weight, AC_weight]"
    other.write_text(text.replace(weights, "[CR_weight, AC_weight, AC_weight]"), encoding="utf-8")
    assert set(policy_diff(SAFE, other)["under"]) >= {"AH_weight", "AC_weight"}  # all of them are 1 by default
    other.write_text(text.replace(weights, "[1.0, 1.0, 2.0]"), encoding="utf-8")
    assert policy_diff(SAFE, other)["verdict"] != "equal"


def test_a_metric_that_can_not_be_decided_is_an_error_and_does_not_pass(tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    text = SAFE.read_text(encoding="utf-8")
    one.write_text(text.replace("passes: CR >= CR_pass", 'passes: "true"'), encoding="utf-8")
    two.write_text(text.replace("passes: CR >= CR_pass", "passes: 1 / 0 == 1"), encoding="utf-8")
    (region,) = policy_diff(one, two)["regions"]
    assert (region["place"], region["before"], region["after"]) == ("metrics.CR.passes", "holds", "an error")


def check_pair(folder: Path, name: str, written: str, changed: str, project: Path = DESK) -> dict[str, Any]:
    """What is said of a check of the project, and of the same in a copy of the project with one text changed."""
    shutil.copytree(project, folder / "copy")
    for path in (folder / "copy").rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(written, changed), encoding="utf-8")
    return policy_diff(project / "checks" / name, folder / "copy" / "checks" / name)


def test_the_page_shows_what_an_undecided_condition_means_next_to_an_unclear_one(tmp_path: Path) -> None:
    conditions = ("unclear: size(turns) == 1 / 0", 'unclear: "true"')
    paths = []
    for number, condition in enumerate(conditions):
        shutil.copytree(DESK, tmp_path / str(number))
        paths.append(tmp_path / str(number) / "checks/answer-too-long.yaml")
        with paths[-1].open("a", encoding="utf-8") as file:
            file.write(f"\n{condition}\n")
    assert policy_diff(*paths)["verdict"] != "equal"


@pytest.mark.parametrize(("key", "value"), [("agents", "expertise"), ("limits", "max_retries")])
def test_the_files_around_a_workflow_are_part_of_it(tmp_path: Path, key: str, value: str) -> None:
    shutil.copytree(WORKFLOW, tmp_path / "w")
    project = tmp_path / "w/rulewright.yaml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("max_retries: 1", "max_retries: 2"), encoding="utf-8")
    (tmp_path / "w/agents").mkdir()
    (tmp_path / "w/agents/dev.yaml").write_text("name: dev\nrole: {expertise: [prices]}\n", encoding="utf-8")
    found = policy_diff(WORKFLOW / "workflow.yaml", tmp_path / "w/workflow.yaml")
    assert found["verdict"] == "undecided"
    assert any(each["place"].startswith(key) and value in each["place"] for each in found["settings"])


def test_a_check_is_compared_with_the_words_of_its_lexicon(tmp_path: Path) -> None:
    found = check_pair(tmp_path, "investment-advice.yaml", "always goes up", "always goes down")
    assert found["verdict"] == "different"
    assert [(each["before"], each["after"], each["witness"]) for each in found["regions"]] == [
        ("a hit", "no hit", {"text": "'always goes up'"}), ("no hit", "a hit", {"text": "'always goes down'"}),
    ]  # fmt: skip


SHIPPED = """\
project: p
checks: checks
lexicons: checks/lexicons
markers: checks/markers
state_machines: checks/state_machines
"""


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shipped") / "project"
    shutil.copytree("checks", folder / "checks")
    (folder / "rulewright.yaml").write_text(SHIPPED, encoding="utf-8")
    reading = folder / "checks/RW-A2.yaml"
    text = reading.read_text(encoding="utf-8")
    reading.write_text(text.replace("no other.", "no other. {{ check.pass_rule }}", 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "written", "changed", "place"),
    [
        ("RW-A2.yaml", "unclear_policy: fail_closed", "unclear_policy: adjudicate", "check.unclear"),
        ("RW-A2.yaml", "the family hesitates", "the family waits", "check.fields.pass_rule"),
        ("RW-A2.yaml", "and no other", "and none besides", "check.verifier.judging.prompt[0].text"),
        ("RW-A5.yaml", "sessions_in_state > 0 ||", "sessions_in_state > 1 ||",
         "state machine.danger_followed_up.transitions[3].when"),
    ],
)  # fmt: skip
def test_what_a_check_reads_next_to_its_conditions_is_part_of_it(
    tmp_path: Path, shipped: Path, name: str, written: str, changed: str, place: str
) -> None:
    found = check_pair(tmp_path, name, written, changed, shipped)
    assert found["verdict"] == ("different" if found["regions"] else "undecided")
    assert place in [each["place"] for each in found["settings"]]


def test_a_prompt_is_shown_by_the_lines_that_changed(
    tmp_path: Path, shipped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_pair(tmp_path, "RW-A2.yaml", "You are reviewing", "Review", shipped)
    assert main(["policy-diff", str(shipped / "checks/RW-A2.yaml"), str(tmp_path / "copy/checks/RW-A2.yaml")]) == 1
    said = capsys.readouterr().out
    assert "they ask a judge differently, so only its replies can differ" in said
    assert "changed text check.verifier.judging.prompt[0].text:\n  - You are reviewing" in said
    assert "  + Review" in said


def test_a_list_that_a_prompt_repeats_is_part_of_it(tmp_path: Path, shipped: Path) -> None:
    found = check_pair(tmp_path, "RW-B5.yaml", "    - a diagnosis of the person cared for\n", "", shipped)
    assert found["verdict"] == "different"
    assert [(each["place"], each["before"], each["after"]) for each in found["regions"]] == [
        ("check.prompt", "FAIL", "PASS")
    ]


def test_a_rate_of_nothing_is_the_same_number_however_it_is_written(tmp_path: Path) -> None:
    card = Path("benchmark/configs/scorecards/two-tier.yaml").resolve()
    other, text = tmp_path / "other.yaml", card.read_text(encoding="utf-8")
    assert "empty: 0}" in text
    other.write_text(text.replace("empty: 0}", "empty: 0.0}"), encoding="utf-8")
    assert policy_diff(card, other)["verdict"] == "equal"


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        ("coordination", "counts.unclear > 0", "counts.unclear > 1", "output.status"),
        ("rubric", "int(v.extra.of)),", "int(v.extra.of) / 2),", "output.overall_score"),
        ("rubric", "score(1) * int", "score(2) * int", "variables"),
    ],
)
def test_tags_and_further_numbers_of_verdicts_show_what_differs(
    tmp_path: Path, name: str, old: str, new: str, place: str
) -> None:
    card = Path(f"benchmark/configs/scorecards/{name}.yaml").resolve()
    text = card.read_text(encoding="utf-8")
    assert old in text
    other = tmp_path / card.name
    other.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = policy_diff(card, other)
    assert found["verdict"] == "different"
    rows = [region["row"] for region in found["regions"] if region["place"] == place and region["witness"]]
    rows += [found["rows"][place.partition(".")[2]]] if place.startswith("output.") else []
    assert rows
    for row in rows:
        one, two = row["rows"]
        assert one != two
        assert any("tagged" in each["check_id"] or "extra" in each for each in row["verdicts"])


@pytest.mark.parametrize(("key", "old"), [("headline", "headline: service\n"), ("label", "label: decision\n")])
def test_another_headline_or_label_is_shown_by_a_row(tmp_path: Path, key: str, old: str) -> None:
    card = DESK / "scorecards/release.yaml"
    text = card.read_text(encoding="utf-8")
    assert old in text
    other = tmp_path / card.name
    other.write_text(text.replace(old, ""), encoding="utf-8")
    found = policy_diff(card, other)
    (region,) = (each for each in found["regions"] if each["place"] == key)
    one, two = region["row"]["rows"]
    assert found["verdict"] == "different"
    assert one.get(region["before"]) != two.get(region["after"])


@pytest.mark.parametrize("rows", [4, 12])
def test_a_text_distinguishes_every_pair_of_rows_that_search_it(tmp_path: Path, rows: int) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("name: t\nvariables: [{name: word, type_name: string}]\n", encoding="utf-8")
    searches = [f"w{at}x" for at in range(rows)]
    changed = rows // 2
    pair = []
    for name, function in (("one", "contains"), ("two", "startsWith")):
        functions = [function if at == changed else "contains" for at in range(rows)]
        table = [
            f"    - {{condition: \"word.{each}('{text}')\", output: \"'{text}'\"}}\n"
            for each, text in zip(functions, searches, strict=True)
        ]
        pair.append(tmp_path / f"{name}.yaml")
        pair[-1].write_text(f"name: t\nrule:\n  match:\n{''.join(table)}    - output: \"''\"\n", encoding="utf-8")
    found = policy_diff(*pair, config=str(config))
    assert len(found["regions"]) == rows - changed
    for region in found["regions"]:
        word = region["witness"]["word"].strip("'")
        later = [each for each in searches if each in word and each != searches[changed]]
        assert not word.startswith(searches[changed])
        assert [region["before"], region["after"]] == [f"'{searches[changed]}'", f"'{(later or [''])[0]}'"]
