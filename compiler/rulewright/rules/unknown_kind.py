"""Rule: a probe's kind or a risk's severity that is none of the known words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulewright.diagnostics import warning
from rulewright.documents.base import items, scalar
from rulewright.documents.scenario import Scenario
from rulewright.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.diagnostics import Diagnostic

PROBES: Final = ("abstention", "boundary_check", "multi_session", "pronoun_continuity", "recall", "time")
RISKS: Final = ("low", "medium", "high", "critical")


def unknown_kind(scenario: Scenario) -> Iterator[Diagnostic]:
    """A probe's `kind` or a risk trigger's `severity` is none of the known words.

    Why it matters: whoever evaluates probes or risks by their kind passes this one over.
    Instead: use one of the words the help lists.
    """
    nodes = [scenario.node, *(turn.node for turn in scenario.turns)]
    for key, name, words in (("probes", "kind", PROBES), ("risk_triggers", "severity", RISKS)):
        for item in (item for node in nodes for item in items(node, key)):
            found = scalar(item, name)
            if found is not None and found.value not in words:
                help = did_you_mean(str(found.value), words) or f"the words are {', '.join(words)}"
                yield warning(found, f"`{found.value}` is no `{name}` of `{key}`", help=help)
