"""Rule: a version of the format that is not known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.workflow import VERSIONS

if TYPE_CHECKING:
    from rulewright.workflow import Workflow


def workflow_version(workflow: Workflow) -> Iterator[Diagnostic]:
    """The workflow's `version` is another than "1".

    Why it matters: another version may mean something else by the same words.
    Instead: write `version: "1"`, or use a release that knows the version.
    """
    version = workflow.document.version
    if version is not None and version not in VERSIONS:
        message = f"unsupported workflow version `{version}`; expected `1`: schema version mismatch"
        help = "migrate the file to version `1`, or use a release that knows its version"
        yield error(workflow.document.place("version"), message, help=help)
