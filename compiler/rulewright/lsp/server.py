"""The server itself: the editor's messages come in, findings and answers go out.

Everything happens on one thread. A change is looked at alone at once and with its project when its author pauses; what
goes wrong with one request is answered as its error, told on standard error, and ends nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from rulewright.load import unsaved
from rulewright.lsp import code_actions as actions
from rulewright.lsp import completion, hover
from rulewright.lsp.cursor import cursor_at
from rulewright.lsp.positions import UTF16, offset_at, path_of, range_of
from rulewright.lsp.references import target
from rulewright.lsp.shifted_findings import NAME, shown
from rulewright.lsp.workspace import TextDocument, Workspace
from rulewright_runtime import __version__
from rulewright_runtime.terminal import safe_stream

GLANCE: Final = 0.05  # seconds without a further change before a document is looked at alone
LOOK: Final = 0.35  # and before its project is
WATCHED: Final = "**/*.{yaml,yml,json}"
TRIGGERS: Final = (".", " ", "[", ",", "'", '"')

log = logging.getLogger(NAME)


class Server(LanguageServer):
    """One editor's server."""

    def __init__(self) -> None:
        super().__init__(NAME, __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.editor_workspace = Workspace()
        self.timers: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self.said_goodbye = False

    @property
    def encoding(self) -> str:
        """The units in which columns are counted."""
        chosen = self.workspace.position_encoding or UTF16
        return chosen.value if isinstance(chosen, types.PositionEncodingKind) else chosen

    def within(self, document: TextDocument) -> Path | None:
        """The folder of the editor that a document lies in."""
        folders = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        folders += [self.workspace.root_path] if self.workspace.root_path else []
        around = [Path(folder) for folder in folders if folder and Path(folder) in Path(document.path).parents]
        return max(around, key=lambda folder: len(folder.parts), default=None)

    def later(self, what: str, document: TextDocument, seconds: float, do: Callable[[TextDocument], set[str]]) -> None:
        """Look at a document after a while, unless the same is asked for again before."""

        def now() -> None:
            del self.timers[what, document.path]
            if self.editor_workspace.documents.get(document.path) is not document:
                return  # it was closed
            try:
                self.publish(do(document))
            except Exception:  # the next change is looked at again
                log.exception("can't look at %s", document.path)

        self.never_mind(what, document)
        self.timers[what, document.path] = asyncio.get_running_loop().call_later(seconds, now)

    def never_mind(self, what: str, document: TextDocument) -> None:
        """Don't look at a document after all, for now."""
        if (waiting := self.timers.pop((what, document.path), None)) is not None:
            waiting.cancel()

    def analyse(self, document: TextDocument, seconds: float, *, search: bool) -> None:
        """Look at a document with its project after a while."""

        def do(document: TextDocument) -> set[str]:
            found = self.editor_workspace.analyse(document, self.within(document), search=search)
            for other in self.editor_workspace.of(document.owner):
                self.never_mind("look", other)  # it was looked at, too
            return found

        self.later("look", document, seconds, do)

    def publish(self, paths: set[str]) -> None:
        """Tell the editor what is wrong in these files now."""
        for path in sorted(paths):
            document = self.editor_workspace.documents.get(path)
            found = [
                shown(each, self.editor_workspace.sources, self.editor_workspace.uri, self.encoding)
                for each in self.editor_workspace.findings[path]
            ]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    self.editor_workspace.uri(path), found, document.version if document else None
                )
            )


def initialized(server: Server, _: types.InitializedParams) -> None:
    """Ask to be told of files that change without the editor."""
    workspace = server.client_capabilities.workspace
    watched = workspace and workspace.did_change_watched_files
    if watched and watched.dynamic_registration:
        watcher = types.FileSystemWatcher(WATCHED)
        options = types.DidChangeWatchedFilesRegistrationOptions([watcher])
        registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([registration]))


def opened(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    """A document is open from now on."""
    document = params.text_document
    server.analyse(server.editor_workspace.put(document.uri, document.text, document.version), GLANCE, search=True)


def changed(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    """A document has another text."""
    now = server.workspace.get_text_document(params.text_document.uri)
    document = server.editor_workspace.put(now.uri, now.source, params.text_document.version)
    server.later("glance", document, GLANCE, server.editor_workspace.analyse_alone)
    server.analyse(document, LOOK, search=False)


def saved(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    """A document was written to its file; it may belong to another project now."""
    if (document := server.editor_workspace.document(params.text_document.uri)) is not None:
        server.analyse(document, GLANCE, search=True)


def closed(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    """A document is open no more: its file counts again."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return
    server.publish(server.editor_workspace.close(document))
    for other in server.editor_workspace.of(document.owner)[:1]:
        server.analyse(other, GLANCE, search=False)


def files_changed(server: Server, _: types.DidChangeWatchedFilesParams) -> None:
    """Files have changed without the editor: every project is looked at again."""
    for owner in {document.owner for document in server.editor_workspace.documents.values()}:
        server.analyse(server.editor_workspace.of(owner)[0], GLANCE, search=True)


def code_actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What can be done about findings."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None or not server.editor_workspace.is_up_to_date(document):
        return []
    return actions.actions(server.editor_workspace, document, params.range, params.context.only, server.encoding)


def hovered(server: Server, params: types.HoverParams) -> types.Hover | None:
    """What stands under the cursor."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return None
    with unsaved(server.editor_workspace.held()):
        return hover.hover(document.loaded, params.position, server.editor_workspace.around(document), server.encoding)


def completed(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    """What may be written at the cursor."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return []
    with unsaved(server.editor_workspace.held()):
        around = server.editor_workspace.around(document)
        return completion.completions(document.loaded.source, params.position, around, server.encoding)


def defined(server: Server, params: types.DefinitionParams) -> types.Location | None:
    """Where what is named under the cursor stands."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return None
    around = server.editor_workspace.around(document)
    cursor = cursor_at(document.loaded.root, offset_at(document.loaded.source, params.position, server.encoding))
    kind = around.kind(document.loaded.root)
    with unsaved(server.editor_workspace.held()):
        found = target(kind, cursor, around) if kind and cursor else None
    if found is None or found.place is None:
        return None
    source = found.place.source
    return types.Location(server.editor_workspace.uri(source.path), range_of(found.place.span, source, server.encoding))


def goodbye(server: Server, _: None) -> None:
    """The editor is about to end."""
    server.said_goodbye = True


FEATURES: Final[dict[str, tuple[Callable[..., object], object]]] = {
    types.INITIALIZED: (initialized, None),
    types.SHUTDOWN: (goodbye, None),
    types.TEXT_DOCUMENT_DID_OPEN: (opened, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (changed, None),
    types.TEXT_DOCUMENT_DID_SAVE: (saved, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (closed, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (files_changed, None),
    types.TEXT_DOCUMENT_CODE_ACTION: (code_actions, types.CodeActionOptions(actions.KINDS)),
    types.TEXT_DOCUMENT_COMPLETION: (completed, types.CompletionOptions(TRIGGERS)),
    types.TEXT_DOCUMENT_DEFINITION: (defined, None),
    types.TEXT_DOCUMENT_HOVER: (hovered, None),
}


def make() -> Server:
    """A server that knows what to do with every message."""
    server = Server()
    for name, (handle, options) in FEATURES.items():
        server.feature(name, options)(handle)
    return server


def serve() -> bool:
    """Talk over standard input and output until the editor ends; True when it has said goodbye before."""
    server, output = make(), safe_stream(sys.stdout).raw
    with contextlib.redirect_stdout(sys.stderr):  # nothing but messages may come out
        server.start_io(sys.stdin.buffer, output)
    return server.said_goodbye
