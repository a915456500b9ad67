"""The open documents of an editor: each one's project, kind and workflow, and the findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic
from rulewright.documents.kinds import kind_of
from rulewright.documents.layout import (
    PROJECT_FILE_NAMES,
    USUAL_WORKFLOWS,
    looks_like_a_project,
    places,
    project_file_in,
    resolve,
)
from rulewright.documents.project_file import read_project_file
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.errors import DocumentError, RulewrightError
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.projects import lint_project
from rulewright.load import Loaded, Mapping, Node, Source, load_file, load_text, unsaved
from rulewright.lsp.positions import path_of, shift_findings, uri_of
from rulewright.project import Project, load_project
from rulewright.workflow import DEFAULT_AGENTS, DEFAULT_CONTRACTS, Workflow, load_workflow

# The kind of the documents in each folder of a project, and of the single file in its place.
KINDS: Final[dict[str, tuple[str, str]]] = {
    "checks": ("check", "check"),
    "lexicons": ("lexicon", "lexicons"),
    "markers": ("markers", "markers"),
    "scenarios": ("scenario", "scenario"),
    "profiles": ("profile", "profiles"),
    "blindspots": ("blindspots", "blindspots"),
    "scoring": ("scoring", "scoring"),
    "pricing": ("pricing", "pricing"),
    "scorecards": ("scorecard", "scorecard"),
    "state_machines": ("state_machine", "state_machine"),
    "corpora": ("corpus", "corpus"),
}


class DocumentContext(Struct, frozen=True):
    """A document's context. `project` may be None; `previous_kind` counts while neither path nor keys show the kind."""

    path: Path
    project: Project | None
    previous_kind: str | None = None

    @property
    def vocabulary(self) -> Vocabulary:
        return invisiblebench() if self.project is None else self.project.vocabulary

    @property
    def overlays(self) -> Node | None:
        """The project's overlays for every task."""
        file = None if self.project is None else self.project.file
        return None if file is None else file.get("workflow", "overlays")

    def kind(self, root: Node | None) -> str | None:
        """Return the document's kind, a schema's name: by its path in the project, else by its keys."""
        if self.path.name in PROJECT_FILE_NAMES:
            return "project"
        written = kind_of(root)
        if written == "case_scorecard":
            return written
        return self._kind_of_place() or written or self.previous_kind

    def _kind_of_place(self) -> str | None:
        project = self.project
        if project is None:
            return None
        for name, place in places(project.root, project.file, project.path).items():
            in_folder, alone = KINDS.get(name, (None, None))
            if place.path == self.path:
                return alone
            if place.path == self.path.parent or (name == "scenarios" and place.path in self.path.parents):
                return in_folder
        return "agent" if self.path.parent == self._agents(project) else None

    def _agents(self, project: Project) -> Path:
        written = None if project.file is None else project.file.workflow.get("agents")
        if written is None or project.path is None:
            return project.root / DEFAULT_AGENTS
        return resolve(written, project.path, project.root)

    def workflow(self, kind: str | None) -> Workflow | None:
        """Return the document's own workflow, else the one that its project runs; None without one."""
        folder = self.path.parent if self.project is None else self.project.folder
        try:
            return load_workflow(self.path) if kind == "workflow" else load_workflow(folder=folder)
        except RulewrightError:
            return None


def enclosing_projects(path: Path, within: Path | None) -> Iterator[Path]:
    """The projects that a file may belong to, the nearest first: in the folders above it, and one level below these as
    long as they are `within` the folder that the editor has open."""
    for folder in path.parents:
        searched = within is not None and (folder == within or within in folder.parents)
        for place in _projects_in(folder, searched=searched):
            if _may_hold(place, path):
                yield place


def _projects_in(folder: Path, *, searched: bool) -> Iterator[Path]:
    if (file := project_file_in(folder)) is not None:
        yield file
    elif looks_like_a_project(folder):
        yield folder
    elif searched:
        inner = (project_file_in(each) for each in _folders_in(folder))
        yield from (file for file in inner if file is not None)


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir())
    except OSError:  # an unreadable folder
        return []


def _may_hold(project_path: Path, path: Path) -> bool:
    """Whether a file's path is one where a project may have documents; only loading the project decides."""
    file = project_path if project_path.is_file() else None
    node = None if file is None else load_file(file).root
    if file is not None and (path == file or not isinstance(node, Mapping)):
        return path == file
    document = read_project_file(node, os.environ) if isinstance(node, Mapping) else None
    folder = project_path if file is None else project_path.parent
    root = folder if document is None or document.root is None else Path(os.path.normpath(folder / document.root))
    paths = [each.path for each in places(root, document, file).values()]
    paths += [root / name for name in (*USUAL_WORKFLOWS, DEFAULT_AGENTS, DEFAULT_CONTRACTS)]
    if document is not None and file is not None:
        markers = document.markers.values() if isinstance(document.markers, dict) else ()
        paths += [resolve(written, file, root) for written in (*document.workflow.values(), *markers)]
    return any(path == each or each in path.parents for each in paths)


@dataclass(slots=True)
class TextDocument:
    """An open document. `loaded` is its present text; the other fields come from the last analysis of its project."""

    uri: str
    path: str
    version: int | None
    loaded: Loaded
    project: Path | None = None  # the path of its project
    kind: str | None = None  # the last kind that its keys showed
    analysed: Source | None = None
    single_findings: frozenset[Diagnostic] | None = None  # of the analysed text alone; None before they are needed
    project_findings: tuple[Diagnostic, ...] = ()

    @property
    def owner(self) -> Path:
        """The path that its findings are stored under: its project's, else its own."""
        return self.project or Path(self.path)


@dataclass(slots=True)
class Workspace:
    """The open documents by path, the findings by path, and the analysed sources.

    Every method that analyses returns the paths whose findings have changed.
    """

    documents: dict[str, TextDocument] = field(default_factory=dict)
    findings: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    analyses: dict[Path, Analysis] = field(default_factory=dict)
    published: dict[Path, set[str]] = field(
        default_factory=dict
    )  # the paths with findings, by the project or single file

    def put(self, uri: str, text: str, version: int | None) -> TextDocument:
        """Store a document's text as in the editor; one that is not a file is stored under its URI."""
        path = path_of(uri) or uri
        loaded = load_text(text, path)
        document = self.documents.setdefault(path, TextDocument(uri, path, version, loaded))
        document.uri, document.version, document.loaded = uri, version, loaded
        document.kind = kind_of(loaded.root) or document.kind
        return document

    def document(self, uri: str) -> TextDocument | None:
        """Return the open document of a URI, or None."""
        return self.documents.get(path_of(uri) or uri)

    def uri(self, path: str) -> str:
        """Return the editor's URI of a path."""
        document = self.documents.get(path)
        return uri_of(path) if document is None else document.uri

    def context_of(self, document: TextDocument) -> DocumentContext:
        """Return the document's context as of the last analysis."""
        analysis = None if document.project is None else self.analyses.get(document.project)
        return DocumentContext(Path(document.path), None if analysis is None else analysis.project, document.kind)

    def is_up_to_date(self, document: TextDocument) -> bool:
        """Whether a document's findings belong to its present text."""
        source = self.sources.get(document.path)
        return source is not None and source.text == document.loaded.source.text

    def unsaved_texts(self) -> dict[str, str]:
        """Return the unsaved texts by path."""
        return {path: document.loaded.source.text for path, document in self.documents.items()}

    def analyse_single(self, document: TextDocument) -> set[str]:
        """Analyse the document alone, right after a change; findings of its project are shifted with the text."""
        findings = self._single_findings(document)
        if document.analysed is not None:
            if document.single_findings is None:
                document.single_findings = frozenset(self._single_findings(document, document.analysed))
            silenced = {each.code for each in document.single_findings - set(document.project_findings)}
            shifting = [each for each in document.project_findings if each not in document.single_findings]
            findings = [each for each in findings if each.code not in silenced]
            findings += shift_findings(shifting, document.analysed, document.loaded.source)
        self.published.setdefault(document.owner, set()).add(document.path)
        return self._store({document.path: findings}, {})

    def analyse(self, document: TextDocument, within: Path | None, *, search: bool) -> set[str]:
        """Analyse the document with its project; `search` looks up the project again, as after opening and saving."""
        with unsaved(self.unsaved_texts()):
            if search:
                analysis = analyse_enclosing_project(Path(document.path), within)
            else:
                analysis = None if document.project is None else analyse_project(document.project)
        previous_owner, document.project = document.owner, None if analysis is None else analysis.path
        changed = set() if self.of(previous_owner) else self._forget(previous_owner)
        if analysis is None:
            return changed | self._replace(document.owner, {document.path: self._single_findings(document)}, {})
        self.analyses[analysis.path] = analysis
        return changed | self._replace(analysis.path, self._by_path(analysis), analysis.report.sources)

    def close(self, document: TextDocument) -> set[str]:
        """Close the document; its findings stay while another document of its project is open."""
        del self.documents[document.path]
        return set() if self.of(document.owner) else self._forget(document.owner)

    def of(self, owner: Path) -> list[TextDocument]:
        """Return the open documents of a project, or the single document without one."""
        return [document for document in self.documents.values() if document.owner == owner]

    def _by_path(self, analysis: Analysis) -> dict[str, list[Diagnostic]]:
        """The findings of a project by path, with an entry for each of its open documents."""
        by_path: dict[str, list[Diagnostic]] = {}
        for each in analysis.report.diagnostics:
            by_path.setdefault(each.span.path, []).append(each)
        for path, document in self.documents.items():
            if path in analysis.report.sources and document.project in (None, analysis.path):
                self._remember(document, analysis, by_path.setdefault(path, []))
            elif document.project == analysis.path:  # a new file, which is not part of the project until it is saved
                by_path[path] = self._single_findings(document)
            else:  # shared with another project, for which it was opened
                by_path.pop(path, None)
        return by_path

    def _remember(self, document: TextDocument, analysis: Analysis, findings: Iterable[Diagnostic]) -> None:
        if document.owner != analysis.path:
            self.published.pop(document.owner, None)
        document.project, document.analysed = analysis.path, document.loaded.source
        document.project_findings, document.single_findings = tuple(findings), None

    def _single_findings(self, document: TextDocument, source: Source | None = None) -> list[Diagnostic]:
        """The findings of the present text alone, or of an earlier one."""
        text = (source or document.loaded.source).text
        if document.kind is None and document.project is None:
            return []  # not a file of ours
        with unsaved({**self.unsaved_texts(), document.path: text}):
            report = analyse_document(Path(document.path), text)
        return [each for each in report.diagnostics if each.span.path == document.path]

    def _replace(self, owner: Path, by_path: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        """Replace the findings of a project or single file."""
        cleared: dict[str, list[Diagnostic]] = {path: [] for path in self.published.get(owner, set()) - set(by_path)}
        self.published[owner] = {path for path, each in by_path.items() if each}
        return self._store(by_path | cleared, sources)

    def _forget(self, owner: Path) -> set[str]:
        self.analyses.pop(owner, None)
        return self._store({path: [] for path in self.published.pop(owner, set())}, {})

    def _store(self, by_path: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        changed = set()
        for path, each in by_path.items():
            findings = tuple(sorted(each, key=lambda one: one.sort_key))
            old_source = self.sources.get(path)
            source = self.documents[path].loaded.source if path in self.documents else sources.get(path)
            if findings != self.findings.get(path) or (
                source and (old_source is None or old_source.text != source.text)
            ):
                changed.add(path)
            self.findings[path] = findings
            if source is not None:
                self.sources[path] = source
        return changed


IGNORED_CODES = frozenset({"unknown-document", "empty-document"})  # an editor also sends files of other tools


class Analysis(Struct, frozen=True):
    """The report on a project at `path`; `project` is None where its file is broken."""

    path: Path
    project: Project | None
    report: Report


def analyse_enclosing_project(path: Path, within: Path | None) -> Analysis | None:
    """Return the analysis of the project that a file belongs to, or None. A file that does not exist yet belongs to the
    project whose folders its path is in."""
    for project_path in enclosing_projects(path, within) if path.is_absolute() else ():
        analysis = analyse_project(project_path)
        if str(path) in analysis.report.sources or not path.exists():
            return analysis
    return None


def analyse_project(path: Path) -> Analysis:
    try:
        project = load_project(path)
    except DocumentError:  # the project file itself is broken
        return Analysis(path, None, lint([path]))
    return Analysis(path, project, lint_project(project))


def analyse_document(path: Path, text: str) -> Report:
    """Return the findings of a document without its project; a workflow is read with its agents and contracts."""
    is_single = path.name in PROJECT_FILE_NAMES or not path.is_file()
    report = lint_text(text, str(path)) if is_single else lint([path])
    findings = tuple(each for each in report.diagnostics if each.code not in IGNORED_CODES)
    return Report(findings, report.allowed, report.sources)
