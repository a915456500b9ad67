from pathlib import Path

from rulewright.diagnostics import Findings, error, warning
from rulewright.documents.layout import PROJECT_FILE_NAMES
from rulewright.project.unread_files import UnreadFiles


def misspelt_suffix(unread: UnreadFiles) -> Findings:
    """A file of a project has a suffix that is almost `.yaml`, `.yml` or `.json`, or the project file has another name.

    Why it matters: it is not read. A run without this check, scenario or lexicon passes what it would fail.
    Instead: rename it, or begin the file's name with `_` if it is put aside.
    """
    for source, name in unread.misnamed:
        stem, written = Path(name).stem, Path(source.path).name
        message = f"`{stem}` is not read: its file is called `{written}`, not `{name}`"
        report = error if name in PROJECT_FILE_NAMES else warning  # without its project file a project may be refused
        yield report(source.span(0, 0), message, help=f"rename it to `{name}`")
