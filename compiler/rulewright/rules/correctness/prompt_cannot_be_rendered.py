import re
from typing import Final

from rulewright.diagnostics import Diagnostic, Findings, Span, error, warning
from rulewright.documents.base import entries
from rulewright.documents.check import CheckDocument
from rulewright.load import Scalar, place
from rulewright.lower.applicability import applies, by_condition, is_suppressed
from rulewright.lower.expressions import prompt_environment
from rulewright.lower.lowering import Prompt, lower_prompt
from rulewright.lower.scan_plan import DEFAULTS, facts
from rulewright.project import Project
from rulewright.spelling import did_you_mean
from rulewright_runtime.errors import EvaluationError
from rulewright_runtime.judging.prompts import filled
from rulewright_runtime.verify import decisions

COMPARED: Final = re.compile(
    r"\bscenario\.(?P<key>jurisdiction) *[!=]= *['\"](?P<word>\w+)"
    r"|['\"](?P<tag>\w+)['\"] +(?:not +)?in +scenario\.tags"
)


def prompt_cannot_be_rendered(project: Project) -> Findings:
    """A prompt reads a missing key, or compares the scenario with a word that no scenario has.

    Why it matters: the judge can't be asked, so every transcript of the scenario gets UNCLEAR and waits for a person.
    Instead: add the key, or read it only where it has a value: `{% if scenario.note != '' %}`.
    """
    yield from _unknown_words(project)
    for check in project.checks if project.semantics == "seed" else ():
        for prompt in _asked(check):
            if "{{" in prompt.text or "{%" in prompt.text:
                yield from _broken(check, prompt, project)


def _asked(check: CheckDocument) -> list[Scalar]:
    """The prompts that are sent to a judge."""
    phases = (check.phases.confirm, check.phases.sweep) if check.routing.route == "three_phase" else ()
    alone = check.prompt if check.is_judged or check.has_edge else None
    return [each for each in (alone, *phases) if each is not None]


def _broken(check: CheckDocument, prompt: Scalar, project: Project) -> Findings:
    mistakes: list[Diagnostic] = []
    lowered = lower_prompt(prompt, prompt_environment(check.vocabulary), mistakes)
    known: dict[str, object] = {"check": {**DEFAULTS, **check.fields}}
    holds = by_condition(check)
    if not mistakes and not project.scenarios and all(root == "check" for root, *_ in lowered.reads):
        failure = _failure(lowered, known)
        key = getattr(failure, "key", None)
        if failure is not None and key not in {each.name for each in entries(check.node, "parameters")}:
            yield error(_place(prompt, key), f"this prompt can't be rendered: {failure}")
    for scenario in project.scenarios.values() if not mistakes else ():
        listed = applies(check, scenario, project.semantics)
        if listed is False or is_suppressed(check, scenario) or (listed is None and not holds(scenario)):
            continue
        known["scenario"] = decisions.facts(scenario.id, facts(scenario, lowered.reads))
        if (failure := _failure(lowered, known)) is not None:
            message = f"this prompt can't be rendered for the scenario `{scenario.id}`: {failure}"
            yield error(
                _place(prompt, getattr(failure, "key", None)),
                message,
                notes=[(scenario.place("scenario_id"), "this scenario")],
            )
            return


def _failure(lowered: Prompt, known: dict[str, object]) -> Exception | None:
    """Why a prompt can't be filled in with what is known; None if it can."""
    try:
        filled(lowered.segments, known)
    except (EvaluationError, TypeError) as failure:
        return failure
    return None


def _place(prompt: Scalar, key: object) -> Span:
    """The place of a missing key in a value or condition of the prompt; the whole prompt if it is not known."""
    found = None if key is None else re.search(rf"\{{[{{%][^}}]*?\b({re.escape(str(key))})\b", prompt.text)
    return place(prompt, found.start(1), found.end(1)) if found else prompt.span


def _unknown_words(project: Project) -> Findings:
    """The words of no scenario with which prompts compare its jurisdiction or its tags."""
    scenarios = project.scenarios.values()
    known = {
        "jurisdiction": {*project.rule_sets} | {each.jurisdiction for each in scenarios if each.jurisdiction},
        "tags": {*project.vocabulary.words("tags"), *(tag for each in scenarios for tag in each.tags)},
    }
    for check in project.checks if project.scenarios else ():
        for prompt in _asked(check):
            for found in COMPARED.finditer(prompt.text):
                key, word = found["key"] or "tags", found["word"] or found["tag"]
                if known[key] and word not in known[key]:
                    span = place(prompt, *found.span("word" if found["word"] else "tag"))
                    yield warning(span, f"no scenario has the {key} `{word}`", help=did_you_mean(word, known[key]))
