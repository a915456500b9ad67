"""The scorecard of a scan for a terminal of 80 columns, or of 40 without bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rulewright_runtime.english import plural
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.report.accumulators import is_unresolved, pass_rate_lines, unresolved_lines
from rulewright_runtime.report.summary import (
    equations,
    failed_interval,
    gaps,
    idle_gates,
    judge_line,
    label_name,
    outside_gates,
    scores,
    unproven,
)
from rulewright_runtime.report.text import number, percent, place_of, reason_words
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import fit, left, paint, right, wrapped

_BAR: Final = 20
_MOST: Final = 8  # entries of a list
_RULE: Final = "─"
_WIDE: Final = 80  # columns with bars
_GATES: Final = {"passed": "good", "failed": "bad", "undecided": "open", "not run": ""}
_NO_GATE_OPEN: Final = "no gate is undecided, but too few checks were decided, or a condition could not be"


def scorecard(summary: JsonMapping, *, columns: int = 80, colour: bool = False) -> str:
    """The summary as text for a terminal, with lines of at most `columns` cells.

    Colours are off by default: the caller knows whether the output is a terminal.
    """
    paint = _Paint(colour)
    lines = [
        *_head(summary, columns),
        *_gates(summary, paint, columns),
        *_failed(summary, paint, columns),
        *_unresolved(summary, paint, columns),
        *_scores(summary, columns),
        *_categories(summary, columns),
        *_blindspots(summary, columns),
        *_open(summary, paint, columns),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


class _Paint:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, kind: str, text: str) -> str:
        return paint(text, kind) if kind and self.colour and text.strip(" 0") else text

    def lines(self, kind: str, lines: Iterable[str]) -> Iterator[str]:
        """Lines painted without their indentation."""
        for line in lines:
            text = line.lstrip()
            yield line.removesuffix(text) + self(kind, text)


def _head(summary: JsonMapping, columns: int) -> Iterator[str]:
    refused = summary["refused"]["count"]
    words = [plural(summary["transcripts"], "transcript")]
    words += [f"{key} {summary[key]}" for key in ("profile", "scorecard") if summary.get(key)]
    words += ["gates only"] if summary.get("gates_only") else []
    if refused:
        words.append(f"{refused} refused")
    yield from wrapped(", ".join(words), columns, "Rulewright scan: ")
    yield _RULE * columns
    if judge := judge_line(summary.get("judge")):
        yield from wrapped(judge, columns, left("Judge", 20))
        yield ""


def _gates(summary: JsonMapping, paint: _Paint, columns: int) -> Iterator[str]:
    if not summary["gates"]:
        return
    sizes = {head: 11 if columns >= _WIDE else len(head) + 1 for head in _GATES}
    name = columns - sum(sizes.values())
    yield left("Gates", name) + "".join(right(head, size) for head, size in sizes.items())
    for gate, counts in summary["gates"].items():
        cells = [paint(kind, right(str(counts[head.replace(" ", "_")]), sizes[head])) for head, kind in _GATES.items()]
        yield left("  " + gate, name) + "".join(cells)
    for line in pass_rate_lines(summary["unresolved"]):
        yield from wrapped(line, columns, "  ")
    for line in idle_gates(summary).values():
        yield from paint.lines("open", wrapped(line, columns, "  "))
    if summary.get("left_out"):
        why = "not asked" if summary.get("gates_only") else "undecided because the profile leaves out"
        yield from wrapped(f"{why}: {', '.join(summary['left_out'])}", columns, "  ")
    yield ""


def _failed(summary: JsonMapping, paint: _Paint, columns: int) -> Iterator[str]:
    failed, outcomes = summary["failed"], summary["outcomes"]
    if not summary["transcripts"]:
        yield left("Failed", 20) + "no transcript was judged"
        return
    interval = failed_interval(summary)
    share = f"{failed['count']} of {summary['transcripts']} ({percent(failed['rate'])})"
    by = "a gate" if summary["decided_by"] == "gates" else "checks (no gate contains a check)"
    first, *more = wrapped(share + f" by {by}" * bool(failed["count"]), columns, left("Failed", 20))
    yield first.replace(share, paint("bad" if failed["count"] else "good", share))
    yield from more
    yield from wrapped(f"95% interval {percent(interval['low'])} to {percent(interval['high'])}", columns, left("", 20))
    yield from wrapped(outside_gates(summary), columns, left("", 20)) if outside_gates(summary) else ()
    if failed["unproven"]:
        yield from paint.lines("open", wrapped(unproven(summary), columns, left("", 20)))
    for entry in failed["by_check"][:_MOST]:
        times = plural(entry["count"], "time") + (f", {entry['unproven']} unproven" if entry["unproven"] else "")
        severity = entry["severity"] or ""
        if columns >= _WIDE:
            yield f"  {left(entry['check_id'], columns - 37)} {left(severity, 10)}{right(times, 24)}"
        else:
            yield from wrapped(f"{entry['check_id']}  {severity}  {times}", columns, "  ")
    yield from _more(len(failed["by_check"]), "check")
    if outcomes["undecided"]:
        yield left("Undecided", 20) + paint("open", f"{outcomes['undecided']} of {summary['transcripts']}")
        is_open = any(gate["undecided"] or gate["not_run"] for gate in summary["gates"].values())
        if summary["decided_by"] == "gates" and not is_open:
            yield from wrapped(_NO_GATE_OPEN, columns, left("", 20))
    if outcomes["nothing_applied"]:
        yield left("Nothing applied", 20) + f"{outcomes['nothing_applied']} of {summary['transcripts']}"
    yield ""


def _unresolved(summary: JsonMapping, paint: _Paint, columns: int) -> Iterator[str]:
    for index, line in enumerate(unresolved_lines(summary["unresolved"])):
        first, *more = paint.lines("open", wrapped(line, columns, left("", 20)))
        yield from (first if index else left("Unresolved", 20) + first.lstrip(), *more)
    if is_unresolved(summary["unresolved"]):
        yield ""


def _scores(summary: JsonMapping, columns: int) -> Iterator[str]:
    rows = scores(summary)
    if rows:
        yield _line("Scores", "mean", "", ("counted", "absent"), columns)
    for name, means in rows:
        yield _mean_line(name, means["mean"], means["counted"], means["absent"], columns)
    verdicts = summary["verdicts"]
    words = [f"{verdicts[name]} {name}" for name in VERDICTS]
    yield from [""] if rows else []
    yield from wrapped(", ".join(words), columns, left("Verdicts", 20))
    if summary["status"]:
        status = [f"{count} {name.replace('_', ' ')}" for name, count in summary["status"].items()]
        yield from wrapped(", ".join(status), columns, left(label_name(summary), 20))
    totals = [line for name, line in equations(summary).items() if name != "eligible"]
    for index, line in enumerate(totals):
        yield from wrapped(line, columns, left("" if index else "Totals", 20))
    yield ""


def _mean_line(name: str, mean: float | None, one: int, two: object, columns: int) -> str:
    bar = "" if mean is None else "█" * round(mean * _BAR)
    return _line(f"  {name}", number(mean), bar, (str(one), str(two)), columns)


def _line(name: str, share: str, bar: str, counts: Sequence[str], columns: int) -> str:
    """A name with a share, its bar where there is room for one, and counts."""
    shown = f"  {left(bar, _BAR)}" if columns >= _WIDE else ""
    room = 32 if columns >= _WIDE else columns - 6 - 10 * len(counts)
    return left(name, room) + right(share, 6) + shown + "".join(right(count, 10) for count in counts)


def _categories(summary: JsonMapping, columns: int) -> Iterator[str]:
    groups = summary["categories"]
    if len(groups) < 2:
        return
    yield _line("Categories", "mean", "", ("counted", "failed"), columns)
    for name, group in groups.items():
        failed = f"{group['failed']}/{group['transcripts']}"
        yield _mean_line(name, group["overall"]["mean"], group["overall"]["counted"], failed, columns)
    yield ""


def _blindspots(summary: JsonMapping, columns: int) -> Iterator[str]:
    known = summary["blindspots"]["known"]
    rates = {label: rate for label, rate in summary["blindspots"]["rates"].items() if rate}
    if not rates:
        return
    worst = sorted(rates.items(), key=lambda pair: (-pair[1], pair[0]))
    yield _line("Blindspots", "failed", "", ("decided",), columns)
    for label, rate in worst[:_MOST]:
        bar = "█" * max(1, round(rate * _BAR))
        yield _line(f"  {label}", percent(rate), bar, (str(known[label]),), columns)
    yield from _more(len(worst), "label")
    yield ""


def _open(summary: JsonMapping, paint: _Paint, columns: int) -> Iterator[str]:
    incomplete = summary["incomplete"]
    if incomplete["count"]:
        yield paint("open", f"{plural(incomplete['count'], 'incomplete transcript')}: no check passes")
        for row in incomplete["transcripts"][:_MOST]:
            yield fit("  " + left(row["transcript_id"], 40) + " " + gaps(row["missing"]), columns)
        yield from _more(incomplete["count"], "transcript")
    waiting = summary["adjudication"]
    if waiting["count"]:
        yield paint("open", plural(waiting["count"], "verdict waits for a person", "verdicts wait for a person"))
        width = min(40, max(len(item["transcript_id"]) for item in waiting["items"][:_MOST]))
        for item in waiting["items"][:_MOST]:
            what = f"{item['verdict'] or ''} {item['check_id'] or ''} {reason_words(item['reason'])}"
            yield fit("  " + left(item["transcript_id"], width) + "  " + " ".join(what.split()), columns)
        yield from _more(waiting["count"], "verdict")
    if summary["refused"]["count"]:
        yield paint("bad", f"{plural(summary['refused']['count'], 'input')} refused")
        places: dict[str, list[str]] = {}
        for item in summary["refused"]["inputs"]:
            places.setdefault(item["reason"], []).append(place_of(item))
        shown = [*places.items()][:_MOST]
        for reason, (place, *others) in shown:
            more = f" (also {plural(len(others), 'other input')})" if others else ""
            yield from wrapped(f"{place}: {reason}{more}", columns, "  ")
        if left_out := summary["refused"]["count"] - sum(len(each) for _, each in shown):
            yield f"  and {plural(left_out, 'more input')}"


def _more(count: int, noun: str) -> Iterator[str]:
    if count > _MOST:
        yield f"  and {plural(count - _MOST, 'more ' + noun)}"
