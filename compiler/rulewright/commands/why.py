"""`why`: explain one verdict."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from rulewright.commands.output import answer
from rulewright.errors import UsageError
from rulewright.expression.decompile import decompile
from rulewright.expression.unparse import unparse
from rulewright.render.record import record_lines
from rulewright.reporting.findings import conditions
from rulewright.reporting.judged import open_run
from rulewright.reporting.run_reader import rows
from rulewright.spelling import did_you_mean
from rulewright_runtime.aggregate.outcome import ENGINE
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.scan import Check, LeftOut, Plan
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import one_line, say

WIDTH = 80


def run(args: argparse.Namespace) -> int:
    """Find the verdict and print its explanation; return the exit code."""
    finished = open_run(Path(args.run))
    folder, plan = finished.folder, finished.plan
    check = next((check for check in plan.checks if check.id == args.check), None)
    left_out = next((part for part in plan.left_out if part.id == args.check), None)
    if check is None and left_out is None:
        raise UsageError(f"the run has no check `{args.check}`{_near(args.check, [c.id for c in plan.checks])}")
    scores = _row(folder / "scores.jsonl", transcript_id=args.transcript)
    if scores is None:
        known = [row["transcript_id"] for row in rows(folder / "scores.jsonl")]
        raise UsageError(f"the run has no transcript `{args.transcript}`{_near(args.transcript, known)}")
    verdict = _row(folder / "verdicts.jsonl", transcript_id=args.transcript, check_id=args.check)
    explanation = [] if check is None else _explanation(plan, check, scores, verdict)
    said = list(_exchanges(folder, args.transcript, args.check))
    explanation += _said(said)
    if left_out is not None:
        explanation += _left_out(plan, left_out, scores)
    found = {"check": args.check, "scores": scores, "verdict": verdict, "explanation": explanation, "exchanges": said}
    answer(args.format, found, _wrapped(explanation))
    if args.prompt and args.format == "human":
        say(*_prompts(said))
    return 0


def _row(path: Path, **wanted: str) -> dict[str, object] | None:
    return next((row for row in rows(path) if all(row.get(key) == value for key, value in wanted.items())), None)


def _near(word: str, known: list[str]) -> str:
    hint = did_you_mean(word, known)
    return f"; {hint}" if hint else ""


def _explanation(
    plan: Plan, check: Check, scores: Mapping[str, object], verdict: Mapping[str, object] | None
) -> list[tuple[str, str]]:
    """Pairs of a label and a text; an empty label continues the previous one."""
    name = f" ({check.name})" if check.name != check.id else ""
    bucket = f", bucket {check.primary_bucket}" if check.primary_bucket else ""
    severity = f", severity {check.severity}" if check.severity else ""
    head = [
        ("check", f"{check.id}{name}{bucket}{severity}"),
        ("route", check.route + (", a gate check" if check.is_gate else "")),
        ("transcript", f"{scores['transcript_id']} ({_scenario(scores)})"),
    ]
    if check.suppressed is not None:
        head.append(("suppressed when", _text(check.suppressed)))
    if check.eligible is not None:
        head.append(("eligible when", _text(check.eligible)))
    if isinstance(check.verifier, ExpressionVerifier):
        head += [(f"{name} when", text) for name, text in conditions(check)]
        if check.verifier.each != "conversation":
            head.append(("", f"for each {check.verifier.each.replace('_', ' ')}"))
    scenario = plan.scenarios.get(str(scores.get("scenario_id")))
    if scenario is not None and not scenario.eligible_modes:
        head.append(("scenario tags", ", ".join(scenario.tags) or "none"))
    if verdict is None:
        return [*head, ("verdict", "none: the check is suppressed in this scenario")]
    return [*head, *_verdict(verdict), *_effect(check.id, scores)]


def _scenario(scores: JsonMapping) -> str:
    return f"scenario {scores['scenario_id']}" if scores.get("scenario_id") else "no scenario"


def _left_out(plan: Plan, part: LeftOut, scores: JsonMapping) -> Iterator[tuple[str, str]]:
    """The consequence of a check that the profile does not run."""
    why = "gives its judge no vote" if part.why == "votes" else "does not select it"
    yield "left out", f"the profile `{plan.profile}` {why}: `{part.id}`"
    if part.why != "votes" and part.eligible is not None:
        yield "eligible when", _text(part.eligible)
    if part.id not in scores.get("left_out", ()):
        yield "", "the check does not apply to this transcript, so no gate depends on it"
    elif part.why != "votes":
        yield from _effect(part.id, scores)


def _text(program: Program) -> str:
    return program.source or unparse(decompile(program))


def _verdict(verdict: JsonMapping) -> Iterator[tuple[str, str]]:
    code = f", because `{verdict['rationale_code']}`" if verdict["rationale_code"] else ""
    yield "verdict", f"{verdict['verdict']} with confidence {verdict['confidence']:.2f}{code}"
    if not verdict["eligible"]:
        yield "", "the check does not apply here"
    if verdict["adjudication_required"]:
        yield "", "a person must decide"
    for span in verdict["evidence"]:
        why = f" ({span['rationale']})" if span.get("rationale") else ""
        yield "evidence", f"turn {span['turn']}, {span['role']}: “{span['quote']}”{why}"
    yield from record_lines(verdict["extra"])
    if verdict["prompt_hash"]:
        yield "prompt hash", verdict["prompt_hash"]


def _exchanges(folder: Path, transcript: str, check: str) -> Iterator[dict[str, object]]:
    """The questions to the judge about the check and its replies, if the run recorded them."""
    if (folder / REPLIES).is_file():
        for row in rows(folder / REPLIES):
            if (row.get("transcript_id"), row.get("check_id")) == (transcript, check):
                yield row


def _said(exchanges: list[JsonObject]) -> Iterator[tuple[str, str]]:
    """The judge's replies, one per line."""
    for each in exchanges:
        again = f", attempt {each['attempt'] + 1}" if each["attempt"] else ""
        where = "" if each.get("purpose", "check") == "check" else f" ({each['purpose']})"
        part = f" about window {each['window'] + 1}" if each.get("window") else ""
        cut = "" if each.get("finish", "") in ("", "stop") else f" [{each['finish']}]"
        said = f"“{each['reply']}”{cut}" if each.get("reply") is not None else f"no reply: {each.get('error')}"
        yield "judge", f"vote {each['repetition'] + 1}{again}{part}{where}: {said}"


def _prompts(exchanges: list[JsonObject]) -> Iterator[str]:
    """The prompts as they were sent, each once; control characters are escaped."""
    for prompt in dict.fromkeys(each["prompt"] for each in exchanges if each.get("prompt")):
        yield "─" * WIDTH
        yield from (one_line(line) for line in prompt.split("\n"))
    if not any(each.get("prompt") for each in exchanges):
        yield "the run has no prompts, because its judge was not a model"


def _effect(check: str, scores: JsonMapping) -> Iterator[tuple[str, str]]:
    engine = scores.get(ENGINE) or {}
    for name, gate in (engine.get("gates") or {}).items():
        if check in gate["reasons"]:
            yield f"gate {name}", f"{'failed' if gate['state'] == 'failed' else 'left open'} by this check"
    if check in engine.get("because", ()):
        yield "outcome", f"{engine['outcome']} because of this check"


def _wrapped(explanation: list[tuple[str, str]]) -> Iterator[str]:
    for label, text in explanation:
        lines = textwrap.wrap(one_line(text), WIDTH - 18, break_on_hyphens=False) or [""]
        yield f"{label:<17} {lines[0]}".rstrip()
        yield from (f"{'':<17} {line}" for line in lines[1:])
