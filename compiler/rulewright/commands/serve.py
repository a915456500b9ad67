"""`serve`: serve runs as a local site."""

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


def run(args: argparse.Namespace) -> int:
    """Serve until the command is stopped; return the exit code."""
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
