"""Projects and single documents to break: the shipped ones, the examples of every code, and small ones in memory."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.compiler import small_project, test_jurisdictions, test_machines, test_phases
from tests.compiler.linting.breaking import Breaker, as_text, kind_of_text, tree_of, words_of
from tests.compiler.linting.test_torture import broken as broken_text
from tests.compiler.test_rules import BAD, GOOD, name_of
from tests.compiler.workflow import test_fuzz

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ("benchmark/rulewright.yaml", "benchmark/scorers/rulewright.yaml", "benchmark/workflows/rulewright.yaml")
LONE = ("check", "scenario", "scorecard", "case_scorecard", "workflow")
FOLDERS = {
    "checks": "check", "lexicons": "lexicon", "markers": "markers", "scenarios": "scenario", "profiles": "profile",
    "state_machines": "state_machine", "corpora": "corpus", "scorecards": "scorecard", "agents": "agent",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Files by path, and the path to lint: a project file, a single document, or the folder (`.`)."""

    name: str
    files: dict[str, str]
    entry: str

    @property
    def documents(self) -> list[str]:
        """The files that may be edited."""
        return [name for name in self.files if name.endswith((".yaml", ".json"))]

    def kind(self, name: str) -> str:
        """Return the kind of a document by its folder or keys; without a schema, the folder's name."""
        _, kind = _read(name, self.files[name])
        folder = Path(name).parent.name
        if name != self.entry and kind != "case_scorecard":
            kind = FOLDERS.get(folder, kind)
        return kind or folder

    def broken(self, name: str, chance: random.Random) -> World:
        """The world with a few edits of a document, and perhaps of others."""
        files = dict(self.files)
        words = words_of(tuple(text for text in files.values() if len(text) < 20_000)[:40])
        for each in [name, *chance.choices(self.documents, k=chance.choice([0, 0, 0, 1, 2]))]:
            if chance.random() < 0.2:  # in the author's own hand: blocks, brackets, comments
                files[each] = broken_text(files[each], chance)
                continue
            tree, _ = _read(each, files[each])
            kind = self.kind(each)
            for _ in range(chance.choice([1, 1, 1, 1, 2])):
                if isinstance(tree, dict | list):
                    tree = Breaker(chance, words).broken(tree, kind)
            if kind == "project" and isinstance(tree, dict):
                tree = {key: value for key, value in tree.items() if key not in ("lint", "accept")}  # they hide errors
            files[each] = as_text(tree, each)
        return World(self.name, files, self.entry)

    def write(self, folder: Path) -> Path:
        """Write the files; where the entry is."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return folder / self.entry


@cache
def _read(name: str, text: str) -> tuple[object, str | None]:
    return tree_of(text, name), kind_of_text(text, name)


@cache
def small_worlds() -> tuple[World, ...]:
    """Every example of every code, and our own small worlds."""
    examples = [_example(path) for path in (*BAD, *GOOD) if path.suffix in (".yaml", ".json", ".txtar")]
    return (*examples, *own_worlds())


@cache
def own_worlds() -> tuple[World, ...]:
    """Return every shipped document that is complete by itself, and a small project for each kind of check."""
    found = [World("the fuzzed workflow", {"workflow.yaml": json.dumps(test_fuzz.GOOD)}, "workflow.yaml")]
    shipped = _shipped()
    for name, text in shipped.items():
        if kind_of_text(text, name) in LONE and name.endswith((".yaml", ".json")):
            found.append(World(name, {Path(name).name: text}, Path(name).name))
        if "/scorecards/" in name and kind_of_text(text, name) == "scorecard":
            scoring = shipped["benchmark/configs/scoring.yaml"]
            files = {f"configs/scorecards/{Path(name).name}": text, "configs/scoring.yaml": scoring}
            found.append(_small(name, files))
    routed = small_project.check(**test_machines.ROUTED)
    machine = {"checks/state_machines/night.yaml": test_machines.MACHINE}
    found += [
        _small("three phases", {"checks/W-1.yaml": test_phases.CHECK}),
        _small("a machine that is judged", {"checks/W-1.yaml": routed, **machine}),
        _small("a machine", {"checks/W-1.yaml": routed[: routed.index("prompt:")], **machine}),
    ]
    sets = {"base": test_jurisdictions.BASE, "north": test_jurisdictions.NORTH, "south": test_jurisdictions.SOUTH}
    for rule in ("disclosure", "forbidden", "crisis"):
        files = {f"configs/rules/{name}.yaml": text for name, text in sets.items()}
        files["checks/W-1.yaml"] = test_jurisdictions.CHECK.format(rule=rule, more="")
        files["scenarios/night.json"] = json.dumps({**json.loads(small_project.SCENARIO), "jurisdiction": "north"})
        found.append(_small(f"the rule {rule}", files))
    return tuple(found)


@cache
def documents_of(worlds: tuple[World, ...]) -> dict[str, list[tuple[World, str]]]:
    """Every document of some worlds, by its kind."""
    found: dict[str, list[tuple[World, str]]] = {}
    for world in worlds:
        for name in world.documents:
            if isinstance(_read(name, world.files[name])[0], dict):
                found.setdefault(world.kind(name), []).append((world, name))
    return dict(sorted(found.items()))


def broken(worlds: tuple[World, ...], chance: random.Random) -> World:
    """One of some worlds, broken; every kind of document is as likely as any other."""
    documents = documents_of(worlds)
    world, name = chance.choice(documents[chance.choice(list(documents))])
    return world.broken(name, chance)


@cache
def large_worlds() -> tuple[World, ...]:
    """The shipped projects."""
    return tuple(World(entry, _shipped(), entry) for entry in SHIPPED)


def _example(path: Path) -> World:
    text = path.read_bytes().decode(errors="replace")
    if path.suffix != ".txtar":
        return World(name_of(path), {path.name: text}, path.name)
    parts = re.split(r"^-- (.+) --\n", text, flags=re.MULTILINE)
    return World(name_of(path), dict(zip(parts[1::2], parts[2::2], strict=True)), ".")


def _small(name: str, files: dict[str, str]) -> World:
    return World(name, {**small_project.FILES, **files}, ".")


@cache
def _shipped() -> dict[str, str]:
    """The shipped documents and what lies next to them."""
    kept = (".yaml", ".json", ".md", ".txt")
    paths = [path for top in ("benchmark", "checks") for path in sorted((ROOT / top).rglob("*"))]
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file() and path.suffix in kept and not {"speed", "safe", "invisiblebench"} & set(path.parts)
    }
