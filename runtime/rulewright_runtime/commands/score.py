"""`score`: score test cases by a compiled scorecard over cases."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

from msgspec.structs import replace

from rulewright_runtime.cases import case_settings
from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Choices, SettingValue, decode
from rulewright_runtime.cases.case_reader import Batch, CaseReader, Outputs
from rulewright_runtime.cases.case_run import report_head, score_batches
from rulewright_runtime.cases.json_report import generation_time, problem_lines, write_json
from rulewright_runtime.cases.records import json_files
from rulewright_runtime.commands.options import parse_parameters, read_file
from rulewright_runtime.embedding.opening import open_embedding
from rulewright_runtime.english import ticked
from rulewright_runtime.errors import PlanError
from rulewright_runtime.files.atomic import open_whole
from rulewright_runtime.files.locks import lock_file
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.terminal import complain, safe_stream


def run_command(options: JsonObject) -> int:
    """Execute the command. Returns the exit status."""
    plan = decode(read_file(options["files"][0]))
    out = None if options.get("out") == "-" else options.get("out")
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


def score(
    plan: CaseScorecardPlan,
    cases: Iterable[str],
    *,
    out: str | None,
    outputs: str | None,
    concern: str | None,
    judge: str | None,
    semantic: str | None,
    parameters: JsonMapping,
) -> int:
    """Score files and folders of cases, write the JSON report to `out` (None: standard output) and errors to standard
    error. Returns the exit status. Raises RuntimeFailure when scoring can't start."""
    choices = _choices(plan, parameters)
    settings = case_settings.prepare_settings(plan, choices)
    case_settings.check_thresholds(settings, choices)
    batches = [Batch(os.path.splitext(os.path.basename(file))[0], file) for file in _files(cases)]
    indexed = Outputs(outputs) if outputs is not None else None
    run = score_batches(
        settings,
        CaseReader(plan, concern, indexed),
        batches,
        embedding=None if semantic is None else open_embedding(semantic),
        judge=None if judge is None else open_judge(judge),
    )
    head = report_head(
        run,
        batch_id=", ".join(batch.name for batch in batches),
        concern_id=concern or "",
        generated_at=generation_time(),
        about={"configuration": case_settings.configuration(plan, choices)},
    )
    complain(*problem_lines(run))
    if out is None:
        write_json(safe_stream(sys.stdout).buffer, run, head)
    else:
        with open_whole(out) as file:
            write_json(file, run, head)
    return run.status()


def _files(cases: Iterable[str]) -> Iterator[str]:
    for path in cases:
        if os.path.isdir(path):
            yield from sorted(json_files(path))
        else:
            yield path


def _choices(plan: CaseScorecardPlan, parameters: JsonMapping) -> Choices:
    """Return the settings that the plan was compiled with, overridden by `parameters` of the command line."""
    declared = {setting.parameter.name: setting.parameter for setting in plan.settings}
    for name in parameters.keys() - declared.keys():
        raise PlanError(f"unknown parameter `{name}`; the plan declares {ticked(declared)}")
    overrides = {
        name: SettingValue(case_settings.plain_value(declared[name], value), f"--set {name}")
        for name, value in parameters.items()
    }
    return replace(plan.choices, parameters={**case_settings.defaults(plan), **plan.choices.parameters, **overrides})
