"""A run as a Markdown comment on a change: its result, gates, unresolved items, and failing checks with their first
quotes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Final

from rulewright.reporting.findings import because
from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime.english import plural
from rulewright_runtime.report.markdown import GATE_HEADS, gate_rows
from rulewright_runtime.report.summary import UNPROVEN, judge_line, outside_gates, scores, unproven
from rulewright_runtime.report.text import code, escape, number, percent, place_of, table
from rulewright_runtime.report.unresolved import unresolved_lines
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import one_line

MOST_CHECKS: Final = 20
MOST_QUOTES: Final = 3  # of one check
MOST_CHARACTERS: Final = 60_000  # of services that take comments the strictest takes 65,536
RESULTS: Final = ("passed", "failed", "undecided", "refused")  # by exit code


def comment(run: FinishedRun, status: int) -> str:
    """Return the comment; `status` is the run's exit code. Text of transcripts is escaped."""
    text = "\n".join(_lines(run, status)) + "\n"
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[:MOST_CHARACTERS].rpartition("\n")[0]
    return f"{kept}\n\nThe rest is in `summary.md` of the run.\n"


def _lines(run: FinishedRun, status: int) -> Iterator[str]:
    summary = run.summary
    yield f"## Rulewright: {RESULTS[status]}"
    yield ""
    yield sentence(summary)
    yield ""
    if gates := gate_rows(summary):
        yield from table(GATE_HEADS, gates)
        yield ""
    if unresolved := unresolved_lines(summary["unresolved"]):
        yield from (f"- {escape(line)}" for line in unresolved)
        yield ""
    yield from _scores(summary)
    yield from _failures(run)
    yield from _refused(summary)
    about = [f"{key} {escape(summary[key])}" for key in ("profile", "scorecard") if summary.get(key)]
    judge = judge_line(summary.get("judge"))
    about += [f"judged by {escape(judge)}"] if judge else []
    yield f"<sub>{', '.join([*about, f'plan {run.plan.hash[:12]}'])}</sub>"


def sentence(summary: JsonMapping) -> str:
    """Return the run's result in one sentence."""
    outcomes, failed = summary["outcomes"], summary["failed"]
    parts = [f"{failed['count']} of {plural(summary['transcripts'], 'transcript')} failed ({percent(failed['rate'])})"]
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
    known = {check.id: check for check in run.plan.checks}
    for judged in run.judged():
        for verdict in judged.verdicts:
            if verdict.get("eligible") and verdict["verdict"] == "FAIL":
                name = str(verdict["check_id"])
                counts[name] = counts.get(name, 0) + 1
                if counts[name] <= MOST_QUOTES:
                    quotes.setdefault(name, []).append(
                        f"- {code(judged.id)}: {escape(because(verdict, known.get(name)) + _unproven(verdict))}"
                    )
    gravity = {check.id: run.plan.gravity(check.severity) for check in run.plan.checks}
    for name in sorted(counts, key=lambda each: (-gravity.get(each, 0), -counts[each]))[:MOST_CHECKS]:
        check = known.get(name)
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
