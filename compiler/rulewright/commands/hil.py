"""Decide what waits for a person.

    rulewright hil list                       what is waiting; --all shows what was decided, too
    rulewright hil show ITEM                  everything about one item
    rulewright hil ack ITEM                   say that you are looking at it
    rulewright hil resolve ITEM --notes TEXT  let it go on
    rulewright hil reject ITEM --reason TEXT  end it
    rulewright hil serve                      the same as a page for a browser, on this machine only

A decision is taken once: of two people only one decides.

exit codes: 0 done, 1 refused, 3 bad usage
"""

from __future__ import annotations

import argparse
import getpass
import json
from typing import TYPE_CHECKING

from rulewright.errors import UsageError

if TYPE_CHECKING:
    from rulewright_runtime.workflow.store import Store

BAD_USAGE = 3
REFUSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("list", "what is waiting"),
        ("show", "everything about one item"),
        ("ack", "say that you are looking at an item"),
        ("resolve", "let it go on"),
        ("reject", "end it"),
        ("serve", "the same as a page for a browser, on this machine only"),
    ):
        action = actions.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        action.add_argument("--file", metavar="FILE", help="the workflow (default: the project's)")
        if name == "list":
            action.add_argument("--all", action="store_true", help="what was decided, too")
        if name in {"list", "show"}:
            action.add_argument("--format", choices=("human", "json"), default="human")
        if name not in {"list", "serve"}:
            action.add_argument("item", metavar="ITEM")
        if name in {"ack", "resolve", "reject"}:
            action.add_argument("--by", metavar="NAME", default=None, help="who decides (default: you)")
        if name == "resolve":
            action.add_argument("--notes", metavar="TEXT", default="", help="why")
        if name == "reject":
            action.add_argument("--reason", metavar="TEXT", required=True, dest="notes", help="why")
        if name == "serve":
            action.add_argument("--port", type=int, default=8642, metavar="PORT", help="0 takes any that is free")


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    from rulewright.workflows.load import load_workflow
    from rulewright.workflows.settings import settings_of, state_of
    from rulewright_runtime.workflow.store import Store

    workflow = load_workflow(args.file)
    state = state_of(workflow)
    if not state.is_file():
        raise UsageError(f"there is no database of runs at `{state}`: nothing has run yet")
    with Store(state, queue_path=settings_of(workflow).queue_path) as store:
        if args.action == "list":
            return _list(store, args)
        if args.action == "show":
            return _show(store, args)
        if args.action == "serve":
            return _serve(store, args.port)
        return _decide(store, args)


def _list(store: Store, args: argparse.Namespace) -> int:
    import msgspec

    items = store.items(waiting=not args.all)
    if args.format == "json":
        print(json.dumps([msgspec.to_builtins(item) for item in items], ensure_ascii=False))
        return 0
    for item in items:
        print(f"{item.id}  {item.status:<8}  {item.trigger}  {item.reason}")
    if not items:
        print("nothing waits for a person")
    return 0


def _show(store: Store, args: argparse.Namespace) -> int:
    import msgspec

    from rulewright_runtime.workflow.hil_text import describe

    item = store.item(args.item)
    if args.format == "json":
        print(json.dumps(msgspec.to_builtins(item), ensure_ascii=False))
    else:
        print(describe(item, store.outputs(item.run_id, item.task_id)), end="")
    return 0


def _decide(store: Store, args: argparse.Namespace) -> int:
    from rulewright_runtime.workflow.desk import utc_now

    notes = getattr(args, "notes", "")
    item = store.decide(args.item, args.action, by=args.by or _me(), notes=notes, now=utc_now())
    print(f"{item.id} is {item.status}")
    if item.status != "ACKED":
        print("go on with `rulewright workflow run --resume`")
    return 0


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"


def _serve(store: Store, port: int) -> int:
    from rulewright_runtime.workflow.hil_web.server import serve

    try:
        server = serve(store, port=port, reviewer=_me())
    except (OSError, OverflowError) as error:
        raise UsageError(f"can't listen on port {port}: {error}") from None
    with server:
        print(f"the queue is at {server.url} (stop with Ctrl-C)", flush=True)
        server.wait()
    return 0
