"""`hil`: show the queue of a workflow, and record decisions."""

import argparse
import getpass
import json
import shlex
from pathlib import Path

import msgspec

from rulewright.commands.output import answer, person, serve_until_stopped
from rulewright.commands.workflow_settings import open_store, settings_of
from rulewright.serving.queue_app import serve
from rulewright.workflow import load_workflow
from rulewright_runtime.processes.ancestry import here
from rulewright_runtime.terminal import complain, say
from rulewright_runtime.workflow.deciders import SignedDecision, SigningKey, digest_of
from rulewright_runtime.workflow.hil import QueueError, QueueItem
from rulewright_runtime.workflow.hil_text import describe
from rulewright_runtime.workflow.run_context import utc_now
from rulewright_runtime.workflow.run_database import Store


def run(args: argparse.Namespace) -> int:
    """Run the action; return the exit code: 1 if the person may not decide, or is too late."""
    try:
        return _run(args)
    except QueueError as error:
        complain(f"error: {error}")
        return 1


def _run(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    with open_store(workflow, settings_of(workflow)) as store:
        if args.action == "list":
            return _list(store, args)
        if args.action == "show":
            return _show(store, args)
        if args.action == "serve":
            return _serve(store, args.port)
        return _decide(store, args)


def _list(store: Store, args: argparse.Namespace) -> int:
    items = store.items(waiting=not args.all)
    lines = [f"{item.id}  {item.status:<8}  {item.trigger}  {item.reason}" for item in items]
    answer(args.format, msgspec.to_builtins(items), lines or ["nothing waits for a person"])
    return 0


def _show(store: Store, args: argparse.Namespace) -> int:
    item = store.item(args.item)
    taken = store.decisions(item.id)
    if args.format == "json":
        decisions = [{**msgspec.to_builtins(each), "origin": msgspec.to_builtins(origin)} for each, origin in taken]
        print(json.dumps({**msgspec.to_builtins(item), "decisions": decisions}, ensure_ascii=False))
    else:
        print(describe(item, store.outputs(item.run_id, item.task_id), taken), end="")
    return 0


def _decide(store: Store, args: argparse.Namespace) -> int:
    notes, now, by, signature = getattr(args, "notes", ""), utc_now(), args.by or person(), ""
    if getattr(args, "key", None):
        key = SigningKey(Path(args.key).expanduser(), lambda: getpass.getpass(f"passphrase of {args.key}: "))
        by = args.by or key.name_in(store.deciders.signers) or by
        digest = digest_of(store.item(args.item))
        signature = key.sign(SignedDecision(args.item, digest, args.action, by, notes, now)).signature
    origin = here("command")
    item = store.decide(args.item, args.action, by=by, notes=notes, now=now, signature=signature, origin=origin)
    say(f"{item.id} is {item.status} by {by}")
    if item.status != "ACKED":
        say(_onwards(store, item, args.file))
    return 0


def _onwards(store: Store, item: QueueItem, file: str | None) -> str:
    """How the decision takes effect: by the active run, or by the command that continues the run."""
    if store.is_run_active():
        return "the active run continues with it"
    named = f" {shlex.quote(file)}" if file else ""
    return f"continue with `rulewright workflow run{named} --resume {item.run_id}`"


def _serve(store: Store, port: int) -> int:
    serve_until_stopped(lambda: serve(store, port=port, reviewer=person()), port, "the queue is")
    return 0
