"""`init`: write the files of a first project."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rulewright.commands.output import writing_to
from rulewright.commands.running import reader_of
from rulewright.errors import UsageError
from rulewright.exit_codes import FAILED, MET
from rulewright.promptfoo_config.config_project import project_from
from rulewright.reporting.data_summary import summary_lines, summary_of
from rulewright.shipped import CONFIGS, shipped_root
from rulewright_runtime.english import plural
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.terminal import complain, say, width_for
from rulewright_runtime.transcripts.turn_lines import printable

MOST_TOOLS = 100
ROUND_TO = 100  # characters

LAST = "rulewright.yaml"  # so that half a project is not taken for a whole one
PROJECT = """\
# A project: where its documents are, and how verdicts become scores. Every key: rulewright explain project
project: {name}
checks: checks
scorecards: scorecards
scorecard: share
# A check that a judge decides is a file in `checks` with an `id` and a `prompt` that says what PASS and FAIL mean. The
# judge is named here:
# judge:
#   source: openai:MODEL@http://127.0.0.1:8000/v1
"""
LENGTH = """\
# The longest reply in the chats that this project was made from has {longest} characters.
id: reply-too-long
each: reply
params:
  characters: {limit}
fail: size(turn.content) > params.characters
"""
PERSONAL = """\
# Email addresses, telephone numbers, accounts and cards; the check digits of the last two are verified.
id: personal-data-shown
each: reply
fail: size(personal_data(turn.content)) > 0
"""
TOOLS = """\
# The tools that are called in the chats that this project was made from.
id: unknown-tool-called
each: tool_call
params:
  tools: {tools}
pass: tool_call.name in params.tools
"""
REFUSAL = """\
# Common English phrases of refusal.
id: request-declined
each: reply
fail: is_refusal(turn.content)
"""
CONFIGURATIONS = (".yaml", ".yml", "promptfooconfig.json")
TEMPLATE = Path(__file__).resolve().parents[1] / "starter"


def run(args: argparse.Namespace) -> int:
    """Write the starter project or one for chats or tests; write nothing if a file exists. Return the exit code."""
    target = Path(args.folder)
    if args.source is not None and args.source.endswith(CONFIGURATIONS):
        return _translate(Path(args.source), args.folder)
    files = _starter() if args.source is None else _made_for(args, target)
    _write(target, files)
    say(*(f"wrote {target / name}" for name in files))
    scanned = "transcripts" if args.source is None else shlex.quote(os.path.relpath(args.source, target))
    columns = ",".join(f"{field}={name}" for field, name in (args.columns or {}).items())
    scanned += f" --columns {shlex.quote(columns)}" if columns else ""
    _say_next(args.folder, f"rulewright scan {scanned} --out {os.path.join('runs', 'first')}")
    return MET


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    """Write new files, and the project file last: only that one waits until it is on disk, which takes long for each
    of thousands."""
    for name in files:
        if (target / name).exists():
            raise UsageError(f"`{target / name}` exists already; `init` never overwrites a file: name a new folder")
    for name, data in sorted(files.items(), key=lambda file: file[0] == LAST):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name == LAST:
            write_whole(target / name, data)
            continue
        with writing_to(target / name), open(target / name, "xb") as file:
            file.write(data)


def _say_next(folder: str, *commands: str) -> None:
    inside = [] if folder == "." else [f"cd {shlex.quote(folder)}"]
    say("", "next:", *(f"  {command}" for command in (*inside, "rulewright lint", *commands)))


def _translate(source: Path, folder: str) -> int:
    """Write a project for a promptfoo configuration; the parts without a translation are warnings."""
    target = Path(folder)
    made = project_from(source, printable(target.resolve().name) or "tests")
    _write(target, {name: text.encode() for name, text in made.files.items()})
    checks, scenarios = (sum(name.startswith(kind) for name in made.files) for kind in ("checks", "scenarios"))
    say(f"wrote {plural(checks, 'check')} and {plural(scenarios, 'scenario')} to {target}")
    complain(*(f"warning: {each}" for each in made.notes))
    judge = " --judge openai:MODEL@BASE_URL" if made.needs_judge else ""
    _say_next(
        folder,
        f"rulewright harness scenarios --model {shlex.quote(made.model)} --out {os.path.join('runs', 'played')}",
        f"rulewright scan {os.path.join('runs', 'played', 'transcripts')}{judge} --out {os.path.join('runs', 'first')}",
    )
    results = shlex.quote(os.path.relpath(source.with_name("results.json"), target))
    say("", "or, for results of `promptfoo eval -o results.json`:", f"  rulewright scan {results}{judge}")
    return FAILED if made.notes else MET


def _starter() -> dict[str, bytes]:
    files = sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(TEMPLATE)): path.read_bytes() for path in files}


def _made_for(args: argparse.Namespace, target: Path) -> dict[str, bytes]:
    """The files of a project for the chats. Unreadable chats cause a warning. Raises UsageError if none is readable."""
    chats = args.source
    reader = reader_of(args)
    summary = summary_of(reader.read([chats]))
    complain(*reader.notes())
    found = summary.result()
    if not found["conversations"]:
        reason = f": {summary.refused[0]}" if summary.refused else ""
        raise UsageError(f"`{chats}` contains no readable chat{reason}")
    if summary.refused:
        refused = plural(len(summary.refused), "record")
        complain(f"warning: {refused} in `{chats}` can't be read; the first: {summary.refused[0]}")
    say(*summary_lines(found, width_for(sys.stdout)), "")
    made = project_for(printable(target.resolve().name) or "chats", found)
    if not summary.is_english and made.pop("checks/request-declined.yaml", ""):
        say("note: no check for refusals is written, because `is_refusal` knows only English phrases", "")
    return {name: text.encode() for name, text in sorted(made.items())}


def project_for(name: str, found: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a project by path, for chats with the summary `found` (`DataSummary.result`)."""
    longest = (found["characters"].get("assistant") or {"max": 0})["max"]
    limit = max(ROUND_TO, -(-longest // ROUND_TO) * ROUND_TO)
    files = {
        "rulewright.yaml": PROJECT.format(name=json.dumps(name)),
        "checks/reply-too-long.yaml": LENGTH.format(longest=longest, limit=limit),
        "checks/personal-data-shown.yaml": PERSONAL,
        "scorecards/share.yaml": (shipped_root() / CONFIGS / "scorecards" / "share.yaml").read_text("utf-8"),
    }
    tools = sorted(found["tools"])
    if 0 < len(tools) <= MOST_TOOLS:
        # JSON is YAML, and its quotes keep any name a text.
        return {**files, "checks/unknown-tool-called.yaml": TOOLS.format(tools=json.dumps(tools))}
    return {**files, "checks/request-declined.yaml": REFUSAL}
