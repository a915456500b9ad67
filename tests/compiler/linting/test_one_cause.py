"""One slip of an author is one finding, where several places show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulewright.linting.run import lint, lint_text

CHECK = """\
id: brief
each: reply
params:
  words: 60
fail: size(turn.content) > params.words
primary_bucket: F
severity: S3
"""


def told(root: Path) -> list[tuple[str, str, int]]:
    found = lint([root]).grouped().diagnostics
    return [(each.code, Path(each.span.path).name, each.span.line) for each in found]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "cure"),
    [
        ("fail:", "when:", "unknown-key", 5, "did you mean `fail`?"),
        ("params:\n  words", "words", "unknown-key", 3, "write it below `params`: `params.words` is read"),
        ("words: 60", "words: sixty", "parameter-does-not-fit", 4, None),
        ("words: 60", "words: -60", "parameter-does-not-fit", 4, None),
        ("size(turn", "size(turn.content) == 1; size(turn", "bad-expression", 5, None),
    ],
)
def test_a_slip_in_a_check_is_told_once(old: str, new: str, code: str, line: int, cure: str | None) -> None:
    (found,) = lint_text(CHECK.replace(old, new, 1), "checks/brief.yaml").grouped().diagnostics
    assert (found.code, found.span.line) == (code, line)
    assert cure is None or found.help == cure


PROJECT = "project: desk\nroot: {root}\nchecks: checks\nlexicons: lexicons\nscorecards: scorecards\n"
CARD = """\
scorecard: share
gates:
  held: {of: v.severity == S5, stops: v.verdict == FAIL, undecided: v.verdict == UNCLEAR,
         empty: {not_eligible: passed, not_run: passed}}
rates:
  passed: {rate: {of: "true", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE],
                  error: adjudicate, empty: absent}}
output: {passed: rates.passed, held: gates.held.passed.hasValue()}
headline: passed
"""
ROUTING = "routing: {route: lexicon_only, deterministic_precheck: refunds}"
FILES = {
    "rulewright.yaml": PROJECT.format(root="."),
    "checks/brief.yaml": CHECK.replace("severity: S3", "severity: S5").replace("bucket: F", "bucket: B"),
    "checks/refund.yaml": f"id: refund\nname: refund\nprimary_bucket: B\nseverity: S5\nscope: universal\n{ROUTING}\n",
    "lexicons/refunds.yaml": "name: refunds\npatterns: [we will refund]\n",
    "scorecards/share.yaml": CARD,
}


def test_the_project_has_nothing_to_tell(tmp_path: Path) -> None:
    assert told(write(tmp_path, FILES)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "line"),
    [
        ("checks/refund.yaml", "bucket: B\nseverity: S5", "bucket: S5\nseverity: B", "unknown-value", 3),
        ("checks/refund.yaml", ROUTING, "routing: lexicon_only", "wrong-type", 6),
        ("lexicons/refunds.yaml", "name: refunds", "name: refund", "id-differs-from-file-name", 1),
        ("scorecards/share.yaml", "gates:\n  held:", "gates:\n- held:", "wrong-type", 3),
        ("scorecards/share.yaml", "hit: [PASS]", "hit: [FAIL]", "verdict-without-meaning", 6),
        ("scorecards/share.yaml", "hit: [PASS], miss: [FAIL]", "hit: [FAIL], miss: [PASS]",
         "failure-counts-as-success", 6),
        ("scorecards/share.yaml", "output: {passed:", "output:\n - passed:", "yaml-syntax", 9),
        ("rulewright.yaml", "root: .", "root: desk", "missing-path", 2),
        ("rulewright.yaml", "project:", "name:", "unknown-key", 1),
    ],
)  # fmt: skip
def test_a_slip_in_a_project_is_told_once(file: str, old: str, new: str, code: str, line: int, tmp_path: Path) -> None:
    assert old in FILES[file]
    write(tmp_path, FILES | {file: FILES[file].replace(old, new, 1)})
    assert told(tmp_path) == [(code, Path(file).name, line)]
