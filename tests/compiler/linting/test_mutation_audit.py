"""Single mistakes in clean projects: how many lint notices, on the right line, with exactly one finding.

`make torture` makes 300 of them, `make test` the first 24. Run as a script it prints figures and what missed:
`python -m tests.compiler.linting.test_mutation_audit [COUNT [SEED]]`.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from tests.compiler.linting.mutations import PROJECTS, Mutant, copied, mutants
from tests.rounds import rounds

from rulewright.diagnostics import Diagnostic
from rulewright.linting.lint_run import lint

SEED: Final = 17
FEW, MANY = 24, 300
BARS: Final = {"noticed": 0.97, "line": 0.95, "one": 0.85}
LONG: Final = 5  # lines; a finding over more of them names no place


def audit(slips: Iterable[Mutant], scratch: Path) -> tuple[Counter[str], list[str]]:
    """How many mutants there are and what became of them; those that did not give one finding at its line, in words."""
    counts: Counter[str] = Counter()
    others = []
    roots = {project: copied(project, scratch / project) for project in PROJECTS}
    for mutant in slips:
        root, entry = roots[mutant.project]
        changed = root / mutant.path
        before = changed.read_bytes()
        changed.write_text(mutant.text, encoding="utf-8")
        found = lint([entry]).diagnostics
        changed.write_bytes(before)
        spans = [
            one.span for one in found if one.span.path == str(changed) and one.span.end_line - one.span.line < LONG
        ]
        on_line = any(span.line < mutant.lines.stop and mutant.lines.start <= span.end_line for span in spans)
        for name, is_so in (("all", True), ("noticed", bool(found)), ("line", on_line), ("one", len(found) == 1)):
            counts[name] += is_so
            counts[f"{mutant.kind} {name}"] += is_so
        if len(found) != 1 or not on_line:
            others.append(_in_words(mutant, found))
    return counts, others


def _in_words(mutant: Mutant, found: Iterable[Diagnostic]) -> str:
    line = mutant.text.split("\n")[mutant.lines.start - 1]
    told = [f"    {Path(one.span.path).name}:{one.span.line} {one.code}: {one.message}" for one in found]
    return "\n".join([f"{mutant.kind} {mutant.path}:{mutant.lines.start}: {line}", *(told or ["    silent"])])


@pytest.mark.parametrize("project", PROJECTS)
def test_the_projects_have_no_findings_before_a_slip(project: str, tmp_path: Path) -> None:
    _, entry = copied(project, tmp_path / project)
    assert lint([entry]).diagnostics == ()


def test_realistic_mistakes_are_reported_once_at_their_line(tmp_path: Path) -> None:
    count = rounds(FEW, MANY)
    counts, others = audit(mutants(count, SEED), tmp_path)
    assert counts["all"] == count
    shares = {name: counts[name] / count for name in BARS}
    assert all(shares[name] >= bar for name, bar in BARS.items()), (shares, others)


def main(count: int = MANY, seed: int = SEED) -> None:
    """Print what missed, the figures of each kind that has misses, and the three shares."""
    with tempfile.TemporaryDirectory() as folder:
        figures, missed = audit(mutants(count, seed), Path(folder))
    print("\n".join(missed))
    kinds = sorted({name.split()[0] for name in figures if " " in name})
    for kind in kinds:
        row = [figures[f"{kind} {name}"] for name in ("all", *BARS)]
        print(f"{kind:28}" + "".join(f"{number:6}" for number in row) + ("" if len(set(row)) == 1 else "  <"))
    print({name: round(figures[name] / figures["all"], 4) for name in BARS}, figures["all"])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
