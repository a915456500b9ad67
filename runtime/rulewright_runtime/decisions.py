"""Decisions: which checks apply to a scenario, which are silenced there, and what of that can't be decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright_runtime.plan import Check, LeftOut, Plan, Scenario
    from rulewright_runtime.polarity import Decision

    Applying: TypeAlias = Check | LeftOut  # what applies to some scenarios and not to others


class Decided(msgspec.Struct, frozen=True):
    """Whether a check is suppressed or eligible, and what of that could not be decided."""

    suppressed: bool = False
    eligible: bool = True
    undecided: dict[str, str] = {}


ELIGIBLE: Final = Decided()
LETTERS: Final = {"e": ELIGIBLE, "n": Decided(eligible=False), "s": Decided(suppressed=True)}


def facts(scenario_id: str, scenario: Scenario) -> dict[str, Any]:
    """What expressions see as `scenario`."""
    return {
        **scenario.fields,
        "id": scenario_id,
        "title": scenario.title,
        "category": scenario.category,
        "tags": scenario.tags,
        "eligible_modes": scenario.eligible_modes,
    }


class Decider:
    """Answers for every check of a plan, from what was decided while compiling or by evaluating its conditions."""

    def __init__(self, plan: Plan, parts: Sequence[Applying] | None = None) -> None:
        """For `parts` of the plan, else its checks. Evaluators are prepared only where something is still open."""
        self._parts = plan.checks if parts is None else parts
        self._place = {scenario_id: place for place, scenario_id in enumerate(sorted(plan.scenarios))}
        self._conditions: dict[str, list[tuple[str, Callable[[Mapping[str, Any]], Decision]]]] = {}
        for check in self._parts:
            if not check.decided or "?" in check.decided:
                self._conditions[check.id] = _conditions(check)

    def decide(self, scenario_id: str, bindings: Mapping[str, Any]) -> list[Decided]:
        """What holds for every check in a scenario of the plan; `bindings` is what expressions see of it."""
        place = self._place[scenario_id]
        return [
            LETTERS.get(check.decided[place : place + 1])
            or _evaluated(check, self._conditions.get(check.id, []), bindings)
            for check in self._parts
        ]


def decided(plan: Plan, parts: Sequence[Applying] | None = None) -> list[str]:
    """For every check (or each of `parts`) a letter for every scenario of the plan, as `Check.decided` says."""
    open_parts = [_undecided(part) for part in (plan.checks if parts is None else parts)]
    decider = Decider(plan, open_parts)
    columns = [
        [_letter(answer) for answer in decider.decide(key, {"scenario": facts(key, plan.scenarios[key])})]
        for key in sorted(plan.scenarios)
    ]
    return ["".join(column[row] for column in columns) for row in range(len(open_parts))]


def _letter(answer: Decided) -> str:
    if answer.undecided:
        return "?"
    return "s" if answer.suppressed else "e" if answer.eligible else "n"


def _undecided(check: Applying) -> Applying:
    return msgspec.structs.replace(check, decided="")


def _conditions(check: Applying) -> list[tuple[str, Callable[[Mapping[str, Any]], Decision]]]:
    programs = (("suppressed", check.suppressed), ("eligible", check.eligible))
    if not any(program for _, program in programs):
        return []
    from rulewright_runtime.polarity import Place, condition

    places = {"suppressed": Place.EXEMPTING, "eligible": Place.GUARDING}
    return [(name, condition(program, places[name])) for name, program in programs if program is not None]


def _evaluated(
    check: Applying,
    conditions: list[tuple[str, Callable[[Mapping[str, Any]], Decision]]],
    bindings: Mapping[str, Any],
) -> Decided:
    seen = {**bindings, "check": check.fields}
    undecided: dict[str, str] = {}
    answers = {"suppressed": False, "eligible": True}
    for name, condition in conditions:
        decision = condition(seen)
        answers[name] = decision.holds
        if decision.undecided is not None:
            undecided[name] = decision.undecided
    return Decided(answers["suppressed"], answers["eligible"], undecided)
