"""The failures of a run for those who read a change: as findings with locations, as a Markdown comment, and in the
formats of build servers; JUnit XML has a suite for each transcript."""

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from rulewright.diagnostics import Diagnostic, Findings, Severity, Span
from rulewright.expression.unparse import decompile, unparse
from rulewright.render.build_servers import JUnitCase, github, junit_report
from rulewright.render.sarif import sarif
from rulewright.reporting.stored_run import FinishedRun, JudgedTranscript
from rulewright_runtime.aggregate.outcome import gates_not_run
from rulewright_runtime.english import plural, some
from rulewright_runtime.plan.question import Judging
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.report.accumulators import (
    gate_line,
    gate_result,
    is_unresolved,
    pass_rate_lines,
    unresolved_lines,
)
from rulewright_runtime.report.markdown import GATE_HEADS, gate_rows
from rulewright_runtime.report.summary import (
    NEVER,
    UNPROVEN,
    coverage,
    exit_status,
    failed_interval,
    gaps,
    idle_gates,
    judge_line,
    outside_gates,
    scores,
    status_at,
    unproven,
)
from rulewright_runtime.report.text import code, escape, number, percent, place_of, reason_words, table
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import one_line

REFUSED = "refused-input"
INCOMPLETE = "incomplete-transcript"
UNDECIDED = "undecided"
IDLE_GATE = "idle-gate"
JUDGED_NOTHING: Final = "no check applied to any transcript, so nothing was judged"


def findings(run: FinishedRun) -> Findings:
    """Return an error for each FAIL that made its transcript fail and for each refused input, a warning for any other
    FAIL, for each reason that leaves a transcript undecided and for each idle gate, and advice for any other UNCLEAR.
    The code is the check's id."""
    for refused in run.refused():
        yield Diagnostic(REFUSED, Severity.ERROR, refused["reason"], _span(refused["path"], refused["line"]))
    for judged in run.judged():
        found = list(_of_transcript(judged, run.checks))
        yield from found
        if judged.engine["outcome"] == "undecided" and all(each.severity is Severity.ADVICE for each in found):
            what = f"`{judged.id}` is undecided: {why_undecided(judged)}"
            yield Diagnostic(UNDECIDED, Severity.WARNING, what, _span(judged.path, judged.line))
    if judged_nothing(run.summary):
        yield Diagnostic(UNDECIDED, Severity.WARNING, JUDGED_NOTHING, _span("", 0))
    for sentence in idle_gates(run.summary).values():
        yield Diagnostic(IDLE_GATE, Severity.WARNING, sentence, _span("", 0))


def _of_transcript(judged: JudgedTranscript, checks: Mapping[str, Check]) -> Findings:
    if judged.row.get("missing"):
        what = f"`{judged.id}` is incomplete, so no check passes: {gaps(judged.row['missing'])}"
        yield Diagnostic(INCOMPLETE, Severity.WARNING, what, _span(judged.path, judged.line))
    for verdict in judged.verdicts:
        if (level := _level(judged, verdict)) is not None:
            check = checks.get(verdict["check_id"])
            name = check.name if check else verdict["check_id"]
            text = f"{name}: {verdict['verdict']} in `{judged.id}`, {because(verdict, check)}"
            yield Diagnostic(str(verdict["check_id"]), level, text, _span(judged.path, judged.line))


def why_undecided(judged: JudgedTranscript) -> str:
    """Return why a transcript is undecided although none of its checks is: content is missing, a gate did not run, or
    too few checks were decided."""
    if judged.row.get("missing"):
        return "the transcript is incomplete"
    if idle := gates_not_run(judged.engine["gates"]):
        return f"{some(idle)} did not run"
    return f"the coverage is {coverage(judged.engine)}"


def judged_nothing(summary: JsonMapping) -> bool:
    """Whether no check applied to any transcript of a run, so that it is undecided."""
    return {name for name, count in summary["outcomes"].items() if count} == {"nothing_applied"}


def because(verdict: JsonMapping, check: Check | None) -> str:
    """Return the reason of a record on one line: its quotes, else the deciding condition, its rationale code or its
    cause."""
    usual = "a person must decide" if verdict["verdict"] == "UNCLEAR" else "without evidence"
    code = str(verdict.get("rationale_code") or verdict.get("cause") or usual)
    quotes = () if code == "no_majority" else verdict.get("evidence", ())  # those of one vote say nothing of a tie
    return "; ".join(_quotes(quotes)) or _decided(code, verdict, dict(conditions(check))) or reason_words(code)


def _quotes(evidence: Sequence[JsonMapping]) -> Iterator[str]:
    """Yield the quotes of a record; those of a turn follow each other, and a reason follows all that share it."""
    for why, spans in groupby(evidence, lambda span: span.get("rationale") or ""):
        turns = groupby(spans, lambda span: f"turn {span['turn']}, {span['role']}")
        shown = [f"{turn}: " + ", ".join(f"“{span['quote']}”" for span in part) for turn, part in turns]
        yield "; ".join(shown) + (f" ({why})" if why else "")


def _decided(code: str, verdict: JsonMapping, written: Mapping[str, str]) -> str | None:
    """Return the condition that gave a verdict, with its result."""
    extra = verdict.get("extra") or {}
    if undecided := extra.get("undecided"):
        return f"a condition can't be decided: {undecided}"
    name, _, outcome = code.partition("_condition_")
    numbers = f" ({extra['compared']})" if extra.get("compared") else ""
    return f"`{name}` {outcome.replace('_', ' ')}: {written[name]}{numbers}" if name in written else None


def conditions(check: Check | None) -> Iterator[tuple[str, str]]:
    """Return the conditions of an expression check (`fail`, `unclear`, `pass`) as a person would write them, in the
    order of evaluation."""
    if check is None or not isinstance(check.verifier, ExpressionVerifier):
        return
    verifier = check.verifier
    for name, program in (("fail", verifier.fails), ("unclear", verifier.unclear), ("pass", verifier.passes)):
        if program is not None:
            yield name, program.source or unparse(decompile(program))


def question_of(check: Check) -> str:
    """Return what the judge is asked, without the values of the conversation; empty if no judge decides the check."""
    judging = getattr(check.verifier, "judging", None)
    if not isinstance(judging, Judging):
        return ""
    return "".join(getattr(segment, "text", "") or "…" for segment in judging.prompt).strip()


def _level(judged: JudgedTranscript, verdict: JsonMapping) -> Severity | None:
    if not verdict.get("eligible") or verdict["verdict"] not in ("FAIL", "UNCLEAR"):
        return None
    if verdict.get("cause") == "missing" and judged.row.get("missing"):
        return None  # reported once, for the transcript
    decides = verdict["check_id"] in judged.engine["because"]
    if verdict["verdict"] == "FAIL":
        return Severity.ERROR if decides else Severity.WARNING
    return Severity.WARNING if decides else Severity.ADVICE


def _span(path: str, line: int) -> Span:
    return Span(path or "transcripts", max(line, 1), 1, max(line, 1), 1)


MOST_CHECKS: Final = 20
MOST_QUOTES: Final = 3  # of one check
MOST_CHARACTERS: Final = 60_000  # of services that take comments the strictest takes 65,536
RESULTS: Final = ("passed", "failed", "undecided", "input refused")  # by exit code


def result_of(run: FinishedRun, fail_on: str | None = None) -> str:
    """Return what the run found, whatever exit code `--fail-on` chose; a severity there adds its own result if that
    differs. Raises PlanError for an unknown severity."""
    found, chosen = RESULTS[exit_status(run.summary)], RESULTS[status_at(run.summary, run.plan, fail_on)]
    return found if fail_on == NEVER or chosen == found else f"{found}; {chosen} under --fail-on {fail_on}"


def comment(run: FinishedRun, fail_on: str | None) -> str:
    """Return the comment. Text of transcripts is escaped. Raises PlanError as `result_of`."""
    text = "\n".join(_lines(run, result_of(run, fail_on))) + "\n"
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[:MOST_CHARACTERS].rpartition("\n")[0]
    return f"{kept}\n\n`summary.md` of the run contains the rest.\n"


def _lines(run: FinishedRun, result: str) -> Iterator[str]:
    summary = run.summary
    yield f"## Rulewright: {result}"
    yield ""
    yield sentence(summary)
    yield ""
    if gates := gate_rows(summary):
        yield from table(GATE_HEADS, gates)
        yield ""
    unresolved = summary["unresolved"]
    open_lines = (*idle_gates(summary).values(), *pass_rate_lines(unresolved), *unresolved_lines(unresolved))
    if lines := [*_interval_lines(summary), *_not_asked(summary), *open_lines]:
        yield from (f"- {escape(line)}" for line in lines)
        yield ""
    yield from _scores(summary)
    yield from _failures(run)
    yield from _refused(summary)
    about = [f"{key} {escape(summary[key])}" for key in ("profile", "scorecard") if summary.get(key)]
    judge = judge_line(summary.get("judge"))
    about += [f"judged by {escape(judge)}"] if judge else []
    yield f"<sub>{', '.join([*about, f'plan {run.plan.hash[:12]}'])}</sub>"


def _not_asked(summary: JsonMapping) -> Iterator[str]:
    """What a scan of gates only did not ask, so that its answers are missing."""
    if summary.get("gates_only") and summary["left_out"]:
        yield f"only what may change a gate was asked; not asked: {some([*summary['left_out']], 8)}"


def _interval_lines(summary: JsonMapping) -> Iterator[str]:
    """How certain the share of failing transcripts is, as the page says it."""
    if summary["transcripts"]:
        interval = failed_interval(summary)
        yield f"95% interval of the share that failed: {percent(interval['low'])} to {percent(interval['high'])}"


def sentence(summary: JsonMapping) -> str:
    """Return the run's result in one sentence."""
    outcomes, failed = summary["outcomes"], summary["failed"]
    judged = f"{failed['count']} of {plural(summary['transcripts'], 'transcript')} failed ({percent(failed['rate'])})"
    parts = [judged if summary["transcripts"] else "No transcript was judged"]
    parts += [outside] if (outside := outside_gates(summary)) else []
    if failed["unproven"]:
        parts.append(unproven(summary))
    if outcomes["undecided"]:
        parts.append(f"{outcomes['undecided']} undecided")
    if summary["incomplete"]["count"]:
        parts.append(f"{summary['incomplete']['count']} incomplete")
    if summary["refused"]["count"]:
        parts.append(f"{plural(summary['refused']['count'], 'input')} refused")
    return "; ".join(parts) + "."


def _scores(summary: Mapping[str, object]) -> Iterator[str]:
    rows = scores(summary)
    cells = [(name, number(means["mean"]), means["counted"], means["absent"]) for name, means in rows]
    if any(means["counted"] for _, means in rows):
        yield from table(("score", "mean", "counted", "absent"), cells)
        yield ""


def _failures(run: FinishedRun) -> Iterator[str]:
    counts: dict[str, int] = {}
    quotes: dict[str, list[str]] = {}
    for judged in run.judged():
        for verdict in judged.verdicts:
            if verdict.get("eligible") and verdict["verdict"] == "FAIL":
                name = str(verdict["check_id"])
                counts[name] = counts.get(name, 0) + 1
                if counts[name] <= MOST_QUOTES:
                    quotes.setdefault(name, []).append(
                        f"- {code(judged.id)}: {escape(because(verdict, run.checks.get(name)) + _unproven(verdict))}"
                    )
    gravity = {check.id: run.plan.gravity(check.severity) for check in run.plan.checks}
    for name in sorted(counts, key=lambda each: (-gravity.get(each, 0), -counts[each]))[:MOST_CHECKS]:
        check = run.checks.get(name)
        own = [check.name if check.name != name else "", check.severity] if check else []
        about = "".join(f" {_html(each)}" for each in own if each)
        head = f"<b>{_html(name)}</b>{about}: {plural(counts[name], 'failure')}"
        more = [f"- and {counts[name] - MOST_QUOTES} more"] if counts[name] > MOST_QUOTES else []
        yield from (f"<details><summary>{head}</summary>", "", *quotes[name], *more, "", "</details>", "")
    if len(counts) > MOST_CHECKS:
        yield f"and {plural(len(counts) - MOST_CHECKS, 'more check')} failed."
        yield ""


def _unproven(verdict: JsonMapping) -> str:
    cause = verdict.get("cause")
    return f" (unproven: {UNPROVEN.get(cause, cause)})" if cause else ""


def _html(text: str) -> str:
    """Escape a name inside HTML tags, where Markdown is not parsed."""
    return html.escape(one_line(text), quote=False)


def _refused(summary: JsonMapping) -> Iterator[str]:
    inputs = summary["refused"]["inputs"][:MOST_CHECKS]
    if inputs:
        yield from table(("refused input", "reason"), [(place_of(item), item["reason"]) for item in inputs])
        yield ""


def run_as(form: str, run: FinishedRun, fail_on: str | None = None) -> str:
    """Return a run as `junit`, `sarif`, `github` or `markdown`. Raises PlanError as `result_of`."""
    if form == "junit":
        return junit(run)
    if form == "markdown":
        return comment(run, fail_on)
    if form == "github":
        return github(findings(run))
    names = {check.id: check.name for check in run.plan.checks}
    return sarif(list(findings(run)), names.get)


_KIND_OF = {"FAIL": "failures", "UNCLEAR": "errors", "NOT_APPLICABLE": "skipped"}


def junit(run: FinishedRun) -> str:
    """Return the report: FAIL is a failure, UNCLEAR and a refused input are errors, and a check that does not apply is
    skipped, so that only a PASS looks passed. Gates have a separate suite, in which an open gate is an error."""
    return junit_report(_suites(run), "rulewright")


def _suites(run: FinishedRun) -> Iterator[tuple[str, list[JUnitCase]]]:
    for judged in run.judged():
        yield judged.id, _cases(judged, run.checks)
    if refused := list(map(_refused_case, run.refused())):
        yield "refused inputs", refused
    if judged_nothing(run.summary):
        yield "run", [JUnitCase("run", "outcome", "errors", f"undecided: {JUDGED_NOTHING}", "INCONCLUSIVE")]
    unresolved = run.summary["unresolved"]
    if gates := unresolved["gates"]:
        is_open, idle = is_unresolved(unresolved), idle_gates(run.summary)
        yield "gates", [_gate(name, gate, idle.get(name), is_open=is_open) for name, gate in gates.items()]


def _cases(judged: JudgedTranscript, checks: Mapping[str, Check]) -> list[JUnitCase]:
    cases = [_case(judged, verdict, checks.get(verdict["check_id"])) for verdict in judged.verdicts]
    if judged.engine["outcome"] == "undecided" and not any(case.kind in ("failures", "errors") for case in cases):
        cases.append(_undecided(judged))
    return cases or [JUnitCase(judged.id, "no check", "skipped", "no check ran", file=judged.path)]


def _case(judged: JudgedTranscript, verdict: JsonMapping, check: Check | None) -> JUnitCase:
    word = str(verdict["verdict"])
    kind = _KIND_OF.get(word) if verdict.get("eligible") else "skipped"
    name = str(verdict["check_id"]) + (f" {check.name}" if check and check.name != check.id else "")
    message = because(verdict, check) if verdict.get("eligible") else "the check does not apply"
    return JUnitCase(judged.id, name, kind, message, word, file=judged.path)


def _undecided(judged: JudgedTranscript) -> JUnitCase:
    """A transcript that is undecided although none of its checks is."""
    why = f"undecided: {why_undecided(judged)}"
    return JUnitCase(judged.id, "outcome", "errors", why, "INCONCLUSIVE", file=judged.path)


def _refused_case(refused: JsonMapping) -> JUnitCase:
    return JUnitCase("refused inputs", place_of(refused), "errors", refused["reason"], "refused", file=refused["path"])


def _gate(name: str, gate: Mapping[str, object], idle: str | None, *, is_open: bool) -> JUnitCase:
    """A gate over the whole run; an open gate is an error of the type `INCONCLUSIVE`, and one that did not run or that
    is `idle` (the sentence about it) is skipped. With missing answers (`is_open`), the possible states are added."""
    result = gate_result(gate)
    if idle is not None and result in ("passed", "not run"):
        return JUnitCase("gates", name, "skipped", idle)
    kind = {"passed": None, "failed": "failures", "not run": "skipped"}.get(result, "errors")
    message = gate_line(name, gate) if is_open or "pass_rate" in gate else f"gate {name}: {result}"
    return JUnitCase("gates", name, kind, message, result.upper())
