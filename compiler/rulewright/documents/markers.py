"""A marker set: the phrases by which a scenario rule recognises a question and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rulewright.documents.base import Document, text_scalars, texts
from rulewright.load import Mapping, Scalar

LISTS: Final = ("identity_question", "ai_disclosure", "false_human")


@dataclass(frozen=True, slots=True, eq=False)
class MarkerSet(Document):
    """Three lists of phrases; `name` is None for the one set that serves every name."""

    name: str | None
    identity_question: tuple[str, ...]
    ai_disclosure: tuple[str, ...]
    false_human: tuple[str, ...]

    @property
    def phrases(self) -> tuple[tuple[Scalar, ...], ...]:
        """The texts of the three lists, with their places."""
        return tuple(text_scalars(self.node, key) for key in LISTS)


def read_markers(node: Mapping, name: str | None) -> MarkerSet:
    """The model of a marker file's mapping."""
    return MarkerSet(
        node, name, texts(node, "identity_question"), texts(node, "ai_disclosure"), texts(node, "false_human")
    )
