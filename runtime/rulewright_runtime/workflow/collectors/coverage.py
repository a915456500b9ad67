"""Test coverage from reports of coverage tools: coverage.py's JSON, Cobertura XML and lcov."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from rulewright_runtime.workflow.collectors import report_reading as base
from rulewright_runtime.workflow.collectors.report_reading import CollectionError, ReportReading, count, share, table


def coverage_json(root: Path, path: str) -> ReportReading:
    """Read covered lines, and branches where measured, from coverage.py's `json` report. Raises CollectionError."""
    report = table(path, base.read_json(root, path), "report")
    covered, total = _counts(path, report.get("totals"), "totals")
    if "files" in report:
        files = [table(path, each, "files") for each in table(path, report["files"], "files").values()]
        counts = [_counts(path, file.get("summary"), "summary") for file in files]
        good, known = sum(each for each, _ in counts), sum(each for _, each in counts)
        if (good, known) != (covered, total):
            raise CollectionError(
                path, f"contradicts itself: {covered} of {total} in all, and {good} of {known} by file"
            )
    return _reading(path, covered, total)


def _counts(path: str, value: object, name: str) -> tuple[int, int]:
    """Return how many of how many lines and branches are covered, in all or in one file."""
    counts = table(path, value, name)
    covered, total = ["covered_lines"], ["num_statements"]
    if "num_branches" in counts:
        covered, total = [*covered, "covered_branches"], [*total, "num_branches"]

    def added(keys: list[str]) -> int:
        return sum(count(path, counts.get(key), f"{name}.{key}") for key in keys)

    return added(covered), added(total)


def cobertura(root: Path, path: str) -> ReportReading:
    """Read the lines with hits from a Cobertura report: its totals, or without totals its lines.

    Totals that are better than the listed lines are a CollectionError.
    """
    report = base.read_xml(root, path)
    if report.tag != "coverage":
        raise CollectionError(path, f"is not a Cobertura report: its root is `{report.tag}`")
    lines: dict[tuple[str, int], bool] = {}
    for unit in report.iter("class"):
        for line in unit.iterfind("lines/line"):
            key = (unit.get("filename", ""), _count_attribute(path, line, "number"))
            lines[key] = lines.get(key, False) or _count_attribute(path, line, "hits") > 0
    hit = sum(lines.values())
    if "lines-valid" not in report.attrib:
        return _reading(path, hit, len(lines))
    covered = _count_attribute(path, report, "lines-covered")
    total = _count_attribute(path, report, "lines-valid")
    _check_totals(path, (covered, total), (hit, len(lines)))
    return _reading(path, covered, total)


def _check_totals(path: str, stated: tuple[int, int], listed: tuple[int, int]) -> None:
    """Raise CollectionError when the stated share is better than that of the listed lines. A difference of 0.01 is
    tolerated, because tools count lines differently."""
    listed_share = listed[0] / listed[1] if listed[1] else 0.0
    if stated[1] and stated[0] / stated[1] > listed_share + 0.01:
        raise CollectionError(
            path, f"contradicts itself: it states {stated[0]} of {stated[1]} lines and shows {listed[0]} of {listed[1]}"
        )


def lcov(root: Path, path: str) -> ReportReading:
    """Read the lines with hits from an lcov tracefile; a line in several records is counted once.

    A record without lines counts with its totals, and several of one file with the highest of them. Totals that are
    better than a record's lines are a CollectionError. Raises CollectionError.
    """
    lines: dict[tuple[str, int], bool] = {}
    files: dict[str, list[int]] = {}  # covered lines and all lines that records without lines state, by source
    source, ended, own, totals = "", True, [0, 0], [0, 0]
    for number, row in enumerate(base.read_text(root, path).splitlines(), 1):
        key, _, rest = row.strip().partition(":")
        if key == "SF":
            source, ended, own, totals = rest, False, [0, 0], [0, 0]
        elif key == "DA":
            line, hits = _line_data(path, number, rest)
            lines[source, line] = lines.get((source, line), False) or hits > 0
            own = [own[0] + (hits > 0), own[1] + 1]
        elif key in {"LH", "LF"}:
            totals[key == "LF"] = _digits(path, number, rest)
        elif key == "end_of_record":
            ended = True
            if own[1]:
                _check_totals(path, (totals[0], totals[1]), (own[0], own[1]))
            elif totals[0] > totals[1]:
                raise CollectionError(path, f"contradicts itself: `{source}` states {totals[0]} of {totals[1]} lines")
            else:
                files[source] = list(map(max, files.get(source, totals), totals))
    if not ended:
        raise CollectionError(path, "ends inside a record: it was cut")
    counts = _best(files, lines).values()
    return _reading(path, sum(covered for covered, _ in counts), sum(total for _, total in counts))


def _best(stated: Mapping[str, list[int]], lines: Mapping[tuple[str, int], bool]) -> dict[str, list[int]]:
    """Return how many of how many lines are covered, by file: the highest counts that are stated or listed."""
    listed: dict[str, list[int]] = {}
    for (name, _), is_hit in lines.items():
        covered, total = listed.get(name, (0, 0))
        listed[name] = [covered + is_hit, total + 1]
    return {name: list(map(max, listed.get(name, [0, 0]), stated.get(name, [0, 0]))) for name in {**stated, **listed}}


def _reading(path: str, covered: int, total: int) -> ReportReading:
    return share(path, covered, total, f"{covered} of {total} lines and branches covered")


def _count_attribute(path: str, element: Element, name: str) -> int:
    text = element.get(name, "")
    if not text.isdecimal():
        raise CollectionError(path, f"`{name}` of `{element.tag}` must be a count, found `{text}`")
    return int(text)


def _line_data(path: str, number: int, text: str) -> tuple[int, int]:
    parts = text.split(",")
    if len(parts) < 2:
        raise CollectionError(path, f"line {number}: `DA:{text}` must be a line number and its hits")
    return _digits(path, number, parts[0]), _digits(path, number, parts[1])


def _digits(path: str, number: int, text: str) -> int:
    if not text.isdecimal():
        raise CollectionError(path, f"line {number}: expected a count, found `{text}`")
    return int(text)
