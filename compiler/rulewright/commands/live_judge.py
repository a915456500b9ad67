"""A run with a model as judge: refused if it exceeds its budget, with progress while it runs."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from rulewright.arguments.shared_options import from_start, how_to_continue
from rulewright.exit_codes import REFUSED, UNDECIDED
from rulewright.judges import JudgeOptions, open_live, refuse_what_cannot_fit, warn_of_unknown_families
from rulewright_runtime.calls.budget import BudgetError
from rulewright_runtime.calls.scheduler import Scheduler
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError, OutageError
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.store import run
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import complain, left, safe_stream, width_for
from rulewright_runtime.transcripts.messages import Transcript

if TYPE_CHECKING:
    from rulewright.project import Project
    from rulewright_runtime.report.summary import Summary

REDRAWS: Final = 10  # per second, on a terminal
SECONDS_BETWEEN_LINES: Final = 10.0  # elsewhere


def live_run(
    plan: Plan,
    args: argparse.Namespace,
    judge: str,
    project: Project | None,
    read: Callable[[], Iterable[Transcript | InputError]],
    settings: JsonMapping,
) -> JsonObject | int:
    """The summary of a run with a model as judge, or the exit code of one that had to stop."""
    options = JudgeOptions(**{each: getattr(args, each) for each in JudgeOptions.__struct_fields__})
    live = open_live(judge, project, options)
    refuse_what_cannot_fit(plan, read(), live, gates_only=args.gates_only)
    items = Counter(item.authors if isinstance(item, Transcript) else () for item in read())
    warn_of_unknown_families(live, {name for names in items for name in names})
    progress = LiveProgress(items.total(), args.out)
    try:
        summary = run(plan, args.transcripts, args.out, judge=live, **settings, watch=progress)
    except (BudgetError, OutageError) as stopped:
        complain(f"stopped: {stopped}", f"help: {_cure(stopped, args, judge)}")
        return UNDECIDED if isinstance(stopped, BudgetError) else REFUSED
    progress.tell_answers()
    if args.explain_cache:
        progress.explain()
    return summary


def _cure(stopped: BudgetError | OutageError, args: argparse.Namespace, judge: str) -> str:
    """How to continue after a run that had to stop."""
    cause = stopped.cause if isinstance(stopped, OutageError) else "budget"
    if cause == "name" and args.judge is None:
        return f"start the model or correct `judge.source` in the project file, then scan with `{from_start(args.out)}`"
    return how_to_continue(cause, f"scan with `{from_start(args.out, judge)}`", judge)


class LiveProgress:
    """Shows the progress of a run: a redrawn line on a terminal, elsewhere a line every ten seconds."""

    def __init__(self, total: int, out: str) -> None:
        """`total` is the number of transcripts to judge, `out` the folder of the run."""
        self._out = out
        self._scheduler: Scheduler | None = None
        self._total = total
        self._door = safe_stream(sys.stderr)
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = 0.0 if self._is_terminal else self._started + SECONDS_BETWEEN_LINES

    def __call__(self, scheduler: Scheduler, summary: Summary) -> None:
        """Show the progress, at most at the interval of the output."""
        self._scheduler = scheduler
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (1 / REDRAWS if self._is_terminal else SECONDS_BETWEEN_LINES)
        line = self._line(scheduler, summary, now - self._started)
        if self._is_terminal:
            self._door.show_progress(left(line, width_for(sys.stderr) - 1))
        else:
            complain(line)

    def tell_answers(self) -> None:
        """Print how many calls the ledger answered, and how many the judge did not answer or not usably."""
        progress = None if self._scheduler is None else self._scheduler.progress
        if progress is None:
            return
        if progress.from_ledger:
            complain(f"note: {progress.from_ledger} of {progress.asked} calls to the judge were answered by the ledger")
        if progress.unanswered:
            number = plural(len(progress.unanswered), "question")
            complain(f"warning: {number} without an answer; the last failure: {progress.last_failure}")
        if self._scheduler and (why := self._scheduler.replies.why_asked_again):
            complain(f"warning: {why}")
        elif progress.asked_again:
            times = plural(progress.asked_again, "time")
            shown = f"for example `{shlex.join(('rulewright', 'why', self._out, *progress.first_again))}`"
            complain(f"warning: the judge was asked again {times}, because a reply was missing or unusable; {shown}")

    def explain(self) -> None:
        """Print why the questions that the ledger did not answer were asked."""
        if self._scheduler is None:
            complain("note: the judge was not asked any question")
            return
        for (check, reason), number in sorted((self._scheduler.reasons or {}).items()):
            complain(f"note: {check}: {number} asked, {reason}")

    def _line(self, scheduler: Scheduler, summary: Summary, seconds: float) -> str:
        done, progress, spent = summary.rows + summary.refused.count, scheduler.progress, scheduler.budget.spent
        counts = {name: sum(check.get(name, 0) for check in summary.checks.values()) for name in ("PASS", "FAIL")}
        parts = [
            f"{done} of {plural(self._total, 'transcript')}",
            f"{plural(progress.answered + progress.from_ledger, 'reply', 'replies')}",
            f"{progress.in_flight} in flight",
            *([f"{progress.retried} retried"] if progress.retried else []),
            *([f"${spent.usd:.2f}"] if spent.usd else []),
            *([_remaining(seconds * (self._total - done) / done)] if 0 < done < self._total else []),
            ", ".join(f"{number} {name}" for name, number in counts.items()),
            *progress.silence(),
        ]
        return " · ".join(parts)


def _remaining(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min left" if minutes else f"{rest} s left"
