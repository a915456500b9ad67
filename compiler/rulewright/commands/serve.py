"""`serve` and `lsp`: serve runs as a local site; serve an editor."""

import argparse
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

from rulewright.commands.output import person, serve_until_stopped
from rulewright.commands.workflow_settings import open_store, settings_of
from rulewright.errors import UsageError
from rulewright.serving.open_runs import OpenRuns
from rulewright.serving.queue_app import QueueApp
from rulewright.serving.runs_app import RunsApp, listed
from rulewright.web.server import App, LocalServer
from rulewright.workflow import load_workflow
from rulewright_runtime.terminal import complain

QUEUE = "/queue"


def run(args: argparse.Namespace) -> int:
    """Serve until the command is stopped; return the exit code. Raises UsageError if no run can be read."""
    found = OpenRuns(args.runs, args.transcripts, tuple(Path(file) for file in args.replies))
    runs = [listed(number, each) for number, each in enumerate(found.present(), 1)]
    if problems := [each.problem for each in runs if each.problem]:
        if len(problems) == len(runs):
            raise UsageError(*problems)
        complain(*(f"note: {each}" for each in problems))
    workflow = None if args.workflow is None else load_workflow(args.workflow)
    with nullcontext() if workflow is None else open_store(workflow, settings_of(workflow)) as store:
        apps: dict[str, App] = {"": RunsApp(found, person(), QUEUE if store is not None else "")}
        if store is not None:
            apps[QUEUE] = QueueApp(store, person(), QUEUE)
        serve_until_stopped(lambda: LocalServer(apps, args.port), args.port, "the runs are")
    return 0


def lsp(args: argparse.Namespace) -> int:
    """Serve until the editor closes the session; return the exit code. Raises UsageError without pygls."""
    if find_spec("pygls") is None:
        raise UsageError("the language server needs pygls: install it with `pip install 'rulewright[lsp]'`")
    from rulewright.lsp.language_server import serve

    return 0 if serve() else 1
