"""Every word that a report prints is explained: `rulewright explain WORD` prints its row of the page of terms."""

import json
import re

import pytest

from rulewright.cli import main
from rulewright.comparing.diff import INCONCLUSIVE, NOT_WORSE, WORSE
from rulewright.reporting.formats import IDLE_GATE, INCOMPLETE, REFUSED, RESULTS
from rulewright.shipped import CONFIGS, shipped_root
from rulewright.terms import term_named, terms
from rulewright_runtime.aggregate.outcome import GATE_STATES, OUTCOMES
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.report.summary import TOTALS

SCORECARDS = sorted(path.stem for path in (shipped_root() / CONFIGS / "scorecards").glob("*.yaml"))
TOTALLED = [name for total, parts in TOTALS.items() for name in (total, *parts)]
NOUNS = [
    "coverage", "gate", "gates", "unproven", "adjudication", "idle gate", "exit codes", "score", "overall", "counted",
    "absent", "blindspots", "95% interval", "confidence", "needs_adjudication", "valid", "invalid", "left out",
    "not asked", "unresolved", "outer bound", "pass rate", "rank", "unscored", "flip", "pair", "breakpoint", "judge",
    "contrast set", "profile", "scorecard", "plan", "overlay", "window", "workspace",
]  # fmt: skip


@pytest.mark.parametrize(
    "word",
    sorted({
        *VERDICTS, *OUTCOMES, *GATE_STATES, *RESULTS, *TOTALLED, *SCORECARDS, *NOUNS, IDLE_GATE, INCOMPLETE, REFUSED,
        WORSE, NOT_WORSE, INCONCLUSIVE,
    }),
)  # fmt: skip
def test_a_word_that_reports_print_is_explained_with_a_guide(word: str) -> None:
    term = term_named(word)
    assert term is not None
    assert (shipped_root() / term.guide.partition("#")[0]).is_file()


def test_every_row_of_every_table_is_a_term() -> None:
    page = (shipped_root() / "docs" / "reference" / "terms.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*\|$", page, re.MULTILINE)
    assert len(terms()) == len(rows) - len(re.findall(r"^\|-", page, re.MULTILINE))
    assert not any("](" in each.meaning for each in terms())


def test_a_word_that_is_also_a_key_is_explained_as_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "coverage"]) == 0
    shown = capsys.readouterr().out
    assert "the share of the checks that apply that were decided (PASS or FAIL); see docs/guides/scorecards.md" in shown
    assert "coverage (scorecards)" in shown
    assert main(["explain", "idle-gate", "--format", "json"]) == 0
    assert "a gate that judged nothing" in json.loads(capsys.readouterr().out)["idle gate (term)"]
    assert main(["explain", "share"]) == 0  # a function too
    assert "share (term): the share of the checks that a transcript passes" in capsys.readouterr().out


def test_a_word_that_is_nearly_a_term_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "unprovn"]) == 3
    error = "error: unknown rule, function, key or term `unprovn`; did you mean `unproven`?\n"
    assert capsys.readouterr().err == error
