"""The arguments of the commands for starting: each function's docstring is the help of its command."""

from __future__ import annotations

import argparse
import os

from rulewright.arguments.shared_options import add_reading_options


def init_arguments(parser: argparse.ArgumentParser) -> None:
    """Start a project: a check, a word list, a scenario and two transcripts to scan.

    FOLDER (default: here) is created if it does not exist. Existing files are never
    overwritten. With --from the project is written for your chats, in any format that
    `rulewright inspect-data` reads: three checks and a scorecard. The chats are not copied.
    """
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER")
    parser.add_argument("--from", dest="chats", metavar="CHATS", help="a file or folder of chats to make checks for")


def demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Lint and scan the shipped benchmark with recorded judge replies, and show the scorecard.

    The run's files go to --out (default: runs/demo). The made-up transcripts hold passes, failures, a hard fail, an
    unclear verdict and a gate that stays unresolved, so the scorecard shows all of them.
    """
    parser.add_argument("--out", default=os.path.join("runs", "demo"), metavar="RUN", help="the folder of the run")


def inspect_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what files of chats contain: formats, counts, roles, tools, lengths, scripts.

    The format is detected from the content, not from the name (except CSV):

      rulewright    {"format": "rulewright-chat", "version": 1, ...}, as `convert` writes it
      atif          {"schema_version": "ATIF-v1.4", "agent": {...}, "steps": [...]}
      inspect       {"eval": {...}, "samples": [...]}, or an `.eval` archive
      promptfoo     {"results": {"results": [{"prompt", "response"}, ...]}}
      deepeval      {"input", "actual_output", "tools_called", ...}, {"scenario", "turns"}, {"testCases": [...]}
      langsmith     {"run_type", "inputs", "outputs"}, a run a line, or {"runs": [...]}
      braintrust    {"root_span_id", "span_attributes", "input", "output"}, an event a line, or {"events": [...]}
      coding-agent  {"type": "user", "message": {...}} or {"type": "response_item", "payload": {...}}
      otel          spans with `gen_ai.input.messages` or `llm.input_messages`
      sharegpt      {"conversations": [{"from": "human", "value": "..."}, ...]}
      openai        {"messages": [{"role", "content"}, ...]}, a completion, a response
      messages      {"role": "user", "content": "..."}, a message a line
      table         rows of CSV, Parquet or Arrow: `user` and `assistant`, or `role`
                    and `content`; `--columns` names others
    """
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files or folders of chats, in any format")
    parser.add_argument("--format", choices=("human", "json"), default="human")
    add_reading_options(parser)


def convert_arguments(parser: argparse.ArgumentParser) -> None:
    """Write chats of any format in one format, one conversation per line.

    `rulewright` keeps every field, `openai` writes messages of chat completions, `turns` only the turns of user
    and assistant. Refused inputs are reported; the others are written.
    """
    parser.add_argument("inputs", nargs="+", metavar="IN", help="files or folders of chats, in any format")
    parser.add_argument(
        "out", metavar="OUT", help="a file of JSON lines; `.gz` and `.zst` are compressed, `.parquet` is Parquet"
    )
    parser.add_argument(
        "--to", choices=("rulewright", "openai", "turns"), default="rulewright", help="the format to write (rulewright)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace OUT")
    add_reading_options(parser)


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Print a script that completes commands and options in a shell.

    It is generated from the commands' parsers. For bash, write `eval "$(rulewright completion bash)"` in `~/.bashrc`;
    for zsh the same with `zsh` in `~/.zshrc`, after `compinit`; for fish, write what it prints to
    `~/.config/fish/completions/rulewright.fish`.
    """
    parser.add_argument("shell", choices=("bash", "fish", "zsh"), help="the shell")
