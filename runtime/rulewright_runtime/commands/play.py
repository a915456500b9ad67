"""`play`: play the scenarios of a run plan against a model."""

from __future__ import annotations

from rulewright_runtime.commands.given_words import content_of, number
from rulewright_runtime.harness.adapters import open_adapter
from rulewright_runtime.harness.harness_plan import decode
from rulewright_runtime.harness.harness_run import run
from rulewright_runtime.strict_json import JsonObject


def run_command(given: JsonObject) -> int:
    """Do what the words say; the value is the exit status."""
    plan = decode(content_of(given["files"][0]))
    parallel = number(given, "scenario_parallel") or 1
    summary = run(plan, open_adapter(given["model"]), given["out"], parallel=parallel, resume=given["resume"])
    return 1 if summary["errors"] else 0
