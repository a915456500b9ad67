"""Lint finds the same in the published corpus as a plain reading of its files: file by file, key by key.

The reading below knows the files as JSON and YAML only, and none of our rules. Every family is an equation: nothing is
missed, and nothing is found beyond it. Findings are compared by file and key (`turns[0].rubric[1].dimension`).
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests import shared_data
from tests.compiler.linting.published import reported

from rulewright.render.json_output import Keys

Place = tuple[str, str]  # a file below the corpus, a path in it
JUDGES: Final = {"hybrid_llm", "llm_primary", "longitudinal_trace"}
ROUTE_OF: Final = {"hybrid": "hybrid_llm", "llm_verifier": "llm_primary", "lexicon": "lexicon_only"}
GATE: Final = {"S5", "S4_GATE"}


@dataclass(frozen=True)
class Corpus:
    """The files as plain data, by their paths."""

    checks: dict[str, Any]
    scenarios: dict[str, Any]
    lexicons: dict[str, Any]

    def check(self, name: str) -> Any:
        """A check by its id."""
        return next(check for check in self.checks.values() if check["id"] == name)

    def tags(self) -> set[str]:
        """Every tag that a scenario bears."""
        return {tag for scenario in self.scenarios.values() for tag in scenario["failure_mode_tags"]}

    def unit(self, check: Any) -> str:
        """The unit of analysis, its bucket's where it has none."""
        units = {"A": "event_window", "B": "turn_level", "C": "local_exchange", "D": "local_exchange"}
        longitudinal = check["routing"]["route"] == "longitudinal_trace"
        default = "session_state" if longitudinal else units.get(check["primary_bucket"], "turn_level")
        return str(check["routing"].get("unit_of_analysis", default))


@cache
def corpus() -> Corpus:
    """The published corpus."""
    root = shared_data.folder("invisiblebench")

    def read(pattern: str) -> dict[str, Any]:
        loaders: dict[str, Callable[[str], Any]] = {".json": json.loads, ".yaml": yaml.safe_load}
        files = (path for path in sorted(root.glob(pattern)) if not path.stem.startswith("_"))
        return {str(path.relative_to(root)): loaders[path.suffix](path.read_text(encoding="utf-8")) for path in files}

    return Corpus(read("checks/*.yaml"), read("scenarios/**/*.json"), read("lexicons/*.yaml"))


@cache
def linted() -> dict[str, list[Place]]:
    """The places of lint's findings by their codes."""
    root = shared_data.folder("invisiblebench")
    report = reported("*")
    keys = Keys(report.sources)
    found: dict[str, list[Place]] = {}
    for each in report.diagnostics:
        found.setdefault(each.code, []).append((os.path.relpath(each.span.path, root), keys.at(each.span) or ""))
    return found


Reading = Callable[[Corpus, Any], Iterator[str]]
FAMILIES: dict[str, Callable[[Corpus], Iterator[Place]]] = {}


def of_scenarios(reading: Reading) -> Reading:
    """A reading of one scenario, which has to agree with the rule of its name in all of them."""
    FAMILIES[reading.__name__.replace("_", "-")] = lambda among: _each(reading, among, among.scenarios)
    return reading


def of_checks(reading: Reading) -> Reading:
    """A reading of one check, which has to agree with the rule of its name in all of them."""
    FAMILIES[reading.__name__.replace("_", "-")] = lambda among: _each(reading, among, among.checks)
    return reading


def _each(reading: Reading, among: Corpus, documents: dict[str, Any]) -> Iterator[Place]:
    for file, document in documents.items():
        yield from ((file, path) for path in reading(among, document))


def turns_of(scenario: Any) -> Iterator[tuple[str, Any]]:
    """The turns with their paths."""
    if "turns" in scenario:
        yield from ((f"turns[{i}]", turn) for i, turn in enumerate(scenario["turns"]))
    for n, session in enumerate(scenario.get("sessions", ())):
        yield from ((f"sessions[{n}].turns[{i}]", turn) for i, turn in enumerate(session["turns"]))


def branches_of(scenario: Any) -> Iterator[tuple[str, Any, Any]]:
    """The branches with their paths and turns."""
    for path, turn in turns_of(scenario):
        yield from ((f"{path}.branches[{i}]", branch, turn) for i, branch in enumerate(turn.get("branches", ())))


@of_scenarios
def anchor_names_ineligible_check(among: Corpus, scenario: Any) -> Iterator[str]:
    """Anchors for checks that do not apply."""
    for i, anchor in enumerate(scenario.get("cue_anchors", ())):
        for j, name in enumerate(anchor["modes"]):
            if among.check(name)["scope"] != "universal" and name not in scenario["eligible_modes"]:
                yield f"cue_anchors[{i}].modes[{j}]"


@of_scenarios
def anchor_without_event_window(among: Corpus, scenario: Any) -> Iterator[str]:
    """Anchors for checks that apply and look at something else."""
    for i, anchor in enumerate(scenario.get("cue_anchors", ())):
        for j, name in enumerate(anchor["modes"]):
            if name in scenario["eligible_modes"] and among.unit(among.check(name)) != "event_window":
                yield f"cue_anchors[{i}].modes[{j}]"


@of_scenarios
def several_anchors_for_check(among: Corpus, scenario: Any) -> Iterator[str]:
    """The second anchor of a check that applies and looks at the anchored turns."""
    seen: set[str] = set()
    for i, anchor in enumerate(scenario.get("cue_anchors", ())):
        for j, name in enumerate(anchor["modes"]):
            if name in scenario["eligible_modes"] and among.unit(among.check(name)) == "event_window":
                if name in seen:
                    yield f"cue_anchors[{i}].modes[{j}]"
                seen.add(name)


@of_scenarios
def event_window_without_anchor(among: Corpus, scenario: Any) -> Iterator[str]:
    """Judged checks of an event window that apply where no anchor names them."""
    anchored = {name for anchor in scenario.get("cue_anchors", ()) for name in anchor["modes"]}
    for i, name in enumerate(scenario["eligible_modes"]):
        check = among.check(name)
        if (
            check["routing"]["route"] in JUDGES
            and among.unit(check) == "event_window"
            and name not in anchored
            and check["scope"] != "universal"
        ):
            yield f"eligible_modes[{i}]"


@of_scenarios
def cue_text_not_in_turn(among: Corpus, scenario: Any) -> Iterator[str]:
    """Cues whose words the user does not say in the turn."""
    said = {turn["turn_number"]: turn["user_message"].lower() for _, turn in turns_of(scenario)}
    for i, anchor in enumerate(scenario.get("cue_anchors", ())):
        if anchor["cue_text_match"].lower() not in said[anchor["cue_turn"]]:
            yield f"cue_anchors[{i}].cue_text_match"


@of_scenarios
def turn_that_does_not_exist(among: Corpus, scenario: Any) -> Iterator[str]:
    """Windows, probes and triggers past the last turn."""
    last = max(turn["turn_number"] for _, turn in turns_of(scenario))
    for i, anchor in enumerate(scenario.get("cue_anchors", ())):
        for key in ("from_turn", "to_turn"):
            if not 1 <= anchor["response_window"][key] <= last:
                yield f"cue_anchors[{i}].response_window.{key}"
    for key in ("probes", "risk_triggers"):
        for i, each in enumerate(scenario.get(key, ())):
            if not 1 <= each["t"] <= last:
                yield f"{key}[{i}].t"


@of_scenarios
def branch_changes_nothing(among: Corpus, scenario: Any) -> Iterator[str]:
    """Branches that send the turn's own message, as all later ones do."""
    for path, branch, turn in branches_of(scenario):
        later = turn["branches"][turn["branches"].index(branch) :]
        if all(each["user_message"] == turn["user_message"] for each in later):
            yield f"{path}.user_message"


@of_checks
def tag_no_scenario_has(among: Corpus, check: Any) -> Iterator[str]:
    """Tags that no scenario bears and that silence a check; none selects one, since all scenarios list their checks."""
    assert all(scenario["eligible_modes"] for scenario in among.scenarios.values())
    for i, tag in enumerate(check["routing"].get("safety_override_suppressed_by", ())):
        if tag not in among.tags():
            yield f"routing.safety_override_suppressed_by[{i}]"
    idle = [
        each["id"]
        for each in among.checks.values()
        if each["scope"] == "trigger" and among.tags().isdisjoint(each["eligibility"]["scenario_tags_any"])
    ]
    if check["id"] == idle[0]:  # one finding, with the others as its notes
        yield "eligibility.scenario_tags_any"


@of_scenarios
def tag_no_check_looks_for(among: Corpus, scenario: Any) -> Iterator[str]:
    """Tags of scenarios that no check names."""
    wanted = {tag for check in among.checks.values() for tag in check["eligibility"]["scenario_tags_any"]}
    wanted |= {
        tag for check in among.checks.values() for tag in check["routing"].get("safety_override_suppressed_by", ())
    }
    for i, tag in enumerate(scenario["failure_mode_tags"]):
        if tag not in wanted:
            yield f"failure_mode_tags[{i}]"


@of_checks
def tags_on_universal_check(among: Corpus, check: Any) -> Iterator[str]:
    """Tags that restrict nothing."""
    if check["scope"] == "universal" and check["eligibility"]["scenario_tags_any"] != ["any"]:
        yield "eligibility.scenario_tags_any"


@of_checks
def unit_of_analysis_missing(among: Corpus, check: Any) -> Iterator[str]:
    """Checks that may ask a judge and do not say what it sees."""
    routing = check["routing"]
    has_edge = routing["route"] == "regex_with_llm_edge" and routing["llm_on_ambiguous"]
    if (routing["route"] in JUDGES or has_edge) and "unit_of_analysis" not in routing:
        yield "routing.route"


@of_checks
def unclear_policy_without_its_path(among: Corpus, check: Any) -> Iterator[str]:
    """`llm_edge` where there is no edge."""
    if check["scorer"]["unclear_policy"] == "llm_edge" and check["routing"]["route"] != "regex_with_llm_edge":
        yield "scorer.unclear_policy"


@of_checks
def scorer_type_contradicts_routing(among: Corpus, check: Any) -> Iterator[str]:
    """A scorer of another type than the route."""
    if ROUTE_OF.get(check["scorer"]["type"], check["scorer"]["type"]) != check["routing"]["route"]:
        yield "scorer.type"


@of_checks
def scorer_repetitions_contradict_routing(among: Corpus, check: Any) -> Iterator[str]:
    """Two numbers of repetitions."""
    if check["scorer"]["repetitions"] != check["routing"]["repetitions"]:
        yield "scorer.repetitions"


@of_checks
def llm_required_contradicts_routing(among: Corpus, check: Any) -> Iterator[str]:
    """A judge's route that needs no judge, or the other way round."""
    if check["routing"]["llm_required"] != (check["routing"]["route"] in JUDGES):
        yield "routing.llm_required"


@of_checks
def hard_fail_contradicts_severity(among: Corpus, check: Any) -> Iterator[str]:
    """`hard_fail` of a severity that stops no gate."""
    if check["hard_fail"] != (check["severity"] in GATE):
        yield "hard_fail"


@of_checks
def gate_severity_outside_gate_bucket(among: Corpus, check: Any) -> Iterator[str]:
    """A gate's severity where no gate looks."""
    if check["severity"] in GATE and check["primary_bucket"] not in "AB":
        yield "severity"


@of_checks
def state_machine_without_definition(among: Corpus, check: Any) -> Iterator[str]:
    """State machines: the corpus defines none."""
    yield from ["routing.state_machine"] * ("state_machine" in check["routing"])


@of_checks
def detector_without_definition(among: Corpus, check: Any) -> Iterator[str]:
    """Detectors that neither a lexicon nor the routing's marker is called; there is one set of markers, no machine."""
    known = {Path(file).stem for file in among.lexicons}
    for i, name in enumerate(check["scorer"].get("detectors", ())):
        if name not in known | {check["routing"].get("scenario_marker")}:
            yield f"scorer.detectors[{i}]"


@pytest.mark.parametrize("code", FAMILIES)
def test_lint_finds_what_a_plain_reading_finds(code: str) -> None:
    assert sorted(linted().get(code, [])) == sorted(FAMILIES[code](corpus()))


def test_every_finding_in_a_document_is_at_a_key_or_a_value() -> None:
    of_files = {"comment-contradicts-files", "reference-to-missing-file", "unread-definitions"}
    assert {code for code, places in linted().items() if any(not key for _, key in places)} <= of_files


def test_every_branch_with_a_typewriters_apostrophe_is_found() -> None:
    """Lexicons and markers are folded, branches are not."""
    expected = []
    for file, scenario in corpus().scenarios.items():
        for path, branch, _ in branches_of(scenario):
            condition = branch["condition"]
            if "'" in condition.get("pattern", ""):
                expected.append((file, f"{path}.condition.pattern"))
            expected += [
                (file, f"{path}.condition.values[{i}]")
                for i, text in enumerate(condition.get("values", ()))
                if "'" in text
            ]
    assert sorted(linted()["ascii-only-apostrophe"]) == sorted(expected)


def test_lists_that_override_tags_are_one_finding_with_the_number_of_pairs() -> None:
    among, left_out, added, files = corpus(), 0, 0, list[str]()
    for file, scenario in among.scenarios.items():
        tags, listed = set(scenario["failure_mode_tags"]), set(scenario["eligible_modes"])
        wanted = {
            check["id"]: set(check["eligibility"]["scenario_tags_any"])
            for check in among.checks.values()
            if check["scope"] != "universal"
        }
        selected = {name for name, sought in wanted.items() if sought == {"any"} or tags & sought}
        silent, extra = selected - listed, wanted.keys() & listed - selected
        if listed and (silent or extra):
            left_out, added, files = left_out + len(silent), added + len(extra), [*files, file]
    ((place, key),) = linted()["list-and-tags-disagree"]
    assert (place in files, key) == (True, "eligible_modes")
    message = next(each.message for each in reported("*").diagnostics if each.code == "list-and-tags-disagree")
    where = f"{len(files)} scenarios"
    assert message == f"`eligible_modes` overrides tags in {where} (checks: {left_out} left out, {added} added)"


def test_expectations_in_prose_are_one_finding_with_the_number_of_turns() -> None:
    turns = [turn for scenario in corpus().scenarios.values() for _, turn in turns_of(scenario)]
    prose = [turn for turn in turns if turn.get("expected_behaviors") or turn.get("autofail_triggers")]
    unasked = [turn for turn in prose if not turn.get("rubric")]
    assert len(linted()["expectation-without-question"]) == 1
    message = next(each.message for each in reported("*").diagnostics if each.code == "expectation-without-question")
    assert message.startswith(f"{len(unasked)} of {len(turns)} turns state expectations only in prose")
