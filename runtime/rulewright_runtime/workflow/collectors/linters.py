"""Lint and security scores from reports of linters and scanners: SARIF, ruff's JSON and bandit's JSON.

The score is the share of files without a finding. Files are those the report lists as scanned, those the caller knows,
and those with findings; a report that names only files with findings therefore scores 0. A report about no file, or of
a tool that did not finish, is a CollectionError.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from rulewright_runtime.english import plural
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.workflow.collectors.report_reading import (
    CollectionError,
    ReportReading,
    entries_below,
    files_below,
    inside,
    read_json,
    rows,
    share,
    table,
    text_of,
)

_HARMLESS_KINDS: Final = frozenset({"pass", "notApplicable", "informational"})
_PYTHON: Final = frozenset({".py", ".pyi"})


def ruff_json(root: Path, path: str, scope: Sequence[str]) -> ReportReading:
    """Count the files without findings in the report of `ruff check --output-format json`.

    A clean run and a run over no file both write `[]`. It is refused for outputs (`scope`) when neither they nor the
    working folder contain a Python file. Raises CollectionError.
    """
    findings = rows(path, read_json(root, path), "report")
    bad = [_relative(root, text_of(path, row.get("filename"), "filename")) for row in findings]
    looked_at = _python_files(root, scope)
    if scope and not bad and not looked_at and not _has_python_files(root, path):
        raise CollectionError(path, "the linter scanned no file, because the working folder contains no Python file")
    return _clean_files(path, bad, looked_at)


def bandit_json(root: Path, path: str, scope: Sequence[str]) -> ReportReading:
    """Count the files without issues among those in the metrics of bandit's JSON report. Raises CollectionError for
    files that bandit failed on."""
    report = table(path, read_json(root, path), "report")
    errors = rows(path, report.get("errors", []), "errors")
    if errors:
        name = text_of(path, errors[0].get("filename", "?"), "filename")
        raise CollectionError(path, f"the scanner failed on `{name}`")
    metrics = table(path, report.get("metrics"), "metrics")
    scanned = [_relative(root, text_of(path, name, "metrics")) for name in metrics if name != "_totals"]
    totals = table(path, metrics.get("_totals", {}), "metrics._totals")
    lines = totals.get("loc", 1)
    if not scanned or type(lines) is not int or lines < 1:
        raise CollectionError(path, "the scanner scanned no line" if scanned else "the scanner scanned no file")
    issues = rows(path, report.get("results"), "results")
    high = sum(row.get("issue_severity") == "HIGH" for row in issues)
    stated = totals.get("SEVERITY.HIGH", 0)
    if not isinstance(stated, (int, float)) or stated > high:  # a report may leave out lesser ones (`-ll`)
        raise CollectionError(path, f"contradicts itself: it counts {stated} issues of high severity and shows {high}")
    bad = [_relative(root, text_of(path, row.get("filename", "?"), "filename")) for row in issues]
    return _clean_files(path, bad, scanned)


def sarif(root: Path, path: str, scope: Sequence[str] = ()) -> ReportReading:
    """Count the files without open results in a SARIF 2.1.0 log; suppressed and absent results are ignored. Raises
    CollectionError."""
    log = table(path, read_json(root, path), "log")
    if not str(log.get("version", "")).startswith("2.1"):
        raise CollectionError(path, f"expected SARIF 2.1.0, found version `{log.get('version')}`")
    runs = rows(path, log.get("runs"), "runs")
    if not runs:
        raise CollectionError(path, "the log has no run")
    bad: list[str] = []
    looked_at = _python_files(root, scope)
    for run in runs:
        if not isinstance(run.get("results"), list):
            raise CollectionError(path, "a run has no `results`: its tool did not finish")
        results = rows(path, run["results"], "results")
        for invocation in rows(path, run.get("invocations", []), "invocations"):
            _check_invocation(path, invocation, clean=not results)
        artifacts = rows(path, run.get("artifacts", []), "artifacts")
        if "artifacts" in run and not artifacts and not results:
            raise CollectionError(path, "a run states that it scanned no file")
        looked_at += [_relative(root, name) for item in artifacts for name in _uri(path, item)]
        bad += [_relative(root, name) for row in results if _is_open(row) for name in _files_of(path, row)]
    return _clean_files(path, bad, looked_at)


def _check_invocation(path: str, invocation: JsonObject, *, clean: bool) -> None:
    """Raise CollectionError for a tool that failed, crashed or was killed: its results are incomplete."""
    if invocation.get("executionSuccessful") is not True:  # a key that SARIF requires
        raise CollectionError(path, "the tool does not say that its run succeeded")
    if "exitSignalName" in invocation or "processStartFailureMessage" in invocation:
        raise CollectionError(path, "the tool says that it was ended by a signal, or did not start")
    code = invocation.get("exitCode", 0)
    if clean and (type(code) is not int or code != 0):
        raise CollectionError(path, f"contradicts itself: exit code {code!r:.20} without a result")
    for kind in ("toolExecutionNotifications", "toolConfigurationNotifications"):
        for notice in rows(path, invocation.get(kind, []), kind):
            if notice.get("level") == "error" or "exception" in notice:
                raise CollectionError(path, "the tool reports an error of its own: its run is not complete")


def _is_open(result: JsonObject) -> bool:
    """Whether a result is a finding: neither harmless nor absent nor suppressed."""
    if result.get("kind", "fail") in _HARMLESS_KINDS or result.get("baselineState") == "absent":
        return False
    suppressions = result.get("suppressions") or []
    accepted = [s for s in suppressions if isinstance(s, dict) and s.get("status", "accepted") == "accepted"]
    return not accepted or len(accepted) != len(suppressions)


def _files_of(path: str, result: JsonObject) -> Iterator[str]:
    """Yield the files of a result, or `?` for a result without one, so that it still counts."""
    files = []
    for location in result.get("locations") or []:
        physical = location.get("physicalLocation", {}) if isinstance(location, dict) else {}
        files += _uri(path, {"location": physical.get("artifactLocation")}) if isinstance(physical, dict) else []
    yield from files or ["?"]


def _uri(path: str, artifact: JsonObject) -> list[str]:
    location = artifact.get("location")
    uri = location.get("uri") if isinstance(location, dict) else None
    if uri is None:
        return []
    text = text_of(path, uri, "uri")
    try:
        return [unquote(urlsplit(text).path if "://" in text else text, errors="strict")]
    except UnicodeDecodeError:
        raise CollectionError(path, f"the name of a file is not UTF-8: `{text[:80]}`") from None


def _clean_files(path: str, bad: Sequence[str], looked_at: Sequence[str]) -> ReportReading:
    files, dirty = {*looked_at, *bad}, set(bad)
    if not files:  # a clean report in a format that names only files with findings
        return ReportReading(1, 1, "no findings")
    details = f"no findings in {plural(len(files), 'file')}"
    if bad:
        details = f"{plural(len(bad), 'finding')} in {len(dirty)} of {plural(len(files), 'file')}"
    return share(path, len(files) - len(dirty), len(files), details)


def _relative(root: Path, name: str) -> str:
    """Normalize a file name that a tool wrote as absolute, relative or with dots: relative to `root` where possible."""
    top = os.path.realpath(root)
    full = os.path.normpath(os.path.join(top, name))
    for base in (top, os.path.abspath(root)):
        if full.startswith(base + os.sep):
            return full[len(base) + 1 :]
    return full


def _has_python_files(root: Path, report: str) -> bool:
    """Whether the working folder contains a Python file, besides the report."""
    own = inside(root, report)
    return any(file.suffix in _PYTHON and file != own for file in entries_below(root.resolve(), None))


def _python_files(root: Path, scope: Sequence[str]) -> list[str]:
    """Return the Python files in the files and folders of `scope`; missing ones are ignored."""
    top = root.resolve()
    paths = [inside(root, path) for path in scope]
    return [f.relative_to(top).as_posix() for p in paths if p.exists() for f in files_below(p) if f.suffix in _PYTHON]
