"""What lint promises: a clean project compiles and runs; fixing changes less each time, and then nothing."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from tests.compiler import small_project
from tests.compiler.linting.test_torture import broken
from tests.compiler.test_rules import BAD, name_of, unpacked

from rulewright.compiling import compile_project
from rulewright.diagnostics import Severity
from rulewright.linting.run import fix_files, lint
from rulewright_runtime.execution import execute
from rulewright_runtime.judge import JudgeRequest

TORTURE = bool(os.environ.get("RULEWRIGHT_TORTURE"))
EXAMPLES = 2_000 if TORTURE else 60
ROUNDS = 20 if TORTURE else 2


class Reciter:
    """A judge with a few replies, usable and not, one after the other."""

    REPLIES = (
        '{"verdict": "PASS", "rationale": "fine"}',
        '{"verdict": "FAIL", "rationale": "bad", "evidence": [{"role": "assistant", "turn": 1, "quote": "you must"}]}',
        "PASS",
        "no reply anybody can read",
        None,
    )

    def __init__(self) -> None:
        """Begin with the first."""
        self.asked = 0

    def ask(self, request: JudgeRequest) -> str | None:
        """The next reply."""
        self.asked += 1
        return self.REPLIES[self.asked % len(self.REPLIES)]


ROUTES = ("lexicon_only", "hybrid_llm", "regex_with_llm_edge", "llm_primary", "longitudinal_trace", "memory_probe")
PRECHECK = st.sampled_from(["words", "words", "words", "words", "other"])
ROUTINGS = st.lists(
    st.sampled_from(
        [
            "repetitions: 3", "repetitions: 1", "repetitions: 2", "repetitions: 0", "unit_of_analysis: turn_level",
            "unit_of_analysis: event_window", "unit_of_analysis: session_state", "llm_on_ambiguous: true",
            "dev_repetitions: 1", "scenario_marker: human", "system_capability_aware: true",
            "adaptive_repetitions: true", "probes: [recall]", "safety_override_suppressed_by: [crisis]",
        ]
    ),
    max_size=4,
    unique_by=lambda line: line.split(":")[0],
)  # fmt: skip
SCORERS = st.lists(
    st.sampled_from(
        [
            "require_evidence_span: true", "require_evidence_span: false", "unclear_policy: llm_edge",
            "unclear_policy: fail_closed", "unclear_policy: adjudicate", "detectors: [words]",
        ]
    ),
    max_size=3,
    unique_by=lambda line: line.split(":")[0],
)  # fmt: skip
WHEN = st.sampled_from(
    [
        None, None, None, "scenario.category == 'safety'", "size(scenario.tags) / 2 > 0", "scenario.nothing == 1",
        "size(scenario.tags) > 0",
        "scenario.tags.exists(t, t.matches('cri.*'))", "1 / 0 > 1", "scenario.tags[3] == 'crisis'",
        "size(scenario.tags) > 9223372036854775807 - 1", "scenario.title.matches('(')",
    ]
)  # fmt: skip
PROMPTS = st.sampled_from(
    [
        "Did it fail?", "Did it fail?", "Did it?", "{{ check.id }}", "{{ nothing }}", "{{ 1 / 0 }}",
        "{% if scenario.category == 'safety' %}x{% endif %}", "{{ scenario.title | upper }}",
        "{% for tag in scenario.tags %}{{ tag }}{% endfor %}",
    ]
)  # fmt: skip
PATTERNS = st.lists(
    st.sampled_from(["you must", "é", "regex: 'no+ way'", "regex: '(a|b)*c'", "''", "regex: '\\bm'", "regex: '(a'"]),
    min_size=1,
    max_size=3,
)
SCENARIOS = st.sampled_from(
    [
        small_project.SCENARIO,
        small_project.SCENARIO.replace('"turn_number": 1', '"turn_number": 2'),
        small_project.SCENARIO.replace('["crisis"]', "[]"),
        small_project.SCENARIO.replace("}]}", '}, {"turn_number": 2, "user_message": "And now?"}]}'),
        small_project.SCENARIO.replace(
            '"turns"', '"cue_anchors": [{"cue_turn": 1, "eligible_modes": ["W-1"]}], "turns"'
        ),
    ]
)
PROFILES = st.sampled_from(
    [
        small_project.PROFILES.replace(
            "[lexicon_only]", "[lexicon_only, hybrid_llm, llm_primary, regex_with_llm_edge]"
        ),
        "only: {include_all: true, select: \"check.severity == 'S5'\"}\n",
        "only: {include_all: true, select: size(check.severity) / 2 > 1}\n",
        "only: {include_all: true, llm_repetitions: 0}\n",
        "only: {include_all: true, adaptive_repetitions: true}\n",
    ]
)


@st.composite
def projects(draw: st.DrawFn) -> dict[str, str]:
    """The files of a small project, many of them right and some wrong."""
    when = draw(WHEN)
    tags = draw(st.sampled_from(["crisis", "any", "other"]))
    check = small_project.check(
        bucket=draw(st.sampled_from("ABCF")),
        severity=draw(st.sampled_from(["S5", "S4_GATE", "S2"])),
        scope=draw(st.sampled_from(["trigger", "universal"])),
        tags=tags if when is None else f"{tags}]\nwhen: {when}  # [",
        scorer="\n".join(draw(SCORERS)) or "require_evidence_span: false",
        route=draw(st.sampled_from(ROUTES)),
        routing="\n".join([f"deterministic_precheck: {draw(PRECHECK)}", *draw(ROUTINGS)]),
    )
    return {
        "checks/W-1.yaml": check.replace("Did it fail?", draw(PROMPTS)),
        "lexicons/words.yaml": "patterns:\n" + "".join(f"  - {pattern}\n" for pattern in draw(PATTERNS)),
        "scenarios/night.json": draw(SCENARIOS),
        "configs/profiles.yaml": draw(PROFILES),
    }


def play(folder: Path) -> None:
    """Compile the project under each profile it has and run it over a few transcripts."""
    talk = folder / "transcripts"
    talk.mkdir()
    turns = [
        '{"turn": 1, "role": "user", "content": "Hello"}',
        '{"turn": 1, "role": "assistant", "content": "You must é"}',
    ]
    (talk / "model__night.jsonl").write_text("\n".join(turns) + "\n", encoding="utf-8")
    (talk / "other__night.jsonl").write_text(turns[0] + "\n", encoding="utf-8")
    for profile in ("publish", "smoke", "only"):
        if f"\n{profile}: " in "\n" + (folder / "configs" / "profiles.yaml").read_text(encoding="utf-8"):
            plan = compile_project(folder, profile=profile)
            for result in execute(plan, [talk], Reciter()):
                assert result.errors == ()
                assert {found.mode_id for found in result.verdicts} == {"W-1"} or not plan.checks
                crashed = [found for found in result.verdicts if "exception" in str(found.rationale_code)]
                assert crashed == []


seen = {"clean": 0, "broken": 0}


@given(files=projects())
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def check_that_clean_means_runnable(files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = small_project.write(Path(name), files)
        errors = [found for found in lint([folder]).diagnostics if found.severity is Severity.ERROR]
        seen["clean" if not errors else "broken"] += 1
        if not errors:
            note(files["checks/W-1.yaml"])
            play(folder)


def test_what_lints_without_errors_compiles_and_runs() -> None:
    check_that_clean_means_runnable()
    assert min(seen.values()) >= EXAMPLES // 5, seen


def check_fixing(words: list[str], *, unsafe: bool) -> None:
    """Fixing leaves fewer findings, and a second time changes nothing."""
    before = lint(words)
    after = fix_files(words, unsafe=unsafe)
    texts = {path: Path(path).read_bytes() for path in after.sources}
    changed = any(texts[path].decode(errors="replace") != before.sources[path].text for path in texts)
    fixable = [found for found in before.diagnostics if found.fix is not None and (found.fix.safe or unsafe)]
    if changed and fixable:
        assert len(after.diagnostics) < len(before.diagnostics)
    again = fix_files(words, unsafe=unsafe)
    assert again.diagnostics == after.diagnostics
    assert {path: Path(path).read_bytes() for path in again.sources} == texts


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
@pytest.mark.parametrize("path", BAD, ids=name_of)
def test_fixing_reduces_findings_and_is_done_once(
    path: Path, unsafe: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_fixing(unpacked(path, tmp_path), unsafe=unsafe)


@pytest.mark.parametrize("path", [path for path in BAD if path.suffix != ".txtar"], ids=name_of)
def test_fixing_what_is_broken_further_is_done_once_too(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(name_of(path))
    text = path.read_bytes().decode(errors="replace")
    for _ in range(ROUNDS):
        (tmp_path / path.name).write_text(broken(text, chance), encoding="utf-8")
        fix_files([path.name], unsafe=True)
        once = (tmp_path / path.name).read_bytes()
        fix_files([path.name], unsafe=True)
        assert (tmp_path / path.name).read_bytes() == once


def test_the_shipped_benchmark_is_clean_and_runs(tmp_path: Path) -> None:
    shipped = Path(__file__).resolve().parents[3]
    for name in ("benchmark", "checks"):
        shutil.copytree(shipped / name, tmp_path / name)
    project = tmp_path / "benchmark" / "rulewright.yaml"
    assert lint([project]).diagnostics == ()
    results = execute(compile_project(project), [tmp_path / "benchmark" / "transcripts"], Reciter())
    assert [result.errors for result in results if result.errors] == []
