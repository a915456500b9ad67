from rulewright.diagnostics import Findings, warning
from rulewright.project.unread_files import UnreadFiles


def check_is_not_read(unread: UnreadFiles) -> Findings:
    """A check is in a subfolder of the folder of checks, where no check is read.

    Why it matters: nobody runs it, and a run without it passes what it would fail.
    Instead: move it into the folder of checks, or begin the subfolder's name with `_` if it is put aside.
    """
    for check in unread.checks:
        yield warning(
            check.source.span(0, 0),
            f"this check is not read: the checks are the files of `{unread.checks_folder}` itself",
            help=f"move it into `{unread.checks_folder}`, or begin the subfolder's name with `_`",
        )
