"""The lint rules. A rule is one file: a function whose docstring is its manual page.

A rule looks at the one parameter that it takes: a document model (`Check`, `Scenario`, ...), one of several
(`Check | Profile`), or the whole `Project`. It yields `error(...)`, `warning(...)` or `advice(...)` of
`rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.

The modules `of_*` list the rules of each kind of document, so that a lone document imports no more than it needs:
`document_kind` imports the one that a kind needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from rulewright.diagnostics import Diagnostic

if TYPE_CHECKING:
    from rulewright.documents.base import Document
    from rulewright.documents.vocabulary import Vocabulary
    from rulewright.load import Mapping

Model = TypeVar("Model")
Rule: TypeAlias = Callable[[Model], Iterable[Diagnostic]]
MODULES: Final = {
    "check": "of_checks",
    "profile": "of_checks",
    "profiles": "of_checks",
    "lexicon": "of_lexicons",
    "lexicons": "of_lexicons",
    "markers": "of_lexicons",
    "scenario": "of_scenarios",
    "scorecard": "of_scorecards",
    "case_scorecard": "of_scorecards",
    "state_machine": "of_state_machines",
}


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """A kind of document: `read` gives the models in a file, from its root, its name (the file's stem) and the
    project's vocabulary; `rules` look at one model."""

    read: Callable[[Mapping, str, Vocabulary | None], Sequence[Document]]
    rules: tuple[Rule[Any], ...]


def document_kind(name: str) -> DocumentKind | None:
    """The kind of document that has rules, imported when it is first met; None for one that has none."""
    if name not in MODULES:
        return None
    kind: DocumentKind = import_module(f"{__name__}.{MODULES[name]}").KINDS[name]
    return kind


def code_of(rule: Rule[Model]) -> str:
    """The rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def findings(rules: Iterable[Rule[Model]], models: Iterable[Model]) -> Iterator[Diagnostic]:
    """What the rules find in the models, each finding under its rule's code."""
    models = tuple(models)
    for rule in rules:
        for model in models:
            for found in rule(model):
                yield replace(found, code=code_of(rule))


def rule_page(code: str) -> str | None:
    """The manual page of the rule that has this code; None when there is no such rule."""
    name = code.replace("-", "_")
    if code.startswith("of-") or not (Path(__file__).parent / f"{name}.py").is_file():
        return None
    page: str | None = getattr(import_module(f"{__name__}.{name}"), name).__doc__
    return page
