"""Lint: every mistake of a project or of lone files, from loading to the rules, through one sink.

Whatever finds a mistake - the loader, the structural checker, lowering, a rule - its findings are gathered here,
held against suppression comments, `accept` entries and the caller's selection, and sorted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rulewright import fixes
from rulewright.diagnostics import Diagnostic, Severity, error, warning
from rulewright.documents.case_scorecard import read_case_scorecard
from rulewright.documents.check import read_check
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import (
    PROJECT_FILE_NAMES,
    documents_in,
    has_workflow,
    looks_like_a_project,
    project_file_in,
)
from rulewright.documents.lexicon import read_lexicon, read_lexicons
from rulewright.documents.markers import read_markers
from rulewright.documents.profile import every_check, read_profile, read_profiles
from rulewright.documents.scenario import Scenario, read_scenario
from rulewright.documents.structure import check_structure, suggest
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Loaded, Mapping, load_file, load_text
from rulewright.lower.agreement import disagreements, disagreements_of
from rulewright.manual import pages
from rulewright.project import Project, load_project, path_fits
from rulewright.rules import RULES, code_of, subjects_of
from rulewright.suppressions import suppress, unknown_rule, unused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rulewright.load import Node, Source

PAGES: Final[dict[str, str]] = {
    "unknown-document": """A file that was given to be checked is no kind of document.

    Why it matters: nothing in it was checked, and an empty list of findings would look like success.
    Instead: give a check, scenario, lexicon, profile, scorecard or project file, or mend the keys that mark it as one.
    """,
}
MAX_ROUNDS = 10  # fixes that uncover further fixes


@dataclass(frozen=True, slots=True)
class Selection:
    """Which findings count: patterns of codes (`lexicon-*`); an empty `select` means all, `ignore` wins."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, code: str) -> bool:
        """Whether findings of this code count."""
        chosen = not self.select or any(fnmatchcase(code, pattern) for pattern in self.select)
        return chosen and not any(fnmatchcase(code, pattern) for pattern in self.ignore)

    def check(self) -> None:
        """Raise `UsageError` for a pattern that fits no code: it would silently choose nothing."""
        for pattern in (*self.select, *self.ignore):
            if not any(fnmatchcase(code, pattern) for code in pages()):
                near = suggest(pattern, pages())
                hint = f"; did you mean `{near}`?" if near else ""
                raise UsageError(f"there is no rule `{pattern}`{hint}")


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Report:
    """What linting found: the findings, sorted; those that comments and `accept` entries allow; every file read."""

    diagnostics: tuple[Diagnostic, ...]
    allowed: tuple[Diagnostic, ...]
    sources: dict[str, Source]

    def fails(self, level: Severity = Severity.ADVICE) -> bool:
        """Whether a finding is at least as grave as `level`."""
        return any(found.severity.rank <= level.rank for found in self.diagnostics)

    @property
    def statistics(self) -> list[tuple[str, Severity, int]]:
        """Every code with its severity and how often it was found, the most frequent first."""
        counts = Counter((found.code, found.severity) for found in self.diagnostics)
        return sorted(
            ((code, severity, count) for (code, severity), count in counts.items()),
            key=lambda row: (-row[2], row[0], row[1].rank),
        )


def lint(paths: Sequence[Path | str], selection: Selection = EVERYTHING) -> Report:
    """The findings of every project and file at `paths`; a folder that is no project stands for the files in it.

    Raises `UsageError` for a path that doesn't exist and for a selection that names no rule.
    """
    selection.check()
    found: list[Diagnostic] = []
    allowed: list[Diagnostic] = []
    sources: dict[str, Source] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise UsageError(f"there is no file or folder `{path}`")
        for report in _reports(path, selection):
            found += report.diagnostics
            allowed += report.allowed
            sources |= report.sources
    return Report(_sorted(found), _sorted(allowed), dict(sorted(sources.items())))


def lint_project(project: Project, selection: Selection = EVERYTHING) -> Report:
    """The findings of a project that is already loaded."""
    found = [*project.diagnostics, *lowering_findings(project), *_rule_findings(_subjects(project))]
    found += _harness_findings(project.scenarios.values())
    of_workflow, read = _workflow_findings(project)
    found, allowed = _without_accepted(project, [*found, *of_workflow], selection)
    return _report(found, allowed, (*project.loaded, *read), selection)


def lowering_findings(project: Project) -> list[Diagnostic]:
    """What stands in the way of a plan of any check, scorecard or profile of the project."""
    # Imported here: a document that stands alone is not lowered, and expressions are slow to import.
    from rulewright.lower.corpora import lower_corpus
    from rulewright.lower.machines import lower_machine
    from rulewright.lower.plan import DEFAULTS, lower_check
    from rulewright.lower.scorecard import lower_scorecard
    from rulewright.lower.selection import select
    from rulewright.lower.semantics import policies
    from rulewright.lower.verifiers import Lowering

    found = disagreements(project)
    lowering = Lowering(project, every_check(), policies(project.semantics), found)
    for check in project.checks:
        lower_check(check, lowering)
    for machine in project.state_machines.values():
        if machine.name not in lowering.machines:
            lower_machine(machine, project.lexicons, found)
    for corpus in project.corpora.values():
        if corpus.name not in lowering.corpora:
            lower_corpus(corpus, found)
    for profile in project.profiles.values():
        if profile.select is not None:
            select(profile, project.checks, found)
    scoring = project.scoring.fields if project.scoring else {}
    fields = {check.id: {**DEFAULTS, **check.fields} for check in project.checks}
    for card in project.scorecards.values():
        found += lower_scorecard(card, scoring, fields, project.blindspots)[1]
    broken = {each.span.path for each in project.diagnostics}
    for loaded in project.loaded:
        if kind_of(loaded.root) == CASE_SCORECARD and loaded.source.path not in broken:
            found += _case_findings(loaded.root)
    return found


def _workflow_findings(project: Project) -> tuple[list[Diagnostic], tuple[Loaded, ...]]:
    """What is wrong with the project's workflow, and the files read for it. Imported late, as lowering is."""
    if not (project.file is not None and project.file.workflow) and not has_workflow(project.root):
        return [], ()
    from rulewright.workflows import findings_of

    return findings_of(project)


def _harness_findings(scenarios: Iterable[Scenario]) -> list[Diagnostic]:
    """What stands in the way of playing scenarios. Imported late, as lowering is, and only for those that need it."""
    conditional = [
        each
        for each in scenarios
        if any(turn.branches for turn in each.turns) or (each.persona is not None and each.persona.visible)
    ]
    if not conditional:
        return []
    from rulewright.lower.harness import harness_findings

    return [found for each in conditional for found in harness_findings(each)]


def _case_findings(root: Node | None) -> list[Diagnostic]:
    """What a scorecard over cases holds beyond its structure. Imported late, as lowering is."""
    from rulewright.score_batches import case_findings

    return case_findings(root) if isinstance(root, Mapping) else []


def lint_text(text: str | bytes, path: str, selection: Selection = EVERYTHING) -> Report:
    """The findings of one document that stands alone, for instance one that comes from a pipe; `path` names it."""
    return _lone(load_text(text, path), selection)


def fix(report: Report, *, unsafe: bool = False) -> dict[str, str]:
    """The text of every file that the report's fixes change."""
    return fixes.fixed_texts(report.diagnostics, report.sources, unsafe=unsafe)[0]


def fix_files(paths: Sequence[Path | str], selection: Selection = EVERYTHING, *, unsafe: bool = False) -> Report:
    """Apply fixes to the files until none is left, and give the findings that remain."""
    report = lint(paths, selection)
    for _ in range(MAX_ROUNDS):
        changed = fix(report, unsafe=unsafe)
        if not changed:
            break
        for path, text in changed.items():
            Path(path).write_bytes(fixes.as_bytes(report.sources[path], text))
        report = lint(paths, selection)
    return report


def _reports(path: Path, selection: Selection) -> Iterator[Report]:
    if path.is_file() and path.name not in PROJECT_FILE_NAMES:
        yield _file(path, selection)
    elif path.is_file() or project_file_in(path) or looks_like_a_project(path):
        try:
            yield lint_project(load_project(path), selection)
        except DocumentError as failure:  # the project file itself is broken
            files = [load_file(name) for name in sorted({found.span.path for found in failure.diagnostics})]
            yield _report(failure.diagnostics, [], files, selection)
    else:
        for file in documents_in(path, deep=True):
            yield _file(file, selection)


def _file(path: Path, selection: Selection) -> Report:
    """A file that was given alone; a workflow brings the project that it belongs to, for agents and contracts."""
    loaded = load_file(path)
    if kind_of(loaded.root) != "workflow":
        return _lone(loaded, selection)
    from rulewright.workflows import check, load_workflow

    workflow = load_workflow(path)
    return _report(check(workflow), [], workflow.loaded, selection)


def _lone(loaded: Loaded, selection: Selection) -> Report:
    """A document without its project: its structure, and the rules that look at one document."""
    found = list(loaded.diagnostics)
    kind = kind_of(loaded.root)
    if kind == "workflow":
        from rulewright.workflows import check, workflow_of

        return _report(check(workflow_of(loaded)), [], (loaded,), selection)
    if isinstance(loaded.root, Mapping) and kind is not None:
        found += check_structure(kind, loaded.root)
        subjects = _lone_subjects(kind, loaded.root, Path(loaded.source.path).stem)
        found += [each for check in subjects.get("Check", ()) for each in disagreements_of(check)]
        found += _rule_findings(subjects)
        found += _harness_findings(subjects.get("Scenario", ()))
        if kind == CASE_SCORECARD and not found:
            found += _case_findings(loaded.root)
    elif not found:
        message = "this is no document that can be checked" if loaded.root else "the file is empty"
        code = "unknown-document" if loaded.root else "empty-document"
        found.append(error(loaded.source.span(0, 0), message, code=code))
    return _report(found, [], (loaded,), selection)


def _subjects(project: Project) -> dict[str, Sequence[Any]]:
    """What rules look at, by the name of its model."""
    return {
        "CaseScorecardDocument": tuple(
            read_case_scorecard(loaded.root)
            for loaded in project.loaded
            if isinstance(loaded.root, Mapping) and kind_of(loaded.root) == CASE_SCORECARD
        ),
        "Check": project.checks,
        "Lexicon": tuple(project.lexicons.values()),
        "MarkerSet": project.markers,
        "Profile": tuple(project.profiles.values()),
        "Project": (project,),
        "Scenario": tuple(project.scenarios.values()),
        "ScorecardDocument": tuple(project.scorecards.values()),
    }


def _lone_subjects(kind: str, root: Mapping, name: str) -> dict[str, Sequence[Any]]:
    """What rules look at in a document without a project."""
    match kind:
        case "check":
            return {"Check": (read_check(root),)}
        case "lexicon":
            return {"Lexicon": (read_lexicon(root, name),)}
        case "lexicons":
            return {"Lexicon": read_lexicons(root)}
        case "markers":
            return {"MarkerSet": (read_markers(root, name),)}
        case "profile":
            return {"Profile": (read_profile(root, name),)}
        case "profiles":
            return {"Profile": read_profiles(root)}
        case "scenario":
            return {"Scenario": (read_scenario(root),)}
        case "scorecard":
            from rulewright.documents.scorecard import read_scorecard

            card, _ = read_scorecard(root)
            return {"ScorecardDocument": (card,) if card else ()}
        case "case_scorecard":
            return {"CaseScorecardDocument": (read_case_scorecard(root),)}
    return {}


def _rule_findings(subjects: dict[str, Sequence[Any]]) -> list[Diagnostic]:
    """What the rules find, each finding under its rule's code."""
    return [
        replace(found, code=code_of(rule))
        for rule in RULES
        for kind in subjects_of(rule)
        for subject in subjects.get(kind, ())
        for found in rule(subject)
    ]


def _without_accepted(
    project: Project, found: Iterable[Diagnostic], selection: Selection
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """The findings that no `accept` entry covers, with those about the entries; and those that one does."""
    kept: list[Diagnostic] = []
    allowed: list[Diagnostic] = []
    used: set[int] = set()
    for each in found:
        covering = {
            i
            for i, entry in enumerate(project.accept)
            if entry.rule == each.code and path_fits(entry.path, each.span.path, project.root)
        }
        used |= covering
        (allowed if covering else kept).append(each)
    for i, entry in enumerate(project.accept):
        place = entry.node.get("rule") or entry.node
        if entry.rule and entry.rule not in pages():
            kept.append(unknown_rule(place.span, entry.rule, pages()))
        elif i not in used and selection.wants(entry.rule):
            message = f"nothing below `{entry.path}` is `{entry.rule}`, so this entry accepts nothing"
            kept.append(warning(place, message, code="unused-suppression"))
    return kept, allowed


def _report(
    found: Iterable[Diagnostic], allowed: list[Diagnostic], files: Sequence[Loaded], selection: Selection
) -> Report:
    sources = {loaded.source.path: loaded.source for loaded in files}
    # The manual gathers every page there is, so it is only opened where a comment names a code.
    codes = pages() if any("rulewright:" in loaded.source.text for loaded in files) else {}
    kept, gone, useless = suppress(found, files, codes)
    kept += [unused(each, sources[each.path]) for each in useless if selection.wants(each.code)]
    wanted = [each for each in kept if selection.wants(each.code)]
    return Report(_sorted(wanted), _sorted([*allowed, *gone]), dict(sorted(sources.items())))


def _sorted(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings in order, each once: two stages may see the same mistake."""
    return tuple(sorted(dict.fromkeys(found), key=lambda each: each.sort_key))
