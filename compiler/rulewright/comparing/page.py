"""The differences between two runs as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rulewright.comparing.render import (
    cause,
    changes,
    check_line,
    failed_line,
    pairs_line,
    run_line,
    score_line,
)
from rulewright.comparing.render import significant as significant_checks
from rulewright.reporting.overview import Figure
from rulewright.reporting.page import Link
from rulewright.web.rendering import PageFrame, rendered
from rulewright_runtime.report.unresolved import unresolved_lines
from rulewright_runtime.strict_json import JsonMapping

TONES = {"worse": "bad", "not worse": "good"}


def diff_page(found: JsonMapping, frame: PageFrame | None = None, link: Link | None = None) -> Iterator[str]:
    """The page of a comparison, piece by piece; `link` gives the address of a transcript of the second run, and of a
    check's verdict on it."""
    facts = [(side, run_line(found[side])) for side in ("before", "after")]
    for side in ("before", "after"):
        lines = unresolved_lines(found[side]["unresolved"])
        facts += [(f"{side}, unresolved" if not place else "", line) for place, line in enumerate(lines)]
    facts += [
        ("pairs", pairs_line(found)),
        ("changed", ", ".join(changes(found["changed"])) or "nothing that the plans or summaries record"),
        ("score", score_line(found["score"])),
        ("failed", failed_line(found["failed"])),
    ]
    return rendered(
        "diff.html",
        frame,
        found=found,
        tone=TONES.get(found["verdict"], "open"),
        facts=facts,
        figures=list(_figures(found)),
        link=link,
        flips=[(flip, cause(flip), _quotes(flip)) for flip in found["flips"]],
        outcomes=[(row, cause(row)) for row in found["outcomes"]],
        checks=[(check, check_line(check)) for check in significant_checks(found["checks"])],
    )


def _figures(found: JsonMapping) -> Iterator[Figure]:
    """What bears the verdict."""
    score, failed = found["score"], found["failed"]
    if score["count"]:
        value, _, notes = score_line(score).partition(" ")
        yield Figure("Mean score", value, tuple(notes.removeprefix("(").replace(")", ";", 1).split("; ")))
    tests = (f"{failed['mended']} no longer", f"McNemar, exact: p = {failed['p']:.3f}")
    yield Figure("Newly failing", str(failed["broken"]), tests, "bad" if failed["broken"] else "")
    steps = [each["step"] for each in found["flips"]]
    down, up = steps.count("down"), steps.count("up")
    yield Figure("Verdicts that flip", str(len(steps)), (f"{down} for the worse", f"{up} for the better"))
    missing = [found[side]["unresolved"]["answers"] for side in ("before", "after")]
    if any(missing):
        yield Figure("Missing answers", str(missing[1]), (f"{missing[0]} before",), "open" if missing[1] else "")


def _quotes(flip: JsonMapping) -> list[tuple[str, Mapping[str, object]]]:
    """What each side quotes, and which side."""
    sides = zip(("before", "after"), flip["evidence"], strict=True)
    return [(side, span) for side, evidence in sides if evidence for span in evidence["quotes"]]
