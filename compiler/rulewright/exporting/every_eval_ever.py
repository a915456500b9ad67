"""Exports a run as Every Eval Ever reports, schema 0.2.1: a file per model with its headline and pass rates."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright.exporting.flat_records import run_fields
from rulewright.reporting.page_data import page_data
from rulewright.reporting.stored_run import FinishedRun
from rulewright_runtime import __version__
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.report.summary import judge_line
from rulewright_runtime.runs.folder import SUMMARY
from rulewright_runtime.strict_json import JsonMapping, JsonObject, indented

SCHEMA: Final = "0.2.1"
_NOT_IN_A_NAME: Final = re.compile(r"[^\w.-]+")


class RunSource(Struct, frozen=True):
    """The source of a run that it does not record: the dataset, and who evaluated it."""

    dataset: str
    organization: str
    relationship: str


def reports(run: FinishedRun, source: RunSource) -> Iterator[tuple[str, bytes]]:
    """Iterate over path and content of each model's file. Raises UsageError and PlanError for a damaged run."""
    gathered, about = page_data(run), run_fields(run)
    created = str(int((run.folder / SUMMARY).stat().st_mtime))
    folders: set[str] = set()
    for model in gathered["models"]:
        folder, number = _file_name(model), 1
        while folder.lower() in folders:  # of a model with a similar name
            number += 1
            folder = f"{_file_name(model)}_{number}"
        folders.add(folder.lower())
        report = {
            "schema_version": SCHEMA,
            "evaluation_id": f"{source.dataset}/{model}/{created}",
            "retrieved_timestamp": created,
            "source_metadata": {
                "source_name": "rulewright",
                "source_type": "evaluation_run",
                "source_organization_name": source.organization,
                "evaluator_relationship": source.relationship,
            },
            "eval_library": {"name": "rulewright", "version": __version__, "additional_details": _settings(run, about)},
            "model_info": {"name": model, "id": model, **_developer(model)},
            "evaluation_results": list(_results(gathered, model, source)),
        }
        path = Path(_file_name(source.dataset), folder, f"{about['run_id'] or about['plan'][:16]}.json")
        yield path.as_posix(), indented(report)


def _settings(run: FinishedRun, about: JsonMapping) -> dict[str, str]:
    details = {name: run.summary.get(name) for name in ("profile", "scorecard", "semantics", "language")}
    details |= {"plan_hash": about["plan"], "run_id": about["run_id"], "judge": judge_line(run.summary.get("judge"))}
    details["refused_inputs"] = run.summary["refused"]["count"]
    return {name: str(value) for name, value in details.items() if value}


def _developer(model: str) -> dict[str, str]:
    developer, slash, _ = model.partition("/")
    return {"developer": developer} if slash else {}


def _results(gathered: JsonMapping, model: str, source: RunSource) -> Iterator[dict[str, object]]:
    summary = gathered["summary"]
    mean = summary["models"][model]["overall"]
    if mean["mean"] is not None:
        name = str(summary.get("headline"))
        about = f"mean of `{name}` over the transcripts that have one"
        counts = {"transcripts": summary["models"][model]["transcripts"], "absent": mean["absent"]}
        yield _result(name, about, mean["mean"], mean["counted"], counts, source)
    for check in gathered["checks"]:
        cell = check["models"].get(model)
        counts = {verdict: (cell or {}).get(verdict, 0) for verdict in VERDICTS}
        judged = sum(counts[verdict] for verdict in ("PASS", "FAIL", "UNCLEAR"))
        if judged:
            about = f"{check['name']}: share of PASS among PASS, FAIL and UNCLEAR"
            details = {**counts, "severity": check["severity"], "bucket": check["bucket"]}
            yield _result(check["check_id"], about, counts["PASS"] / judged, judged, details, source)


def _result(name: str, about: str, score: float, samples: int, details: JsonMapping, source: RunSource) -> JsonObject:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": source.dataset, "source_type": "other"},
        "metric_config": {
            "evaluation_description": about,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
        },
        "score_details": {
            "score": score,
            "details": {key: str(value) for key, value in details.items() if value not in (None, "")},
            "uncertainty": {"num_samples": samples},
        },
    }


def _file_name(text: str) -> str:
    """The text as a valid name of a file or folder."""
    return _NOT_IN_A_NAME.sub("_", text).strip(".") or "_"
