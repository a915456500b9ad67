"""The pages of the queue, from the templates in `pages.html`, which escape everything."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from rulewright_runtime.workflow.hil import OPEN, QueueItem
from rulewright_runtime.workflow.hil_text import Version, changes, history_line

if TYPE_CHECKING:
    from jinja2 import Environment

_TRIGGERS: Final = {
    "requires_human": "the task asks for a person before it starts",
    "loop_exhaustion": "a loop has no iteration left",
    "overlay_escalation": "the policy gate failed and there is no loop to repeat the work",
    "t2_gate": "sign-off of a T2 gate",
}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rulewright.signoff", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"history_line": history_line, "segment": lambda text: quote(str(text), safe="")}
    environment.filters["trigger"] = lambda trigger: _TRIGGERS.get(trigger, trigger)
    return environment


def _page(name: str, **values: object) -> str:
    return _environment().get_template("pages.html").render(page=name, **values) + "\n"


@cache
def style() -> str:
    """The style sheet of every page."""
    return files("rulewright.signoff").joinpath("style.css").read_text(encoding="utf-8")


def queue_page(items: Sequence[QueueItem]) -> str:
    """The list of items: what waits first, then what was decided."""
    waiting = [item for item in items if item.status in OPEN]
    decided = [item for item in items if item.status not in OPEN][::-1]
    title = "Nothing waits for a decision"
    if waiting:
        title = "One decision is waiting" if len(waiting) == 1 else f"{len(waiting)} decisions are waiting"
    return _page("queue", title=title, waiting=waiting, decided=decided)


def item_page(
    item: QueueItem,
    versions: Sequence[Version],
    token: str,
    reviewer: str,
    *,
    problem: str = "",
    notes: str = "",
    signed: bool = False,
) -> str:
    """One item with its gate report, history and outputs, and the form that decides it; where decisions are `signed`
    the command that does."""
    return _page(
        "item",
        title=f"{item.task_id}: {item.status}",
        item=item,
        is_open=item.status in OPEN,
        changes=list(changes(versions)),
        token=token,
        reviewer=reviewer,
        problem=problem,
        notes=notes,
        signed=signed,
    )


def refusal_page(title: str, message: str) -> str:
    """A page that says why something was refused."""
    return _page("refusal", title=title, message=message)
