"""Play scenarios against a model and keep the transcripts.

Prints the plan of the run and its estimated cost first; --dry-run stops there, having written run_plan.json and
cost_report.json. The transcripts in RUN/transcripts are what `rulewright scan` reads.

A model is `openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`, `python:MODULE:CALLABLE` or `command:ARGV`,
as for a judge, with its key from the environment; or `scripted:FILE` (prepared replies), or `product-http:URL`
(experimental: a product that keeps the conversation itself; its transcripts are not a part of a public comparison).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from rulewright.commands.live_options import LEDGER, again, at_least, dollars
from rulewright.documents.layout import nearest_project
from rulewright.errors import UsageError
from rulewright.exit_codes import INTERRUPTED, REFUSED, UNDECIDED
from rulewright.planning.harness import compile_run_plan, run_cost
from rulewright.project import Project, load_project
from rulewright_runtime.calls.budget import Budget, BudgetError, Price
from rulewright_runtime.calls.portal import CallPortal
from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.errors import OutageError
from rulewright_runtime.files import write_whole
from rulewright_runtime.harness.adapters import Adapter, open_adapter
from rulewright_runtime.harness.harness_plan import RunPlan
from rulewright_runtime.harness.harness_run import finished, holds_run
from rulewright_runtime.harness.harness_run import run as play
from rulewright_runtime.harness.model_adapter import ModelAdapter
from rulewright_runtime.locks import held_folder
from rulewright_runtime.models import PROVIDERS, open_model
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.terminal import complain, safe_stream, say
from rulewright_runtime.transcripts.redaction import NOTHING, Redaction


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIOS", help="scenario files or folders")
    parser.add_argument("--model", required=True, metavar="NAME:REST", help="who plays the assistant")
    parser.add_argument("--out", required=True, metavar="RUN", help="the folder for plan, transcripts and summary")
    parser.add_argument(
        "--project", metavar="PATH", help="the project whose prices, redaction and `accept` entries count"
    )
    parser.add_argument("--price-of", metavar="MODEL", help="the model in the price list (default: the model's name)")
    parser.add_argument(
        "--reply-tokens", type=at_least(1), default=250, metavar="N", help="estimated length of a reply"
    )
    parser.add_argument(
        "--scenario-parallel", type=at_least(1), metavar="N", help="conversations at a time (8 with a model, else 1)"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="X", help="of a model's replies (default: the model's own)"
    )
    parser.add_argument(
        "--max-reply-tokens", type=at_least(1), default=1024, metavar="N", help="the longest reply of a model (1024)"
    )
    parser.add_argument("--sample", type=at_least(0), default=0, metavar="N", help="another number is answered anew")
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop before a model is called more often")
    parser.add_argument("--max-usd", type=dollars, metavar="X", help="stop before a model costs more")
    parser.add_argument("--ledger", metavar="FILE", help=f"what was asked and answered ({LEDGER} of the project)")
    parser.add_argument("--attempts", type=at_least(1), default=3, metavar="N", help="tries for each turn")
    parser.add_argument("--dry-run", action="store_true", help="plan and estimate, call nothing")
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints the summary")


def run(args: argparse.Namespace) -> int:
    """Plan, estimate, play, report."""
    place = Path(args.project) if args.project else nearest_project()
    project = None if place is None else load_project(place)
    plan = compile_run_plan(args.scenarios, project)
    adapter = _adapter(args, project)
    name = args.price_of or adapter.model
    price = None if project is None else project.pricing.get(name)
    cost = run_cost(plan, name, price, reply_tokens=args.reply_tokens, attempts=args.attempts)
    human = args.format == "human"
    if human:
        say(*_figures(cost))
    if args.dry_run and args.resume:
        done, number = finished(plan, adapter, args.out), len(plan.scripts)
        if human:
            say(f"resumes     `{args.out}`, {done} of {number} conversations are finished")
        else:
            print(json.dumps(cost))
        return 0
    if args.dry_run:
        folder = _write_plan(args.out, plan, cost)
        if human:
            say(f"written     {folder / 'run_plan.json'}, {folder / 'cost_report.json'}")
        else:
            print(json.dumps(cost))
        return 0
    try:
        with _opened(adapter) as is_model:
            summary = play(
                plan,
                adapter,
                args.out,
                parallel=args.scenario_parallel or (8 if is_model else 1),
                attempts=1 if is_model else args.attempts,  # a model's scheduler tries again itself
                resume=args.resume,
                progress=lambda done: safe_stream(sys.stderr).show_progress(f"{done} scenarios"),
            )
    except (BudgetError, OutageError) as stopped:
        complain(f"stopped: {stopped}", f"help: continue with `{again()}`")
        return UNDECIDED if isinstance(stopped, BudgetError) else REFUSED
    except KeyboardInterrupt:
        complain("interrupted", f"help: continue with `{again()}`")
        return INTERRUPTED
    except OSError as error:
        raise UsageError(f"can't write `{args.out}`: {(error.strerror or str(error)).lower()}") from None
    if human:
        say(*_outcome(summary, args.out))
    else:
        print(json.dumps(summary, ensure_ascii=False))
    return 1 if summary["errors"] else 0


def _adapter(args: argparse.Namespace, project: Project | None) -> Adapter:
    """Who plays the assistant; says what will leave this machine."""
    if args.model.partition(":")[0] not in PROVIDERS:
        return open_adapter(args.model)

    model = open_model(args.model)
    found = None if project is None else project.pricing.get(args.price_of or model.identity.model)
    price = None if found is None else Price(Decimal(str(found.input)), Decimal(str(found.output)))
    if args.max_usd is not None and price is None:
        raise UsageError(f"a limit in USD needs a price for `{model.identity.model}` in the project's `pricing`")
    ledger = args.ledger or str((project.root if project is not None else Path()) / LEDGER)
    limits = CallLimits(concurrency=args.scenario_parallel or 8, attempts=args.attempts)
    if model.host:
        complain(f"note: the users' messages and what personas show are sent to {model.host}")
    return ModelAdapter(
        model,
        lambda opened: CallPortal(
            opened, ledger, os.path.abspath(args.out), limits, Budget(args.max_calls, None, args.max_usd), price
        ),
        max_tokens=args.max_reply_tokens,
        temperature=args.temperature,
        sample=args.sample,
        redaction=NOTHING if project is None else Redaction(project.redact),
    )


@contextmanager
def _opened(adapter: Adapter) -> Iterator[bool]:
    """Open a model for the time of the block; the value says whether the adapter is one."""
    if not isinstance(adapter, ModelAdapter):
        yield False
        return
    adapter.open()
    try:
        yield True
    finally:
        adapter.close()


def _write_plan(out: str, plan: RunPlan, cost: Mapping[str, Any]) -> Path:
    """Write what a dry run found out; never beside the transcripts of a run, which may be of another plan."""
    folder = Path(out)
    with held_folder(folder):
        if holds_run(folder):
            raise UsageError(f"`{folder}` holds a run already; choose another folder for its plan")
        write_whole(folder / "run_plan.json", encode(plan) + b"\n")
        write_whole(folder / "cost_report.json", json.dumps(cost, indent=1).encode() + b"\n")
    return folder


def _figures(cost: Mapping[str, Any]) -> Sequence[str]:
    low, high = cost["cost_usd"]["lower"], cost["cost_usd"]["upper"]
    price = f"unknown (no price for `{cost['model']}`)" if low is None else f"between {low:.4f} and {high:.4f} USD"
    calls, tokens = cost["calls"], cost["input_tokens"]
    return (
        f"model       {cost['model']}",
        f"scenarios   {cost['scenarios']} with {cost['branches']} branches",
        f"turns       {calls['lower']} (at most {calls['upper']} calls)",
        f"tokens in   about {tokens['lower']} to {tokens['upper']}",
        f"cost        {price}",
    )


def _outcome(summary: Mapping[str, Any], out: str) -> list[str]:
    rows = [f"played      {summary['scenarios']} scenarios, {summary['turns']} turns answered"]
    for name, row in summary["by_scenario"].items():
        if row["error"] is not None:
            rows.append(f"error       {name}, turn {row['error']['turn']}: {row['error']['message']}")
    if summary["experimental"]:
        rows.append(f"note        `{summary['harness']}` is experimental; it is not a part of a public comparison")
    return [*rows, f"transcripts {os.path.join(out, 'transcripts')}"]
