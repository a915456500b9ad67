"""Quick fixes: the changes that findings offer, safe and unsafe ones by name, and all safe ones of a file at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from lsprotocol.types import CodeAction, CodeActionKind, Position, Range, TextEdit, WorkspaceEdit

from rulewright.diagnostics import Diagnostic, Fix
from rulewright.linting.fixes import fixed_texts
from rulewright.lsp.positions import range_at, range_of
from rulewright.lsp.shifted_findings import shown

if TYPE_CHECKING:
    from rulewright.lsp.workspace import TextDocument, Workspace

FIX_ALL: Final = f"{CodeActionKind.SourceFixAll.value}.rulewright"
KINDS: Final = (CodeActionKind.QuickFix, FIX_ALL)


def actions(
    workspace: Workspace,
    document: TextDocument,
    place: Range,
    only: Sequence[CodeActionKind | str] | None,
    encoding: str,
) -> list[CodeAction]:
    """What can be done about the findings at a place, and about those of the whole file."""
    found = []
    if _wanted(CodeActionKind.QuickFix.value, only):
        found += [
            _quick(workspace, each, each.fix, encoding)
            for each in workspace.findings.get(document.path, ())
            if each.fix is not None and _touches(range_of(each.span, document.loaded.source, encoding), place)
        ]
    if _wanted(FIX_ALL, only) and (everything := _everything(workspace, document, encoding)) is not None:
        found.append(everything)
    return found


def _quick(workspace: Workspace, finding: Diagnostic, fix: Fix, encoding: str) -> CodeAction:
    changes: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        place = range_of(edit.span, workspace.sources.get(edit.span.path), encoding)
        changes.setdefault(workspace.uri(edit.span.path), []).append(TextEdit(place, edit.text))
    return CodeAction(
        f"{fix.message} ({'safe' if fix.safe else 'unsafe'})",
        kind=CodeActionKind.QuickFix,
        diagnostics=[shown(finding, workspace.sources, workspace.uri, encoding)],
        is_preferred=fix.safe,
        edit=WorkspaceEdit(changes),
    )


def _everything(workspace: Workspace, document: TextDocument, encoding: str) -> CodeAction | None:
    """All safe fixes that change nothing but this file."""
    source = document.loaded.source
    own = [
        each
        for each in workspace.findings.get(document.path, ())
        if each.fix is not None and all(edit.span.path == document.path for edit in each.fix.edits)
    ]
    texts, count = fixed_texts(own, {document.path: source})
    if not count:
        return None
    edit = TextEdit(range_at(source, 0, len(source.text), encoding), texts[document.path])
    return CodeAction("Apply all safe fixes", kind=FIX_ALL, edit=WorkspaceEdit({document.uri: [edit]}))


def _wanted(kind: str, only: Sequence[CodeActionKind | str] | None) -> bool:
    """Whether a kind of action is asked for; `source` asks for `source.fixAll`, too."""
    asked = [each.value if isinstance(each, CodeActionKind) else each for each in only or ()]
    return not asked or any(kind == each or kind.startswith(f"{each}.") for each in asked)


def _touches(one: Range, other: Range) -> bool:
    return _point(one.start) <= _point(other.end) and _point(other.start) <= _point(one.end)


def _point(position: Position) -> tuple[int, int]:
    return position.line, position.character
