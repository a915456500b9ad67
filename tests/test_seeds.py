"""The page of the three specifications names tests that are in the suite, and answers every requirement."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/\S+\.py)::(\w+)`", TEXT)))
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| (?!what it says)", line)]


@cache
def collected(path: str) -> frozenset[str]:
    """The functions of a file that pytest collects and does not skip whatever happens."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    skipped = re.compile(r"mark\.(skip|xfail)\b(?!if)")
    return frozenset(
        node.name for node in functions if not any(skipped.search(ast.unparse(each)) for each in node.decorator_list)
    )


def test_every_test_that_the_page_names_is_in_the_suite() -> None:
    assert [path for path, _ in NAMED if not Path(path).name.startswith("test_")] == []
    assert [(path, name) for path, name in NAMED if name not in collected(path)] == []


def test_every_requirement_has_a_test_or_says_how_it_differs() -> None:
    assert len(ROWS) > 100
    assert [row for row in ROWS if not re.search(r"`tests/\S+::test_\w+`", row)] == []


def test_every_difference_says_why_and_shows_it() -> None:
    differing = [row.split("|")[2].strip() for row in ROWS if row.split("|")[2].strip().startswith("differs")]
    assert differing
    assert [cell for cell in differing if not re.match(r"differs[\w' ]*: .{30,}", cell)] == []


def test_the_page_has_a_part_for_every_section_of_the_three_documents() -> None:
    parts = set(re.findall(r"^###? (.+)$", TEXT, re.M))
    assert {"SAFE v0", "Confidence", "InvisibleBench"} <= parts
    assert len(parts) > 30


PAGES = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("decisions/*.md")]
OF_THE_SPECIFICATIONS = {
    "eval/metrics.py", "eval/scorer.py", "generate_leaderboard.py", "lint_turn_indices.py",
    "overlays/confidence/confidence_overlay.py", "tests/test_confidence_overlay.py", "tests/test_scorer.py",
    "scripts/run_scan.py",
}  # fmt: skip


def test_every_module_that_a_page_names_exists() -> None:
    """Also where a page leaves out the folders before it."""
    roots = ("benchmark", "compiler", "grammar", "runtime", "tests")
    there = [f"/{path.relative_to(ROOT)}" for root in roots for path in (ROOT / root).rglob("*.py")]
    named = {
        name for page in PAGES for name in re.findall(r"`((?:[\w-]+/)*\w+\.py)\b", page.read_text(encoding="utf-8"))
    }
    gone = {name for name in named if not any(path.endswith(f"/{name}") for path in there)}
    assert gone - OF_THE_SPECIFICATIONS == set()
    assert len(named) > 200
