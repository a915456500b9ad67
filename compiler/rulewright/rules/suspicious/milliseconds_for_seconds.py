from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import numeric
from rulewright.load import Mapping, walk
from rulewright.project import Project

LEAST: Final = 5000  # thousands of seconds are an unusual time limit, except in whole hours
SHORT: Final = 1000  # the same for the other times: pauses and intervals
HOUR: Final = 60 * 60
DAY: Final = 24 * HOUR
SHORTEST: Final = 0.1  # seconds


def milliseconds_for_seconds(project: Project) -> Findings:
    """A time limit or interval in seconds is a large multiple of 1000, or a time limit is below a tenth of a second.

    Why it matters: in milliseconds, a call that hangs is given up after hours, and a run waits for it. Within less than
    a tenth of a second nearly every call is given up.
    Instead: write the seconds.
    """
    for node in walk(None if project.file is None else project.file.node):
        for entry in node.entries if isinstance(node, Mapping) else ():
            found = numeric(entry.value) if entry.name.endswith("_seconds") else None
            seconds = found.as_float if found is not None else 0
            least = LEAST if "timeout" in entry.name else SHORT
            if found is not None and least <= seconds < DAY * 7 and seconds % 1000 == 0 and seconds % HOUR:
                message = f"`{entry.name}` is {found.raw}, which is {seconds / 3600:.1f} hours"
                yield warning(found, message, help=Guess(f"{seconds / 1000:g}", "it is in seconds"))
            elif entry.name == "timeout_seconds" and found is not None and 0 < seconds < SHORTEST:
                message = f"with `{entry.name}: {found.raw}`, nearly every call is given up"
                yield warning(found, message, help="it is in seconds")
