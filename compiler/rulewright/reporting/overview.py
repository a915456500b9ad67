"""The head of a run's page: the verdict, one sentence, the main figures, and the facts."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from msgspec import Struct

from rulewright.reporting.figures import TONES, Figure, Range
from rulewright.reporting.formats import sentence
from rulewright.reporting.judge_answers import JudgeAnswers
from rulewright.web.rendering import headline_name, label_heading
from rulewright_runtime.english import plural
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scorecard import HEADLINE, LABEL
from rulewright_runtime.report.accumulators import is_unresolved
from rulewright_runtime.report.summary import equations, exit_status, judge_line, scores
from rulewright_runtime.report.text import number, percent
from rulewright_runtime.strict_json import JsonMapping

_LEAST: Final = Decimal("0.0001")  # USD that are shown as a number


class Overview(Struct, frozen=True):
    """The head and the foot of the page."""

    word: str
    tone: str
    sentence: str
    figures: tuple[Figure, ...]
    measured: tuple[Range, ...]
    facts: tuple[tuple[str, str], ...]


def overview(report: JsonMapping, result: str, answers: JudgeAnswers | None = None) -> Overview:
    """Return the overview of a report; `result` is the run's in words, `answers` count the judge's tokens."""
    summary = report["summary"]
    measured = tuple(_measured(report))
    figures = tuple(_figures(report, measured))
    word, tone = f"{result[:1].upper()}{result[1:]}", TONES[exit_status(summary)]
    return Overview(word, tone, sentence(summary), figures, measured, tuple(_facts(report, answers)))


def _measured(report: JsonMapping) -> Iterator[Range]:
    """The means of the run: the headline, and the dimensions."""
    summary, intervals = report["summary"], report["intervals"]
    for place, (name, means) in enumerate(scores(summary)):
        if not means["counted"]:
            continue
        first = summary.get("headline", HEADLINE) is not None and not place
        bounds = summary["unresolved"]["overall_score"] if first and is_unresolved(summary["unresolved"]) else None
        interval = intervals["score"] if first else intervals["dimensions"].get(name)
        yield Range(name, means["mean"], bounds, interval, means["counted"], means["absent"])


def _figures(report: JsonMapping, measured: tuple[Range, ...]) -> Iterator[Figure]:
    if report["summary"]["transcripts"]:
        yield from _figures_of_judged(report, measured)
    if refused := report["summary"]["refused"]["count"]:
        yield Figure(
            "Refused", str(refused), (f"{'input' if refused == 1 else 'inputs'} that could not be read",), "bad"
        )


def _figures_of_judged(report: JsonMapping, measured: tuple[Range, ...]) -> Iterator[Figure]:
    summary, intervals = report["summary"], report["intervals"]
    failed, outcomes = summary["failed"], summary["outcomes"]
    notes = [f"{percent(failed['rate'])} of {plural(summary['transcripts'], 'transcript')}"]
    if intervals["failed"] and (failed["count"] or outcomes["undecided"]):
        notes.append(f"95% interval {percent(intervals['failed']['low'])} to {percent(intervals['failed']['high'])}")
    notes += [f"{failed['unproven']} unproven"] if failed["unproven"] else []
    notes += ["no gate contains a check"] if summary["decided_by"] == "checks" else []
    yield Figure("Failed", str(failed["count"]), tuple(notes), "bad" if failed["count"] else "")
    if summary.get("headline", HEADLINE) is not None and measured:
        yield _score(headline_name(summary), measured[0], exact=summary["unresolved"]["exact"])
    if summary.get("label", LABEL) not in (None, LABEL) and summary["status"]:
        words = [f"{count} {word.replace('_', ' ')}" for word, count in summary["status"].items()]
        yield Figure(label_heading(summary), words[0], tuple(words[1:]))
    waiting, answers = report["waiting"]["count"], summary["unresolved"]["answers"]
    complete = not (answers or summary["refused"]["count"] or summary["incomplete"]["count"])
    missing = (f"{plural(answers, 'answer')} missing",) if answers else ("no answer is missing",) * complete
    yield Figure("Waiting for a person", str(waiting), missing, "open" if waiting else "")
    if outcomes["undecided"]:
        yield Figure("Undecided", str(outcomes["undecided"]), ("neither passed nor failed",), "open")
    if outcomes["nothing_applied"]:
        yield Figure("Not judged", str(outcomes["nothing_applied"]), ("no check applied",))
    yield _coverage(summary)
    if summary["incomplete"]["count"]:
        yield Figure("Incomplete", str(summary["incomplete"]["count"]), ("no check passes",), "open")


def _score(name: str, score: Range, *, exact: bool) -> Figure:
    notes = [f"mean of {plural(score.counted, 'transcript')}"]
    if score.bounds and score.bounds["low"] not in (None, score.bounds["high"]):
        outer = "" if exact else " (an outer bound)"
        notes.append(f"{_ends(score.bounds)} while answers are missing{outer}")
    if score.interval:
        notes.append(f"95% interval {_ends(score.interval)}")
    return Figure(name, number(score.mean), tuple(notes), range=score)


def _ends(ends: JsonMapping) -> str:
    return f"{number(ends['low'])} to {number(ends['high'])}"


def _coverage(summary: JsonMapping) -> Figure:
    verdicts, not_asked = summary["verdicts"], sum(summary["left_out"].values())
    answered = verdicts["PASS"] + verdicts["FAIL"]
    notes = [f"{answered} of {verdicts['eligible']} verdicts are PASS or FAIL"]
    notes += [f"{not_asked} more were not asked"] if not_asked else []
    skipped = not_asked if summary.get("gates_only") else 0  # each may turn out PASS or FAIL
    of = verdicts["eligible"] + skipped
    share = percent((answered + skipped) / of if of else None)
    return Figure("Coverage", f"at most {share}" if skipped else share, tuple(notes))


def cost(summary: JsonMapping, answers: JudgeAnswers | None) -> list[str]:
    """Return the cost of the judge's calls: their number, tokens and USD. Without a price the cost is unknown, never
    0."""
    if not summary.get("judge_calls"):
        return []
    calls = plural(summary["judge_calls"], "call")
    if (summary.get("judge") or {}).get("provider") == "replay":
        return [calls, "answered from a record, nothing was paid"]
    sent, received = answers.tokens if answers else (0, 0)
    least = "at least " if answers is None or answers.uncounted else ""
    tokens = [f"{least}{sent} tokens in, {received} out"] if sent or received else []
    price = summary.get("price")
    if price is None or not tokens:
        return [calls, *tokens, "unknown price" if price is None else "unknown number of tokens"]
    usd = (Decimal(price["input"]) * sent + Decimal(price["output"]) * received) / 1_000_000
    return [calls, *tokens, f"{least}{usd:.4f} USD" if usd >= _LEAST or not usd else f"under {_LEAST} USD"]


def _facts(report: JsonMapping, answers: JudgeAnswers | None) -> Iterator[tuple[str, str]]:
    summary = report["summary"]
    yield "plan", report["plan_hash"]
    judge = judge_line(summary.get("judge"))
    yield "judge", judge or "none"
    if paid := cost(summary, answers):
        yield "cost", ", ".join(paid)
    if parameters := summary.get("parameters"):
        yield "parameters", ", ".join(f"{name}={value}" for name, value in sorted(parameters.items()))
    for name, equation in equations(summary).items():
        yield name.lower(), equation
    verdicts = summary["verdicts"]
    yield "verdicts", ", ".join(f"{verdicts[word]} {word}" for word in VERDICTS)
    if summary["left_out"]:
        names = ", ".join(f"{name} ({count})" for name, count in summary["left_out"].items())
        yield "not asked" if summary.get("gates_only") else "left out", names
