"""The scorecard of a batch of cases for a terminal of 80 columns (seed 001, 5.2)."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

from msgspec import Struct

from rulewright_runtime.cells import width
from rulewright_runtime.english import plural
from rulewright_runtime.report.text import number, percent
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import center, fit, left, one_line

_INNER: Final = 71
_TITLE_AT: Final = 22
_METRIC, _MEAN, _RATE, _STATUS = 8, 12, 11, 37
_ID, _ARCHETYPE, _SCORE, _LABEL = 15, 21, 4, 7
REFERENCE: Final = "Reference semantics: unknown keys are ignored, and missing values are empty."
_FLIPS: Final = 10
_ROOM: Final = 6  # columns between the table of the seed and the terminal's edge


class MetricLine(Struct, frozen=True):
    """One metric on the console. `status` is OK, WARN (...) or FAIL; `top` is its most frequent phrase."""

    name: str
    mean: float
    pass_rate: float
    status: str
    title: str
    top: tuple[str, int] | None


def console(
    report: JsonMapping,
    title: str,
    metrics: Iterable[MetricLine],
    cases: Iterable[Mapping[str, object]],
    labels: Iterable[str],
) -> Iterator[str]:
    """The lines of the scorecard, none wider than 80 columns. `cases` are results and errored cases, in that order."""
    lines = list(metrics)
    yield f"╔{'═' * _INNER}╗"
    yield f"║{_heading(title)}║"
    yield f"╠{'═' * _INNER}╣"
    for text in _totals(report["summary"], labels, len(refused_inputs(report))):
        yield f"║ {left(text, _INNER - 1)}║"
    yield f"╠{'═' * _INNER}╣"
    yield "║" + "│".join((" Metric ", " Mean Score ", " Pass Rate ", left(" Status", _STATUS))) + "║"
    yield f"╠{'─' * _METRIC}┼{'─' * _MEAN}┼{'─' * _RATE}┼{'─' * _STATUS}╣"
    for line in lines:
        cells = (
            center(line.name, _METRIC),
            center(number(line.mean), _MEAN),
            "   " + left(percent(line.pass_rate), _RATE - 3),
            " " + left(line.status, _STATUS - 1),
        )
        yield f"║{'│'.join(cells)}║"
    yield f"╠{'═' * _INNER}╣"
    composite = f"Composite: {number(report['mean_scores']['composite'])}"
    yield f"║ {left(composite, _INNER - 1)}║"
    yield f"╚{'═' * _INNER}╝"
    if is_under_reference(report):
        yield REFERENCE
    yield from _breakdown(cases, [line.name for line in lines])
    if "comparison" in report:
        yield ""
        yield from _comparison(report["comparison"])
    issues = [line for line in lines if line.top is not None]
    if issues:
        yield ""
        yield "Top Issues:"
        yield from (_issue(line) for line in issues)


def refused_inputs(report: JsonMapping) -> list[JsonMapping]:
    """The errors about inputs that may have held any number of cases, and count in no total."""
    return [error for error in report["errors"] if error["test_id"] is None]


def is_under_reference(report: JsonMapping) -> bool:
    """Whether the cases were read under the reference semantics."""
    semantics = report.get("configuration", {}).get("semantics", {})
    return bool(semantics.get("value") == "reference")


def _comparison(comparison: JsonMapping) -> Iterator[str]:
    """What changed since the baseline, worst first."""
    yield f"Since the baseline: {verdict_of(comparison)} ({changes_of(comparison)})"
    if not comparison["same_settings"]:
        yield "  the two runs were scored under different settings"
    for name, test in comparison["tests"].items():
        if test["worse"]:
            yield f"  {name}: {test['falls']} fell, {test['rises']} rose (p = {test['p_value']:.3g})"
    changed = comparison["worse"] + comparison["better"]
    flips = (f"{flip['before'].upper()} -> {flip['after'].upper()}  {flip['test_id']}" for flip in comparison["flips"])
    yield from _first(flips, changed, "changed labels")
    for kind in ("missing", "added"):
        cases = (f"{kind} {each['label'].upper()}  {each['test_id']}" for each in comparison[f"{kind}_cases"])
        yield from _first(cases, comparison[kind], f"{kind} cases")


def _first(lines: Iterable[str], number: int, what: str) -> Iterator[str]:
    """The first lines, and how many of `what` are not shown."""
    yield from (fit(f"  {line}", 80) for line in islice(lines, _FLIPS))
    if number > _FLIPS:
        yield f"  and {number - _FLIPS} more {what}"


def verdict_of(comparison: Mapping[str, object]) -> str:
    """Return the result of a comparison in words."""
    if not comparison["paired"]:
        return "NOT COMPARED"
    return "REGRESSION" if comparison["regression"] else "no regression"


def changes_of(comparison: Mapping[str, object]) -> str:
    """Return the numbers of a comparison in words."""
    lost = comparison["missing_not_passed"]
    missing = f"{comparison['missing']} missing" + (f", {lost} of which did not pass" if lost else "")
    counts = f"{comparison['worse']} worse, {comparison['better']} better of {comparison['paired']} paired"
    return f"{counts}; {comparison['added']} added; {missing}"


def judged(case: JsonMapping) -> Iterator[tuple[str, ...]]:
    """Return a judge's verdicts other than PASS: the case, the metric with its score, the verdict and the reason."""
    for metric, judged in case.get("judged", {}).items():
        if judged["verdict"] != "PASS":
            verdict = judged["verdict"] if "counted" in judged else f"{judged['verdict']} (a hint)"
            yield (
                case["test_id"],
                f"{metric} {number(case['scores'][metric])}",
                verdict,
                judged["rationale"] or "no reason given",
            )


def matched(case: JsonMapping) -> Iterator[tuple[str, ...]]:
    """Return the words closest in meaning to a phrase of the case that was not found."""
    for metric, matches in case.get("semantic_matches", {}).items():
        for match in matches:
            yield case["test_id"], metric, match["phrase"], f'"{match["text"]}" in {match["in"]}', likeness(match)


def likeness(match: Mapping[str, object]) -> str:
    """Return the similarity of a match, whether it negates the phrase, and whether it counted."""
    marks = [mark for mark in ("negated", "counted") if mark in match]
    return ", ".join([f"{match['similarity']:.2f}", *marks])


Notes = tuple[str, tuple[str, ...], Iterable[tuple[str, ...]]]  # a heading, the names of columns, rows


def notes(heading: str, _: tuple[str, ...], rows: Iterable[tuple[str, ...]], columns: int | None) -> Iterator[str]:
    """A section with a line for each row, the first ones in a terminal."""
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1:
            yield from ("", f"{heading}:")
        if columns is None or number <= _FLIPS:
            yield _cut(f"  {row[0]}  {row[1]}  {': '.join(row[2:])}", columns)
    if columns is not None and number > _FLIPS:
        yield f"  and {number - _FLIPS} more"


def _cut(line: str, columns: int | None) -> str:
    return one_line(line) if columns is None else fit(line, columns)


def details(cases: Iterable[JsonMapping], metrics: list[str], columns: int | None = None) -> Iterator[str]:
    """Return the found and missing phrases case by case, for results with evidence; lines are cut to the columns of a
    terminal."""
    yield ""
    yield "Details:"
    for case in cases:
        if case.get("scores") is None:
            yield _cut(f"  {case['test_id']} (ERROR): {case['message']}", columns)
            continue
        composite = case["scores"]["composite"]
        yield _cut(f"  {case['test_id']} ({case['label'].upper()}, composite {number(composite)})", columns)
        for metric in metrics:
            places = {entry["phrase"]: entry for entry in case["evidence"][metric]}
            near = {entry["phrase"]: entry for entry in case["near_misses"][metric]}
            for kind, phrases in case["details"][metric].items():
                for phrase in phrases:
                    yield _cut(f'    {metric} {kind}: "{phrase}"{_where(phrase, places, near)}', columns)


def _where(phrase: str, places: JsonMapping, near: JsonMapping) -> str:
    place = places.get(phrase)
    if place is not None and place["in"] is not None:
        return f" in {place['in']} at {place['start']}-{place['end']}"
    if phrase in near:
        return f' (near: "{near[phrase]["text"]}" in {near[phrase]["in"]}, {near[phrase]["similarity"]:.2f})'
    return ""


def _heading(title: str) -> str:
    title = fit(title, _INNER - 2)
    spare = _INNER - width(title)
    before = min(_TITLE_AT, spare // 2)
    return " " * before + title + " " * (spare - before)


def _totals(summary: JsonMapping, labels: Iterable[str], refused: int) -> Iterator[str]:
    total = summary["total_cases"]
    words = [f"Total Cases: {total}"]
    for label in (*labels, *(["Errors"] if summary["errors"] else [])):
        count = summary[label.lower()]
        words.append(f"{label}: {count} ({percent(count / total if total else 0)})")
    words += [f"Refused inputs: {refused}"] if refused else []
    line = words[0]
    for word in words[1:]:
        if width(line) + 4 + width(word) > _INNER - 1:
            yield line
            line = word
        else:
            line += "    " + word
    yield line


def _breakdown(cases: Iterable[JsonMapping], metrics: list[str]) -> Iterator[str]:
    """Return the table of cases; its first columns use the remaining width of the terminal, measured over the first
    cases."""
    rows = iter(cases)
    first = [row for _, row in zip(range(200), rows, strict=False)]
    if not first:
        return
    wanted = max(width(one_line(str(row["test_id"]))) for row in first)
    id_width = min(max(wanted, _ID), _ID + _ROOM)
    wanted = max(width(one_line(str(row["archetype"]))) for row in first)
    group_width = min(max(wanted, _ARCHETYPE), _ARCHETYPE + _ROOM - (id_width - _ID))
    spare = 80 - (id_width + group_width + _LABEL + (_SCORE + 3) * len(metrics) + 10)
    most = _SCORE + max(spare, 0) // (len(metrics) or 1)
    scores_of = {name: min(max(width(name), _SCORE), most) for name in metrics}
    sizes = [id_width, group_width, *scores_of.values(), _LABEL]
    yield ""
    yield "Per-Case Breakdown:"
    yield _rule("┌┬┐", sizes)
    heads = [
        left("Test ID", id_width),
        left("Archetype", group_width),
        *(center(m, size) for m, size in scores_of.items()),
    ]
    yield f"│ {' │ '.join([*heads, left('Label', _LABEL)])} │"
    yield _rule("├┼┤", sizes)
    for row in chain(first, rows):
        scores = row.get("scores")
        cells = [left(str(row["test_id"]), id_width), left(str(row["archetype"]), group_width)]
        cells += [left("  –" if scores is None else number(scores[m]), size) for m, size in scores_of.items()]
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
