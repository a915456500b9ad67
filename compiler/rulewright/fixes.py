"""Applies fixes: non-overlapping edits, from the end of a text to its start."""

import difflib
import json
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from collections.abc import Mapping as Table
from functools import cache
from itertools import accumulate
from operator import itemgetter
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Edit, Fix, Guess
from rulewright.load import Loaded, Mapping, Node, Scalar, Sequence, Source, load_text, plain

QUOTED: Final = re.compile(r"([\"']?)([^\"'\n]+)\1")  # a word, in one pair of quotes or none
WORD: Final = re.compile(r"[\w.-]+")
# A text without quotes in every version of YAML.
PLAIN: Final = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[a-z][\w.-]*", re.IGNORECASE | re.ASCII)
Replacement: TypeAlias = tuple[int, int, str]  # the start and end of what is replaced, and the new text
HEADER_COMMENT: Final = re.compile(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)")


def fitted(found: Iterable[Diagnostic], files: Iterable[Loaded]) -> list[Diagnostic]:
    """Return the findings with fixes that change nothing else in their file; the guess at a misspelt word is one.

    In a JSON file a new value is written as JSON. A fix of a value that an alias repeats would change another key, too,
    and is dropped; so is one that gives two keys of a mapping the same name. A replaced block scalar keeps the comment
    in its header, and inserted line breaks are those of the file.
    """
    by_path = {loaded.source.path: loaded for loaded in files}
    surroundings = cache(lambda path: _Surroundings(by_path[path]))

    def fit(edit: Edit) -> Edit | None:
        return surroundings(edit.span.path).fit(edit) if edit.span.path in by_path else edit

    result = []
    for each in found:
        loaded = by_path.get(each.span.path)
        fix = each.fix or (None if loaded is None else _misspelt(each, loaded.source))
        fix = _as_json(fix, loaded.source) if fix is not None and loaded is not None else fix
        edits = () if fix is None else tuple(filter(None, map(fit, fix.edits)))
        is_whole = fix is not None and len(edits) == len(fix.edits)
        result.append(replace(each, fix=replace(fix, edits=edits) if fix is not None and is_whole else None))
    return result


def _as_json(fix: Fix, source: Source) -> Fix:
    """A fix whose new values are JSON where its document is."""
    if not source.path.endswith(".json"):
        return fix
    message, edits = fix.message, []
    for edit in fix.edits:
        text = edit.text
        if source.between(edit.span)[:1] == '"' and text[:1] != '"' and (root := load_text(text, "value.yaml").root):
            text = json.dumps(plain(root), ensure_ascii=False)
        message = message.replace(f"`{edit.text}`", f"`{text}`")
        edits.append(replace(edit, text=text))
    return replace(fix, message=message, edits=tuple(edits))


def as_text(word: str) -> str:
    """Return a word as YAML reads it as a text: in quotes unless it is surely one."""
    return word if PLAIN.fullmatch(word) else f'"{word}"'


def guessed(found: Diagnostic, source: Source) -> Fix | None:
    """Return the unsafe fix that replaces the marked word by the guess in the finding's help; None without a guess."""
    written = QUOTED.fullmatch(source.between(found.span)) if isinstance(found.help, Guess) else None
    if written is None or not isinstance(found.help, Guess):
        return None
    dot = "." if written[2].startswith(".") else ""  # a field is marked with its dot
    text = f"{written[1]}{dot}{found.help.meant}{written[1]}"
    return Fix(f"write `{found.help.meant}`", (Edit(found.span, text),), safe=False)


def _misspelt(found: Diagnostic, source: Source) -> Fix | None:
    """The fix of a finding that quotes the marked word."""
    if not isinstance(found.help, Guess) or not WORD.fullmatch(found.help.meant):
        return None
    return guessed(found, source) if source.between(found.span).strip("\"'.") in found.quoted else None


class _Surroundings:
    """The context of a file's fixes: values that aliases repeat, block scalars, keys and line breaks."""

    def __init__(self, loaded: Loaded) -> None:
        self.source = loaded.source
        self.shared, self.blocks, self.keys = _parts_of(loaded.root)
        self.renamed: dict[tuple[int, str], int] = {}  # where the key is that gets a name in a mapping

    def fit(self, edit: Edit) -> Edit | None:
        """Return the edit in the style of the file, or None if it would change another key."""
        start = self.source.offset(edit.span.line, edit.span.column)
        end = self.source.offset(edit.span.end_line, edit.span.end_column)
        if any(first <= start and end <= last for first, last in self.shared) or self._is_taken(start, end, edit.text):
            return None
        header = HEADER_COMMENT.match(self.source.text, start) if start in self.blocks else None
        return replace(edit, text=edit.text.replace("\n", self.source.newline) + (header.group(1) if header else ""))

    def _is_taken(self, start: int, end: int, text: str) -> bool:
        """Whether a key would get the name that another key of its mapping has or gets."""
        mapping, name = self.keys.get((start, end)), text.strip("\"'")
        if mapping is None:
            return False
        other = mapping.index.get(name)
        return (other is not None and other.key.start != start) or (
            self.renamed.setdefault((mapping.start, name), start) != start
        )


def _parts_of(root: Node | None) -> tuple[list[tuple[int, int]], set[int], dict[tuple[int, int], Mapping]]:
    """Return the places of the values that aliases repeat, the starts of block scalars, and the mappings by the places
    of their keys."""
    seen: set[int] = set()
    shared: list[tuple[int, int]] = []
    blocks: set[int] = set()
    keys: dict[tuple[int, int], Mapping] = {}
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            shared.append((node.start, node.end))
            continue
        seen.add(id(node))
        if type(node) is Mapping:
            waiting += [entry.value for entry in node.entries]
            keys |= {(entry.key.start, entry.key.end): node for entry in node.entries}
        elif type(node) is Sequence:
            waiting += node.items
        elif type(node) is Scalar and node.style in ("|", ">"):
            blocks.add(node.start)
    return shared, blocks, keys


def fixed_texts(
    diagnostics: Iterable[Diagnostic], sources: Table[str, Source], *, unsafe: bool = False
) -> tuple[dict[str, str], int]:
    """Return the new text of every file that changes, and the number of applied fixes (`edits_of`)."""
    edits, applied = edits_of(diagnostics, sources, unsafe=unsafe)
    return {path: edited(sources[path].text, found) for path, found in edits.items()}, applied


def edits_of(
    diagnostics: Iterable[Diagnostic], sources: Table[str, Source], *, unsafe: bool = False
) -> tuple[dict[str, list[Replacement]], int]:
    """Return the edits of every file that changes, sorted, and the number of applied fixes.

    Of two fixes that touch the same place, or of which one respells `a` as `b` and the other `b` as `a`, only the first
    is applied; linting again finds the other.
    """
    edits: dict[str, list[Replacement]] = {}
    respelt: set[tuple[str, str]] = set()
    applied = 0
    for each in diagnostics:
        if each.fix is None or not (each.fix.safe or unsafe):
            continue
        wanted = _offsets(each.fix, sources)
        if wanted is None or any(_overlaps(edit, edits.get(path, [])) for path, edit in wanted):
            continue
        words = _words(wanted, sources) if isinstance(each.help, Guess) else set()
        if any((new, old) in respelt for old, new in words):
            continue
        respelt |= words
        applied += 1
        for path, edit in wanted:
            insort(edits.setdefault(path, []), edit)
    return edits, applied


def _words(edits: Iterable[tuple[str, Replacement]], sources: Table[str, Source]) -> set[tuple[str, str]]:
    """The words that edits replace, each with the new one."""
    return {(sources[path].text[start:end].strip("\"'"), new.strip("\"'")) for path, (start, end, new) in edits}


def as_bytes(source: Source, text: str) -> bytes:
    """Return the new text as bytes, with the byte order mark that the file had."""
    return (("\ufeff" if source.bom else "") + text).encode()


def diff(source: Source, text: str) -> str:
    """Return the change of one file as a unified diff for `patch --binary`; only line feeds end its lines."""
    before, after = (as_bytes(source, each).decode().split("\n") for each in (source.text, text))
    lines = difflib.unified_diff(_with_ends(before), _with_ends(after), source.path, source.path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _with_ends(lines: list[str]) -> list[str]:
    return [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])]


def _offsets(fix: Fix, sources: Table[str, Source]) -> list[tuple[str, Replacement]] | None:
    found = []
    for edit in fix.edits:
        source = sources.get(edit.span.path)
        if source is None:
            return None
        start = source.offset(edit.span.line, edit.span.column)
        end = source.offset(edit.span.end_line, edit.span.end_column)
        found.append((edit.span.path, (start, end, edit.text)))
    return found


def _overlaps(edit: Replacement, others: list[Replacement]) -> bool:
    """Whether an edit overlaps one of others, which are sorted and don't overlap, or starts where one does."""
    start, end, _ = edit
    after = bisect_right(others, start, key=itemgetter(0))
    return any(
        (start < other_end and other_start < end) or start == other_start
        for other_start, other_end, _ in others[max(after - 1, 0) : after + 1]
    )


def edited(text: str, edits: Iterable[Replacement]) -> str:
    """Return a text after its edits, which are sorted and of which no two overlap."""
    parts, at = list[str](), 0
    for start, end, new in edits:
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


class Offsets:
    """Offsets in a text before its edits, which are sorted and of which no two overlap."""

    def __init__(self, edits: list[Replacement]) -> None:
        self._edits = edits
        self._longer = list(accumulate((len(new) - (end - start) for start, end, new in edits), initial=0))
        self._starts = [start + longer for (start, _, _), longer in zip(edits, self._longer, strict=False)]

    def before(self, offset: int) -> int:
        """Return the offset in the text before the edits, from that in the text after them; for one inside a new word,
        the start of the old one."""
        count = bisect_left(self._starts, offset)  # of the edits that start before it
        if count and offset < self._starts[count - 1] + len(self._edits[count - 1][2]):
            return self._edits[count - 1][0]
        return offset - self._longer[count]
