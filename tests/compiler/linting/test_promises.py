"""The guarantees of lint: a clean project compiles and runs; fixing ends after a few rounds."""

import logging
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compiler.linting.fixing import fix_files
from tests.compiler.linting.test_torture import broken
from tests.compiler.linting.usage import use_everywhere
from tests.compiler.linting.worlds import World, large_worlds, own_worlds, small_worlds
from tests.compiler.linting.worlds import broken as worlds_broken
from tests.compiler.test_rules import BAD, is_fixable, name_of, unpacked
from tests.rounds import TORTURE, every, rounds

from rulewright.linting.lint_run import lint

BATCH = rounds(25, 50)
EXAMPLES = rounds(BATCH, 20_000)
ROUNDS = rounds(2, 20)
ONE_FILE = [path for path in BAD if path.suffix != ".txtar"]
BROKEN = every(4, [path for path in ONE_FILE if TORTURE or is_fixable(path) or path in ONE_FILE[::8]])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Silence the engines' warnings about nonsensical replies of agents."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def walk_through(worlds: tuple[World, ...], seed: int, folder: Path) -> bool:
    """Break a project, use it in every way, and return whether lint found no error."""
    chance = random.Random(seed)
    world = worlds_broken(worlds, chance)
    try:
        return use_everywhere(world.write(folder / "project"), folder / "scratch", chance)
    except BaseException as failure:
        failure.add_note(f"seed {seed}: {world.name}")
        raise
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("start", range(0, EXAMPLES, BATCH))
def test_a_project_without_lint_errors_compiles_and_runs(start: int, tmp_path: Path) -> None:
    used = [walk_through(small_worlds(), seed, tmp_path / str(seed)) for seed in range(start, start + BATCH)]
    assert sum(used) >= BATCH // 10
    assert not all(used)


@pytest.mark.parametrize("seed", range(EXAMPLES // BATCH))
def test_the_shipped_projects_broken_keep_the_promise(seed: int, tmp_path: Path) -> None:
    walk_through(large_worlds(), seed, tmp_path / "broken")


WHOLE = (*(small_worlds() if TORTURE else every(12, own_worlds())), *every(3, large_worlds()))


@pytest.mark.parametrize("world", WHOLE, ids=lambda world: world.name)
def test_every_document_as_it_is_keeps_the_promise(world: World, tmp_path: Path) -> None:
    use_everywhere(world.write(tmp_path / "project"), tmp_path / "scratch", random.Random(world.name))


def check_fixing(words: list[str], *, unsafe: bool) -> None:
    """Fixing removes the findings with fixes, and a second time changes nothing."""
    before = lint(words)
    after = fix_files(words, unsafe=unsafe)
    texts = {path: Path(path).read_bytes() for path in after.sources}
    changed = any(texts[path].decode(errors="replace") != before.sources[path].text for path in texts)
    fixable = [found for found in before.diagnostics if found.fix is not None and (found.fix.safe or unsafe)]
    left = {(found.code, found.span, found.message) for found in after.diagnostics}
    if changed and fixable:
        assert any((found.code, found.span, found.message) not in left for found in fixable)
    again = fix_files(words, unsafe=unsafe)
    assert again.diagnostics == after.diagnostics
    assert {path: Path(path).read_bytes() for path in again.sources} == texts


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", every(6, [path for path in BAD if is_fixable(path)]), ids=name_of)
def test_fixing_reduces_findings_and_is_idempotent(
    path: Path, unsafe: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_fixing(unpacked(path, tmp_path), unsafe=unsafe)


@pytest.mark.parametrize("path", BROKEN, ids=name_of)
def test_fixing_documents_broken_further_is_idempotent(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(name_of(path))
    text = path.read_bytes().decode(errors="replace")
    for _ in range(ROUNDS):
        (tmp_path / path.name).write_text(broken(text, chance), encoding="utf-8")
        before = (tmp_path / path.name).read_bytes()
        fix_files([path.name], unsafe=True)
        once = (tmp_path / path.name).read_bytes()
        if once == before:
            continue  # nothing was fixed, and nothing would be again
        fix_files([path.name], unsafe=True)
        assert (tmp_path / path.name).read_bytes() == once
