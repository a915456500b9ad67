"""The arguments of the commands for starting: each function's docstring is the help of its command."""

import argparse

from rulewright.arguments.shared_options import add_reading_options, existing, flag, formats, option, output


def init_arguments(parser: argparse.ArgumentParser) -> None:
    """Start a project: a check, a word list, a scenario and two transcripts to scan.

    FOLDER is created if it does not exist. Existing files are never overwritten. With --from, the project is written
    for your chats, in any format that `rulewright inspect-data` reads: three checks and a scorecard. The chats are not
    copied. From a promptfoo configuration (YAML), assertions become checks and tests become scenarios; parts that
    are not translated are listed.
    """
    option(parser, "folder", "FOLDER", "where the project goes (default: the working folder)", nargs="?", default=".")
    option(
        parser,
        "--from",
        "SOURCE",
        "chats to write checks for, or a promptfoo configuration",
        dest="source",
        type=existing,
    )
    add_reading_options(parser)


def demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Lint and scan the shipped benchmark with recorded judge replies, and show the scorecard.

    The fictional transcripts include passes, failures, a hard fail, an unclear verdict and a gate that stays undecided,
    so the scorecard shows all of them.
    """
    output(parser, "RUN", "the folder of the run (default: runs/demo, whose run is replaced)")
    flag(parser, "--overwrite", "replace the run in RUN")


def inspect_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Show what files of chats contain: formats, counts, roles, tools, lengths, scripts.

    The format is detected from the content, not from the name (except CSV):

      rulewright    {"format": "rulewright-chat", ...}, as `convert` writes it
      atif          {"schema_version": "ATIF-v1.4", "agent": {...}, "steps": [...]}
      inspect       {"eval": {...}, "samples": [...]}, or an `.eval` archive
      promptfoo     {"results": {"results": [{"prompt", "response"}, ...]}}
      deepeval      {"input", "actual_output", ...}, {"scenario", "turns"},
                    or {"testCases": [...]}
      openai-evals  {"object": "eval.run.output_item", "sample": {...}}
      langsmith     {"run_type", "inputs", "outputs"}, one per line,
                    or {"runs": [...]}
      braintrust    {"root_span_id", "span_attributes", "input", "output"},
                    one per line, or {"events": [...]}
      langfuse      {"traceId", "type": "GENERATION", "input", "output"}, one per
                    line, or {"observations": [...]}
      openai-agents {"object": "trace.span", "trace_id", "span_data": {...}}
      chatgpt       {"mapping": {...}, "current_node": "..."}, as ChatGPT exports it
      claude        {"chat_messages": [{"sender", "text"}]}, as Claude exports it
      vapi          {"artifact": {"messages": [{"secondsFromStart", ...}]}}
      retell        {"transcript_object": [{"role": "agent", "content"}, ...]}
      intercom      {"source": {...}, "conversation_parts": {...}}
      teams         {"messageType", "createdDateTime", "body", "from"}
      coding-agent  {"type": "user", "message": {...}}
                    or {"type": "response_item", "payload": {...}}
      otel          spans with `gen_ai.input.messages` or `llm.input_messages`
      sharegpt      {"conversations": [{"from": "human", "value": "..."}, ...]}
      openai        {"messages": [{"role", "content"}, ...]}, chat completions,
                    Responses
      messages      {"role": "user", "content": "..."}, one per line
      text          lines that begin with a speaker, such as `User: ...` and
                    `Assistant: ...`; `--columns` maps other names
      table         rows of CSV, Parquet or Arrow with `user` and `assistant`, or
                    `role` and `content`; `--columns` maps other names
      mapped        records of any other shape whose keys `--columns` names:
                    `messages=events,role=who,content=text`
    """
    option(parser, "inputs", "FILE", "files or folders of chats, in any format", nargs="+")
    formats(parser, "human", "json")
    add_reading_options(parser)


def convert_arguments(parser: argparse.ArgumentParser) -> None:
    """Write chats of any format in one format, one conversation per line.

    `--to rulewright` keeps every field, `--to openai` writes messages of chat completions, and `--to turns` writes
    only the turns of user and assistant. Refused inputs are reported; the others are written.
    """
    option(parser, "inputs", "IN", "files or folders of chats, in any format", nargs="+")
    about = "a file of JSON lines, or - to print them; `.gz` and `.zst` are compressed, `.parquet` is Parquet"
    option(parser, "out", "OUT", about)
    parser.add_argument(
        "--to", choices=("rulewright", "openai", "turns"), default="rulewright", help="the format (default: rulewright)"
    )
    option(parser, "--id-suffix", "TEXT", "append TEXT to every id, to scan two samples of a chat together", default="")
    flag(parser, "--overwrite", "replace OUT")
    add_reading_options(parser)


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Print a script that completes commands and options in a shell.

    For bash, add `eval "$(rulewright completion bash)"` to `~/.bashrc`. For zsh, add the same with `zsh` to
    `~/.zshrc`, after `compinit`. For fish, write the script to `~/.config/fish/completions/rulewright.fish`.
    """
    parser.add_argument("shell", choices=("bash", "fish", "zsh"), help="the shell")
