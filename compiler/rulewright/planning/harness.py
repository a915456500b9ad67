"""Run plans of scenario files, and what a harness run would cost, without calling anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from rulewright.check.scenarios import scenario_findings
from rulewright.diagnostics import Diagnostic, Severity, error
from rulewright.documents.layout import documents_in
from rulewright.documents.scenario import ScenarioDocument, read_scenario
from rulewright.documents.scoring import ModelPrice
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, load_file
from rulewright.lower.harness import lower_run_plan
from rulewright.project import Project, stopping
from rulewright_runtime.calls.call_request import CallRequest
from rulewright_runtime.harness.adapters import Adapter
from rulewright_runtime.harness.branches import choose
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptTurn
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.harness.play import turn_request
from rulewright_runtime.harness.simulated_user import SimulatedUser
from rulewright_runtime.models.call import ModelAnswer
from rulewright_runtime.transcripts.messages import Turn

CHARACTERS_PER_TOKEN: Final = 4  # a rough measure of English text; the estimate says so
USUAL_REPLY: Final = 250  # tokens
_LETTER: Final = "x"  # the shortest that anybody says


def compile_run_plan(
    paths: Iterable[Path | str], project: Project | None = None, *, simulated: bool = False
) -> RunPlan:
    """The sealed run plan of every scenario in some files and folders; an open one has no turns and is left out.

    Raises `DocumentError` with every mistake that forbids to play them, `UsageError` where there is none to play. With
    a `project`, what it tolerates does not forbid anything, and what it redacts is redacted. A plan for a
    `simulated` user holds the personas.
    """
    scenarios, found = load_scenarios(paths)
    found += scenario_findings(scenarios)
    plan, _ = lower_run_plan(
        [scenario for scenario in scenarios if scenario.turns],
        () if project is None else project.redact,
        simulated=simulated,
    )
    errors = sorted((each for each in found if each.severity is Severity.ERROR), key=lambda each: each.sort_key)
    stops = errors if project is None else stopping(project, errors)
    if stops:
        raise DocumentError(tuple(dict.fromkeys(stops)))
    if not plan.scripts:
        raise UsageError("there is no scenario to play")
    return plan


def load_scenarios(paths: Iterable[Path | str]) -> tuple[list[ScenarioDocument], list[Diagnostic]]:
    """The scenarios in some files and folders, with what is wrong with their structure; of an id given twice the first
    file counts."""
    known: dict[str, ScenarioDocument] = {}
    found: list[Diagnostic] = []
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError(f"no such file or folder: `{path}`")
        for file in documents_in(path, deep=True):
            loaded = load_file(file, shown_as=str(file))
            found += loaded.diagnostics
            if loaded.root is None:
                continue
            found += validate("scenario", loaded.root)
            if isinstance(loaded.root, Mapping):
                scenario = read_scenario(loaded.root)
                first = known.setdefault(scenario.id, scenario)
                if first is not scenario:
                    notes = [(first.place("scenario_id"), "it is first used here")]
                    message = f"the scenario `{scenario.id}` exists twice"
                    found.append(error(scenario.place("scenario_id"), message, code="duplicate-id", notes=notes))
    return list(known.values()), found


def run_cost(
    plan: RunPlan, model: str | None, price: ModelPrice | None, *, reply_tokens: int = USUAL_REPLY, attempts: int = 1
) -> dict[str, Any]:
    """How many turns a run sends and what they cost, as bounds: the lower one takes the shortest message of every turn
    and no second attempt, the upper one the longest and all attempts.

    Every turn sends the whole conversation so far. Tokens are estimated from characters; without a price the costs are
    null, never zero.
    """
    lower = [_tokens(script, min, reply_tokens) for script in plan.scripts]
    upper = [_tokens(script, max, reply_tokens) for script in plan.scripts]
    calls = sum(len(script.turns) for script in plan.scripts)
    sent, most = sum(lower), sum(upper) * attempts
    return {
        "scenarios": len(plan.scripts),
        "model": model,
        "calls": {"lower": calls, "upper": calls * attempts},
        "input_tokens": {"lower": sent, "upper": most},
        "output_tokens": {"lower": calls * reply_tokens, "upper": calls * attempts * reply_tokens},
        "reply_tokens": reply_tokens,
        "pricing_known": price is not None,
        "cost_usd": {
            "lower": _cost(price, sent, calls * reply_tokens),
            "upper": _cost(price, most, calls * attempts * reply_tokens),
        },
        "branches": sum(len(turn.branches) for script in plan.scripts for turn in script.turns),
    }


def _tokens(script: Script, choose: Any, reply_tokens: int) -> int:
    """Tokens sent in one conversation."""
    size = sum(len(key) + len(value) for key, value in script.context)
    total = 0
    for place, turn in enumerate(script.turns):
        size += choose([len(turn.user_message), *(len(branch.user_message) for branch in turn.branches)])
        total += -(-size // CHARACTERS_PER_TOKEN) + place * reply_tokens
    return total


def _cost(price: ModelPrice | None, sent: int, received: int) -> float | None:
    return None if price is None else (sent * price.input + received * price.output) / 1e6


Speaking = tuple[ModelAdapter, CallRequest]  # a call of a run, and who makes it


def calls_needed(
    plan: RunPlan, adapter: Adapter, user: SimulatedUser | None, known: Callable[[str], ModelAnswer | None]
) -> list[Speaking]:
    """The calls that a run from the beginning makes at least, each with the shortest prompt that it can have.

    What the ledger holds (`known`, by key) costs nothing, and says what comes next; from the first call on that it does
    not hold, the user says the shortest message of a turn and everybody else a single letter.
    """
    found: dict[str, Speaking] = {}
    for script in plan.scripts:
        found |= _calls_of(script, adapter, user, known)
    return list(found.values())


def _calls_of(
    script: Script, adapter: Adapter, user: SimulatedUser | None, known: Callable[[str], ModelAnswer | None]
) -> dict[str, Speaking]:
    found: dict[str, Speaking] = {}
    so_far: list[Turn] = []

    def spoken(who: ModelAdapter, ask: CallRequest) -> ModelAnswer:
        answer = None if found else known(who.key_of(ask))
        if answer is None:
            found[who.key_of(ask)] = (who, ask)
        return answer or ModelAnswer(_LETTER, "")

    for session in script.sessions:
        for place, turn in enumerate(session.turns):
            replies = [each.content for each in so_far if each.role == "assistant"]
            words = _shortest(turn) if found else choose(turn, replies).message
            if user is not None:
                answer = spoken(user.speaker, user.message_call(script, session, turn.number, words, so_far))
                if not answer.is_whole:
                    return found  # the conversation ends here
                words = answer.text
            so_far.append(Turn(turn.number, "user", words))
            if not isinstance(adapter, ModelAdapter):
                return found  # nobody knows what is said next
            reply = spoken(adapter, adapter.turn_call(turn_request(script, session, place, so_far))).text
            so_far.append(Turn(turn.number, "assistant", reply))
    return found


def _shortest(turn: ScriptTurn) -> str:
    """The shortest message that a turn may hold."""
    messages = [turn.user_message, *(branch.user_message for branch in turn.branches)]
    return min(messages, key=lambda text: len(text.encode()))
