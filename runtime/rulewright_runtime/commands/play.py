"""`play`: play the scenarios of a run plan against a model."""

from __future__ import annotations

from rulewright_runtime.commands.options import integer, read_file
from rulewright_runtime.harness.harness_plan import decode
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.harness.named_adapters import open_adapter
from rulewright_runtime.strict_json import JsonObject


def run_command(options: JsonObject) -> int:
    """Execute the command. Returns the exit status."""
    plan = decode(read_file(options["files"][0]))
    parallel = integer(options, "scenario_parallel") or 1
    summary = run(plan, open_adapter(options["model"]), options["out"], parallel=parallel, resume=options["resume"])
    return 1 if summary["errors"] else 0
