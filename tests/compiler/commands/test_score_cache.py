"""A second run of `score` takes the kept scorecard; one that has changed, or is under other settings, is compiled."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compiler.commands.score_in_place import batch, elsewhere, score
from tests.compiler.dependencies_of import noted_and_opened
from tests.safe_cases import case

from rulewright import result_cache
from rulewright.dependencies import digest
from rulewright.shipped import shipped_root

__all__ = ["elsewhere"]

COMPILING = {"jsonschema", "lark", "rulewright.scoring.case_scorecards", "yaml"}
SHIPPED = (shipped_root() / "benchmark/configs/scorecards/safe-v0.yaml").read_text(encoding="utf-8")
ROW = "  - {label: Review, when: CR < CR_pass || AC < AC_pass}\n"
PROJECT = "project: p\nscorecard: own\nscorecards: ${CARDS:-configs/scorecards}\n"


@pytest.fixture(autouse=True)
def project(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "programs", lambda: "these programs")
    monkeypatch.delenv("CARDS", raising=False)
    batch("b", case("T1"), case("T2", summary="early"))
    Path("rulewright.yaml").write_text(PROJECT)
    Path("configs/scorecards").mkdir(parents=True)
    Path("configs/scorecards/own.yaml").write_text(SHIPPED.replace("safe-v0", "own"))


def scored(*words: str) -> tuple[int, bytes]:
    status = score("--batch", "b", "--format", "json", "--output", "out.json", *words)
    return status, Path("out.json").read_bytes()


def without_compiling(*words: str) -> tuple[int, bytes] | None:
    """The same from a kept scorecard; None where one has to be compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rulewright.commands.compiled_scorecard.load_scorecard", None)
        Path("out.json").unlink(missing_ok=True)
        status = score("--batch", "b", "--format", "json", "--output", "out.json", *words)
        return (status, Path("out.json").read_bytes()) if Path("out.json").exists() else None


def test_an_unchanged_scorecard_gives_the_same_report_without_being_read() -> None:
    first = scored()
    assert first[0] == 1
    assert without_compiling() == first
    assert without_compiling("--scorecard", "safe-v0") is None
    under = scored("--set", "strict_ah=true")
    assert without_compiling("--set", "strict_ah=true") == under


def card(change: Callable[[str], str]) -> Callable[[], object]:
    path = Path("configs/scorecards/own.yaml")
    return lambda: path.write_text(change(path.read_text()))


CHANGES: dict[str, Callable[[], object]] = {
    "another threshold": card(lambda text: text.replace("default: 0.8", "default: 0.7")),
    "another title": card(lambda text: text.replace("SAFE v0 Scorecard", "SAFE v1 Scorecard")),
    "a mistake": card(lambda text: text.replace("over: cases", "over: caes")),
    "a settings file": lambda: Path("safe.config.json").write_text("{}"),
    "another scorecard of the project": lambda: Path("rulewright.yaml").write_text("project: p\nscorecard: safe-v0\n"),
    "no project": lambda: Path("rulewright.yaml").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_compiled(change: Callable[[], object]) -> None:
    scored()
    change()
    assert without_compiling() is None


@pytest.mark.parametrize(("name", "value"), [("CARDS", "configs/scorecards"), ("SAFE_V0_CR_PASS", "0.7")])
def test_a_variable_that_is_read_is_noticed(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scored()
    monkeypatch.setenv(name, value)
    assert without_compiling() is None
    monkeypatch.delenv(name)
    assert without_compiling() is not None


def test_a_table_with_a_gap_is_refused_whatever_was_proved_under_other_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card(lambda text: text.replace(ROW, ""))()
    for name in ("CR", "AC"):
        monkeypatch.setenv(f"SAFE_V0_{name}_PASS", "0.5")
    assert scored() == without_compiling()
    for name in ("CR", "AC"):
        monkeypatch.delenv(f"SAFE_V0_{name}_PASS")
    for _ in range(2):  # nor is it kept
        assert score("--batch", "b") == 3
        assert "no row of the label table holds where" in capsys.readouterr().err


def test_a_warning_of_a_setting_is_printed_every_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scored()
    monkeypatch.setenv("SAFE_V0_CR_PAS", "0.5")
    capsys.readouterr()
    assert without_compiling() is not None
    assert "`SAFE_V0_CR_PAS` sets nothing" in capsys.readouterr().err


def test_every_file_that_compiling_looks_at_is_a_dependency() -> None:
    noted, opened = noted_and_opened("score", "--concern", "I25", "--batch", "b", "--output", "out.json")
    own = {path for path in opened if not path.startswith(("cases", "out.json", ".out.json", ".")) or path == "."}
    assert own - {"."} <= noted
    assert {"rulewright.yaml", "configs/scorecards/own.yaml"} <= own


def test_a_second_run_loads_nothing_that_compiles() -> None:
    program = (
        "import sys\nbefore = set(sys.modules)\nfrom rulewright.cli import main\n"
        "main(['score', '--concern', 'I25', '--batch', 'b', '--output', 'out.json'])\n"
        f"print(sorted({COMPILING | {'dataclasses'}!r} & (set(sys.modules) - before)))"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split("\n")
        for _ in range(2)
    )
    assert all(name in first[-2] for name in COMPILING)
    assert second[-2] == "[]"


def test_a_plan_that_is_not_as_we_wrote_it_is_compiled_again() -> None:
    first = scored()
    (entry,) = Path(os.environ["XDG_CACHE_HOME"], "rulewright", "plans").iterdir()
    _, _, body = entry.read_bytes().partition(b"\n")
    changed = body.replace(b'"accepted":"Pass"', b'"accepted":"Fail"')
    assert changed != body
    entry.write_bytes(digest(changed).encode() + b"\n" + changed)
    assert without_compiling() is None
    assert scored() == first
