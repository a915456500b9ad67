"""Renders findings as SARIF 2.1.0, the format of code-scanning services."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import PurePath
from urllib.parse import quote

from rulewright.categories import LEVELS, category_of, is_default
from rulewright.diagnostics import Diagnostic, Fix, Severity, Span
from rulewright_runtime import __version__
from rulewright_runtime.strict_json import JsonObject

RULE = "urn:rulewright:rule:"  # identifies a rule; its page is in `help`, and `rulewright explain` prints it
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}


def sarif(diagnostics: Sequence[Diagnostic], page_of: Callable[[str], str | None]) -> str:
    """Return one run with its rules; `page_of` returns a code's manual page, whose first line describes the rule."""
    codes = sorted({each.code for each in diagnostics})
    driver = {"name": "rulewright", "version": __version__, "rules": [_rule(code, page_of(code)) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes.index(each.code)) for each in diagnostics],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "replace").decode()  # a message may quote a file name that is not UTF-8


def _rule(code: str, page: str | None) -> JsonObject:
    rule: dict[str, object] = {
        "id": code,
        "helpUri": f"{RULE}{code}",
        "defaultConfiguration": {"level": _LEVELS[LEVELS[category_of(code)]], "enabled": is_default(code)},
        "properties": {"category": category_of(code)},
    }
    if page:
        rule["shortDescription"] = {"text": page.strip().splitlines()[0]}
        rule["help"] = {"text": page.strip()}
    return rule


def _result(finding: Diagnostic, rule: int) -> JsonObject:
    text = finding.advised
    result: JsonObject = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(finding.span)}],
    }
    if finding.notes:
        result["relatedLocations"] = [
            {"id": i, "physicalLocation": _location(note.span), "message": {"text": note.message}}
            for i, note in enumerate(finding.notes)
        ]
    if finding.fix:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> dict[str, object]:
    paths = dict.fromkeys(edit.span.path for edit in fix.edits)
    changes = [
        {
            "artifactLocation": {"uri": _uri(path)},
            "replacements": [
                {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
                for edit in fix.edits
                if edit.span.path == path
            ],
        }
        for path in paths
    ]
    return {"description": {"text": fix.message}, "artifactChanges": changes}


def _location(span: Span) -> dict[str, object]:
    return {"artifactLocation": {"uri": _uri(span.path)}, "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    return {"startLine": span.line, "startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))  # a name need not be UTF-8
