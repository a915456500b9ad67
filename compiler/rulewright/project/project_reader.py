"""Reads a project: finds its folders, reads every document, and collects the findings."""

import os
from collections.abc import Callable
from collections.abc import Mapping as Environment
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from msgspec.structs import replace

from rulewright import dependencies
from rulewright.diagnostics import Diagnostic, Guess, error, is_within, warning
from rulewright.documents.base import Document, first_place, items, scalar, text, with_vocabulary
from rulewright.documents.check import CheckDocument, read_check
from rulewright.documents.corpus import CorpusDocument
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import (
    DocumentPath,
    documents_in,
    looks_like_a_project,
    nearest_project,
    path_meant,
    places,
    project_file_in,
    resolve,
)
from rulewright.documents.lexicon import LexiconDocument, MarkerSet, invalid_regex, read_lexicons
from rulewright.documents.library import DocumentReader, structure_findings
from rulewright.documents.plugins import functions_of
from rulewright.documents.profile import Profile, read_profile, read_profiles
from rulewright.documents.project_file import ProjectFile, read_pricing, read_project_file, read_scoring
from rulewright.documents.rule_set import load_rule_sets
from rulewright.documents.scenario import ScenarioDocument, read_scenario
from rulewright.documents.scorecard import ScorecardDocument, read_scorecard
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.documents.typed_reader import read_named
from rulewright.documents.validation import validate
from rulewright.documents.vocabulary import Vocabulary, vocabulary_findings
from rulewright.errors import DocumentError, UsageError
from rulewright.load import Mapping, Node, load_file
from rulewright.project.project import Project
from rulewright.spelling import is_slip_of, is_spelt_like
from rulewright_grammar import schema_names

EXCHANGE_TURNS: Final = 8  # turns of a window at most, unless the project file sets another number
Model = TypeVar("Model", bound=Document)
Named = TypeVar("Named", LexiconDocument, Profile)


def load_project(
    path: Path | str, environment: Environment[str, str] | None = None, *, any_folder: bool = False
) -> Project:
    """Load the project of a project file, or of a folder that has one or the layout of a project.

    With `any_folder` any other folder is a project too, usually without documents. `environment` replaces the process's
    variables in the project file. Raises `UsageError` without a project and `DocumentError` where the project
    file can't be read; mistakes in documents are in `Project.diagnostics`.
    """
    start = Path(path)
    file = project_file_in(start) if dependencies.is_folder(start) else start
    if file is None and not any_folder and not looks_like_a_project(start):
        raise UsageError(f"`{path}` is not a project: it contains neither `rulewright.yaml` nor a folder `checks`")
    if file is not None and not dependencies.is_there(file):
        raise UsageError(f"project file not found: `{path}`")
    return _ProjectReader(environment=os.environ if environment is None else environment).project(start, file)


def load_nearest() -> Project | None:
    """Load the project of the working folder, or of its nearest parent with one; None without any. Raises as
    `load_project` does."""
    found = nearest_project()
    return None if found is None else load_project(found)


@dataclass(slots=True)
class _ProjectReader(DocumentReader):
    """Reads the documents of one project and collects findings."""

    environment: Environment[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)  # kinds with a document that can't be read or found

    def project(self, start: Path, path: Path | None) -> Project:
        file = None if path is None else self._project_file(path)
        folder = start if path is None else path.parent
        root = folder if file is None else file.top
        paths = places(root, file, path)
        self._require(file, paths)
        singles = {kind: self._single(paths.get(kind), kind) for kind in ("blindspots", "pricing")}
        roots = {kind: mapping for kind, mapping in singles.items() if mapping is not None}
        if "checks" in paths and (meta := self._meta(paths["checks"].path)) is not None:
            roots["meta"] = meta
        scoring = self._single(paths.get("scoring"), "scoring")
        rules = self._rule_sets(paths.get("rules"))
        return Project(
            name=file.name if file else folder.resolve().name,
            folder=folder,
            root=root,
            path=path,
            file=file,
            semantics=file.semantics if file else "seed",
            exchange_turns=(file.exchange_turns if file else None) or EXCHANGE_TURNS,
            checks=tuple(self._checks(paths, file).values()),
            lexicons=self._named(
                paths.get("lexicons"), "lexicon", partial(read_named, LexiconDocument), "lexicons", read_lexicons
            ),
            markers=self._markers(paths.get("markers"), file, path, root),
            scenarios=self._scenarios(paths),
            profiles=self._named(paths.get("profiles"), "profile", read_profile, "profiles", read_profiles),
            blindspots={key: text(roots["blindspots"], key) for key in roots["blindspots"].keys}
            if "blindspots" in roots
            else {},
            scoring=None if scoring is None else read_scoring(scoring),
            pricing=read_pricing(roots["pricing"]) if "pricing" in roots else {},
            scorecards=self.scorecards(paths.get("scorecards")),
            rule_sets=rules[0],
            rule_origins=rules[1],
            state_machines=self._each(
                paths.get("state_machines"), "state_machine", partial(read_named, StateMachineDocument)
            ),
            corpora=self._each(paths.get("corpora"), "corpus", partial(read_named, CorpusDocument)),
            roots=roots,
            loaded=tuple(self.loaded),
            diagnostics=tuple(sorted(self.findings, key=lambda findings: findings.sort_key)),
            unreadable=frozenset(
                {_kind_at(loaded.source.path, paths) for loaded in self.loaded if not isinstance(loaded.root, Mapping)}
                | self.unreadable
            ),
        )

    def _project_file(self, path: Path) -> ProjectFile:
        root = self._load(path, "project")
        if root is None:
            raise DocumentError(self.findings)
        file = read_project_file(root, self.environment)
        vocabulary_node = root.get("vocabulary")
        if vocabulary_node is not None and any(is_within(each.span, vocabulary_node.span) for each in self.findings):
            self.unreadable.add("vocabulary")
        for name, node in file.unset:
            self.findings.append(
                error(node, f"the variable `{name}` is not set and has no default", code="unset-variable")
            )
        patterns = [scalar(item, "pattern") for item in items(root, "redact")]
        patterns += map(scalar, items(root, "workflow", "security", "secret_patterns"))
        self.findings += filter(None, (invalid_regex(pattern) for pattern in patterns if pattern is not None))
        self.findings += vocabulary_findings(file.get("vocabulary"), file.vocabulary)
        functions, findings = functions_of(file.plugins)
        self.findings += findings
        file = replace(file, vocabulary=replace(file.vocabulary, functions=functions)) if functions else file
        self.vocabulary = file.vocabulary
        return file

    def _require(self, file: ProjectFile | None, paths: dict[str, DocumentPath]) -> None:
        if file is None:
            return
        named = {kind: place for kind, place in paths.items() if place.named}
        missing = {kind: place for kind, place in named.items() if not dependencies.is_there(place.path)}
        self.unreadable |= missing.keys()
        if file.root is not None and len(missing) > 1 and len(missing) == len(named):
            message = f"{file.naming(file.top, 'root')}, but none of the paths below it exists"
            self.findings.append(error(file.place("root"), message, code="missing-path"))
            return
        for kind, place in named.items():
            if kind != "checks" and _is_empty(place.path):  # a rule reports checks
                message = f"{file.naming(place.path, kind)}, which contains no documents"
                self.findings.append(replace(warning(file.place(kind), message, code="missing-path"), about=kind))
        for kind, place in missing.items():
            message = f"{file.naming(place.path, kind)}, which does not exist"
            help = path_meant(place.path, str(file.places.get(kind) or ""))
            self.findings.append(error(file.place(kind), message, code="missing-path", help=help))

    def _load(self, path: Path, kind: str | None) -> Mapping | None:
        """Read a document of the kind; one that is valid as another kind is a finding."""
        loaded = load_file(path)
        if kind is None or loaded.root is None or not (moved := _of_another_kind(kind, loaded.root, self.vocabulary)):
            return self.take(loaded, kind)
        self.loaded.append(loaded)
        self.findings += [*loaded.diagnostics, moved]
        self.unreadable.add(f"{kind_of(loaded.root)}s")
        return None

    def _single(self, place: DocumentPath | None, kind: str) -> Mapping | None:
        return self._load(place.path, kind) if place is not None and dependencies.is_there(place.path) else None

    def _meta(self, folder: Path) -> Mapping | None:
        path = next(filter(dependencies.is_there, (folder / "_meta.yaml", folder / "_meta.json")), None)
        return None if path is None else self._load(path, None)

    def _checks(self, paths: dict[str, DocumentPath], file: ProjectFile | None) -> dict[str, CheckDocument]:
        checks: dict[str, CheckDocument] = {}
        for path, root in self._documents(paths.get("checks"), "check"):
            check = read_check(root, self.vocabulary)
            if check.id:
                self._compare_with_file_name(path, root, "id", check.id)
                self._add(checks, check.id, check, "check", "id")
            else:
                self.unreadable.add("checks")
        for item in () if file is None else file.used:
            self.findings += structure_findings("check", item, self.vocabulary)
            check = read_check(item, self.vocabulary)
            self._add(checks, check.id, check, "check", "id")
        return checks

    def _scenarios(self, paths: dict[str, DocumentPath]) -> dict[str, ScenarioDocument]:
        scenarios: dict[str, ScenarioDocument] = {}
        for path, root in self._documents(paths.get("scenarios"), "scenario", deep=True):
            scenario = with_vocabulary(read_scenario(root), self.vocabulary)
            if is_spelt_like(scenario.id, path.stem):  # any other difference is intended
                self._compare_with_file_name(path, root, "scenario_id", scenario.id)
            if scenario.id:
                self._add(scenarios, scenario.id, scenario, "scenario", "scenario_id")
            else:
                self.unreadable.add("scenarios")
        return scenarios

    def _named(
        self,
        place: DocumentPath | None,
        kind: str,
        read_one: Callable[[Mapping, str], Named],
        many: str,
        read_many: Callable[[Mapping], tuple[Named, ...]],
    ) -> dict[str, Named]:
        """Read documents by name: from a folder, named by file, or from one file, named by key."""
        if place is not None and dependencies.is_file(place.path):
            root = self._load(place.path, many)
            for entry in root.entries if root is not None else ():
                name = scalar(entry.value, "name")
                if name is not None and name.value != entry.name:
                    message = f"`name` is `{name.value}`, but its key is `{entry.name}`"
                    self.findings.append(error(name, message, code="id-differs-from-file-name"))
            models = read_many(root) if root is not None else ()
            return {model.name: with_vocabulary(model, self.vocabulary) for model in models}
        return self._each(place, kind, read_one)

    def _each(
        self, place: DocumentPath | None, kind: str, read_one: Callable[[Mapping, str], Model]
    ) -> dict[str, Model]:
        """Read the documents of a folder, named by file."""
        models: dict[str, Model] = {}
        for path, root in self._documents(place, kind):
            self._compare_with_file_name(path, root, "name", text(root, "name") or path.stem)
            self._add(models, path.stem, with_vocabulary(read_one(root, path.stem), self.vocabulary), kind, "name")
        return models

    def _markers(
        self, place: DocumentPath | None, file: ProjectFile | None, path: Path | None, root: Path
    ) -> tuple[MarkerSet, ...]:
        sets: list[tuple[str | None, Path]] = []
        if file is not None and path is not None and isinstance(file.markers, dict):
            for name, written in file.markers.items():
                sets.append((name, resolve(written, path, root)))
                self._require(file, {"markers": DocumentPath(sets[-1][1], named=True)})
        elif place is not None and dependencies.is_folder(place.path):
            sets.extend((file_path.stem, file_path) for file_path in documents_in(place.path))
        elif place is not None:
            sets.append((None, place.path))  # one set for every name
        found: list[MarkerSet] = []
        for key, file_path in sets:
            mapping = self._load(file_path, "markers") if dependencies.is_there(file_path) else None
            if mapping is not None:
                if key == file_path.stem:
                    self._compare_with_file_name(file_path, mapping, "name", text(mapping, "name") or key)
                found.append(read_named(MarkerSet, mapping, key))
        return tuple(found)

    def scorecards(self, place: DocumentPath | None) -> dict[str, ScorecardDocument]:
        """Read the scorecards over verdicts; those over cases (`over: cases`) are only validated."""
        cards: dict[str, ScorecardDocument] = {}
        for path, root in self._documents(place, None):
            kind = kind_of(root)
            if kind != CASE_SCORECARD and (moved := _of_another_kind("scorecard", root, self.vocabulary)):
                self.findings.append(moved)
                self.unreadable.add(f"{kind}s")
                continue
            self.findings.extend(validate(kind if kind == CASE_SCORECARD else "scorecard", root, self.vocabulary))
            if kind == CASE_SCORECARD and is_slip_of(name := text(root, "scorecard"), path.stem):
                self._compare_with_file_name(path, root, "scorecard", name)
            card, findings = (None, []) if kind == CASE_SCORECARD else read_scorecard(root)
            self.findings.extend(findings)
            if card is not None:
                if is_slip_of(card.name, path.stem):
                    self._compare_with_file_name(path, root, "scorecard", card.name)
                self._add(
                    cards, card.name or path.stem, with_vocabulary(card, self.vocabulary), "scorecard", "scorecard"
                )
        return cards

    def _rule_sets(
        self, place: DocumentPath | None
    ) -> tuple[dict[str, dict[str, object]], dict[str, dict[tuple[str, ...], Node]]]:
        if place is None or not dependencies.is_there(place.path):
            return {}, {}
        sets = load_rule_sets(place.path)
        self.loaded.extend(sets.loaded)
        self.findings.extend(sets.diagnostics)
        return sets.merged, sets.origins

    def _documents(
        self, place: DocumentPath | None, kind: str | None, *, deep: bool = False
    ) -> list[tuple[Path, Mapping]]:
        if place is None or not dependencies.is_there(place.path):
            return []
        loaded = [(path, self._load(path, kind)) for path in documents_in(place.path, deep=deep)]
        return [(path, root) for path, root in loaded if root is not None]

    def _compare_with_file_name(self, path: Path, root: Mapping, key: str, name: str) -> None:
        if name != path.stem:
            node: Node = root.get(key) or root
            message = f"`{key}` is `{name}`, but the file is called `{path.stem}`"
            help = Guess(path.stem, f"otherwise rename the file to `{name}{path.suffix}`") if key in root else None
            self.findings.append(error(node, message, code="id-differs-from-file-name", help=help))

    def _add(self, models: dict[str, Model], name: str, model: Model, kind: str, key: str) -> None:
        first = models.setdefault(name, model)
        if first is not model:
            self.unreadable.add(f"{kind}s")  # one of the two may have another name
            if Path(model.path).stem == name != Path(first.path).stem:
                first, model = model, first
            notes = [(first.place(key), "it is also used here")]
            stem = Path(model.path).stem
            help = None if stem in models or key not in model.node else Guess(stem)
            message = f"the {kind} `{name}` exists twice"
            self.findings.append(error(model.place(key), message, code="duplicate-id", notes=notes, help=help))


def _is_empty(path: Path) -> bool:
    return dependencies.is_folder(path) and next(documents_in(path, deep=True), None) is None


def _of_another_kind(kind: str, root: Node, vocabulary: Vocabulary) -> Diagnostic | None:
    """The finding for a document that is invalid as `kind`, its folder's, and valid as another kind, or None."""
    other = kind_of(root)
    if not isinstance(root, Mapping) or other in (None, kind) or other not in schema_names():
        return None
    if not validate(kind, root, vocabulary) or validate(str(other), root, vocabulary):
        return None
    message = f"expected a document of kind `{kind}`, found `{other}`"
    help = "move the file to the folder of its kind, or correct the path in the project file"
    found = error(first_place(root), message, code="document-of-another-kind", help=help)
    return replace(found, about=kind)


def _kind_at(path: str, paths: Environment[str, DocumentPath]) -> str:
    """The kind of the innermost folder of the project that contains a file, or an empty text."""
    enclosing = [(str(place.path), kind) for kind, place in paths.items() if Path(path).is_relative_to(place.path)]
    return max(enclosing, key=lambda each: len(each[0]), default=("", ""))[1]


def load_scorecards(folder: Path) -> dict[str, ScorecardDocument]:
    """Return the scorecards of a folder by name; raises `DocumentError` when one of them has findings."""
    reader = _ProjectReader()
    cards = reader.scorecards(DocumentPath(folder, named=True))
    if reader.findings:
        raise DocumentError(reader.findings)
    return cards
