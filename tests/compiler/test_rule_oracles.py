"""Compares each rule with an oracle on random mutants of its good files.

`mutations/operators.py` makes mutants of a rule's good files with realistic slips: a key dropped or misspelt, a value
replaced by one that such a key has elsewhere, an item duplicated. The oracles in `mutations` decide from the plain data
whether the rule's condition holds. Lint has to refuse every mutant that a schema refuses, and has to report the rule in
the others exactly where the oracle expects it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from tests import folders
from tests.compiler.mutations import oracles_of_documents, oracles_of_projects, oracles_of_workflows
from tests.compiler.mutations.operators import Pool, copied, mutant
from tests.compiler.mutations.oracles_of_projects import Project, kind_at
from tests.rounds import rounds
from tests.schemas import validator

from rulewright.documents.kinds import kind_of
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import lint, lint_text
from rulewright.linting.lint_settings import RuleSelection
from rulewright.load import load_text, plain

DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the one in C takes an eighth of the time
FOLDER = Path(__file__).parent / "rules"
BROKEN = rounds(2, 20)  # mutants that a rule has to find
# Mutants that it has to leave alone, and as many that a schema refuses and lint has to refuse as well.
SOUND = rounds(1, 10)
TRIES = 4_000
FEWEST = rounds(2, 3)  # some conditions come about in few ways
PATIENCE = rounds(150, TRIES)  # tries after which the fewest are enough
TOLD_BY: Final = {"tag_no_scenario_carries": "misspelt-name"}  # a slip that is told once, by another rule
DOCUMENTS: Final[dict[str, Callable[[Any], bool]]] = {**oracles_of_workflows.ORACLES, **oracles_of_documents.ORACLES}
PROJECTS: Final = oracles_of_projects.ORACLES


@cache
def pool() -> Pool:
    """The contents of the examples of all rules."""
    found = Pool()
    for path in sorted(FOLDER.glob("*/*")):
        if path.suffix in (".yaml", ".json"):
            found.add(data_of(path))
        elif path.suffix == ".txtar":
            for data in project_of(path).values():
                found.add(data)
    return found


def data_of(path: Path) -> Any:
    root = load_text(path.read_bytes(), path.name).root
    return None if root is None else plain(root)


def written(data: Any, name: str) -> str:
    """The data as a file of that name."""
    if name.endswith(".json"):
        return json.dumps(data, ensure_ascii=False, indent=1)
    return yaml.dump(data, Dumper=DUMPER, sort_keys=False, allow_unicode=True)


@dataclass(slots=True)
class Count:
    """The number of mutants of one sort with the right result, and the others."""

    wanted: int
    right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return self.right + len(self.wrong) >= self.wanted

    def add(self, is_right: bool, text: str) -> None:
        self.right += is_right
        self.wrong += [] if is_right else [text]


@dataclass(slots=True)
class Tally:
    """The results for a rule's mutants: those it has to report, those it has to accept, and those a schema refuses."""

    broken: Count = field(default_factory=lambda: Count(BROKEN))
    sound: Count = field(default_factory=lambda: Count(SOUND))
    refused: Count = field(default_factory=lambda: Count(SOUND))

    def is_enough(self, tries: int) -> bool:
        """Whether further mutants would add too little for their time."""
        is_full = self.broken.is_full or (tries >= PATIENCE and self.broken.right >= FEWEST)
        return is_full and self.sound.is_full and self.refused.is_full


@dataclass(frozen=True, slots=True)
class Example:
    """A good file of a rule: the documents it holds by their names, and those that may be changed, with their kinds."""

    path: Path
    files: dict[str, Any]
    kinds: dict[str, str]

    def mutant(self, chance: random.Random) -> Mutant:
        """A copy with one document changed."""
        name = chance.choice(sorted(self.kinds))
        return Mutant(self, name, mutant(self.files[name], chance, pool()))


@dataclass(frozen=True, slots=True)
class Mutant:
    """An example in which the document called `name` holds other data."""

    good: Example
    name: str
    data: Any

    @property
    def files(self) -> dict[str, Any]:
        return {**self.good.files, self.name: self.data}

    def is_valid(self) -> bool:
        """Whether the schema accepts the changed document, and no two documents have the same id."""
        ids = [data.get(key) for data in self.files.values() for key in ("id", "scenario_id") if isinstance(data, dict)]
        given = [str(each) for each in ids if each is not None]
        return len(given) == len(set(given)) and validator(self.good.kinds[self.name]).is_valid(self.data)

    def holds(self, rule: str) -> bool:
        """Whether the rule's oracle expects a finding."""
        files = copied(self.files)
        return PROJECTS[rule](Project(files)) if rule in PROJECTS else DOCUMENTS[rule](files[self.name])

    def findings(self, scratch: Path) -> Report:
        """Return the findings; unchanged documents stay in the folder for the next mutant."""
        if self.good.path.suffix != ".txtar":
            return lint_text(written(self.data, self.name), self.name, RuleSelection(("*",)))
        folder = scratch / self.good.path.stem
        if not folder.exists():
            write(self.good.files, folder)
        write({self.name: self.data}, folder)
        report = lint([folder], RuleSelection(("*",)))
        write({self.name: self.good.files[self.name]}, folder)
        return report


def write(files: dict[str, Any], folder: Path) -> None:
    folders.write(folder, {name: written(data, name) for name, data in files.items()})


def examples(rule: str) -> list[Example]:
    """The rule's good files."""
    return [example(path) for path in sorted((FOLDER / rule).glob("good*"))]


def example(path: Path) -> Example:
    if path.suffix != ".txtar":
        root = load_text(path.read_bytes(), path.name).root
        return Example(path, {path.name: data_of(path)}, {path.name: str(kind_of(root))})
    files = {name: data for name, data in project_of(path).items() if data is not None}
    return Example(path, files, {name: kind for name in files if (kind := kind_at(name)) is not None})


def project_of(path: Path) -> dict[str, Any]:
    """The documents of a project by their paths."""
    files = folders.files_of(path.read_text(encoding="utf-8"))
    roots = {name: load_text(text, name).root for name, text in files.items()}
    return {name: None if root is None else plain(root) for name, root in roots.items()}


def tally(rule: str, scratch: Path) -> Tally:
    """Lint distinct mutants of the rule's good files."""
    found = Tally()
    chance = random.Random(f"{rule} 7")
    good = examples(rule)
    seen = set()
    for number in range(TRIES):
        changed = good[number % len(good)].mutant(chance)
        key = json.dumps(changed.files)
        if key in seen or not changed.data:
            continue
        seen.add(key)
        is_valid = changed.is_valid()
        holds = is_valid and changed.holds(rule)
        count = found.refused if not is_valid else found.broken if holds else found.sound
        if not count.is_full:
            report = changed.findings(scratch)
            codes = {each.code for each in report.diagnostics}
            reported = rule.replace("_", "-") in codes or (holds and TOLD_BY.get(rule) in codes)
            count.add(report.fails() if not is_valid else reported == holds, key)
        if found.is_enough(number):
            break
    return found


@pytest.mark.parametrize("rule", sorted({*DOCUMENTS, *PROJECTS}))
def test_a_rule_reports_the_mutants_that_its_oracle_names_and_no_others(rule: str, tmp_path: Path) -> None:
    found = tally(rule, tmp_path / "project")
    for count in (found.broken, found.sound, found.refused):
        assert len(count.wrong) <= count.wanted * 0.05, "\n".join(count.wrong)
    assert found.broken.right >= FEWEST
