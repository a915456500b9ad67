"""Pages about runs: escaped, without anything from a network, and whole without their script.

A page that is a file carries its style and its script, and allows by their hashes those and nothing else. Pages of the
local app refer to the two by address.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from rulewright.reporting.overview import Overview, headline_name
from rulewright_runtime.report.summary import UNPROVEN, gaps, label_name
from rulewright_runtime.report.text import number, percent, plural
from rulewright_runtime.report.unresolved import gate_line, unresolved_lines
from rulewright_runtime.terminal import one_line, visible
from rulewright_runtime.web.style import STYLE

if TYPE_CHECKING:
    from rulewright.reporting.chats import Chat

MOST: Final = 200  # rows of a list in an overview
HOME: Final = Markup('<a href="#content">Rulewright</a>')
Link = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Look:
    """How a page gets its style and script: `linked`, or by carrying them; and what stands at its top and its end."""

    linked: bool = False
    home: Markup = HOME
    footer: str = "Made by Rulewright. This page needs no network, and works without its script."

    @property
    def style(self) -> Markup:
        """The style sheet."""
        return Markup(style())

    @property
    def script(self) -> Markup:
        """The script."""
        return Markup(script())

    @property
    def policy(self) -> str:
        """What the page may do: use this style and this script, nothing else."""
        return (
            f"default-src 'none'; style-src {_hash(style())}; script-src {_hash(script())}; base-uri 'none';"
            " form-action 'none'"
        )


def run_page(
    report: Mapping[str, Any],
    about: Overview,
    *,
    link: Link,
    chats: Iterable[Chat] | None = None,
    list_link: str = "",
    look: Look | None = None,
) -> Iterator[str]:
    """The page of a run, piece by piece. `link` gives the address of a transcript by its number, and of a verdict on
    it; `chats` stand at the end; with `list_link` only what fails or waits is listed."""
    rows = report["transcripts"]
    if list_link:
        rows = [row for row in rows if row["waiting"] or row["outcome"] not in ("passed", "nothing_applied")][:MOST]
    checks = {check["check_id"]: place for place, check in enumerate(report["checks"])}
    undecided = [item for item in report["summary"]["adjudication"]["items"] if item["verdict"] is None]
    return _pieces(
        "run.html",
        look,
        report=report,
        about=about,
        link=link,
        chats=chats,
        list_link=list_link,
        listed=rows,
        most=MOST,
        undecided=undecided,
        anchors=checks,
    )


def chats_page(
    title: str, chats: Iterable[Chat], links: Iterable[tuple[str, str]], look: Look | None = None
) -> Iterator[str]:
    """A page of some transcripts, with links to others as pairs of address and word."""
    return _pieces("chats.html", look, title=title, chats=chats, links=list(links))


def list_page(report: Mapping[str, Any], link: Link, home: str, look: Look | None = None) -> Iterator[str]:
    """A page that lists every transcript."""
    context = {"rows": report["transcripts"], "summary": report["summary"], "run": report["run"]}
    return _pieces("list.html", look, **context, link=link, home=home)


def pieces(template: str, look: Look | None, **context: Any) -> Iterator[str]:
    """Any of the templates, rendered piece by piece."""
    return _pieces(template, look, **context)


def _pieces(template: str, look: Look | None, **context: Any) -> Iterator[str]:
    return environment().get_template(template).generate(look=look or Look(), **context)


@cache
def style() -> str:
    """The style sheet of reports: the look that all pages share, and what reports add."""
    return STYLE + _file("report.css")


@cache
def script() -> str:
    """The script that adds search, sorting and filters."""
    return _file("report.js")


def _file(name: str) -> str:
    return files("rulewright.reporting").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def environment() -> Environment:
    """Where templates are rendered: everything that is not ours is escaped."""
    made = Environment(
        loader=PackageLoader("rulewright.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= {"number": number, "percent": percent, "plural": plural, "text": _text, "heat": _heat}
    made.filters |= {"gaps": gaps, "unresolved": unresolved_lines, "gate_state": _gate_state, "grouped": _grouped}
    made.filters |= {"label_name": label_name, "headline_name": headline_name, "siblings": _siblings}
    made.filters["unproven"] = lambda cause: UNPROVEN.get(cause, cause)
    return made


def _shown(value: object) -> object:
    """What is written for a value: text loses control characters and marks that turn the writing direction."""
    return one_line(value) if type(value) is str else value


def _text(value: object) -> Markup:
    """The same for a text of several lines, which keeps them."""
    return escape(visible(str(value)))


def _heat(share: float) -> str:
    """The class of a cell: the redder, the more failed."""
    return "" if share <= 0 else f"h{min(4, 1 + int(share * 4))}"


def _gate_state(gate: Mapping[str, Any], name: str) -> str:
    """What a gate may still become, and by which answers."""
    return gate_line(name, gate).removeprefix(f"gate {name}: ")


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of a label and its lines, of which an empty label continues the one before."""
    found: list[tuple[str, list[str]]] = []
    for label, line in pairs:
        if label or not found:
            found.append((label, []))
        found[-1][1].append(line)
    return [(label, "\n".join(lines)) for label, lines in found]


def _siblings(siblings: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of a contrast set's scenarios."""
    return [
        (sibling["variable"] or sibling["scenario_id"]) + ("" if sibling["played"] else " (no transcript)")
        for sibling in siblings
    ]
