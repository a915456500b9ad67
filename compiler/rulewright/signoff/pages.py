"""Renders the pages of the queue from the templates in `pages.html`, which escape everything."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rulewright.web.rendering import LOCAL, PageFrame
from rulewright.web.server import local_page
from rulewright_runtime.workflow.hil import OPEN, QueueItem
from rulewright_runtime.workflow.hil_text import Version, changes


def _page(name: str, at: str, **values: object) -> str:
    home = Markup('<a href="/">Rulewright</a>') if at else Markup('<a href="/">Waiting for people</a>')
    return local_page("pages.html", PageFrame(True, home, LOCAL), page=name, at=at, **values)


def queue_page(items: Sequence[QueueItem], at: str = "") -> str:
    """Return the list of items below the path `at`: waiting ones first, then decided ones."""
    waiting = [item for item in items if item.status in OPEN]
    decided = [item for item in items if item.status not in OPEN][::-1]
    title = "Nothing waits for a decision"
    if waiting:
        title = "One decision is waiting" if len(waiting) == 1 else f"{len(waiting)} decisions are waiting"
    return _page("queue", at, title=title, waiting=waiting, decided=decided)


def item_page(item: QueueItem, versions: Sequence[Version], at: str = "", **form: object) -> str:
    """Return one item with its gate report, history, outputs and decision form: the `token`, the suggested `reviewer`,
    the `problem` and `notes` of the last attempt, and the command to use where decisions are `signed`."""
    return _page(
        "item",
        at,
        title=f"{item.task_id}: {item.status}",
        item=item,
        is_open=item.status in OPEN,
        changes=list(changes(versions)),
        **form,
    )
