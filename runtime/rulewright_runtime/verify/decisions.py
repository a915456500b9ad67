"""Decisions: which checks apply to a scenario, which are suppressed, and which conditions are undecided."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.strict_json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright_runtime.ir import Program
    from rulewright_runtime.plan.scan import Check, LeftOut, Plan, Scenario
    from rulewright_runtime.polarity import Decision

    Conditions: TypeAlias = Sequence["_Condition"]
    Applying: TypeAlias = Check | LeftOut  # parts with conditions of eligibility


class Eligibility(msgspec.Struct, frozen=True):
    """Whether a check is suppressed or eligible, its undecided conditions, and `why` it is not eligible."""

    suppressed: bool = False
    eligible: bool = True
    undecided: dict[str, str] = {}
    why: str | None = None


ELIGIBLE: Final = Eligibility()
WITHOUT_SCENARIO: Final = Eligibility(eligible=False, why="no_scenario")


def bindings_of(plan: Plan, scenario_id: str) -> dict[str, object]:
    """The context of expressions without `check`: the scenario, if the conversation has one."""
    return {"scenario": facts(scenario_id, plan.scenarios[scenario_id])} if scenario_id else {}


def facts(scenario_id: str, scenario: Scenario) -> dict[str, object]:
    """The value of `scenario` in expressions."""
    return {
        **scenario.fields,
        "id": scenario_id,
        "title": scenario.title,
        "category": scenario.category,
        "tags": [*scenario.tags],
        "eligible_modes": [*scenario.eligible_modes],
    }


class Decider:
    """Decides for every check of a plan whether it applies, by evaluating its conditions."""

    def __init__(self, parts: Sequence[Applying]) -> None:
        """`parts` are checks, run or left out."""
        self._parts = [(part, _conditions(part)) for part in parts]

    def decide(self, bindings: JsonMapping) -> list[Eligibility]:
        """The eligibility of each check; `bindings` is the context of expressions (`bindings_of`).

        Without a `scenario` a check that reads it is not eligible.
        """
        parts = self._parts if "scenario" in bindings else self._parts_without_scenario
        return [_decided(part, conditions, bindings) for part, conditions in parts]

    @cached_property
    def _parts_without_scenario(self) -> Sequence[tuple[Applying, Conditions | None]]:
        """The parts with the conditions that don't read the scenario; None if the part itself reads it."""
        return [
            (part, None if reads_scenario(part) else [each for each in conditions if not each.reads_scenario])
            for part, conditions in self._parts
        ]


def reads_scenario(part: Applying) -> bool:
    """Whether its eligibility, its `applies`, its prompts or its verifier read the scenario; exemptions don't count."""
    verifier = getattr(part, "verifier", None)
    if verifier is not None and verifier.reads_scenario:
        return True
    parts = (part.eligible, getattr(part, "applies", None), verifier)
    return any(_names_scenario(program) for program in programs_of(parts))


def _names_scenario(program: Program) -> bool:
    """Whether one of the program's candidate names starts with `scenario`."""
    tried = (str(candidate[0]) for node in program.nodes if node.op == "name" for candidate in node.value)
    return any(name.partition(".")[0] == "scenario" for name in tried)


class _Condition(NamedTuple):
    """A condition of a check, under the name of the field that it decides."""

    name: str
    decide: Callable[[JsonMapping], Decision]
    reads_scenario: bool


def _conditions(check: Applying) -> list[_Condition]:
    programs = (("suppressed", check.suppressed), ("eligible", check.eligible))
    if not any(program for _, program in programs):
        return []
    from rulewright_runtime.polarity import Polarity, condition

    polarities = {"suppressed": Polarity.EXEMPTING, "eligible": Polarity.GUARDING}
    return [
        _Condition(name, condition(program, polarities[name]), _names_scenario(program))
        for name, program in programs
        if program is not None
    ]


def _decided(check: Applying, conditions: Conditions | None, bindings: Mapping[str, object]) -> Eligibility:
    if conditions is None:
        return WITHOUT_SCENARIO
    if not conditions:
        return ELIGIBLE
    context = {**bindings, "check": check.fields}
    undecided: dict[str, str] = {}
    answers = {"suppressed": False, "eligible": True}
    for name, decide, _ in conditions:
        decision = decide(context)
        answers[name] = decision.holds
        if decision.undecided is not None:
            undecided[name] = decision.undecided
    return Eligibility(answers["suppressed"], answers["eligible"], undecided)
