from rulewright.diagnostics import Findings, advice
from rulewright.project.unread_files import UnreadFiles


def unread_definitions(unread: UnreadFiles) -> Findings:
    """Definitions of one kind are in two of the usual places, and only the first is read.

    Why it matters: changes to the file that is not read have no effect, and the two copies drift apart.
    Instead: remove one of the two, or name the place in the project file.
    """
    for copy in unread.copies:
        kind = copy.kind.replace("_", " ")
        yield advice(
            copy.source.span(0, 0),
            f"nothing reads this file: the {kind} are those of `{copy.taken}`",
            help=f"remove one of the two, or name the place in the project file: `{copy.kind}: {copy.taken}`",
        )
