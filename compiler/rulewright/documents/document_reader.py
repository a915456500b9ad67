"""Reads files as documents of a kind: loads them, validates their structure, and collects the findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.library import structure_findings
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.load import Loaded, Mapping, load_file


@dataclass(slots=True)
class DocumentReader:
    """The files that were loaded, and the findings about their syntax and structure."""

    loaded: list[Loaded] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    vocabulary: Vocabulary = field(default_factory=invisiblebench)

    def read(self, path: Path, kind: str | None) -> Mapping | None:
        """Load a file and validate it against the schema `kind`; return its root mapping, or None."""
        return self.take(load_file(path), kind)

    def take(self, loaded: Loaded, kind: str | None) -> Mapping | None:
        """Validate a loaded file against the schema `kind`; return its root mapping, or None."""
        self.loaded.append(loaded)
        self.findings += loaded.diagnostics
        if loaded.root is None and not loaded.diagnostics:
            self.findings.append(error(loaded.source.span(0, 0), "the file is empty", code="empty-document"))
        if loaded.root is not None and kind is not None:
            self.findings += structure_findings(kind, loaded.root, self.vocabulary)
        return loaded.root if isinstance(loaded.root, Mapping) else None
