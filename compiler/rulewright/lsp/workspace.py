"""What lies open in the editor, and what is known to be wrong with it and with the projects it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rulewright.diagnostics import Diagnostic
from rulewright.documents.kinds import kind_of
from rulewright.load import Loaded, Source, load_text, unsaved
from rulewright.lsp.analysis import Analysis, analyse_around, analyse_document, analyse_project
from rulewright.lsp.document_context import DocumentContext
from rulewright.lsp.positions import path_of, uri_of
from rulewright.lsp.shifted_findings import carried


@dataclass(slots=True)
class TextDocument:
    """An open document. `loaded` is its text as it stands; the rest is what the last look at its project left."""

    uri: str
    path: str
    version: int | None
    loaded: Loaded
    project: Path | None = None  # where the project lies that it belongs to
    kind: str | None = None  # its kind, as its keys told when they last did
    analysed: Source | None = None
    alone: frozenset[Diagnostic] = frozenset()
    whole: tuple[Diagnostic, ...] = ()

    @property
    def owner(self) -> Path:
        """Where its findings come from: its project, or itself where it belongs to none."""
        return self.project or Path(self.path)


@dataclass(slots=True)
class Workspace:
    """The open documents by path, the findings by path, and the sources that these were found in.

    Every method that looks gives the paths whose findings have changed.
    """

    documents: dict[str, TextDocument] = field(default_factory=dict)
    findings: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    analyses: dict[Path, Analysis] = field(default_factory=dict)
    published: dict[Path, set[str]] = field(
        default_factory=dict
    )  # the paths with findings, by the project or single file

    def put(self, uri: str, text: str, version: int | None) -> TextDocument:
        """A document as the editor has it now; one that is not a file goes by its URI."""
        path = path_of(uri) or uri
        loaded = load_text(text, path)
        document = self.documents.setdefault(path, TextDocument(uri, path, version, loaded))
        document.uri, document.version, document.loaded = uri, version, loaded
        document.kind = kind_of(loaded.root) or document.kind
        return document

    def document(self, uri: str) -> TextDocument | None:
        """The open document of that URI."""
        return self.documents.get(path_of(uri) or uri)

    def uri(self, path: str) -> str:
        """The URI that the editor uses for a path."""
        document = self.documents.get(path)
        return uri_of(path) if document is None else document.uri

    def around(self, document: TextDocument) -> DocumentContext:
        """What the document belongs to, as of the last look."""
        analysis = None if document.project is None else self.analyses.get(document.project)
        return DocumentContext(Path(document.path), None if analysis is None else analysis.project, document.kind)

    def is_up_to_date(self, document: TextDocument) -> bool:
        """Whether the findings of a document are those of its present text."""
        source = self.sources.get(document.path)
        return source is not None and source.text == document.loaded.source.text

    def held(self) -> dict[str, str]:
        """The texts that stand in place of files."""
        return {path: document.loaded.source.text for path, document in self.documents.items()}

    def analyse_alone(self, document: TextDocument) -> set[str]:
        """The document looked at alone, right after a change; what only the project tells is carried along."""
        found = self._alone(document)
        if document.analysed is not None:
            silenced = {each.code for each in document.alone - set(document.whole)}
            carrying = [each for each in document.whole if each not in document.alone]
            found = [each for each in found if each.code not in silenced]
            found += carried(carrying, document.analysed, document.loaded.source)
        self.published.setdefault(document.owner, set()).add(document.path)
        return self._keep({document.path: found}, {})

    def analyse(self, document: TextDocument, within: Path | None, *, search: bool) -> set[str]:
        """The document looked at with its project; `search` looks for the project anew, as after opening and saving."""
        with unsaved(self.held()):
            if search:
                analysis = analyse_around(Path(document.path), within)
            else:
                analysis = None if document.project is None else analyse_project(document.project)
        before, document.project = document.owner, None if analysis is None else analysis.path
        changed = set() if self.of(before) else self._forget(before)
        if analysis is None:
            return changed | self._tell(document.owner, {document.path: self._alone(document)}, {})
        self.analyses[analysis.path] = analysis
        return changed | self._tell(analysis.path, self._by_path(analysis), analysis.report.sources)

    def close(self, document: TextDocument) -> set[str]:
        """The document is closed; findings stay as long as another document of its project is open."""
        del self.documents[document.path]
        return set() if self.of(document.owner) else self._forget(document.owner)

    def of(self, owner: Path) -> list[TextDocument]:
        """The open documents of a project, or the document that stands alone."""
        return [document for document in self.documents.values() if document.owner == owner]

    def _by_path(self, analysis: Analysis) -> dict[str, list[Diagnostic]]:
        """The findings of a project by path, those of its open documents among them though there be none."""
        found: dict[str, list[Diagnostic]] = {}
        for each in analysis.report.diagnostics:
            found.setdefault(each.span.path, []).append(each)
        for path, document in self.documents.items():
            if path in analysis.report.sources and document.project in (None, analysis.path):
                self._remember(document, analysis, found.setdefault(path, []))
            elif document.project == analysis.path:  # a new one, which its project does not see before it is saved
                found[path] = self._alone(document)
            else:  # two projects read it, and it was opened for the other one
                found.pop(path, None)
        return found

    def _remember(self, document: TextDocument, analysis: Analysis, found: Iterable[Diagnostic]) -> None:
        if document.owner != analysis.path:
            self.published.pop(document.owner, None)
        document.project, document.analysed = analysis.path, document.loaded.source
        document.whole, document.alone = tuple(found), frozenset(self._alone(document))

    def _alone(self, document: TextDocument) -> list[Diagnostic]:
        if document.kind is None and document.project is None:
            return []  # a file of somebody else
        with unsaved(self.held()):
            report = analyse_document(Path(document.path), document.loaded.source.text)
        return [each for each in report.diagnostics if each.span.path == document.path]

    def _tell(self, owner: Path, found: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        """What a project or lone file has to say, in place of what it said before."""
        silent: dict[str, list[Diagnostic]] = {path: [] for path in self.published.get(owner, set()) - set(found)}
        self.published[owner] = {path for path, each in found.items() if each}
        return self._keep(found | silent, sources)

    def _forget(self, owner: Path) -> set[str]:
        self.analyses.pop(owner, None)
        return self._keep({path: [] for path in self.published.pop(owner, set())}, {})

    def _keep(self, found: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        changed = set()
        for path, each in found.items():
            now = tuple(sorted(each, key=lambda one: one.sort_key))
            before = self.sources.get(path)
            source = self.documents[path].loaded.source if path in self.documents else sources.get(path)
            if now != self.findings.get(path) or (source and (before is None or before.text != source.text)):
                changed.add(path)
            self.findings[path] = now
            if source is not None:
                self.sources[path] = source
        return changed
