"""What lies open in the editor, and what is known to be wrong with it and with the projects it belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rulewright.documents.kinds import kind_of
from rulewright.load import Loaded, Source, load_text, unsaved
from rulewright.lsp.around import Around
from rulewright.lsp.findings import carried
from rulewright.lsp.looks import Look, look_alone, look_at, look_round
from rulewright.lsp.positions import path_of, uri_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.diagnostics import Diagnostic


@dataclass(slots=True)
class Sheet:
    """An open document. `loaded` is its text as it stands; the rest is what the last look at its project left."""

    uri: str
    path: str
    version: int | None
    loaded: Loaded
    project: Path | None = None  # where the project lies that it belongs to
    kind: str | None = None  # its kind, as its keys told when they last did
    looked: Source | None = None
    alone: frozenset[Diagnostic] = frozenset()
    whole: tuple[Diagnostic, ...] = ()

    @property
    def owner(self) -> Path:
        """Where its findings come from: its project, or itself where it belongs to none."""
        return self.project or Path(self.path)


@dataclass(slots=True)
class Desk:
    """The open documents by path, the findings by path, and the sources that these were found in.

    Every method that looks gives the paths whose findings have changed.
    """

    sheets: dict[str, Sheet] = field(default_factory=dict)
    findings: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    looks: dict[Path, Look] = field(default_factory=dict)
    told: dict[Path, set[str]] = field(default_factory=dict)  # the paths that a project or lone file has findings in

    def put(self, uri: str, text: str, version: int | None) -> Sheet:
        """A document as the editor has it now; one that is no file goes by its URI."""
        path = path_of(uri) or uri
        loaded = load_text(text, path)
        sheet = self.sheets.setdefault(path, Sheet(uri, path, version, loaded))
        sheet.uri, sheet.version, sheet.loaded = uri, version, loaded
        sheet.kind = kind_of(loaded.root) or sheet.kind
        return sheet

    def sheet(self, uri: str) -> Sheet | None:
        """The open document of that URI."""
        return self.sheets.get(path_of(uri) or uri)

    def uri(self, path: str) -> str:
        """The URI that the editor uses for a path."""
        sheet = self.sheets.get(path)
        return uri_of(path) if sheet is None else sheet.uri

    def around(self, sheet: Sheet) -> Around:
        """What the document belongs to, as of the last look."""
        look = None if sheet.project is None else self.looks.get(sheet.project)
        return Around(Path(sheet.path), None if look is None else look.project, sheet.kind)

    def is_up_to_date(self, sheet: Sheet) -> bool:
        """Whether the findings of a document are those of its present text."""
        source = self.sources.get(sheet.path)
        return source is not None and source.text == sheet.loaded.source.text

    def held(self) -> dict[str, str]:
        """The texts that stand in place of files."""
        return {path: sheet.loaded.source.text for path, sheet in self.sheets.items()}

    def glance(self, sheet: Sheet) -> set[str]:
        """The document looked at alone, right after a change; what only the project tells is carried along."""
        found = self._alone(sheet)
        if sheet.looked is not None:
            silenced = {each.code for each in sheet.alone - set(sheet.whole)}
            carrying = [each for each in sheet.whole if each not in sheet.alone]
            found = [each for each in found if each.code not in silenced]
            found += carried(carrying, sheet.looked, sheet.loaded.source)
        self.told.setdefault(sheet.owner, set()).add(sheet.path)
        return self._keep({sheet.path: found}, {})

    def look(self, sheet: Sheet, within: Path | None, *, search: bool) -> set[str]:
        """The document looked at with its project; `search` looks for the project anew, as after opening and saving."""
        with unsaved(self.held()):
            if search:
                look = look_round(Path(sheet.path), within)
            else:
                look = None if sheet.project is None else look_at(sheet.project)
        before, sheet.project = sheet.owner, None if look is None else look.path
        changed = set() if self.of(before) else self._forget(before)
        if look is None:
            return changed | self._tell(sheet.owner, {sheet.path: self._alone(sheet)}, {})
        self.looks[look.path] = look
        return changed | self._tell(look.path, self._by_path(look), look.report.sources)

    def close(self, sheet: Sheet) -> set[str]:
        """The document is closed; findings stay as long as another document of its project is open."""
        del self.sheets[sheet.path]
        return set() if self.of(sheet.owner) else self._forget(sheet.owner)

    def of(self, owner: Path) -> list[Sheet]:
        """The open documents of a project, or the document that stands alone."""
        return [sheet for sheet in self.sheets.values() if sheet.owner == owner]

    def _by_path(self, look: Look) -> dict[str, list[Diagnostic]]:
        """The findings of a project by path, those of its open documents among them though there be none."""
        found: dict[str, list[Diagnostic]] = {}
        for each in look.report.diagnostics:
            found.setdefault(each.span.path, []).append(each)
        for path, sheet in self.sheets.items():
            if path in look.report.sources and sheet.project in (None, look.path):
                self._remember(sheet, look, found.setdefault(path, []))
            elif sheet.project == look.path:  # a new one, which its project does not see before it is saved
                found[path] = self._alone(sheet)
            else:  # two projects read it, and it was opened for the other one
                found.pop(path, None)
        return found

    def _remember(self, sheet: Sheet, look: Look, found: Iterable[Diagnostic]) -> None:
        if sheet.owner != look.path:
            self.told.pop(sheet.owner, None)
        sheet.project, sheet.looked = look.path, sheet.loaded.source
        sheet.whole, sheet.alone = tuple(found), frozenset(self._alone(sheet))

    def _alone(self, sheet: Sheet) -> list[Diagnostic]:
        if sheet.kind is None and sheet.project is None:
            return []  # a file of somebody else
        with unsaved(self.held()):
            report = look_alone(Path(sheet.path), sheet.loaded.source.text)
        return [each for each in report.diagnostics if each.span.path == sheet.path]

    def _tell(self, owner: Path, found: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        """What a project or lone file has to say, in place of what it said before."""
        silent: dict[str, list[Diagnostic]] = {path: [] for path in self.told.get(owner, set()) - set(found)}
        self.told[owner] = {path for path, each in found.items() if each}
        return self._keep(found | silent, sources)

    def _forget(self, owner: Path) -> set[str]:
        self.looks.pop(owner, None)
        return self._keep({path: [] for path in self.told.pop(owner, set())}, {})

    def _keep(self, found: dict[str, list[Diagnostic]], sources: dict[str, Source]) -> set[str]:
        changed = set()
        for path, each in found.items():
            now = tuple(sorted(each, key=lambda one: one.sort_key))
            before = self.sources.get(path)
            source = self.sheets[path].loaded.source if path in self.sheets else sources.get(path)
            if now != self.findings.get(path) or (source and (before is None or before.text != source.text)):
                changed.add(path)
            self.findings[path] = now
            if source is not None:
                self.sources[path] = source
        return changed
