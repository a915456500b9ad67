"""The run plan: the user's side of every scenario, as one versioned and content-hashed JSON document.

It holds the user's messages, the conditions of branches, the system message and the visible part of a persona, and
nothing else of a scenario, so that nothing else can leak into a request.

    RunPlan
    `-- scripts    Script, in the order of their ids
        `-- sessions    ScriptSession
            `-- turns       ScriptTurn, with the branches that may replace its message
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import Kind
from rulewright_runtime.plan.guard import LIMITS, PlanLimits
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.regex import compile_regex

FORMAT: Final = "rulewright-run-plan"
VERSION: Final = 1


class ScriptBranch(PlanPart, frozen=True):
    """A message that replaces the turn's when `condition` holds; it sees `reply`, `replies` and `turn`."""

    id: str
    condition: Program
    user_message: str


class ScriptTurn(PlanPart, frozen=True):
    """One turn of the user. Branches are tried in order; the first that holds wins."""

    number: int
    user_message: str
    branches: tuple[ScriptBranch, ...] = ()


class ScriptSession(PlanPart, frozen=True):
    """One session; turn numbers continue across sessions. `elapsed` is shown only to a simulated user."""

    number: int
    turns: tuple[ScriptTurn, ...]
    elapsed: str = ""


class Script(PlanPart, frozen=True):
    """One scenario: `context`, its system message with the visible part of the persona, and the sessions.

    `persona` is the whole persona, only for a model that plays the user.
    """

    id: str
    sessions: tuple[ScriptSession, ...]
    context: str = ""
    persona: tuple[tuple[str, str], ...] = ()

    @property
    def turns(self) -> tuple[ScriptTurn, ...]:
        return tuple(turn for session in self.sessions for turn in session.turns)


class RunPlan(PlanPart, frozen=True):
    """Every scenario of a run. `redact` holds patterns and their replacements for replies; messages are already
    redacted."""

    language: str
    scripts: tuple[Script, ...]
    redact: tuple[tuple[str, str], ...] = ()
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""


KIND: Final = Kind(RunPlan, FORMAT, VERSION, "rulewright harness --dry-run")


def decode(data: bytes, limits: PlanLimits = LIMITS) -> RunPlan:
    """Decode a run plan. Raises PlanError for anything that the compiler never writes."""
    plan = envelope.decode(data, replace(KIND, max_size=limits.size))
    _guard(plan, limits)
    return plan


def _guard(plan: RunPlan, limits: PlanLimits) -> None:
    if not plan.scripts:
        raise PlanError("the run plan has no scenario: nothing would be played")
    if len(plan.scripts) > limits.scenarios:
        raise PlanError(f"the run plan has {len(plan.scripts)} scenarios; at most {limits.scenarios} are accepted")
    for pattern, _ in plan.redact:
        compile_regex(pattern, limits.regex_memory)
    ids: set[str] = set()
    for script in plan.scripts:
        if script.id in ids:
            raise PlanError(f"the run plan has two scenarios `{script.id}`")
        ids.add(script.id)
        if not script.turns:
            raise PlanError(f"the scenario `{script.id}` has no turn: nothing would be played")
        for turn in script.turns:
            for branch in turn.branches:
                if len(branch.condition.nodes) > limits.program_nodes:
                    raise PlanError(f"the condition of branch `{branch.id}` has {len(branch.condition.nodes)} nodes")
                validate(branch.condition)
