from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import Findings, warning
from rulewright.documents.base import descend
from rulewright.load import Mapping, Node, Scalar, Sequence, is_text, walk
from rulewright.rules.style.listed_twice import nodes_of

if TYPE_CHECKING:
    from rulewright.documents.check import CheckDocument
    from rulewright.documents.lexicon import MarkerSet
    from rulewright.documents.profile import Profile
    from rulewright.documents.scenario import ScenarioDocument
    from rulewright.project import Project

# Keys side by side in one mapping, none of which may contain a text of another.
OPPOSITES: Final = (
    ("agrees", "contradicts"),
    ("pass_rule", "fail_rule"),
    ("promises", "hedges"),
    ("violations", "exceptions"),
    ("expected_reply", "forbidden_reply"),
    ("include_modes", "exclude_modes"),
    ("cues_direct", "cues_indirect"),
    ("expected_behaviors", "autofail_triggers"),
    ("identity_question", "ai_disclosure", "false_human"),
    ("select", "ignore"),
    ("extend_select", "ignore"),
)
# The first key wins: a phrase of it that occurs in a phrase of the second also hits what the second is for.
WINNING: Final = (("false_human", "ai_disclosure"),)


def opposites_agree(subject: CheckDocument | MarkerSet | Profile | ScenarioDocument | Project) -> Findings:
    """Two lists with opposite meanings contain the same text.

    Why it matters: a text in `agrees` and `contradicts` of a fact, `violations` and `exceptions` of a check, or
    `expected_behaviors` and `autofail_triggers` of a turn is taken for both, so one of the two has no effect, or every
    answer with it is wrong.
    Instead: remove it from the list that it does not belong to.
    """
    for node in nodes_of(subject):
        for each in walk(node):
            if isinstance(each, Mapping):
                yield from _shared(each)
                yield from _contained(each)


def _shared(node: Mapping) -> Findings:
    for keys in OPPOSITES:
        earlier: dict[str, tuple[str, Scalar]] = {}
        for key in keys if len(node.index.keys() & {*keys}) > 1 else ():
            here = {each.text.lower(): (key, each) for each in _texts(node.get(key))}
            shared = [text for text in here if text in earlier]
            for text in shared[:1]:
                (other, first), (_, second) = earlier[text], here[text]
                others = f", and so {'is' if len(shared) == 2 else 'are'} {len(shared) - 1} more" if shared[1:] else ""
                message = f"`{second.value}` is listed under `{other}` and under `{key}`{others}"
                yield warning(second, message, notes=[(first, "the other one")])
            earlier |= here


def _contained(node: Mapping) -> Findings:
    for winner, loser in WINNING:
        for short in _texts(node.get(winner)):
            text = short.text.lower()
            long = next((each for each in _texts(node.get(loser)) if text in each.text.lower()), None)
            if text and long is not None and long.text.lower() != text:
                message = f"`{short.value}` of `{winner}` occurs in `{long.value}` of `{loser}`"
                yield warning(short, message, notes=[(long, f"the phrase of `{loser}`")])


def _texts(node: Node | None) -> Iterable[Scalar]:
    """The texts of a list of texts or patterns, or a single text."""
    parts = node.items if isinstance(node, Sequence) else (node,)
    found = [next((below for key in ("pattern", "regex") if (below := descend(each, key))), each) for each in parts]
    return filter(is_text, found)
