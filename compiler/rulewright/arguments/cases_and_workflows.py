"""The arguments of the commands for test cases and workflows: each function's docstring is the help of its command."""

import argparse

from rulewright.arguments.shared_options import (
    add_action,
    add_spending_options,
    at_least,
    flag,
    formats,
    option,
    repeated,
)


def score_arguments(parser: argparse.ArgumentParser) -> None:
    """Score batches of test cases and label each case.

    Cases are read from `--cases` (a file, or a folder with a file for each batch), the engine's outputs from the cases
    themselves or from `--outputs`. Settings come from the command line, then the environment, then
    `safe.config.json`, then the scorecard; `--show-config` prints each value with its source.
    """
    option(parser, "--concern", "ID", "the concern of the cases (default: the only folder)")
    option(parser, "--batch", "PATTERN", "a batch, or a pattern such as 'I25_batch_*' (default: all)", default="*")
    option(
        parser,
        "--cases",
        "PATH",
        "a batch or the folder of all (default: `cases`, `test_cases` or `benchmark/safe/cases`)",
    )
    option(
        parser, "--outputs", "PATH", "the engine's outputs: a file or a folder (default: `outputs` next to the cases)"
    )
    option(
        parser,
        "--output",
        "PATH",
        "write the report to PATH; - prints it (default: print console, json and github, write others to `reports`)",
    )
    parser.add_argument(
        "--format",
        choices=("json", "console", "markdown", "html", "junit", "sarif", "github", "all"),
        metavar="FORMAT",
        help="console (default), json, markdown, html, junit, sarif, github or all",
    )
    option(parser, "--scorecard", "NAME", "a scorecard's name or file (default: the project's, else safe-v0)")
    option(parser, "--config", "FILE", "the settings file (default: safe.config.json)")
    repeated(parser, "--set", "NAME=VALUE", "set a parameter")
    flag(parser, "--strict-ah", "set the metric AH to 0 if one forbidden word occurs")
    flag(parser, "--fold", "fold typography and white space before matching")
    flag(parser, "--show-config", "print every setting with its source, and stop")
    flag(parser, "--verbose", "add the position of each match, and near misses")
    option(
        parser, "--semantic", "NAME", "search by meaning: `minilm`, the folder of a model, or a file of word vectors"
    )
    option(parser, "--semantics", "NAME", "`seed` (default), or `reference`, which reads missing inputs as empty")
    option(
        parser, "--judge", "JUDGE", "also ask a judge, `replay:FILE` or a model; hints unless the scorecard counts them"
    )
    option(parser, "--max-calls", "N", "stop asking the judge after N calls (default: no limit)", type=at_least(0))
    flag(parser, "--resume", "with --judge: ask what remains of a run that stopped because no reply was usable")
    add_spending_options(parser)
    flag(parser, "--exit-zero", "exit with 0 even if cases fail or need review")
    flag(parser, "--allow-errors", "ignore errored cases in the exit code")
    option(parser, "--baseline", "REPORT", "compare with an earlier JSON report")
    option(parser, "--observe", "TARGET", "write an observation of each case to a file or address")
    option(parser, "--otlp", "ADDRESS", "send OpenTelemetry evaluation events to a collector's logs")
    option(parser, "--events", "TARGET", "send the result event to a file or address")


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
            option(action, "run_id", "RUN", "the run, such as run-1 (default: the latest)", nargs="?")
            formats(action, "human", "jsonl", "json")
        if name == "watch":
            option(action, "run_id", "RUN", "the run, such as run-1 (default: the latest)", nargs="?")
            flag(action, "--once", "show the current state and exit")
            formats(action, "human", "json", note="json implies --once")
        if name == "runs":
            formats(action, "human", "json")
        if name == "cancel":
            option(action, "run_id", "RUN", "the run, such as run-1")
            option(action, "--why", "TEXT", "the reason", dest="reason", default="")
        if name in {"trace", "runs", "watch", "cancel"}:
            option(action, "--file", "FILE", "the workflow (default: the project's)")
        else:
            option(action, "file", "FILE", "the workflow (default: the project's)", nargs="?")
        if name == "graph":
            formats(action, "mermaid", "dot", "svg")
            option(action, "--run", "RUN", "show the progress of this run, or of the `latest` (default: no run)")
            option(action, "--task", "ID", "draw the state machine of this task")
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
        ("reject", "reject an item: the task fails"),
        ("serve", "serve the items as web pages, on this machine only"),
    ):
        action = add_action(actions, name, summary)
        option(action, "--file", "FILE", "the workflow (default: the project's)")
        if name == "list":
            flag(action, "--all", "include decided items")
        if name in {"list", "show"}:
            formats(action, "human", "json")
        if name not in {"list", "serve"}:
            option(action, "item", "ITEM", "an item of `rulewright hil list`")
        if name in {"ack", "resolve", "reject"}:
            option(action, "--by", "NAME", "who decides (default: your user name)")
        if name in {"resolve", "reject"}:
            option(action, "--key", "FILE", "the private key that signs the decision (ed25519)")
            option(action, "--why", "TEXT", "the reason", required=True, dest="notes")
        if name == "serve":
            option(
                action,
                "--port",
                "PORT",
                "the port (default: 8642); 0 selects a free one",
                type=at_least(0, 65535),
                default=8642,
            )


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    option(parser, "--resume", "RUN", "continue this run (default: the latest)", nargs="?", const=True, default=False)
    flag(parser, "--changed", "with --resume: accept a changed workflow; unchanged tasks keep their results")
    option(parser, "--task", "ID", "run only this task and its dependencies")
    flag(parser, "--no-hil", "skip human sign-offs except those of T2 gates")
    option(parser, "--judge", "MODEL", "a model that replaces the evaluators of `llm_judge` metrics")
    flag(parser, "--dry-run", "show what would run without running it")
    flag(parser, "--step", "run one activity and stop")
    flag(parser, "--wait", "wait for people instead of exiting")
    option(parser, "--events", "FILE", "write every event to FILE as a line of JSON")
    formats(parser, "human", "json", note="json is the state of the run")
