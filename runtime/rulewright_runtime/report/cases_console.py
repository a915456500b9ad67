"""The scorecard of a batch of cases for a terminal of 80 columns (seed 001, 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from rulewright_runtime.report.text import center, clean, fit, left, plural, width

_INNER: Final = 71
_TITLE_AT: Final = 22
_METRIC, _MEAN, _RATE, _STATUS = 8, 12, 11, 37
_ID, _ARCHETYPE, _SCORE, _LABEL = 15, 21, 4, 7
_FLIPS: Final = 10
_ROOM: Final = 6  # columns between the table of the seed and the terminal's edge


@dataclass(frozen=True, slots=True)
class MetricLine:
    """What the console says of one metric. `status` is OK, WARN (...) or FAIL; `top` its most frequent phrase."""

    name: str
    mean: float
    pass_rate: float
    status: str
    title: str
    top: tuple[str, int] | None


def console(
    report: Mapping[str, Any],
    title: str,
    metrics: Iterable[MetricLine],
    cases: Iterable[Mapping[str, Any]],
    labels: Iterable[str],
) -> Iterator[str]:
    """The lines of the scorecard, none wider than 80 columns. `cases` are results and errored cases, in that order."""
    lines = list(metrics)
    yield f"╔{'═' * _INNER}╗"
    yield f"║{_heading(title)}║"
    yield f"╠{'═' * _INNER}╣"
    for text in _totals(report["summary"], labels):
        yield f"║ {left(text, _INNER - 1)}║"
    yield f"╠{'═' * _INNER}╣"
    yield "║" + "│".join((" Metric ", " Mean Score ", " Pass Rate ", left(" Status", _STATUS))) + "║"
    yield f"╠{'─' * _METRIC}┼{'─' * _MEAN}┼{'─' * _RATE}┼{'─' * _STATUS}╣"
    for line in lines:
        cells = (
            center(line.name, _METRIC),
            center(f"{line.mean:.2f}", _MEAN),
            "   " + left(f"{line.pass_rate:.0%}", _RATE - 3),
            " " + left(line.status, _STATUS - 1),
        )
        yield f"║{'│'.join(cells)}║"
    yield f"╠{'═' * _INNER}╣"
    composite = f"Composite: {report['mean_scores']['composite']:.2f}"
    yield f"║ {left(composite, _INNER - 1)}║"
    yield f"╚{'═' * _INNER}╝"
    yield from _breakdown(cases, [line.name for line in lines])
    if "comparison" in report:
        yield ""
        yield from _comparison(report["comparison"])
    issues = [line for line in lines if line.top is not None]
    if issues:
        yield ""
        yield "Top Issues:"
        yield from (_issue(line) for line in issues)


def _comparison(comparison: Mapping[str, Any]) -> Iterator[str]:
    """What changed since the baseline, worst first."""
    verdict = "REGRESSION" if comparison["regression"] else "no regression"
    counts = f"{comparison['worse']} worse, {comparison['better']} better of {comparison['paired']} paired"
    yield f"Since the baseline: {verdict} ({counts})"
    if not comparison["same_settings"]:
        yield "  the two runs were scored under different settings"
    for name, test in comparison["tests"].items():
        if test["worse"]:
            yield f"  {name}: {test['falls']} fell, {test['rises']} rose (p = {test['p_value']:.3g})"
    for flip in comparison["flips"][:_FLIPS]:
        yield fit(f"  {flip['before'].upper()} -> {flip['after'].upper()}  {flip['test_id']}", 80)
    if len(comparison["flips"]) > _FLIPS:
        yield f"  and {len(comparison['flips']) - _FLIPS} more changed labels"


def details(cases: Iterable[Mapping[str, Any]], metrics: list[str]) -> Iterator[str]:
    """What was found where and what was missing, case by case, for results that carry evidence."""
    yield ""
    yield "Details:"
    for case in cases:
        if case.get("scores") is None:
            yield fit(f"  {case['test_id']} (ERROR): {case['message']}", 80)
            continue
        yield fit(f"  {case['test_id']} ({case['label'].upper()}, composite {case['scores']['composite']:.2f})", 80)
        for metric in metrics:
            places = {entry["phrase"]: entry for entry in case["evidence"][metric]}
            near = {entry["phrase"]: entry for entry in case.get("semantic_matches", {}).get(metric, ())}
            near |= {entry["phrase"]: entry for entry in case["near_misses"][metric]}
            for kind, phrases in case["details"][metric].items():
                for phrase in phrases:
                    yield fit(f'    {metric} {kind}: "{phrase}"{_where(phrase, places, near)}', 80)


def _where(phrase: str, places: Mapping[str, Any], near: Mapping[str, Any]) -> str:
    place = places.get(phrase)
    if place is not None and place["in"] is not None:
        return f" in {place['in']} at {place['start']}-{place['end']}"
    if phrase in near:
        kind = "negated" if "negated" in near[phrase] else "near"
        return f' ({kind}: "{near[phrase]["text"]}" in {near[phrase]["in"]})'
    return ""


def _heading(title: str) -> str:
    title = fit(title, _INNER - 2)
    spare = _INNER - width(title)
    before = min(_TITLE_AT, spare // 2)
    return " " * before + title + " " * (spare - before)


def _totals(summary: Mapping[str, Any], labels: Iterable[str]) -> Iterator[str]:
    total = summary["total_cases"]
    words = [f"Total Cases: {total}"]
    for label in (*labels, *(["Errors"] if summary["errors"] else [])):
        count = summary[label.lower()]
        words.append(f"{label}: {count} ({count / total if total else 0:.0%})")
    line = words[0]
    for word in words[1:]:
        if width(line) + 4 + width(word) > _INNER - 1:
            yield line
            line = word
        else:
            line += "    " + word
    yield line


def _breakdown(cases: Iterable[Mapping[str, Any]], metrics: list[str]) -> Iterator[str]:
    """The table of cases; its first columns grow into the room that the terminal leaves, seen over the first cases."""
    rows = iter(cases)
    first = [row for _, row in zip(range(200), rows, strict=False)]
    if not first:
        return
    wanted = max(width(clean(str(row["test_id"]))) for row in first)
    id_width = min(max(wanted, _ID), _ID + _ROOM)
    wanted = max(width(clean(str(row["archetype"]))) for row in first)
    group_width = min(max(wanted, _ARCHETYPE), _ARCHETYPE + _ROOM - (id_width - _ID))
    sizes = [id_width, group_width, *[_SCORE] * len(metrics), _LABEL]
    yield ""
    yield "Per-Case Breakdown:"
    yield _rule("┌┬┐", sizes)
    heads = [left("Test ID", id_width), left("Archetype", group_width), *(center(m, _SCORE) for m in metrics)]
    yield f"│ {' │ '.join([*heads, left('Label', _LABEL)])} │"
    yield _rule("├┼┤", sizes)
    for row in chain(first, rows):
        scores = row.get("scores")
        cells = [left(str(row["test_id"]), id_width), left(str(row["archetype"]), group_width)]
        cells += ["  – " if scores is None else left(f"{scores[m]:.2f}", _SCORE) for m in metrics]
        yield f"│ {' │ '.join([*cells, left(str(row.get('label', 'Error')).upper(), _LABEL)])} │"
    yield _rule("└┴┘", sizes)


def _rule(corners: str, sizes: list[int]) -> str:
    return corners[0] + corners[1].join("─" * (size + 2) for size in sizes) + corners[2]


def _issue(line: MetricLine) -> str:
    assert line.top is not None
    phrase, count = line.top
    tail = f'" ({plural(count, "case")})'
    head = f'  {line.title}: "'
    return head + fit(phrase, 80 - width(head) - width(tail)) + tail
