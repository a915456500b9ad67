"""The scorecard of a scan for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rulewright_runtime.report.text import fit, left, number, percent, plural, right

_BAR: Final = 20
_RULE: Final = "─"
_COLOURS: Final = {"bad": "\x1b[31m", "open": "\x1b[33m", "good": "\x1b[32m"}
_OFF: Final = "\x1b[0m"


def scorecard(summary: Mapping[str, Any], *, columns: int = 80, colour: bool = False, most: int = 8) -> str:
    """The summary as a person reads it, no line wider than `columns`; lists are cut after `most` entries.

    Colours come only when asked for: the caller knows whether a terminal is listening.
    """
    paint = _Paint(colour)
    lines = [
        *_head(summary, columns),
        *_gates(summary, paint, columns),
        *_hard_fails(summary, paint, columns, most),
        *_scores(summary, columns),
        *_blindspots(summary, columns, most),
        *_open(summary, paint, columns, most),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


class _Paint:
    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, kind: str, text: str) -> str:
        return f"{_COLOURS[kind]}{text}{_OFF}" if self.colour and text.strip(" 0") else text


def _head(summary: Mapping[str, Any], columns: int) -> Iterator[str]:
    refused = summary["refused"]["count"]
    words = [plural(summary["transcripts"], "transcript")]
    words += [f"{key} {summary[key]}" for key in ("profile", "scorecard") if summary.get(key)]
    if refused:
        words.append(f"{refused} refused")
    yield fit("Rulewright scan: " + ", ".join(words), columns)
    yield _RULE * columns


def _gates(summary: Mapping[str, Any], paint: _Paint, columns: int) -> Iterator[str]:
    if not summary["gates"]:
        return
    name = columns - 4 * 11
    heads = ("passed", "failed", "undecided", "not run")
    yield left("Gates", name) + "".join(right(head, 11) for head in heads)
    for gate, counts in summary["gates"].items():
        cells = [
            paint("good", right(str(counts["passed"]), 11)),
            paint("bad", right(str(counts["failed"]), 11)),
            paint("open", right(str(counts["undecided"]), 11)),
            right(str(counts["not_run"]), 11),
        ]
        yield left("  " + gate, name) + "".join(cells)
    if summary.get("left_out"):
        yield fit(f"  open because the profile leaves out: {', '.join(summary['left_out'])}", columns)
    yield ""


def _hard_fails(summary: Mapping[str, Any], paint: _Paint, columns: int, most: int) -> Iterator[str]:
    failed = summary["hard_fails"]
    share = f"{failed['count']} of {summary['transcripts']} ({percent(failed['rate'])})"
    yield left("Hard fails", 20) + paint("bad" if failed["count"] else "good", share)
    for entry in failed["by_check"][:most]:
        times = plural(entry["count"], "time")
        yield "  " + left(entry["mode_id"], columns - 26) + left(str(entry["severity"]), 10) + right(times, 14)
    yield from _more(failed["by_check"], most, "check")
    yield ""


def _scores(summary: Mapping[str, Any], columns: int) -> Iterator[str]:
    yield left("Scores", 32) + right("mean", 6) + "  " + left("", _BAR) + right("counted", 10) + right("absent", 10)
    rows = [("overall", summary["overall_score"]), *summary["dimension_scores"].items()]
    for name, means in rows:
        mean = means["mean"]
        bar = "" if mean is None else "█" * round(mean * _BAR)
        counts = right(str(means["counted"]), 10) + right(str(means["absent"]), 10)
        yield fit("  " + left(name, 30) + right(number(mean), 6) + "  " + left(bar, _BAR) + counts, columns)
    verdicts = summary["verdicts"]
    words = [f"{verdicts[name]} {name}" for name in ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")]
    yield ""
    yield left("Verdicts", 20) + fit(", ".join(words), columns - 20)
    status = [f"{count} {name.replace('_', ' ')}" for name, count in summary["status"].items() if count]
    yield left("Transcripts", 20) + fit(", ".join(status), columns - 20)
    yield ""


def _blindspots(summary: Mapping[str, Any], columns: int, most: int) -> Iterator[str]:
    rates = {label: rate for label, rate in summary["blindspots"]["rates"].items() if rate}
    if not rates:
        return
    worst = sorted(rates.items(), key=lambda pair: (-pair[1], pair[0]))
    yield left("Blindspots", 32) + "share of transcripts with an answer that fail"
    for label, rate in worst[:most]:
        yield fit("  " + left(label, 30) + right(percent(rate), 6) + "  " + "█" * max(1, round(rate * _BAR)), columns)
    yield from _more(worst, most, "label")
    yield ""


def _open(summary: Mapping[str, Any], paint: _Paint, columns: int, most: int) -> Iterator[str]:
    waiting = summary["adjudication"]
    if waiting["count"]:
        yield paint("open", f"{plural(waiting['count'], 'verdict')} for a person to look at")
        for item in waiting["items"][:most]:
            what = f"{item['mode_id'] or ''} {item['verdict'] or ''} {item['reason'] or ''}"
            yield fit("  " + left(item["transcript_id"], 40) + " " + " ".join(what.split()), columns)
        yield from _more(waiting["items"], most, "verdict")
    if summary["refused"]["count"]:
        yield paint("bad", f"{plural(summary['refused']['count'], 'input')} refused")
        for item in summary["refused"]["inputs"][:most]:
            place = f"{item['path']}:{item['line']}" if item["line"] else item["path"]
            yield fit(f"  {place}: {item['reason']}", columns)
        yield from _more(summary["refused"]["inputs"], most, "input")


def _more(items: Any, most: int, noun: str) -> Iterator[str]:
    if len(items) > most:
        yield f"  and {plural(len(items) - most, 'more ' + noun)}"
