import re
from collections.abc import Iterator
from typing import Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import numeric
from rulewright.load import Mapping, Scalar
from rulewright.project.unread_files import UnreadFiles
from rulewright_runtime.english import plural

# `probes:  # Probes of the whole scenario (optional, 31/64)`
COUNTED: Final = re.compile(
    r"^(?P<key>\w+):[^#\n]*#[^\n]*"
    r"\((?:[^()\n]*\s)?(?P<count>(?P<having>\d+)/(?P<all>\d+))(?:\s[^()\n]*)?\)",
    re.MULTILINE,
)
# `persona:` and, indented below it, `age: integer  # 18-90`
RANGED: Final = re.compile(
    r"^(?P<parent>\w+):|^ +(?P<key>\w+): (?:integer|number)[ ]*#[ ]*(?P<range>(?P<low>\d{1,9})-(?P<high>\d{1,9}))[ ]*$",
    re.MULTILINE,
)


def comment_contradicts_files(unread: UnreadFiles) -> Findings:
    """A comment in `SCENARIO_SCHEMA.yaml` states a count (`31/64`) or a range of values that the files contradict.

    Why it matters: readers rely on these numbers and do not count again.
    Instead: correct the numbers, or remove them.
    """
    total = len(unread.scenarios)
    for source in unread.descriptions if total else ():
        for found in COUNTED.finditer(source.text):
            key, having = found["key"], sum(found["key"] in scenario for scenario in unread.scenarios)
            if (int(found["having"]), int(found["all"])) != (having, total):
                yield warning(
                    source.span(*found.span("count")),
                    f"`{found['count']}` contradicts the files: `{key}` is in {having} of {plural(total, 'scenario')}",
                )
        parent = ""
        for found in RANGED.finditer(source.text):
            parent = found["parent"] or parent
            outside = next(_outside(found, parent, unread.scenarios), None) if found["key"] else None
            if outside is not None:
                message = (
                    f"`{found['range']}` contradicts the files: a scenario has the `{found['key']}` {outside.value}"
                )
                yield warning(source.span(*found.span("range")), message, notes=[(outside, "this one")])


def _outside(found: re.Match[str], parent: str, scenarios: tuple[Mapping, ...]) -> Iterator[Scalar]:
    """The numbers of a key below a parent that are not in the range of a comment."""
    low, high = int(found["low"]), int(found["high"])
    values = (numeric(each, parent, found["key"]) for each in scenarios)
    return (each for each in values if each is not None and not low <= each.as_float <= high)
