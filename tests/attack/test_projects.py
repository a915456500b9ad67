"""Damaged projects: whatever a slip or a tool does to the text of a file, lint reports it and never raises."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Final

import pytest
from tests.attack.generated import SEED, part

import rulewright
from rulewright.diagnostics import Severity

BENCHMARK: Final = Path(__file__).parents[2] / "benchmark"
PROJECTS: Final = ("scorers", "rag", "service_desk", "coding_agent", "workflows")
ODD: Final = (
    "{}", "[]", "null", "~", "-1", "0", "1e999", "NaN", "true", '""', '"', "'", ":", "- ", "? ", "&a ", "*a",
    "!!binary x", "<<: *a", "\t", "[[[[", "{a: {a: 1}}", " |", ">-", "#", "%", "@", "`", "\\", "&&", "||", "(", ")",
    "9" * 40, "9" * 400, "[1, 2]", "{id: x}", ".", "..", "*", "\N{MATHEMATICAL SCRIPT CAPITAL X}", "\x00",
)  # fmt: skip
ROUNDS: Final = 1500
SEEDS: Final = part(range(SEED, SEED + ROUNDS), 12)


def files(folder: Path) -> list[Path]:
    """The documents of a project, in order."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".yaml", ".json", ".jsonl"})


def damaged(text: str, chance: random.Random) -> str:
    """The text with one line lost, doubled, moved, shifted, or with a value, a word or a place in it made odd."""
    lines = text.split("\n")
    here, there, odd = chance.randrange(len(lines)), chance.randrange(len(lines)), chance.choice(ODD)
    key, colon, value = lines[here].partition(":")
    words = lines[here].split(" ")
    words[chance.randrange(len(words))] = odd
    place = chance.randrange(len(lines[here]) + 1)
    lines[here : here + 1] = chance.choice(
        (
            [],
            [lines[there], lines[here]],
            [" " * chance.randrange(8) + lines[here].lstrip()],
            [f"{key}{colon} {odd}"],
            [f"{odd}:{value}"],
            [f"{key}{colon}{lines[there].partition(':')[2]}"],
            [" ".join(words)],
            [lines[here][:place] + odd + lines[here][place:]],
        )
    )
    return "\n".join(lines)


def damage(project: Path, chance: random.Random) -> None:
    """Damage one file, once or up to three times."""
    path = chance.choice(files(project))
    text = path.read_text(encoding="utf-8")
    for _ in range(chance.randint(1, 3)):
        text = damaged(text, chance)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_project_without_a_lint_error_compiles(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    project = tmp_path / "project"
    shutil.copytree(BENCHMARK / chance.choice(PROJECTS), project)
    monkeypatch.chdir(project)
    damage(project, chance)
    found = rulewright.lint(["."]).diagnostics
    for each in found:
        lines = Path(each.span.path).read_text(encoding="utf-8").count("\n") + 1
        assert 1 <= each.span.line <= each.span.end_line <= lines
    if not any(each.severity is Severity.ERROR for each in found) and (project / "checks").is_dir():
        rulewright.compile_project(project)
