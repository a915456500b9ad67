"""The arguments of the commands that run rules: each function's docstring is the help of its command."""

import argparse

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
    existing,
    flag,
    formats,
    option,
    output,
    printed,
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
    option(parser, "path", "PROJECT", "the same as --project", nargs="?")
    add_project_options(parser)
    printed(parser, "the plan")
    option(parser, "--config", "FILE", "the settings file of a scorecard over cases (default: safe.config.json)")
    formats(parser, "human", "json", note="only with -o")


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what a scan would do and cost, without calling anything.

    With --out, it also writes `scan_plan.json` and `cost_report.json`, or `comparison.json` with --compare.
    """
    add_transcripts(parser, nargs="*")
    add_project_options(parser)
    parser.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="compare two profiles instead: what each leaves out and saves"
    )
    flag(parser, "--show-fusion", "show which checks share a pass over the text, and why; reads no transcripts")
    option(parser, "--judge", "JUDGE", "the judge that the scan will ask (default: the project's `judge.source`)")
    option(parser, "--price-of", "MODEL", "use the price of this model (default: the judge)")
    option(parser, "--ledger", "FILE", f"the ledger of calls (default: {LEDGER} of the project)")
    output(parser, "FOLDER", "also write the plan and its costs to FOLDER")
    formats(parser, "human", "json")
    add_reading_options(parser)


def scan_arguments(parser: argparse.ArgumentParser) -> None:
    """Compile a project and run it over transcripts.

    The folder of the run receives plan.json, inputs.jsonl, verdicts.jsonl, scores.jsonl, summary.json, summary.md, and
    the judge's replies unless they were recorded before; --resume continues a killed run there. The judge is a file of
    recorded replies (`replay:FILE`) or a model (`openai:MODEL[@BASE_URL]`, `anthropic:MODEL`, `local:FILE.gguf`,
    `python:MODULE:CALLABLE`, `command:ARGV`); without --judge, it is the project's `judge.source`. API keys are read
    from the environment. The ledger keeps every answer of a model, so that none is paid for twice.

    The compiled plan is cached in the user's cache folder until a file, an option or the program changes.
    """
    add_transcripts(parser)
    add_project_options(parser)
    add_run_options(parser)
    flag(parser, "--no-cache", "disable the cache of plans")


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Run a compiled plan over transcripts.

    The format, version, hash and size of the plan are checked before anything runs. Everything else works as in
    `scan`.
    """
    option(parser, "plan", "PLAN", "a plan of `rulewright compile`")
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
    output(parser, "FILE", "write the questions to FILE as JSON lines; - prints them", required=True)
    option(parser, "--batch", "FILE", "also write them to FILE as a batch of chat completions; - prints it")
    option(parser, "--model", "MODEL", "the model of the batch (default: the project's judge)")
    add_reading_options(parser)


def record_arguments(parser: argparse.ArgumentParser) -> None:
    """Write the replies of a run's judge to a file that `--judge replay:FILE` reads.

    Replaying them reproduces the verdicts of the run without a call. In a JSON file, replies belong to a transcript,
    a check and a vote, also after the conversation or the prompt has changed. In a file that ends in `.jsonl`, each
    belongs to its exact question.
    """
    add_finished_run(parser)
    output(parser, "FILE", "write the replies to FILE (`.json` or `.jsonl`); - prints them", required=True)


def models_arguments(parser: argparse.ArgumentParser) -> None:
    """Check whether a model answers.

    `check` asks the model a short question and reports in one line whether it answers, how fast, whether its reply is
    a verdict, as a judge needs it, and whether it follows a schema. API keys are read from the environment.
    """
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = add_action(commands, "check", "check whether a model answers")
    option(check, "model", "MODEL", "the model, such as `openai:gpt-5` or `openai:qwen3@http://HOST/v1`")
    option(check, "--timeout", "SECONDS", "time limit of the question (default: 60)", type=seconds_of, default=60.0)
    formats(check, "human", "json")


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
        option(command, "--ledger", "FILE", f"the ledger of calls (default: {LEDGER} of the project)")
        if name == "stats":
            formats(command, "human", "json")
        if name == "export":
            output(command, "FILE", "write the calls to FILE as JSON lines; - prints them", required=True)
        if name == "prune":
            what = command.add_mutually_exclusive_group(required=True)
            option(what, "--transcript", "ID", "remove everything about this transcript")
            option(what, "--older-than", "DAYS", "remove calls made more than DAYS days ago", type=at_least(0))
            option(command, "folders", "FOLDER", "further folders to search", nargs="*")


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
    option(parser, "scenarios", "SCENARIOS", "scenario files or folders", nargs="+", type=existing)
    option(parser, "--model", "MODEL", "the model that plays the assistant", required=True)
    option(parser, "--user", "MODEL", "a model that plays the user (default: the messages of the scenario)")
    output(parser, "RUN", "the folder for plan, transcripts and summary", required=True)
    option(
        parser, "--project", "PATH", "the project whose vocabulary, prices and redaction apply (default: the nearest)"
    )
    option(parser, "--price-of", "MODEL", "use the price of this model (default: --model)")
    option(
        parser,
        "--reply-tokens",
        "N",
        "estimated number of tokens in a reply (default: 250)",
        type=at_least(1),
        default=250,
    )
    option(
        parser,
        "--scenario-parallel",
        "N",
        "number of conversations at the same time (default: 8 with a model, else 1)",
        type=at_least(1),
    )
    option(parser, "--temperature", "X", "temperature of the replies (default: the model's own)", type=temperature)
    option(
        parser, "--max-reply-tokens", "N", "limit of tokens in a reply (default: 1024)", type=at_least(1), default=1024
    )
    option(
        parser,
        "--sample",
        "N",
        "number of the sample; a new number gets new replies (default: 0)",
        type=at_least(0),
        default=0,
    )
    option(parser, "--max-calls", "N", "stop before more than N calls (default: no limit)", type=at_least(0))
    add_spending_options(parser)
    option(parser, "--ledger", "FILE", f"the ledger of calls (default: {LEDGER} of the project)")
    option(parser, "--attempts", "N", "number of attempts for each turn (default: 3)", type=at_least(1), default=3)
    flag(parser, "--dry-run", "print the plan and the estimate without calling a model")
    flag(parser, "--resume", "continue a killed run in RUN")
    formats(parser, "human", "json", note="json is the summary")
