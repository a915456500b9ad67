"""Terminal output: all output of commands goes through one safe stream, which escapes control sequences.

Ids, quotes, codes, file names and messages are untrusted. In any output, to a terminal, a pipe or the log of a build
server, control characters, bidirectional marks and other invisible characters are written as escapes (`\\u001b`), and
no line of untrusted text is a command to the build server (`::error`, `##vso[`). In JSON such an escape is the same
data. Colours, progress and annotations have methods of their own.

A stream that is closed or full never ends a command with a traceback: see `SafeStream`. Imports nothing heavy.
"""

from __future__ import annotations

import io
import os
import sys
from _thread import get_ident
from codecs import getincrementaldecoder
from contextvars import ContextVar

from rulewright_runtime.cells import cells, width
from rulewright_runtime.english import reason_of

TYPE_CHECKING = False  # importing `typing` takes longer than a cached lint may take
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any, BinaryIO, TextIO

WIDTH = 80
UNBROKEN = 2000
READER_GONE = 141  # a shell's status for a process that a closed pipe ended: unread output is not a success
FAILED_WRITE = 3
COLOURS = {"bold": "1", "bad": "31", "good": "32", "open": "33", "error": "1;31", "warning": "1;33", "advice": "1;36"}
COLOURS["frame"] = "1;34"
OFF = "\x1b[0m"
CLEAR_SCREEN = "\x1b[2J\x1b[H"  # keeps the scrollback
CLEAR_LINE = "\r\x1b[K"

# Control characters except the line break and the tab, bidirectional marks, line and paragraph separators, invisible
# spaces and operators, tags, surrogates, and what XML can't hold. Joiners and variation selectors are kept: words of
# Persian and Hindi, and most emoji, need them.
_HIDDEN = (
    *((0, 8), (11, 31), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E), (0x200B, 0x200B)),
    *((0x200E, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFF0, 0xFFFB)),
    *((0xFFFE, 0xFFFF), (0x1D173, 0x1D17A), (0xE0000, 0xE007F)),
)
_COMMANDS = ("##[", "##vso[", "##teamcity[")  # of Azure, GitHub (the old form) and TeamCity, anywhere in a line
_prints_to_errors = ContextVar("prints_to_errors", default=False)


def name_files_in_utf8() -> None:
    """Start this process again in Python's UTF-8 mode if the locale can't name every file, whose name may be written in
    a document: what a terminal shows is encoded as before."""
    if sys.getfilesystemencoding() == "utf-8" or os.environ.get("PYTHONUTF8") == "1":
        return
    output = getattr(sys.stdout, "encoding", None) or "utf-8"
    settings = {"PYTHONUTF8": "1", "PYTHONIOENCODING": os.environ.get("PYTHONIOENCODING", output)}
    os.execve(sys.executable, sys.orig_argv, {**os.environ, **settings})


class PrintsToErrors:
    """While code of the user runs, it prints to the standard error: the standard output holds the command's result."""

    def __enter__(self) -> None:
        self._token = _prints_to_errors.set(True)

    def __exit__(self, *_: object) -> None:
        _prints_to_errors.reset(self._token)


def visible(text: str) -> str:
    """`text` with every invisible character escaped, except line breaks and tabs."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\r\n".join(line.translate(_ESCAPES) for line in _decoded(text).split("\r\n"))


def _decoded(text: str) -> str:
    """The text with the UTF-8 of file names that the locale could not decode."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # another unpaired surrogate
        return text


class _Escapes(dict[int, str]):
    """Each invisible character as a JSON escape, outside of the basic plane as a surrogate pair, and any other as
    itself."""

    def __missing__(self, code: int) -> str:
        if not any(start <= code <= end for start, end in _HIDDEN):
            shown = chr(code)
        elif code < 0x10000:
            shown = f"\\u{code:04x}"
        else:
            shown = f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
        self[code] = shown
        return shown


_ESCAPES = _Escapes()


def one_line(text: str) -> str:
    """`text` on one line: `visible`, with every white space replaced by a space."""
    if text.isascii() and text.isprintable():
        return text
    return visible("".join(" " if char.isspace() else char for char in text))


def say(*lines: str) -> None:
    """Print lines to the standard output; a line break inside a line becomes a space."""
    for line in lines:
        print(one_line(line))


def complain(*lines: str) -> None:
    """Print lines to the standard error; a line break inside a line becomes a space."""
    for line in lines:
        print(one_line(line), file=sys.stderr)


def paint(text: str, colour: str) -> str:
    """`text`, which must be visible, in one of `COLOURS`."""
    return f"\x1b[{COLOURS[colour]}m{text}{OFF}"


def wants_colour(stream: TextIO) -> bool:
    """Whether to write colours: to terminals that are not dumb, and with `FORCE_COLOR` to any stream, but not with
    `NO_COLOR`. The setting of a safe stream (`always` or `never`) takes precedence."""
    choice = getattr(stream, "colour", "auto")
    if choice != "auto":
        return bool(choice == "always")
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_for(stream: TextIO) -> int:
    """The width of a line in cells: that of the terminal; without a terminal so large that no sentence is broken, so
    that messages can be searched for."""
    if not stream.isatty():
        return UNBROKEN
    from shutil import get_terminal_size

    return get_terminal_size((WIDTH, 24)).columns


def fit(text: str, columns: int) -> str:
    """`text` on one line, truncated to `columns` with `…`."""
    text = one_line(text)
    if width(text) <= columns:
        return text
    chars, size = [], 0
    for char, cell in zip(text, cells(text), strict=True):
        size += cell.width
        if size > columns - 1:
            break
        chars.append(char)
    return "".join(chars) + "…" if columns > 0 else ""


def wrapped(text: str, columns: int, head: str = "") -> list[str]:
    """`text` on lines of at most `columns`, broken at spaces; the first starts with `head`, the others are indented by
    its width. A longer word, such as a sentence of Japanese, fills its lines and is broken between characters."""
    inner = columns - width(head)
    lines: list[str] = [""]
    space = ""
    for word in one_line(text).split(" "):
        if not word:
            space += " "
            continue
        space = space if lines[-1] else ""
        room = inner - width(lines[-1] + space)
        size = width(word)
        if size <= room or size > inner:
            first, *rest = [word] if size <= room else _pieces(word, room, inner)
            lines[-1] += space + first if first else ""
            lines += rest
        else:
            lines.append(word)
        space = " "
    return [(" " * width(head) if index else head) + line for index, line in enumerate(lines)]


def _pieces(word: str, room: int, columns: int) -> Iterator[str]:
    """Yield the pieces of a word of which the first takes at most `room` cells, maybe none, and any other `columns`."""
    start = size = 0
    for at, cell in enumerate(cells(word)):
        if size + cell.width > room and (at > start or not start):
            yield word[start:at]
            start, size, room = at, 0, columns
        size += cell.width
    yield word[start:]


def left(text: str, columns: int) -> str:
    """`text` left-aligned in a cell of `columns`."""
    text = fit(text, columns)
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """`text` right-aligned in a cell of `columns`."""
    text = fit(text, columns)
    return " " * (columns - width(text)) + text


def center(text: str, columns: int) -> str:
    """`text` centred in a cell of `columns`; an odd space goes to the right."""
    text = fit(text, columns)
    spare = columns - width(text)
    return " " * (spare // 2) + text + " " * (spare - spare // 2)


def safe_stream(stream: Any) -> SafeStream:
    """The safe stream around a standard stream."""
    return stream if isinstance(stream, SafeStream) else SafeStream(stream, is_output=False)


class SafeStream:
    """A standard stream that writes only visible text.

    A stream that is closed from the start discards everything. If a write fails, the rest is discarded and `failure`
    says why; if the reader of the standard output is gone, BrokenPipeError ends the command. Code of the user can't
    close it, and what it prints in other threads goes to the standard error.
    """

    colour = "auto"  # or `always` or `never`

    def __init__(self, stream: TextIO | None, *, is_output: bool) -> None:
        self.stream = stream
        self.failure: OSError | None = None
        self._is_output = is_output
        self._thread = get_ident()
        self._at_line_start = True
        self._needs_flush = False
        self._shows_progress = False

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)

    def isatty(self) -> bool:
        return self.stream is not None and not self.stream.closed and self.stream.isatty()

    def close(self) -> None:
        """Flush the stream; it stays open."""
        self.flush()

    def detach(self) -> None:
        """Raises UnsupportedOperation."""
        raise io.UnsupportedOperation("detach")

    @property
    def buffer(self) -> IO[bytes]:
        """The safe stream for UTF-8 bytes."""
        stream: Any = _Bytes(self)
        buffer: IO[bytes] = stream
        return buffer

    @property
    def raw(self) -> BinaryIO:
        """The underlying stream, for a protocol between programs."""
        stream: Any = self.stream
        raw: BinaryIO = stream.buffer
        return raw

    def write(self, text: str) -> int:
        """Write the visible form of `text`; to the standard error within `PrintsToErrors` and in other threads."""
        if self._is_output and (_prints_to_errors.get() or get_ident() != self._thread):
            return safe_stream(sys.stderr).write(text)
        if self._shows_progress:
            self.show_progress("")
        self._put(self._without_commands(visible(text)))
        return len(text)

    def write_coloured(self, text: str) -> None:
        """As `write`, but keeps the colours of `paint`."""
        first, *others = text.split("\x1b[")
        self.write(first)
        codes = ("0", *COLOURS.values())
        for part in others:
            code, m, rest = part.partition("m")
            if m and code in codes:
                self._put(f"\x1b[{code}m")
                self.write(rest)
            else:
                self.write(f"\x1b[{part}")

    def write_annotations(self, text: str) -> None:
        """As `write`, but allows commands to the build server."""
        self._put(visible(text))

    def show_progress(self, text: str) -> None:
        """Replace the last line of a terminal; does nothing elsewhere. An empty text clears the line, as does what is
        written after it."""
        if self.isatty():
            self._shows_progress = bool(text)
            self._put(f"\r{visible(text)}" if text else CLEAR_LINE)
            self.flush()

    def clear(self) -> None:
        """Clear the screen of a terminal."""
        if self.isatty():
            self._put(CLEAR_SCREEN)

    def flush(self) -> None:
        if self.stream is not None and self.failure is None and self._needs_flush:
            self._needs_flush = False
            try:
                self.stream.flush()
            except (OSError, ValueError) as error:
                self._fail(error)

    def _put(self, text: str) -> None:
        if self.stream is None or self.failure is not None:
            return
        self._needs_flush = True
        try:
            self.stream.write(text)
        except (OSError, ValueError) as error:
            self._fail(error)

    def _fail(self, error: OSError | ValueError) -> None:
        self.failure = error if isinstance(error, OSError) else OSError(str(error))
        if self.stream is not None:
            _discard(self.stream)
        if self._is_output and isinstance(error, BrokenPipeError):
            raise error

    def _without_commands(self, text: str) -> str:
        if "##" in text:
            for command in _COMMANDS:
                text = text.replace(command, f"#\\u0023{command[2:]}")
        if "::" in text:
            lines = text.split("\n")
            for number, line in enumerate(lines):
                rest = line.lstrip()
                if rest.startswith("::") and (number or self._at_line_start):
                    lines[number] = f"{line[: -len(rest)]}\\u003a{rest[1:]}"
            text = "\n".join(lines)
        if text:
            self._at_line_start = not text.rpartition("\n")[2].strip()
        return text


class _Bytes(io.BufferedIOBase):
    """A safe stream for UTF-8 bytes, such as reports and plans."""

    def __init__(self, safe_stream: SafeStream) -> None:
        self._stream = safe_stream
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write the visible form of the text."""
        self._stream.write(self._decoder.decode(data))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


class SafeStreams:
    """Replaces the standard output and the standard error by safe streams within the block."""

    def __enter__(self) -> SafeStreams:
        self._streams = sys.stdout, sys.stderr
        if self._streams[0] is None or self._streams[1] is None:
            _occupy_the_standard_descriptors()
        self.output, self.errors = SafeStream(sys.stdout, is_output=True), SafeStream(sys.stderr, is_output=False)
        sys.stdout, sys.stderr = self.output, self.errors
        return self

    def __exit__(self, *_: object) -> None:
        self.errors.flush()
        sys.stdout, sys.stderr = self._streams

    def status(self, status: int) -> int:
        """The exit status of a command that ends with `status`: output that could not be written is not a result."""
        try:  # noqa: SIM105  importing `contextlib` takes longer than a cached lint may take
            self.output.flush()
        except BrokenPipeError:
            pass
        failure = self.output.failure
        if failure is None:
            return status
        if isinstance(failure, BrokenPipeError):
            return status or READER_GONE
        reason = reason_of(failure)
        self.errors.write(f"error: the standard output can't be written: {reason}\n")
        return max(status, FAILED_WRITE)


def _discard(stream: TextIO) -> None:
    """Redirect the stream to the null device; its buffer would fail again when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):  # a calling program's stream without a descriptor
        pass
    finally:
        os.close(nowhere)


def _occupy_the_standard_descriptors() -> None:
    """Open the closed ones of the first three descriptors, so that no opened file gets the number of a standard
    stream."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
