"""Stands in for a coding agent: does the next step of the work, then runs the project's tools on it."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

STEPS = Path(__file__).resolve().parents[1] / "steps"
LAST = 3
TOOLS = ("pytest", "coverage", "ruff")


def write_step(number: int, folder: Path) -> None:
    """Copy the files of a step; those that end with `.txt` are kept from the tools of the surrounding project."""
    step = STEPS / str(number)
    for source in sorted(path for path in step.rglob("*") if path.is_file()):
        target = folder / source.relative_to(step)
        target = target.with_suffix("") if target.suffix == ".txt" else target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")


def run_tools(folder: Path) -> None:
    """Tests with coverage, and lint; their reports are what gate and metrics read, so a failure is not hidden."""
    reports = folder / "reports"
    reports.mkdir(exist_ok=True)
    for stale in reports.iterdir():
        stale.unlink()
    python = [sys.executable, "-m"]
    tests = ["pytest", "-q", "-p", "no:cacheprovider", "--junitxml=reports/junit.xml"]
    lint = ["ruff", "check", "--isolated", "--no-cache", "--output-format=json", "--output-file=reports/ruff.json"]
    for tool in (
        ["coverage", "run", "--branch", "--source=src", "-m", *tests],
        ["coverage", "json", "-q", "-o", "reports/coverage.json"],
        [*lint, "src", "tests"],
    ):
        subprocess.run([*python, *tool], cwd=folder, stdout=subprocess.DEVNULL, check=False)


def main() -> None:
    """Read the brief, work, answer."""
    if missing := [tool for tool in TOOLS if find_spec(tool) is None]:
        sys.exit(f"{sys.executable} has no {' and no '.join(missing)}: `pip install {' '.join(missing)}`")
    brief = json.load(sys.stdin)
    step = min(brief["iteration"], LAST)
    write_step(step, Path())
    run_tools(Path())
    heard = "; ".join(each["text"] for each in brief["feedback"])
    print(json.dumps({"summary": f"step {step}" + (f", after: {heard}" if heard else "")}))


if __name__ == "__main__":
    main()
