"""Lint and security scores from what linters and scanners write: SARIF, ruff's JSON and bandit's JSON.

The score is the share of files without a finding. Files are those the report says it looked at, those the caller
knows, and those with findings; a report that names only files with findings therefore scores 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from rulewright_runtime.workflow.collectors.base import (
    CollectionError,
    Reading,
    files_below,
    inside,
    read_json,
    rows,
    share,
    table,
)

_HARMLESS_KINDS: Final = frozenset({"pass", "notApplicable", "informational"})
_PYTHON: Final = frozenset({".py", ".pyi"})


def ruff_json(root: Path, path: str, scope: Sequence[str] = ()) -> Reading:
    """Files without findings in the report of `ruff check --output-format json`; `[]` is a clean run."""
    findings = rows(path, read_json(root, path), "report")
    bad = []
    for row in findings:
        if not isinstance(row.get("filename"), str):
            raise CollectionError(path, "a finding has no `filename`")
        bad.append(_relative(root, row["filename"]))
    return _clean_files(path, bad, _python_files(root, scope))


def bandit_json(root: Path, path: str, scope: Sequence[str] = ()) -> Reading:
    """Files without issues, of those the metrics of bandit's JSON report list. Files it failed on are an error."""
    report = table(path, read_json(root, path), "report")
    errors = rows(path, report.get("errors", []), "errors")
    if errors:
        raise CollectionError(path, f"the scanner failed on `{errors[0].get('filename', '?')}`")
    scanned = [_relative(root, name) for name in table(path, report.get("metrics"), "metrics") if name != "_totals"]
    if not scanned:
        raise CollectionError(path, "the scanner looked at no file")
    issues = rows(path, report.get("results"), "results")
    return _clean_files(path, [_relative(root, str(row.get("filename", "?"))) for row in issues], scanned)


def sarif(root: Path, path: str, scope: Sequence[str] = ()) -> Reading:
    """Files without open results in a SARIF 2.1.0 log; suppressed and absent results are passed by."""
    log = table(path, read_json(root, path), "log")
    if not str(log.get("version", "")).startswith("2.1"):
        raise CollectionError(path, f"expected SARIF 2.1.0, found version `{log.get('version')}`")
    runs = rows(path, log.get("runs"), "runs")
    if not runs:
        raise CollectionError(path, "the log has no run")
    bad: list[str] = []
    looked_at = _python_files(root, scope)
    for run in runs:
        for invocation in rows(path, run.get("invocations", []), "invocations"):
            if invocation.get("executionSuccessful") is False:
                raise CollectionError(path, "the tool says that its run failed")
        looked_at += [
            _relative(root, name) for item in rows(path, run.get("artifacts", []), "artifacts") for name in _uri(item)
        ]
        if not isinstance(run.get("results"), list):
            raise CollectionError(path, "a run has no `results`: its tool did not finish")
        bad += [
            _relative(root, name)
            for row in rows(path, run["results"], "results")
            if _open(row)
            for name in _places(row)
        ]
    return _clean_files(path, bad, looked_at)


def _open(result: dict[str, Any]) -> bool:
    """Whether a result still is a finding."""
    if result.get("kind", "fail") in _HARMLESS_KINDS or result.get("baselineState") == "absent":
        return False
    suppressions = result.get("suppressions") or []
    accepted = [s for s in suppressions if isinstance(s, dict) and s.get("status", "accepted") == "accepted"]
    return not accepted or len(accepted) != len(suppressions)


def _places(result: dict[str, Any]) -> Iterator[str]:
    """The files of a result; `?` where it has none, so that it still counts."""
    found = []
    for location in result.get("locations") or []:
        physical = location.get("physicalLocation", {}) if isinstance(location, dict) else {}
        found += _uri({"location": physical.get("artifactLocation")}) if isinstance(physical, dict) else []
    yield from found or ["?"]


def _uri(artifact: dict[str, Any]) -> list[str]:
    location = artifact.get("location")
    uri = location.get("uri") if isinstance(location, dict) else None
    return [unquote(urlsplit(uri).path) if "://" in uri else unquote(uri)] if isinstance(uri, str) else []


def _clean_files(path: str, bad: Sequence[str], looked_at: Sequence[str]) -> Reading:
    files, wrong = {*looked_at, *bad}, set(bad)
    if not files:
        return Reading(1, 1, "no findings")
    what = f"{len(bad)} findings in {len(wrong)} of {len(files)} files" if bad else f"no findings in {len(files)} files"
    return share(path, len(files) - len(wrong), len(files), what)


def _relative(root: Path, name: str) -> str:
    """One name for a file, whether the tool wrote it absolute, relative or with dots."""
    top = os.path.realpath(root)
    full = os.path.normpath(os.path.join(top, name))
    for base in (top, os.path.abspath(root)):
        if full.startswith(base + os.sep):
            return full[len(base) + 1 :]
    return full


def _python_files(root: Path, scope: Sequence[str]) -> list[str]:
    """The Python files among the files and folders of `scope`; what does not exist holds none."""
    top = root.resolve()
    found = [inside(root, path) for path in scope]
    return [f.relative_to(top).as_posix() for p in found if p.exists() for f in files_below(p) if f.suffix in _PYTHON]
