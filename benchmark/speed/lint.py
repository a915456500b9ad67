"""How long linting takes, whole processes in processor time, beside check-jsonschema, yamllint and cfn-lint.

All read the same files; check-jsonschema checks their schema alone, yamllint their form, and cfn-lint finds that they
are no templates. Cold linting, without what was found before, of the 53 checks is to take at most half of what
check-jsonschema takes; of unchanged files it is to answer within 60 ms. All run from compiled bytecode, as installed
packages do.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import keep_bytecode

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("RULEWRIGHT_SHARED", ROOT.parent / "shared"))
SCHEMA = ROOT / "grammar" / "rulewright_grammar" / "schemas" / "check.schema.json"
BIN = Path(sys.executable).parent
ROUNDS = 7
COPIES = 1_000
LIMIT = 0.5  # of check-jsonschema's time
LEAST = 1_000  # files a second
AGAIN = 0.06  # wall seconds
FIRST = 0.25  # wall seconds for one file
MEMORY = 100  # megabytes


@dataclass(frozen=True, slots=True)
class Run:
    """What a whole process took: processor and wall seconds, and megabytes at most."""

    processor: float
    wall: float
    memory: float


def once(command: list[str], folder: Path) -> Run:
    """One run of a command."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)


def median(command: list[str], folder: Path, rounds: int = ROUNDS) -> Run:
    """The medians over some runs, after one that leaves bytecode and warm files behind."""
    once(command, folder)
    runs = [once(command, folder) for _ in range(rounds)]
    return Run(*(statistics.median(getattr(run, name) for run in runs) for name in ("processor", "wall", "memory")))


def many(paths: list[Path], folder: Path) -> None:
    """Fill `folder` with a thousand checks, copies under ids of their own."""
    for number in range(COPIES):
        original = paths[number % len(paths)]
        text = original.read_text(encoding="utf-8").replace(f"id: {original.stem}\n", f"id: X{number}\n", 1)
        (folder / f"X{number}.yaml").write_text(text, encoding="utf-8")


def main() -> int:
    """Print the figures; the exit code says whether the limits are kept."""
    scratch = Path(tempfile.mkdtemp())
    keep_bytecode(scratch)
    try:
        return compare(scratch / "many")
    finally:
        shutil.rmtree(scratch)


def compare(copies: Path) -> int:
    """Run everything; `copies` is where a thousand files may be written."""
    folder = SHARED / "invisiblebench" / "checks"
    folder = folder if folder.is_dir() else ROOT / "checks"
    paths = sorted(path for path in folder.glob("*.yaml") if not path.name.startswith("_"))
    names = [str(path) for path in paths]
    again = [str(BIN / "rulewright"), "lint"]
    cold = [*again, "--no-cache"]
    peers = {
        "check-jsonschema": [str(BIN / "check-jsonschema"), "--schemafile", str(SCHEMA), *names],
        "yamllint": [str(BIN / "yamllint"), "-d", "relaxed", *names],
        "cfn-lint": [str(BIN / "cfn-lint"), "--", *names],
    }
    ours = median([*cold, *names], folder)
    print(f"{len(names)} checks, median of {ROUNDS} rounds, processor time of the whole process")
    print(f"rulewright lint      {ours.processor * 1e3:8.0f} ms   {ours.memory:.0f} MB (at most {MEMORY})")
    ratios = {}
    for name, command in peers.items():
        if not Path(command[0]).exists():
            print(f"{name:20} not installed")
            continue
        theirs = median(command, folder)
        ratios[name] = ours.processor / theirs.processor
        print(f"{name:20} {theirs.processor * 1e3:8.0f} ms   ratio {ratios[name]:.2f}   {theirs.memory:.0f} MB")
    unchanged = median([*again, *names], folder)
    print(f"unchanged            {unchanged.processor * 1e3:8.0f} ms, {unchanged.wall * 1e3:.0f} ms wall (at most 60)")
    first = median([*cold, names[0]], folder)
    print(f"one file             {first.processor * 1e3:8.0f} ms, {first.wall * 1e3:.0f} ms wall (at most 250)")
    copies.mkdir()
    many(paths, copies)
    most = median([*cold, str(copies)], copies, rounds=3)
    rate = COPIES / most.processor
    print(f"{COPIES} files           {most.processor * 1e3:8.0f} ms   {rate:.0f} files a second (at least {LEAST})")
    print(f"                     {most.memory:8.0f} MB (at most {MEMORY})")
    kept = (
        ratios.get("check-jsonschema", 0) <= LIMIT,
        rate >= LEAST,
        unchanged.wall <= AGAIN,
        first.wall <= FIRST,
        max(ours.memory, most.memory) <= MEMORY,
    )
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
