"""Writes the report of a batch of cases in every format, from the same run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Final

from rulewright.reporting.cases_console import MetricLine, Notes, console, details, judged, matched, notes
from rulewright.reporting.cases_pages import cases_overview, html_page, junit, markdown
from rulewright_runtime.cases.case_run import BatchRun
from rulewright_runtime.cases.json_report import write_json
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.strict_json import JsonMapping

FORMATS: Final = ("json", "console", "markdown", "html", "junit")
SUFFIXES: Final = {"json": ".json", "console": ".txt", "markdown": ".md", "html": ".html", "junit": ".xml"}


def write(
    form: str,
    stream: IO[bytes],
    run: BatchRun,
    head: JsonMapping,
    scorer: CaseScorer,
    status: int,
    columns: int | None = None,
) -> None:
    """Write the report in one of `FORMATS`. `scorer` holds the general settings, by which means are graded; `status` is
    the exit code, and `columns` the width of the terminal, to which details are cut, and None for a pipe or a file."""
    if form == "json":
        write_json(stream, run, head)
        return
    title = f"{run.plan.title} - {head['concern_id']}"
    metrics = [metric.name for metric in run.plan.metrics]
    cases = _cases(run)
    if form == "console":
        labels = [label for label, _ in reversed(run.plan.exits)]
        lines = console(head, title, metric_lines(run, head, scorer), cases, labels)
        for about in _notes(run):
            lines = chain(lines, notes(*about, columns))
        if run.phrase_evidence is not None:
            lines = chain(lines, details(_cases(run), metrics, columns))
    elif form == "junit":
        lines = junit(head, title, cases, metrics, run.plan.exits)
    else:
        overview = cases_overview(head, status, run.plan.exits)
        lines = {"markdown": markdown, "html": html_page}[form](head, title, cases, metrics, _notes(run), overview)
    for line in lines:
        stream.write(line.rstrip().encode("utf-8", "replace") + b"\n")


def _notes(run: BatchRun) -> Iterator[Notes]:
    """Return a judge's objections and the matches by meaning, case by case, if there was a judge or an embedding."""
    if run.judge is not None:
        rows = (row for result in run.spool.results() for row in judged(result))
        yield "Judged", ("test", "metric", "verdict", "rationale"), rows
    if run.semantic is not None:
        rows = (row for result in run.spool.results() for row in matched(result))
        yield "Matches by meaning", ("test", "metric", "phrase", "words", "similarity"), rows


def _cases(run: BatchRun) -> Iterator[Mapping[str, object]]:
    """The scored cases in order, then the errored ones."""
    yield from run.spool.results()
    yield from (error for error in run.errors if error["test_id"] is not None)


def metric_lines(run: BatchRun, head: JsonMapping, scorer: CaseScorer) -> Iterator[MetricLine]:
    """Return the console's lines of every metric."""
    counted, common = run.tally.phrase_counts(), head["failure_analysis"]
    for at, metric in enumerate(run.plan.metrics):
        entries = common[metric.common.name]
        first = entries[0] if entries else None
        yield MetricLine(
            name=metric.name,
            mean=head["mean_scores"][metric.name],
            pass_rate=head["pass_rates"][metric.name],
            status=_status(run, scorer, at, counted[metric.name]),
            title=metric.common.title,
            top=None if first is None else (first[metric.common.item], first[metric.common.count]),
        )


def _status(run: BatchRun, scorer: CaseScorer, at: int, counted: int) -> str:
    """FAIL if the mean fails; a warning for violations, or for a mean below the threshold; else OK."""
    metric = run.plan.metrics[at]
    if not run.all_cases.scored:
        return "NO CASE SCORED"
    passes, fails = scorer.grade(at, run.all_cases.means())
    if fails:
        return "FAIL"
    if metric.common.of == "found" and counted:
        what = metric.common.plural.removesuffix("s") if counted == 1 else metric.common.plural
        return f"WARN ({counted} {what} across batch)"
    return "OK" if passes else "WARN (review threshold)"
