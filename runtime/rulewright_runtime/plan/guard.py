"""The validation of a decoded plan before it runs: sizes, references, expressions, regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Final

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import validate
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.plan.scan import Check, LeftOut, Plan
from rulewright_runtime.plan.verifiers import Corpus, StateMachine
from rulewright_runtime.regex import compile_regex


class PlanLimits(msgspec.Struct, frozen=True):
    """The maximum sizes of a plan."""

    size: int = 64 * 2**20  # bytes of JSON
    checks: int = 10_000
    scenarios: int = 100_000
    patterns: int = 200_000
    pattern_length: int = 10_000
    program_nodes: int = 100_000
    regex_memory: int = 8 * 2**20  # bytes of RE2 program, each pattern


LIMITS: Final = PlanLimits()


def guard(plan: Plan, limits: PlanLimits) -> None:
    """Raise PlanError for the first value in `plan` that the compiler never writes."""
    _check_sizes(plan, limits)
    _check_references(plan)
    _check_programs(plan, limits)
    _check_patterns(plan, limits)


def reading_verdicts(plan: Plan) -> tuple[int, ...]:
    """The indices of the checks that read verdicts of others, each after those it reads. PlanError for a cycle."""
    needs = {index: ids for index, check in enumerate(plan.checks) if (ids := check.verifier.reads())}
    indices = {check.id: index for index, check in enumerate(plan.checks)}
    sorter = TopologicalSorter(
        {index: [indices[name] for name in ids if name in indices] for index, ids in needs.items()}
    )
    try:
        return tuple(index for index in sorter.static_order() if index in needs)
    except CycleError as circle:
        names = " -> ".join(f"`{plan.checks[index].id}`" for index in reversed(circle.args[1]))
        raise PlanError(f"checks read each other's verdicts in a cycle: {names}") from None


def materials(check: Check, plan: Plan) -> dict[str, set[str]]:
    """The keys of the plan's `lexicons`, `machines`, `corpora` and `plugins` that the check uses. The plan may lack a
    lexicon verifier's own lexicon."""
    verifier = check.verifier
    return {
        "lexicons": {*_lexicons_needed(check, plan), *(name for name, _ in verifier.searched())},
        "machines": set(verifier.machines()),
        "corpora": set(verifier.corpora()),
        "plugins": plan.plugins.keys() & calls(check),
    }


def calls(part: object) -> set[str]:
    """The names of the functions that the expressions of a part of a plan call."""
    return {str(node.value) for program in programs_of(part) for node in program.nodes if node.op == "call"}


def _check_sizes(plan: Plan, limits: PlanLimits) -> None:
    sizes = (
        ("checks", len(plan.checks) + len(plan.left_out), limits.checks),
        ("scenarios", len(plan.scenarios), limits.scenarios),
        ("patterns", sum(len(lexicon.patterns) for lexicon in plan.lexicons.values()), limits.patterns),
    )
    for what, size, limit in sizes:
        if size > limit:
            raise PlanError(f"the plan has {size} {what}; at most {limit} are accepted")


def _check_references(plan: Plan) -> None:
    seen: set[str] = set()
    for check in plan.checks:
        if check.id in seen:
            raise PlanError(f"the plan has two checks `{check.id}`")
        if check.severity not in (*plan.severities, ""):
            raise PlanError(f"check `{check.id}` has the severity `{check.severity}`, which the plan does not declare")
        seen.add(check.id)
        for name in _lexicons_needed(check, plan):
            if name not in plan.lexicons:
                raise PlanError(f"check `{check.id}` needs the lexicon `{name}`, which the plan does not contain")
    reading_verdicts(plan)
    for name, machine in plan.machines.items():
        _check_machine(name, machine)


def _check_machine(name: str, machine: StateMachine) -> None:
    named = [machine.initial, *(ending.state for ending in machine.endings)]
    named += [state for part in machine.transitions for state in (*part.before, part.to)]
    named += [state for part in machine.forbidden for state in part.path]
    for state in named:
        if state not in machine.states:
            raise PlanError(f"the state machine `{name}` names the state `{state}`, which it does not have")


def _lexicons_needed(check: Check, plan: Plan) -> Iterator[str]:
    """The lexicons that the plan must hold. A lexicon verifier's own may be missing: then it is UNCLEAR."""
    verifier = check.verifier
    for name in verifier.machines():
        if name not in plan.machines:
            raise PlanError(f"check `{check.id}` needs the state machine `{name}`, which the plan does not contain")
        yield from (part.cue for part in plan.machines[name].transitions)
    for name in verifier.corpora():
        if name not in plan.corpora:
            raise PlanError(f"check `{check.id}` needs the corpus `{name}`, which the plan does not contain")
        yield from _lexicons_of(plan.corpora[name])
    yield from verifier.lexicons()
    for judging in verifier.judgings():
        yield from judging.lexicons()


def _lexicons_of(corpus: Corpus) -> Iterator[str]:
    yield from filter(None, (corpus.claims, corpus.hedges, corpus.promises, corpus.verify_at, corpus.refers_back))
    yield from corpus.places.values()
    for programme in corpus.programmes:
        yield from filter(None, (programme.names, programme.verify_at))
        for fact in programme.facts:
            yield from filter(None, (fact.about, fact.agrees, fact.contradicts))


def _check_programs(plan: Plan, limits: PlanLimits) -> None:
    checks: tuple[Check | LeftOut, ...] = (*plan.checks, *plan.left_out)
    parts: list[tuple[str, object]] = [(f"check `{part.id}`", part) for part in checks]
    parts += [(f"state machine `{name}`", machine) for name, machine in plan.machines.items()]
    for owner, part in [*parts, ("the scorecard", plan.scorecard)]:
        for program in programs_of(part):
            if len(program.nodes) > limits.program_nodes:
                raise PlanError(f"{owner}: an expression has {len(program.nodes)} nodes")
            validate(program)


def _check_patterns(plan: Plan, limits: PlanLimits) -> None:
    for name, lexicon in plan.lexicons.items():
        if not all(each.pattern for each in lexicon.patterns):
            raise PlanError(f"lexicon `{name}` contains an empty pattern, which would match everywhere")
    for owner, pattern, is_regex in _patterns(plan):
        if len(pattern) > limits.pattern_length:
            raise PlanError(f"{owner} contains a pattern of {len(pattern)} characters")
        if is_regex:
            compile_regex(pattern, limits.regex_memory)


def _patterns(plan: Plan) -> Iterator[tuple[str, str, bool]]:
    """Each pattern of the plan with the part that holds it, and whether it is a regular expression."""
    yield from (("`redact`", redacted, True) for redacted, _ in plan.redact)
    for corpus in plan.corpora.values():
        figures = [fact.figure for programme in corpus.programmes for fact in programme.facts]
        yield from (("a corpus", regex, True) for regex in filter(None, (corpus.named, *figures)))
    for name, lexicon in plan.lexicons.items():
        yield from ((f"lexicon `{name}`", each.pattern, each.mode == "regex") for each in lexicon.patterns)
