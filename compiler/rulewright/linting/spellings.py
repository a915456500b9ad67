"""Decides which of two spellings of one name is the misspelt one, and reports it there, once.

An unknown name is reported where it is used, with the nearest known name as a guess. But if the known name is only
in its declaration, and the unknown one is reported in several places, the declaration is misspelt. A key of a schema
never is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from pathlib import PurePath
from typing import Final

from msgspec.structs import replace

from rulewright.causes.related_codes import MISSPELT
from rulewright.diagnostics import Diagnostic, Guess, Note, Span
from rulewright.documents.keys import keys_of
from rulewright.load.nodes import Source
from rulewright.spelling import is_spelt_like
from rulewright_grammar import schema_names

RUN: Final = re.compile(r"[\w/-]+")
QUOTED: Final = re.compile(r"([\"']?)\.?([^\"'\n]+)\1")


def without_misspelt_declarations(found: Sequence[Diagnostic], sources: Mapping[str, Source]) -> list[Diagnostic]:
    """Return the findings; those that are about one misspelt declaration are one finding, at the declaration."""
    groups: dict[tuple[str, str], list[Diagnostic]] = {}  # by the name that is written, and the one that is meant
    for each in found:
        if (pair := _unknown(each, sources)) is not None:
            groups.setdefault(pair, []).append(each)
    if not groups:
        return list(found)
    places = _places({word for pair in groups for word in pair}, sources.values())
    file_names = {PurePath(path).stem for path in sources}
    dropped: set[int] = set()
    moved: dict[int, Diagnostic] = {}
    stated = {each.subject for each in found if each.code == "misspelt-name"}
    for (written, meant), group in groups.items():
        if meant in stated:
            dropped |= set(map(id, group))
        elif (meant, written) in groups:
            if meant not in file_names and (written in file_names or len(places[written]) > len(places[meant])):
                dropped |= set(map(id, group))
        elif (
            len(places[meant]) == 1 < len({_start(each.span, sources) for each in group})
            and meant not in file_names
            and meant not in _schema_keys()
        ):
            source, start = places[meant][0]
            notes = [Note(each.span, f"`{written}` is used here") for each in group]
            message = f"only this place has `{meant}`, but {len(places[written])} have `{written}`"
            span = source.span(start, start + len(meant))
            moved[id(group[0])] = replace(
                group[0],
                code="misspelt-name",
                message=message,
                span=span,
                notes=tuple(notes),
                help=Guess(written),
                fix=None,
            )
            dropped |= {id(each) for each in group[1:]}
    return [moved.get(id(each), each) for each in found if id(each) not in dropped]


@cache
def _schema_keys() -> frozenset[str]:
    """The keys that authors write, of all documents; a plan is written by `compile`."""
    return frozenset(path[-1] for name in schema_names() if name != "plan" for path in keys_of(name))


def _unknown(found: Diagnostic, sources: Mapping[str, Source]) -> tuple[str, str] | None:
    """The unknown name that a finding is about, and the one that it guesses."""
    source = sources.get(found.span.path)
    if source is None or not isinstance(found.help, Guess) or found.code == MISSPELT:
        return None
    written = QUOTED.fullmatch(source.between(found.span))
    meant = found.help.meant
    return (written[2], meant) if written is not None and is_spelt_like(written[2], meant) else None


def _start(span: Span, sources: Mapping[str, Source]) -> tuple[str, int]:
    """Where the name in a span starts, with or without its quotes, so that two findings about one place count once."""
    source = sources[span.path]
    quoted = source.between(span)[:1] in ("'", '"')
    return span.path, source.offset(span.line, span.column) + quoted


def _places(words: Set[str], sources: Iterable[Source]) -> dict[str, list[tuple[Source, int]]]:
    """Where each of the words is on its own in the files, but not in prose or in a path."""
    found: dict[str, list[tuple[Source, int]]] = {word: [] for word in words}
    several = [word for word in words if not RUN.fullmatch(word)]
    alone = {word: re.compile(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])") for word in several}
    for source in sources:
        runs = (each for each in RUN.finditer(source.text) if each[0] in words)
        others = (each for word in several if word in source.text for each in alone[word].finditer(source.text))
        for each in (*runs, *others):
            if not _is_in_prose(source.text, each):
                found[each[0]].append((source, each.start()))
    return found


def _is_in_prose(text: str, found: re.Match[str]) -> bool:
    before = re.search(r"([A-Za-z]+) $", text[max(0, found.start() - 20) : found.start()])
    return before is not None and before[1] not in ("and", "or", "not", "in")
