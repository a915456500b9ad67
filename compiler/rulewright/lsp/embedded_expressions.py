"""Which scalars of a document hold expressions, and what an expression may name there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright.check.document import models_of
from rulewright.documents.base import items
from rulewright.documents.state_machine import read_state_machine
from rulewright.documents.workflow import TaskDocument, read_workflow
from rulewright.expression.environment import Environment
from rulewright.load import Mapping, Node, Scalar
from rulewright.lower.environments import prompt_environment
from rulewright.lower.expressions_of import scoped_expressions
from rulewright.lower.workflow_environments import features_of, gate_environment

if TYPE_CHECKING:
    from rulewright.lsp.cursor import Cursor
    from rulewright.lsp.document_context import DocumentContext

_PROMPTS: Final = {("prompt",), ("phases", "confirm", "prompt"), ("phases", "sweep", "prompt")}
_VALUE: Final = re.compile(r"\{\{-?(.*?)(?:\||-?\}\}|\Z)", re.DOTALL)  # a filter is not a part of the expression


@dataclass(frozen=True, slots=True)
class EmbeddedExpression:
    """An expression inside a scalar: it begins at the scalar's character `start`."""

    text: str
    start: int
    environment: Environment


def expression_at(
    kind: str, root: Node | None, cursor: Cursor, index: int, around: DocumentContext
) -> EmbeddedExpression | None:
    """The expression that the character `index` of a value belongs to; None where it is in none.

    The project `around` gives the overlays of every task of a workflow, and the vocabulary.
    """
    text = str(cursor.scalar.value)
    if kind == "check" and cursor.path in _PROMPTS:
        for value in _VALUE.finditer(text):
            if value.start(1) <= index <= value.end(1):
                return EmbeddedExpression(value[1], value.start(1), prompt_environment(around.vocabulary))
    elif isinstance(root, Mapping):
        for document in _documents(kind, root, around):
            for written, environment in _written(document):
                if written.start == cursor.scalar.start:
                    return EmbeddedExpression(text, 0, environment)
    return None


def _written(document: Any) -> Iterator[tuple[Scalar, Environment]]:
    yield from scoped_expressions(document)
    if isinstance(document, TaskDocument):
        conditions = items(document.overlays["policy_gate"].find("conditions"))
        environment = gate_environment(features_of(document))
        yield from ((each, environment) for each in conditions if isinstance(each, Scalar))


def _documents(kind: str, root: Mapping, around: DocumentContext) -> Sequence[object]:
    name = Path(root.source.path).stem
    if kind == "workflow":
        return read_workflow(root, name, around.overlays).tasks
    if kind == "state_machine":
        return [read_state_machine(root, name)]
    return models_of(kind, root, around.vocabulary)
