"""The options of a live judge, what is said before the first call, and the line that shows how calls go."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright.errors import UsageError
from rulewright.planning.bounds import first_questions
from rulewright_runtime.calls.ask import ask_key
from rulewright_runtime.calls.budget import Price, most
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, Scheduler
from rulewright_runtime.errors import InputError
from rulewright_runtime.judging.independence import Independence
from rulewright_runtime.judging.judge import PLUGIN, REPLAY, Judge
from rulewright_runtime.judging.judge import open_judge as open_recorded
from rulewright_runtime.judging.live import JudgeSettings, LiveJudge, ask_of, open_live_judge, who
from rulewright_runtime.judging.waiting_judge import WaitingJudge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.terminal import complain, left, safe_stream, width_for
from rulewright_runtime.transcripts.messages import Transcript

if TYPE_CHECKING:
    from rulewright.project import Project
    from rulewright_runtime.report.summary import Summary

REDRAWS: Final = 10  # a second, on a terminal
SECONDS_BETWEEN_LINES: Final = 10.0  # elsewhere
LEDGER: Final = ".rulewright/ledger.sqlite3"


def at_least(least: int) -> Callable[[str], int]:
    """The type of an option that is a whole number, and not a smaller one than `least`."""

    def whole_number(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        return number

    return whole_number


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """Declare what a judge that is a model takes."""
    group = parser.add_argument_group("a model as judge")
    group.add_argument("--concurrency", type=at_least(1), metavar="N", help="calls in flight (8)")
    group.add_argument("--requests-per-minute", type=at_least(1), metavar="N", help="no more calls are begun")
    group.add_argument("--tokens-per-minute", type=at_least(1), metavar="N", help="sent and received, at most")
    group.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="of one attempt (180)")
    group.add_argument("--max-tokens", type=at_least(0), metavar="N", help="stop before more tokens are spent")
    group.add_argument("--max-usd", type=dollars, metavar="X", help="stop before more dollars are spent")
    group.add_argument("--ledger", metavar="FILE", help=f"what was asked and answered ({LEDGER} of the project)")
    group.add_argument("--explain-cache", action="store_true", help="say which checks were asked anew, and why")
    group.add_argument(
        "--on-ambiguous",
        choices=("retry", "unclear", "hold"),
        default="retry",
        help="what a call means that a killed run had sent: ask again, count it as no reply, or end the run (retry)",
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError("must be more than 0 and at most 86400")
    return seconds


def dollars(text: str) -> Decimal:
    """The type of an option that is an amount of dollars."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"`{text}` is not an amount") from None
    if not amount.is_finite() or amount < 0:
        raise argparse.ArgumentTypeError("must be at least 0")
    return amount


def is_live(judge: str | None) -> bool:
    """Whether a judge is a model, not recorded replies and no plug-in."""
    return judge is not None and not judge.startswith((REPLAY, PLUGIN))


def open_judge(judge: str, args: argparse.Namespace, project: Project | None) -> LiveJudge:
    """The live judge that the options describe, else the project's part `judge`; says what will leave this machine."""
    made = open_live_judge(judge)
    model = made.model.identity.model
    price = _price(model, project)
    usd = _chosen("max_usd", args, project)
    if usd is not None and price is None:
        raise UsageError(f"a limit in USD needs a price for `{model}` in the project's `pricing`")
    ledger = args.ledger or str((project.root if project is not None else _here()) / LEDGER)
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
        complain(f"note: transcripts and prompts are sent to {made.model.host} ({who(made.model.identity)})")
    return made


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


def open_waiting_judge(judge: str, stack: ExitStack, run: str = "") -> Judge:
    """The judge that answers one question at a time, recorded replies or a model; closed with `stack`."""
    if not is_live(judge):
        return open_recorded(judge)

    live = open_live_judge(judge, JudgeSettings(LEDGER))
    if live.model.host:
        complain(f"note: what is judged is sent to {live.model.host} ({who(live.model.identity)})")
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


def again() -> str:
    """The command that continues this one."""
    words = ["rulewright", *(word for word in sys.argv[1:] if word != "--overwrite")]
    return shlex.join(words if "--resume" in words else [*words, "--resume"])


def _here() -> Any:
    return Path()


def _price(model: str, project: Project | None) -> tuple[str, str] | None:
    found = None if project is None else project.pricing.get(model)
    return None if found is None else (str(found.input), str(found.output))


def refuse_what_cannot_fit(plan: Plan, items: Iterable[Transcript | InputError], made: LiveJudge) -> None:
    """Raise UsageError where the plan needs more than the budget allows, whatever is answered: more calls, or a call
    that costs too much by itself. What the ledger holds costs nothing."""
    settings, identity = made.settings, made.model.identity
    if settings.calls is None and settings.tokens is None and settings.usd is None:
        return
    price = None if settings.price is None else Price(*map(Decimal, settings.price))
    transcripts = (item for item in items if isinstance(item, Transcript))
    asks = (ask_of(question, made.model.capabilities) for question in first_questions(plan, transcripts))
    least = {ask_key(identity, ask): most(ask.call, price) for ask in asks if ask is not None}
    if Path(settings.ledger).is_file():
        with closing(Ledger(settings.ledger)) as ledger:
            for (key,) in ledger.rows("select key from calls where state = 'done'"):
                least.pop(key, None)
    if settings.calls is not None and len(least) > settings.calls:
        needs = f"at least {len(least)} calls, and no more than {settings.calls} are allowed (`max_calls`)"
        raise UsageError(f"the plan needs {needs}")
    tokens = max((each.tokens for each in least.values()), default=0)
    if settings.tokens is not None and tokens > settings.tokens:
        needs = f"a call of up to {tokens} tokens, and no more than {settings.tokens} are allowed (`max_tokens`)"
        raise UsageError(f"the plan needs {needs}")
    usd = max((each.usd or Decimal() for each in least.values()), default=Decimal())
    if settings.usd is not None and usd > Decimal(settings.usd):
        needs = f"a call of up to ${usd.normalize():f}, and no more than ${settings.usd} is allowed (`max_usd`)"
        raise UsageError(f"the plan needs {needs}")


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
        return " · ".join(parts)


def _remaining(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min left" if minutes else f"{rest} s left"
