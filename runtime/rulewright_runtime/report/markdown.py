"""The summary of a scan as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rulewright_runtime.report.text import escape, number, percent, plural, table

_MOST: Final = 200


def markdown(summary: Mapping[str, Any]) -> str:
    """The summary as a Markdown page."""
    return "\n".join(_page(summary)).rstrip() + "\n"


def _page(summary: Mapping[str, Any]) -> Iterator[str]:
    yield "# Scan"
    yield ""
    about = ", ".join(
        f"{key} {escape(summary[key])}" for key in ("profile", "scorecard", "semantics") if key in summary
    )
    yield f"{plural(summary['transcripts'], 'transcript')}{', ' + about if about else ''}."
    yield ""
    yield from _gates(summary)
    yield from _scores(summary)
    yield from _models(summary)
    yield from _checks(summary)
    yield from _blindspots(summary)
    yield from _adjudication(summary)
    yield from _refused(summary)


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from lines
    yield ""


def _gates(summary: Mapping[str, Any]) -> Iterator[str]:
    rows = [(name, g["passed"], g["failed"], g["undecided"], g["not_run"]) for name, g in summary["gates"].items()]
    if rows:
        yield from _section("Gates", table(("gate", "passed", "failed", "undecided", "not run"), rows))
    if summary.get("left_out"):
        lines = ["Open gates wait for checks that apply and that the profile leaves out:", ""]
        lines += table(("check", "transcripts"), list(summary["left_out"].items()))
        yield from _section("Left out", lines)
    failed = summary["hard_fails"]
    lines = [f"{failed['count']} of {summary['transcripts']} ({percent(failed['rate'])})."]
    if failed["by_check"]:
        causes = [(e["mode_id"], e["bucket"], e["severity"], e["count"]) for e in failed["by_check"]]
        lines += ["", *table(("check", "bucket", "severity", "times"), causes)]
    if failed["transcripts"]:
        listed = [(row["transcript_id"], row["model"], _reasons(row)) for row in failed["transcripts"][:_MOST]]
        lines += ["", *table(("transcript", "model", "because of"), listed)]
    yield from _section("Hard fails", lines)


def _reasons(row: Mapping[str, Any]) -> str:
    return ", ".join(str(reason.get("mode_id")) for reason in row["hard_fail_reasons"] or ())


def _scores(summary: Mapping[str, Any]) -> Iterator[str]:
    rows = [("overall", summary["overall_score"]), *summary["dimension_scores"].items()]
    cells = [(name, number(means["mean"]), means["counted"], means["absent"]) for name, means in rows]
    yield from _section("Scores", table(("score", "mean", "counted", "absent"), cells))
    counts = [(name.replace("_", " "), count) for name, count in summary["status"].items()]
    yield from _section("Transcripts", table(("status", "transcripts"), counts))


def _models(summary: Mapping[str, Any]) -> Iterator[str]:
    models = summary["models"]
    if len(models) > 1 or any(model["harness"] for model in models.values()):
        rows = [
            (name, model["transcripts"], model["hard_fails"], number(model["overall"]["mean"]), _harness(model))
            for name, model in models.items()
        ]
        yield from _section("Models", table(("model", "transcripts", "hard fails", "overall", "harness"), rows))


def _harness(model: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in model["harness"].items()) or "not recorded"


def _checks(summary: Mapping[str, Any]) -> Iterator[str]:
    names = ("eligible", "PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")
    rows = [(mode_id, *(counts[name] for name in names)) for mode_id, counts in summary["checks"].items()]
    yield from _section("Checks", table(("check", *(name.replace("_", " ") for name in names)), rows))


def _blindspots(summary: Mapping[str, Any]) -> Iterator[str]:
    rows = [(label, percent(rate)) for label, rate in summary["blindspots"]["rates"].items()]
    if rows:
        yield from _section("Blindspots", table(("label", "fails"), rows))


def _adjudication(summary: Mapping[str, Any]) -> Iterator[str]:
    waiting = summary["adjudication"]
    if waiting["count"]:
        rows = [
            (item["transcript_id"], item["mode_id"] or "", item["verdict"] or "", item["reason"] or "")
            for item in waiting["items"][:_MOST]
        ]
        lines = table(("transcript", "check", "verdict", "reason"), rows)
        if waiting["count"] > _MOST:
            lines += ["", f"The first {_MOST} of {waiting['count']}; `summary.json` holds all."]
        yield from _section("For a person to look at", lines)


def _refused(summary: Mapping[str, Any]) -> Iterator[str]:
    inputs = summary["refused"]["inputs"]
    if inputs:
        rows = [(f"{item['path']}:{item['line']}" if item["line"] else item["path"], item["reason"]) for item in inputs]
        yield from _section("Refused inputs", table(("place", "reason"), rows))
