"""The arguments of the commands that run rules: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse
from pathlib import Path

from rulewright.arguments.shared_options import (
    LEDGER,
    add_project_options,
    add_reading_options,
    add_run_options,
    add_spending_options,
    at_least,
)


def compile_arguments(parser: argparse.ArgumentParser) -> None:
    """Compile a project into one plan file.

    The plan is one JSON document with a hash over its content. It runs wherever the runtime is installed: `python -m
    rulewright_runtime run plan.json DATA --out RUN`. Without -o it goes to standard output. A scorecard over cases
    (its file, or its name, such as `safe-v0`) is compiled to a plan for `python -m rulewright_runtime score`, with
    the settings that `rulewright score` would find here, in the environment and in `safe.config.json`.
    """
    parser.add_argument("path", nargs="?", metavar="PROJECT", help="the same as --project")
    add_project_options(parser)
    parser.add_argument("-o", "--out", metavar="FILE", help="where the plan goes (default: standard output)")
    parser.add_argument(
        "--config", metavar="FILE", help="settings of a scorecard over cases (default: safe.config.json)"
    )
    parser.add_argument("--format", choices=("human", "json"), default="human", help="how -o reports what it wrote")


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what a scan would do and cost, without calling anything.

    Writes `scan_plan.json` and `cost_report.json` into --out (default: the working folder). With --compare A B it
    compares two profiles instead.
    """
    parser.add_argument("transcripts", nargs="*", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    parser.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help="compare two profiles: what each omits and saves; writes comparison.json",
    )
    parser.add_argument(
        "--show-fusion",
        action="store_true",
        help="show what the plan does in a single pass, and why; reads no transcripts",
    )
    parser.add_argument(
        "--judge", metavar="JUDGE", help="the judge that the scan will ask (default: the project's `judge.source`)"
    )
    parser.add_argument("--judge-model", metavar="MODEL", help="the model whose price is used (default: the judge's)")
    parser.add_argument("--out", default=".", metavar="FOLDER", help="folder of the two files")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    add_reading_options(parser)


def scan_arguments(parser: argparse.ArgumentParser) -> None:
    """Compile a project and run it over transcripts.

    The folder of the run receives plan.json, inputs.jsonl, verdicts.jsonl, scores.jsonl, summary.json and summary.md,
    and the judge's answers unless they were recorded before; --resume continues a killed run there. A judge is recorded
    replies (`replay:FILE`) or a model (`openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`,
    `python:MODULE:CALLABLE`, `command:ARGV`); without --judge it is the project's `judge.source`. API keys are read
    from the environment. The ledger keeps every answer of a model, so that none is paid for twice.

    The compiled plan is cached in the user's cache folder until a file, an option or the program changes.
    """
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    add_run_options(parser)
    parser.add_argument("--no-cache", action="store_true", help="disable the cache of plans")


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Run a compiled plan over transcripts.

    The format, version, hash and size of the plan are checked before anything runs. Everything else works as in
    `scan`.
    """
    parser.add_argument("plan", metavar="PLAN", help="a plan of `rulewright compile`")
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_run_options(parser)


def questions_arguments(parser: argparse.ArgumentParser) -> None:
    """Write the questions of a scan to a file, to be answered elsewhere: by people, another program, or a batch.

    FILE receives a line of JSON for each planned vote: `custom_id`, its transcript, check and window, `prompt`,
    `temperature`, `max_tokens` and `schema`. --batch writes the same as a batch of chat completions. Read the answers
    with `scan --judge replay:ANSWERS`: the output of the batch, or lines of `{"custom_id": ..., "reply": ...}`. A
    question without a usable answer is not a vote, and never a pass.
    """
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the questions, as lines of JSON")
    parser.add_argument("--batch", metavar="FILE", help="the same as a batch of chat completions")
    parser.add_argument("--model", metavar="MODEL", help="who answers the batch (default: the project's judge)")
    add_reading_options(parser)


def record_arguments(parser: argparse.ArgumentParser) -> None:
    """Write the replies of a run's judge to a file that `--judge replay:FILE` reads.

    Replaying them reproduces the verdicts of the run without a call.
    """
    parser.add_argument("run", metavar="RUN", help="the folder that a scan wrote")
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="a JSON file")


def models_arguments(parser: argparse.ArgumentParser) -> None:
    """Check whether a model answers.

    `check` puts two small questions to the model and says in one line whether it answers, how fast, and whether it
    keeps to a schema. Keys are read from the environment.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = commands.add_parser("check", help="check whether a model answers", allow_abbrev=False)
    check.add_argument("model", metavar="MODEL", help="for instance `openai:gpt-5` or `openai:qwen3@http://HOST/v1`")
    check.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="of each question (60)")
    check.add_argument("--format", choices=("human", "json"), default="human")


def cache_arguments(parser: argparse.ArgumentParser) -> None:
    """Inspect, export or prune the ledger of model calls.

    The ledger is the file `.rulewright/ledger.sqlite3` of the project. It holds every question to a model and its
    answer. `stats` summarizes it, `export` writes a line of JSON for each call, and `prune` removes calls older than
    some days, or everything about one transcript: in the ledger, and in all runs, harness runs, recorded replies,
    reports, labels, exports and batches under the project's folder, under the given folders, and in the runs that the
    ledger knows. The original chats are not changed. Files that still name the transcript, or can't be searched, are
    named, and the exit code is 1.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="stats|export|prune")
    for name, summary in (
        ("stats", "calls, tokens and dollars by model"),
        ("export", "every call with its answer, as JSON lines"),
        ("prune", "remove calls"),
    ):
        command = commands.add_parser(name, help=summary, allow_abbrev=False)
        command.add_argument("--ledger", metavar="FILE", help=f"the ledger ({LEDGER} of the project)")
        if name == "stats":
            command.add_argument("--format", choices=("human", "json"), default="human")
        if name == "export":
            command.add_argument("-o", "--out", required=True, metavar="FILE", help="a file of JSON lines")
        if name == "prune":
            what = command.add_mutually_exclusive_group(required=True)
            what.add_argument("--transcript", metavar="ID", help="everything about this transcript, in every run")
            what.add_argument(
                "--older-than", type=at_least(0), metavar="DAYS", help="calls not made in the last DAYS days"
            )
            command.add_argument(
                "folders", nargs="*", type=Path, metavar="FOLDER", help="further folders to look through"
            )


def harness_arguments(parser: argparse.ArgumentParser) -> None:
    """Play scenarios against a model and keep the transcripts.

    Prints the plan of the run and its estimated cost first; --dry-run writes run_plan.json and cost_report.json and
    stops there. `rulewright scan` reads the transcripts in RUN/transcripts.

    A model is `openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`, `python:MODULE:CALLABLE` or
    `command:ARGV`, as for a judge, with its key from the environment; or `scripted:FILE` (prepared replies), or
    `product-http:URL` (experimental: a product that keeps the conversation itself; its transcripts are not a part of
    a public comparison).

    With --user a model of the first five kinds plays the user in its own words, one message for each turn of the
    scenario. Every turn records the model that wrote it.
    """
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIOS", help="scenario files or folders")
    parser.add_argument("--model", required=True, metavar="NAME:REST", help="the model that plays the assistant")
    parser.add_argument(
        "--user", metavar="NAME:REST", help="a model that plays the user (default: the scenario's words)"
    )
    parser.add_argument("--out", required=True, metavar="RUN", help="the folder for plan, transcripts and summary")
    parser.add_argument(
        "--project", metavar="PATH", help="the project whose prices, redaction and `accept` entries count"
    )
    parser.add_argument("--price-of", metavar="MODEL", help="the model in the price list (default: the model's name)")
    parser.add_argument(
        "--reply-tokens", type=at_least(1), default=250, metavar="N", help="estimated length of a reply"
    )
    parser.add_argument(
        "--scenario-parallel",
        type=at_least(1),
        metavar="N",
        help="conversations played at the same time (8 with a model, else 1)",
    )
    parser.add_argument(
        "--temperature", type=float, metavar="X", help="of a model's replies (default: the model's own)"
    )
    parser.add_argument(
        "--max-reply-tokens", type=at_least(1), default=1024, metavar="N", help="the longest reply of a model (1024)"
    )
    parser.add_argument("--sample", type=at_least(0), default=0, metavar="N", help="a new number gets new replies")
    parser.add_argument("--max-calls", type=at_least(0), metavar="N", help="stop before more than N calls")
    add_spending_options(parser)
    parser.add_argument("--ledger", metavar="FILE", help=f"file of questions and answers ({LEDGER} of the project)")
    parser.add_argument("--attempts", type=at_least(1), default=3, metavar="N", help="tries for each turn")
    parser.add_argument("--dry-run", action="store_true", help="plan and estimate, call nothing")
    parser.add_argument("--resume", action="store_true", help="continue a killed run in RUN")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints the summary")
