"""The runtime's command line: `python -m rulewright_runtime run PLAN DATA... --out RUN [--judge replay:FILE]`.

`play RUN_PLAN --model MODEL --out RUN` plays the scenarios of a run plan, and `score PLAN CASES...` scores test
cases by a compiled scorecard over cases.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Final

from rulewright_runtime.processes.fast_start import seldom_collected  # before anything that imports msgspec

# isort: split
from collections.abc import Sequence

from rulewright_runtime.commands.options import WrongUsageError
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.processes.process_end import end_now, keep
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import READER_GONE, SafeStreams, complain, name_files_in_utf8

USAGE: Final = """\
usage: python -m rulewright_runtime COMMAND [ARGUMENTS]

run PLAN DATA... --out RUN
  Judge the transcripts in DATA (files or folders) by a compiled plan.

  --out RUN             the folder for plan, verdicts, scores and summary
  --judge replay:FILE   recorded replies, if the plan asks a judge
  --set NAME=VALUE      set a parameter of the plan's scorecard (repeatable)
  --max-calls N         stop asking the judge after N calls
  --max-line BYTES      refuse longer input lines (default: 1 MiB)
  --max-expanded BYTES  refuse recorded replies that are larger when expanded
                        (default: 256 MiB)
  --jobs N              use N processes (default: 1)
  --ray ADDRESS         use a Ray cluster, or `local` for --jobs processes of
                        Ray here
  --resume              continue a killed run in RUN
  --overwrite           replace the run in RUN

  exit codes: 0 every gate passed, 1 a gate failed (without gates: a check),
  2 undecided, 3 refused input, an error or bad usage

play RUN_PLAN --model MODEL --out RUN
  Play the scenarios of a run plan against a model.

  --model MODEL         the model that plays the assistant
  --out RUN             the folder for plan, transcripts and summary
  --scenario-parallel N number of conversations at the same time
  --resume              continue a killed run in RUN

  exit codes: 0 every scenario was played to its end, 1 a turn was not
  answered, 3 an error or bad usage

score PLAN CASES...
  Score the test cases in CASES (files or folders) by a compiled scorecard
  over cases, and write a report in JSON.

  --out FILE            write the report to FILE (default: print it)
  --outputs PATH        the engine's outputs, a file or a folder, if the cases
                        don't contain them
  --concern ID          skip the cases of other concerns
  --judge replay:FILE   recorded replies, if the scorecard asks a judge
  --semantic NAME       search by meaning: `minilm`, the folder of a model, or
                        a file of word vectors
  --set NAME=VALUE      set a parameter of the scorecard (repeatable)

  exit codes: that of the worst label; 3 refused input, a case that could not
  be scored, an error or bad usage
"""
REFUSED: Final = 3
VALUED: Final = {
    "run": ("out", "judge", "max-calls", "max-line", "max-expanded", "jobs", "ray"),
    "play": ("out", "model", "scenario-parallel"),
    "score": ("out", "judge", "outputs", "concern", "semantic"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with SafeStreams() as streams:
        return streams.status(_command(words))


def _command(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help") or "--help" in words[1:]:
        print(USAGE, end="")
        return 0 if words else REFUSED
    try:
        options = _parse(words)
        status: int = import_module(f"rulewright_runtime.commands.{words[0]}").run_command(options)
        return status
    except SystemExit as ended:  # raised by a plug-in; its status is not used
        complain(f"error: a plug-in or callable ended the process with status {ended.code}")
        return REFUSED
    except BrokenPipeError:
        return READER_GONE
    except (RuntimeFailure, OSError) as error:
        complain(f"error: {error}")
        return REFUSED
    except Exception:  # an internal error must not have the exit status of a failed gate
        import traceback

        traceback.print_exc()
        return REFUSED


def _parse(words: list[str]) -> dict[str, object]:
    """The command line as a dict; importing a full argument parser would take longer than a small run."""
    command = words[0]
    if command not in VALUED:
        raise WrongUsageError(f"unknown command `{command}`; expected `run`, `play` or `score` (see --help)")
    valued = {f"--{name}": name.replace("-", "_") for name in VALUED[command]}
    options: JsonObject = {"files": [], "parameters": {}, "resume": False, "overwrite": False}
    rest = iter(words[1:])
    for word in rest:
        name, equals, inline = word.partition("=")
        if (word == "--resume" and command != "score") or (word == "--overwrite" and command == "run"):
            options[word.removeprefix("--")] = True
        elif (name == "--set" and command != "play") or name in valued:
            value = inline if equals else next(rest, None)
            if value is None:
                raise WrongUsageError(f"`{name}` needs a value")
            if name == "--set":
                key, _, text = value.partition("=")
                options["parameters"][key] = text
            else:
                options[valued[name]] = value
        elif word.startswith("-"):
            raise WrongUsageError(f"unknown option `{word}` (see --help)")
        else:
            options["files"].append(word)
    if command != "score" and options.get("out") == "-":
        raise WrongUsageError("`-` is standard output; name a folder with `--out`")
    if command == "play":
        if len(options["files"]) != 1 or not {"model", "out"} <= options.keys():
            raise WrongUsageError("`play` needs one run plan, `--model MODEL` and `--out RUN` (see --help)")
    elif command == "run" and (len(options["files"]) < 2 or "out" not in options):
        raise WrongUsageError("a run needs a plan, transcripts and `--out RUN` (see --help)")
    elif len(options["files"]) < 2:
        raise WrongUsageError("scoring needs a plan and files of cases (see --help)")
    return options


if __name__ == "__main__":
    name_files_in_utf8()
    keep()
    with seldom_collected():
        status = main()
    end_now(status)  # all output is written; interpreter shutdown takes as long as judging forty transcripts
