"""Comments that allow a finding: `# rulewright: allow CODE because REASON`.

Behind a value, or on a line of its own above it, the comment covers that line and every value of several lines that
begins there: a text, or what stands in brackets; behind the end of such a value it covers all of it. Above everything
else in the file it covers the whole file. JSON has no comments: there an `accept` entry of the project does it.

A reason is required, and a comment that allows nothing that was found is itself a finding, so that old ones don't pile
up.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rulewright.diagnostics import Diagnostic, Span, error, replace, warning
from rulewright.load import Loaded, Mapping, Node, Scalar, Source, walk
from rulewright.spelling import did_you_mean

PAGES: dict[str, str] = {
    "malformed-suppression": """A comment begins with `rulewright:` but is not an instruction.

    Why it matters: its author believes that a finding is allowed, and it is not.
    Instead: write `# rulewright: allow CODE because REASON`.
    """,
    "suppression-without-reason": """A comment allows a finding without saying why.

    Why it matters: nobody can tell later whether it is still right, so it stays for ever.
    Instead: write `# rulewright: allow CODE because REASON`.
    """,
    "unknown-rule": """A comment, an `accept` entry or an option names a code that no finding has.

    Why it matters: it allows nothing, and its author believes that it does.
    Instead: spell the code as the finding shows it, in brackets behind its severity.
    """,
    "unused-suppression": """A comment or an `accept` entry allows a finding that is not there.

    Why it matters: the next mistake of this kind at this place would go unseen.
    Instead: remove it.
    """,
}
OURS = frozenset(PAGES)

_COMMENT = re.compile(r"(?:(?<=\s)|^)#[ \t]*rulewright:[ \t]*([^\r\n]*)", re.MULTILINE)
_ALLOW = re.compile(r"allow[ \t]+(?P<codes>[^\s,]+(?:[ \t]*,[ \t]*[^\s,]+)*)(?:[ \t]+because\b[ \t]*(?P<reason>.*))?")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One code that a comment allows on the lines `first` to `last`."""

    code: str
    reason: str
    path: str
    first: int
    last: int
    comment: Span
    alone: bool  # the comment allows nothing else, so removing it removes only this

    def covers(self, found: Diagnostic) -> bool:
        """Whether the finding is allowed here."""
        return (
            found.code == self.code
            and found.span.path == self.path
            and self.first <= found.span.line <= self.last
            and found.code not in OURS
        )


def suppress(
    diagnostics: Iterable[Diagnostic], files: Iterable[Loaded], codes: Collection[str]
) -> tuple[list[Diagnostic], list[Diagnostic], list[Suppression]]:
    """The findings that stay (with those about the comments themselves), those allowed, and the comments without use.

    `codes` are all codes there are.
    """
    allowed: list[Suppression] = []
    kept: list[Diagnostic] = []
    for loaded in files:
        comments, found = read(loaded.source, loaded.root, codes)
        allowed += comments
        kept += found
    gone: list[Diagnostic] = []
    used: set[int] = set()
    for each in diagnostics:
        covering = [i for i, suppression in enumerate(allowed) if suppression.covers(each)] if allowed else []
        used.update(covering)
        (gone if covering else kept).append(each)
    return kept, gone, [suppression for i, suppression in enumerate(allowed) if i not in used]


def read(source: Source, root: Node | None, codes: Collection[str]) -> tuple[list[Suppression], list[Diagnostic]]:
    """The suppressions of one file, and what is wrong with its comments. JSON has no comments."""
    if root is None or "rulewright:" not in source.text or source.path.endswith(".json"):
        return [], []
    texts, values = _texts(root), _values(root)
    allowed: list[Suppression] = []
    found: list[Diagnostic] = []
    for comment in _COMMENT.finditer(source.text):
        if any(start <= comment.start() < end for start, end in texts):
            continue
        allows = _ALLOW.fullmatch(comment.group(1).rstrip())
        span = source.span(comment.start(), comment.end())
        if allows is None:
            found.append(_malformed(span))
        elif not (allows.group("reason") or "").strip():
            message = "this comment allows a finding without saying why"
            help = f"write `# rulewright: allow {allows.group('codes')} because ...`"
            found.append(error(span, message, code="suppression-without-reason", help=help))
        else:
            named = [code.strip() for code in allows.group("codes").split(",")]
            first, last = _lines(source, comment, values)
            for code in named:
                if code not in codes:
                    found.append(unknown_rule(span, code, codes))
                    continue
                reason = allows.group("reason").strip()
                allowed.append(Suppression(code, reason, source.path, first, last, span, len(named) == 1))
    return allowed, found


def unused(suppression: Suppression, source: Source) -> Diagnostic:
    """The finding that a comment allows nothing, with the fix that removes it."""
    fix = replace(_removal(suppression.comment, source), "", "remove the comment", safe=True)
    message = f"nothing here is `{suppression.code}`, so this comment allows nothing"
    found = warning(suppression.comment, message, code="unused-suppression", fix=fix if suppression.alone else None)
    return dataclasses.replace(found, about=suppression.code)


def unknown_rule(span: Span, code: str, codes: Collection[str]) -> Diagnostic:
    """The finding that a code is none."""
    return error(span, f"unknown rule `{code}`", code="unknown-rule", help=did_you_mean(code, codes))


def _malformed(span: Span) -> Diagnostic:
    help = "write `# rulewright: allow CODE because REASON`"
    return error(span, "this comment is not an instruction", code="malformed-suppression", help=help)


def _texts(root: Node) -> list[tuple[int, int]]:
    """The offsets of every text: what looks like a comment inside one is none. A block begins below its first line."""
    found = []
    for node in walk(root):
        if isinstance(node, Scalar):
            below = node.raw.find("\n") if node.style in ("|", ">") else 0
            found.append((node.start + max(below, 0), node.end))
        elif isinstance(node, Mapping):
            found += [(entry.key.start, entry.key.end) for entry in node.entries]
    return sorted(found)


def _values(root: Node) -> list[tuple[int, int]]:
    """The offsets of every scalar and of everything in brackets."""
    return [
        (node.start, node.end)
        for node in walk(root)
        if isinstance(node, Scalar) or node.source.text.startswith(("[", "{"), node.start)
    ]


def _lines(source: Source, comment: re.Match[str], values: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The lines a comment covers."""
    line, column = source.position(comment.start())
    if source.line_text(line)[: column - 1].strip():
        covered = [(first, last) for first, last in _spread(source, values) if line in (first, last)]
        return min((first for first, _ in covered), default=line), max((last for _, last in covered), default=line)
    if all(_is_empty(source.line_text(above)) for above in range(1, line)):
        return 1, len(source.starts)
    below = line + 1
    while below <= len(source.starts) and _is_empty(source.line_text(below)):
        below += 1
    return below, max((last for first, last in _spread(source, values) if first == below), default=below)


def _is_empty(line: str) -> bool:
    """Whether a line holds nothing but a comment or a document marker."""
    return not line.strip() or line.lstrip().startswith("#") or line.startswith(("---", "%"))


def _spread(source: Source, values: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The first and the last line of every value."""
    for start, end in values:
        yield source.position(start)[0], source.position(max(end - 1, start))[0]


def _removal(comment: Span, source: Source) -> Span:
    """What goes with a comment: its line where it stands alone, else the blanks before it."""
    line = source.line_text(comment.line)
    before = line[: comment.column - 1]
    if before.strip():
        kept = len(before.rstrip()) + 1
        return Span(comment.path, comment.line, kept, comment.end_line, comment.end_column)
    if comment.line < len(source.starts):
        return Span(comment.path, comment.line, 1, comment.line + 1, 1)
    return Span(comment.path, comment.line, 1, comment.end_line, comment.end_column)
