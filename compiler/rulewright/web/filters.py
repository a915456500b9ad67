"""The filters of templates: what turns a value into the words that a page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol, TypeVar
from urllib.parse import quote

from markupsafe import Markup, escape

from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.summary import UNPROVEN, gaps, label_name
from rulewright_runtime.report.text import number, percent, plural
from rulewright_runtime.report.unresolved import gate_line, unresolved_lines
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import visible
from rulewright_runtime.workflow.hil_text import history_line

_MOST: Final = 4096  # verdicts whose markup is kept
_rendered: dict[object, Markup] = {}
_TRIGGERS: Final = {
    "requires_human": "the task asks for a person before it starts",
    "loop_exhaustion": "a loop has no iteration left",
    "overlay_escalation": "the policy gate failed and there is no loop to repeat the work",
    "t2_gate": "sign-off of a T2 gate",
}


def _text(value: object) -> Markup:
    """The same for a text of several lines, which keeps them."""
    return escape(visible(str(value)))


def _parted(name: str) -> Markup:
    """A name that may break behind its underscores."""
    return _text(name).replace("_", Markup("_<wbr>"))


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of a label and its lines, of which an empty label continues the one before."""
    found: list[tuple[str, list[str]]] = []
    for label, line in pairs:
        if label or not found:
            found.append((label, []))
        found[-1][1].append(line)
    return [(label, "\n".join(lines)) for label, lines in found]


def _heat(share: float, least: float = 0.0) -> str:
    """The class of a cell: the redder, the more failed; none up to `least`."""
    return "" if share <= least else f"h{min(4, 1 + int(share * 4))}"


def _gate_state(gate: Mapping[str, object], name: str) -> str:
    """What a gate may still become, and by which answers."""
    return gate_line(name, gate).removeprefix(f"gate {name}: ")


def _reason(item: JsonMapping) -> str:
    """Why a verdict is what it is, and what makes it unproven."""
    code, cause = str(item["rationale_code"] or "").replace("_", " "), str(item["cause"] or "")
    told = UNPROVEN.get(cause, cause)
    if told and item.get("verdict", "FAIL") == "FAIL":
        told = f"unproven: {told}"
    return f"{code} ({told})" if code and told else code or told


class Judged(Protocol):
    """A verdict as a page shows it."""

    @property
    def anchor(self) -> str:
        """Where links find it."""

    @property
    def alike(self) -> tuple[object, ...] | None:
        """What verdicts share that are shown alike; None where it is shown like no other."""


Shown = TypeVar("Shown", bound=Judged)


def _judged_alike(verdicts: Iterable[Shown], render: Callable[[Shown, str], Markup], level: str) -> Markup:
    """What `render` makes of verdicts, each where links find it."""
    parts: list[str] = []
    for each in verdicts:
        parts += ('<div class="judged" id="', escape(each.anchor), '">\n', _once(each, render, level), "\n</div>\n")
    return Markup("".join(parts))


def _once(shown: Shown, render: Callable[[Shown, str], Markup], level: str) -> Markup:
    """What `render` makes of a verdict: the same for verdicts that differ in nothing but where they stand, as most of
    those do that pass."""
    key = shown.alike, level
    if shown.alike is None:
        return render(shown, level)
    found = _rendered.get(key)
    if found is None:
        if len(_rendered) >= _MOST:
            _rendered.clear()
        found = _rendered[key] = render(shown, level)
    return found


def _siblings(siblings: Iterable[JsonMapping]) -> list[str]:
    """The names of a contrast set's scenarios."""
    return [
        (sibling["variable"] or sibling["scenario_id"]) + ("" if sibling["played"] else " (no transcript)")
        for sibling in siblings
    ]


def headline_name(summary: JsonMapping) -> str:
    """What the averaged output is called: `Overall`, or its own name."""
    return "Overall" if summary.get("headline", HEADLINE) == HEADLINE else str(summary["headline"])


FILTERS: Final[dict[str, Callable[..., object]]] = {
    "gaps": gaps,
    "gate_state": _gate_state,
    "grouped": _grouped,
    "headline_name": headline_name,
    "heat": _heat,
    "history_line": history_line,
    "label_name": label_name,
    "judged_alike": _judged_alike,
    "number": number,
    "parted": _parted,
    "percent": percent,
    "plural": plural,
    "segment": lambda text: quote(str(text), safe=""),
    "siblings": _siblings,
    "text": _text,
    "trigger": lambda trigger: _TRIGGERS.get(trigger, trigger),
    "reason": _reason,
    "unresolved": unresolved_lines,
}
