"""Comments that allow a finding: `# rulewright: allow CODE because REASON`.

After a value, or on a line of its own above it, the comment covers that line and every multi-line text or bracketed
value that begins there; after the end of such a value it covers all of it. Above everything else in the file it covers
the whole file. JSON has no comments: there an `accept` entry of the project does the same.

A reason is required, and an unused comment is itself a finding, so that old ones don't pile up.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct, structs

from rulewright.diagnostics import Diagnostic, Span, error, replace, warning
from rulewright.load import Loaded, Mapping, Node, Scalar, Source, walk
from rulewright.spelling import unknown_name

SUPPRESSION_CODES = frozenset(
    ("malformed-suppression", "suppression-without-reason", "unknown-rule", "unused-suppression")
)

_COMMENT = re.compile(r"(?:(?<=\s)|^)#[ \t]*rulewright:[ \t]*([^\r\n]*)", re.MULTILINE)
_ALLOW = re.compile(r"allow[ \t]+(?P<codes>[^\s,]+(?:[ \t]*,[ \t]*[^\s,]+)*)(?:[ \t]+because\b[ \t]*(?P<reason>.*))?")


class Suppression(Struct, frozen=True):
    """One code that a comment allows on the lines `first` to `last`."""

    code: str
    reason: str
    path: str
    first: int
    last: int
    comment: Span
    alone: bool  # the comment allows nothing else, so removing it removes only this

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether the comment allows the finding."""
        return (
            diagnostic.code == self.code
            and diagnostic.span.path == self.path
            and self.first <= diagnostic.span.line <= self.last
            and diagnostic.code not in SUPPRESSION_CODES
        )


def suppress(
    diagnostics: Iterable[Diagnostic], files: Iterable[Loaded], codes: Collection[str]
) -> tuple[list[Diagnostic], list[Diagnostic], list[Suppression]]:
    """Return the remaining findings (with those about the comments), the allowed findings, and the unused comments.

    `codes` are all existing codes.
    """
    allowed: list[Suppression] = []
    remaining: list[Diagnostic] = []
    for loaded in files:
        comments, findings = read(loaded.source, loaded.root, codes)
        allowed += comments
        remaining += findings
    suppressed: list[Diagnostic] = []
    used: set[int] = set()
    for each in diagnostics:
        covering = [i for i, suppression in enumerate(allowed) if suppression.covers(each)] if allowed else []
        used.update(covering)
        (suppressed if covering else remaining).append(each)
    return remaining, suppressed, [suppression for i, suppression in enumerate(allowed) if i not in used]


def read(source: Source, root: Node | None, codes: Collection[str]) -> tuple[list[Suppression], list[Diagnostic]]:
    """Return the suppressions of one file and the findings about its comments. JSON has no comments."""
    if root is None or "rulewright:" not in source.text or source.path.endswith(".json"):
        return [], []
    texts, values = _texts(root), list(lines_of_values(root))
    allowed: list[Suppression] = []
    findings: list[Diagnostic] = []
    for comment in _COMMENT.finditer(source.text):
        if any(start <= comment.start() < end for start, end in texts):
            continue
        allows = _ALLOW.fullmatch(comment.group(1).rstrip())
        span = source.span(comment.start(), comment.end())
        if allows is None:
            findings.append(_malformed(span))
        elif not (allows.group("reason") or "").strip():
            message = "this comment allows a finding without saying why"
            help = f"write `# rulewright: allow {allows.group('codes')} because ...`"
            findings.append(error(span, message, code="suppression-without-reason", help=help))
        else:
            listed_codes = [code.strip() for code in allows.group("codes").split(",")]
            first, last = _lines(source, comment, values)
            for code in listed_codes:
                if code not in codes:
                    findings.append(unknown_name(span, "rule", code, codes, code="unknown-rule"))
                    continue
                reason = allows.group("reason").strip()
                allowed.append(Suppression(code, reason, source.path, first, last, span, len(listed_codes) == 1))
    return allowed, findings


def unused(suppression: Suppression, source: Source) -> Diagnostic:
    """Return the finding for a comment that allows nothing, with a fix that removes it."""
    fix = replace(_removal(suppression.comment, source), "", "remove the comment", safe=True)
    message = f"`{suppression.code}` does not occur here, so this comment allows nothing"
    finding = warning(suppression.comment, message, code="unused-suppression", fix=fix if suppression.alone else None)
    return structs.replace(finding, about=suppression.code)


def _malformed(span: Span) -> Diagnostic:
    help = "write `# rulewright: allow CODE because REASON`"
    return error(span, "this comment is not a valid suppression", code="malformed-suppression", help=help)


def _texts(root: Node) -> list[tuple[int, int]]:
    """The offset ranges of texts, which can't hold comments. The text of a block scalar starts on its second line."""
    ranges = []
    for node in walk(root):
        if isinstance(node, Scalar):
            below = node.raw.find("\n") if node.style in ("|", ">") else 0
            ranges.append((node.start + max(below, 0), node.end))
        elif isinstance(node, Mapping):
            ranges += [(entry.key.start, entry.key.end) for entry in node.entries]
    return sorted(ranges)


def _lines(source: Source, comment: re.Match[str], values: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the first and last line that a comment covers."""
    line, column = source.position(comment.start())
    if source.line_text(line)[: column - 1].strip():
        covered = [(first, last) for first, last in values if line in (first, last)]
        return min((first for first, _ in covered), default=line), max((last for _, last in covered), default=line)
    if all(_is_empty(source.line_text(above)) for above in range(1, line)):
        return 1, len(source.starts)
    below = line + 1
    while below <= len(source.starts) and _is_empty(source.line_text(below)):
        below += 1
    return below, max((last for first, last in values if first == below), default=below)


def _is_empty(line: str) -> bool:
    """Whether a line is empty, a comment or a document marker."""
    return not line.strip() or line.lstrip().startswith("#") or line.startswith(("---", "%"))


def lines_of_values(root: Node) -> Iterator[tuple[int, int]]:
    """The first and last line of every scalar and bracketed collection."""
    source = root.source
    for node in walk(root):
        if isinstance(node, Scalar) or source.text.startswith(("[", "{"), node.start):
            yield source.position(node.start)[0], source.position(max(node.end - 1, node.start))[0]


def _removal(comment: Span, source: Source) -> Span:
    """The span to remove with a comment: the whole line where it is alone, else also the spaces before it."""
    line = source.line_text(comment.line)
    prefix = line[: comment.column - 1]
    if prefix.strip():
        column = len(prefix.rstrip()) + 1
        return Span(comment.path, comment.line, column, comment.end_line, comment.end_column)
    if comment.line < len(source.starts):
        return Span(comment.path, comment.line, 1, comment.line + 1, 1)
    return Span(comment.path, comment.line, 1, comment.end_line, comment.end_column)
