"""The terms of documents and reports, as the page of terms explains them."""

import re
from collections.abc import Iterator
from functools import cache
from posixpath import dirname, join, normpath
from typing import Final

from msgspec import Struct

from rulewright.shipped import shipped_root

_PAGE: Final = "docs/reference/terms.md"
_ROW: Final = re.compile(r"^\| (?P<names>.+?) \| (?P<meaning>.+) \| \[[^]]*\]\((?P<guide>[^)]*)\) \|$", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")


class GlossaryTerm(Struct, frozen=True):
    """One row: the names of the term, what it means, and the page of a guide with its section."""

    names: tuple[str, ...]
    meaning: str
    guide: str


def term_named(name: str) -> GlossaryTerm | None:
    """Return a term by one of its names, in any case and number, and with ` `, `-` or `_` between its words;
    None for an unknown one."""
    plain = _plain(name)
    return _by_name().get(plain) or _by_name().get(plain.removesuffix("s"))


@cache
def terms() -> tuple[GlossaryTerm, ...]:
    """Every term, in the order of its page."""
    return tuple(_read((shipped_root() / _PAGE).read_text(encoding="utf-8")))


@cache
def _by_name() -> dict[str, GlossaryTerm]:
    return {_plain(name): term for term in reversed(terms()) for name in term.names}


def _read(page: str) -> Iterator[GlossaryTerm]:
    for row in _ROW.finditer(page):
        names = tuple(name.strip("` ") for name in row["names"].split(","))
        yield GlossaryTerm(names, _LINK.sub(r"\1", row["meaning"]), normpath(join(dirname(_PAGE), row["guide"])))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
