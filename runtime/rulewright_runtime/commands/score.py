"""`score`: score test cases by a compiled scorecard over cases."""

from __future__ import annotations

from contextlib import nullcontext

from rulewright_runtime.cases.case_plan import decode
from rulewright_runtime.cases.engine_command import score
from rulewright_runtime.commands.options import parse_parameters, read_file
from rulewright_runtime.locks import lock_file
from rulewright_runtime.strict_json import JsonObject


def run_command(options: JsonObject) -> int:
    """Carry out the command. Returns the exit status."""
    plan = decode(read_file(options["files"][0]))
    out = options.get("out")
    with nullcontext() if out is None else lock_file(out):
        return score(
            plan,
            options["files"][1:],
            out=out,
            outputs=options.get("outputs"),
            concern=options.get("concern"),
            judge=options.get("judge"),
            semantic=options.get("semantic"),
            parameters=parse_parameters([setting.parameter for setting in plan.settings], options["parameters"]),
        )
