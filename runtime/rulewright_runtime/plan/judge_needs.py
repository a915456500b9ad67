"""What a plan asks of judges, and searches for before its checks run."""

from __future__ import annotations

from collections.abc import Iterable

from rulewright_runtime.english import plural, some
from rulewright_runtime.errors import PlanError
from rulewright_runtime.plan.question import AnchoredWindow
from rulewright_runtime.plan.scan import Check, Lexicon, Plan
from rulewright_runtime.plan.verifiers import ProbeVerifier, RubricVerifier


def refuse_without_judge(plan: Plan) -> None:
    """Raise PlanError if the plan needs a judge."""
    if asking := needs_judge(plan):
        others = f" and {plural(len(asking) - 1, 'other')}" if len(asking) > 1 else ""
        needing = f"the check `{asking[0]}`{others}"
        where = "name one with `--judge`, or in the project file as `judge.source`"
        raise PlanError(f"the plan needs a judge for {needing}, and none was given; {where}")


def chosen_checks(plan: Plan, names: Iterable[str]) -> frozenset[str]:
    """The ids of the chosen checks of a plan, all of them without `names`. Raises PlanError for an unknown one."""
    known = [check.id for check in plan.checks]
    for name in names:
        if name not in known:
            raise PlanError(f"the plan has no check `{name}`; it has {some([f'`{each}`' for each in known], 10)}")
    return frozenset(names or known)


def needs_judge(plan: Plan) -> list[str]:
    """The ids of the checks that may call a judge."""
    return [check.id for check in plan.checks if any(judging.repetitions for judging in check.verifier.judgings())]


def prompts_of(plan: Plan) -> dict[str, str]:
    """The hash of every prompt that may be sent to a judge, by check id; the second prompt of a check is `ID#2`."""
    judgings = [(check.id, [each for each in check.verifier.judgings() if each.repetitions]) for check in plan.checks]
    return {
        name if number == 1 else f"{name}#{number}": judging.prompt_hash
        for name, each in judgings
        for number, judging in enumerate(each, 1)
    }


def reads_script(check: Check) -> bool:
    """Whether a check depends on the scenario's exact words in a turn: probes, rubrics and anchored windows do."""
    anchored = any(isinstance(judging.window, AnchoredWindow) for judging in check.verifier.judgings())
    return anchored or isinstance(check.verifier, ProbeVerifier | RubricVerifier)


def searched_lexicons(plan: Plan) -> dict[str, dict[str, Lexicon]]:
    """The lexicons that are searched for in all turns of a role before checks run: by role, then by name."""
    lexicons: dict[str, dict[str, Lexicon]] = {"user": {}, "assistant": {}}
    for check in plan.checks:
        names = [*check.verifier.searched()]
        names += [(judging.precheck, None) for judging in check.verifier.judgings() if judging.precheck is not None]
        for name, role in names:
            searched = plan.lexicons.get(name)
            for each, by_name in lexicons.items():
                if searched is not None and (role or searched.role) in (each, "both"):
                    by_name[name] = searched
    return lexicons
