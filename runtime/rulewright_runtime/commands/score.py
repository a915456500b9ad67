"""`score`: score test cases by a compiled scorecard over cases."""

from __future__ import annotations

from contextlib import nullcontext

from rulewright_runtime.cases.case_plan import decode
from rulewright_runtime.cases.engine_command import score
from rulewright_runtime.commands.given_words import content_of, typed
from rulewright_runtime.locks import held_file
from rulewright_runtime.strict_json import JsonObject


def run_command(given: JsonObject) -> int:
    """Do what the words say; the value is the exit status."""
    plan = decode(content_of(given["files"][0]))
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
            parameters=typed([setting.parameter for setting in plan.settings], given["parameters"]),
        )
