"""Compiles run plans of scenario files and estimates the cost of a harness run without any call."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from rulewright.check.project_check import scenario_findings
from rulewright.diagnostics import Diagnostic, Severity, error
from rulewright.documents.base import with_vocabulary
from rulewright.documents.layout import documents_in
from rulewright.documents.library import DocumentReader
from rulewright.documents.project_file import ModelPrice
from rulewright.documents.scenario import ScenarioDocument, read_scenario
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.errors import DocumentError, UsageError
from rulewright.lower.harness import lower_run_plan
from rulewright.project import Project, stopping
from rulewright_runtime.english import ticked
from rulewright_runtime.harness.adapters import Adapter
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptTurn
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.harness.play import choose, turn_request
from rulewright_runtime.harness.simulated_user import SimulatedUser
from rulewright_runtime.models.call import CallRequest, ModelAnswer
from rulewright_runtime.transcripts.messages import Turn

CHARACTERS_PER_TOKEN: Final = 4  # rough, for English text; the estimate says so
DEFAULT_REPLY_TOKENS: Final = 250  # tokens
_LETTER: Final = "x"  # the shortest possible message


def compile_run_plan(
    paths: Iterable[Path | str], project: Project | None = None, *, simulated: bool = False
) -> RunPlan:
    """Return the sealed run plan of the scenarios in some files and folders; open ones, without turns, are omitted.

    Raises `DocumentError` with every mistake that prevents playing them, and `UsageError` without a scenario to play.
    A `project` adds its vocabulary, accepted findings and redactions. A plan for a `simulated` user holds the personas.
    """
    paths = list(paths)
    scenarios, findings = load_scenarios(paths, invisiblebench() if project is None else project.vocabulary)
    findings += scenario_findings(scenarios)
    plan, _ = lower_run_plan(
        [scenario for scenario in scenarios if scenario.turns],
        () if project is None else project.redact,
        simulated=simulated,
    )
    errors = sorted((each for each in findings if each.severity is Severity.ERROR), key=lambda each: each.sort_key)
    stops = errors if project is None else stopping(project, errors)
    if stops:
        raise DocumentError(tuple(dict.fromkeys(stops)))
    if not plan.scripts:
        raise UsageError(f"no scenario to play in {ticked(paths)}; expected one with `turns` or `sessions`")
    return plan


def load_scenarios(
    paths: Iterable[Path | str], vocabulary: Vocabulary
) -> tuple[list[ScenarioDocument], list[Diagnostic]]:
    """Return the scenarios in some files and folders, and the findings of their structure; of a duplicate id the first
    file counts."""
    scenarios: dict[str, ScenarioDocument] = {}
    reader = DocumentReader(vocabulary=vocabulary)
    for path in map(Path, paths):
        for root in (reader.read(file, "scenario") for file in documents_in(path, deep=True)):
            scenario = None if root is None else with_vocabulary(read_scenario(root), vocabulary)
            first = None if scenario is None else scenarios.setdefault(scenario.id, scenario)
            if scenario is not None and first is not None and first is not scenario:
                notes = [(first.place("scenario_id"), "it is first used here")]
                message = f"the scenario `{scenario.id}` exists twice"
                reader.findings.append(error(scenario.place("scenario_id"), message, code="duplicate-id", notes=notes))
    return list(scenarios.values()), reader.findings


def run_cost(
    plan: RunPlan,
    model: str | None,
    price: ModelPrice | None,
    *,
    reply_tokens: int = DEFAULT_REPLY_TOKENS,
    attempts: int = 1,
) -> dict[str, Any]:
    """Return the calls and cost of a run as bounds: the lower one takes the shortest message of every turn and one
    attempt, the upper one the longest and all attempts.

    Every turn sends the whole conversation so far. Tokens are estimated from characters; without a price the costs are
    null, never zero.
    """
    lower = [_tokens(script, min, reply_tokens) for script in plan.scripts]
    upper = [_tokens(script, max, reply_tokens) for script in plan.scripts]
    calls = sum(len(script.turns) for script in plan.scripts)
    lower_input, upper_input = sum(lower), sum(upper) * attempts
    return {
        "scenarios": len(plan.scripts),
        "model": model,
        "calls": {"lower": calls, "upper": calls * attempts},
        "input_tokens": {"lower": lower_input, "upper": upper_input},
        "output_tokens": {"lower": calls * reply_tokens, "upper": calls * attempts * reply_tokens},
        "reply_tokens": reply_tokens,
        "pricing_known": price is not None,
        "cost_usd": {
            "lower": _cost(price, lower_input, calls * reply_tokens),
            "upper": _cost(price, upper_input, calls * attempts * reply_tokens),
        },
        "branches": sum(len(turn.branches) for script in plan.scripts for turn in script.turns),
    }


def _tokens(script: Script, choose: Any, reply_tokens: int) -> int:
    """The input tokens of one conversation."""
    size = len(script.context)
    total = 0
    for index, turn in enumerate(script.turns):
        size += choose([len(turn.user_message), *(len(branch.user_message) for branch in turn.branches)])
        total += -(-size // CHARACTERS_PER_TOKEN) + index * reply_tokens
    return total


def _cost(price: ModelPrice | None, sent: int, received: int) -> float | None:
    return None if price is None else (sent * price.input + received * price.output) / 1e6


PlannedCall = tuple[ModelAdapter, CallRequest]  # the speaker that makes a call, and the call


def calls_needed(
    plan: RunPlan, adapter: Adapter, user: SimulatedUser | None, ledger_answer: Callable[[str], ModelAnswer | None]
) -> list[PlannedCall]:
    """Return the calls that a run makes at least, each with its shortest possible prompt.

    Answers in the ledger (`ledger_answer`, by key) cost nothing and continue the conversation. From the first missing
    answer on, the user sends the shortest message of each turn and the others a single letter.
    """
    calls: dict[str, PlannedCall] = {}
    for script in plan.scripts:
        calls |= _calls_of(script, adapter, user, ledger_answer)
    return list(calls.values())


def _calls_of(
    script: Script, adapter: Adapter, user: SimulatedUser | None, ledger_answer: Callable[[str], ModelAnswer | None]
) -> dict[str, PlannedCall]:
    calls: dict[str, PlannedCall] = {}
    so_far: list[Turn] = []

    def answer_of(speaker: ModelAdapter, ask: CallRequest) -> ModelAnswer:
        answer = None if calls else ledger_answer(speaker.key_of(ask))
        if answer is None:
            calls[speaker.key_of(ask)] = (speaker, ask)
        return answer or ModelAnswer(_LETTER, "")

    for session in script.sessions:
        for index, turn in enumerate(session.turns):
            replies = [each.content for each in so_far if each.role == "assistant"]
            words = _shortest(turn) if calls else choose(turn, replies).message
            if user is not None:
                answer = answer_of(user.speaker, user.message_call(script, session, turn.number, words, so_far))
                if not answer.is_whole:
                    return calls  # the conversation ends here
                words = answer.text
            so_far.append(Turn(turn.number, "user", words))
            if not isinstance(adapter, ModelAdapter):
                return calls  # the next message is unknown
            reply = answer_of(adapter, adapter.turn_call(turn_request(script, session, index, so_far))).text
            so_far.append(Turn(turn.number, "assistant", reply))
    return calls


def _shortest(turn: ScriptTurn) -> str:
    """The shortest possible message of a turn."""
    messages = [turn.user_message, *(branch.user_message for branch in turn.branches)]
    return min(messages, key=lambda text: len(text.encode()))
