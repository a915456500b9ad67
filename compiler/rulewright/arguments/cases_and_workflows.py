"""The arguments of the commands for test cases and workflows: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse

from rulewright.arguments.shared_options import add_action, add_spending_options, at_least


def score_arguments(parser: argparse.ArgumentParser) -> None:
    """Score batches of test cases and label each case.

    Cases are read from `--cases` (a folder with a file for each batch), the engine's outputs from the cases
    themselves or from `--outputs`. Settings come from the command line, then the environment, then
    `safe.config.json`, then the scorecard; `--show-config` prints each value with its source.
    """
    parser.add_argument("--concern", metavar="ID", help="the concern of the cases (default: the only folder)")
    parser.add_argument(
        "--batch", default="*", metavar="PATTERN", help="a batch, or a pattern such as 'I25_batch_*' (default: all)"
    )
    parser.add_argument("--cases", metavar="DIR", help="the folder that holds the batches")
    parser.add_argument("--outputs", metavar="PATH", help="the engine's outputs: a file, or a folder of files")
    parser.add_argument("--output", metavar="PATH", help="where the report goes; - prints it")
    parser.add_argument(
        "--format",
        choices=("json", "console", "markdown", "html", "junit", "all"),
        help="the report's format (default: console)",
    )
    parser.add_argument(
        "--scorecard", metavar="NAME", help="a scorecard's name or file (default: the project's, else safe-v0)"
    )
    parser.add_argument("--config", metavar="FILE", help="the settings file (default: safe.config.json)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set one parameter")
    parser.add_argument("--strict-ah", action="store_true", help="set the metric AH to 0 if one forbidden word occurs")
    parser.add_argument("--fold", action="store_true", help="fold typography and white space before matching")
    parser.add_argument("--show-config", action="store_true", help="print every setting with its source, and stop")
    parser.add_argument("--verbose", action="store_true", help="add the position of each match, and near misses")
    parser.add_argument(
        "--semantic",
        metavar="NAME",
        help="search by meaning with `minilm`, the folder of a model, or a file of word vectors",
    )
    parser.add_argument(
        "--semantics", metavar="NAME", help="`seed` (default), or `reference`, which reads missing inputs as empty"
    )
    parser.add_argument(
        "--judge", metavar="JUDGE", help="also ask a judge, `replay:FILE` or a model; its verdicts are hints"
    )
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop asking the judge after N calls")
    parser.add_argument(
        "--resume", action="store_true", help="ask to the end, after a run that stopped for the judge's replies"
    )
    add_spending_options(parser)
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 even if cases fail or need review")
    parser.add_argument("--allow-errors", action="store_true", help="ignore errored cases in the exit code")
    parser.add_argument("--baseline", metavar="REPORT", help="compare with an earlier JSON report")
    parser.add_argument("--observe", metavar="TARGET", help="write an observation of each case to a file or address")
    parser.add_argument("--otlp", metavar="ADDRESS", help="send OpenTelemetry evaluation events to a collector's logs")
    parser.add_argument("--events", metavar="TARGET", help="send the result event to a file or address")


def workflow_arguments(parser: argparse.ArgumentParser) -> None:
    """Check, draw, run and trace workflows.

    `rulewright workflow ACTION --help` shows the arguments of an action. The workflow defaults to `workflow.file` of
    the project, the run to the latest one. Agents, folders and the database of runs come from the project file
    `rulewright.yaml`.
    """
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("check", "find mistakes before anything runs"),
        ("graph", "draw the tasks, or the state machine of one task"),
        ("run", "run the workflow, or continue an unfinished run"),
        ("watch", "follow a run until it ends: status and confidence of each task"),
        ("runs", "list the runs with their states"),
        ("cancel", "cancel a run and withdraw its open decisions"),
        ("trace", "show the history of a run"),
    ):
        action = add_action(actions, name, summary)
        if name == "trace":
            action.add_argument("run_id", nargs="?", metavar="RUN", help="a run such as run-1 (default: the latest)")
            action.add_argument("--format", choices=("human", "jsonl", "json"), default="human")
        if name == "watch":
            action.add_argument("run_id", nargs="?", metavar="RUN", help="a run such as run-1 (default: the latest)")
            action.add_argument("--once", action="store_true", help="show the current state and exit")
            action.add_argument("--format", choices=("human", "json"), default="human", help="json implies --once")
        if name == "runs":
            action.add_argument("--format", choices=("human", "json"), default="human")
        if name == "cancel":
            action.add_argument("run_id", metavar="RUN", help="a run such as run-1")
            action.add_argument("--why", metavar="TEXT", dest="reason", default="", help="the reason")
        if name in {"trace", "runs", "watch", "cancel"}:
            action.add_argument("--file", metavar="FILE", help="the workflow (default: the project's)")
        else:
            action.add_argument("file", nargs="?", metavar="FILE", help="the workflow (default: the project's)")
        if name == "graph":
            action.add_argument("--format", choices=("mermaid", "dot", "svg"), default="mermaid")
            action.add_argument("--run", metavar="RUN", help="show the progress of this run, or of the `latest`")
            action.add_argument("--task", metavar="ID", help="draw the state machine of this task")
        if name == "run":
            _add_run_options(action)


def hil_arguments(parser: argparse.ArgumentParser) -> None:
    """Decide the items that wait for a person.

    `rulewright hil ACTION --help` shows the arguments of an action. If two people decide, only the first decision
    counts. Decisions by agents and by processes that a run started are refused. If the project file has
    `workflow.overlays.hil.signers`, `--key FILE` signs the decision.
    """
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("list", "list open items"),
        ("show", "show one item with its history"),
        ("ack", "mark an item as under review"),
        ("resolve", "approve an item: the task continues"),
        ("reject", "reject an item: the task ends"),
        ("serve", "serve the items as web pages, on this machine only"),
    ):
        action = add_action(actions, name, summary)
        action.add_argument("--file", metavar="FILE", help="the workflow (default: the project's)")
        if name == "list":
            action.add_argument("--all", action="store_true", help="include decided items")
        if name in {"list", "show"}:
            action.add_argument("--format", choices=("human", "json"), default="human")
        if name not in {"list", "serve"}:
            action.add_argument("item", metavar="ITEM", help="an item of `rulewright hil list`")
        if name in {"ack", "resolve", "reject"}:
            action.add_argument("--by", metavar="NAME", default=None, help="who decides (default: your user name)")
        if name in {"resolve", "reject"}:
            action.add_argument("--key", metavar="FILE", help="the private key that signs the decision (ed25519)")
            action.add_argument("--why", metavar="TEXT", required=True, dest="notes", help="the reason")
        if name == "serve":
            action.add_argument("--port", type=int, default=8642, metavar="PORT", help="0 selects a free port")


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resume", nargs="?", const=True, default=False, metavar="RUN",
        help="continue an unfinished run (default: the latest)",
    )  # fmt: skip
    parser.add_argument(
        "--changed", action="store_true",
        help="with --resume: continue although the workflow has changed; unchanged tasks keep their results",
    )  # fmt: skip
    parser.add_argument("--task", metavar="ID", help="run only this task and its dependencies")
    parser.add_argument("--no-hil", action="store_true", help="skip human sign-offs except those of T2 gates")
    parser.add_argument("--judge", metavar="MODEL", help="a model that replaces the evaluators of `llm_judge` metrics")
    parser.add_argument("--dry-run", action="store_true", help="show what would run without running it")
    parser.add_argument("--step", action="store_true", help="run one activity and stop")
    parser.add_argument("--wait", action="store_true", help="wait for people instead of exiting")
    parser.add_argument("--events", metavar="FILE", help="write every event to FILE as a line of JSON")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints the state of the run")
