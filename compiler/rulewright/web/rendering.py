"""Renders every page: escaped, with one frame and one style.

A page in a file contains its style and script, and its policy allows only these, by their hashes. A page of the local
app is `linked`: it refers to both by address.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct

from rulewright_runtime.digests import sha256
from rulewright_runtime.english import plural
from rulewright_runtime.plan.scorecard import HEADLINE
from rulewright_runtime.report.accumulators import gate_line, unresolved_lines
from rulewright_runtime.report.summary import UNPROVEN, coverage, gaps, idle_gates, label_name
from rulewright_runtime.report.text import moment, number, percent, reason_words
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import one_line, visible
from rulewright_runtime.workflow.hil_text import history_line

HOME: Final = Markup('<a href="#content">Rulewright</a>')
TEMPLATE_PACKAGES: Final = ("rulewright.web", "rulewright.reporting", "rulewright.comparing", "rulewright.serving")
LOCAL: Final = "This page is served by this machine to this machine only."


class PageFrame(Struct, frozen=True):
    """The frame of a page: its top and bottom, and whether style and script are `linked`."""

    linked: bool = False
    home: Markup = HOME
    footer: str = "Made by Rulewright. This page needs no network, and works without its script."

    @property
    def style(self) -> Markup:
        return Markup(style())

    @property
    def script(self) -> Markup:
        return Markup(script())

    @property
    def policy(self) -> str:
        """The content security policy: only this style and this script."""
        return (
            f"default-src 'none'; style-src {_hash(style())}; script-src {_hash(script())}; base-uri 'none';"
            " form-action 'none'"
        )


def rendered(template: str, frame: PageFrame | None, **context: object) -> Iterator[str]:
    return environment().get_template(template).generate(frame=frame or PageFrame(), **context)


@cache
def style() -> str:
    """The style sheet: the shared part and that of reports."""
    return _file("rulewright.web", "style.css") + _file("rulewright.reporting", "report.css")


@cache
def script() -> str:
    """The script that adds search, sorting and filters."""
    return _file("rulewright.reporting", "report.js")


def _file(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def environment() -> Environment:
    """Return the template environment, which escapes all values."""
    templates = Environment(
        loader=ChoiceLoader(list(map(PackageLoader, TEMPLATE_PACKAGES))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )
    templates.filters |= FILTERS
    templates.tests["numeric"] = lambda value: str(value).replace(".", "", 1).rstrip("%").isdigit() or value == "–"
    return templates


def _shown(value: object) -> object:
    """Remove control characters and bidirectional marks from text; return other values unchanged."""
    return one_line(value) if type(value) is str else value


_TICKED: Final = re.compile("`([^`]+)`")
_TRIGGERS: Final = {
    "requires_human": "the task asks for a person before it starts",
    "loop_exhaustion": "a loop has no iteration left",
    "overlay_escalation": "the policy gate failed, and the task has no loop to repeat the work",
    "t2_gate": "sign-off of a T2 gate",
}


def _text(value: object) -> Markup:
    """Escape a text and keep its line breaks."""
    return escape(visible(str(value)))


def _breakable(name: str) -> Markup:
    """A name that may break after its underscores."""
    return _text(name).replace("_", Markup("_<wbr>"))


def _group_lines(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Merge lines into pairs of label and text; an empty label continues the previous pair."""
    groups: list[tuple[str, list[str]]] = []
    for label, line in pairs:
        if label or not groups:
            groups.append((label, []))
        groups[-1][1].append(line)
    return [(label, "\n".join(lines)) for label, lines in groups]


def _heat(share: float, least: float = 0.0) -> str:
    """The CSS class of a cell: the higher the share of failures, the redder; none up to `least`."""
    return "" if share <= least else f"h{min(4, 1 + int(share * 4))}"


def _gate_state(gate: Mapping[str, object], name: str) -> str:
    """The possible outcomes of an open gate, and the answers that decide it."""
    return gate_line(name, gate).removeprefix(f"gate {name}: ")


def _moment(written: str) -> Markup:
    """A time as people read it, marked as one."""
    return Markup('<time datetime="{}">{}</time>').format(one_line(written), one_line(moment(written)))


def _coded(text: str) -> Markup:
    """A line of text in which words between backticks are code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(one_line(text)))))


def _coded_lines(text: str) -> Markup:
    """Lines of text in which words between backticks are code."""
    return Markup("\n").join(map(_coded, text.split("\n")))


def _reason(item: JsonMapping) -> str:
    """The reason of a verdict, and why it is unproven, if it is."""
    code, cause = str(item["rationale_code"] or "").replace("_", " "), str(item["cause"] or "")
    is_unproven = cause and item.get("verdict", "FAIL") == "FAIL"
    if (words := reason_words(item["rationale_code"])) != str(item["rationale_code"] or ""):
        numbers = f": {item['compared']}" if item.get("compared") else ""
        return f"unproven: {words}" if is_unproven else words + numbers
    cause_text = f"unproven: {UNPROVEN.get(cause, cause)}" if is_unproven else UNPROVEN.get(cause, cause)
    return f"{code} ({cause_text})" if code and cause_text else code or cause_text


@lru_cache(maxsize=4096)
def _finding(shown: Hashable, level: str) -> Markup:
    """What is said of a verdict, rendered once for equal verdicts, as most passing ones of a check are."""
    markup: Markup = environment().get_template("parts.html").module.finding(shown, level)  # type: ignore[attr-defined]
    return markup


def _siblings(siblings: Iterable[JsonMapping]) -> list[str]:
    """The names of a contrast set's scenarios."""
    return [
        (sibling["variable"] or sibling["scenario_id"]) + ("" if sibling["played"] else " (no transcript)")
        for sibling in siblings
    ]


def headline_name(summary: JsonMapping) -> str:
    """Return the name of the headline output as a heading: `Overall` for the default one."""
    name = "overall" if summary.get("headline", HEADLINE) == HEADLINE else str(summary["headline"])
    return _as_heading(name)


def label_heading(summary: JsonMapping) -> str:
    """Return the name of the label as a heading: `Status` for the default one."""
    return _as_heading(label_name(summary))


def _as_heading(name: str) -> str:
    return name[:1].upper() + name[1:]


FILTERS: Final[dict[str, Callable[..., object]]] = {
    "coverage": coverage,
    "finding": _finding,
    "gaps": gaps,
    "gate_state": _gate_state,
    "grouped": _group_lines,
    "headline_name": headline_name,
    "heat": _heat,
    "history_line": history_line,
    "idle_gates": lambda summary: idle_gates(summary).values(),
    "label_heading": label_heading,
    "moment": _moment,
    "number": number,
    "parted": _breakable,
    "percent": percent,
    "plural": plural,
    "segment": lambda text: quote(str(text), safe=""),
    "siblings": _siblings,
    "text": _text,
    "trigger": lambda trigger: _TRIGGERS.get(trigger, trigger),
    "coded": _coded,
    "coded_lines": _coded_lines,
    "reason": lambda item: _coded(_reason(item)),
    "unresolved": unresolved_lines,
}
