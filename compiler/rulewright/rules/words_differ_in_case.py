"""Rule: declared words that differ only in case."""

from __future__ import annotations

from collections.abc import Iterator

from rulewright.diagnostics import Diagnostic, warning
from rulewright.load import Mapping, Scalar, Sequence
from rulewright.project import Project


def words_differ_in_case(project: Project) -> Iterator[Diagnostic]:
    """A list of a project's `vocabulary` contains two words that differ only in case.

    Why it matters: both words are valid everywhere, so checks fall into two groups that readers take for one.
    Instead: keep one of them, and use it everywhere.
    """
    vocabulary = None if project.file is None else project.file.get("vocabulary")
    for entry in vocabulary.entries if isinstance(vocabulary, Mapping) else ():
        first: dict[str, Scalar] = {}
        for word in entry.value.items if isinstance(entry.value, Sequence) else ():
            if isinstance(word, Scalar) and isinstance(word.value, str):
                earlier = first.setdefault(word.value.casefold(), word)
                if earlier.value != word.value:
                    message = f"`{word.value}` differs from `{earlier.value}` only in case"
                    yield warning(word, message, notes=[(earlier, "the other one")])
