"""A reference corpus: programmes, what is known of them, from which sources and for which jurisdictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from rulewright.documents.base import Document, text
from rulewright.documents.lexicon import PatternEntry, read_patterns
from rulewright.documents.typed_reader import At, entries_of, mappings_in, read
from rulewright.load import Mapping, Node, Scalar

Patterns: TypeAlias = Annotated[tuple[PatternEntry, ...], At(by=read_patterns)]


@dataclass(frozen=True, slots=True, eq=False)
class Fact(Document):
    """One thing known of a programme; `figure` is an expression for the figures that a sentence about it gives."""

    id: str
    about: Patterns
    agrees: Patterns
    contradicts: Patterns
    figure: Scalar | None
    figures: tuple[str, ...]
    closed: bool
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Programme(Document):
    """A programme; without jurisdictions it exists everywhere."""

    id: str
    names: Patterns
    jurisdictions: tuple[str, ...]
    verify_at: Patterns
    facts: tuple[Fact, ...]
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Corpus(Document):
    """A corpus file; `sources` maps a source's key to its title, `places` a jurisdiction to its names."""

    name: str
    sources: Annotated[dict[str, str], At(by=_titles)]
    claims: Patterns
    named: Scalar | None
    closed: bool
    promises: Patterns
    hedges: Patterns
    verify_at: Patterns
    refers_back: Patterns
    places: Annotated[dict[str, tuple[PatternEntry, ...]], At(by=_patterns_by_name)]
    programmes: tuple[Programme, ...]


def read_corpus(node: Mapping, name: str) -> Corpus:
    """The model of a corpus's mapping; `name` is the file's stem."""
    programmes = mappings_in(node.get("programmes"))
    found = tuple(read(Programme, each, id=key, facts=_facts(each)) for key, each in programmes)
    return read(Corpus, node, name=name, programmes=found)


def _facts(node: Mapping) -> tuple[Fact, ...]:
    return tuple(read(Fact, each, id=key) for key, each in mappings_in(node.get("facts")))


def _titles(node: Node | None) -> dict[str, str]:
    return {name: text(each, "title") for name, each in entries_of(node)}


def _patterns_by_name(node: Node | None) -> dict[str, tuple[PatternEntry, ...]]:
    return {name: read_patterns(each) for name, each in entries_of(node)}
