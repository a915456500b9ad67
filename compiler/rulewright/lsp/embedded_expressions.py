"""Finds the scalars of a document that hold expressions, with their environments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rulewright.check.document import models_of
from rulewright.documents.check import CheckDocument
from rulewright.documents.workflow import read_workflow
from rulewright.expression.environment import Environment
from rulewright.load import Mapping, Node, Scalar
from rulewright.lower.environments import prompt_environment
from rulewright.lower.expression_checks import environment_of
from rulewright.lower.expressions_of import scoped_expressions
from rulewright.lsp.cursor import Cursor
from rulewright.lsp.document_context import DocumentContext

_PROMPTS: Final = {("prompt",), ("phases", "confirm", "prompt"), ("phases", "sweep", "prompt")}
_VALUE: Final = re.compile(r"\{\{-?(.*?)(?:\||-?\}\}|\Z)", re.DOTALL)  # a filter is not a part of the expression


@dataclass(frozen=True, slots=True)
class EmbeddedExpression:
    """An expression inside a scalar, from the scalar's character `start` on."""

    text: str
    start: int
    environment: Environment


def expression_at(
    kind: str, root: Node | None, cursor: Cursor, index: int, context: DocumentContext
) -> EmbeddedExpression | None:
    """Return the expression that the character `index` of a value belongs to, or None.

    `context` gives the vocabulary and the project's overlays for workflow tasks.
    """
    text = str(cursor.scalar.value)
    if kind == "check" and cursor.path in _PROMPTS:
        for value in _VALUE.finditer(text):
            if value.start(1) <= index <= value.end(1):
                return EmbeddedExpression(value[1], value.start(1), prompt_environment(context.vocabulary))
    elif isinstance(root, Mapping):
        for document in _documents(kind, root, context):
            for scalar, environment in _scalars_with_environment(document, context):
                if scalar.start == cursor.scalar.start:
                    return EmbeddedExpression(text, 0, environment)
    return None


def _scalars_with_environment(document: Any, context: DocumentContext) -> Iterator[tuple[Scalar, Environment]]:
    if isinstance(document, CheckDocument) and context.project is not None:
        environment = environment_of(document, [check.id for check in context.project.checks])
        yield from ((scalar, environment) for scalar in document.verdict_conditions)
    yield from scoped_expressions(document)


def _documents(kind: str, root: Mapping, context: DocumentContext) -> Sequence[object]:
    if kind == "workflow":
        return read_workflow(root, Path(root.source.path).stem, context.overlays).tasks
    return models_of(kind, root, context.vocabulary)
