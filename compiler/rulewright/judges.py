"""The judge that a project or a command names: its limits, its price, and what it can't answer within a budget."""

import json
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from rulewright.arguments.shared_options import LEDGER
from rulewright.errors import UsageError
from rulewright.planning.questions import exact_price, first_questions
from rulewright.project import Project
from rulewright_runtime.calls.budget import Budget, BudgetError, Price, minimum_budget
from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, OnAmbiguous
from rulewright_runtime.english import either
from rulewright_runtime.errors import InputError
from rulewright_runtime.execution import BatchJudge
from rulewright_runtime.judging.independence import Independence
from rulewright_runtime.judging.judge import Judge, JudgeRequest, NotRecordedError, is_live, record_of
from rulewright_runtime.judging.judge import open_judge as open_recorded
from rulewright_runtime.models import ModelError, open_model
from rulewright_runtime.models.call import ModelAnswer, ModelCall, request_key
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.live import Exchange, JudgeSettings, LiveJudge, WaitingJudge, ask_of, model_and_endpoint
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain
from rulewright_runtime.transcripts.messages import UNKNOWN_MODEL, Transcript


class JudgeOptions(Struct, frozen=True):
    """The options of a command for a live judge; None leaves a value to the project's part `judge`."""

    ledger: str | None = None
    max_usd: Decimal | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout: float | None = None
    on_ambiguous: OnAmbiguous = CallLimits().on_ambiguous
    explain_cache: bool = False


USUAL: Final = JudgeOptions()
_ENDPOINTS: Final = ("openai:", "anthropic:")


def refuse_without_ask(judge: object) -> None:
    """Refuse an object that can answer no request, such as a function or a class, or an async `ask`. Raises
    UsageError."""
    is_object = not isinstance(judge, type) and (callable(getattr(judge, "ask", None)) or isinstance(judge, BatchJudge))
    if not is_object:
        raise UsageError(
            "`judge` must be an object with a method `ask`, or a text such as `openai:MODEL` or, for a function, "
            "`python:MODULE:CALLABLE`"
        )
    if iscoroutinefunction(getattr(judge, "ask", None)):
        raise UsageError("`ask` of `judge` must not be async; an async function is a judge as `python:MODULE:CALLABLE`")


class PythonJudge:
    """Forwards requests to a judge of Python. An optional attribute of another type than documented counts as absent:
    a mock object has every attribute."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self.record = judge, record_of(judge, {})
        identity = getattr(judge, "identity", "")
        self.identity = identity if isinstance(identity, str) else ""
        self.recorded = getattr(judge, "recorded", False) is True
        self.reads_prompts = getattr(judge, "reads_prompts", True) is not False

    def ask(self, request: JudgeRequest) -> str | None:
        """The judge's reply. Raises the judge's error."""
        return self._judge.ask(request)


class ObservedJudge(PythonJudge):
    """A judge of Python whose replies and errors are kept as `exchanges`."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self.exchanges = list[Exchange]()

    def ask(self, request: JudgeRequest) -> str | None:
        """The judge's reply. Raises the judge's error."""
        try:
            reply: object = super().ask(request)
        except NotRecordedError as error:
            if not request.attempt:  # however often it is asked for
                self._keep(request, None, str(error))
            raise
        except Exception as error:
            self._keep(request, None, f"{type(error).__name__}: {error}")
            raise
        text = reply if isinstance(reply, str) else None
        self._keep(request, text, None if text is not None else f"the reply is a `{type(reply).__name__}`, not a text")
        return text

    def _keep(self, request: JudgeRequest, reply: str | None, error: str | None) -> None:
        place = (request.check_id, request.purpose, request.window, request.repetition, request.attempt)
        self.exchanges.append(Exchange(*place, "", reply, error, prompt=request.prompt))


def open_live(judge: str, project: Project | None, options: JudgeOptions = USUAL) -> LiveJudge:
    """Open the live judge that the options describe, else the project's part `judge`, and say where data are sent.

    Raises UsageError for a limit in USD without a price, and ModelError for a model that can't be opened.
    """
    live = LiveJudge(open_model(judge))
    usd = _chosen("max_usd", options, project)
    name = project.judge.model if project is not None and judge == project.judge_source else None
    price = _price(name or live.model.identity.model, project, usd)
    ledger = options.ledger or str((project.root if project is not None else Path()) / LEDGER)
    calls, tokens = _chosen("max_calls", options, project), _chosen("max_tokens", options, project)
    live.settings = JudgeSettings(
        ledger,
        _limits(options, project),
        calls,
        tokens,
        None if usd is None else Decimal(str(usd)),
        price,
        independence_of(project),
        options.explain_cache,
    )
    if live.model.host:
        complain(
            f"note: transcripts and prompts are sent to {live.model.host} ({model_and_endpoint(live.model.identity)})"
        )
    return live


def _limits(options: JudgeOptions, project: Project | None) -> CallLimits:
    usual = CallLimits()
    return CallLimits(
        concurrency=_chosen("concurrency", options, project) or usual.concurrency,
        requests=_chosen("requests_per_minute", options, project),
        tokens=_chosen("tokens_per_minute", options, project),
        seconds=_chosen("timeout", options, project) or usual.seconds,
        on_ambiguous=options.on_ambiguous,
    )


def _chosen(name: str, options: JudgeOptions, project: Project | None) -> Any:
    """The option, else what the project's part `judge` says."""
    given = getattr(options, name)
    return given if given is not None or project is None else getattr(project.judge, name)


def independence_of(project: Project | None) -> Independence:
    """Who may judge whom in the project."""
    return Independence() if project is None else Independence(project.judge.families, project.judge.same_family)


def open_waiting_judge(
    judge: str,
    stack: ExitStack,
    read: Callable[[str], object],
    settings: Callable[[str], JudgeSettings],
    questions: Callable[[], Iterable[JudgeRequest]] | None = None,
) -> Judge:
    """The judge that answers one question at a time, recorded replies or a model; closed with `stack`.

    `read` reads a reply, and `settings` are those for a model's name. Raises UsageError where `questions`, which will
    be put, exceed its limits.
    """
    if not is_live(judge):
        return open_recorded(judge)

    live = LiveJudge(open_model(judge))
    live.settings = settings(live.model.identity.model)
    if questions is not None and live.settings.has_limit:
        refuse_questions(questions(), live)
    if live.model.host:
        complain(f"note: what is judged is sent to {live.model.host} ({model_and_endpoint(live.model.identity)})")
    waiting = WaitingJudge(live, read)
    stack.callback(waiting.close)
    return waiting


def warn_of_unknown_families(live: LiveJudge, subjects: Iterable[str]) -> None:
    """Say which models' families nobody knows: only the same name shows that a judge is not independent. Chats
    that name no model can't be compared with any judge."""
    known = live.settings.independence.is_known
    judged = {*subjects} - {UNKNOWN_MODEL}
    unknown = sorted(name for name in {live.model.identity.model, *judged} if not known(name)) if judged else []
    if unknown:
        rows = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: FAMILY" for name in unknown[:3])
        more = f" (and {len(unknown) - 3} more)" if len(unknown) > 3 else ""
        named = either([f"`{name}`" for name in unknown[:3]], "and")
        what, verb = ("family", "is") if len(unknown) == 1 else ("families", "are")
        complain(
            f"warning: the {what} of {named}{more} {verb} unknown, so a judge of the same family is not "
            f"detected; write `families: {{{rows}}}` under `judge` in the project file"
        )


def _price(model: str, project: Project | None, usd: Decimal | None) -> Price | None:
    """The price of the model. Raises UsageError where a limit in USD needs one and there is none."""
    found = None if project is None else project.pricing.get(model)
    if usd is not None and found is None:
        raise UsageError(f"a limit in USD needs a price for `{model}` in the project's `pricing`")
    return exact_price(found)


def within(
    model: str, project: Project | None, calls: int | None, tokens: int | None, usd: Decimal | None
) -> JudgeSettings:
    """The settings of a judge that only limits are given for. Raises UsageError where a price is missing."""
    return JudgeSettings(LEDGER, calls=calls, tokens=tokens, usd=usd, price=_price(model, project, usd))


def refuse_what_cannot_fit(
    plan: Plan, items: Iterable[Transcript | InputError], live: LiveJudge, *, gates_only: bool = False
) -> None:
    """Raise UsageError where the plan needs more than the budget allows, whatever is answered."""
    transcripts = (item for item in items if isinstance(item, Transcript))
    if live.settings.has_limit:
        refuse_questions(first_questions(plan, transcripts, gates_only=gates_only), live)


def refuse_questions(questions: Iterable[JudgeRequest], live: LiveJudge) -> None:
    """The same for questions that will be put, whatever is answered. What the ledger holds costs nothing."""
    settings, needed = live.settings, _calls_by_key(questions, live)
    with known_answers(settings.ledger) as known:
        new = [(call, settings.price) for key, call in needed.items() if known(key) is None]
    refuse_below(settings.budget, new)


def _calls_by_key(questions: Iterable[JudgeRequest], live: LiveJudge) -> dict[str, ModelCall]:
    """The different calls that put these questions, by their keys in a ledger."""
    asks = (ask_of(question, live.model.capabilities) for question in questions)
    return {request_key(live.model.identity, ask): ask.call for ask in asks if ask is not None}


def answered_by_ledger(judge: str, ledger: Path, plan: Plan, transcripts: Iterable[Transcript]) -> JsonObject | None:
    """How many different questions a scan asks whatever is answered (`first`), and how many of them the ledger answers
    (`answered`); None without a ledger, or if the judge is not an endpoint."""
    if not judge.startswith(_ENDPOINTS) or not ledger.is_file():
        return None
    try:
        needed = _calls_by_key(first_questions(plan, transcripts, gates_only=False), LiveJudge(open_model(judge)))
    except ModelError:
        return None
    with known_answers(str(ledger)) as known:
        return {"first": len(needed), "answered": sum(known(key) is not None for key in needed)}


def refuse_below(budget: Budget, calls: Iterable[tuple[ModelCall, Price | None]]) -> None:
    """Raise UsageError where calls can't be answered within a budget."""
    try:
        budget.refuse(minimum_budget(calls))
    except BudgetError as error:
        raise UsageError(str(error)) from None


@contextmanager
def known_answers(ledger: str) -> Generator[Callable[[str], ModelAnswer | None]]:
    """What a ledger holds, by key; nothing where there is none yet."""
    if not Path(ledger).is_file():
        yield lambda _: None
        return
    with closing(Ledger(ledger)) as opened:
        yield opened.answer
