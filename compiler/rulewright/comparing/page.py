"""Renders the differences between two runs as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulewright.comparing.render import cause, changes, check_line, failed_line, pairs_line, run_line, score_line
from rulewright.comparing.render import significant as significant_checks
from rulewright.reporting.figures import Figure
from rulewright.reporting.page import Link
from rulewright.web.rendering import PageFrame, rendered
from rulewright_runtime.report.text import p_value
from rulewright_runtime.report.unresolved import unresolved_lines
from rulewright_runtime.strict_json import JsonMapping

TONES = {"worse": "bad", "not worse": "good"}


def diff_page(comparison: JsonMapping, frame: PageFrame | None = None, link: Link | None = None) -> Iterator[str]:
    """Yield the parts of a comparison's page; `link` returns the address of a transcript of the second run, and of a
    check's verdict on it."""
    facts = [(side, run_line(comparison[side])) for side in ("before", "after")]
    for side in ("before", "after"):
        lines = unresolved_lines(comparison[side]["unresolved"])
        facts += [(f"{side}, unresolved" if not place else "", line) for place, line in enumerate(lines)]
    facts += [
        ("pairs", pairs_line(comparison)),
        ("changed", ", ".join(changes(comparison["changed"])) or "nothing that the plans or summaries record"),
        ("score", score_line(comparison["score"])),
        ("failed", failed_line(comparison["failed"])),
    ]
    return rendered(
        "diff.html",
        frame,
        found=comparison,
        tone=TONES.get(comparison["verdict"], "open"),
        facts=facts,
        figures=list(_figures(comparison)),
        link=link,
        flips=[(flip, cause(flip), _quotes(flip)) for flip in comparison["flips"]],
        outcomes=[(row, cause(row)) for row in comparison["outcomes"]],
        checks=[(check, check_line(check)) for check in significant_checks(comparison["checks"])],
    )


def _figures(comparison: JsonMapping) -> Iterator[Figure]:
    """Yield the figures behind the verdict."""
    score, failed = comparison["score"], comparison["failed"]
    if score["count"]:
        value, _, notes = score_line(score).partition(" ")
        yield Figure("Mean score", value, tuple(notes.removeprefix("(").replace(")", ";", 1).split("; ")))
    tests = (f"{failed['mended']} no longer", f"McNemar, exact: {p_value(failed['p'])}")
    yield Figure("Newly failing", str(failed["broken"]), tests, "bad" if failed["broken"] else "")
    steps = [each["step"] for each in comparison["flips"]]
    down, up = steps.count("down"), steps.count("up")
    yield Figure("Verdicts that flip", str(len(steps)), (f"{down} for the worse", f"{up} for the better"))
    missing = [comparison[side]["unresolved"]["answers"] for side in ("before", "after")]
    if any(missing):
        yield Figure("Missing answers", str(missing[1]), (f"{missing[0]} before",), "open" if missing[1] else "")


def _quotes(flip: JsonMapping) -> list[tuple[str, Mapping[str, object]]]:
    """The quotes of a flip, each with its side."""
    sides = zip(("before", "after"), flip["evidence"], strict=True)
    return [(side, span) for side, evidence in sides if evidence for span in evidence["quotes"]]
