"""Renders every page: escaped, with one frame and one style.

A page in a file contains its style and script, and its policy allows only these, by their hashes. A page of the local
app is `linked`: it refers to both by address.
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
TEMPLATE_PACKAGES: Final = (
    ("rulewright.web", "templates"),
    ("rulewright.reporting", "templates"),
    ("rulewright.comparing", "templates"),
    ("rulewright.serving", "templates"),
    ("rulewright.signoff", "."),
)
LOCAL: Final = "This page is served by this machine to this machine only."


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The frame of a page: its top and bottom, and whether style and script are `linked`."""

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
        """The content security policy: only this style and this script."""
        return (
            f"default-src 'none'; style-src {_hash(style())}; script-src {_hash(script())}; base-uri 'none';"
            " form-action 'none'"
        )


def rendered(template: str, frame: PageFrame | None, **context: object) -> Iterator[str]:
    """Render a page, piece by piece."""
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
        loader=ChoiceLoader([PackageLoader(*package) for package in TEMPLATE_PACKAGES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    templates.filters |= FILTERS
    templates.tests["numeric"] = lambda value: str(value).replace(".", "", 1).rstrip("%").isdigit()
    return templates


def _shown(value: object) -> object:
    """Remove control characters and bidirectional marks from text; return other values unchanged."""
    return one_line(value) if type(value) is str else value
