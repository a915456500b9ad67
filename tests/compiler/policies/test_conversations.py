"""Conversations that show where two expression checks differ: both are run on them, and nothing else is claimed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rulewright.api import check_transcript
from rulewright.cli import main
from rulewright.policies.compare import policy_diff

CHECK = """\
id: E-1
name: said_so
primary_bucket: C
severity: S2
scope: universal
routing:
  route: expression
{more}fail: {fail}
"""


def project(folder: Path, fail: str, more: str) -> Path:
    path = folder / "checks" / "E-1.yaml"
    path.parent.mkdir(parents=True)
    (folder / "rulewright.yaml").write_text("project: p\n")
    path.write_text(CHECK.format(fail=json.dumps(fail), more=more))
    return path


@pytest.mark.parametrize(
    ("one", "two", "each"),
    [
        ("size(turn.content) > 200", "size(turn.content) > 300 || turn.content.contains('sorry')", "reply"),
        ("word_count(turn.content) > 40", "word_count(turn.content) > 50", "reply"),
        ("sentence_count(turn.content) > 3", "sentence_count(turn.content) > 5", "reply"),
        ("contains_any(turn.content, ['refund'])", "contains_all(turn.content, ['refund', 'money'])", "reply"),
        ("turn.content.matches('re(fund|turn)s?')", "turn.content.contains('return')", "reply"),
        ("size(turns) > 10", "size(turns) > 11", ""),
        ("tool_calls.exists(c, c.name == 'search')", "tool_calls.exists(c, c.name == 'lookup')", ""),
        ("usage.total_tokens > 20000", "usage.total_tokens > 25000", ""),
        ("usage.cost > 0.05", "usage.cost > 0.02", ""),
        ("turn.content.contains(params.word)", "turn.content.contains('other')", "reply"),
    ],
)
def test_a_conversation_shows_what_it_is_said_to_show(tmp_path: Path, one: str, two: str, each: str) -> None:
    more = (f"each: {each}\n" if each else "") + "params: {word: refund}\n"
    paths = [project(tmp_path / name, fail, more) for name, fail in (("one", one), ("two", two))]
    found = policy_diff(*paths)
    assert found["verdict"] == "different"
    shown = [region for region in found["regions"] if region["witness"] is not None]
    assert {(region["before"], region["after"]) for region in shown} & {("FAIL", "PASS"), ("PASS", "FAIL")}
    for region in shown:
        for path, verdict in zip(paths, (region["before"], region["after"]), strict=True):
            result = check_transcript(path.parent.parent, region["witness"])
            assert [each.verdict for each in result.verdicts] == [verdict]


def test_what_no_conversation_was_found_for_is_told_and_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [project(tmp_path / name, f'scenario.title == "{name}"', "") for name in ("one", "two")]
    found: Any = policy_diff(*paths)
    assert found["verdict"] == "undecided"
    assert [(region["witness"], bool(region["why"])) for region in found["regions"]] == [(None, True)] * 2
    assert main(["policy-diff", *map(str, paths)]) == 2
    assert "not shown: no conversation was found on which the checks say so" in capsys.readouterr().out


def test_a_conversation_is_shown_in_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        project(tmp_path / name, f"size(turn.content) > {most}", "each: reply\n")
        for name, most in (("one", 200), ("two", 300))
    ]
    assert main(["policy-diff", *map(str, paths)]) == 1
    assert '    assistant: "oooooooooo' in (said := capsys.readouterr().out)
    assert "and so on, 201 characters" in said


def test_the_usage_of_a_conversation_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [
        project(tmp_path / name, f"usage.total_tokens > {most}", "") for name, most in (("one", 2000), ("two", 3000))
    ]
    assert main(["policy-diff", *map(str, paths)]) == 1
    assert '    assistant: "So it is.", total_tokens 2200' in capsys.readouterr().out


def test_checks_that_read_other_verdicts_are_not_carried_out(tmp_path: Path) -> None:
    paths = []
    for name, word in (("one", "FAIL"), ("two", "PASS")):
        paths.append(project(tmp_path / name, f'v("E-2").verdict == "{word}"', ""))
        other = CHECK.format(fail='"false"', more="").replace("E-1", "E-2").replace("said_so", "other")
        (tmp_path / name / "checks" / "E-2.yaml").write_text(other)
    assert all(region["witness"] is None for region in policy_diff(*paths)["regions"])
