"""What a scan does once: which patterns are fused into one pass, which are not and why, and how often each check is
evaluated."""

from collections.abc import Iterator
from typing import Final

from rulewright_runtime.english import plural
from rulewright_runtime.execution import Engine
from rulewright_runtime.matching.match import Matcher, fusions
from rulewright_runtime.plan.judge_needs import searched_lexicons
from rulewright_runtime.plan.question import EachReplyWindow
from rulewright_runtime.plan.scan import Check, Pattern, Plan
from rulewright_runtime.strict_json import JsonMapping, JsonObject

WHY_LITERAL: Final = "it contains U+0307, a part of `İ` in lower case"
WHY_NOT_FUSED: Final = "RE2 is missing, or the patterns of all lexicons are too large for one pass"
ONCE: Final = "once for the scenario"
WORK: Final = {
    "pass": "only where the pass hits",
    "verdicts": "once for the transcript, after the checks it reads",
    "judge_reply": "a judge, for each reply",
    "judge": "a judge, for each window",
    "part": "for each turn, reply, message or call",
    "transcript": "once for the transcript",
}


def fusion_of(plan: Plan) -> JsonObject:
    """Return the fused passes and the work of each check as JSON data.

    `passes` run once over every turn of a role; their hits are confirmed pattern by pattern.
    `apart` are lexicons that are searched without one. `settled` counts, of `records` (checks times scenarios), those
    decided once for all transcripts of a scenario. `work` is the remaining work of each check.
    """
    lexicons_by_role = searched_lexicons(plan)
    matcher = Matcher(lexicons_by_role)
    passes: list[JsonObject] = []
    unfused_patterns: list[dict[str, str]] = []
    for role, lexicons in sorted(lexicons_by_role.items()):
        fused, unfusable = fusions(lexicons)
        is_fused = any(matcher.covers(role, name) for name in lexicons)
        for each in fused if is_fused else ():
            passes.append({"role": role, **each._asdict()})
        uncovered = {} if is_fused else dict.fromkeys(lexicons.keys() - unfusable.keys())
        unfused_patterns += [
            _unfused(role, name, pattern) for name, pattern in sorted({**unfusable, **uncovered}.items())
        ]
    engine = Engine(plan, prefilter=True)
    settled = [engine.constant_in(name) for name in sorted(plan.scenarios) or [""]]
    return {
        "plan": plan.hash,
        "profile": plan.profile,
        "passes": passes,
        "apart": unfused_patterns,
        "records": len(plan.checks) * len(settled),
        "settled": sum(role is None for each in settled for role in each.values()),
        "work": {check.id: _work(check, settled) for check in plan.checks},
    }


def _unfused(role: str, name: str, pattern: Pattern | None) -> dict[str, str]:
    if pattern is None:
        return {"role": role, "lexicon": name, "pattern": "", "why": WHY_NOT_FUSED}
    return {"role": role, "lexicon": name, "pattern": pattern.pattern, "why": WHY_LITERAL}


def _work(check: Check, settled: list[dict[str, str | None]]) -> str:
    """How often a check that its scenario does not settle is evaluated: a key of `WORK`."""
    if any(each.get(check.id) is not None for each in settled):
        return "pass"
    judgings = [each for each in check.verifier.judgings() if each.repetitions]
    if judgings:
        return "judge_reply" if isinstance(judgings[-1].window, EachReplyWindow) else "judge"
    if check.verifier.reads():
        return "verdicts"
    return "transcript" if getattr(check.verifier, "each", "conversation") == "conversation" else "part"


def fusion_lines(fusion: JsonMapping) -> Iterator[str]:
    """Format the result of `fusion_of` as lines."""
    yield f"plan {fusion['plan'][:16]}, profile {fusion['profile']}: {plural(len(fusion['work']), 'check')}"
    yield ""
    yield "one pass over every turn of a role finds which patterns may hit; hits are confirmed pattern by pattern"
    for each in fusion["passes"]:
        patterns, lexicons = sum(each["patterns"].values()), len(each["patterns"])
        yield f"  {each['role']:<10}{plural(patterns, 'pattern')} of {plural(lexicons, 'lexicon')}, {_text(each)}"
        yield f"  {'':<10}{', '.join(sorted(each['patterns']))}"
    if not fusion["passes"]:
        yield "  no pattern is looked for in all turns"
    if fusion["apart"]:
        yield ""
        yield "apart, in every turn"
        for each in fusion["apart"]:
            pattern = f" (`{each['pattern']}`)" if each["pattern"] else ""
            yield f"  {each['role']:<10}{each['lexicon']}{pattern}: {each['why']}"
    yield ""
    yield f"{ONCE}: which checks apply, and {fusion['settled']} of {plural(fusion['records'], 'record')}"
    for kind, words in WORK.items():
        checks = [check for check, work in fusion["work"].items() if work == kind]
        if checks:
            yield f"{words}: {', '.join(checks)}"


def _text(each: JsonMapping) -> str:
    if not each["without"]:
        return "ignoring nothing"
    ignored = [*each["without"], *(["case"] if each["case"] else [])]
    return f"ignoring {', '.join(word.replace('_', ' ') for word in ignored)}"
