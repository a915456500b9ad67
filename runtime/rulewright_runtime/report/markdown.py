"""The summary of a scan as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rulewright_runtime.aggregate.outcome import GATE_STATES
from rulewright_runtime.english import plural
from rulewright_runtime.report.accumulators import gate_result, pass_rate_lines, unresolved_lines
from rulewright_runtime.report.summary import (
    UNPROVEN,
    equations,
    gaps,
    idle_gates,
    judge_line,
    label_name,
    outside_gates,
    scores,
    unproven,
)
from rulewright_runtime.report.text import (
    escape,
    headline_name,
    number,
    percent,
    place_of,
    reason_words,
    section,
    table,
)
from rulewright_runtime.strict_json import JsonMapping

NO_GATE: Final = "No gate contains a check, so a transcript fails if a check fails."
GATE_HEADS: Final = ("gate", "result", *(state.replace("_", " ") for state in GATE_STATES))
_MAX_ROWS: Final = 50  # of a table of transcripts


def markdown(summary: Mapping[str, object]) -> str:
    return "\n".join(_page(summary)).rstrip() + "\n"


def _page(summary: JsonMapping) -> Iterator[str]:
    yield "# Scan"
    yield ""
    about = ", ".join(
        f"{key} {escape(summary[key])}" for key in ("profile", "scorecard", "semantics") if key in summary
    )
    yield f"{plural(summary['transcripts'], 'transcript')}{', ' + about if about else ''}."
    yield ""
    yield from _judge(summary.get("judge"))
    yield from _people(summary.get("adjudicated"))
    yield from _gates(summary)
    yield from _failed(summary)
    yield from _unresolved(summary)
    yield from _scores(summary)
    yield from _models(summary)
    yield from _checks(summary)
    yield from _blindspots(summary)
    yield from _incomplete(summary)
    yield from _adjudication(summary)
    yield from _refused(summary)


def _judge(judge: JsonMapping | None) -> Iterator[str]:
    if judge:
        parameters = ", ".join(f"{name} {value}" for name, value in judge.get("parameters", {}).items())
        about = f"{plural(len(judge.get('prompts', ())), 'prompt')}, question format {judge.get('wrapper', '')}"
        yield f"Judged by {escape(judge_line(judge))}{', ' + escape(parameters) if parameters else ''}; {about}."
        yield ""


def _people(adjudicated: JsonMapping | None) -> Iterator[str]:
    if adjudicated:
        names = ", ".join(escape(name) for name in adjudicated["by"])
        count = plural(adjudicated["decisions"], "verdict")
        yield f"{count} decided by {names}, over the run {escape(adjudicated['from'])}."
        yield ""


def gate_rows(summary: JsonMapping) -> list[tuple[object, ...]]:
    """The rows of the table of gates, under `GATE_HEADS`: the result of each over the run, and the count per state."""
    settled = summary["unresolved"]["gates"]
    return [
        (name, gate_result(settled[name]) if name in settled else "", *(counts[state] for state in GATE_STATES))
        for name, counts in summary["gates"].items()
    ]


def _gates(summary: JsonMapping) -> Iterator[str]:
    if rows := gate_rows(summary):
        sentences = (*pass_rate_lines(summary["unresolved"]), *idle_gates(summary).values())
        rates = [f"- {escape(line)}" for line in sentences]
        yield from section("Gates", [*table(GATE_HEADS, rows), *([""] if rates else []), *rates])
    if summary.get("left_out"):
        why = "Gates are undecided because the profile leaves out these checks, which apply:"
        lines = ["Only what may change a gate was asked. Not asked:" if summary.get("gates_only") else why, ""]
        lines += table(("check", "transcripts"), list(summary["left_out"].items()))
        yield from section("Left out", lines)


def _failed(summary: JsonMapping) -> Iterator[str]:
    failed = summary["failed"]
    by = "A transcript fails if one of its gates fails." if summary["decided_by"] == "gates" else NO_GATE
    lines = [f"{failed['count']} of {summary['transcripts']} ({percent(failed['rate'])}). {by}"]
    lines += ["", f"{outside}."] if (outside := outside_gates(summary)) else []
    if failed["unproven"]:
        lines += ["", f"{unproven(summary)}. A person must decide them: `rulewright adjudicate`."]
    if failed["by_check"]:
        causes = [
            (e["check_id"], e["primary_bucket"] or "", e["severity"] or "", e["count"], e["unproven"])
            for e in failed["by_check"]
        ]
        lines += ["", *table(("check", "bucket", "severity", "times", "unproven"), causes)]
    if failed["transcripts"]:
        listed = [(row["transcript_id"], row["model"], _because(row)) for row in failed["transcripts"]]
        lines += ["", *table(("transcript", "model", "because of"), listed[:_MAX_ROWS]), *_more(failed["count"])]
    yield from section("Failed", lines)
    counts = [(name.replace("_", " "), count) for name, count in summary["outcomes"].items()]
    yield from section("Outcomes", table(("outcome", "transcripts"), counts))


def _more(count: int) -> list[str]:
    return ["", f"The first {_MAX_ROWS} of {count}; the files of the run contain all."] if count > _MAX_ROWS else []


def _because(row: JsonMapping) -> str:
    causes = {check_id: f" ({UNPROVEN[cause]})" for check_id, cause in row["unproven"].items()}
    return ", ".join(check_id + causes.get(check_id, "") for check_id in row["because"])


def _unresolved(summary: JsonMapping) -> Iterator[str]:
    if lines := unresolved_lines(summary["unresolved"]):
        yield from section("Unresolved", [f"- {escape(line)}" for line in lines])


def _scores(summary: JsonMapping) -> Iterator[str]:
    rows = scores(summary)
    cells = [(name, number(means["mean"]), means["counted"], means["absent"]) for name, means in rows]
    yield from section("Scores", table(("score", "mean", "counted", "absent"), cells))
    if summary["status"]:
        counts = [(name.replace("_", " "), count) for name, count in summary["status"].items()]
        yield from section(label_name(summary), table((label_name(summary).lower(), "transcripts"), counts))

    totals = [f"- {escape(line)}" for line in equations(summary).values()]
    if totals:
        yield from section("Totals", totals)


def _incomplete(summary: JsonMapping) -> Iterator[str]:
    incomplete = summary["incomplete"]["transcripts"]
    if incomplete:
        rows = [(row["transcript_id"], gaps(row["missing"])) for row in incomplete[:_MAX_ROWS]]
        lines = ["No check passes in an incomplete transcript, and it scores 0.", ""]
        lines += [*table(("transcript", "what is missing"), rows), *_more(summary["incomplete"]["count"])]
        yield from section("Incomplete transcripts", lines)


def _models(summary: JsonMapping) -> Iterator[str]:
    models = summary["models"]
    recorded = any(model["harness"] for model in models.values())
    if len(models) > 1 or recorded:
        heads, cells = _means_of("model", summary, models)
        if recorded:
            heads = (*heads, "harness")
            cells = [(*row, _harness(model)) for row, model in zip(cells, models.values(), strict=True)]
        yield from section("Models", table(heads, cells))
    if len(summary["categories"]) > 1:
        yield from section("Categories", table(*_means_of("category", summary, summary["categories"])))


def _means_of(what: str, summary: JsonMapping, groups: JsonMapping) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """The heads and the rows of a table of groups; without a headline it has no means."""
    name = headline_name(summary)
    heads = (what, "transcripts", "failed", *([name, "counted"] if name else []))
    rows = [
        (group, each["transcripts"], each["failed"], *(_mean(each["overall"]) if name else ()))
        for group, each in groups.items()
    ]
    return heads, rows


def _mean(overall: JsonMapping) -> tuple[str, int]:
    return number(overall["mean"]), overall["counted"]


def _harness(model: JsonMapping) -> str:
    return ", ".join(f"{name} ({count})" for name, count in model["harness"].items()) or "not recorded"


def _checks(summary: JsonMapping) -> Iterator[str]:
    names = ("eligible", "PASS", "FAIL", "UNCLEAR", "errors", "missing", "NOT_APPLICABLE", "not_eligible")
    rows = [(check_id, *(counts[name] for name in names)) for check_id, counts in summary["checks"].items()]
    yield from section("Checks", table(("check", *(name.replace("_", " ") for name in names)), rows))


def _blindspots(summary: JsonMapping) -> Iterator[str]:
    models = summary["models"] if len(summary["models"]) > 1 else {}
    whole = summary["blindspots"]
    groups = [(whole["rates"], whole["known"]), *((each["blindspots"], each["known"]) for each in models.values())]
    rows = [
        (label, *(_share_of(rates.get(label), known.get(label, 0)) for rates, known in groups))
        for label in summary["blindspots"]["rates"]
    ]
    if rows:
        heads = ("label", "fails", *(escape(name) for name in models))
        yield from section("Blindspots", table(heads, rows))


def _share_of(rate: float | None, known: int) -> str:
    return percent(rate) if rate is None else f"{percent(rate)} of {known}"


def _adjudication(summary: JsonMapping) -> Iterator[str]:
    waiting = summary["adjudication"]
    if waiting["count"]:
        rows = [
            (item["transcript_id"], item["check_id"] or "", item["verdict"] or "", reason_words(item["reason"]))
            for item in waiting["items"][:_MAX_ROWS]
        ]
        lines = table(("transcript", "check", "verdict", "reason"), rows)
        yield from section("Waiting for a person", [*lines, *_more(waiting["count"])])


def _refused(summary: JsonMapping) -> Iterator[str]:
    inputs = summary["refused"]["inputs"]
    if inputs:
        rows = [(place_of(item), item["reason"]) for item in inputs[:_MAX_ROWS]]
        lines = [*table(("place", "reason"), rows), *_more(summary["refused"]["count"])]
        yield from section("Refused inputs", lines)
