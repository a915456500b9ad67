"""Text for Markdown, for CSV files and for people, escaped so that nothing breaks out of its cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Final

from rulewright_runtime.cells import width
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.terminal import left, one_line, wrapped

if TYPE_CHECKING:
    from rulewright_runtime.verdicts import VerdictResult

# What the engine's own rationale codes say; those of a judge are its own words.
_REASONS: Final = {
    "adjudicated": "a person decided it",
    "condition_undecided": "its condition can't be decided",
    "conversation_too_long": "the conversation is too long for the judge",
    "disabled_by_scan_profile": "the profile gives the check no votes",
    "fail_condition_does_not_hold": "its condition `fail` does not hold",
    "applies_condition_does_not_hold": "its condition `applies` does not hold",
    "fail_condition_holds": "its condition `fail` holds",
    "incomplete_transcript": "the chat is incomplete",
    "reads_a_decided_verdict": "a person has decided a verdict that it reads",
    "reads_an_undecided_verdict": "a verdict that it reads is undecided",
    "judge_budget_exhausted": "the limit of calls was reached",
    "judge_not_asked": "the judge was not asked",
    "no_condition_holds": "none of its conditions holds",
    "no_majority": "the votes of the judge have no majority",
    "no_scenario": "the chat has no scenario",
    "nothing_to_judge": "there is nothing to judge",
    "no_tool_calls": "no tool is called",
    "pass_condition_does_not_hold": "its condition `pass` does not hold",
    "pass_condition_holds": "its condition `pass` holds",
    "unclear_condition_holds": "its condition `unclear` holds",
    "unverified_fail": "the judge's FAIL quotes nothing that was said",
    "verifier_infrastructure_failure": "the judge gave no usable reply",
}
_LARGE: Final = 10**15
_REASON: Final = 20  # cells, so that a reason is worth a column
NO_SCENARIO: Final = "without a scenario"
_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")  # how a cell begins that a spreadsheet would compute, or that was marked
_HEAD: Final = re.compile(r" *(?:\S+ {2,})*")  # the indentation of a line and its first columns
_MARKUP: Final = str.maketrans({char: "\\" + char for char in "\\`*_[]<>|#~"})


def wrapped_lines(lines: Iterable[str], columns: int) -> Iterator[str]:
    """Yield the lines, each on one line, wrapped at `columns`; continuation lines are indented to the line's text."""
    for line in map(one_line, lines):
        if width(line) <= columns:
            yield line
            continue
        head = _HEAD.match(line)
        assert head is not None, "it may be empty"
        yield from wrapped(line[head.end() :], columns, head[0])


def verdict_rows(rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield a list of verdicts, whose last two cells are the transcript and the reason: in columns if these leave room
    for a reason, else each on several lines."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(left(cell, size) for cell, size in zip(row, widths, strict=True)).rstrip()
        if sum(widths[:-1]) + 2 * len(widths) + _REASON <= columns:
            yield from wrapped_lines([line], columns)
        else:
            *check, transcript, reason = row
            yield "  ".join(filter(None, check))
            yield f"  {transcript}"
            yield from wrapped(reason, columns, "  ") if reason else ()


def escape(text: object) -> str:
    """`text` with Markdown markup escaped, on one line."""
    return one_line(str(text)).translate(_MARKUP)


def code(text: object) -> str:
    """`text` as code in Markdown, where nothing is escaped: between more backticks than it holds in a row."""
    shown = one_line(str(text))
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table; cells are escaped, columns of numbers are right-aligned."""
    body = [list(row) for row in rows]
    numeric = [bool(body) and all(isinstance(row[i], (int, float)) for row in body) for i in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(" ---: " if n else " --- " for n in numeric) + "|"]
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in body]
    return lines


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from lines
    yield ""


def reason_words(code: object) -> str:
    """A rationale code in words, if it is one of the engine's; else the code."""
    return _REASONS.get(str(code or ""), str(code or ""))


def because(code: str | None) -> str:
    """`because` with a rationale code in words, if it is one of the engine's, or in backticks; empty without one."""
    words = reason_words(code)
    return words and f"because {f'`{code}`' if words == code else words}"


def verdict_line(each: VerdictResult) -> str:
    """A verdict on one line, with its reason and its quotes."""
    reason = reason_words(each.rationale_code)
    return (
        f"{each.check_id}: {each.verdict}"
        + f" ({reason})" * bool(reason)
        + "".join(f" `{span.quote}`" for span in each.evidence)
    )


def headline_name(summary: Mapping[str, Any]) -> str | None:
    """The title of the headline in reports: `overall`, or the name of the output; None without a headline."""
    name: str | None = summary.get("headline", HEADLINE)
    return "overall" if name == HEADLINE else name


def place_of(refused: Mapping[str, object]) -> str:
    """The place of a refused input: its file, with the line unless the whole file is refused."""
    return f"{refused['path']}:{refused['line']}" if refused["line"] else str(refused["path"])


def percent(part: float | None) -> str:
    """A share as a whole percentage, rounded half up, or a dash. Only all is `100%`, and only none is `0%`."""
    if part is None:
        return "–"
    return "<1%" if 0 < part < 0.01 else ">99%" if 0.99 < part < 1 else f"{_half_up(100 * _decimal(part), 0)}%"


def moment(written: str | None) -> str:
    """A time of ISO 8601 as people read it, `2026-11-30 09:34 UTC`; any other text as it is."""
    try:
        at = datetime.fromisoformat(written or "")
        return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at.tzinfo else f"{at:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return written or ""


def p_value(p: float) -> str:
    """A p-value with three decimals, such as `p = 0.041`, and `p < 0.001` for one that would be shown as 0."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def number(value: float | None) -> str:
    """A score with two decimals, rounded half up, or a dash. Only 1 is `1.00`, and only 0 is `0.00`."""
    if value is None:
        return "–"
    return _half_up(_decimal(min(max(value, 0.01), 0.99) if 0 < value < 1 else value), 2)


def _decimal(value: float) -> Decimal:
    """The decimal that a number is written as: 0.145, not the next double below it."""
    return Decimal(repr(float(value)))


def _half_up(value: Decimal, places: int) -> str:
    """The number with so many places; one too large for them to matter, or infinite, with six digits."""
    if not value.is_finite() or abs(value) >= _LARGE:
        return f"{float(value):.6g}"
    return str(value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))


def csv_cell(text: str) -> str:
    """`text` as a cell of a CSV file: what looks like a formula is marked with an apostrophe, as spreadsheets do."""
    return f"'{text}" if _FORMULA.match(text) else text


def text_of_cell(content: str) -> str:
    """The text in a cell, without the mark of `csv_cell`."""
    return content[1:] if content.startswith("'") and _FORMULA.match(content) else content
