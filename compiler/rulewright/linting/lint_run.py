"""Lints projects and single files, and applies fixes."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Mapping as Table
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright import dependencies, fixes
from rulewright.causes.repeated import with_consequences_in_cases
from rulewright.check.document import document_findings
from rulewright.diagnostics import Diagnostic, Guess, error, in_order
from rulewright.documents.base import scalar
from rulewright.documents.kinds import CASE_SETTINGS, CASES, RULE_KINDS, is_command_output, kind_of, seems_a_document
from rulewright.documents.layout import (
    PROJECT_FILE_NAMES,
    TABLES,
    case_lines_in,
    documents_in,
    folder_near,
    holds_outputs,
    looks_like_a_project,
    project_file_in,
)
from rulewright.documents.validation import ONE_DOCUMENT
from rulewright.errors import UsageError
from rulewright.linting.lint_report import Report, explained_in, report_of
from rulewright.linting.lint_settings import DEFAULT, LintSettings, RuleSelection, may_be_used, settings_around
from rulewright.load import Loaded, Mapping, Node, Scalar, Source, load_file, load_text, nodes
from rulewright.load.file_reader import unsaved
from rulewright.once_a_run import one_run
from rulewright_runtime.cases.records import CASE_FOLDERS, CASE_SETTINGS_FILE, OUTPUT_FOLDER
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.input_files import open_regular

KNOWN_BY: Final = (
    "documents are recognized by their keys: `fail`, `pass`, `prompt` or `routing` (check), `scenario_id`, `patterns` "
    "(lexicon), `tasks` (workflow), `scorecard`, `project`, `test_id` (test case)"
)
OF_PROMPTFOO: Final = frozenset({"prompts", "providers"})
MAX_ROUNDS = 10  # fixes that uncover further fixes
MAX_HEADER: Final = 2**16  # bytes of the first line of a table
NAME_KEYS: Final = {
    "check": "id",
    "scenario": "scenario_id",
    "scorecard": "scorecard",
    "lexicon": "name",
    "state_machine": "name",
}
LIKE_THEIR_FILES: Final = 2  # documents of a kind, at least, beside one that has another name


@one_run()
def lint(paths: Sequence[Path | str], selection: RuleSelection = DEFAULT) -> Report:
    """Return the findings of every project and file at `paths`; a folder that is not a project means the files in it,
    and a folder with projects below it these projects and the other documents in it.

    The lint settings of the nearest project file above also apply to a single file.

    Raises `UsageError` for a path that doesn't exist or contains no document, and for a selection of unknown rules.
    """
    selection.check()
    found: list[Diagnostic] = []
    allowed: list[Diagnostic] = []
    explained: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    around = cache(settings_around)  # one look-up per folder
    for path in map(Path, paths):
        if not dependencies.exists(path):
            raise UsageError(f"no such file or folder: `{path}`")
        reports = list(_reports(path, selection, around))
        if not any(report.sources for report in reports):
            raise UsageError(
                f"no document to check in `{path}`; `rulewright init` starts a project"
            )  # silence would look like success
        in_cases = [each for report in reports[1:] for each in (*report.allowed, *report.diagnostics)]  # linted alone
        own = [each for report in reports for each in report.diagnostics if not may_be_used(each, in_cases)]
        shown = own if selection.select or not reports[1:] else with_consequences_in_cases(own)
        found += shown
        explained += explained_in(own, shown)
        for report in reports:
            allowed += report.allowed
            explained += report.explained
            sources |= report.sources
    return Report(in_order(found), in_order(allowed), dict(sorted(sources.items())), in_order(explained))


def lint_text(text: str | bytes, path: str, selection: RuleSelection = DEFAULT) -> Report:
    """Return the findings of a single document, for instance from a pipe. `path` is its name; the settings of the
    nearest project file above it apply."""
    return _lone(load_text(text, path), selection, settings_around(Path(path).parent))


def fix(report: Report, *, unsafe: bool = False) -> dict[str, str]:
    """Return the new text of every file that the report's fixes change."""
    return fixes.fixed_texts(report.diagnostics, report.sources, unsafe=unsafe)[0]


class Fixed(Struct, frozen=True):
    """The result of fixing: the original sources, the new text of each changed file, and the remaining report."""

    sources: dict[str, Source]
    texts: dict[str, str]
    left: Report

    def save(self) -> None:
        """Write every changed file atomically. Raises OSError if one can't be written."""
        for path, text in self.texts.items():
            write_whole(path, fixes.as_bytes(self.sources[path], text))

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        return "".join(fixes.diff(self.sources[path], text) for path, text in sorted(self.texts.items()))


def fixed(report: Report, again: Callable[[Table[str, str]], Report], *, unsafe: bool = False) -> Fixed:
    """Apply fixes until none is left; `again` lints with these texts in place of the files."""
    sources: dict[str, Source] = {}
    texts: dict[str, str] = {}
    for _ in range(MAX_ROUNDS):
        sources = {**report.sources, **sources}
        changed = fix(report, unsafe=unsafe)
        if not changed:
            break
        texts |= changed
        report = again(texts)
    return Fixed(sources, texts, report)


def fixed_files(paths: Sequence[Path | str], selection: RuleSelection, *, unsafe: bool) -> Fixed:
    """Return the result of fixing these files without writing it."""

    def again(texts: Table[str, str]) -> Report:
        with unsaved({os.path.abspath(path): text for path, text in texts.items()}):
            return lint(paths, selection)

    return fixed(lint(paths, selection), again, unsafe=unsafe)


def _reports(path: Path, selection: RuleSelection, around: Callable[[Path], LintSettings]) -> Iterator[Report]:
    if dependencies.is_file(path) and path.suffix.lower() in TABLES:
        yield _table(path, selection, around)
    elif dependencies.is_file(path) and path.name not in PROJECT_FILE_NAMES:
        yield _file(_loaded(path), path, selection, around)
    elif dependencies.is_file(path) or project_file_in(path) or looks_like_a_project(path):
        yield _project(path, selection)
        for each in () if dependencies.is_file(path) else _about_cases(path):
            if isinstance(each, Path):
                yield _table(each, selection, around)
            else:
                yield _file(each, Path(each.source.path), selection, around)
    else:
        files = {file: _loaded(file) for file in documents_in(path, deep=True)}
        if has_projects := any(_is_project(file, loaded) for file, loaded in files.items()):
            files = {file: loaded for file, loaded in files.items() if not _is_of_others(file, loaded)}
        unlike = {} if has_projects else _misnamed(files.values())  # a project compares its own names
        for file, loaded in files.items():
            if not is_command_output(loaded.root):
                yield _file(loaded, file, selection, around, unlike.get(loaded.source.path))
        for file in case_lines_in(path):
            loaded = load_file(file)
            is_unreadable = bool(loaded.diagnostics) and not has_projects
            is_no_batch = _is_below_cases(file) and not _holds_records(loaded.root)
            if is_unreadable or is_no_batch or kind_of(loaded.root) == CASES:  # others are chats, or of runs
                yield _file(loaded, file, selection, around)
        for table in case_lines_in(path, TABLES):
            lists_ids = _lists_ids(table)
            if lists_ids or (lists_ids is None and not has_projects):
                yield _table(table, selection, around)


def _misnamed(files: Iterable[Loaded]) -> dict[str, Diagnostic]:
    """Return a finding, by its path, for the only document of a kind with another name than its file."""
    named: dict[str, list[tuple[str, Scalar]]] = {}
    for loaded in files:
        kind = kind_of(loaded.root) or ""
        name = scalar(loaded.root, NAME_KEYS[kind]) if kind in NAME_KEYS else None
        if name is not None:
            named.setdefault(kind, []).append((loaded.source.path, name))
    found = {}
    for kind, names in named.items():
        unlike = [(path, name) for path, name in names if name.value != Path(path).stem]
        for path, name in unlike if len(unlike) == 1 and len(names) > LIKE_THEIR_FILES else ():
            message = f"`{NAME_KEYS[kind]}` is `{name.value}`, but the file is called `{Path(path).stem}`"
            found[path] = error(name, message, code="id-differs-from-file-name", help=Guess(Path(path).stem))
    return found


def _is_project(file: Path, loaded: Loaded) -> bool:
    return file.name in PROJECT_FILE_NAMES or _kind(loaded) == "project"


def _is_of_others(file: Path, loaded: Loaded) -> bool:
    """Whether a file in a folder of projects is of another tool, such as its settings: it has the keys of no kind. A
    file that can't be read is one if it seems to have such keys."""
    if _is_project(file, loaded) or file.name == CASE_SETTINGS_FILE or holds_outputs(str(file)):
        return False
    if loaded.root is None:
        return not seems_a_document(loaded.source)
    is_rule_set = isinstance(loaded.root, Mapping) and not RULE_KINDS.isdisjoint(loaded.root.index)
    return kind_of(loaded.root) is None and not is_rule_set


def _is_below_cases(file: Path) -> bool:
    """Whether a file is in a folder of cases, or in that of a concern below one."""
    return any(each.name in CASE_FOLDERS for each in file.absolute().parents[:2])


def _holds_records(root: nodes.Node | None) -> bool:
    return isinstance(root, nodes.Sequence) and any(isinstance(each, Mapping) for each in root.items)


def _about_cases(project: Path) -> Iterator[Loaded | Path]:
    """The settings, test cases and outputs of a project, tables by their paths. A folder of readable files that hold
    something else has no cases, and without cases it has no outputs."""
    if dependencies.is_there(settings := project / CASE_SETTINGS_FILE):
        yield _loaded(settings)
    has_cases = False
    for folder in (place for name in CASE_FOLDERS if dependencies.is_folder(place := project / name)):
        read = [_loaded(file) for file in (*documents_in(folder, deep=True), *case_lines_in(folder))]
        tables = [table for table in case_lines_in(folder, TABLES) if _lists_ids(table) is not False]
        if any(kind_of(each.root) == CASES for each in read) or all(each.root is None for each in read):
            has_cases = has_cases or bool(read)
            yield from read
        has_cases = has_cases or bool(tables)
        yield from tables
    if has_cases and dependencies.is_folder(outputs := project / OUTPUT_FOLDER):
        yield from (_loaded(file) for file in (*documents_in(outputs, deep=True), *case_lines_in(outputs)))
        yield from case_lines_in(outputs, TABLES)


def _lists_ids(table: Path) -> bool | None:
    """Whether the header of a table names test ids; None for one that can't be read, of which loading reports why."""
    dependencies.note_content(table, None)
    try:
        with open_regular(table) as file:
            return b"test_id" in file.readline(MAX_HEADER)
    except (OSError, ValueError):
        return None


def _table(path: Path, selection: RuleSelection, around: Callable[[Path], LintSettings]) -> Report:
    from rulewright.check.cases import table_findings

    loaded, found = table_findings(path)
    return report_of(found, (loaded,), selection, around(path.parent), whole=False)


def _project(path: Path, selection: RuleSelection) -> Report:
    from rulewright.linting.projects import lint_project_at

    return lint_project_at(path, selection)


def _loaded(path: Path) -> Loaded:
    return load_file(path, comments=path.name == CASE_SETTINGS_FILE)


def _file(
    loaded: Loaded,
    path: Path,
    selection: RuleSelection,
    around: Callable[[Path], LintSettings],
    unlike: Diagnostic | None = None,
) -> Report:
    """Lint a single file; `unlike` is what the files around it say about its name."""
    kind = _kind(loaded)
    if kind == "project":
        return _project(path, selection)
    if kind == "workflow":
        from rulewright.linting.projects import lint_workflow

        return lint_workflow(path, selection)
    if unlike is not None:
        loaded = replace(loaded, diagnostics=(*loaded.diagnostics, unlike))
    return _lone(loaded, selection, around(path.parent))


def _kind(loaded: Loaded) -> str | None:
    """The kind of a single file. In a folder of outputs a file of no kind holds outputs, and near test cases any file
    does: an output may have any keys."""
    kind, path = kind_of(loaded.root), Path(loaded.source.path)
    if holds_outputs(str(path)) and (kind is None or any(folder_near(path, name) for name in CASE_FOLDERS)):
        return CASES
    return kind


def _lone(loaded: Loaded, selection: RuleSelection, settings: LintSettings) -> Report:
    """Lint a document without its project: its structure, and the rules for single documents."""
    path = loaded.source.path

    def again(texts: Table[str, str]) -> list[Diagnostic]:
        return [found for text in texts.values() for found in _lone_findings(load_text(text, path), settings)]

    return report_of(_lone_findings(loaded, settings), (loaded,), selection, settings, again, whole=False)


def _advice(root: Node) -> str:
    """How to make a document known."""
    if isinstance(root, Mapping) and root.index.keys() >= OF_PROMPTFOO:
        return f"`rulewright init --from {Path(root.source.path).name}` translates a configuration of promptfoo"
    return ONE_DOCUMENT if isinstance(root, nodes.Sequence) else KNOWN_BY


def _lone_findings(loaded: Loaded, settings: LintSettings) -> list[Diagnostic]:
    found, kind = list(loaded.diagnostics), _kind(loaded)
    if kind == "workflow":
        from rulewright.linting.projects import workflow_findings

        found = workflow_findings(loaded)
    elif loaded.root is not None and kind in (CASES, CASE_SETTINGS):
        from rulewright.check.cases import case_document_findings

        found += case_document_findings(loaded.root)
    elif isinstance(loaded.root, Mapping) and kind is not None:
        found += document_findings(kind, loaded.root, settings.vocabulary)
    elif isinstance(loaded.root, Mapping) and not RULE_KINDS.isdisjoint(loaded.root.index):
        pass  # a rule set, which is checked with its project
    elif not found and loaded.root:
        message = "not a document of a known kind"
        found.append(error(loaded.source.span(0, 0), message, code="unknown-document", help=_advice(loaded.root)))
    elif not found:
        found.append(error(loaded.source.span(0, 0), "the file is empty", code="empty-document"))
    return found
