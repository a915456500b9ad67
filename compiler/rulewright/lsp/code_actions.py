"""Code actions: a quick fix for each finding that has one, and all safe fixes of a file at once."""

from collections.abc import Sequence
from typing import Final

from lsprotocol.types import CodeAction, CodeActionKind, Range, TextEdit, WorkspaceEdit

from rulewright.diagnostics import Diagnostic, Fix
from rulewright.fixes import fixed_texts
from rulewright.lsp.positions import range_at, range_of, to_protocol
from rulewright.lsp.workspace import TextDocument, Workspace

FIX_ALL: Final = f"{CodeActionKind.SourceFixAll.value}.rulewright"
KINDS: Final = (CodeActionKind.QuickFix, FIX_ALL)


def actions(
    workspace: Workspace,
    document: TextDocument,
    range_: Range,
    only: Sequence[CodeActionKind | str] | None,
    encoding: str,
) -> list[CodeAction]:
    """Return the fixes of the findings in a range, and the action that fixes the whole file."""
    result = []
    if _is_requested(CodeActionKind.QuickFix.value, only):
        result += [
            _quick(workspace, each, each.fix, encoding)
            for each in workspace.findings.get(document.path, ())
            if each.fix is not None and _touches(range_of(each.span, document.loaded.source, encoding), range_)
        ]
    if _is_requested(FIX_ALL, only) and (fix_all := _fix_all(workspace, document, encoding)) is not None:
        result.append(fix_all)
    return result


def _quick(workspace: Workspace, finding: Diagnostic, fix: Fix, encoding: str) -> CodeAction:
    changes: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        range_ = range_of(edit.span, workspace.sources.get(edit.span.path), encoding)
        changes.setdefault(workspace.uri(edit.span.path), []).append(TextEdit(range_, edit.text))
    return CodeAction(
        f"{fix.message} ({'safe' if fix.safe else 'unsafe'})",
        kind=CodeActionKind.QuickFix,
        diagnostics=[to_protocol(finding, workspace.sources, workspace.uri, encoding)],
        is_preferred=fix.safe,
        edit=WorkspaceEdit(changes),
    )


def _fix_all(workspace: Workspace, document: TextDocument, encoding: str) -> CodeAction | None:
    """The action that applies all safe fixes within this file, or None."""
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


def _is_requested(kind: str, only: Sequence[CodeActionKind | str] | None) -> bool:
    """Whether a kind of action is requested; `source` includes `source.fixAll`."""
    requested = [each.value if isinstance(each, CodeActionKind) else each for each in only or ()]
    return not requested or any(kind == each or kind.startswith(f"{each}.") for each in requested)


def _touches(one: Range, other: Range) -> bool:
    return one.start <= other.end and other.start <= one.end
