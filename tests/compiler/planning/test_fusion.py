"""What a plan does once for all is shown as it is done."""

import json
from pathlib import Path

import pytest
from tests.compiler.small_project import check, write

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.planning.fusion import WHY_LITERAL, WHY_NOT_FUSED, fusion_lines, fusion_of
from rulewright_runtime.matching import match
from rulewright_runtime.matching.match import Matcher
from rulewright_runtime.plan.judge_needs import searched_lexicons
from rulewright_runtime.plan.scan import Plan


def lexicon_check(name: str, lexicon: str, scope: str = "universal") -> str:
    text = check(route="lexicon_only", routing=f"deterministic_precheck: {lexicon}", scope=scope)
    return text.replace("W-1", name).replace("says_no", name.lower())


EXPRESSION = "id: {0}\nname: x\nprimary_bucket: C\nseverity: S2\nscope: universal\n{1}\n"
NEVER = """\
id: W-6
name: x
primary_bucket: C
severity: S2
scope: trigger
eligibility: {when: scenario.category == "empathy"}
fail: size(turns) > 9
"""
PROJECT = {
    "checks/W-1.yaml": lexicon_check("W-1", "words"),
    "checks/W-2.yaml": lexicon_check("W-2", "more"),
    "checks/W-3.yaml": lexicon_check("W-3", "pinned"),
    "checks/W-4.yaml": EXPRESSION.format("W-4", "each: reply\nfail: size(turn.content) > 9"),
    "checks/W-5.yaml": EXPRESSION.format("W-5", 'fail: v("W-4").verdict == FAIL'),
    "checks/W-6.yaml": NEVER,
    "checks/W-7.yaml": check().replace("W-1", "W-7"),
    "lexicons/more.yaml": "patterns: [you must, never]\n",
    "lexicons/pinned.yaml": 'fold: none\npatterns: [well, "di\\u0307"]\n',
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_project(write(tmp_path_factory.mktemp("project"), PROJECT))


def test_lexicons_share_a_pass_for_each_form_of_the_text(plan: Plan) -> None:
    found = fusion_of(plan)["passes"]
    assert [(each["role"], each["case"], each["patterns"]) for each in found] == [
        ("assistant", True, {"more": 2, "words": 1}),
        ("assistant", False, {"words": 1}),
    ]
    assert "apostrophes" in found[0]["without"]
    assert found[1]["without"] == ()


def test_a_lexicon_stays_apart_for_the_pattern_that_is_named(plan: Plan) -> None:
    found = fusion_of(plan)
    assert found["apart"] == [{"role": "assistant", "lexicon": "pinned", "pattern": "di\u0307", "why": WHY_LITERAL}]
    assert "  assistant pinned (`di\u0307`): it contains" in "\n".join(fusion_lines(found))


def test_the_description_of_a_lexicon_is_what_the_matcher_does(plan: Plan) -> None:
    wanted, found = searched_lexicons(plan), fusion_of(plan)
    matcher = Matcher(wanted)
    for role, lexicons in wanted.items():
        fused = {name for each in found["passes"] if each["role"] == role for name in each["patterns"]}
        assert fused == {name for name in lexicons if matcher.covers(role, name)}
        assert lexicons.keys() - fused == {each["lexicon"] for each in found["apart"] if each["role"] == role}


def test_every_check_has_its_work(plan: Plan) -> None:
    found = fusion_of(plan)
    assert found["work"] == {
        "W-1": "pass",
        "W-2": "pass",
        "W-3": "transcript",
        "W-4": "part",
        "W-5": "verdicts",
        "W-6": "transcript",
        "W-7": "judge",
    }
    assert (found["records"], found["settled"]) == (7, 1)  # W-6 applies to no scenario


def test_without_re2_nothing_is_fused_and_it_is_reported(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **options: object) -> None:
        raise ImportError

    monkeypatch.setattr(match, "compile_set", missing)
    found = fusion_of(plan)
    assert found["passes"] == []
    whys = {each["lexicon"]: each["why"] for each in found["apart"]}
    assert whys == {"more": WHY_NOT_FUSED, "pinned": WHY_LITERAL, "words": WHY_NOT_FUSED}
    assert found["work"]["W-1"] == "transcript"


def test_the_command_reads_no_transcripts_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, PROJECT))
    before = sorted(tmp_path.rglob("*"))
    assert main(["plan", "--show-fusion", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["work"]["W-4"] == "part"
    assert main(["plan", "--show-fusion"]) == 0
    shown = capsys.readouterr().out
    assert "  assistant 3 patterns of 2 lexicons, ignoring apostrophes" in shown
    assert "only where the pass hits: W-1, W-2\n" in shown
    assert "for each turn, reply, message or call: W-4\n" in shown
    assert sorted(tmp_path.rglob("*")) == before
    assert main(["plan"]) == 3
    assert "name the transcripts, or use `--show-fusion`" in capsys.readouterr().err
