"""Turns libyaml's errors into diagnostics with helpful messages at the span of the mistake."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace
from yaml import YAMLError
from yaml.reader import ReaderError

from rulewright.diagnostics import Diagnostic, Edit, Fix, Note
from rulewright.load.load_errors import mistake, shorten
from rulewright.load.nodes import Source

# Characters that libyaml rejects: control characters and noncharacters.
_BREAK = re.compile(r"[\r\n]")
UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# A surrogate pair: two escapes that are one character in JSON.
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")

_WORD = re.compile(r"[ ]*(?:- *)?[\w-]*")
_COMMENT = re.compile(r"\s#.*")
_ONLY_KEY = re.compile(r"[ ]*([\w-]+)(?=:(?:\s|$))")
_APOSTROPHE = re.compile(r"(?:: |- |[\[{,] *)'[^']*\w(')\w")
_AFTER_QUOTES = re.compile(r"[ ]*(?:- +)*([\w-]+): +((?:\"[^\"]*\"|'[^']*')[ ]+[^\s#].*?)\s*$")
_UNOPENED = re.compile(r"[ ]*(?:- +)*[\w-]+: +([^{}\"'#]+\})\s*(?:#.*)?$")
_LONE = re.compile(r"[ ]*(\w[\w-]*)[ ]*(?:#.*)?$")
_NO_COLON = re.compile(r"[ ]*(?:- +)?((\w[\w-]*)(?:[ ]*[=:][ ]*|[ ]+)(\S.*))")
_BRACKETS = re.compile(r"[ ]*(?:- +)?((\w[\w-]*)[ ]*=?[ ]*([{\[].*))")
_JOINED = re.compile(r"[ ]*(?:- +)?((\w[\w-]*)(?:[ ]*=[ ]*|:(?=\S)|[ ]+)(\S.*))")

# A part of libyaml's message, our message, and our help.
_MESSAGES: tuple[tuple[str, str, str | None], ...] = (
    (
        "mapping values are not allowed",
        "a `: ` is not allowed here",
        "quote the value if the colon belongs to it; otherwise check the indentation",
    ),
    ("could not find expected ':'", "this line is not a `key: value`", "add the colon, or indent or quote the text"),
    ("did not find expected key", "expected a key here", "check the indentation, and quotes inside quotes"),
    ("did not find expected ',' or ']'", "expected `,` or `]` here", None),
    ("did not find expected ',' or '}'", "expected `,` or `}` here", None),
    ("did not find expected '-' indicator", "expected `- ` here", "check the indentation"),
    ("found unexpected ':'", "after this `:` a space or a value is missing", "write `key: value`, or quote the text"),
    ("did not find expected node content", "expected a value here", None),
    ("did not find expected <document start>", "expected the document to end here", "check the indentation"),
    ("found unexpected end of stream", "the quotes are never closed", "close them, or use a block (`|`)"),
    ("found unexpected document indicator", "the quotes are not closed before this document marker", None),
    (
        "found unknown escape character",
        "unknown escape in double quotes",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("did not find expected hexdecimal number", "expected hexadecimal digits in this escape", None),
    ("found character that cannot start any token", "this character can't start a value", "quote the value"),
    ("block sequence entries are not allowed", "a list can't start here", "start it on a line of its own"),
    ("block mapping", "a mapping can't start here", "start it on a line of its own"),
    ("did not find expected alphabetic or numeric character", "expected a name here", "quote the value if it is text"),
    ("wrongly indented line", "this line is indented wrongly", None),
    ("found a tab character", "a tab can't indent a line", "use spaces"),
    ("found undefined tag handle", "this tag is not known", "rule files are data: write the value itself"),
    ("did not find expected comment or line break", "expected the end of the line here", None),
    ("found extra document start", "a second document starts here; a file contains one", None),
)

# YAML's grammatical terms and the words that our messages use.
_WORDS: Final = (
    ("a flow sequence", "the list in brackets"),
    ("a flow mapping", "the mapping in braces"),
    ("a block mapping", "the mapping"),
    ("a block collection", "the list"),
    ("a block sequence", "the list"),
    ("a simple key", "the key"),
    ("a quoted scalar", "the quoted text"),
    ("a plain scalar", "the text"),
    ("a block scalar", "the block of text"),
    ("a directive", "the directive"),
)


def explain(failure: YAMLError, source: Source) -> Diagnostic:
    """Return the diagnostic for an exception of libyaml's scanner, parser or reader."""
    if isinstance(failure, ReaderError):
        return control_character(source)
    problem = str(getattr(failure, "problem", None) or "can't be read")
    mark = getattr(failure, "problem_mark", None) or getattr(failure, "context_mark", None)
    if "quoted scalar" in str(getattr(failure, "context", None)) and "unexpected end of stream" in problem:
        mark = failure.context_mark  # type: ignore[attr-defined]  # point at the opening quote
    offset = min(mark.index if mark is not None else 0, len(source.text))
    char = source.text[offset : offset + 1]
    if char == "\t" and ("cannot start any token" in problem or "tab" in problem):
        end = offset + len(source.text[offset:]) - len(source.text[offset:].lstrip("\t"))
        return mistake("tab-indentation", source.span(offset, end), "a tab can't indent a line", help="use spaces")
    if "invalid Unicode character escape" in problem:
        return _bad_escape(source, offset)
    if "undefined tag handle" in problem:
        return _undefined_tag(source, offset)
    slip = _slip(problem, failure, source, offset) if _is_here(problem) else None
    slip = slip or slip_above(source, offset) or _slip(problem, failure, source, offset)
    if slip is not None:
        return slip
    mark = getattr(failure, "context_mark", None)
    lone = _lone_dash(source, mark.index, offset) if mark is not None and "expected '-'" in problem else None
    if lone is not None:
        return lone
    message, help = _reword(problem)
    if "expected ',' or" in problem:  # point behind the token before the gap
        line_start = source.starts[source.position(offset)[0] - 1]
        if _WORD.fullmatch(source.text[line_start:offset]):  # the key of the next line
            offset = line_start
        start = len(source.text[:offset].rstrip())
        span = source.span(start if _BREAK.search(source.text, start, offset) else offset, offset + 1)
        return mistake("yaml-syntax", span, message, *_context(failure, source, offset), help=help)
    if "cannot start any token" in problem:
        message = f"`{shorten(char)}` can't start a value"
    notes = _context(failure, source, offset)
    return mistake("yaml-syntax", source.span(offset, offset + 1), message, *notes, help=help)


def _lone_dash(source: Source, start: int, offset: int) -> Diagnostic | None:
    """The only dash of a list that continues with keys."""
    line, column = source.position(start)
    after, _ = source.position(offset)
    dashes = [each for each in range(line, after + 1) if source.line_text(each)[column - 1 : column + 1] == "- "]
    if dashes != [line]:
        return None
    help = "remove the dash, write one before each item, or indent the key like the first one"
    note = Note(source.span(offset, offset + 1), "the mapping continues here")
    return mistake("yaml-syntax", source.span(start, start + 1), "this list continues as a mapping", note, help=help)


def _is_here(problem: str) -> bool:
    """Whether the mistake is probably on this line rather than above it."""
    return "did not find expected key" not in problem and "mapping values" not in problem


def _slip(problem: str, failure: YAMLError, source: Source, offset: int) -> Diagnostic | None:
    """A common mistake, reported where it was made; libyaml notices it later."""
    line, _ = source.position(offset)
    start = source.starts[line - 1]
    text = source.line_text(line)
    if "mapping values are not allowed" in problem and (key := _ONLY_KEY.match(text)) and key.end() + start == offset:
        help = "indent it like the keys of its mapping"
        above = _no_pair_above(source, line, key.start(1))
        return above or _at(source, line, key.span(1), f"`{key[1]}` is indented wrongly", help)
    if "mapping values are not allowed" in problem and (unopened := _UNOPENED.match(text)):
        help = f"write `{{{shorten(unopened[1])}`"
        return _at(source, line, unopened.span(1), "the braces are never opened", help)
    if "mapping values are not allowed" in problem and (pair := _BRACKETS.match(text)):
        return _no_pair(source, line, pair)
    is_cut = any(each in problem for each in ("did not find expected key", "expected ',' or", "expected '-'"))
    if is_cut and (quoted := _APOSTROPHE.search(text)):
        help = "write it twice (`''`), or use double quotes"
        return _at(source, line, quoted.span(1), "the quotes end at this apostrophe", help)
    if "did not find expected key" in problem and (more := _AFTER_QUOTES.match(text)):
        help = f"write it below `{more[1]}: >-`" if "'" in more[2] else f"write `{more[1]}: '{shorten(more[2])}'`"
        return _at(source, line, more.span(2), "the value continues after its quotes", help)
    if "did not find expected key" in problem and (key := _ONLY_KEY.match(text)):  # a comment ended the text above
        return _no_pair_above(source, line, key.start(1))
    if "could not find expected ':'" in problem:
        mark = getattr(failure, "context_mark", None)
        line, _ = source.position(mark.index if mark is not None else offset)
        text = source.line_text(line)
        if lone := _LONE.match(text):
            return _lone_word(source, line, lone)
        if match := _NO_COLON.match(text):
            return _no_pair(source, line, match)
    return None


def _at(source: Source, line: int, columns: tuple[int, int], message: str, help: str | None = None) -> Diagnostic:
    """A mistake in one line, between these columns."""
    start = source.starts[line - 1]
    return mistake("yaml-syntax", source.span(start + columns[0], start + columns[1]), message, help=help)


def _no_pair(source: Source, line: int, match: re.Match[str]) -> Diagnostic:
    help = f"write `{match[2]}: {shorten(_COMMENT.sub('', match[3]).strip())}`"
    return _at(source, line, (match.start(1), match.end()), "expected `key: value`", help)


def _lone_word(source: Source, line: int, lone: re.Match[str]) -> Diagnostic:
    """Report a word alone on its line; above keys that are indented deeper it lacks its colon."""
    below = source.line_text(line + 1) if line < len(source.starts) else ""
    if _indent(below) > lone.start(1):
        return _no_pair_of_keys(source, line, lone)
    return _at(source, line, lone.span(1), "expected `key: value`", f"write `{lone[1]}: VALUE`, or remove it")


def _no_pair_of_keys(source: Source, line: int, lone: re.Match[str]) -> Diagnostic:
    return _at(source, line, lone.span(1), "expected `key:` above the keys of a mapping", f"write `{lone[1]}:`")


def _no_pair_above(source: Source, line: int, indent: int) -> Diagnostic | None:
    """Report the line above a key as no pair, where both are aligned: YAML reads it as a multi-line text."""
    above = line - 1
    while above > 1 and not source.line_text(above).partition("#")[0].strip():
        above -= 1
    text = source.line_text(above) if above else ""
    if (lone := _LONE.match(text)) and lone.start(1) < indent:
        return _no_pair_of_keys(source, above, lone)
    match = _JOINED.match(text)
    return _no_pair(source, above, match) if match and match.start(1) == indent else None


def control_character(source: Source) -> Diagnostic:
    """Return the finding for the first character that YAML does not allow."""
    match = UNREADABLE.search(source.text)
    start = match.start() if match else 0
    name = f"U+{ord(source.text[start]):04X}" if source.text else "an unreadable byte"
    message = f"the character {name} is not allowed in a text file"
    return mistake("control-character", source.span(start, start + 1), message)


def _reword(problem: str) -> tuple[str, str | None]:
    for piece, message, help in _MESSAGES:
        if piece in problem:
            return message, help
    return problem[:1].lower() + problem[1:], None


def _bad_escape(source: Source, offset: int) -> Diagnostic:
    """Report an escape such as `\\ud800` that is not a character; libyaml's mark is after its letter."""
    start = source.text.rfind("\\", 0, offset + 1)
    match = re.compile(r"\\[xuU]?[0-9a-fA-F]*").match(source.text, max(start, 0))
    text = match.group() if match else ""
    pair = _PAIR.match(source.text, max(start, 0))
    if pair is not None:
        return _surrogate_pair(source, pair)
    span = source.span(max(start, 0), max(start, 0) + max(len(text), 1))
    if re.fullmatch(r"\\[uU](?:0000)?[dD][89abABcdefCDEF][0-9a-fA-F]{2}", text[:10]) or re.match(
        r"\\u[dD][89a-fA-F]", text
    ):
        return mistake(
            "lone-surrogate",
            span,
            f"`{text}` is an unpaired surrogate",
            help="write the character itself, or one escape such as `\\U0001F600`",
        )
    return mistake("yaml-syntax", span, f"`{shorten(text)}` is not a valid escape")


def _surrogate_pair(source: Source, pair: re.Match[str]) -> Diagnostic:
    """Report a surrogate pair, with a fix that writes YAML's single escape."""
    high, low = int(pair[1], 16), int(pair[2], 16)
    code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
    escape = f"\\U{code:08X}"
    char = chr(code)
    literal = f" or `{char}` itself" if char.isprintable() else ""
    span = source.span(pair.start(), pair.end())
    finding = mistake(
        "surrogate-pair",
        span,
        f"`{pair[0]}` is one character in JSON; YAML needs one escape",
        help=f"write `{escape}`{literal}",
    )
    return replace(finding, fix=Fix(f"write `{escape}`", (Edit(span, escape),), safe=True))


def _undefined_tag(source: Source, offset: int) -> Diagnostic:
    match = re.compile(r"![^\s,\[\]{}]*").search(source.text, offset)
    start, end = (match.start(), match.end()) if match else (offset, offset + 1)
    message = f"the tag `{shorten(source.text[start:end])}` is not allowed here"
    return mistake("custom-tag", source.span(start, end), message, help="rule files are data: write the value itself")


def _context(failure: YAMLError, source: Source, offset: int) -> tuple[Note, ...]:
    mark = getattr(failure, "context_mark", None)
    context = str(getattr(failure, "context", None) or "")
    if mark is None or mark.index == offset or "while" not in context:
        return ()
    start = min(mark.index, len(source.text))
    what = context.removeprefix("while parsing ").removeprefix("while scanning ")
    for term, word in _WORDS:
        what = what.replace(term, word)
    return (Note(source.span(start, start + 1), f"in {what} that starts here"),)


_QUOTED_VALUE: Final = re.compile(r"[ ]*(?:- +)*(?:(?:[\w.-]+|\"[\w.-]+\"): +)?(?:[\[{] *(?:[\w.-]+: +)?)*(?=([\"']))")
_END: Final = re.compile(r"\s*(?:[,\]}:#]|$)", re.MULTILINE)
_CLOSED: Final = {
    '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL),
    "'": re.compile(r"'[^']*+(?:''[^']*+)*+'"),
}
_GLUED: Final = re.compile(r"([ ]*)(-(?:[^\W\d_]|[\"'{\[]).*)")
_BULLET: Final = re.compile(r"([ ]*)((?:--|[*\u2013\u2014\u2022]) ?)(\S.*)")
_ITEM: Final = re.compile(r"[ ]*- ")
_KEY: Final = re.compile(r"([ ]*)((?:- +)?[\w.-]+):(?=\s|$)(.*)")
_ENTRY: Final = re.compile(r"[ ]*(?:- |[\w.-]+ *=|[\w.-]+:(?=\w)|[\w.-]+\s*$)")
_BLOCK: Final = re.compile(r".*(?:^|\s)[|>][-+0-9]*\s*(?:#.*)?$")


class _Line(NamedTuple):
    """A non-empty line: its number, its indentation in spaces, and its text."""

    number: int
    indent: int
    text: str


def slip_above(source: Source, offset: int) -> Diagnostic | None:
    """Return the mistake above `offset` that explains a syntax error there, or None."""
    line, _ = source.position(offset)
    if slip := _open_quotes(source, _lines(source, line + 1)):  # the value may continue for millions of lines
        return slip
    lines = list(_lines(source, line + 1))
    return (
        _deep_start(source, line)
        or _first_item(source, lines, line)
        or _glued_dash(source, lines)
        or _no_block(source, lines, line)
        or _odd_line(source, lines, line)
    )


def _lines(source: Source, last: int) -> Iterator[_Line]:
    """The non-empty lines up to `last`, without those of block scalars."""
    block: int | None = None
    for number in range(1, min(last, len(source.starts)) + 1):
        text = source.line_text(number)
        indent = _indent(text)
        if block is not None and (not text.strip() or indent > block):
            continue
        block = indent if _BLOCK.match(text) else None
        if text.strip() and not text.lstrip().startswith("#"):
            yield _Line(number, indent, text)


def _open_quotes(source: Source, lines: Iterable[_Line]) -> Diagnostic | None:
    """Report a quoted value whose closing quote is missing, so that it ends at the next quote."""
    closed_at = 0
    for line in lines:
        match = _QUOTED_VALUE.match(line.text)
        start = source.starts[line.number - 1] + (match.end() if match else 0)
        if match is None or start < closed_at:
            continue
        closed = _CLOSED[match[1]].match(source.text, start)
        closed_at = closed.end() if closed else start
        multiline = closed is None or _BREAK.search(closed.group())
        if multiline and (closed is None or not _END.match(source.text, closed.end())):
            span = source.span(start, start + 1)
            help = "close them, or use a block (`|`)"
            return mistake("yaml-syntax", span, "the quotes are never closed", help=help)
    return None


def _deep_start(source: Source, line: int) -> Diagnostic | None:
    """Report the first line of a block's text that is indented more than the rest, which therefore ends the block."""
    indent = _indent(source.line_text(line)) if line <= len(source.starts) else 0
    header = next((each for each in range(line - 1, 0, -1) if _BLOCK.match(source.line_text(each))), None)
    if header is None or indent <= _indent(source.line_text(header)):
        return None
    first = 0
    for number in range(header + 1, line):
        text = source.line_text(number)
        if text.strip() and _indent(text) <= indent:
            return None
        first = first or (number if text.strip() else 0)
    if not first:
        return None
    text = source.line_text(first)
    columns = (_indent(text), len(text.rstrip()))
    return _at(source, first, columns, "the block continues with less indentation", "indent it like the next lines")


def _first_item(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """Report the first item of a list that is indented more than the next two."""
    at = next((number for number, each in enumerate(lines) if each.number == line), 0)
    if at < 2 or len(lines) < at + 2:
        return None
    header, first, second, third = lines[at - 2 : at + 2]
    is_list = all(_ITEM.match(each.text) for each in (first, second, third)) and _is_header(header)
    if not is_list or second.indent != third.indent or first.indent <= second.indent:
        return None
    message, columns = "this item is indented more than the next ones", (first.indent, first.indent + 1)
    return _at(source, first.number, columns, message, "indent all items by the same number of spaces")


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _glued_dash(source: Source, lines: list[_Line]) -> Diagnostic | None:
    """Report an item without a space after its dash, next to items or below a key."""
    for above, line in pairwise(lines):
        bullet = _BULLET.match(line.text)
        if bullet and (_ITEM.match(above.text) or above.text.rstrip().endswith(":")):
            columns = (bullet.start(2), bullet.start(2) + len(bullet[2].rstrip()))
            help = f"write `- {shorten(bullet[3].strip())}`"
            return _at(source, line.number, columns, "an item of a list begins with `- `", help)
        glued = _GLUED.match(line.text)
        if glued and (above.text.startswith(f"{glued[1]}- ") or above.text.rstrip().endswith(":")):
            columns = (glued.start(2), glued.start(2) + 1)
            help = f"write `- {shorten(glued[2][1:].strip())}`"
            return _at(source, line.number, columns, "a space is missing after `-`", help)
    return None


def _no_block(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """Report a multi-line text with a colon whose key lacks the block indicator `|`."""
    current = next((each for each in lines if each.number == line), None)
    before = [each for each in lines if each.number < line]
    if current is None or _ITEM.match(current.text):
        return None
    indent = current.indent
    header = next((each for each in reversed(before) if each.indent < indent or _KEY.match(each.text)), None)
    between = [each for each in before if header is not None and each.number > header.number]
    match = _KEY.match(header.text) if header is not None and _is_header(header) else None
    if match is None or header is None or not between or any(_ENTRY.match(each.text) for each in between):
        return None
    return _at(source, header.number, match.span(2), "this text needs a block", f"write `{match[2]}: |`")


def _odd_line(source: Source, lines: list[_Line], line: int) -> Diagnostic | None:
    """Report the key whose indentation differs from all neighbours."""
    index = next((number for number, each in enumerate(lines) if each.number >= line), len(lines))
    before = lines[:index]
    if not before or not (current := next((each for each in lines if each.number == line), None)):
        return None
    odd = (
        _indented_first(before, current)
        or _only_uneven([each for each in [*before[-3:], current] if _KEY.match(each.text)])
        or _indented_twice(lines[: index + 1], current)
        or _below_a_value(source, before, current)
    )
    return _indented_wrongly(source, odd) if odd else None


def _indented_first(before: list[_Line], current: _Line) -> _Line | None:
    """The first line, if it is the only indented one before a line that is not."""
    first = before[0]
    is_only = all(each.number == first.number or each.indent == 0 for each in before)
    return first if is_only and first.indent > current.indent == 0 else None


def _only_uneven(neighbours: list[_Line]) -> _Line | None:
    """The only one of some keys that is indented by an odd number of spaces."""
    uneven = [each for each in neighbours if each.indent % 2]
    return uneven[0] if len(uneven) == 1 else None


def _indented_twice(lines: list[_Line], current: _Line) -> _Line | None:
    """A child indented by more than two spaces with no line level with it, or else its header, if the current line is
    between the two."""
    for header, child in pairwise(lines):
        jumps = _is_header(header) and child.indent - header.indent > 2 and child.number <= current.number
        if jumps and header.indent < current.indent < child.indent:
            before = [each for each in lines if header.number < each.number < current.number]
            return child if sum(each.indent == child.indent for each in before) == 1 else header
    return None


def _below_a_value(source: Source, before: list[_Line], current: _Line) -> _Line | None:
    """The line that is indented below a key with a value, or that key, if the current line's indentation occurs
    elsewhere."""
    above = before[-1]
    aligned = any(each.indent == current.indent for each in before[-4:-1]) or _has_aligned_successor(source, current)
    key = _KEY.match(above.text)
    column = key.end(2) - len(key[2].rpartition(" ")[2]) if key else 0  # after the dash of an item
    if key and not _is_header(above) and current.indent > column and aligned:
        return current if _is_header(current) else above
    return None


def _is_header(line: _Line) -> bool:
    match = _KEY.match(line.text)
    return match is not None and not match[3].partition("#")[0].strip()


def _has_aligned_successor(source: Source, line: _Line) -> bool:
    """Whether the next non-empty line is aligned with this one."""
    following = (source.line_text(number) for number in range(line.number + 1, len(source.starts) + 1))
    text = next((each for each in following if each.strip()), "")
    return _indent(text) == line.indent and _KEY.match(text) is not None


def _indented_wrongly(source: Source, line: _Line) -> Diagnostic | None:
    match = _KEY.match(line.text)
    if match is None:
        return None
    message, help = f"`{match[2]}` is indented wrongly", "indent it like its sibling keys"
    return _at(source, line.number, match.span(2), message, help)
