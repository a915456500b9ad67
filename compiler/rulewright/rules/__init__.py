"""The lint rules. A rule is one file in the folder of its category: a function whose docstring is its manual page.

A rule looks at the one parameter that it takes: a document model (`Check`, `Scenario`, ...), one of several
(`Check | Profile`), or the whole `Project`. It yields `error(...)`, `warning(...)` or `advice(...)` of
`rulewright.diagnostics`; the engine writes the rule's name, with dashes, into `code`.

The modules `of_*` list the rules for each kind of document. `document_kind` imports only the one that a kind needs, so
that linting a single document starts fast.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from rulewright.categories import category_of
from rulewright.diagnostics import Diagnostic, Findings
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


class DocumentKind(Struct, frozen=True):
    """A kind of document. `read` returns the models in a file, given its root, its name (the file's stem) and the
    project's vocabulary; each of the `rules` looks at one model."""

    read: Callable[[Mapping, str, Vocabulary | None], Sequence[Document]]
    rules: tuple[Rule[Any], ...]


def document_kind(name: str) -> DocumentKind | None:
    """Return a kind of document, imported on first use, or None if no rule looks at it."""
    if name not in MODULES:
        return None
    kind: DocumentKind = import_module(f"{__name__}.{MODULES[name]}").KINDS[name]
    return kind


def code_of(rule: Rule[Model]) -> str:
    """Return the rule's code: its name with dashes."""
    return rule.__name__.replace("_", "-")


def findings(rules: Iterable[Rule[Model]], models: Iterable[Model]) -> Findings:
    """Yield the findings of the rules in the models, each with its rule's code."""
    rules = tuple(rules)
    for model in models:  # a document at a time: what rules read of it is kept for a few documents only
        for rule in rules:
            for found in rule(model):
                yield replace(found, code=code_of(rule))


def rule_page(code: str) -> str | None:
    """Return the manual page of the rule with this code, or None."""
    name, category = code.replace("-", "_"), category_of(code)
    if not (Path(__file__).parent / category / f"{name}.py").is_file():
        return None
    page: str | None = getattr(import_module(f"{__name__}.{category}.{name}"), name).__doc__
    return page
