"""`why`: explain one verdict, or list those of a run."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rulewright.arguments.shared_options import latest_run
from rulewright.commands.output import answer
from rulewright.errors import UsageError
from rulewright.expression.unparse import decompile, unparse
from rulewright.render.verdict_record import record_lines
from rulewright.reporting.formats import conditions, question_of
from rulewright.reporting.judge_answers import JudgeAnswers, vote_label
from rulewright.reporting.run_reader import rows
from rulewright.reporting.stored_run import FinishedRun, open_judged
from rulewright.spelling import question
from rulewright_runtime.aggregate.outcome import ENGINE, gates_not_run
from rulewright_runtime.english import plural, some
from rulewright_runtime.ir import Program
from rulewright_runtime.judging.exchanges import is_repeated_miss
from rulewright_runtime.judging.replies import reader, why_unusable
from rulewright_runtime.plan.scan import Check, LeftOut, Plan
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.report.summary import coverage, gaps, idle_gates
from rulewright_runtime.report.text import reason_words, verdict_rows, wrapped_lines
from rulewright_runtime.runs.folder import REPLIES
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import fit, one_line, say, width_for, wrapped

WIDTH = 80
MOST_IDLE = 5  # reasons why checks did not apply
MOST = 40  # verdicts of a list for people
QUOTED = 40  # characters of a quote in it


def run(args: argparse.Namespace) -> int:
    """Print the explanation of the verdict, or without a check the list of verdicts; return the exit code. Raises
    UsageError."""
    if not args.check and not os.path.exists(args.run) and os.path.isdir(os.path.dirname(args.run)):
        raise UsageError(f"no run is at `{args.run}`")
    latest = None if args.check or os.path.isdir(args.run) else latest_run()
    if latest is not None:  # the first word names a transcript
        args.run, args.transcript, args.check = latest, args.run, args.transcript
    finished = open_judged(Path(args.run))
    folder, plan = finished.folder, finished.plan
    if args.check is None:
        _list(finished, args)
        return 0
    check = finished.checks.get(args.check)
    left_out = next((part for part in plan.left_out if part.id == args.check), None)
    if check is None and left_out is None:
        raise UsageError(f"the run has no check `{args.check}`{question(args.check, [c.id for c in plan.checks])}")
    scores = _scores(folder, args.transcript)
    verdict = _row(folder / "verdicts.jsonl", transcript_id=args.transcript, check_id=args.check)
    explanation = [] if check is None else _explanation(plan, check, scores, verdict)
    exchanges = list(_exchanges(folder, args.transcript, args.check))
    if verdict is not None:
        reason = JudgeAnswers(finished, ()).rationale(args.transcript, args.check, str(verdict["verdict"]))
        explanation += [("rationale", reason)] if reason else []
    explanation += _replies(exchanges, check)
    if left_out is not None:
        explanation += _left_out(plan, left_out, scores)
    found = {
        "check": args.check,
        "scores": scores,
        "verdict": verdict,
        "explanation": explanation,
        "exchanges": exchanges,
    }
    answer(args.format, found, _wrapped(explanation))
    if args.prompt and args.format == "human":
        say(*_prompts(exchanges))
    return 0


def _list(run: FinishedRun, args: argparse.Namespace) -> None:
    """List the verdicts of the run, of a transcript, or of a check if no transcript has that name."""
    name, check, outcome = args.transcript, None, [*idle_gates(run.summary).values(), *_idle_checks(run)]
    if name in run.checks and _row(run.folder / "scores.jsonl", transcript_id=name) is None:
        name, check = None, name
    if name is not None:
        outcome = [*_outcome(_scores(run.folder, name, run.checks))]
    listed = [row for row in _listed(run, name) if check in (None, row["check_id"])]
    columns, answers = width_for(sys.stdout), JudgeAnswers(run, ())
    lines = [*wrapped_lines(outcome, columns), *_list_lines(listed, args.run, name, columns, answers)]
    answer(args.format, {"verdicts": listed}, lines)


def _idle_checks(run: FinishedRun) -> Iterator[str]:
    """The checks that applied to no transcript, each with the reasons, if nothing applied to some transcripts."""
    idle = {name for name, counts in run.summary["checks"].items() if not counts["eligible"] and counts["not_eligible"]}
    if not idle or not run.summary["outcomes"]["nothing_applied"]:
        return
    reasons = Counter(
        (row["check_id"], reason_words(row["rationale_code"]))
        for row in rows(run.folder / "verdicts.jsonl")
        if row["check_id"] in idle
    )
    for (name, reason), count in reasons.most_common(MOST_IDLE):
        yield f"{name} did not apply to {count} of {plural(run.summary['transcripts'], 'transcript')}: {reason}"
    if len(reasons) > MOST_IDLE:
        one = f"`rulewright why {run.folder} TRANSCRIPT` lists the reasons of one transcript"
        yield f"and {len(reasons) - MOST_IDLE} more; {one}"


def _row(path: Path, **wanted: str) -> dict[str, object] | None:
    return next((row for row in rows(path) if all(row.get(key) == value for key, value in wanted.items())), None)


def _scores(folder: Path, transcript: str, checks: Iterable[str] = ()) -> JsonObject:
    """Return the row of a transcript. Raises UsageError for an unknown one, which may have been meant as one of the
    `checks`."""
    scores = _row(folder / "scores.jsonl", transcript_id=transcript)
    if scores is None:
        known = [row["transcript_id"] for row in rows(folder / "scores.jsonl")]
        ending = [name for name in known if name.endswith((f"__{transcript}", f":{transcript}"))]
        guess = f"; did you mean `{ending[0]}`?" if ending else question(transcript, [*known, *checks])
        raise UsageError(f"the run has no transcript{' or check' if checks else ''} `{transcript}`{guess}")
    return scores


def _listed(run: FinishedRun, transcript: str | None) -> list[JsonObject]:
    """Return the verdicts on a transcript, those of checks that do not apply if none does, or each FAIL and UNCLEAR of
    the run, by severity."""
    found = [
        row
        for row in rows(run.folder / "verdicts.jsonl")
        if (
            row["eligible"] and row["verdict"] in ("FAIL", "UNCLEAR")
            if transcript is None
            else row["transcript_id"] == transcript
        )
    ]
    found = [row for row in found if row["eligible"]] or found
    return sorted(found, key=lambda row: (-run.plan.gravity(row["severity"]), row["verdict"] != "FAIL"))


def _list_lines(
    listed: list[JsonObject], run: str, transcript: str | None, columns: int, answers: JudgeAnswers
) -> Iterator[str]:
    if not listed:
        yield "no verdict is FAIL or UNCLEAR" if transcript is None else "the run has no verdict on this transcript"
        return
    names = ("verdict", "severity", "check_id", "transcript_id", "rationale_code")
    described = [{**row, "rationale_code": _reason(row) or _rationale(row, answers)} for row in listed[:MOST]]
    table = [[one_line(str(row.get(name) or "")) for name in names] for row in described]
    yield from verdict_rows(table, columns)
    if len(listed) > MOST:
        yield f"and {len(listed) - MOST} more; `--format json` lists all"
    yield from wrapped(f"help: `rulewright why {run} TRANSCRIPT CHECK` explains a verdict", columns)


def _reason(verdict: JsonMapping) -> str:
    """The first quote of a FAIL; of any other verdict its code, or that its quotes do not occur."""
    if verdict["verdict"] == "FAIL" and verdict["evidence"]:
        return f"“{fit(' '.join(verdict['evidence'][0]['quote'].split()), QUOTED)}”"
    code = verdict["rationale_code"] or ("unverified_fail" if verdict["extra"].get("unverified_fail") else "")
    return ": ".join(filter(None, (reason_words(code), verdict["extra"].get("compared"))))


def _rationale(verdict: JsonMapping, answers: JudgeAnswers) -> str:
    """The beginning of the judge's reason for a verdict; empty if none is recorded, and for a PASS."""
    place = verdict["transcript_id"], verdict["check_id"], verdict["verdict"]
    reason = "" if verdict["verdict"] == "PASS" else answers.rationale(*place)
    return fit(" ".join(reason.split()), 2 * QUOTED)


def _outcome(scores: JsonMapping) -> Iterator[str]:
    """The outcome of a transcript, and the share of checks on which it depends too."""
    engine = scores.get(ENGINE) or {}
    idle = "".join(f"; gate {name} did not run" for name in gates_not_run(engine["gates"])) if engine else ""
    share = coverage(engine) if engine else ""
    if engine and "coverage_at_most" in engine:
        not_asked = some(scores["left_out"])
        yield f"outcome: {engine['outcome']} by the gates{idle}; coverage {share}; not asked: {not_asked}"
    elif share:
        yield f"outcome: {engine['outcome']}; {share} of the checks that apply were decided{idle}"


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
        *zip(("description", "", ""), check.description.splitlines(), strict=False),
        *zip(("question", "", ""), [] if check.description else question_of(check).splitlines(), strict=False),
        ("transcript", f"{scores['transcript_id']} ({_scenario(scores)})"),
    ]
    if check.suppressed is not None:
        head.append(("suppressed when", _text(check.suppressed)))
    if check.eligible is not None:
        head.append(("eligible when", _text(check.eligible)))
    if check.applies is not None:
        head.append(("applies when", _text(check.applies)))
    if isinstance(check.verifier, ExpressionVerifier):
        head += [(f"{name} when", text) for name, text in conditions(check)]
        if check.verifier.each != "conversation":
            head.append(("", f"for each {check.verifier.each.replace('_', ' ')}"))
    scenario = plan.scenarios.get(str(scores.get("scenario_id")))
    if scenario is not None and not scenario.eligible_modes:
        head.append(("scenario tags", ", ".join(scenario.tags) or "none"))
    if verdict is None:
        return [*head, ("verdict", "none: the check is suppressed in this scenario")]
    return [*head, *_verdict(verdict), *_gaps(verdict, scores), *_effect(check.id, scores)]


def _gaps(verdict: JsonMapping, scores: JsonMapping) -> Iterator[tuple[str, str]]:
    """What the conversation lacks, if the verdict is missing for that and does not say it itself."""
    if verdict.get("cause") == "missing" and scores.get("missing") and "incomplete" not in verdict["extra"]:
        yield "incomplete", gaps(scores["missing"])


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
    code = verdict["rationale_code"] or ""
    words = reason_words(code) if reason_words(code) != code else code and f"`{code}`"
    because = f", because {words}" if words else ""
    yield "verdict", f"{verdict['verdict']} with confidence {verdict['confidence']:.2f}{because}"
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


def _replies(exchanges: list[JsonObject], check: Check | None) -> Iterator[tuple[str, str]]:
    """The judge's replies, each with the reason if it is not a vote."""
    readers = [] if check is None else [*map(reader, check.verifier.judgings())]
    for each in exchanges:
        if is_repeated_miss(each["attempt"], each.get("error")):
            continue
        which = vote_label(each["repetition"], each["attempt"], each.get("window", 0), each.get("purpose", "check"))
        if each.get("reply") is None:
            yield "judge", f"{which}: no reply: {each.get('error')}"
            continue
        yield "judge", f"{which}: “{each['reply']}”"
        if reason := why_unusable(each["reply"], each.get("finish", ""), readers):
            yield "", f"not a vote: {reason}"


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
        yield from map(str.rstrip, wrapped(text, WIDTH, f"{label:<17} "))
