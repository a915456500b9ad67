"""What a decoded plan must satisfy before anything of it runs: sizes, references, expressions, regular expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan import (
    AnchoredWindow,
    Check,
    JudgeVerifier,
    Judging,
    LeftOut,
    LexiconVerifier,
    Limits,
    LongitudinalVerifier,
    Plan,
    ScenarioRule,
    check_hash,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def guard(plan: Plan, limits: Limits) -> None:
    """Raise PlanError for the first thing in `plan` that an honest compiler never writes."""
    _check_sizes(plan, limits)
    _check_references(plan)
    _check_programs(plan, limits)
    _check_patterns(plan, limits)


def judgings(check: Check) -> Iterator[Judging]:
    """Every question that a check may put to a judge."""
    verifier = check.verifier
    if isinstance(verifier, JudgeVerifier | LongitudinalVerifier):
        yield verifier.judging
    elif isinstance(verifier, LexiconVerifier) and verifier.edge is not None:
        yield verifier.edge.judging


def _check_sizes(plan: Plan, limits: Limits) -> None:
    sizes = (
        ("checks", len(plan.checks) + len(plan.left_out), limits.checks),
        ("scenarios", len(plan.scenarios), limits.scenarios),
        ("patterns", sum(len(lexicon.patterns) for lexicon in plan.lexicons.values()), limits.patterns),
    )
    for what, size, limit in sizes:
        if size > limit:
            raise PlanError(f"the plan has {size} {what}; at most {limit} are accepted")


def _check_references(plan: Plan) -> None:
    everything: tuple[Check | LeftOut, ...] = (*plan.checks, *plan.left_out)
    for part in everything:
        if len(part.decided) not in (0, len(plan.scenarios)):
            raise PlanError(f"check `{part.id}` is decided for another number of scenarios than the plan has")
    seen: set[str] = set()
    for check in plan.checks:
        if check.id in seen:
            raise PlanError(f"the plan has two checks `{check.id}`")
        seen.add(check.id)
        if check.hash != check_hash(check):
            raise PlanError(f"the hash of check `{check.id}` does not match its content")
        for name in _lexicons_needed(check):
            if name not in plan.lexicons:
                raise PlanError(f"check `{check.id}` needs the lexicon `{name}`, which the plan does not hold")


def _lexicons_needed(check: Check) -> Iterator[str]:
    """Names that must be known; a lexicon verifier's own may be missing, because it answers UNCLEAR then."""
    verifier = check.verifier
    if isinstance(verifier, ScenarioRule):
        yield from (verifier.question, verifier.disclosure, verifier.false_claim)
    windows = [judging.window for judging in judgings(check)]
    windows += [verifier.window] if isinstance(verifier, LexiconVerifier) else []
    for window in windows:
        if isinstance(window, AnchoredWindow) and window.cue is not None:
            yield window.cue
    for judging in judgings(check):
        if judging.precheck is not None:
            yield judging.precheck


def _check_programs(plan: Plan, limits: Limits) -> None:
    everything: tuple[Check | LeftOut, ...] = (*plan.checks, *plan.left_out)
    parts: list[tuple[str, object]] = [(f"check `{part.id}`", part) for part in everything]
    for place, part in [*parts, ("the scorecard", plan.scorecard)]:
        for program in _programs(part):
            if len(program.nodes) > limits.program_nodes:
                raise PlanError(f"{place}: an expression has {len(program.nodes)} nodes")
            validate(program)


def _programs(part: object) -> Iterator[Program]:
    """Every expression in a part of the plan, however deep."""
    if isinstance(part, Program):
        yield part
    elif isinstance(part, msgspec.Struct):
        for field in part.__struct_fields__:
            yield from _programs(getattr(part, field))
    elif isinstance(part, tuple):
        for item in part:
            yield from _programs(item)


def _check_patterns(plan: Plan, limits: Limits) -> None:
    for name, lexicon in plan.lexicons.items():
        for pattern in lexicon.patterns:
            if not pattern.pattern:
                raise PlanError(f"lexicon `{name}` holds an empty pattern, which would match everywhere")
            if len(pattern.pattern) > limits.pattern_length:
                raise PlanError(f"lexicon `{name}` holds a pattern of {len(pattern.pattern)} characters")
            if pattern.mode == "regex":
                from rulewright_runtime.regex import compile_regex

                compile_regex(pattern.pattern, limits.regex_memory)
