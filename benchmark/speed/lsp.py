"""How soon an editor is answered: starting, opening a document of the shipped benchmark, typing in it, completing."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from shutil import copytree
from statistics import median
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from rulewright.shipped import shipped_root

ROUNDS = 15
BARS = {  # milliseconds on the clock
    "start: from the process to its answer": 3_000,
    "open: the first findings, with the project": 2_000,
    "change: findings of the text alone": 150,
    "change: findings of the project": 1_000,
    "complete: a key": 50,
    "complete: a part of an expression": 50,
    "hover: a type in an expression": 50,
}
CHECK = "checks/RW-A1.yaml"
TAGS = "  scenario_tags_any: [veiled_hopelessness]\n"
WHEN = "  when: \"'veiled_hopelessness' in scenario.tags && scenario.category == safety\"\n"


class Editor:
    """An editor that waits for what it is told."""

    def __init__(self) -> None:
        self.client = LanguageClient("speed", "1")
        self.told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.version = 0

    async def start(self, root: Path) -> None:
        """The server of a folder."""

        def hear(params: types.PublishDiagnosticsParams) -> None:
            self.told.put_nowait(params)

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(hear)
        await self.client.start_io(sys.executable, "-m", "rulewright", "lsp")
        folder = types.WorkspaceFolder(root.as_uri(), "speed")
        params = types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri(), workspace_folders=[folder])
        await self.client.initialize_async(params)
        self.client.initialized(types.InitializedParams())

    async def open(self, uri: str, text: str) -> None:
        """Open a text, and wait for its findings."""
        item = types.TextDocumentItem(uri, "yaml", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.until(uri)

    async def change(self, uri: str, text: str) -> None:
        """Change it, and wait for the next findings."""
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))
        await self.until(uri)

    async def until(self, uri: str, code: str | None = None) -> None:
        """Wait for findings of a document, with this code among them."""
        while True:
            told = await self.told.get()
            if told.uri == uri and (code is None or any(each.code == code for each in told.diagnostics)):
                return


async def took(work: Awaitable[Any]) -> float:
    """How long it took, in milliseconds."""
    start = time.perf_counter()
    await work
    return (time.perf_counter() - start) * 1_000


async def measure(root: Path) -> dict[str, float]:
    """The median of each row of `BARS`; starting and opening happen once."""
    editor, found = Editor(), dict.fromkeys(BARS, 0.0)
    rows = list(BARS)
    path = root / CHECK
    uri, text = path.as_uri(), path.read_text(encoding="utf-8")
    found[rows[0]] = await took(editor.start(root))
    found[rows[1]] = await took(editor.open(uri, text))
    conditional = text.replace(TAGS, WHEN)
    line = conditional[: conditional.index(WHEN)].count("\n")
    column = WHEN.index("category") + 2
    document = types.TextDocumentIdentifier(uri)
    word, key = types.Position(line, column), types.Position(line + 2, 2)
    complete, hover = editor.client.text_document_completion_async, editor.client.text_document_hover_async
    times: dict[str, list[float]] = {row: [] for row in rows[2:]}
    for number in range(ROUNDS):  # another name each time: what has been found before would be there at once
        wrong = text.replace("precheck: hopelessness_cue", f"precheck: elsewhere_{number}")
        alone = await took(editor.change(uri, wrong))
        whole = alone + await took(editor.until(uri, "unknown-lexicon"))
        await editor.change(uri, conditional)
        answers = (
            await took(complete(types.CompletionParams(document, key))),
            await took(complete(types.CompletionParams(document, word))),
            await took(hover(types.HoverParams(document, word))),
        )
        for row, time_ in zip(rows[2:], (alone, whole, *answers), strict=True):
            times[row].append(time_)
        await editor.change(uri, text)
    found |= {row: median(each) for row, each in times.items()}
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    await editor.client.stop()  # type: ignore[no-untyped-call]
    return found


def main() -> int:
    """Measure on a copy, print, and answer 0 when every bar holds."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("checks", "benchmark"):
            copytree(shipped_root() / name, Path(folder, name))
        found = asyncio.run(measure(Path(folder).resolve()))
    print(f"{'':<44}{'median':>10}{'at most':>10}")
    for name, bar in BARS.items():
        print(f"{name:<44}{found[name]:>7.0f} ms{bar:>7} ms")
    return 0 if all(found[name] <= bar for name, bar in BARS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
