"""Parts of English sentences in messages: names in backticks, alternatives, numbers with their noun, and reasons."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes longer than some commands
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def ticked(names: Iterable[object]) -> str:
    """`A`, `B`, `C`."""
    return ", ".join([f"`{name}`" for name in names])


def either(words: Sequence[str], last: str = "or") -> str:
    """A, B or C."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"


def some(names: Sequence[str], most: int = 3) -> str:
    """`A, B and 2 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def reason_of(error: Exception) -> str:
    """Why a file or a database can't be read or written; what the system says is in lower case."""
    if isinstance(error, UnicodeError):
        return "it is not UTF-8; save it as UTF-8"
    words: str | None = getattr(error, "strerror", None)
    return words.lower() if words else str(error)


def escape_surrogates(text: str) -> str:
    """The text with its unpaired surrogates, which no file can hold, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
