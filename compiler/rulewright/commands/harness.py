"""`harness`: plan and play a run of scenarios, and show its result."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from rulewright.arguments.shared_options import LEDGER, again, elsewhere, how_to_continue
from rulewright.commands.output import answer, writing_to
from rulewright.documents.layout import nearest_project
from rulewright.errors import UsageError
from rulewright.exit_codes import INTERRUPTED, REFUSED, UNDECIDED
from rulewright.judges import known_answers, refuse_below
from rulewright.planning.harness import calls_needed, compile_run_plan, run_cost
from rulewright.planning.questions import exact_price
from rulewright.project import Project, load_project
from rulewright_runtime.calls.budget import Budget, BudgetError, Price
from rulewright_runtime.calls.scheduler import CallLimits, CallPortal
from rulewright_runtime.english import plural
from rulewright_runtime.errors import OutageError
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.harness.adapters import Adapter
from rulewright_runtime.harness.harness_plan import RunPlan
from rulewright_runtime.harness.harness_run import holds_run, remaining_plan
from rulewright_runtime.harness.harness_run import run as play
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.harness.named_adapters import ADAPTERS, open_adapter
from rulewright_runtime.harness.play import EmptyReplyError
from rulewright_runtime.harness.simulated_user import MAX_MESSAGE_TOKENS, SimulatedUser
from rulewright_runtime.models import open_model
from rulewright_runtime.models.call import Model
from rulewright_runtime.models.capabilities import family_of
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import complain, safe_stream, say
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction


def run(args: argparse.Namespace) -> int:
    """Plan, estimate, play and report; return the exit code."""
    place = Path(args.project) if args.project else nearest_project()
    project = None if place is None else load_project(place)
    plan = compile_run_plan(args.scenarios, project, simulated=args.user is not None)
    calls = _Calls(args, project)
    adapter = _adapter(args, calls)
    user = None if args.user is None else _user(args, calls, adapter.model)
    cost = _cost(args, plan, project, adapter, user)
    if args.format == "human":
        say(*_figures(cost))
    if args.dry_run:
        folder = _write_plan(args.out, plan, cost)
        answer(args.format, cost, [f"written     {folder / 'run_plan.json'}, {folder / 'cost_report.json'}"])
        return 0
    calls.refuse_what_cannot_fit(remaining_plan(plan, adapter.model, args.out), adapter, user)
    try:
        with writing_to(args.out):
            summary = _played(args, plan, adapter, user)
    except (BudgetError, OutageError) as stopped:
        complain(f"stopped: {stopped}", f"help: {_cure(stopped, args)}")
        return UNDECIDED if isinstance(stopped, BudgetError) else REFUSED
    except KeyboardInterrupt:
        complain("interrupted", f"help: continue with `{again()}`")
        return INTERRUPTED
    answer(args.format, summary, _outcome(summary, args.out))
    return 1 if summary["errors"] else 0


def _cure(stopped: BudgetError | OutageError, args: argparse.Namespace) -> str:
    """How to continue after a run that had to stop; the folder of a run belongs to its models."""
    cause = stopped.cause if isinstance(stopped, OutageError) else "budget"
    models = [args.model, *([] if args.user is None else [args.user])]
    return how_to_continue(cause, f"play into another folder with `{elsewhere(args.out, *models)}`")


def _played(args: argparse.Namespace, plan: RunPlan, adapter: Adapter, user: SimulatedUser | None) -> JsonObject:
    models = [each for each in (adapter, user and user.speaker) if isinstance(each, ModelAdapter)]
    terminal = safe_stream(sys.stderr)
    with ExitStack() as stack:
        stack.callback(terminal.show_progress, "")
        for model in models:
            model.open()
            stack.callback(model.close)
        return play(
            plan,
            adapter,
            args.out,
            parallel=args.scenario_parallel or (8 if models else 1),
            attempts=1 if models else args.attempts,  # a model's scheduler retries itself
            resume=args.resume,
            progress=lambda done: terminal.show_progress(f"{done} of {plural(len(plan.scripts), 'scenario')}"),
            user=user,
        )


def _cost(
    args: argparse.Namespace, plan: RunPlan, project: Project | None, adapter: Adapter, user: SimulatedUser | None
) -> JsonObject:
    """The estimated cost of the run, with that of the model that plays the user."""

    def of(model: str, name: str) -> JsonObject:
        price = None if project is None else project.pricing.get(name)
        return run_cost(plan, name, price, reply_tokens=args.reply_tokens, attempts=args.attempts)

    cost = of(adapter.model, args.price_of or adapter.model)
    return cost if user is None else {**cost, "user": of(user.model, user.model)}


class _Calls:
    """The calls of a run to one or two models, with one ledger and one budget."""

    def __init__(self, args: argparse.Namespace, project: Project | None) -> None:
        self._args, self._project = args, project
        self.redaction = NOTHING if project is None else Redaction(project.redact)
        self._first: CallPortal | None = None
        self._prices: dict[str, Price | None] = {}

    @property
    def ledger(self) -> str:
        root = Path() if self._project is None else self._project.root
        return self._args.ledger or str(root / LEDGER)

    @property
    def budget(self) -> Budget:
        """A fresh budget with the limits of the options."""
        return Budget(self._args.max_calls, self._args.max_tokens, self._args.max_usd)

    def refuse_what_cannot_fit(self, plan: RunPlan, adapter: Adapter, user: SimulatedUser | None) -> None:
        """Raise UsageError if a run certainly needs more than the budget allows."""
        if self._args.max_calls is self._args.max_tokens is self._args.max_usd is None:
            return
        with known_answers(self.ledger) as known:
            needed = calls_needed(plan, adapter, user, known)
        refuse_below(self.budget, [(ask.call, self._prices[who.model]) for who, ask in needed])

    def opener(self, model: Model, name: str) -> Callable[[Model], CallPortal]:
        """The function that opens a model, which is called `name` in the price list. Raises UsageError without
        the price that a limit needs."""
        found = None if self._project is None else self._project.pricing.get(name)
        price = exact_price(found)
        if self._args.max_usd is not None and price is None:
            raise UsageError(f"a limit in USD needs a price for `{model.identity.model}` in the project's `pricing`")
        self._prices[model.identity.model] = price
        return lambda opened: self._opened(opened, price)

    def _opened(self, model: Model, price: Price | None) -> CallPortal:
        if self._first is not None:
            return self._first.for_model(model, price)
        limits = CallLimits(concurrency=self._args.scenario_parallel or 8, attempts=self._args.attempts)
        run = os.path.abspath(self._args.out)
        self._first = CallPortal(model, self.ledger, run, limits, self.budget, price)
        return self._first


def _adapter(args: argparse.Namespace, calls: _Calls) -> Adapter:
    """The adapter that plays the assistant; prints what is sent to another machine."""
    if args.model.partition(":")[0] in ADAPTERS:
        return open_adapter(args.model)
    model = open_model(args.model)
    if model.host:
        complain(f"note: the users' messages and what personas show are sent to {model.host}")
    return ModelAdapter(
        model,
        calls.opener(model, args.price_of or model.identity.model),
        max_tokens=args.max_reply_tokens,
        temperature=args.temperature,
        sample=args.sample,
        redaction=calls.redaction,
    )


def _user(args: argparse.Namespace, calls: _Calls, subject: str) -> SimulatedUser:
    """The model that plays the user; prints what leaves this machine, and warns of a family shared with the subject."""
    model = open_model(args.user)
    if model.host:
        complain(f"note: whole personas, the scenario's messages and the replies are sent to {model.host}")
    if (family := family_of(model.identity.model)) is not None and family == family_of(subject):
        complain(f"warning: `{subject}` and its user `{model.identity.model}` are of the family `{family}`")
    opener = calls.opener(model, model.identity.model)
    speaker = ModelAdapter(model, opener, max_tokens=MAX_MESSAGE_TOKENS, sample=args.sample, redaction=calls.redaction)
    return SimulatedUser(speaker, subject)


def _write_plan(out: str, plan: RunPlan, cost: Mapping[str, object]) -> Path:
    """Write the files of a dry run; refuse a folder with transcripts, which may be of another plan."""
    folder = Path(out)
    with writing_to(out), lock_folder(folder):
        if holds_run(folder):
            raise UsageError(f"`{folder}` already contains a run; choose another folder for the plan")
        write_whole(folder / "run_plan.json", encode(plan) + b"\n")
        write_whole(folder / "cost_report.json", json.dumps(cost, indent=1).encode() + b"\n")
    return folder


def _figures(cost: JsonMapping) -> Sequence[str]:
    low, high = cost["cost_usd"]["lower"], cost["cost_usd"]["upper"]
    price = f"unknown (no price for `{cost['model']}`)" if low is None else f"between {low:.4f} and {high:.4f} USD"
    calls, tokens = cost["calls"], cost["input_tokens"]
    user = cost.get("user")
    return (
        f"model       {cost['model']}",
        *(() if user is None else (f"user        {user['model']}, {plural(user['calls']['lower'], 'more call')}",)),
        f"scenarios   {cost['scenarios']} with {plural(cost['branches'], 'branch', 'branches')}",
        f"turns       {calls['lower']:,} (at most {plural(calls['upper'], 'call')})",
        f"tokens in   about {tokens['lower']:,} to {tokens['upper']:,}",
        f"cost        {price}",
    )


def _outcome(summary: JsonMapping, out: str) -> list[str]:
    rows = [f"played      {plural(summary['scenarios'], 'scenario')}, {plural(summary['turns'], 'turn')} answered"]
    played = summary["by_scenario"].values()
    for name, row in summary["by_scenario"].items():
        if row["error"] is not None:
            who = "" if row["error"]["role"] == "assistant" else " of the user"
            rows.append(f"error       {name}, turn {row['error']['turn']}{who}: {row['error']['message']}")
        rows += [f"incomplete  {name}, the reply of turn {turn}: `{why}`" for turn, why in row.get("cut", {}).items()]
    is_empty = {row["error"]["type"] == EmptyReplyError.__name__ for row in played if row["error"] is not None}
    if False in is_empty:
        rows.append("note        `--resume` continues the conversations that ended with an error")
    if True in is_empty:
        rows.append(
            "note        a reply without visible text is an answer, not asked again; another `--sample` gets new ones"
        )
    if any(row.get("cut") for row in played):
        then = "for `length`, play again with a larger `--max-reply-tokens`"
        rows.append(f"note        no check passes in a transcript with an incomplete reply; {then}")
    if longest := max((row.get("longest_line", 0) for row in played), default=0):
        rows.append(f"note        `scan` refuses lines as long as the longest one, unless with `--max-line {longest}`")
    if summary["experimental"]:
        rows.append(f"note        `{summary['harness']}` is experimental; leaderboards do not rank it")
    return [*rows, f"transcripts {os.path.join(out, 'transcripts')}"]
