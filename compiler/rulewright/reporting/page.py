"""The pages about a run: its overview, its transcripts, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from rulewright.reporting.chat_page import Chat
from rulewright.reporting.overview import Overview
from rulewright.web.rendering import PageFrame, rendered

MOST: Final = 200  # rows of a list in an overview
Link = Callable[..., str]


def run_page(
    report: Mapping[str, Any],
    about: Overview,
    *,
    link: Link,
    chats: Iterable[Chat] | None = None,
    list_link: str = "",
    frame: PageFrame | None = None,
) -> Iterator[str]:
    """Yield the page of a run. `link` returns the address of a transcript by its number, and of a verdict on it;
    `chats` are at the end; with `list_link` only failed and pending transcripts are listed."""
    rows = sorted(report["transcripts"], key=attention)
    if list_link:
        rows = [row for row in rows if row["waiting"] or row["outcome"] not in ("passed", "nothing_applied")][:MOST]
    checks = {check["check_id"]: place for place, check in enumerate(report["checks"])}
    undecided = [item for item in report["summary"]["adjudication"]["items"] if item["verdict"] is None]
    return rendered(
        "run.html",
        frame,
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


def attention(row: Mapping[str, Any]) -> tuple[bool, bool]:
    """Undecided ones come first, then failed ones."""
    return not (row["waiting"] or row["outcome"] == "undecided"), row["outcome"] != "failed"


def chats_page(
    title: str, chats: Iterable[Chat], links: Iterable[tuple[str, str]], frame: PageFrame | None = None
) -> Iterator[str]:
    """Return a page of some transcripts, with links to others as pairs of address and label."""
    return rendered("chats.html", frame, title=title, chats=chats, links=list(links))


def list_page(report: Mapping[str, object], link: Link, home: str, frame: PageFrame | None = None) -> Iterator[str]:
    """Return a page that lists every transcript."""
    context = {"rows": report["transcripts"], "summary": report["summary"], "run": report["run"]}
    return rendered("list.html", frame, **context, link=link, home=home)
