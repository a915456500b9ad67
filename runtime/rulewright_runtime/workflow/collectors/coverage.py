"""Test coverage from what coverage tools write: coverage.py's JSON, Cobertura XML and lcov."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rulewright_runtime.workflow.collectors.base import CollectionError, Reading, count, share, table

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

from rulewright_runtime.workflow.collectors import base


def coverage_json(root: Path, path: str) -> Reading:
    """The share of lines, and of branches where they were measured, that coverage.py's `json` report counts as run."""
    totals = table(path, table(path, base.read_json(root, path), "report").get("totals"), "totals")
    covered = count(path, totals.get("covered_lines"), "totals.covered_lines")
    total = count(path, totals.get("num_statements"), "totals.num_statements")
    if "num_branches" in totals:
        covered += count(path, totals.get("covered_branches"), "totals.covered_branches")
        total += count(path, totals.get("num_branches"), "totals.num_branches")
    return _covered(path, covered, total)


def cobertura(root: Path, path: str) -> Reading:
    """The share of lines with hits in a Cobertura report, from its totals, or else line by line."""
    report = base.read_xml(root, path)
    if report.tag != "coverage":
        raise CollectionError(path, f"is no Cobertura report: its root is `{report.tag}`")
    if "lines-valid" in report.attrib:
        return _covered(path, _whole(path, report, "lines-covered"), _whole(path, report, "lines-valid"))
    lines: dict[tuple[str, int], bool] = {}
    for unit in report.iter("class"):
        for line in unit.iterfind("lines/line"):
            key = (unit.get("filename", ""), _whole(path, line, "number"))
            lines[key] = lines.get(key, False) or _whole(path, line, "hits") > 0
    return _covered(path, sum(lines.values()), len(lines))


def lcov(root: Path, path: str) -> Reading:
    """The share of lines with hits in an lcov tracefile; a line that several records count is counted once."""
    lines: dict[tuple[str, int], bool] = {}
    stated = [0, 0]
    source, ended, counted = "", True, False
    for number, row in enumerate(base.read_text(root, path).splitlines(), 1):
        key, _, rest = row.strip().partition(":")
        if key == "SF":
            source, ended, counted = rest, False, False
        elif key == "DA":
            line, hits = _line_data(path, number, rest)
            lines[source, line] = lines.get((source, line), False) or hits > 0
            counted = True
        elif key in {"LH", "LF"} and not counted:
            stated[key == "LF"] += _digits(path, number, rest)
        elif key == "end_of_record":
            ended = True
    if not ended:
        raise CollectionError(path, "ends inside a record: it was cut")
    return _covered(path, sum(lines.values()) + stated[0], len(lines) + stated[1])


def _covered(path: str, covered: int, total: int) -> Reading:
    return share(path, covered, total, f"{covered} of {total} lines and branches covered")


def _whole(path: str, element: Element, name: str) -> int:
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
