"""The arguments of the commands that run rules: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.arguments.shared_options import (
    LEDGER,
    add_action,
    add_finished_run,
    add_project_options,
    add_reading_options,
    add_run_options,
    add_spending_options,
    add_transcripts,
    at_least,
    seconds_of,
    temperature,
)


def compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Compile a project into one plan file.

    The plan is one JSON document with a hash over its content. It runs wherever the runtime is installed: `python -m
    rulewright_runtime run plan.json DATA --out RUN`. Without -o, it is written to standard output, unless that is a
    terminal. A scorecard over cases, given by its file or its name such as `safe-v0`, is compiled to a plan for `python
    -m rulewright_runtime score`. That plan contains the settings that `rulewright score` would use here, from the
    environment and from `safe.config.json`.
    """
    parser.add_argument("path", nargs="?", metavar="PROJECT", help="the same as --project")
    add_project_options(parser)
    parser.add_argument("-o", "--out", metavar="FILE", help="where the plan goes (default: standard output)")
    parser.add_argument(
        "--config", metavar="FILE", help="settings of a scorecard over cases (default: safe.config.json)"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human", help="how the result of -o is printed")


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what a scan would do and cost, without calling anything.

    With --out, it also writes `scan_plan.json` and `cost_report.json`, or `comparison.json` with --compare.
    """
    add_transcripts(parser, nargs="*")
    add_project_options(parser)
    parser.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="compare two profiles instead: what each leaves out and saves"
    )
    parser.add_argument(
        "--show-fusion",
        action="store_true",
        help="show which checks share the single pass over the text, and why; reads no transcripts",
    )
    parser.add_argument(
        "--judge", metavar="JUDGE", help="the judge that the scan will ask (default: the project's `judge.source`)"
    )
    parser.add_argument("--price-of", metavar="MODEL", help="the model in the price list (default: the judge)")
    parser.add_argument("-o", "--out", metavar="FOLDER", help="also write the plan and its costs into this folder")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    add_reading_options(parser)


def scan_arguments(parser: argparse.ArgumentParser) -> None:
    """Compile a project and run it over transcripts.

    The folder of the run receives plan.json, inputs.jsonl, verdicts.jsonl, scores.jsonl, summary.json, summary.md, and
    the judge's answers unless they were recorded before; --resume continues a killed run there. The judge is a file of
    recorded replies (`replay:FILE`) or a model (`openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`,
    `python:MODULE:CALLABLE`, `command:ARGV`); without --judge, it is the project's `judge.source`. API keys are read
    from the environment. The ledger keeps every answer of a model, so that none is paid for twice.

    The compiled plan is cached in the user's cache folder until a file, an option or the program changes.
    """
    add_transcripts(parser)
    add_project_options(parser)
    add_run_options(parser)
    parser.add_argument("--no-cache", action="store_true", help="disable the cache of plans")


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Run a compiled plan over transcripts.

    The format, version, hash and size of the plan are checked before anything runs. Everything else works as in
    `scan`.
    """
    parser.add_argument("plan", metavar="PLAN", help="a plan of `rulewright compile`")
    add_transcripts(parser)
    add_run_options(parser)


def questions_arguments(parser: argparse.ArgumentParser) -> None:
    """Write the questions of a scan to a file, to be answered elsewhere: by people, another program, or a batch.

    FILE receives a line of JSON for each planned vote: `custom_id`, its transcript, check and window, `prompt`,
    `temperature`, `max_tokens` and `schema`. --batch writes the same questions as a batch of chat completions. `scan
    --judge replay:ANSWERS` reads the answers: the output of the batch, or lines of `{"custom_id": ..., "reply": ...}`.
    A question without a usable answer is not a vote, and never a pass.
    """
    add_transcripts(parser)
    add_project_options(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the questions, as lines of JSON")
    parser.add_argument("--batch", metavar="FILE", help="the same as a batch of chat completions")
    parser.add_argument("--model", metavar="MODEL", help="the model of the batch (default: the project's judge)")
    add_reading_options(parser)


def record_arguments(parser: argparse.ArgumentParser) -> None:
    """Write the replies of a run's judge to a file that `--judge replay:FILE` reads.

    Replaying them reproduces the verdicts of the run without a call. In a JSON file, replies belong to a transcript,
    a check and a vote, also after the conversation or the prompt has changed. In a file that ends in `.jsonl`, each
    belongs to its exact question.
    """
    add_finished_run(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="a `.json` or `.jsonl` file")


def models_arguments(parser: argparse.ArgumentParser) -> None:
    """Check whether a model answers.

    `check` asks the model a short question and reports in one line whether it answers, how fast, whether its reply is
    a verdict, as a judge needs it, and whether it follows a schema. API keys are read from the environment.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = add_action(commands, "check", "check whether a model answers")
    check.add_argument("model", metavar="MODEL", help="for instance `openai:gpt-5` or `openai:qwen3@http://HOST/v1`")
    check.add_argument(
        "--timeout", type=seconds_of, default=60.0, metavar="SECONDS", help="time limit of the question (60)"
    )
    check.add_argument("--format", choices=("human", "json"), default="human")


def cache_arguments(parser: argparse.ArgumentParser) -> None:
    """Inspect, export or prune the ledger of model calls.

    The ledger is the file `.rulewright/ledger.sqlite3` of the project. It holds every question to a model and its
    answer. `stats` summarizes it, and `export` writes a line of JSON for each call.

    `prune --older-than DAYS` removes old calls. `prune --transcript ID` removes everything about one transcript: from
    the ledger, and from all runs, harness runs, recorded replies, reports, labels, exports and batches in the project's
    folder, in the given folders, and in the runs that the ledger knows. The original chats are not changed. Files that
    still name the transcript, or can't be searched, are listed, and the exit code is 1.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("stats", "show calls, tokens and dollars by model"),
        ("export", "write every call with its answer as JSON lines"),
        ("prune", "remove old calls, or everything about one transcript"),
    ):
        command = add_action(commands, name, summary)
        command.add_argument("--ledger", metavar="FILE", help=f"the ledger (default: {LEDGER} of the project)")
        if name == "stats":
            command.add_argument("--format", choices=("human", "json"), default="human")
        if name == "export":
            command.add_argument("-o", "--out", required=True, metavar="FILE", help="a file of JSON lines")
        if name == "prune":
            what = command.add_mutually_exclusive_group(required=True)
            what.add_argument("--transcript", metavar="ID", help="remove everything about this transcript")
            what.add_argument(
                "--older-than", type=at_least(0), metavar="DAYS", help="remove calls made more than DAYS days ago"
            )
            command.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="further folders to search")


def harness_arguments(parser: argparse.ArgumentParser) -> None:
    """Play scenarios against a model and keep the transcripts.

    The command first prints the plan of the run and its estimated cost; --dry-run writes run_plan.json and
    cost_report.json and stops. `rulewright scan` reads the transcripts in RUN/transcripts.

    A model is `openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`, `python:MODULE:CALLABLE` or
    `command:ARGV`, as for a judge, with its key from the environment. `scripted:FILE` reads prepared replies.
    `product-http:URL` (experimental) calls a product that keeps the conversation itself; leaderboards do not rank its
    transcripts.

    With --user, a model of the first five kinds plays the user in its own words, one message for each turn of the
    scenario. Every turn records the model that wrote it.
    """
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIOS", help="scenario files or folders")
    parser.add_argument("--model", required=True, metavar="MODEL", help="the model that plays the assistant")
    parser.add_argument(
        "--user", metavar="MODEL", help="a model that plays the user (default: the messages of the scenario)"
    )
    parser.add_argument(
        "-o", "--out", required=True, metavar="RUN", help="the folder for plan, transcripts and summary"
    )
    parser.add_argument(
        "--project",
        metavar="PATH",
        help="the project whose vocabulary, prices, redaction and `accept` entries apply (default: the nearest one)",
    )
    parser.add_argument("--price-of", metavar="MODEL", help="the model in the price list (default: the model's name)")
    parser.add_argument(
        "--reply-tokens", type=at_least(1), default=250, metavar="N", help="estimated length of a reply (250)"
    )
    parser.add_argument(
        "--scenario-parallel",
        type=at_least(1),
        metavar="N",
        help="conversations in progress at the same time (8 with a model, else 1)",
    )
    parser.add_argument(
        "--temperature", type=temperature, metavar="X", help="temperature of the replies (default: the model's own)"
    )
    parser.add_argument(
        "--max-reply-tokens", type=at_least(1), default=1024, metavar="N", help="limit of tokens in a reply (1024)"
    )
    parser.add_argument(
        "--sample",
        type=at_least(0),
        default=0,
        metavar="N",
        help="number of the sample; a new one gets new replies (0)",
    )
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop before more than N calls")
    add_spending_options(parser)
    parser.add_argument("--ledger", metavar="FILE", help=f"the ledger ({LEDGER} of the project)")
    parser.add_argument("--attempts", type=at_least(1), default=3, metavar="N", help="attempts for each turn (3)")
    parser.add_argument("--dry-run", action="store_true", help="plan and estimate only; call nothing")
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints the summary")
