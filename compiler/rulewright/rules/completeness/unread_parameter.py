import re
from itertools import pairwise
from typing import Final

from rulewright.diagnostics import Findings, Guess, Span, error, warning
from rulewright.documents.base import entries
from rulewright.documents.check import CheckDocument
from rulewright.load import Mapping, Scalar, place
from rulewright.lower.expressions_of import expressions_of
from rulewright.spelling import suggest

LISTS: Final = ("violations", "exceptions")
OF_PHASES: Final = re.compile(r"\bcheck\.phases\.(violations|exceptions)\b")
READ: Final = re.compile(r"""\bparams\s*(?:\.\s*(\w+)|\[\s*(?:"(\w+)"|'(\w+)')\s*\])?""")


def unread_parameter(check: CheckDocument) -> Findings:
    """No condition of a check reads one of its `params`, or a prompt reads one list of `phases` twice, another never.

    Why it matters: changing its value does not change the check.
    Instead: read it in a condition or a prompt, or remove it.
    """
    yield from _of_phases(check)
    params = check.node.get("params")
    if not isinstance(params, Mapping) or "use" in check.node or not check.verdict_conditions:
        return
    uses = [(each, use) for each in check.conversation_conditions for use in READ.finditer(each.text)]
    read = {use[1] or use[2] or use[3] for _, use in uses}
    if None in read:  # a condition reads the whole map
        return
    unknown = read - {*params.keys, *check.params}
    for entry in params.entries:
        name = entry.key.text
        message = f"no condition reads the parameter `{name}`"
        if name not in read and not unknown and _can_all_be_read(check):
            notes = [(each, "the condition") for each in check.conversation_conditions]
            if (again := _read_again(name, list(params.keys), uses)) is not None:
                yield warning(again, message, notes=[(entry.key, "not read"), *notes])
            else:
                yield warning(entry.key, message, notes=notes if len(notes) == 1 else ())
        elif name not in read and (meant := suggest(name, unknown)) and _is_rarer(name, meant, check.node.source.text):
            read_at = next(place(each, use.start(), use.end()) for each, use in uses if meant in use.groups())
            yield error(entry.key, message, help=Guess(meant), notes=[(read_at, "read here")])


def _of_phases(check: CheckDocument) -> Findings:
    """The list under `phases` that no prompt reads, where one reads the other list twice."""
    prompts = [each for each in (check.phases.confirm, check.phases.sweep) if each is not None]
    uses = [(each, use) for each in prompts for use in OF_PHASES.finditer(str(each.value))]
    read = {use[1] for _, use in uses}
    twice = next((two for two in pairwise(uses) if two[0][0] is two[1][0]), None)
    lists = [entry.name for entry in entries(check.node, "phases") if entry.name in LISTS]
    for name in lists if len(read) == 1 and len(lists) == 2 and twice is not None else ():
        if name not in read and twice is not None:
            written, use = twice[lists.index(name)]
            notes = [(check.key_place("phases", name), "not read")]
            yield warning(place(written, *use.span()), f"no prompt reads `phases.{name}`", notes=notes)


def _read_again(name: str, params: list[str], uses: list[tuple[Scalar, re.Match[str]]]) -> Span | None:
    """Where the only parameter that is read twice is probably the wrong one: the first time if the unread one is
    declared before it."""
    places: dict[str, list[Span]] = {}
    for written, use in uses:
        other = use[1] or use[2] or use[3]
        places.setdefault(other, []).append(place(written, use.start(), use.end()))
    twice = [other for other, read in places.items() if len(read) == 2]
    if len(twice) != 1 or len(places) + 1 != len(params):
        return None
    return places[twice[0]][0 if params.index(name) < params.index(twice[0]) else -1]


def _can_all_be_read(check: CheckDocument) -> bool:
    """Whether all conditions could be parsed; what a broken one reads is unknown."""
    sound = {id(written.scalar) for written in expressions_of(check)}
    return all(id(each) in sound for each in check.conversation_conditions)


def _is_rarer(name: str, other: str, text: str) -> bool:
    """Whether a text contains a name less often than another: of two spellings, the more frequent one is meant."""
    own, others = (
        len(re.findall(rf"(?<![^\W_])(?<!-){re.escape(each)}(?!-)(?![^\W_])", text)) for each in (name, other)
    )
    return own < others
