"""The language server: receives the editor's messages, sends findings and answers.

Everything runs on one thread. A changed document is analysed alone at once, and with its project when its author
pauses. A failing request is answered with an error, logged on standard error, and does not end the server.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from rulewright.errors import UsageError
from rulewright.load import unsaved
from rulewright.lsp import code_actions as actions
from rulewright.lsp import completions, hover
from rulewright.lsp.cursor import cursor_at
from rulewright.lsp.positions import NAME, UTF16, offset_at, path_of, range_of, to_protocol
from rulewright.lsp.references import target
from rulewright.lsp.workspace import TextDocument, Workspace
from rulewright_runtime import __version__
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import safe_stream

QUICK_DELAY: Final = 0.05  # seconds without a further change before a document is analysed alone
PROJECT_DELAY: Final = 0.35  # seconds without a further change before its project is analysed
WATCHED_FILES: Final = "**/*.{yaml,yml,json}"
TRIGGERS: Final = (".", " ", "[", ",", "'", '"')

log = logging.getLogger(NAME)


class Protocol(LanguageServerProtocol):
    """The editor's messages; an invalid request is answered with an error, as JSON-RPC requires."""

    def structure_message(self, data: JsonObject) -> object:
        """Return the message, or answer a request whose parameters are wrong and raise its error."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self.refuse(error, data["id"])
            raise

    def handle_message(self, message: object) -> None:
        """Handle a message; refuse JSON that is not a message."""
        if hasattr(message, "jsonrpc"):
            super().handle_message(message)  # type: ignore[arg-type]
        else:
            self.refuse(JsonRpcInvalidRequest("expected an object with `jsonrpc`"))

    def refuse(self, error: JsonRpcException, request: object = None) -> None:
        """Answer a request, or null if its id is unknown, with an error."""
        self._send_data(
            {"jsonrpc": self.VERSION, "id": request, "error": {"code": error.code, "message": error.message}}
        )


class Server(LanguageServer):
    """The server of one editor."""

    protocol: Protocol

    def __init__(self) -> None:
        full = types.TextDocumentSyncKind.Full
        super().__init__(NAME, __version__, text_document_sync_kind=full, protocol_cls=Protocol)
        self.editor_workspace = Workspace()
        self.timers: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self.shutdown_requested = False

    def report_server_error(self, error: Exception, source: object) -> None:
        """Answer text that is not JSON with an error; a wrong message was answered or, without id, only logged."""
        if source is not JsonRpcException:
            super().report_server_error(error, source)  # type: ignore[arg-type]
        elif not isinstance(error, JsonRpcException):
            self.protocol.refuse(JsonRpcParseError(f"expected JSON: {error}"))

    @property
    def encoding(self) -> str:
        """The position encoding: the units of columns."""
        chosen = self.workspace.position_encoding or UTF16
        return chosen.value if isinstance(chosen, types.PositionEncodingKind) else chosen

    def within(self, document: TextDocument) -> Path | None:
        """Return the innermost folder of the editor that contains a document, or None."""
        folders = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        folders += [self.workspace.root_path] if self.workspace.root_path else []
        folders_above = [Path(folder) for folder in folders if folder and Path(folder) in Path(document.path).parents]
        return max(folders_above, key=lambda folder: len(folder.parts), default=None)

    def schedule(
        self, kind: str, document: TextDocument, seconds: float, analyse: Callable[[TextDocument], set[str]]
    ) -> None:
        """Analyse a document after `seconds`; a new request of the same kind restarts the timer."""

        def run() -> None:
            del self.timers[kind, document.path]
            if self.editor_workspace.documents.get(document.path) is not document:
                return  # it was closed
            try:
                self.publish(analyse(document))
            except Exception:  # the next change is analysed again
                log.exception("can't analyse %s", document.path)

        self.cancel(kind, document)
        self.timers[kind, document.path] = asyncio.get_running_loop().call_later(seconds, run)

    def cancel(self, kind: str, document: TextDocument) -> None:
        """Cancel a scheduled analysis of a document."""
        if (timer := self.timers.pop((kind, document.path), None)) is not None:
            timer.cancel()

    def analyse(self, document: TextDocument, seconds: float, *, search: bool) -> None:
        """Analyse a document with its project after `seconds`."""

        def run(document: TextDocument) -> set[str]:
            changed_paths = self.editor_workspace.analyse(document, self.within(document), search=search)
            for other in self.editor_workspace.of(document.owner):
                self.cancel("project", other)  # the same analysis covered it
            return changed_paths

        self.schedule("project", document, seconds, run)

    def publish(self, paths: set[str]) -> None:
        """Send the current findings of these files to the editor."""
        for path in sorted(paths):
            document = self.editor_workspace.documents.get(path)
            findings = [
                to_protocol(each, self.editor_workspace.sources, self.editor_workspace.uri, self.encoding)
                for each in self.editor_workspace.findings[path]
            ]
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    self.editor_workspace.uri(path), findings, document.version if document else None
                )
            )


def initialized(server: Server, _: types.InitializedParams) -> None:
    """Register for changes of files outside the editor."""
    workspace = server.client_capabilities.workspace
    watched = workspace and workspace.did_change_watched_files
    if watched and watched.dynamic_registration:
        watcher = types.FileSystemWatcher(WATCHED_FILES)
        options = types.DidChangeWatchedFilesRegistrationOptions([watcher])
        registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        server.client_register_capability(types.RegistrationParams([registration]))


def did_open(server: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    server.analyse(server.editor_workspace.put(document.uri, document.text, document.version), QUICK_DELAY, search=True)


def did_change(server: Server, params: types.DidChangeTextDocumentParams) -> None:
    current = server.workspace.get_text_document(params.text_document.uri)
    document = server.editor_workspace.put(current.uri, current.source, params.text_document.version)
    server.schedule("quick", document, QUICK_DELAY, server.editor_workspace.analyse_single)
    server.analyse(document, PROJECT_DELAY, search=False)


def did_save(server: Server, params: types.DidSaveTextDocumentParams) -> None:
    """Analyse a saved document; it may belong to another project now."""
    if (document := server.editor_workspace.document(params.text_document.uri)) is not None:
        server.analyse(document, QUICK_DELAY, search=True)


def did_close(server: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Close a document; its file counts again."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return
    server.publish(server.editor_workspace.close(document))
    for other in server.editor_workspace.of(document.owner)[:1]:
        server.analyse(other, QUICK_DELAY, search=False)


def did_change_files(server: Server, _: types.DidChangeWatchedFilesParams) -> None:
    """Analyse every project again after files changed outside the editor."""
    for owner in {document.owner for document in server.editor_workspace.documents.values()}:
        server.analyse(server.editor_workspace.of(owner)[0], QUICK_DELAY, search=True)


def code_actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the code actions for findings."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None or not server.editor_workspace.is_up_to_date(document):
        return []
    return actions.actions(server.editor_workspace, document, params.range, params.context.only, server.encoding)


def hover_at(server: Server, params: types.HoverParams) -> types.Hover | None:
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return None
    with unsaved(server.editor_workspace.unsaved_texts()):
        return hover.hover(
            document.loaded, params.position, server.editor_workspace.context_of(document), server.encoding
        )


def complete(server: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
    """Return the completions at the cursor."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return []
    with unsaved(server.editor_workspace.unsaved_texts()):
        context = server.editor_workspace.context_of(document)
        return completions.completions(document.loaded.source, params.position, context, server.encoding)


def definition(server: Server, params: types.DefinitionParams) -> types.Location | None:
    """Return the location of the target under the cursor."""
    document = server.editor_workspace.document(params.text_document.uri)
    if document is None:
        return None
    context = server.editor_workspace.context_of(document)
    cursor = cursor_at(document.loaded.root, offset_at(document.loaded.source, params.position, server.encoding))
    kind = context.kind(document.loaded.root)
    with unsaved(server.editor_workspace.unsaved_texts()):
        destination = target(kind, cursor, context) if kind and cursor else None
    if destination is None or destination.place is None:
        return None
    source = destination.place.source
    return types.Location(
        server.editor_workspace.uri(source.path), range_of(destination.place.span, source, server.encoding)
    )


def shutdown(server: Server, _: None) -> None:
    """Record that the editor is about to exit."""
    server.shutdown_requested = True


FEATURES: Final[dict[str, tuple[Callable[..., object], object]]] = {
    types.INITIALIZED: (initialized, None),
    types.SHUTDOWN: (shutdown, None),
    types.TEXT_DOCUMENT_DID_OPEN: (did_open, None),
    types.TEXT_DOCUMENT_DID_CHANGE: (did_change, None),
    types.TEXT_DOCUMENT_DID_SAVE: (did_save, None),
    types.TEXT_DOCUMENT_DID_CLOSE: (did_close, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (did_change_files, None),
    types.TEXT_DOCUMENT_CODE_ACTION: (code_actions, types.CodeActionOptions(actions.KINDS)),
    types.TEXT_DOCUMENT_COMPLETION: (complete, types.CompletionOptions(TRIGGERS)),
    types.TEXT_DOCUMENT_DEFINITION: (definition, None),
    types.TEXT_DOCUMENT_HOVER: (hover_at, None),
}


def make() -> Server:
    """Create a server with all handlers."""
    server = Server()
    for name, (handle, options) in FEATURES.items():
        server.feature(name, options)(handle)
    return server


def serve() -> bool:
    """Serve over standard input and output until the editor exits; return whether it requested the shutdown first.
    Raises UsageError for a message that is announced as longer than the memory."""
    server, output = make(), safe_stream(sys.stdout).raw
    with contextlib.redirect_stdout(sys.stderr):  # nothing but messages may come out
        try:
            server.start_io(sys.stdin.buffer, output)
        except (OverflowError, MemoryError, ValueError):  # pygls reads the number and the body of a message at once
            raise UsageError("the editor announced a message that is too large (`Content-Length`)") from None
    return server.shutdown_requested
