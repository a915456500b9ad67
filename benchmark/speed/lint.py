"""How long linting takes, whole processes in processor time, beside check-jsonschema and yamllint on the same files.

Cold linting of the 53 checks is to take at most half of what check-jsonschema takes, which checks their schema alone.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RULEWRIGHT_SHARED", ROOT.parent / "shared"))
SCHEMA = ROOT / "grammar" / "rulewright_grammar" / "schemas" / "check.schema.json"
BIN = Path(sys.executable).parent
ROUNDS = 7
COPIES = 1_000
LIMIT = 0.5
LEAST = 1_000  # files a second


def seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Processor time and wall time of a whole process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def median(command: list[str], folder: Path, rounds: int = ROUNDS) -> tuple[float, float]:
    """The medians over some rounds."""
    measured = [seconds(command, folder) for _ in range(rounds)]
    return statistics.median(m[0] for m in measured), statistics.median(m[1] for m in measured)


def many(paths: list[Path], folder: Path) -> None:
    """Fill `folder` with a thousand checks, copies under ids of their own."""
    for number in range(COPIES):
        original = paths[number % len(paths)]
        text = original.read_text(encoding="utf-8").replace(f"id: {original.stem}\n", f"id: X{number}\n", 1)
        (folder / f"X{number}.yaml").write_text(text, encoding="utf-8")


def main() -> int:
    """Print the figures; the exit code says whether the limits are kept."""
    folder = SHARED / "invisiblebench" / "checks"
    folder = folder if folder.is_dir() else ROOT / "checks"
    paths = sorted(path for path in folder.glob("*.yaml") if not path.name.startswith("_"))
    names = [str(path) for path in paths]
    lint = [str(BIN / "rulewright"), "lint"]
    peers = {
        "check-jsonschema": [str(BIN / "check-jsonschema"), "--schemafile", str(SCHEMA), *names],
        "yamllint": [str(BIN / "yamllint"), "-d", "relaxed", *names],
    }
    ours, _ = median([*lint, *names], folder)
    print(f"{len(names)} checks, median of {ROUNDS} rounds, processor time of the whole process")
    print(f"rulewright lint      {ours * 1e3:8.0f} ms")
    ratios = {}
    for name, command in peers.items():
        if not Path(command[0]).exists():
            print(f"{name:20} not installed")
            continue
        theirs, _ = median(command, folder)
        ratios[name] = ours / theirs
        print(f"{name:20} {theirs * 1e3:8.0f} ms   ratio {ours / theirs:.2f}")
    cpu, wall = median([*lint, names[0]], folder)
    print(f"one file             {cpu * 1e3:8.0f} ms, {wall * 1e3:.0f} ms wall")
    scratch = Path(tempfile.mkdtemp())
    try:
        many(paths, scratch)
        cpu, _ = median([*lint, str(scratch)], scratch, rounds=3)
    finally:
        shutil.rmtree(scratch)
    print(f"{COPIES} files           {cpu * 1e3:8.0f} ms   {COPIES / cpu:.0f} files a second (at least {LEAST})")
    return 0 if ratios.get("check-jsonschema", 0) <= LIMIT and cpu <= COPIES / LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
