"""`questions`: write the questions for a judge to a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable

from rulewright.commands.chosen_project import compile_chosen
from rulewright.commands.plan import judge_model, read_transcripts
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.planning.questions import as_batch, as_line, questions
from rulewright_runtime.english import plural
from rulewright_runtime.files import write_whole
from rulewright_runtime.terminal import complain, say


def run(args: argparse.Namespace) -> int:
    """Compile and write the questions; return the exit code."""
    project, plan = compile_chosen(args)
    model = args.model or judge_model(project) or ""
    if args.batch and not model:
        raise UsageError("a batch needs a model: name it with `--model`")
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


def _write(path: str, lines: Iterable[dict[str, object]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_whole(path, text.encode("utf-8", "surrogatepass"))
