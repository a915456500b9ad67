"""Lowers scenarios to a run plan: the messages that a harness sends to a model, and nothing else of the scenario."""

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


@cache
def branch_environment() -> Environment:
    """The environment of a branch's condition: `reply`, the assistant's previous message; `replies`, all of them so
    far, the previous one last; `turn`, the current turn's number."""
    return Environment(variables={"reply": STRING, "replies": ListType(STRING), "turn": INT})


def branch_expressions(document: ScenarioDocument) -> list[tuple[Scalar, Environment]]:
    """Return the conditions of a scenario's branches, each with its environment."""
    conditions = [branch.when for turn in document.turns for branch in turn.branches]
    return [(when, branch_environment()) for when in conditions if when is not None]


def lower_run_plan(
    scenarios: Iterable[ScenarioDocument], redact: tuple[tuple[str, str], ...] = (), *, simulated: bool = False
) -> tuple[RunPlan, list[Diagnostic]]:
    """Return the sealed run plan of the scenarios, ordered by id, and their findings.

    The patterns of `redact` (a project's) are redacted in every message of the plan. Where a model plays the user
    (`simulated`), the plan holds whole personas.
    """
    findings: list[Diagnostic] = []
    redaction = Redaction(redact)
    scripts = tuple(
        _script(scenario, findings, redaction, simulated) for scenario in sorted(scenarios, key=lambda each: each.id)
    )
    return seal(RunPlan(LANGUAGE, scripts, redact)), findings


def harness_findings(scenario: ScenarioDocument) -> list[Diagnostic]:
    """Return the findings that prevent a harness from playing the scenario."""
    findings: list[Diagnostic] = []
    _script(scenario, findings)
    return findings


def lower_condition(branch: BranchDocument, findings: list[Diagnostic]) -> Program | None:
    """Return the condition of a branch as a program over `reply`, or None with a finding.

    Phrases match as substrings, ignoring case; `regex` is searched for likewise (seed 004, conditional branching).
    """
    reads = READS.get(branch.type)
    if reads is None:
        return None  # schema validation reports the unknown type
    written = branch.get("condition")
    if branch.get("condition", reads) is None:
        message = f"the condition `{branch.type}` of `{branch.branch_id}` needs `{reads}`"
        findings.append(error(branch.place("condition", "type"), message, code="branch-condition-incomplete"))
        return None
    for key in getattr(written, "keys", ()):
        if key not in ("type", reads):
            message = f"the condition `{branch.type}` does not read `{key}`"
            place = branch.key_place("condition", key)
            findings.append(error(place, message, code="branch-condition-incomplete", help=f"it reads `{reads}`"))
    if branch.type == "expression":
        built = None if branch.when is None else build_in(branch.when, branch_environment(), findings, expect=BOOL)
        return None if built is None else built.program
    if branch.type == "regex":
        return _pattern(branch, findings)
    return build(fill(TEXT_TESTS[branch.type], phrases=branch.values), branch_environment()).program


def _pattern(branch: BranchDocument, findings: list[Diagnostic]) -> Program | None:
    scalar = branch.get("condition", "pattern")
    finding = invalid_regex(scalar) if isinstance(scalar, Scalar) else None
    if finding is None:
        return build(
            fill("reply.matches(pattern)", pattern=f"(?i){branch.pattern or ''}"), branch_environment()
        ).program
    findings.append(finding)
    return None


def _script(
    scenario: ScenarioDocument, findings: list[Diagnostic], redaction: Redaction = NOTHING, simulated: bool = False
) -> Script:
    turns = [(each.session, _turn(each, findings, redaction.text)) for each in numbered_turns(scenario)]
    sessions = tuple(
        ScriptSession(each.number or index + 1, tuple(turn for number, turn in turns if number == index), each.elapsed)
        for index, each in enumerate(scenario.sessions)
    )
    sessions = sessions or (ScriptSession(1, tuple(turn for _, turn in turns)),)
    shown = [f"{key.replace('_', ' ')}: {value}" for key, value in _shown(scenario, findings)]
    context = redaction.text("\n\n".join(filter(None, (scenario.system, "\n".join(shown)))))
    persona = tuple((key, redaction.text(value)) for key, value in _persona(scenario)) if simulated else ()
    return Script(scenario.id, sessions, context, persona)


def _turn(numbered: NumberedTurn, findings: list[Diagnostic], redacted: Callable[[str], str]) -> ScriptTurn:
    turn = numbered.turn
    programs = [(branch, lower_condition(branch, findings)) for branch in turn.branches]
    branches = tuple(
        ScriptBranch(branch.branch_id, program, redacted(branch.user_message))
        for branch, program in programs
        if program
    )
    return ScriptTurn(numbered.number, redacted(turn.user_message), branches)


def _shown(scenario: ScenarioDocument, findings: list[Diagnostic]) -> Iterator[tuple[str, str]]:
    """The keys of the persona that the model sees, in the order of `visible`, with their values."""
    persona = scenario.persona
    if persona is None:
        return
    written: JsonObject = plain(persona.node)
    for index, key in enumerate(persona.visible):
        if key in written and key != "visible":
            yield key, _as_text(written[key])
            continue
        hint = did_you_mean(key, written)
        message = f"the persona has no key `{key}`"
        findings.append(error(persona.place("visible", index), message, code="visible-key-missing", help=hint))


def _persona(scenario: ScenarioDocument) -> Iterator[tuple[str, str]]:
    """The keys of the persona with their values, for a model that plays the user."""
    if scenario.persona is not None:
        written: JsonObject = plain(scenario.persona.node)
        yield from ((key, _as_text(value)) for key, value in written.items() if key != "visible")


def _as_text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')}: {_as_text(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return str(value)
