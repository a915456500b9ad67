"""The runtime's command line: `python -m rulewright_runtime run PLAN DATA... --out RUN [--judge replay:FILE]`.

`play RUN_PLAN --model NAME:REST --out RUN` plays the scenarios of a run plan instead, and `score PLAN CASES...` scores
test cases by a compiled scorecard over cases.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import READER_GONE, SafeStreams, complain, safe_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright_runtime.plan.parameters import Parameter

USAGE: Final = """\
usage: python -m rulewright_runtime run PLAN DATA... --out RUN [options]

Judge the transcripts in DATA (files or folders) by a compiled plan and write the folder RUN.

  --out RUN           the folder for plan, verdicts, scores and summary
  --judge replay:FILE recorded replies, where the plan asks a judge
  --set NAME=VALUE    set a parameter that the plan's scorecard declares (may be repeated)
  --max-calls N       stop asking the judge after N calls
  --max-line BYTES    refuse longer input lines (default 1048576)
  --max-expanded BYTES  refuse recorded replies that hold more, expanded where they are gzipped (default 268435456)
  --jobs N            judge in N processes (default 1); the result is the same for any number
  --ray ADDRESS       judge on this Ray cluster (local: one on this machine, of N processes)
  --resume            continue a killed run in RUN
  --overwrite         replace the run in RUN

exit status: 0 every gate passed, 1 a gate failed (without gates: a check), 2 undecided, 3 input refused or an error

usage: python -m rulewright_runtime play RUN_PLAN --model NAME:REST --out RUN [--scenario-parallel N] [--resume]

Play the scenarios of a run plan against a model; exit status 1 where a turn was not answered.

usage: python -m rulewright_runtime score PLAN CASES... [options]

Score the test cases in CASES (files or folders) by a compiled scorecard over cases. The report is JSON.

  --out FILE          where the report goes (default: the standard output)
  --outputs PATH      the engine's outputs, a file or a folder, where the cases don't hold them
  --concern ID        leave out the cases of other concerns
  --judge replay:FILE recorded replies, where the scorecard asks a judge
  --semantic NAME     matches by meaning: `minilm`, a folder with a sentence model, or a file of word vectors
  --set NAME=VALUE    set a parameter of the scorecard (may be repeated)

exit status: that of the gravest label; 3 for refused input, a case without scores or an error
"""
REFUSED: Final = 3
VALUED: Final = {
    "run": {
        "--out": "out",
        "--judge": "judge",
        "--max-calls": "max_calls",
        "--max-line": "max_line",
        "--max-expanded": "max_expanded",
        "--jobs": "jobs",
        "--ray": "ray",
    },
    "play": {"--out": "out", "--model": "model", "--scenario-parallel": "scenario_parallel"},
    "score": {
        "--out": "out",
        "--judge": "judge",
        "--outputs": "outputs",
        "--concern": "concern",
        "--semantic": "semantic",
    },
}


class WrongUsageError(RuntimeFailure):
    """A command line that can't be understood."""


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
        given = _parse(words)
        return {"play": _play, "run": _run, "score": _score}[words[0]](given)
    except SystemExit as ended:  # of a plug-in, whose status is not ours
        complain(f"error: code that was called ended the process (status {ended.code})")
        return REFUSED
    except BrokenPipeError:
        return READER_GONE
    except (RuntimeFailure, OSError) as error:
        complain(f"error: {error}")
        return REFUSED
    except Exception:  # a mistake of ours must not end with the exit status of a failed gate
        import traceback

        traceback.print_exc()
        return REFUSED


def _parse(words: list[str]) -> dict[str, object]:
    """The command line as a dict; a full argument parser would cost more time than a small run takes."""
    command = words[0]
    if command not in VALUED:
        raise WrongUsageError(f"unknown command `{command}`; expected `run`, `play` or `score` (see --help)")
    valued = VALUED[command]
    found: JsonObject = {"files": [], "parameters": {}, "resume": False, "overwrite": False}
    rest = iter(words[1:])
    for word in rest:
        name, equals, inline = word.partition("=")
        if (word == "--resume" and command != "score") or (word == "--overwrite" and command == "run"):
            found[word.removeprefix("--")] = True
        elif (name == "--set" and command != "play") or name in valued:
            value = inline if equals else next(rest, None)
            if value is None:
                raise WrongUsageError(f"`{name}` needs a value")
            if name == "--set":
                key, _, text = value.partition("=")
                found["parameters"][key] = text
            else:
                found[valued[name]] = value
        elif word.startswith("-"):
            raise WrongUsageError(f"unknown option `{word}` (see --help)")
        else:
            found["files"].append(word)
    if command == "play":
        if len(found["files"]) != 1 or not {"model", "out"} <= found.keys():
            raise WrongUsageError("`play` needs one run plan, `--model NAME:REST` and `--out RUN` (see --help)")
    elif command == "run" and (len(found["files"]) < 2 or "out" not in found):
        raise WrongUsageError("a run needs a plan, transcripts and `--out RUN` (see --help)")
    elif len(found["files"]) < 2:
        raise WrongUsageError("scoring needs a plan and files of cases (see --help)")
    return found


def _run(given: JsonObject) -> int:
    from rulewright_runtime.plan.file import decode
    from rulewright_runtime.report.summary import exit_status
    from rulewright_runtime.runs.store import run

    plan = decode(_content(given["files"][0]))
    summary = run(
        plan,
        given["files"][1:],
        given["out"],
        judge=given.get("judge"),
        parameters=_typed(plan.scorecard.parameters if plan.scorecard else (), given["parameters"]),
        resume=given["resume"],
        overwrite=given["overwrite"],
        max_calls=_number(given, "max_calls"),
        max_line=_number(given, "max_line"),
        max_expanded=_number(given, "max_expanded"),
        jobs=_number(given, "jobs") or 1,
        ray=given.get("ray"),
        progress=lambda done: safe_stream(sys.stderr).show_progress(f"{done} transcripts"),
    )
    safe_stream(sys.stderr).show_progress("")
    for refused in summary["refused"]["inputs"]:
        place = f"{refused['path']}:{refused['line']}" if refused["line"] else refused["path"]
        complain(f"{place}: {refused['reason']}")
    return exit_status(summary)


def _play(given: JsonObject) -> int:
    from rulewright_runtime.harness.adapters import open_adapter
    from rulewright_runtime.harness.harness_plan import decode
    from rulewright_runtime.harness.harness_run import run

    plan = decode(_content(given["files"][0]))
    parallel = _number(given, "scenario_parallel") or 1
    summary = run(plan, open_adapter(given["model"]), given["out"], parallel=parallel, resume=given["resume"])
    return 1 if summary["errors"] else 0


def _score(given: JsonObject) -> int:
    from rulewright_runtime.cases.case_plan import decode
    from rulewright_runtime.cases.engine_command import score
    from rulewright_runtime.locks import held_file

    plan = decode(_content(given["files"][0]))
    out = given.get("out")
    with nullcontext() if out is None else held_file(out):
        return score(
            plan,
            given["files"][1:],
            out=out,
            outputs=given.get("outputs"),
            concern=given.get("concern"),
            judge=given.get("judge"),
            semantic=given.get("semantic"),
            parameters=_typed([setting.parameter for setting in plan.settings], given["parameters"]),
        )


def _content(path: str) -> bytes:
    from rulewright_runtime.input_files import open_regular

    with open_regular(path) as stream:
        return stream.read()


def _typed(parameters: Iterable[Parameter], written: dict[str, str]) -> dict[str, object]:
    """The values of parameters, read as their declared types are written; the scorecard checks the rest."""
    types = {parameter.name: parameter.type for parameter in parameters}
    words: dict[str, object] = {"true": True, "false": False}
    values: dict[str, object] = dict(written)
    for name, text in written.items():
        if types.get(name) == "bool":
            values[name] = words.get(text, text)
        elif types.get(name) == "integer" and text.removeprefix("-").isdecimal() and text.isascii():
            values[name] = int(text)
    return values


def _number(given: JsonObject, name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise WrongUsageError(f"`--{name.replace('_', '-')}` needs a whole number, not `{text}`")
    return int(text)


def _import_msgspec() -> None:
    """Import it without `typing_extensions`, which it prefers to `typing` where both are: that one alone takes as long
    as judging fifty transcripts, and what it adds is for older Pythons."""
    hidden = sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]  # None: there is no such module
    import msgspec  # noqa: F401  everything else imports it

    if hidden is None:
        del sys.modules["typing_extensions"]


if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 20)  # starting up makes many objects and no garbage
    _import_msgspec()
    status = main()
    os._exit(status)  # all is written, and taking the interpreter apart takes as long as judging forty transcripts
