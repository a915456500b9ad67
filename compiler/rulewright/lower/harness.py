"""From scenarios to a run plan: what a harness says to a model, and nothing else of the scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.lexicon import invalid_regex
from rulewright.documents.scenario import BranchDocument, NumberedTurn, ScenarioDocument, numbered_turns
from rulewright.expression.build import build
from rulewright.expression.compose import fill
from rulewright.expression.environment import Environment
from rulewright.expression.types import BOOL, INT, STRING, ListType
from rulewright.load import Scalar, plain
from rulewright.lower.expressions import build_in
from rulewright.lower.scan_plan import LANGUAGE
from rulewright.spelling import did_you_mean
from rulewright_runtime.harness.harness_plan import RunPlan, Script, ScriptBranch, ScriptSession, ScriptTurn
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.envelope import seal
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction

READS: Final = {
    "contains_any": "values",
    "contains_all": "values",
    "not_contains": "values",
    "regex": "pattern",
    "expression": "when",
}
TEXT_TESTS: Final = {
    "contains_any": "phrases.exists(v, reply.contains_ci(v))",
    "contains_all": "phrases.all(v, reply.contains_ci(v))",
    "not_contains": "!phrases.exists(v, reply.contains_ci(v))",
}
PAGES: Final[dict[str, str]] = {
    "branch-condition-incomplete": """A branch's condition lacks what its type looks for, or holds what nobody reads.

    Why it matters: the branch would be taken always or never, whatever its author meant.
    Instead: give `values` to contains_any, contains_all and not_contains, `pattern` to regex, `when` to expression.
    """,
    "visible-key-missing": """`persona.visible` names a key that the persona does not have.

    Why it matters: the model would not be told what its author believes it knows.
    Instead: correct the name, or add the key to the persona.
    """,
}


@cache
def branch_environment() -> Environment:
    """What a branch's condition sees: `reply`, the assistant's previous message; `replies`, all of them so far, the
    previous one last; `turn`, the number of the turn at hand."""
    return Environment(variables={"reply": STRING, "replies": ListType(STRING), "turn": INT})


def branch_expressions(document: ScenarioDocument) -> list[tuple[Scalar, Environment]]:
    """The conditions of a scenario's branches with their environment."""
    written = [branch.when for turn in document.turns for branch in turn.branches]
    return [(when, branch_environment()) for when in written if when is not None]


def lower_run_plan(
    scenarios: Iterable[ScenarioDocument], redact: tuple[tuple[str, str], ...] = (), *, simulated: bool = False
) -> tuple[RunPlan, list[Diagnostic]]:
    """The sealed run plan of some scenarios, in the order of their ids, and what is wrong with them.

    What `redact` finds, as in a project, stands in no message of the plan. Where a model plays the user (`simulated`),
    the plan holds whole personas.
    """
    found: list[Diagnostic] = []
    redaction = Redaction(redact)
    scripts = tuple(
        _script(scenario, found, redaction, simulated) for scenario in sorted(scenarios, key=lambda each: each.id)
    )
    return seal(RunPlan(LANGUAGE, scripts, redact)), found


def harness_findings(scenario: ScenarioDocument) -> list[Diagnostic]:
    """What stands in the way of playing a scenario."""
    found: list[Diagnostic] = []
    _script(scenario, found)
    return found


def lower_condition(branch: BranchDocument, found: list[Diagnostic]) -> Program | None:
    """The condition of a branch as a program over `reply`; None where a finding says why there is none.

    Phrases are found without regard to case, as substrings; `regex` is searched for likewise (seed 004, conditional
    branching).
    """
    reads = READS.get(branch.type)
    if reads is None:
        return None  # the document's schema has found it
    written = branch.get("condition")
    place = branch.key_place("condition")
    if branch.get("condition", reads) is None:
        message = f"the condition `{branch.type}` of `{branch.branch_id}` needs `{reads}`"
        found.append(error(place, message, code="branch-condition-incomplete"))
        return None
    for key in getattr(written, "keys", ()):
        if key not in ("type", reads):
            message = f"the condition `{branch.type}` does not read `{key}`"
            place = branch.key_place("condition", key)
            found.append(error(place, message, code="branch-condition-incomplete", help=f"it reads `{reads}`"))
    if branch.type == "expression":
        built = None if branch.when is None else build_in(branch.when, branch_environment(), found, expect=BOOL)
        return None if built is None else built.program
    if branch.type == "regex":
        return _pattern(branch, found)
    return build(fill(TEXT_TESTS[branch.type], phrases=branch.values), branch_environment()).program


def _pattern(branch: BranchDocument, found: list[Diagnostic]) -> Program | None:
    written = branch.get("condition", "pattern")
    refused = invalid_regex(written) if isinstance(written, Scalar) else None
    if refused is None:
        return build(
            fill("reply.matches(pattern)", pattern=f"(?i){branch.pattern or ''}"), branch_environment()
        ).program
    found.append(refused)
    return None


def _script(
    scenario: ScenarioDocument, found: list[Diagnostic], redaction: Redaction = NOTHING, simulated: bool = False
) -> Script:
    turns = [(each.session, _turn(each, found, redaction.text)) for each in numbered_turns(scenario)]
    sessions = tuple(
        ScriptSession(each.number or place + 1, tuple(turn for at, turn in turns if at == place), each.elapsed)
        for place, each in enumerate(scenario.sessions)
    )
    sessions = sessions or (ScriptSession(1, tuple(turn for _, turn in turns)),)
    context = tuple((key, redaction.text(value)) for key, value in _context(scenario, found))
    persona = tuple((key, redaction.text(value)) for key, value in _persona(scenario)) if simulated else ()
    return Script(scenario.id, sessions, context, persona)


def _turn(numbered: NumberedTurn, found: list[Diagnostic], redacted: Callable[[str], str]) -> ScriptTurn:
    turn = numbered.turn
    programs = [(branch, lower_condition(branch, found)) for branch in turn.branches]
    branches = tuple(
        ScriptBranch(branch.branch_id, program, redacted(branch.user_message))
        for branch, program in programs
        if program
    )
    return ScriptTurn(numbered.number, redacted(turn.user_message), branches)


def _context(scenario: ScenarioDocument, found: list[Diagnostic]) -> Iterator[tuple[str, str]]:
    """What the persona lets the model see, in the order in which it is named."""
    persona = scenario.persona
    if persona is None:
        return
    written: JsonObject = plain(persona.node)
    for place, key in enumerate(persona.visible):
        if key in written and key != "visible":
            yield key, _shown(written[key])
            continue
        hint = did_you_mean(key, written)
        message = f"the persona has no key `{key}` that could be visible"
        found.append(error(persona.place("visible", place), message, code="visible-key-missing", help=hint))


def _persona(scenario: ScenarioDocument) -> Iterator[tuple[str, str]]:
    """All that the persona says of the user, for a model that plays this person."""
    if scenario.persona is not None:
        written: JsonObject = plain(scenario.persona.node)
        yield from ((key, _shown(value)) for key, value in written.items() if key != "visible")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')}: {_shown(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return str(value)
