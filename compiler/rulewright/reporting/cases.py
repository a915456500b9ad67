"""Writes the report of a batch of cases in every format, from the same run; pages are written line by line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import floor
from typing import IO, Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Findings, Severity, Span
from rulewright.render.build_servers import XML_HEAD, JUnitCase, github, suite_head
from rulewright.render.sarif import sarif
from rulewright.reporting.cases_console import (
    REFERENCE,
    MetricLine,
    Notes,
    changes_of,
    console,
    details,
    is_under_reference,
    judged,
    matched,
    notes,
    refused_inputs,
    verdict_of,
)
from rulewright.reporting.figures import TONES, Figure
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.case_run import BatchRun
from rulewright_runtime.cases.json_report import write_json
from rulewright_runtime.cases.scoring import CaseScorer
from rulewright_runtime.english import plural
from rulewright_runtime.ir import literal_value
from rulewright_runtime.plan.part import programs_of
from rulewright_runtime.report.text import escape, moment, number, percent, section, table
from rulewright_runtime.score import Score
from rulewright_runtime.strict_json import Json, JsonMapping


def write(
    form: str,
    stream: IO[bytes],
    run: BatchRun,
    head: JsonMapping,
    scorer: CaseScorer,
    status: int,
    columns: int | None = None,
) -> None:
    """Write the report in this format. `scorer` holds the general settings, by which means are graded; `status` is
    the exit code, and `columns` the width of the terminal, to which details are cut, and None for a pipe or a file."""
    if form == "json":
        write_json(stream, run, head)
        return
    title = f"{run.plan.title} - {head['concern_id']}"
    metrics = [metric.name for metric in run.plan.metrics]
    bounds = bounds_of(run.plan, head)
    head = {**head, **{key: _not_raised(head[key], bounds) for key in _MEANS}}
    cases = _cases(run, bounds)
    if form == "console":
        labels = [label for label, _ in reversed(run.plan.exits)]
        lines = console(head, title, metric_lines(run, head, scorer), cases, labels)
        for about in _notes(run, bounds):
            lines = chain(lines, notes(*about, columns))
        if run.phrase_evidence is not None:
            lines = chain(lines, details(_cases(run, bounds), metrics, columns))
    elif form == "junit":
        lines = junit(head, title, cases, metrics, run.plan.exits, status)
    elif form in ("sarif", "github"):
        found = findings(run, head, bounds, status)
        text = github(found) if form == "github" else sarif(list(found), CASE_CODES.get)
        lines = iter(text.removesuffix("\n").split("\n") if text else ())
    else:
        overview = cases_overview(head, status, run.plan.exits)
        lines = {"markdown": markdown, "html": html_page}[form](
            head, title, cases, metrics, _notes(run, bounds), overview
        )
    for line in lines:
        stream.write(line.rstrip().encode("utf-8", "replace") + b"\n")


def bounds_of(plan: CaseScorecardPlan, head: JsonMapping) -> list[float]:
    """Return the numbers that a score may be compared with: settings and constants of the scorecard."""
    constants = (
        literal_value(node.value) for program in programs_of(plan) for node in program.nodes if node.op == "const"
    )
    return sorted({float(each) for each in chain(_numbers(head.get("configuration")), _numbers([*constants]))})


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, int | float | Score) and not isinstance(value, bool):
        yield float(value)
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers(each)


def _not_raised(value: Json, bounds: list[float]) -> Json:
    """Return the value with each score that two decimals would raise to a bound cut instead: 0.797 is not shown as 0.80
    if 0.8 is required."""
    if isinstance(value, Mapping):
        return {key: _not_raised(each, bounds) for key, each in value.items()}
    if isinstance(value, list):
        return [_not_raised(each, bounds) for each in value]
    is_raised = isinstance(value, float) and any(value < bound <= round(value, 2) for bound in bounds)
    return floor(value * 100) / 100 if is_raised else value


def _notes(run: BatchRun, bounds: list[float]) -> Iterator[Notes]:
    """Return a judge's objections and the matches by meaning, case by case, if there was a judge or an embedding."""
    if run.judge is not None:
        rows = _as_above(row for result in _cases(run, bounds) for row in judged(result))
        yield "Judged", ("test", "metric", "verdict", "rationale"), rows
    if run.semantic is not None:
        rows = (row for result in run.spool.results() for row in matched(result))
        yield "Matches by meaning", ("test", "metric", "phrase", "words", "similarity"), rows


def _as_above(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the rows; a reason is not repeated from case to case, as where the judge could not be asked."""
    last = ""
    for *row, reason in rows:
        yield (*row, "as above" if reason == last else reason)
        last = reason


def _cases(run: BatchRun, bounds: list[float]) -> Iterator[JsonMapping]:
    """The scored cases in order, with scores that are not raised to a bound, then the errored ones."""
    for result in run.spool.results():
        yield {**result, "scores": _not_raised(result["scores"], bounds)}
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


_MEANS: Final = ("mean_scores", "by_archetype", "batches")  # parts of a report with scores
Report = JsonMapping
Cases = Iterable[JsonMapping]
_WORDS: Final = ("Passed", "Failed", "To review", "Not all scored")  # by exit code
_KINDS: Final = ("", "failures", "skipped", "errors")  # of cases, by exit code
_SORTED: Final = 2000  # cases in a table that a browser still searches and sorts at once
_NOTED: Final = 1000  # rows of a table behind the cases


class CasesOverview(Struct, frozen=True):
    """The head of a page: the result in a word and a sentence, figures, and the tone of each label."""

    word: str
    tone: str
    sentence: str
    figures: tuple[Figure, ...]
    tones: Mapping[str, str]


def cases_overview(report: Report, status: int, exits: Iterable[tuple[str, int]]) -> CasesOverview:
    """Return the overview of a report; `status` is the exit code, `exits` give that of each label."""
    tones = {label: TONES[code] for label, code in exits}
    errors, total = report["summary"]["errors"], report["total_cases"]
    counts = report["label_distribution"]
    figures = [Figure(label, str(count), _share(count, total), tones[label]) for label, count in counts.items()]
    figures += [Figure("Error", str(errors), ("could not be scored",), "bad")] * (errors > 0)
    figures.append(_composite(report))
    labelled = ", ".join(f"{count} {label}" for label, count in counts.items())
    sentence = f"{plural(total, 'case')}: {labelled}{f', {errors} could not be scored' if errors else ''}"
    if report.get("comparison", {}).get("regression"):
        sentence += "; worse than the baseline"
    if unanswered := sum(count for reasons in report.get("unanswered", {}).values() for count in reasons.values()):
        sentence += f"; {plural(unanswered, 'question')} without a usable reply of the judge"
    return CasesOverview(_WORDS[status], TONES[status], f"{sentence}.", tuple(figures), tones)


def _share(count: int, total: int) -> tuple[str, ...]:
    return (f"{percent(count / total)} of {plural(total, 'case')}",) if total else ()


def _composite(report: Report) -> Figure:
    interval = _range(report["confidence_intervals"]["mean_scores"]["composite"], ".2f")
    mean = number(report["mean_scores"]["composite"])
    return Figure("Composite", mean, (f"95% interval {interval}",) if interval != "–" else ())


def markdown(
    report: Report, title: str, cases: Cases, metrics: list[str], notes: Iterable[Notes], about: CasesOverview
) -> Iterator[str]:
    """Return the lines of the Markdown page; `notes` follow the cases."""
    yield f"# {escape(title)}"
    yield ""
    yield f"**{about.word}**: {escape(about.sentence)}"
    yield ""
    yield f"Batch {escape(report['batch_id'])}, {moment(report['generated_at'])}.{_semantics(report)}"
    yield ""
    for heading, head, rows in _tables(report, metrics):
        if rows:
            yield from section(heading, table(head, rows))
    yield "## Cases"
    yield ""
    head = ["Test ID", "Archetype", *metrics, "composite", "Label"]
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * 2 + " ---: |" * (len(metrics) + 1) + " --- |"
    for case in cases:
        yield "| " + " | ".join(escape(cell) for cell in _cells(case, metrics)) + " |"
    for heading, names, found in notes:
        yield from ("", f"## {heading}", "")
        yield from table(names, _first(found))


def html_page(
    report: Report, title: str, cases: Cases, metrics: list[str], notes: Iterable[Notes], about: CasesOverview
) -> Iterator[str]:
    """Return the lines of a page without other files; `notes` follow the cases."""
    from rulewright.web.rendering import rendered  # imports Jinja, which no other report needs

    written = rendered(
        "cases.html",
        None,
        report=report,
        title=title,
        semantics=_semantics(report),
        about=about,
        most=_SORTED,
        tables=islice(_tables(report, metrics), 1, None),  # the first is shown as figures
        head=["Test ID", "Archetype", *metrics, "composite", "Label"],
        numbers={"mean", "pass rate", "cases", "count", "composite", "change", "similarity", *metrics},
        cases=(_cells(case, metrics) for case in cases),
        notes=((heading, names, _first(found)) for heading, names, found in notes),
    )
    yield from _lines(written)


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Split chunks of text into lines."""
    waiting = ""
    for piece in pieces:
        *lines, waiting = f"{waiting}{piece}".split("\n")
        yield from lines
    if waiting:
        yield waiting


def _first(rows: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Return the rows that a page shows."""
    for at, row in enumerate(rows):
        if at == _NOTED:
            yield ("and more, all in the JSON report", *[""] * (len(row) - 1))
            return
        yield row


def junit(
    report: Report, title: str, cases: Cases, metrics: list[str], exits: Sequence[tuple[str, int]], status: int
) -> Iterator[str]:
    """The lines of a JUnit report: a failing case is a failure, one to review is skipped, an errored one and a refused
    input an error. `exits` give the exit code of each label. Where no case explains the exit code `status`, such as
    after a regression, a case of the whole run does."""
    refused = [{**each, "test_id": _place(each), "archetype": "refused"} for each in refused_inputs(report)]
    summary, kinds = report["summary"], {label: _KINDS[code] for label, code in exits}
    counts = {kind: sum(summary[label.lower()] for label in kinds if kinds[label] == kind) for kind in _KINDS}
    counts["errors"] += summary["errors"] + len(refused)
    unexplained = 0 if not status or counts[_KINDS[status]] else 1
    counts[_KINDS[status]] += unexplained
    counts["tests"] = summary["total_cases"] + len(refused) + unexplained
    yield XML_HEAD
    yield suite_head("testsuites", counts, name=title)
    yield suite_head("testsuite", counts, name=report["batch_id"], timestamp=report["generated_at"])
    for case in chain(cases, refused):
        label, group = case.get("label", ""), f"{case['batch_id']}.{case['archetype']}"
        kind = kinds.get(label, "errors") or None
        message = "" if kind is None else case["message"] if "message" in case else _why(case, metrics)
        yield JUnitCase(group, case["test_id"], kind, message, label or "Error").element()
    if unexplained:
        message = cases_overview(report, status, exits).sentence
        yield JUnitCase("run", "outcome", _KINDS[status], message, "outcome").element()
    yield "</testsuite></testsuites>"


CASE_CODES: Final = {
    "case-not-scored": "A case could not be scored.",
    "refused-input": "An input was refused.",
    "outcome": "No case explains the result of the whole.",
}
_SEVERITIES: Final = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.ERROR}  # by exit code


def findings(run: BatchRun, report: Report, bounds: list[float], status: int) -> Findings:
    """Return an error for each case that fails or could not be scored and for each refused input, and a warning for
    each case to review, all at their files and lines. The code of a case is `case-` with its label. Where no case
    explains the exit code `status`, a finding about the whole does."""
    metrics, seen = [metric.name for metric in run.plan.metrics], set[int]()
    exits = dict(run.plan.exits)
    for result, line in zip(run.spool.results(), run.lines, strict=True):
        code = exits[result["label"]]
        if code:
            seen.add(code)
            shown = {**result, "scores": _not_raised(result["scores"], bounds)}
            text = f"`{result['test_id']}`: {result['label']}: {_why(shown, metrics)}"
            name = f"case-{'-'.join(result['label'].casefold().split())}"
            yield Diagnostic(name, _SEVERITIES[code], text, _span(run.files[result["batch_id"]], line))
    for error in report["errors"]:
        seen.add(3)
        name = "refused-input" if error["test_id"] is None else "case-not-scored"
        text = error["message"] if error["test_id"] is None else f"`{error['test_id']}`: {error['message']}"
        yield Diagnostic(name, Severity.ERROR, text, _span(error["file"], error["line"]))
    if status and status not in seen:
        text = cases_overview(report, status, run.plan.exits).sentence
        yield Diagnostic("outcome", _SEVERITIES[status], text, _span(next(iter(run.files.values()), "cases"), 1))


def _span(path: str, line: int) -> Span:
    return Span(path, max(line, 1), 1, max(line, 1), 1)


def _semantics(report: Report) -> str:
    return f" {REFERENCE}" if is_under_reference(report) else ""


def _why(case: JsonMapping, metrics: list[str]) -> str:
    words = [f"{metric} {number(case['scores'][metric])}" for metric in metrics]
    for metric in metrics:
        for kind, phrases in case["details"][metric].items():
            if phrases and kind != "found":
                words.append(f"{metric} {kind}: {', '.join(phrases)}")
    words += [f"{metric} judged {verdict}: {rationale}" for _, metric, verdict, rationale in judged(case)]
    return "; ".join(words)


def _tables(report: Report, metrics: list[str]) -> Iterator[tuple[str, list[str], list[list[Json]]]]:
    summary, intervals = report["summary"], report["confidence_intervals"]
    labels = [[label, count] for label, count in report["label_distribution"].items()]
    yield "Labels", ["label", "cases"], [*labels, ["Error", summary["errors"]]]
    rows = []
    for metric in (*metrics, "composite"):
        rate = report["pass_rates"].get("overall" if metric == "composite" else metric)
        mean = number(report["mean_scores"][metric])
        rows.append([metric, mean, _range(intervals["mean_scores"][metric], ".2f"), percent(rate)])
    yield "Scores", ["metric", "mean", "95% interval", "pass rate"], rows
    groups = [
        [name, group["count"], *(number(group[f"mean_{metric}"]) for metric in metrics), percent(group["pass_rate"])]
        for name, group in report["by_archetype"].items()
    ]
    yield "Archetypes", ["archetype", "cases", *metrics, "pass rate"], groups
    if len(report["batches"]) > 1:
        batches = [
            [b["batch_id"], b["total_cases"], number(b["mean_scores"]["composite"]), percent(b["overall_pass_rate"])]
            for b in report["batches"]
        ]
        yield "Batches", ["batch", "cases", "composite", "pass rate"], batches
    for name, entries in report["failure_analysis"].items():
        if name != "worst_performers":
            yield (
                f"{name[:1].upper()}{name[1:]}".replace("_", " "),
                ["phrase", "count"],
                [list(entry.values()) for entry in entries],
            )
    if "comparison" in report:
        yield from _comparison(report["comparison"])
    yield "Errors", ["place", "message"], [[_place(error), error["message"]] for error in report["errors"]]


def _comparison(comparison: JsonMapping) -> Iterator[tuple[str, list[str], list[list[Json]]]]:
    """What changed since the baseline: the verdict, means over the pairs, labels, missing and added cases."""
    yield "Since the baseline", ["verdict", "cases"], [[verdict_of(comparison), changes_of(comparison)]]
    means = [[name, f"{change:+.3f}"] for name, change in comparison["mean_changes"].items()]
    yield "Means of the paired cases", ["metric", "change"], means
    flips = [[flip["test_id"], flip["before"], flip["after"]] for flip in comparison["flips"]]
    yield "Changes since the baseline", ["test", "before", "now"], flips
    for kind, title in (("missing", "Missing since the baseline"), ("added", "Added since the baseline")):
        cases = [[each["test_id"], each["batch_id"], each["label"]] for each in comparison[f"{kind}_cases"]]
        more = comparison[kind] - len(cases)
        yield title, ["test", "batch", "label"], cases + [[f"and {more} more", "", ""]] * (more > 0)


def _place(error: JsonMapping) -> str:
    where = f"{error['file']}:{error['line']}" if error["line"] else str(error["file"])
    return where if error["path"] == "$" else f"{where}: {error['path']}"


def _range(interval: JsonMapping, form: str) -> str:
    if interval["low"] is None:
        return "–"
    return f"{interval['low']:{form}} to {interval['high']:{form}}"


def _cells(case: JsonMapping, metrics: list[str]) -> list[str]:
    scores = case.get("scores")
    numbers = ["–" if scores is None else number(scores[name]) for name in (*metrics, "composite")]
    return [str(case["test_id"]), str(case["archetype"]), *numbers, str(case.get("label", "Error"))]
