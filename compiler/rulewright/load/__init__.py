"""Loads YAML and JSON files into nodes with exact spans; every mistake becomes a diagnostic."""

from rulewright.load.file_reader import Loaded, load_file, load_text, unsaved
from rulewright.load.nodes import Entry, Mapping, Node, Scalar, Sequence, Source, is_text, plain, scalars_below, walk
from rulewright.load.scalars import place

__all__ = [
    "Entry",
    "Loaded",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "Source",
    "is_text",
    "load_file",
    "load_text",
    "place",
    "plain",
    "scalars_below",
    "unsaved",
    "walk",
]
