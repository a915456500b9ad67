"""Builds the packages `rulewright-runtime` and `rulewright` into `dist/` and checks what was built: `make release`.

It publishes nothing and makes no tag. The last lines say what is left to do by hand.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).resolve().parents[1]
RUNTIME: Final = ROOT / "runtime"
PACKAGES: Final = {
    "rulewright-runtime": (RUNTIME, ["runtime/rulewright_runtime"]),
    "rulewright": (ROOT, ["compiler/rulewright", "grammar/rulewright_grammar"]),
}
COMPILER_ONLY: Final = ("lark", "yaml", "jsonschema", "jinja2", "rulewright", "rulewright_grammar")


def project(folder: Path) -> dict[str, Any]:
    """What `pyproject.toml` says of a package."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def build(folder: Path, out: Path, *kinds: str) -> list[Path]:
    """Build a package in this environment; `kinds` are `wheel` and `sdist`. Answers with the files."""
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(out), *(f"-t={kind}" for kind in kinds)]
    before = set(out.glob("*"))
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return sorted(set(out.glob("*")) - before)


def misplaced(wheel: Path, folders: list[str]) -> list[str]:
    """The modules that a wheel lacks, and those that are no part of it."""
    tracked = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = {name.partition("/")[2] for name in tracked.stdout.split() if (ROOT / name).exists()}
    packages = tuple(f"{folder.partition('/')[2]}/" for folder in folders)
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if "/" in name}
    held = {name for name in names if name.startswith(packages)}
    others = {name for name in names - held if not re.match(r"rulewright_shipped/|[\w.-]+\.dist-info/", name)}
    return sorted(others | (expected ^ held))


def empty_environment(folder: Path) -> Path:
    """A virtual environment without any package; answers with its interpreter."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(python: Path, wheel: Path) -> None:
    """Install a wheel, and what it requires from the packages of this environment, at their locked versions."""
    words = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*words, "--disable-pip-version-check", str(wheel)], check=True)
    target = python.parents[1] / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().split("\n\n")[0].splitlines()
    names: set[str] = set()
    for line in lines:
        if line.startswith("Requires-Dist: "):
            names |= set(required(Requirement(line.removeprefix("Requires-Dist: "))))
    for name in names - PACKAGES.keys():
        package = distribution(name)
        for file in package.files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(package.locate_file(file)), target / file)


def required(requirement: Requirement) -> Iterator[str]:
    """The names of a requirement and of what it needs in turn, on this system."""
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return
    yield requirement.name
    try:
        for text in distribution(requirement.name).requires or ():
            yield from required(Requirement(text))
    except PackageNotFoundError:
        raise SystemExit(f"`{requirement.name}` is not installed here: run `make .venv/.dev`") from None


def run_alone(python: Path, plan: Path, data: Path, judge: Path, out: Path) -> str | None:
    """Run a plan where only the runtime is installed; answers with what went wrong."""
    seen = f"import importlib.util as u; print([n for n in {COMPILER_ONLY!r} if u.find_spec(n)])"
    found = subprocess.run([python, "-I", "-c", seen], capture_output=True, text=True, check=True).stdout.strip()
    if found != "[]":
        return f"the empty environment holds {found}"
    words = [python, "-I", "-m", "rulewright_runtime", "run", plan, data, "--judge", f"replay:{judge}", "--out", out]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return None if done.returncode in (0, 1, 2) and not done.stderr else f"the runtime failed: {done.stderr}"


def complaints(version: str) -> Iterator[str]:
    """What speaks against a release of this checkout."""
    runtime, whole = project(RUNTIME), project(ROOT)
    if runtime["version"] != version or f"rulewright-runtime=={version}" not in whole["dependencies"]:
        yield f"`runtime/pyproject.toml` and the dependency on it must name {version}, as `pyproject.toml` does"
    heading = re.search(rf"^## {re.escape(version)} \(package\).*", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    if heading is None or "not yet released" in heading[0]:
        yield f"CHANGELOG.md has no heading of {version} with its date"
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, check=True).stdout:
        yield "the working copy holds changes that are not committed"
    if (RUNTIME / "LICENSE").read_bytes() != (ROOT / "LICENSE").read_bytes():
        yield "runtime/LICENSE is not the license of the whole"


def main() -> int:
    """Build both packages and print what they are; 1 when something speaks against a release."""
    version = project(ROOT)["version"]
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    wrong = list(complaints(version))
    wheels = {}
    for name, (folder, sources) in PACKAGES.items():
        for file in build(folder, dist, "wheel", "sdist"):
            print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(ROOT)}")
            if file.suffix == ".whl":
                wheels[name] = file
                wrong += [f"{file.name}: {each} is missing or out of place" for each in misplaced(file, sources)]
    with tempfile.TemporaryDirectory() as temporary:
        here, benchmark = Path(temporary), ROOT / "benchmark"
        words = [sys.executable, "-m", "rulewright", "compile", str(benchmark), "-o", str(here / "plan.json")]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        python = empty_environment(here / "empty")
        install(python, wheels["rulewright-runtime"])
        replies = benchmark / "judge_replies" / "replies.json"
        failed = run_alone(python, here / "plan.json", benchmark / "transcripts", replies, here / "run")
        wrong += [failed] if failed else []
    for each in wrong:
        print(f"error: {each}", file=sys.stderr)
    if not wrong:
        print(f"ready: tag v{version}, then upload rulewright-runtime before rulewright")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
