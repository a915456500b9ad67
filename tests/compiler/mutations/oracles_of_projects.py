"""Oracles of the rules for projects: their conditions, computed from the documents as plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from tests.compiler.mutations.oracles_of_documents import Data, has_edge, is_gate, is_judged, routing, tags
from tests.compiler.mutations.oracles_of_documents import turns as all_turns

from rulewright.spelling import did_you_mean

NAMES_OF_TAGS = ("name", "type", "trigger", "id")
CUES = ("cue", "expected_reply", "forbidden_reply")


class Project:
    """The documents of a project by kind, according to their paths."""

    def __init__(self, files: dict[str, Any]) -> None:
        self.files = files
        self.checks: list[Data] = [data for path, data in files.items() if kind_at(path) == "check"]
        self.scenarios: list[Data] = [data for path, data in files.items() if kind_at(path) == "scenario"]
        self.ids = {check["id"] for check in self.checks}
        self.scoring: Data = files.get("configs/scoring.yaml", {})
        self.profiles: Data = files.get("configs/profiles.yaml", {})
        self.blindspots: Data = files.get("configs/blindspots.yaml", {})
        self.lexicons = self.named("lexicons/")
        self.rules = self.named("configs/rules/")
        self.machines = self.named("checks/state_machines/")
        self.markers = self.named("markers/")

    def named(self, folder: str) -> dict[str, Data]:
        return {PurePath(path).stem: data for path, data in self.files.items() if path.startswith(folder)}

    def unit(self, check: Data) -> str | None:
        """The check's unit of analysis, else its bucket's."""
        if "unit_of_analysis" in routing(check):
            return str(routing(check)["unit_of_analysis"])
        if routing(check)["route"] == "longitudinal_trace":
            return "session_state"
        unit = self.scoring.get("unit_of_analysis_by_bucket", {}).get(check["primary_bucket"])
        return "turn_level" if unit == "turn_level_or_session_state" else unit

    def anchored(self) -> Iterator[tuple[Data, str]]:
        """Each check that an anchor names and that may apply there, with its scenario."""
        for scenario in self.scenarios:
            for anchor in scenario.get("cue_anchors", []):
                for check in self.checks:
                    for _ in range(modes(anchor).count(check["id"])):
                        yield check, scenario["scenario_id"]


def kind_at(path: str) -> str | None:
    """The kind of a project's file; None for files that are not changed."""
    folder = str(PurePath(path).parent)
    if path == "configs/scoring.yaml":
        return "scoring"
    if path == "configs/profiles.yaml":
        return "profiles"
    if path == "configs/blindspots.yaml":
        return "blindspots"
    return {"checks": "check", "scenarios": "scenario", "lexicons": "lexicon"}.get(folder)


def modes(anchor: Data) -> list[str]:
    found: list[str] = anchor.get("modes") or anchor.get("eligible_modes") or []
    return found


def tag_of(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    return next((item[key] for key in NAMES_OF_TAGS if isinstance(item.get(key), str) and item[key]), "")


def borne(scenario: Data) -> set[str]:
    keys = ("failure_mode_tags", "risk_triggers", "tags")
    return {tag_of(item) for key in keys for item in scenario.get(key, [])} - {""}


def silencing(check: Data) -> list[str]:
    found: list[str] = routing(check).get("safety_override_suppressed_by") or []
    return found


def is_silenced(check: Data, scenario: Data) -> bool:
    return bool(set(silencing(check)) & borne(scenario))


def selected(check: Data, scenario: Data) -> bool | None:
    """Whether tags select the check; None where an expression decides."""
    if check.get("scope") == "universal":
        return True
    if "when" in (check.get("eligibility") or {}):
        return None
    return tags(check) in ([], ["any"]) or bool(set(tags(check)) & borne(scenario))


def applies(check: Data, scenario: Data) -> bool | None:
    if check.get("scope") == "universal":
        return True
    listed = scenario.get("eligible_modes")
    return check["id"] in listed if listed else selected(check, scenario)


def some(condition: Callable[[Project, Data, Data], bool]) -> Callable[[Project], bool]:
    """Whether some check meets the condition in some scenario."""
    return lambda project: any(condition(project, c, s) for c in project.checks for s in project.scenarios)


def unreached(project: Project) -> bool:
    return bool(project.scenarios) and any(
        all(applies(check, each) is False or is_silenced(check, each) for each in project.scenarios)
        for check in project.checks
    )


def unborne_tag(project: Project) -> bool:
    known = set().union(*map(borne, project.scenarios)) - {"any"}
    are_listed = all(each.get("eligible_modes") for each in project.scenarios)
    silent = {tag for check in project.checks for tag in silencing(check)}
    selecting = {tag for check in project.checks for tag in tags(check) if not are_listed or did_you_mean(tag, known)}
    return bool(project.scenarios) and not silent | selecting <= {"any", *known}


def unwanted_tag(project: Project) -> bool:
    wanted = {tag for check in project.checks for tag in (*tags(check), *silencing(check))}
    asks = any("when" in (check.get("eligibility") or {}) for check in project.checks)
    reads = asks or any("scenario.tags" in check.get("prompt", "") for check in project.checks)
    keys = ("failure_mode_tags", "risk_triggers", "tags")
    plain = {item for each in project.scenarios for key in keys for item in each.get(key, []) if isinstance(item, str)}
    return bool(wanted) and not reads and not plain <= wanted


def anchors_of(scenario: Data, check: Data) -> int:
    return sum(modes(anchor).count(check["id"]) for anchor in scenario.get("cue_anchors", []))


def missing_anchor(project: Project, check: Data, scenario: Data) -> bool:
    anchored = any(not modes(a) or check["id"] in modes(a) for a in scenario.get("cue_anchors", []))
    condition = tags(check) or (check.get("eligibility") or {}).get("when")
    selects = bool(condition) or check["id"] in scenario.get("eligible_modes", [])
    asked_for = check.get("scope") != "universal" and selects and applies(check, scenario) is True
    return is_judged(check) and project.unit(check) == "event_window" and asked_for and not anchored


def list_contradicts(_: Project, check: Data, scenario: Data) -> bool:
    listed, by_tags = scenario.get("eligible_modes"), selected(check, scenario)
    says = (check.get("eligibility") or {}).get("scenario_tags_any") is not None
    if not listed or not says or check.get("scope") == "universal" or by_tags is None:
        return False
    return by_tags != (check["id"] in listed)


def unasked_prose(project: Project) -> bool:
    if not project.profiles or any(each.get("include_expectations") is True for each in project.profiles.values()):
        return False
    turns = [turn for scenario in project.scenarios for turn in all_turns(scenario)]
    return any(
        not turn.get("rubric") and (turn.get("expected_behaviors") or turn.get("autofail_triggers")) for turn in turns
    )


def named_checks(project: Project) -> Iterator[str]:
    for scenario in project.scenarios:
        yield from scenario.get("eligible_modes", [])
        yield from (name for anchor in scenario.get("cue_anchors", []) for name in modes(anchor))
    yield from (name for name in project.blindspots.values() if name)
    yield from project.files.get("rulewright.yaml", {}).get("system", {}).get("exempt", [])
    for profile in project.profiles.values():
        yield from (*profile.get("include_modes", []), *profile.get("exclude_modes", []))
        yield from re.findall(r'check\.id in \["([^"]+)"\]', str(profile.get("select")))


def buckets_that_count(project: Project) -> set[str]:
    gates = [gate.get("mode_buckets", []) for gate in project.scoring.get("gates", {}).values()]
    dimensions = [each.get("buckets", []) for each in project.scoring.get("quality_dimensions", {}).values()]
    return {bucket for buckets in (*gates, *dimensions) for bucket in buckets}


def uncounted_bucket(project: Project) -> bool:
    counted = buckets_that_count(project)
    return bool(counted) and any(check["primary_bucket"] not in counted for check in project.checks)


def empty_bucket(project: Project) -> bool:
    named = buckets_that_count(project) | set(project.scoring.get("unit_of_analysis_by_bucket", {}))
    return bool(project.checks) and not named <= {check["primary_bucket"] for check in project.checks}


def lexicons_read(project: Project) -> Iterator[str]:
    """Every lexicon that the route of some check reads."""
    for check in project.checks:
        route, finds_cues = routing(check)["route"], is_judged(check) and project.unit(check) == "event_window"
        keys = CUES if route == "cue_response" else ("deterministic_precheck",)
        if finds_cues or route in ("lexicon_only", "regex_with_llm_edge", "hybrid_llm", "three_phase", "cue_response"):
            yield from (routing(check)[key] for key in keys if routing(check).get(key))


def lone_contrast(project: Project) -> bool:
    groups = [s["contrast_group"] for s in project.scenarios if "contrast_group" in s]
    varied = [(s["contrast_group"], s.get("contrast_variable")) for s in project.scenarios if "contrast_group" in s]
    return 1 in Counter(groups).values() or max(Counter(varied).values(), default=0) > 1


def undefined_detector(project: Project) -> bool:
    for check in project.checks:
        known = {*project.lexicons, routing(check).get("state_machine"), routing(check).get("scenario_marker")}
        if project.lexicons and not set(check.get("scorer", {}).get("detectors") or []) <= known:
            return True
    return False


def is_traced(check: Data) -> bool:
    return routing(check)["route"] == "longitudinal_trace" and "prompt" not in check


def addresses_somebody(lexicon: Data) -> bool:
    """Whether more than half of the patterns speak to somebody, as an assistant does."""
    spoken = [str(each).casefold() for each in lexicon["patterns"]]
    to_you = [each for each in spoken if {"you", "your", "yours", "yourself"} & set(re.findall(r"\w+", each))]
    return len(to_you) > len(spoken) - len(to_you)


ORACLES: dict[str, Callable[[Project], bool]] = {
    "anchor_names_ineligible_check": some(lambda _, c, s: anchors_of(s, c) > 0 and applies(c, s) is False),
    "anchor_without_event_window": some(
        lambda project, c, s: anchors_of(s, c) > 0 and applies(c, s) is not False and project.unit(c) != "event_window"
    ),
    "bucket_without_checks": empty_bucket,
    "bucket_without_policy": uncounted_bucket,
    "check_no_scenario_reaches": unreached,
    "contrast_without_counterpart": lone_contrast,
    "cue_lexicon_ignores_the_user": lambda project: any(
        is_judged(check)
        and project.unit(check) == "event_window"
        and routing(check).get("deterministic_precheck") in project.lexicons
        and "role" not in project.lexicons[routing(check)["deterministic_precheck"]]
        and not addresses_somebody(project.lexicons[routing(check)["deterministic_precheck"]])
        for check in project.checks
    ),
    "detector_without_definition": undefined_detector,
    "dev_repetitions_nobody_uses": lambda project: (
        bool(project.profiles)
        and not any(profile.get("use_dev_repetitions") for profile in project.profiles.values())
        and any(routing(check).get("dev_repetitions") is not None for check in project.checks)
    ),
    "event_window_without_anchor": some(missing_anchor),
    "expectation_without_question": unasked_prose,
    "gate_without_blindspot": lambda project: (
        bool(project.blindspots)
        and any(is_gate(check) and check["id"] not in project.blindspots.values() for check in project.checks)
    ),
    "list_and_tags_disagree": some(list_contradicts),
    "listed_check_is_silenced": some(lambda _, c, s: c["id"] in s.get("eligible_modes", []) and is_silenced(c, s)),
    "several_anchors_for_check": some(
        lambda project, c, s: anchors_of(s, c) > 1 and applies(c, s) is not False and project.unit(c) == "event_window"
    ),
    "state_machine_without_definition": lambda project: any(
        routing(check).get("state_machine")
        and routing(check)["state_machine"] not in project.machines
        and not is_traced(check)
        for check in project.checks
    ),
    "tag_no_check_looks_for": unwanted_tag,
    "tag_no_scenario_carries": unborne_tag,
    "unit_of_analysis_missing": lambda project: any(
        (is_judged(check) or has_edge(check)) and "unit_of_analysis" not in routing(check) for check in project.checks
    ),
    "unknown_check": lambda project: bool(project.ids) and not set(named_checks(project)) <= project.ids,
    "unknown_jurisdiction": lambda project: any(
        s["jurisdiction"] not in project.rules for s in project.scenarios if s.get("jurisdiction")
    ),
    "unknown_lexicon": lambda project: not set(lexicons_read(project)) <= project.lexicons.keys(),
    "unknown_marker_set": lambda project: any(
        routing(check)["route"] == "scenario_rule" and routing(check).get("scenario_marker") not in project.markers
        for check in project.checks
    ),
    "unknown_scenario": lambda project: any(
        s["sms_variant_of"] not in {each["scenario_id"] for each in project.scenarios}
        for s in project.scenarios
        if s.get("sms_variant_of")
    ),
}
