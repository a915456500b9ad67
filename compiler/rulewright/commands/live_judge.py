"""A run whose judge is a model: its settings, what is said before the first call, and how calls go."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright.arguments.shared_options import LEDGER, again
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED, UNDECIDED
from rulewright.planning.bounds import first_questions
from rulewright_runtime.calls.budget import Budget, BudgetError, Price, minimum_budget
from rulewright_runtime.calls.call_request import request_key
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, Scheduler
from rulewright_runtime.errors import InputError, OutageError
from rulewright_runtime.judging.independence import Independence
from rulewright_runtime.judging.judge import Judge, JudgeRequest, is_live
from rulewright_runtime.judging.judge import open_judge as open_recorded
from rulewright_runtime.models.call import ModelAnswer, ModelCall
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.live import (
    JudgeSettings,
    LiveJudge,
    ask_of,
    model_and_endpoint,
    open_live_judge,
    speakers,
)
from rulewright_runtime.runs.store import run
from rulewright_runtime.runs.waiting_judge import WaitingJudge
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import complain, left, safe_stream, width_for
from rulewright_runtime.transcripts.messages import Transcript

if TYPE_CHECKING:
    from rulewright.project import Project
    from rulewright_runtime.report.summary import Summary

REDRAWS: Final = 10  # a second, on a terminal
SECONDS_BETWEEN_LINES: Final = 10.0  # elsewhere


def live_run(
    plan: Plan,
    args: argparse.Namespace,
    judge: str,
    project: Project | None,
    read: Callable[[], Iterable[Transcript | InputError]],
    settings: JsonMapping,
) -> JsonObject | int:
    """The summary of a run whose judge is a model; the exit code of one that had to stop."""
    made = open_judge(judge, args, project)
    refuse_what_cannot_fit(plan, read(), made, gates_only=args.gates_only)
    items = Counter(speakers(item) if isinstance(item, Transcript) else () for item in read())
    warn_of_unknown_families(made, {name for names in items for name in names})
    progress = LiveProgress(items.total())
    try:
        summary = run(plan, args.transcripts, args.out, judge=made, **settings, watch=progress)
    except (BudgetError, OutageError) as stopped:
        complain(f"stopped: {stopped}", f"help: continue with `{again()}`")
        return UNDECIDED if isinstance(stopped, BudgetError) else REFUSED
    progress.tell_failures()
    if args.explain_cache:
        progress.explain()
    return summary


def open_judge(judge: str, args: argparse.Namespace, project: Project | None) -> LiveJudge:
    """The live judge that the options describe, else the project's part `judge`; says what will leave this machine."""
    made = open_live_judge(judge)
    usd = _chosen("max_usd", args, project)
    price = _price(made.model.identity.model, project, usd)
    ledger = args.ledger or str((project.root if project is not None else Path()) / LEDGER)
    calls, tokens = _chosen("max_calls", args, project), _chosen("max_tokens", args, project)
    spent_at_most = None if usd is None else str(usd)
    made.settings = JudgeSettings(
        ledger,
        _limits(args, project),
        calls,
        tokens,
        spent_at_most,
        price,
        independence_of(project),
        args.explain_cache,
    )
    if made.model.host:
        complain(
            f"note: transcripts and prompts are sent to {made.model.host} ({model_and_endpoint(made.model.identity)})"
        )
    return made


def open_project_judge(judge: str, project: Project | None) -> LiveJudge:
    """The live judge with what the project's part `judge` says, for a program that gives no options."""
    names = ("ledger", "max_usd", "max_calls", "max_tokens", "timeout", "concurrency")
    rates = ("requests_per_minute", "tokens_per_minute")
    options = {**dict.fromkeys((*names, *rates)), "on_ambiguous": CallLimits().on_ambiguous, "explain_cache": False}
    return open_judge(judge, argparse.Namespace(**options), project)


def _limits(args: argparse.Namespace, project: Project | None) -> CallLimits:
    usual = CallLimits()
    return CallLimits(
        concurrency=_chosen("concurrency", args, project) or usual.concurrency,
        requests=_chosen("requests_per_minute", args, project),
        tokens=_chosen("tokens_per_minute", args, project),
        seconds=_chosen("timeout", args, project) or usual.seconds,
        on_ambiguous=args.on_ambiguous,
    )


def _chosen(name: str, args: argparse.Namespace, project: Project | None) -> Any:
    """The option, else what the project's part `judge` says."""
    given = getattr(args, name)
    return given if given is not None or project is None else getattr(project.judge, name)


def independence_of(project: Project | None) -> Independence:
    """Who may judge whom in the project."""
    return Independence() if project is None else Independence(project.judge.families, project.judge.same_family)


def open_waiting_judge(
    judge: str,
    stack: ExitStack,
    run: str = "",
    settings: Callable[[str], JudgeSettings] = lambda _: JudgeSettings(LEDGER),
    questions: Callable[[], Iterable[JudgeRequest]] | None = None,
) -> Judge:
    """The judge that answers one question at a time, recorded replies or a model; closed with `stack`.

    `settings` are those for a model's name. Raises UsageError where `questions`, which will be put, exceed its limits.
    """
    if not is_live(judge):
        return open_recorded(judge)

    live = open_live_judge(judge)
    live.settings = settings(live.model.identity.model)
    if questions is not None and live.settings.has_limit:
        refuse_questions(questions(), live)
    if live.model.host:
        complain(f"note: what is judged is sent to {live.model.host} ({model_and_endpoint(live.model.identity)})")
    waiting = WaitingJudge(live, run)
    stack.callback(waiting.close)
    return waiting


def warn_of_unknown_families(made: LiveJudge, subjects: Iterable[str]) -> None:
    """Say which models' families nobody knows: of them only the same name tells that a judge is not independent."""
    known = made.settings.independence.is_known
    unknown = sorted({name for name in (made.model.identity.model, *subjects) if not known(name)})
    if unknown:
        some = ", ".join(f"`{name}`" for name in unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        complain(f"warning: unknown family of {some}; each counts as a family of its own (see `judge.families`)")


def _price(model: str, project: Project | None, usd: Decimal | None) -> tuple[str, str] | None:
    """The price of the model. Raises UsageError where a limit in USD needs one and there is none."""
    found = None if project is None else project.pricing.get(model)
    if usd is not None and found is None:
        raise UsageError(f"a limit in USD needs a price for `{model}` in the project's `pricing`")
    return None if found is None else (str(found.input), str(found.output))


def within(
    model: str, project: Project | None, calls: int | None, tokens: int | None, usd: Decimal | None
) -> JudgeSettings:
    """The settings of a judge that only limits are given for. Raises UsageError where a price is missing."""
    price = _price(model, project, usd)
    return JudgeSettings(LEDGER, calls=calls, tokens=tokens, usd=None if usd is None else str(usd), price=price)


def refuse_what_cannot_fit(
    plan: Plan, items: Iterable[Transcript | InputError], made: LiveJudge, *, gates_only: bool = False
) -> None:
    """Raise UsageError where the plan needs more than the budget allows, whatever is answered."""
    transcripts = (item for item in items if isinstance(item, Transcript))
    if made.settings.has_limit:
        refuse_questions(first_questions(plan, transcripts, gates_only=gates_only), made)


def refuse_questions(questions: Iterable[JudgeRequest], made: LiveJudge) -> None:
    """The same for questions that will be put, whatever is answered. What the ledger holds costs nothing."""
    settings, identity = made.settings, made.model.identity
    asks = (ask_of(question, made.model.capabilities) for question in questions)
    needed = {request_key(identity, ask): (ask.call, settings.token_price) for ask in asks if ask is not None}
    with known_answers(settings.ledger) as known:
        refuse_below(settings.budget, [call for key, call in needed.items() if known(key) is None])


def refuse_below(budget: Budget, calls: Iterable[tuple[ModelCall, Price | None]]) -> None:
    """Raise UsageError where calls can't be answered within a budget."""
    try:
        budget.refuse(minimum_budget(calls))
    except BudgetError as error:
        raise UsageError(str(error)) from None


@contextmanager
def known_answers(ledger: str) -> Iterator[Callable[[str], ModelAnswer | None]]:
    """What a ledger holds, by key; nothing where there is none yet."""
    if not Path(ledger).is_file():
        yield lambda _: None
        return
    with closing(Ledger(ledger)) as opened:
        yield opened.answer


class LiveProgress:
    """Shows how far a run is: on a terminal one line that is redrawn, elsewhere a line every ten seconds."""

    def __init__(self, total: int) -> None:
        """`total` transcripts are to be judged."""
        self._scheduler: Scheduler | None = None
        self._total = total
        self._door = safe_stream(sys.stderr)
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = 0.0 if self._is_terminal else self._started + SECONDS_BETWEEN_LINES

    def __call__(self, scheduler: Scheduler, summary: Summary) -> None:
        """Show the state, unless it was shown a moment ago."""
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

    def tell_failures(self) -> None:
        """Say how many questions the judge did not answer, and what it answered last instead."""
        progress = None if self._scheduler is None else self._scheduler.progress
        if progress is not None and progress.failed:
            questions = "1 question" if progress.failed == 1 else f"{progress.failed} questions"
            complain(f"warning: {questions} without an answer; the last failure: {progress.last_failure}")

    def explain(self) -> None:
        """Say how many questions were answered before, and why the others were asked."""
        if self._scheduler is None:
            complain("note: no question was put to the judge")
            return
        progress, reasons = self._scheduler.progress, self._scheduler.reasons
        complain(f"note: {progress.from_ledger} of {progress.asked} questions were answered by the ledger")
        for (check, reason), number in sorted((reasons or {}).items()):
            complain(f"note: {check}: {number} asked, {reason}")

    def _line(self, scheduler: Scheduler, summary: Summary, seconds: float) -> str:
        done, progress, spent = summary.rows + summary.refused.count, scheduler.progress, scheduler.budget.spent
        counts = {name: sum(check.get(name, 0) for check in summary.checks.values()) for name in ("PASS", "FAIL")}
        parts = [
            f"{done} of {self._total} transcripts",
            f"{progress.answered + progress.from_ledger} replies",
            f"{progress.in_flight} in flight",
            *([f"{progress.retried} retried"] if progress.retried else []),
            *([f"${spent.usd:.2f}"] if spent.usd else []),
            *([_remaining(seconds * (self._total - done) / done)] if 0 < done < self._total else []),
            ", ".join(f"{number} {name}" for name, number in counts.items()),
        ]
        if (silent := time.monotonic() - progress.last_answer) >= SECONDS_BETWEEN_LINES:
            parts.append(f"no answer for {silent:.0f} s")
            parts += [progress.last_failure] if progress.last_failure else []
        return " · ".join(parts)


def _remaining(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min left" if minutes else f"{rest} s left"
