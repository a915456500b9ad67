"""Renders the differences between two runs as text, and as Markdown for a pull request."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rulewright.comparing.diff import undetected
from rulewright.reporting.figures import Figure
from rulewright.reporting.report_files import Link
from rulewright.web.rendering import PageFrame, rendered
from rulewright_runtime.english import plural, some
from rulewright_runtime.report.accumulators import pass_rate_lines, unresolved_lines
from rulewright_runtime.report.text import because, escape, p_value, reason_words, section, table, wrapped_lines
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import left, one_line

MAX_ROWS: Final = 50
_SIDES: Final = ("before", "after")
_CHANGES: Final = {
    "transcripts": "transcripts",
    "judge": "the judge",
    "replies": "the recorded replies (their judge is not recorded)",
    "decisions": "people's decisions",
    "checks": "checks",
    "checks_added": "checks added",
    "checks_removed": "checks removed",
    "scorecard": "the scorecard",
    "parameters": "parameters",
    "profile": "the profile",
    "gates_only": "`--gates-only`",
}


def text(comparison: JsonMapping, columns: int) -> Iterator[str]:
    """Yield the lines of the comparison, wrapped at `columns`; continuation lines are indented to the text."""
    return wrapped_lines(_text(comparison), columns)


def _text(comparison: JsonMapping) -> Iterator[str]:
    yield f"Rulewright diff: {comparison['verdict']}"
    for reason in comparison["reasons"]:
        yield f"  {reason}"
    yield ""
    for side in _SIDES:
        yield left(side, 10) + run_line(comparison[side])
        yield from (left("", 10) + line for line in unresolved_lines(comparison[side]["unresolved"]))
    yield from (left(what, 10) + line for what, line in _facts(comparison))
    for row in comparison["outcomes"][:MAX_ROWS]:
        yield ""
        yield f"{row['transcript_id']}: {row['before']} -> {row['after']}{_because(row)}"
        yield f"  cause: {cause(row)}"
    if len(comparison["outcomes"]) > MAX_ROWS:
        yield f"and {plural(len(comparison['outcomes']) - MAX_ROWS, 'more transcript')}; `--format json` lists all"
    flips = _listed(comparison)
    for flip in flips[:MAX_ROWS]:
        yield ""
        yield f"{flip['check_id']} ({flip['severity']}) {flip['transcript_id']}: {flip['before']} -> {flip['after']}"
        yield f"  cause: {cause(flip)}"
        yield from (f"  {line}" for line in quotes(flip))
    if len(flips) > MAX_ROWS:
        yield f"and {plural(len(flips) - MAX_ROWS, 'more flip')}; `--format json` lists all"
    if unpaired := list(_unpaired_checks(comparison)):
        yield ""
        yield from unpaired
    if tested := significant(comparison["checks"]):
        yield ""
        yield from (f"{check['check_id']}: {check_line(check)}" for check in tested)
    if any(not each["causes"]["told_apart"] for each in (*comparison["flips"], *comparison["outcomes"])):
        yield ""
        yield "help: if conversations or replies were moved, `--transcripts PATH` and `--replies FILE` name them,"
        yield "      so that more causes joined by `or` can be separated"


def markdown(comparison: Mapping[str, object]) -> str:
    """Return the comparison as a Markdown page."""
    return "\n".join(_markdown(comparison)).rstrip() + "\n"


def _markdown(comparison: JsonMapping) -> Iterator[str]:
    yield f"# Comparison: {comparison['verdict']}"
    yield ""
    yield from (f"- {escape(reason)}" for reason in comparison["reasons"])
    yield ""
    about = [(side, run_line(comparison[side])) for side in _SIDES]
    about += [(f"{side}, unresolved", "; ".join(unresolved_lines(comparison[side]["unresolved"]))) for side in _SIDES]
    about = [(what, value) for what, value in about if value]
    yield from table(("what", ""), [*about, *_facts(comparison, unchanged="nothing")])
    yield ""
    if outcomes := comparison["outcomes"]:
        rows = [
            (row["transcript_id"], row["before"], row["after"], ", ".join(row["because"]), cause(row))
            for row in outcomes[:MAX_ROWS]
        ]
        lines = table(("transcript", "before", "after", "because of", "cause"), rows)
        yield from section("Transcripts", [*lines, *_more(len(outcomes))])
    if flips := comparison["flips"]:
        heads = ("check", "severity", "transcript", "before", "after", "cause", "evidence")
        listed = _listed(comparison)
        keys = ("check_id", "severity", "transcript_id", "before", "after")
        cells = [(*(each[key] for key in keys), cause(each), "; ".join(quotes(each))) for each in listed[:MAX_ROWS]]
        lines = [*table(heads, cells)] if listed else []
        unpaired = [f"- {escape(line)}" for line in _unpaired_checks(comparison)]
        lines += [*_more(len(listed)), *([""] if lines and unpaired else []), *unpaired]
        yield from section(plural(len(flips), "verdict flips", "verdicts flip"), lines)
    if tested := significant(comparison["checks"]):
        rows = [(c["check_id"], c["pairs"], c["broken"], c["fixed"], p_value(c["p_holm"])) for c in tested]
        yield from section(
            "Checks", table(("check", "pairs", "newly failing", "no longer failing", "after Holm's correction"), rows)
        )


def _listed(comparison: JsonMapping) -> list[JsonMapping]:
    """The flips of checks that both runs have, and the failures of those that only the second has."""
    unpaired = {*comparison["changed"]["checks_added"], *comparison["changed"]["checks_removed"]}
    return [flip for flip in comparison["flips"] if flip["after"] == "FAIL" or flip["check_id"] not in unpaired]


def _unpaired_checks(comparison: JsonMapping) -> Iterator[str]:
    """A line for each check that only one of the runs has, with its verdicts."""
    for run, key, side in (("first", "checks_removed", "before"), ("second", "checks_added", "after")):
        for check in comparison["changed"][key]:
            flips = [flip for flip in comparison["flips"] if flip["check_id"] == check]
            counts = Counter(flip[side] for flip in flips)
            if flips:
                verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts))
                yield f"{check} ({flips[0]['severity']}) only in the {run} run: {verdicts}"


def _more(count: int) -> list[str]:
    return ["", f"The first {MAX_ROWS} of {count}; `--format json` lists all."] if count > MAX_ROWS else []


def run_line(side: JsonMapping) -> str:
    """A run with its plan, profile, scorecard, parameters and judge, on one line."""
    about = [f"plan {side['plan'][:12]}", f"profile {side['profile']}"]
    about += [f"scorecard {side['scorecard']}"] if side["scorecard"] else []
    about += [f"{name}={value}" for name, value in sorted(side["parameters"].items())]
    about += [f"judged by {side['judge']}"] if side["judge"] else []
    return one_line(f"{side['run']} ({', '.join(about)})")


def _facts(
    comparison: JsonMapping, unchanged: str = "nothing that the plans or summaries record"
) -> list[tuple[str, str]]:
    """What the runs have in common and how they differ, each fact with its name."""
    return [
        *((side, line) for side in _SIDES for line in pass_rate_lines(comparison[side]["unresolved"])),
        ("pairs", pairs_line(comparison)),
        ("changed", ", ".join(changes(comparison["changed"])) or unchanged),
        ("score", score_line(comparison["score"])),
        ("failed", failed_line(comparison["failed"])),
    ]


def pairs_line(comparison: JsonMapping) -> str:
    """The number of pairs, and of transcripts without a partner."""
    unpaired = [
        f"{len(comparison[key])} {words}"
        for key, words in (("only_before", "only in the first run"), ("only_after", "only in the second"))
        if comparison[key]
    ]
    return f"{comparison['pairs']} by {comparison['paired_by']}" + (f"; {', '.join(unpaired)}" if unpaired else "")


def changes(changed: Mapping[str, object]) -> list[str]:
    """The differing inputs of the runs, as phrases."""
    words = []
    for key, what in _CHANGES.items():
        value = changed[key]
        if isinstance(value, list) and value:
            words.append(f"{what} ({some(value).replace('_', ' ')})" if key == "judge" else f"{what} ({some(value)})")
        elif value is True:
            words.append(what)
    return words


def score_line(score: JsonMapping) -> str:
    """The paired difference of the mean score with its interval, and the smallest detectable difference."""
    if not score["count"]:
        return "no pair has a score in both runs"
    of = f"over {plural(score['count'], 'pair')} in {plural(score['clusters'], 'cluster')}"
    if score["low"] is None:
        return f"{score['mean']:+.3f} {of}; one cluster gives no interval"
    line = f"{score['mean']:+.3f} (95% interval {score['low']:+.3f} to {score['high']:+.3f}) {of}"
    return f"{line}; {undetected(score)}" if score["error"] else line


def failed_line(failed: JsonMapping) -> str:
    """The numbers of transcripts that newly fail and no longer fail, and the exact test."""
    return f"{failed['broken']} newly, {failed['fixed']} no longer (McNemar, exact: {p_value(failed['p'])})"


def check_line(check: JsonMapping) -> str:
    """The line of `failed_line` for one check, with Holm's correction."""
    return f"{failed_line(check)}, {p_value(check['p_holm'])} after Holm's correction"


def significant(checks: Sequence[JsonMapping]) -> list[JsonMapping]:
    """The checks with a changed pair, sorted by p-value."""
    changed = [check for check in checks if check["broken"] or check["fixed"]]
    return sorted(changed, key=lambda check: (check["p"], check["check_id"]))


def cause(difference: JsonMapping) -> str:
    """The causes as a phrase: changes that only work together are joined by `together with`, sufficient changes by `or
    alone`, and changes that can't be separated by `or`."""
    sets, note = difference["causes"]["sets"], difference.get("note", "")
    if not sets:
        return "nothing that the runs record; another version of rulewright?"
    if not difference["causes"]["told_apart"]:
        phrase = " or ".join(sets[0])
    else:
        phrase = ", or alone: ".join(" together with ".join(each) for each in sets)
    checks = f" ({', '.join(difference['flips'])})" if difference.get("flips") and "verdicts" in phrase else ""
    return phrase + checks + (f"; {note}" if note else "")


def _because(row: JsonMapping) -> str:
    names = row["because"] or row["was_because"]
    unproven = ", unconfirmed" if row["unproven"] else ""
    return (
        f" ({'was ' if not row['because'] and names else ''}because of {', '.join(names)}{unproven})" if names else ""
    )


def quotes(flip: JsonMapping) -> list[str]:
    """The quotes of the worse of a flip's two verdicts, or else its reason."""
    before, after = flip["evidence"]
    shown = after if flip["after"] == "FAIL" or not before or flip["before"] != "FAIL" else before
    if not shown:
        return []
    spans = [f"turn {span['turn']}, {span['role']}: “{one_line(span['quote'])}”" for span in shown["quotes"]]
    return spans or list(filter(None, [because(shown["code"])]))


TONES = {"worse": "bad", "not worse": "good"}


def diff_page(comparison: JsonMapping, frame: PageFrame | None = None, link: Link | None = None) -> Iterator[str]:
    """Yield the parts of a comparison's page; `link` returns the address of a transcript of the second run, and of a
    check's verdict on it."""
    facts = [(side, run_line(comparison[side])) for side in _SIDES]
    for side in _SIDES:
        lines = unresolved_lines(comparison[side]["unresolved"])
        facts += [(f"{side}, unresolved" if not place else "", line) for place, line in enumerate(lines)]
    return rendered(
        "diff.html",
        frame,
        found=comparison,
        tone=TONES.get(comparison["verdict"], "open"),
        facts=[*facts, *_facts(comparison)],
        figures=list(_figures(comparison)),
        link=link,
        flips=[(flip, cause(flip), _quotes(flip), _reasons(flip)) for flip in comparison["flips"]],
        outcomes=[(row, cause(row)) for row in comparison["outcomes"]],
        checks=[(check, check_line(check)) for check in significant(comparison["checks"])],
    )


def _figures(comparison: JsonMapping) -> Iterator[Figure]:
    """Yield the figures behind the verdict."""
    score, failed = comparison["score"], comparison["failed"]
    if score["count"]:
        value, _, notes = score_line(score).partition(" ")
        yield Figure("Change of the mean score", value, tuple(notes.removeprefix("(").replace(")", ";", 1).split("; ")))
    tests = (f"{failed['fixed']} no longer", f"McNemar, exact: {p_value(failed['p'])}")
    yield Figure("Newly failing", str(failed["broken"]), tests, "bad" if failed["broken"] else "")
    steps = [each["step"] for each in comparison["flips"]]
    down, up = steps.count("down"), steps.count("up")
    ways = [f"{down} for the worse", f"{up} for the better"]
    ways += [f"{level} neither"] if (level := steps.count("level")) else []
    yield Figure("Verdicts that flip", str(len(steps)), tuple(ways))
    missing = [comparison[side]["unresolved"]["answers"] for side in _SIDES]
    if any(missing):
        yield Figure("Missing answers", str(missing[1]), (f"{missing[0]} before",), "open" if missing[1] else "")


def _quotes(flip: JsonMapping) -> list[tuple[str, Mapping[str, object]]]:
    """The quotes of a flip, each with its side."""
    sides = zip(_SIDES, flip["evidence"], strict=True)
    return [(side, span) for side, evidence in sides if evidence for span in evidence["quotes"]]


def _reasons(flip: JsonMapping) -> list[str]:
    """The reasons of a flip's two verdicts."""
    return [reason_words(side["code"]) or "no code" for side in flip["evidence"] if side]
