"""An editor for tests: it starts the server as a process and speaks JSON-RPC with it over pipes."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

PATIENCE = 120.0  # seconds; a busy machine is slow, and no test is about speed
SERVE = ("-m", "rulewright", "lsp", "--stdio")


class RequestError(Exception):
    """The server answered a request with an error."""


class Editor:
    """One editor with its server."""

    def __init__(self, folder: Path | None, *command: str, encodings: tuple[str, ...] = ("utf-16",)) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *(command or SERVE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.messages: Queue[dict[str, Any] | None] = Queue()
        self.errors: list[bytes] = []
        self.asked: list[str] = []  # requests of the server
        self.findings: dict[str, list[dict[str, Any]]] = {}
        self.texts: dict[str, str] = {}
        self.number = self.version = 0
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self._read, self._listen)]
        for reader in self.readers:
            reader.start()
        general = {"positionEncodings": list(encodings)} if encodings else {}
        workspace = {"didChangeWatchedFiles": {"dynamicRegistration": True}}
        self.capabilities = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": folder and folder.as_uri(),
                "workspaceFolders": folder and [{"uri": folder.as_uri(), "name": folder.name}],
                "capabilities": {"general": general, "workspace": workspace},
            },
        )["capabilities"]
        self.notify("initialized", {})

    def request(self, method: str, params: object) -> Any:
        """The result of a request; raises `RequestError` when the server answers with an error."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": params})
        answer = self.until_message(lambda message: message.get("id") == self.number and "method" not in message)
        if "error" in answer:
            raise RequestError(answer["error"]["message"])
        return answer.get("result")

    def notify(self, method: str, params: object) -> None:
        """A message that nobody answers."""
        self._send({"method": method, "params": params})

    def open(self, path: Path, text: str | None = None, *, uri: str | None = None) -> list[dict[str, Any]]:
        """Open a file, or a text in its place; gives what the server finds in it."""
        uri = path.as_uri() if uri is None else uri
        text = path.read_text(encoding="utf-8") if text is None else text
        self.texts[uri] = text
        document = {"uri": uri, "languageId": "yaml", "text": text}
        return self._after("textDocument/didOpen", document, {})

    def change(self, path: Path, text: str) -> list[dict[str, Any]]:
        """Give a document another text; gives what the server finds first."""
        self.texts[path.as_uri()] = text
        changes = [{"text": text}]
        return self._after("textDocument/didChange", {"uri": path.as_uri()}, {"contentChanges": changes})

    def show(self, path: Path, text: str) -> None:
        """Have a document with this text open; findings of an earlier text are gone."""
        if path.as_uri() not in self.texts:
            self.open(path, text)
        elif self.texts[path.as_uri()] != text:
            self.change(path, text)

    def save(self, path: Path) -> None:
        """Say that a document was saved."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def close(self, path: Path) -> None:
        """Close a document."""
        self.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def until(self, uri: str, fits: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        """The findings of a document as soon as they fit."""
        if uri in self.findings and fits(self.findings[uri]):
            return self.findings[uri]
        self.until_message(lambda message: _is_about(message, uri) and fits(message["params"]["diagnostics"]))
        return self.findings[uri]

    def until_message(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that fits; a request of the server is answered."""
        while True:
            try:
                message = self.messages.get(timeout=PATIENCE)
            except Empty:
                raise AssertionError(f"the server is silent; {b''.join(self.errors).decode()[-2000:]}") from None
            assert message is not None, b"".join(self.errors).decode()[-2000:]
            if message.get("method") == "textDocument/publishDiagnostics":
                self.findings[message["params"]["uri"]] = message["params"]["diagnostics"]
            if "id" in message and "method" in message:
                self.asked.append(message["method"])
                self._send({"id": message["id"], "result": None})
            if fits(message):
                return message

    def at(self, method: str, path: Path, line: int, character: int, **more: object) -> Any:
        """What a request about a place of a document gives; line and character count from 0."""
        position = {"line": line, "character": character}
        return self.request(
            f"textDocument/{method}", {"textDocument": {"uri": path.as_uri()}, "position": position, **more}
        )

    def actions(self, path: Path, start: int, end: int, **context: object) -> list[dict[str, Any]]:
        """The code actions for some lines."""
        place = {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}
        params = {"textDocument": {"uri": path.as_uri()}, "range": place, "context": {"diagnostics": [], **context}}
        found: list[dict[str, Any]] = self.request("textDocument/codeAction", params)
        return found

    def quit(self) -> int:
        """Say goodbye; gives the exit code of the server."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.wait()

    def vanish(self) -> int:
        """End without a word; gives the exit code of the server."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        """The exit code of the server when it has ended."""
        code = self.process.wait(PATIENCE)
        for reader in self.readers:
            reader.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code

    def _after(self, method: str, document: dict[str, Any], params: dict[str, Any]) -> list[dict[str, Any]]:
        """What the server finds in this version of a document, whatever it may still say of earlier ones."""
        self.version += 1
        uri, version = document["uri"], self.version
        self.notify(method, {"textDocument": {**document, "version": version}, **params})
        self.until_message(lambda message: _is_about(message, uri) and message["params"].get("version") == version)
        return self.findings[uri]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_raw(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def send_raw(self, data: bytes) -> None:
        """Bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _read(self) -> None:
        output = self.process.stdout
        assert output is not None
        while header := output.readline():
            length = int(header.split(b":")[1])
            while output.readline().strip():  # further headers
                pass
            self.messages.put(json.loads(output.read(length)))
        self.messages.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(iter(self.process.stderr.readline, b""))


def _is_about(message: dict[str, Any], uri: str) -> bool:
    return message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri
