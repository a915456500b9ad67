"""A reference corpus: programmes with their facts, sources and jurisdictions."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from rulewright.documents.base import Document, text
from rulewright.documents.lexicon import PatternEntry, read_patterns
from rulewright.documents.typed_reader import At, Key, entries_of
from rulewright.load import Node, Scalar

Patterns: TypeAlias = Annotated[tuple[PatternEntry, ...], At(by=read_patterns)]


class FactDocument(Document, frozen=True, eq=False):
    """One fact about a programme; `figure` is a regular expression that finds the figures in a sentence about it."""

    id: Key
    about: Patterns
    agrees: Patterns
    contradicts: Patterns
    figure: Scalar | None
    figures: tuple[str, ...]
    closed: bool
    source: str


class ProgrammeDocument(Document, frozen=True, eq=False):
    """A programme; without jurisdictions it exists everywhere."""

    id: Key
    names: Patterns
    jurisdictions: tuple[str, ...]
    verify_at: Patterns
    facts: tuple[FactDocument, ...]
    source: str


class CorpusDocument(Document, frozen=True, eq=False):
    """A corpus file; `sources` maps a source's key to its title, `places` a jurisdiction to its names."""

    name: Key
    sources: Annotated[dict[str, str], At(by=_titles)]
    claims: Patterns
    named: Scalar | None
    closed: bool
    promises: Patterns
    hedges: Patterns
    verify_at: Patterns
    refers_back: Patterns
    places: Annotated[dict[str, tuple[PatternEntry, ...]], At(by=_patterns_by_name)]
    programmes: tuple[ProgrammeDocument, ...]


def _titles(node: Node | None) -> dict[str, str]:
    return {name: text(each, "title") for name, each in entries_of(node)}


def _patterns_by_name(node: Node | None) -> dict[str, tuple[PatternEntry, ...]]:
    return {name: read_patterns(each) for name, each in entries_of(node)}
