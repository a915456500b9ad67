"""Run plans of scenario files, and what a harness run would cost, without calling anything."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, Severity, error
from rulewright.documents.layout import documents_in
from rulewright.documents.scenario import Scenario, read_scenario
from rulewright.documents.scoring import Price
from rulewright.documents.validation import validate
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, load_file
from rulewright.lower.harness import lower_run_plan, scenario_findings
from rulewright.project import Project, stopping
from rulewright_runtime.harness.harness_plan import RunPlan, Script

CHARACTERS_PER_TOKEN: Final = 4  # a rough measure of English text; the estimate says so
USUAL_REPLY: Final = 250  # tokens


def compile_run_plan(paths: Iterable[Path | str], project: Project | None = None) -> RunPlan:
    """The sealed run plan of every scenario in some files and folders; an open one has no turns and is left out.

    Raises `DocumentError` with every mistake that forbids to play them, `UsageError` where there is none to play. With
    a `project`, what it tolerates does not forbid anything, and what it redacts is redacted.
    """
    scenarios, found = load_scenarios(paths)
    found += scenario_findings(scenarios)
    plan, _ = lower_run_plan(
        [scenario for scenario in scenarios if scenario.turns], () if project is None else project.redact
    )
    errors = sorted((each for each in found if each.severity is Severity.ERROR), key=lambda each: each.sort_key)
    stops = errors if project is None else stopping(project, errors)
    if stops:
        raise DocumentError(tuple(dict.fromkeys(stops)))
    if not plan.scripts:
        raise UsageError("there is no scenario to play")
    return plan


def load_scenarios(paths: Iterable[Path | str]) -> tuple[list[Scenario], list[Diagnostic]]:
    """The scenarios in some files and folders, with what is wrong with their structure; of an id given twice the first
    file counts."""
    known: dict[str, Scenario] = {}
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
    plan: RunPlan, model: str | None, price: Price | None, *, reply_tokens: int = USUAL_REPLY, attempts: int = 1
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
    said = sum(len(key) + len(value) for key, value in script.context)
    total = 0
    for place, turn in enumerate(script.turns):
        said += choose([len(turn.user_message), *(len(branch.user_message) for branch in turn.branches)])
        total += -(-said // CHARACTERS_PER_TOKEN) + place * reply_tokens
    return total


def _cost(price: Price | None, sent: int, received: int) -> float | None:
    return None if price is None else (sent * price.input + received * price.output) / 1e6
