"""Realistic mistakes in the clean shipped projects: how many lint notices, on the right line, with exactly one finding.

`RULEWRIGHT_TORTURE=1` (`make torture`) makes more of them. Run as a script it prints the figures and what missed.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from rulewright.linting.run import lint

BENCHMARK: Final = Path(__file__).parents[3] / "benchmark"
PROJECTS: Final = ("service_desk", "rag", "coding_agent")
SEED: Final = 17
FEW, MANY = 2, 7  # of each kind and project
# What lint reaches, rounded down, of both numbers of mutants: noticed, on the right line, exactly one finding.
BARS: Final = {"noticed": 0.95, "line": 0.84, "one": 0.84}
Write = Callable[[re.Match[str], random.Random], str]


def typo(word: str, chance: random.Random) -> str:
    """The word with two of its inner letters swapped; of two equal ones the first is left out."""
    at = chance.randrange(1, len(word) - 1)
    swapped = word[at + 1] + word[at] if word[at] != word[at + 1] else word[at]
    return word[:at] + swapped + word[at + 2 :]


# What is looked for in a file, and what a hurried author writes there.
KINDS: Final[dict[str, tuple[str, Write]]] = {
    "key-typo": (r"^( *)([a-z_]{5,})(?=:)", lambda m, c: m[1] + typo(m[2], c)),
    "value-typo": (
        r"^( *(?:primary_bucket|severity|each|scorecard|checks|headline): )([a-z_]{4,})$",
        lambda m, c: m[1] + typo(m[2], c),
    ),
    "function-typo": (r"\b([a-z_]{5,})(?=\()", lambda m, c: typo(m[1], c)),
    "field-typo": (r"\b(turn|conversation|v)\.([a-z_]{6,})", lambda m, c: f"{m[1]}.{typo(m[2], c)}"),
    "equals-sign": (r"^( *[a-z_]{4,}): ", lambda m, _: f"{m[1]} = "),
    "no-blank": (r"^( *[a-z_]{4,}:) (?=[a-zA-Z])", lambda m, _: m[1]),
    "tab": (r"^  (?=[a-z])", lambda m, _: "\t"),
    "assignment": (r" == ", lambda m, _: " = "),
    "colon-in-text": (r"^((?:note|description): )(?=[A-Z])", lambda m, _: f"{m[1]}Note: "),
    "yes-for-true": (r": true$", lambda m, _: ": yes"),
    "quote-lost": (r'"\)', lambda m, _: ")"),
    "bracket-lost": (r"\)$", lambda m, _: ""),
    "list-emptied": (r'\[[a-zA-Z"][^\]]*\]', lambda m, _: "[]"),
    "severity-left-out": (r"^severity: .*\n", lambda m, _: ""),
}


def mutants(each: int) -> Iterator[tuple[str, str, Path, str, int]]:
    """The kind, the project, the file, its new text and the line of the mistake."""
    chance = random.Random(SEED)
    for project in PROJECTS:
        files = sorted((BENCHMARK / project).rglob("*.yaml"))
        for kind, (pattern, write) in KINDS.items():
            for file in chance.sample(files, min(each, len(files))):
                text = file.read_text(encoding="utf-8")
                if found := list(re.finditer(pattern, text, re.MULTILINE)):
                    place = chance.choice(found)
                    changed = text[: place.start()] + write(place, chance) + text[place.end() :]
                    yield kind, project, file, changed, text.count("\n", 0, place.start()) + 1


def audit(each: int, scratch: Path) -> tuple[Counter[str], list[str]]:
    """How many mutants there are and what became of them; those that did not give one finding, in words."""
    counts: Counter[str] = Counter()
    others = []
    for number, (kind, project, file, text, line) in enumerate(mutants(each)):
        folder = scratch / str(number)
        shutil.copytree(BENCHMARK / project, folder)
        changed = folder / file.relative_to(BENCHMARK / project)
        changed.write_text(text, encoding="utf-8")
        found = lint([folder]).diagnostics
        spans = [one.span for one in found if one.span.path == str(changed)]
        counts["all"] += 1
        counts["noticed"] += bool(found)
        counts["line"] += any(span.line <= line <= span.end_line for span in spans)
        counts["one"] += len(found) == 1
        if len(found) != 1:
            others.append(f"{kind} {project}/{file.name}:{line}: {', '.join(one.code for one in found) or 'silent'}")
    return counts, others


def test_realistic_mistakes_are_noticed_at_their_line_and_told_once(tmp_path: Path) -> None:
    counts, others = audit(MANY if os.environ.get("RULEWRIGHT_TORTURE") else FEW, tmp_path)
    assert counts["all"] > 45
    assert {name: counts[name] / counts["all"] >= bar for name, bar in BARS.items()} == dict.fromkeys(BARS, True), (
        others
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        figures, missed = audit(MANY, Path(folder))
    print("\n".join([*missed, str(dict(figures))]))
