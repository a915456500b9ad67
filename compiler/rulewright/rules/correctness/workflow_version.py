from rulewright.diagnostics import Findings, Guess, error
from rulewright.documents.workflow import VERSIONS
from rulewright.workflow import Workflow


def workflow_version(workflow: Workflow) -> Findings:
    """The workflow's `version` is not "1".

    Why it matters: another version may give the same keys another meaning.
    Instead: write `version: "1"`, or use a release that supports the version.
    """
    version = workflow.document.version
    if version is not None and version not in VERSIONS:
        message = f"unsupported workflow version `{version}`; expected `1`: schema version mismatch"
        is_slip = str(version).strip("\"' vV.0") in VERSIONS
        otherwise = "migrate the file to version `1`, or use a release that supports its version"
        help = Guess("1") if is_slip else otherwise
        yield error(workflow.document.place("version"), message, help=help)
