"""How a scan grows with its input, its patterns and its processes, over seeded chats, and where its time goes.

Every point is the median of whole processes (`python -m rulewright_runtime run`) in processor time; one and two
processes are compared in wall time. Prints JSON with the load of the machine; `--write FOLDER` also writes
`curves.json` and `curves.svg` there.
"""

import argparse
import cProfile
import json
import os
import pstats
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmark.speed.timing import keep_bytecode

from rulewright import compile_project
from rulewright_runtime.matching.match import Matcher
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.judge_needs import searched_lexicons
from rulewright_runtime.runs import store

SEED = 18
WORDS = 20_000
TURNS, TURN_WORDS = 6, 60
MEGABYTES = (1, 4, 16)
PATTERNS = (10, 100, 1_000, 10_000)
JOBS = (1, 2)
FILES = 16  # for several processes
PANEL, HEIGHT, MARGIN = 280, 220, 46


def words() -> list[str]:
    """Made-up words, the same in every run."""
    chance = random.Random(SEED)
    return ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(3, 9))) for _ in range(WORDS)]


def write_chats(path: Path, megabytes: int) -> None:
    """A file of lines, a chat each."""
    chance, known, size, number = random.Random(SEED), words(), 0, 0
    with path.open("w", encoding="utf-8") as stream:
        while size < megabytes * 1_000_000:
            said = [" ".join(chance.choices(known, k=TURN_WORDS)) for _ in range(TURNS)]
            turns = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
            size += stream.write(json.dumps({"id": f"chat-{number}", "messages": turns}) + "\n")
            number += 1


def in_files(chats: Path, folder: Path) -> Path:
    """A folder with the lines of a file in several files, since a small file of chats is judged by one process."""
    folder.mkdir()
    with ExitStack() as opened, chats.open("rb") as stream:
        parts = [opened.enter_context((folder / f"part-{number:02}.jsonl").open("wb")) for number in range(FILES)]
        for number, line in enumerate(stream):
            parts[number % FILES].write(line)
    return folder


def write_plan(path: Path, patterns: int) -> None:
    """A plan of ten checks, which look for so many phrases of two words altogether."""
    chance, known = random.Random(SEED), words()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("checks", "lexicons"):
            (folder / part).mkdir()
        for number in range(10):
            phrases = [" ".join(chance.choices(known, k=2)) for _ in range(patterns // 10)]
            (folder / "lexicons" / f"words_{number}.json").write_text(json.dumps({"patterns": phrases}))
            check = {"id": f"W-{number}", "name": "w", "primary_bucket": "C", "severity": "S2", "scope": "universal"}
            route = {"routing": {"route": "lexicon_only", "deterministic_precheck": f"words_{number}"}}
            (folder / "checks" / f"W-{number}.json").write_text(json.dumps({**check, **route}))
        (folder / "profiles").mkdir()
        (folder / "profiles" / "publish.json").write_text('{"name": "publish", "include_all": true}')
        path.write_bytes(encode(compile_project(folder, profile="publish")))


def timed(folder: Path, plan: Path, chats: Path, jobs: int, rounds: int) -> dict[str, float]:
    """Medians of the processor and wall seconds of a run; of all runs so far the most memory, in megabytes."""
    spent, waited = [], []
    for number in range(rounds):
        out = folder / f"run-{plan.stem}-{chats.stem}-{jobs}-{number}"
        command = [sys.executable, "-m", "rulewright_runtime", "run", str(plan), str(chats), "--out", str(out)]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [*command, "--overwrite", "--jobs", str(jobs)], capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr
        waited.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {
        "processor": round(statistics.median(spent), 3),
        "wall": round(statistics.median(waited), 3),
        "most_memory": round(memory, 1),
    }


def profile_of(folder: Path, plan: Path, chats: Path) -> list[dict[str, Any]]:
    """The twelve functions in which a run spends most time of their own, each with its share."""
    profiler = cProfile.Profile()
    compiled = decode(plan.read_bytes())
    profiler.runcall(store.run, compiled, [chats], folder / "profiled")
    rows = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # its documented attribute has no annotation
    total = sum(row[2] for row in rows.values())
    most = sorted(rows.items(), key=lambda each: -each[1][2])[:12]
    return [
        {"function": f"{Path(file).stem}.{name}", "share": round(row[2] / total, 3)} for (file, _, name), row in most
    ]


def matching_rate(plan: Path, chats: Path, rounds: int) -> float:
    """Megabytes a second in which the matcher rules out turns of the assistant, the first pass over them left out."""
    matcher = Matcher(searched_lexicons(decode(plan.read_bytes())))
    conversations = [json.loads(line)["messages"] for line in chats.read_text(encoding="utf-8").splitlines()]
    texts = [[each["content"] for each in messages if each["role"] == "assistant"] for messages in conversations]
    size, rates = sum(len(text) for each in texts for text in each) / 1e6, []
    for _ in range(rounds + 1):
        started = time.process_time()
        for text in chain.from_iterable(texts):
            matcher.may_hit("assistant", text)
        rates.append(size / (time.process_time() - started))
    return round(statistics.median(rates[1:]), 1)


def measured(folder: Path, rounds: int, scale: float) -> dict[str, Any]:
    """All curves, ready for JSON."""
    sizes = [max(1, round(size * scale)) for size in MEGABYTES]
    for size in sizes:
        write_chats(folder / f"chats-{size}.jsonl", size)
    for number in PATTERNS:
        write_plan(folder / f"plan-{number}.json", number)
    middle, plan = folder / f"chats-{sizes[1]}.jsonl", folder / "plan-100.json"
    largest = in_files(folder / f"chats-{sizes[-1]}.jsonl", folder / "parts")
    curves = {
        "megabytes": {size: timed(folder, plan, folder / f"chats-{size}.jsonl", 1, rounds) for size in sizes},
        "patterns": {number: timed(folder, folder / f"plan-{number}.json", middle, 1, rounds) for number in PATTERNS},
        "processes": {jobs: timed(folder, plan, largest, jobs, rounds) for jobs in JOBS},
    }
    matching = {number: matching_rate(folder / f"plan-{number}.json", middle, rounds) for number in PATTERNS}
    about = {"seed": SEED, "rounds": rounds, "python": sys.version.split()[0], "load": os.getloadavg()[0]}
    return {"about": about, "curves": curves, "matching": matching, "profile": profile_of(folder, plan, middle)}


def chart(found: dict[str, Any]) -> bytes:
    """The curves as SVG, a panel each, its axes from zero and its points equally far apart."""
    width = PANEL * len(found["curves"])
    size = {"width": str(width), "height": str(HEIGHT), "viewBox": f"0 0 {width} {HEIGHT}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "font-family": "sans-serif"})
    ET.SubElement(root, "rect", {"width": "100%", "height": "100%", "fill": "white"})
    for panel, (title, points) in enumerate(found["curves"].items()):
        unit = "wall" if title == "processes" else "processor"
        values = [each[unit] for each in points.values()]
        step = (PANEL - 2 * MARGIN) / max(1, len(values) - 1)
        places = [
            (panel * PANEL + MARGIN + at * step, HEIGHT - MARGIN - value / max(values) * (HEIGHT - 2 * MARGIN))
            for at, value in enumerate(values)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        ET.SubElement(root, "polyline", {"points": line, "fill": "none", "stroke": "#1f5fa8", "stroke-width": "2"})
        _text(root, panel * PANEL + PANEL / 2, 20, f"{unit} seconds by {title}")
        for (x, y), name, value in zip(places, points, values, strict=True):
            ET.SubElement(root, "circle", {"cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3", "fill": "#1f5fa8"})
            _text(root, x, y - 8, f"{value:.2f}")
            _text(root, x, HEIGHT - MARGIN / 2, f"{name:,}")
    ET.indent(root)
    drawn: bytes = ET.tostring(root, encoding="utf-8")
    return drawn + b"\n"


def _text(root: ET.Element, x: float, y: float, text: str) -> None:
    halo = {"stroke": "white", "stroke-width": "4", "paint-order": "stroke"}  # a line does not cross a number
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": "middle", "font-size": "12", **halo}
    ET.SubElement(root, "text", place).text = text


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of every point (5)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of the input (1)")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="where curves.json and curves.svg go")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        keep_bytecode(Path(folder))
        found = measured(Path(folder), args.rounds, args.scale)
    text = json.dumps(found, indent=1) + "\n"
    print(text, end="")
    if args.write is not None:
        (args.write / "curves.json").write_text(text, encoding="utf-8")
        (args.write / "curves.svg").write_bytes(chart(found))


if __name__ == "__main__":
    main()
