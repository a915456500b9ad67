"""How every page is rendered: escaped, in one frame, with one look.

A page that is a file carries its style and its script, and allows by their hashes those and nothing else. A page of the
local app is `linked`: it refers to the two by address.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rulewright.web.filters import FILTERS
from rulewright_runtime.terminal import one_line

HOME: Final = Markup('<a href="#content">Rulewright</a>')
PLACES: Final = (
    ("rulewright.web", "templates"),
    ("rulewright.reporting", "templates"),
    ("rulewright.comparing", "templates"),
    ("rulewright.serving", "templates"),
    ("rulewright.signoff", "."),
)
LOCAL: Final = "This page is served by this machine to this machine only."


@dataclass(frozen=True, slots=True)
class PageFrame:
    """What stands around the content of a page: at its top and its end, and whether style and script are `linked`."""

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


def rendered(template: str, frame: PageFrame | None, **context: object) -> Iterator[str]:
    """A page, piece by piece."""
    return environment().get_template(template).generate(frame=frame or PageFrame(), **context)


@cache
def style() -> str:
    """The style sheet: the look that all pages share, and what reports add."""
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
    """Where templates are rendered: everything that is not ours is escaped."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(*place) for place in PLACES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= FILTERS
    return made


def _shown(value: object) -> object:
    """What is written for a value: text loses control characters and marks that turn the writing direction."""
    return one_line(value) if type(value) is str else value
