"""A reference corpus: programmes, what is known of them, from which sources and for which jurisdictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rulewright.documents.base import Document, descend, flag, scalar, text, texts
from rulewright.documents.lexicon import PatternEntry, read_patterns
from rulewright.load import Mapping, Node, Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Fact(Document):
    """One thing known of a programme; `figure` is an expression for the figures that a sentence about it gives."""

    id: str
    about: tuple[PatternEntry, ...]
    agrees: tuple[PatternEntry, ...]
    contradicts: tuple[PatternEntry, ...]
    figure: Scalar | None
    figures: tuple[str, ...]
    closed: bool
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Programme(Document):
    """A programme; without jurisdictions it exists everywhere."""

    id: str
    names: tuple[PatternEntry, ...]
    jurisdictions: tuple[str, ...]
    verify_at: tuple[PatternEntry, ...]
    facts: tuple[Fact, ...]
    source: str


@dataclass(frozen=True, slots=True, eq=False)
class Corpus(Document):
    """A corpus file; `sources` maps a source's key to its title, `places` a jurisdiction to its names."""

    name: str
    sources: dict[str, str]
    claims: tuple[PatternEntry, ...]
    named: Scalar | None
    closed: bool
    promises: tuple[PatternEntry, ...]
    hedges: tuple[PatternEntry, ...]
    verify_at: tuple[PatternEntry, ...]
    refers_back: tuple[PatternEntry, ...]
    places: dict[str, tuple[PatternEntry, ...]]
    programmes: tuple[Programme, ...]


def read_corpus(node: Mapping, name: str) -> Corpus:
    """The model of a corpus's mapping; `name` is the file's stem."""
    return Corpus(
        node=node,
        name=name,
        sources={key: text(value, "title") for key, value in _below(node, "sources")},
        claims=read_patterns(node, "claims"),
        named=scalar(node, "named"),
        closed=flag(node, "closed") or False,
        promises=read_patterns(node, "promises"),
        hedges=read_patterns(node, "hedges"),
        verify_at=read_patterns(node, "verify_at"),
        refers_back=read_patterns(node, "refers_back"),
        places={key: read_patterns(node, "places", key) for key, _ in _below(node, "places")},
        programmes=tuple(
            _programme(value, key) for key, value in _below(node, "programmes") if isinstance(value, Mapping)
        ),
    )


def _below(node: Node | None, key: str) -> Iterator[tuple[str, Node]]:
    found = descend(node, key)
    if isinstance(found, Mapping):
        yield from ((entry.name, entry.value) for entry in found.entries)


def _programme(node: Mapping, name: str) -> Programme:
    return Programme(
        node=node,
        id=name,
        names=read_patterns(node, "names"),
        jurisdictions=texts(node, "jurisdictions"),
        verify_at=read_patterns(node, "verify_at"),
        facts=tuple(_fact(value, key) for key, value in _below(node, "facts") if isinstance(value, Mapping)),
        source=text(node, "source"),
    )


def _fact(node: Mapping, name: str) -> Fact:
    return Fact(
        node=node,
        id=name,
        about=read_patterns(node, "about"),
        agrees=read_patterns(node, "agrees"),
        contradicts=read_patterns(node, "contradicts"),
        figure=scalar(node, "figure"),
        figures=texts(node, "figures"),
        closed=flag(node, "closed") or False,
        source=text(node, "source"),
    )
