"""Oracles of the rules for checks, profiles, lexicons and scenarios: their conditions, computed from plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import re2

Data = dict[str, Any]
VERDICT_ROUTES = {"hybrid_llm", "llm_primary", "longitudinal_trace", "three_phase"}
PROBES = {"abstention", "pronoun_continuity", "recall", "time"}
FORMER = ("criterion_id", "description", "max_points", "scoring_guide", "triggers_hard_fail")


def routing(check: Data) -> Data:
    """The route of a check; a prompt alone means a judge."""
    found: Data = check.get("routing", {"route": "llm_primary"} if "prompt" in check else {})
    return found


def is_judged(check: Data) -> bool:
    route = routing(check).get("route")
    traced = route == "longitudinal_trace" and "state_machine" in routing(check) and "prompt" not in check
    return route in VERDICT_ROUTES and not traced


def has_edge(check: Data) -> bool:
    asks = routing(check).get("route") == "regex_with_llm_edge" and routing(check).get("llm_on_ambiguous") is True
    return asks and check.get("scorer", {}).get("unclear_policy") != "lexicon_is_sufficient"


def stops_gates(check: Data) -> bool:
    return check.get("severity") in ("S5", "S4_GATE")


def is_gate(check: Data) -> bool:
    return stops_gates(check) and check.get("primary_bucket") in ("A", "B")


def tags(check: Data) -> list[str]:
    found: list[str] = (check.get("eligibility") or {}).get("scenario_tags_any") or []
    return found


def adaptive_once(data: Data) -> bool:
    one, key = (routing(data), "repetitions") if "routing" in data else (data, "llm_repetitions")
    return bool(one.get("adaptive_repetitions")) and one.get(key) == 1


def hard_fail_contradicts(check: Data) -> bool:
    return "hard_fail" in check and check["hard_fail"] != stops_gates(check)


def unit_unfit(check: Data) -> bool:
    unit, route = routing(check).get("unit_of_analysis"), routing(check).get("route")
    if unit is None:
        return False
    if route == "longitudinal_trace":
        return unit not in ("session_state", "scenario_level")
    return unit == "extracted_claim" and is_judged(check)


def policy_without_path(check: Data) -> bool:
    edge = routing(check).get("route") == "regex_with_llm_edge" and routing(check).get("llm_on_ambiguous") is True
    return check.get("scorer", {}).get("unclear_policy") == "llm_edge" and not edge


def turns(scenario: Data) -> list[Data]:
    sessions = [turn for session in scenario.get("sessions", []) for turn in session.get("turns", [])]
    return sessions or scenario.get("turns", [])


def number(turn: Data) -> int | None:
    return next((turn[key] for key in ("turn_number", "t", "turn") if turn.get(key) is not None), None)


def numbers(scenario: Data) -> list[int | None]:
    return [number(turn) for turn in turns(scenario)]


def branches(scenario: Data) -> Iterator[tuple[Data, Data]]:
    """Each branch with its turn."""
    yield from ((turn, branch) for turn in turns(scenario) for branch in turn.get("branches", []))


def condition(branch: Data) -> Data:
    found: Data = branch.get("condition", {})
    return found


def owners(scenario: Data) -> Iterator[Data]:
    """Turns and branches, which may have a rubric."""
    yield from turns(scenario)
    yield from (branch for _, branch in branches(scenario))


def criteria(scenario: Data) -> Iterator[Data]:
    for owner in owners(scenario):
        yield from (*owner.get("rubric", []), *owner.get("autofail_rubric", []))


def points_at(scenario: Data) -> Iterator[int]:
    """Every turn that a part of the scenario refers to."""
    for anchor in scenario.get("cue_anchors", []):
        window = anchor.get("response_window", {})
        yield from (each for each in (anchor.get("cue_turn"), window.get("from_turn"), window.get("to_turn")) if each)
    lists = [scenario.get("risk_triggers", []), scenario.get("probes", [])]
    lists += [turn.get("probes", []) for turn in turns(scenario)]
    yield from (each["t"] for items in lists for each in items if isinstance(each, dict) and each.get("t") is not None)


def names_no_turn(scenario: Data) -> bool:
    known = set(numbers(scenario)) - {None}
    return bool(known) and not set(points_at(scenario)) <= known


def ends_too_early(scenario: Data) -> bool:
    for anchor in scenario.get("cue_anchors", []):
        window = anchor.get("response_window", {})
        end = window.get("to_turn")
        if end is not None and any(end < each for each in (window.get("from_turn"), anchor.get("cue_turn")) if each):
            return True
    return False


def always_taken(scenario: Data) -> bool:
    for turn, branch in branches(scenario):
        kind, values = condition(branch).get("type"), condition(branch).get("values", [])
        without = not values and kind in ("contains_all", "not_contains")
        everywhere = (kind == "contains_any" and "" in values) or (kind == "contains_all" and not any(values))
        if turn is not turns(scenario)[0] and (without or everywhere):
            return True
    return False


def has_unread_probe(scenario: Data) -> bool:
    probes = [*scenario.get("probes", []), *(probe for turn in turns(scenario) for probe in turn.get("probes", []))]
    spoken = [item for each in probes if each.get("kind") == "pronoun_continuity" for item in each.get("expected", [])]
    unknown = any(each.get("kind") not in PROBES for each in probes if each.get("kind"))
    return unknown or not all(re.fullmatch(r"\w+(/\w+)+ for .+", item) for item in spoken)


def names_other_turn(scenario: Data) -> bool:
    return any(
        probe.get("t") is not None and number(turn) is not None and probe["t"] != number(turn)
        and probe["t"] in numbers(scenario)
        for turn in turns(scenario)
        for probe in turn.get("probes", [])
    )  # fmt: skip


def has_former_key(scenario: Data) -> bool:
    former = any(key in criterion for criterion in criteria(scenario) for key in FORMER)
    return former or any("turn" in turn for turn in turns(scenario))


def texts(lexicon: Data) -> list[str]:
    """The patterns that are plain texts."""
    return [each for each in lexicon.get("patterns", []) if isinstance(each, str)]


def expressions(data: Data) -> Iterator[str]:
    """The regular expressions of a lexicon or of the branches of a scenario."""
    yield from (each["regex"] for each in data.get("patterns", []) if isinstance(each, dict) and "regex" in each)
    for _, branch in branches(data):
        if condition(branch).get("type") == "regex" and "pattern" in condition(branch):
            yield condition(branch)["pattern"]


def is_refused(expression: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(expression, options)
    except re2.error:
        return True
    return False


def phrases(data: Data) -> Iterator[list[str]]:
    """Every list of texts that are searched for inside others: of a lexicon, or of a scenario's branches."""
    yield texts(data)
    yield from (condition(branch).get("values", []) for _, branch in branches(data))


def has_longer(found: list[str]) -> bool:
    lowered = [each.lower() for each in found if each]
    return any(one in two and one != two for one in lowered for two in lowered)


def has_twice(names: list[Any]) -> bool:
    return len(set(names)) < len(names)


def has_twin(lexicon: Data) -> bool:
    kept = [each.lower() if isinstance(each, str) else each.get("regex", each) for each in lexicon["patterns"]]
    kinds = [isinstance(each, str) for each in lexicon["patterns"]]
    return has_twice(list(zip(kinds, map(str, kept), strict=True)))


ORACLES: dict[str, Callable[[Data], bool]] = {
    "adaptive_with_one_repetition": adaptive_once,
    "any_mixed_with_tags": lambda check: "any" in tags(check) and len(tags(check)) > 1,
    "branch_always_taken": always_taken,
    "branch_changes_nothing": lambda scenario: any(
        turn["branches"][-1].get("user_message") and turn["branches"][-1]["user_message"] == turn.get("user_message")
        for turn in turns(scenario)
        if turn.get("branches")
    ),
    "deprecated_spelling": has_former_key,
    "duplicate_branch_id": lambda scenario: any(
        len({branch["branch_id"] for branch in turn.get("branches", [])}) < len(turn.get("branches", []))
        for turn in turns(scenario)
    ),
    "duplicate_criterion_id": lambda scenario: has_twice(
        [name for each in criteria(scenario) if (name := each.get("id", each.get("criterion_id"))) is not None]
    ),
    "duplicate_pattern": has_twin,
    "even_repetitions": lambda check: (
        is_judged(check) and any((routing(check).get(key) or 1) % 2 == 0 for key in ("repetitions", "dev_repetitions"))
    ),
    "gate_judged_once": lambda check: (
        is_gate(check) and (is_judged(check) or has_edge(check)) and routing(check).get("repetitions") == 1
    ),
    "gate_severity_outside_gate_bucket": lambda check: stops_gates(check) and not is_gate(check),
    "hard_fail_contradicts_severity": hard_fail_contradicts,
    "invalid_regex": lambda data: any(map(is_refused, expressions(data))),
    "probe_names_another_turn": names_other_turn,
    "probe_without_verifier": has_unread_probe,
    "prompt_without_judge": lambda check: "prompt" in check and not is_judged(check) and not has_edge(check),
    "retired_rubric_dialect": lambda scenario: (
        any("kind" not in each for each in criteria(scenario))
        or any("autofail_rubric" in owner for owner in owners(scenario))
    ),
    "short_word_hits_inside_others": lambda data: any(
        0 < len(each) <= 3 and each.isalpha() for found in phrases(data) for each in found
    ),
    "subsumed_pattern": lambda data: any(map(has_longer, phrases(data))),
    "tags_on_universal_check": lambda check: check.get("scope") == "universal" and tags(check) not in ([], ["any"]),
    "turn_numbers_disagree": lambda scenario: any(
        len({turn[key] for key in ("turn_number", "t", "turn") if key in turn}) > 1 for turn in turns(scenario)
    ),
    "turn_numbers_out_of_order": lambda scenario: numbers(scenario) != list(range(1, len(turns(scenario)) + 1)),
    "turn_that_does_not_exist": names_no_turn,
    "unclear_policy_without_its_path": policy_without_path,
    "unit_of_analysis_unfit": unit_unfit,
    "window_ends_before_it_starts": ends_too_early,
}
