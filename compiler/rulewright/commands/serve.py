"""Show finished runs as pages for a browser, on this machine only, and take people's decisions and labels.

RUNS are folders of runs, or folders that hold some. A decision about a verdict that waits is written as `rulewright
adjudicate` does, to RUN/adjudicated; a label goes to RUN/labels/CHECK.csv (id, target, annotator, split), and whoever
labels does not see what the check has said. With --workflow the queue of a workflow is on the same site.

The address that is printed holds a key; without it nothing is shown.
"""

from __future__ import annotations

import argparse
import getpass
import sys
from contextlib import nullcontext
from pathlib import Path

from rulewright.commands.workflow_settings import open_store, settings_of
from rulewright.errors import UsageError
from rulewright.serving.open_runs import open_runs
from rulewright.serving.runs_app import RunsApp
from rulewright.signoff.server import QueueApp
from rulewright.web.server import App, LocalServer
from rulewright.workflow import load_workflow
from rulewright_runtime.terminal import say

QUEUE = "/queue"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("runs", nargs="+", metavar="RUNS", help="folders of runs, or folders that hold some")
    parser.add_argument("--port", type=int, default=8643, metavar="PORT", help="0 takes any that is free")
    parser.add_argument(
        "--transcripts", action="append", default=[], metavar="PATH", help="where conversations lie now (repeatable)"
    )
    parser.add_argument(
        "--replies", action="append", default=[], metavar="FILE", help="replies that the runs replayed (repeatable)"
    )
    parser.add_argument("--workflow", metavar="FILE", help="a workflow whose queue is shown, too")


def run(args: argparse.Namespace) -> int:
    """Serve until the command is stopped."""
    found = open_runs(args.runs, args.transcripts, tuple(Path(file) for file in args.replies))
    for each in found:
        each.load()
    workflow = None if args.workflow is None else load_workflow(args.workflow)
    with nullcontext() if workflow is None else open_store(workflow, settings_of(workflow)) as store:
        apps: dict[str, App] = {"": RunsApp(found, _me(), QUEUE if store is not None else "")}
        if store is not None:
            apps[QUEUE] = QueueApp(store, _me(), QUEUE)
        try:
            server = LocalServer(apps, args.port)
        except (OSError, OverflowError) as error:
            raise UsageError(f"can't listen on port {args.port}: {error}") from None
        with server:
            say(f"the runs are at {server.url} (stop with Ctrl-C)")
            sys.stdout.flush()
            server.wait()
    return 0


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "somebody"
