from typing import Final

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import text
from rulewright.project import Project

FEWEST: Final = 3  # blindspots that follow the names of their checks, to be a habit


def blindspot_of_another_name(project: Project) -> Findings:
    """A blindspot has the name of another check, or is the only one that is not named after its check.

    Why it matters: a report shows the blindspot for a failure of another kind.
    Instead: write the id of the check with this name, or rename the blindspot after its check.
    """
    root = project.roots.get("blindspots")
    names = {check.id: check.name for check in project.checks}
    ids = {name: id for id, name in names.items()}
    entries = [(each, text(each.value)) for each in root.entries] if root is not None else []
    known = [(each, id) for each, id in entries if names.get(id)]
    strange = [(each, id) for each, id in known if each.name != names[id]]
    labels = {id: each for each, id in strange}
    for each, id in strange:
        swapped = labels.get(ids.get(each.name, ""))
        if swapped is not None and swapped.name == names[id] and swapped.key.start < each.key.start:
            continue  # reported with the first of the two
        if each.name in ids:
            notes = [(swapped.value, "perhaps the two are swapped")] if swapped is not None else ()
            message = f"`{each.name}` is the name of `{ids[each.name]}`, but this blindspot shows `{id}`"
            yield warning(each.value, message, help=Guess(ids[each.name]), notes=notes)
        elif len(strange) == 1 and len(known) > FEWEST and len(ids) == len(names):  # else `unchanged-copy`
            message = f"the check `{id}` is called `{names[id]}`; the other blindspots have the names of their checks"
            yield warning(each.key, message, help=Guess(names[id]))
