"""The pages about a run: its overview, its transcripts, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from rulewright.reporting.overview import Overview, headline_name
from rulewright.web.rendering import Look, environment, rendered
from rulewright_runtime.report.summary import UNPROVEN, gaps, label_name
from rulewright_runtime.report.unresolved import gate_line, unresolved_lines

if TYPE_CHECKING:
    from rulewright.reporting.chats import Chat

MOST: Final = 200  # rows of a list in an overview
Link = Callable[..., str]


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
    return _rendered(
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
    return _rendered("chats.html", look, title=title, chats=chats, links=list(links))


def list_page(report: Mapping[str, Any], link: Link, home: str, look: Look | None = None) -> Iterator[str]:
    """A page that lists every transcript."""
    context = {"rows": report["transcripts"], "summary": report["summary"], "run": report["run"]}
    return _rendered("list.html", look, **context, link=link, home=home)


def _rendered(template: str, look: Look | None, **context: Any) -> Iterator[str]:
    _add_filters()
    return rendered(template, look, **context)


@cache
def _add_filters() -> None:
    filters = environment().filters
    filters |= {"gaps": gaps, "unresolved": unresolved_lines, "gate_state": _gate_state, "grouped": _grouped}
    filters |= {"label_name": label_name, "headline_name": headline_name, "siblings": _siblings, "heat": _heat}
    filters["unproven"] = lambda cause: UNPROVEN.get(cause, cause)


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
