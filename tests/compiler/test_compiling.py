"""A project compiles to one plan: the same bytes everywhere, a hash for every check, and every mistake at once."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace
from tests.compiler.small_project import LEXICON, SCENARIO, check, write
from tests.expected_files import holds
from tests.shared_data import folder
from tests.shipped_plans import shipped_plan

import rulewright
from rulewright.check.project_check import compile_project
from rulewright.errors import DocumentError, UsageError
from rulewright.linting.lint_run import lint
from rulewright.project import load_project
from rulewright_grammar import schema
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import VERSION, Plan

ROOT = Path(__file__).resolve().parents[2]
PRINT_PLAN = (
    "import sys, rulewright, rulewright_runtime as r; "
    "sys.stdout.buffer.write(r.encode_plan(rulewright.compile_project(sys.argv[1])))"
)


def test_a_plan_decodes_to_itself(tmp_path: Path) -> None:
    plan = compile_project(write(tmp_path))
    assert decode(encode(plan)) == plan


@pytest.mark.parametrize("place", ["", "invisiblebench"])
def test_a_plan_is_valid_against_its_schema(place: str) -> None:
    folder("invisiblebench")
    document = json.loads(encode(shipped_plan(project=place)))
    jsonschema.Draft202012Validator(schema("plan")).validate(document)


def plan_schema() -> dict[str, object]:
    """The schema of a plan of this version."""
    (reference,), definitions = msgspec.json.schema_components([Plan], ref_template="#/$defs/{name}")
    for each in definitions.values():  # Python indents docstrings until 3.12
        each["description"] = inspect.cleandoc(each["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:rulewright:schema:plan:{VERSION}",
        "title": "A plan: everything a run needs, decided while compiling",
        **reference,
        "$defs": definitions,
    }


def test_the_schema_of_plans_is_that_of_the_structures() -> None:
    text = json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"
    holds(text, ROOT / "grammar" / "rulewright_grammar" / "schemas" / "plan.schema.json")


def test_the_same_project_gives_the_same_bytes_in_every_process() -> None:
    folder("invisiblebench")
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "LC_ALL": "C"}
    command = [sys.executable, "-c", PRINT_PLAN, str(ROOT / "benchmark" / "invisiblebench")]
    elsewhere = subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    assert elsewhere == encode(shipped_plan(project="invisiblebench"))  # of a process with another seed


def test_a_plan_holds_no_path_of_the_machine_it_was_made_on(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b")
    plans = [encode(compile_project(tmp_path / name)) for name in ("a", "b")]
    assert plans[0] == plans[1]
    assert str(tmp_path).encode() not in plans[0]


def test_an_unchanged_check_keeps_its_hash(tmp_path: Path) -> None:
    write(tmp_path, {"checks/W-2.yaml": check(severity="S4").replace("W-1", "W-2")})
    before = compile_project(tmp_path)
    write(tmp_path, {"checks/W-2.yaml": check(severity="S3").replace("W-1", "W-2")})
    after = compile_project(tmp_path)
    assert before.hash != after.hash
    assert before.checks[0].hash == after.checks[0].hash
    assert before.checks[1].hash != after.checks[1].hash


def test_a_new_scenario_leaves_the_hashes_of_checks_alone(tmp_path: Path) -> None:
    before = compile_project(write(tmp_path))
    after = compile_project(write(tmp_path, {"scenarios/day.json": SCENARIO.replace("night", "day")}))
    assert before.hash != after.hash
    assert before.checks[0].hash == after.checks[0].hash


def test_a_remark_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path)
    before = encode(compile_project(tmp_path))
    write(tmp_path, {"checks/W-1.yaml": "# a remark\n" + check() + "note: for people\n"})
    assert encode(compile_project(tmp_path)) == before


def test_a_changed_lexicon_changes_the_plan(tmp_path: Path) -> None:
    text = check(route="lexicon_only", routing="deterministic_precheck: words")
    write(tmp_path, {"checks/W-1.yaml": text})
    before = compile_project(tmp_path)
    write(tmp_path, {"checks/W-1.yaml": text, "lexicons/words.yaml": LEXICON + "  - do it\n"})
    assert compile_project(tmp_path).hash != before.hash


def test_every_error_of_every_file_is_raised_at_once(tmp_path: Path) -> None:
    files = {
        "checks/W-1.yaml": check() + "extra: 1\n",
        "checks/W-2.yaml": check(scorer="repetitions: 5").replace("W-1", "W-2"),
        "scenarios/night.json": '{"scenario_id": "night"}',
    }
    with pytest.raises(DocumentError) as failure:
        compile_project(write(tmp_path, files))
    codes = [found.code for found in failure.value.diagnostics]
    assert sorted(codes) == [
        "missing-key",
        "missing-key",
        "missing-key",
        "scorer-repetitions-contradict-routing",
        "unknown-key",
    ]
    assert codes == [found.code for found in sorted(failure.value.diagnostics, key=lambda found: found.sort_key)]


def test_a_misspelt_key_is_one_error_as_in_lint(tmp_path: Path) -> None:
    wrong = check().replace("primary_bucket:", "primay_bucket:").replace("  route:", "  rout:")
    write(tmp_path, {"checks/W-1.yaml": wrong})
    with pytest.raises(DocumentError) as failure:
        compile_project(tmp_path)
    assert [found.code for found in failure.value.diagnostics] == ["unknown-key", "unknown-key"]
    linted = lint([tmp_path]).errors().diagnostics
    assert failure.value.diagnostics == tuple(replace(each, fix=None) for each in linted)


def test_an_accepted_finding_does_not_stop(tmp_path: Path) -> None:
    files = {"checks/W-1.yaml": check() + "extra: 1\n"}
    accept = "project: p\naccept: [{rule: unknown-key, path: checks, reason: read by another tool}]\n"
    assert compile_project(write(tmp_path, {**files, "rulewright.yaml": accept})).checks


def test_the_profile_and_the_scorecard_are_chosen_by_name_then_by_the_project(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"checks/W-2.yaml": check(route="lexicon_only", routing="deterministic_precheck: words").replace("W-1", "W-2")},
    )
    assert compile_project(tmp_path).profile == "publish"
    assert compile_project(tmp_path, profile="smoke").profile == "smoke"
    card = compile_project(tmp_path, scorecard="reference-compatible").scorecard
    assert card is not None
    assert card.name == "reference-compatible"
    write(tmp_path, {"rulewright.yaml": "project: p\nprofile: smoke\nscorecard: reference-compatible\n"})
    plan = compile_project(tmp_path)
    assert plan.scorecard is not None
    assert (plan.profile, plan.scorecard.name) == ("smoke", "reference-compatible")


def test_an_unknown_profile_or_scorecard_is_a_wrong_use(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(UsageError, match=r"unknown profile `publsh`; did you mean `publish`\?"):
        compile_project(tmp_path, profile="publsh")
    with pytest.raises(UsageError, match=r"unknown scorecard `x`; the project has `"):
        compile_project(tmp_path, scorecard="x")


def test_a_profile_that_selects_nothing_stops(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as failure:
        compile_project(write(tmp_path), profile="smoke")
    assert [found.code for found in failure.value.diagnostics] == ["empty-profile"]


def test_the_published_corpus_stops_under_the_seeds_reading_until_its_findings_are_accepted(tmp_path: Path) -> None:
    data = folder("invisiblebench")
    with pytest.raises(DocumentError) as failure:
        compile_project(data, scorecard="two-tier")
    rules = {found.code for found in failure.value.diagnostics}
    assert "unknown-key" in rules
    accept = "".join(f"  - {{rule: {rule}, reason: known}}\n" for rule in sorted({*rules, "unknown-lexicon"}))
    file = tmp_path / "rulewright.yaml"
    file.write_text(f"project: seed\nroot: {data}\naccept:\n{accept}", encoding="utf-8")
    plan = compile_project(file)
    assert (plan.semantics, len(plan.checks)) == ("seed", 53)


def test_the_front_door_compiles() -> None:
    assert rulewright.compile_project(ROOT / "benchmark").checks
    assert rulewright.load_project(ROOT / "benchmark").checks


def test_a_loaded_project_compiles_as_its_path_does(tmp_path: Path) -> None:
    write(tmp_path)
    assert compile_project(load_project(tmp_path)) == compile_project(tmp_path)
