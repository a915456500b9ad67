"""Write the questions of a scan to a file, to be answered elsewhere: by people, another program, or a batch.

FILE receives a line of JSON for each planned vote: `custom_id`, the place, `prompt`, `temperature`, `max_tokens` and
`schema`. --batch writes the same as a batch of chat completions. What was answered comes back with
`scan --judge replay:ANSWERS`: the output of the batch, or lines of `{"custom_id": ..., "reply": ...}`. A question that
has no usable answer there is lost: it counts as no vote, and never as a pass.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import Any

from rulewright.commands.plan import judge_model, read_transcripts
from rulewright.commands.project_options import add_project_options, compile_chosen
from rulewright.commands.running import add_reading_options
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.planning.questions import as_batch, as_line, questions
from rulewright_runtime.files import write_whole
from rulewright_runtime.report.text import plural
from rulewright_runtime.terminal import complain, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPTS", help="transcript files or folders")
    add_project_options(parser)
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the questions, as lines of JSON")
    parser.add_argument("--batch", metavar="FILE", help="the same as a batch of chat completions")
    parser.add_argument("--model", metavar="MODEL", help="who answers the batch (default: the project's judge)")
    add_reading_options(parser)


def run(args: argparse.Namespace) -> int:
    """Compile, ask nobody, write."""
    project, plan = compile_chosen(args)
    model = args.model or judge_model(project) or ""
    if args.batch and not model:
        raise UsageError("a batch names its model: give `--model`")
    transcripts, refused = read_transcripts(plan, args)
    asked = list(questions(plan, transcripts, model))
    fitting = [question for question in asked if question.call is not None]
    _write(args.out, map(as_line, asked))
    say(f"wrote {plural(len(asked), 'question')} about {plural(len(transcripts), 'transcript')} to {args.out}")
    if args.batch:
        _write(args.batch, (as_batch(question, model) for question in fitting))
        say(f"wrote a batch of {plural(len(fitting), 'request')} for `{model}` to {args.batch}")
    if len(fitting) < len(asked):
        complain(f"warning: {plural(len(asked) - len(fitting), 'question')} longer than the window of `{model}`")
    return REFUSED if refused else 0


def _write(path: str, lines: Iterable[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode("utf-8", "surrogatepass"))
