"""The differences between two runs for people: as text, and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rulewright_runtime.report.text import escape, plural, table
from rulewright_runtime.report.unresolved import unresolved_lines
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import left, one_line, width, wrapped

MOST: Final = 50
_HEAD: Final = re.compile(r" *(?:\S+ {2,})?")  # the indentation of a line, and what stands in a column before its text
_SIDES: Final = ("before", "after")
_CHANGES: Final = {
    "transcripts": "transcripts",
    "judge": "the judge",
    "replies": "the recorded replies (whose they are is not recorded)",
    "checks": "checks",
    "checks_added": "checks added",
    "checks_removed": "checks removed",
    "scorecard": "the scorecard",
    "parameters": "parameters",
    "profile": "the profile",
}


def text(found: JsonMapping, columns: int) -> Iterator[str]:
    """The lines of the comparison, none wider than `columns`: a longer one is broken, and goes on under its text."""
    for line in map(one_line, _text(found)):
        if width(line) <= columns:
            yield line
            continue
        head = _HEAD.match(line)
        assert head is not None, "it may be empty"
        yield from wrapped(line[head.end() :], columns, head[0])


def _text(found: JsonMapping) -> Iterator[str]:
    yield f"Rulewright diff: {found['verdict']}"
    for reason in found["reasons"]:
        yield f"  {reason}"
    yield ""
    for side in _SIDES:
        yield left(side, 10) + run_line(found[side])
        yield from (left("", 10) + line for line in unresolved_lines(found[side]["unresolved"]))
    yield left("pairs", 10) + pairs_line(found)
    yield left("changed", 10) + (", ".join(changes(found["changed"])) or "nothing that the plans or summaries record")
    yield left("score", 10) + score_line(found["score"])
    yield left("failed", 10) + failed_line(found["failed"])
    for row in found["outcomes"][:MOST]:
        yield ""
        yield f"{row['transcript_id']}: {row['before']} -> {row['after']}{_because(row)}"
        yield f"  cause: {cause(row)}"
    if len(found["outcomes"]) > MOST:
        yield f"and {len(found['outcomes']) - MOST} more transcripts; `--format json` holds all"
    for flip in found["flips"][:MOST]:
        yield ""
        yield f"{flip['check_id']} ({flip['severity']}) {flip['transcript_id']}: {flip['before']} -> {flip['after']}"
        yield f"  cause: {cause(flip)}"
        yield from (f"  {line}" for line in quotes(flip))
    if len(found["flips"]) > MOST:
        yield f"and {len(found['flips']) - MOST} more flips; `--format json` holds all"
    if tested := significant(found["checks"]):
        yield ""
        yield from (f"{check['check_id']}: {check_line(check)}" for check in tested)
    if any(not each["causes"]["told_apart"] for each in (*found["flips"], *found["outcomes"])):
        yield ""
        yield "help: `--transcripts PATH` (and `--replies FILE`) of both runs tell apart the causes joined by `or`"


def markdown(found: Mapping[str, object]) -> str:
    """The comparison as a Markdown page."""
    return "\n".join(_markdown(found)).rstrip() + "\n"


def _markdown(found: JsonMapping) -> Iterator[str]:
    yield f"# Comparison: {found['verdict']}"
    yield ""
    yield from (f"- {escape(reason)}" for reason in found["reasons"])
    yield ""
    about = [(side, run_line(found[side])) for side in _SIDES]
    about += [(f"{side}, unresolved", "; ".join(unresolved_lines(found[side]["unresolved"]))) for side in _SIDES]
    about = [(what, said) for what, said in about if said]
    about += [("pairs", pairs_line(found)), ("changed", ", ".join(changes(found["changed"])) or "nothing")]
    about += [("score", score_line(found["score"])), ("failed", failed_line(found["failed"]))]
    yield from table(("what", ""), about)
    yield ""
    if found["outcomes"]:
        yield "## Transcripts"
        yield ""
        rows = [
            (row["transcript_id"], row["before"], row["after"], ", ".join(row["because"]), cause(row))
            for row in found["outcomes"][:MOST]
        ]
        yield from table(("transcript", "before", "after", "because of", "cause"), rows)
        if len(found["outcomes"]) > MOST:
            yield ""
            yield f"The first {MOST} of {len(found['outcomes'])}; `--format json` holds all."
        yield ""
    if found["flips"]:
        yield f"## {plural(len(found['flips']), 'verdict flips', 'verdicts flip')}"
        yield ""
        heads = ("check", "severity", "transcript", "before", "after", "cause", "evidence")
        yield from table(heads, [_flip_row(flip) for flip in found["flips"][:MOST]])
        if len(found["flips"]) > MOST:
            yield ""
            yield f"The first {MOST} of {len(found['flips'])}; `--format json` holds all."
        yield ""
    if tested := significant(found["checks"]):
        yield "## Checks"
        yield ""
        rows = [(c["check_id"], c["pairs"], c["broken"], c["mended"], f"{c['p_holm']:.3f}") for c in tested]
        yield from table(("check", "pairs", "newly failing", "mended", "p (Holm)"), rows)


def _flip_row(flip: JsonMapping) -> tuple[str, ...]:
    shown = "; ".join(quotes(flip))
    about = (flip["check_id"], flip["severity"], flip["transcript_id"], flip["before"], flip["after"])
    return (*about, cause(flip), shown)


def run_line(side: JsonMapping) -> str:
    """A run with what it was made with."""
    about = [f"plan {side['plan'][:12]}", f"profile {side['profile']}"]
    about += [f"scorecard {side['scorecard']}"] if side["scorecard"] else []
    about += [f"{name}={value}" for name, value in sorted(side["parameters"].items())]
    about += [f"judged by {side['judge']}"] if side["judge"] else []
    return one_line(f"{side['run']} ({', '.join(about)})")


def pairs_line(found: JsonMapping) -> str:
    """How many pairs there are, and what has no partner."""
    alone = [
        f"{len(found[key])} {words}"
        for key, words in (("only_before", "only in the first run"), ("only_after", "only in the second"))
        if found[key]
    ]
    return f"{found['pairs']} by {found['paired_by']}" + (f"; {', '.join(alone)}" if alone else "")


def changes(changed: Mapping[str, object]) -> list[str]:
    """What differs in how the runs were made, in words."""
    words = []
    for key, what in _CHANGES.items():
        value = changed[key]
        if isinstance(value, list) and value:
            words.append(f"{what} ({', '.join(value[:3])}{f' and {len(value) - 3} more' if len(value) > 3 else ''})")
        elif value is True:
            words.append(what)
    return words


def score_line(score: JsonMapping) -> str:
    """The paired difference of the mean score with its interval, and what would not be seen."""
    if not score["count"]:
        return "no pair has a score in both runs"
    of = f"over {plural(score['count'], 'pair')} in {plural(score['clusters'], 'cluster')}"
    if score["low"] is None:
        return f"{score['mean']:+.3f} {of}; one cluster gives no interval"
    found = f"{score['mean']:+.3f} (95 % {score['low']:+.3f} to {score['high']:+.3f}) {of}"
    unseen = f"; a true difference under {score['detectable']:.3f} would not be seen"
    return found + unseen if score["error"] else found


def failed_line(failed: Mapping[str, object]) -> str:
    """How many transcripts newly fail, how many no longer do, and the exact test."""
    return f"{failed['broken']} newly, {failed['mended']} no longer (McNemar, exact: p = {failed['p']:.3f})"


def check_line(check: Mapping[str, object]) -> str:
    """The same for one check."""
    return f"{failed_line(check)}, after Holm's correction {check['p_holm']:.3f}"


def significant(checks: Sequence[JsonMapping]) -> list[JsonMapping]:
    """The checks of which some pair changed, the least likely first."""
    changed = [check for check in checks if check["broken"] or check["mended"]]
    return sorted(changed, key=lambda check: (check["p"], check["check_id"]))


def cause(found: JsonMapping) -> str:
    """The causes in words: changes that only work together are joined by `with`, those of which each is enough by `or
    alone`, and those that can't be told apart by `or`."""
    sets, note = found["causes"]["sets"], found.get("note", "")
    if not sets:
        return "nothing that the runs record; another version of rulewright?"
    if not found["causes"]["told_apart"]:
        said = " or ".join(sets[0])
    else:
        said = ", or alone: ".join(" together with ".join(each) for each in sets)
    checks = f" ({', '.join(found['flips'])})" if found.get("flips") and "verdicts" in said else ""
    return said + checks + (f"; {note}" if note else "")


def _because(row: JsonMapping) -> str:
    names = row["because"] or row["was_because"]
    unproven = ", found by nobody" if row["unproven"] else ""
    return (
        f" ({'was ' if not row['because'] and names else ''}because of {', '.join(names)}{unproven})" if names else ""
    )


def quotes(flip: JsonMapping) -> list[str]:
    """The quotes behind the graver of a flip's two verdicts, else its code."""
    before, after = flip["evidence"]
    shown = after if flip["after"] == "FAIL" or not before or flip["before"] != "FAIL" else before
    if not shown:
        return []
    spans = [f"turn {span['turn']}, {span['role']}: “{one_line(span['quote'])}”" for span in shown["quotes"]]
    return spans or ([f"code: {shown['code']}"] if shown["code"] else [])
