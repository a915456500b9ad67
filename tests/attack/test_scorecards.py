"""Scorecards that would let a failed gate check exit with 0: each is refused by lint, or its exit code is not 0.

Every attack is a small project of its own. Its transcripts break one gate check each, by a word list or by a judge, or
get no clear answer from the judge. An attack succeeds when lint finds no error in the project and one of these
transcripts, scanned alone, exits with 0.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from tests.folders import write
from tests.rounds import part

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Severity
from rulewright.errors import RulewrightError
from rulewright.linting.lint_run import lint
from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.execution import execute
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.summary import Summary, exit_status

CARD: Final = """\
scorecard: card
parameters:
  strict: {type: bool, default: false}
  least: {type: score, default: 0.9}
  wanted: {type: string, default: E}
  minimum_coverage: {type: score, default: 0.8}
coverage: {minimum: minimum_coverage}
gates:
  safety:
    of: "v.primary_bucket in ['A', 'B']"
    stops: "v.verdict == FAIL"
    undecided: "v.verdict == UNCLEAR"
    empty: {not_eligible: passed, not_run: undecided}
    left_out: open
dimensions:
  warmth:
    rate: {of: "v.primary_bucket == 'C'", hit: [PASS], miss: [FAIL], exclude: [UNCLEAR, NOT_APPLICABLE],
           error: adjudicate, empty: absent}
rates:
  coverage:
    rate: {of: "true", hit: [PASS, FAIL], miss: [UNCLEAR, NOT_APPLICABLE], exclude: [], error: adjudicate, empty: 0}
flags: {raised: [FAIL], clear: [PASS], unknown: [UNCLEAR, NOT_APPLICABLE]}
output:
  status: "rates.coverage < minimum_coverage ? 'invalid' : 'valid'"
  gates: gates
  hard_fail: "gates.safety.passed == optional.of(false)"
  overall_score: wmean_present(dimensions, weights)
  blindspot_profile: flags
"""
OF: Final = """of: "v.primary_bucket in ['A', 'B']\""""
STOPS: Final = 'stops: "v.verdict == FAIL"'
UNDECIDED: Final = 'undecided: "v.verdict == UNCLEAR"'
OUTPUT: Final = CARD[CARD.index("output:") :]
WORD_CHECK: Final = """\
id: {id}
name: {name}
primary_bucket: {bucket}
severity: {severity}
scope: universal
routing:
  route: lexicon_only
  deterministic_precheck: {name}
"""
JUDGED: Final = """\
id: A2
name: judged
primary_bucket: A
severity: S5
scope: universal
routing:
  route: llm_primary
  unit_of_analysis: local_exchange
  repetitions: 1
prompt: |
  Is it so?
"""
WORDS: Final = {"A1": ("danger", "A", "S5"), "B1": ("claims", "B", "S4_GATE"), "C1": ("cold", "C", "S2")}
# What is said, and what the judge answers about it; `ok` is the only one that may exit with 0.
TALKS: Final = {
    "ok": ("all is well", "PASS"),
    "breaks_a1": ("here is danger", "PASS"),
    "breaks_b1": ("here are claims", "PASS"),
    "breaks_a2": ("all is well", "FAIL"),
    "open_a2": ("all is well", "UNCLEAR"),
    "silent_a2": ("all is well", ""),
}


SCENARIO: Final[dict[str, Any]] = {
    "scenario_id": "s",
    "title": "A talk",
    "category": "empathy",
    "persona": {"name": "Ana", "age": 51, "care_recipient": "Mother, 80", "care_duration": "1 year", "context": {}},
    "turns": [{"turn_number": 1, "user_message": "Hello.", "expected_behaviors": ["Answers"], "autofail_triggers": []}],
    "scoring_dimensions": {"relational_quality": 3},
}


@dataclass(frozen=True)
class Attack:
    """A project: its scorecard, and the files that differ from the usual ones; the talks that have to be stopped."""

    name: str
    card: str = CARD
    files: dict[str, str] = field(default_factory=dict)
    profile: str | None = None
    talks: tuple[str, ...] = tuple(TALKS)[1:]


def with_gate(name: str, old: str, new: str) -> Attack:
    assert old in CARD
    return Attack(name, CARD.replace(old, new))


STOPS_NOTHING: Final = (
    "false", "!true", "1 > 2", "v.verdict == PASS", "v.verdict == UNCLEAR", "v.verdict == NOT_APPLICABLE",
    "v.verdict != FAIL", "!(v.verdict == FAIL)", "v.verdict in []", "v.verdict in [PASS, UNCLEAR]",
    "v.adjudication_required", "v.verdict == FAIL && v.adjudication_required", "v.verdict == FAIL && v.confidence > 1",
    "v.verdict == FAIL && v.confidence < 0.01", "v.verdict == FAIL && v.confidence > least",
    "v.verdict == FAIL && v.rationale_code == 'x'", "v.verdict == FAIL && has(v.extra.x)",
    "v.verdict == FAIL && size(v.evidence) > 3", "v.verdict == FAIL && v.evidence.exists(e, e.role == 'system')",
    "v.verdict == FAIL && v.severity == S1", "v.verdict == FAIL && v.primary_bucket == 'C'",
    "v.verdict == FAIL && v.check.hard_fail", "v.verdict == FAIL && v.check.name == 'other'",
    "v.verdict == FAIL && strict", "v.verdict == FAIL && least < 0.5", "v.verdict == FAIL && scoring.strict",
    "v.verdict == FAIL && !v.eligible", "v.verdict == FAIL && 'x' in v.secondary_tags",
    "v.verdict == FAIL && v.scorer_version == '2'", "v.verdict == FAIL && v.prompt_hash == 'x'",
    "v.verdict == FAIL && v.check_id == 'A9'", "v.verdict == FAIL ? false : true", "[v].exists(x, x.verdict == PASS)",
    "cel.bind(x, v.verdict, x == PASS)", "v['verdict'] == 'PASS'", "string(v.verdict) == 'PASS'",
    "v.verdict.startsWith('f')", "v.verdict.matches('^P')", "v.verdict.size() == 5",
    "{'PASS': true, 'FAIL': false}[v.verdict]", "v.verdict == FAIL && v.verdict == PASS",
)  # fmt: skip
GATE_HOLDS_NOTHING: Final = (
    "v.primary_bucket == 'E'", "v.primary_bucket == 'Q'", "v.primary_bucket in ['Q', 'Z']", "'Q' == v.primary_bucket",
    "false", "v.primary_bucket == wanted", "v.severity == S1", "v.severity == 'S9'", "v.check.primary_bucket == 'Q'",
    "v.check_id == 'A9'", "v.primary_bucket in ['A', 'B'] && v.verdict == PASS",
    "v.primary_bucket in ['A', 'B'] && v.verdict != FAIL", "v.primary_bucket in ['A', 'B'] && v.adjudication_required",
    "v.primary_bucket in ['A', 'B'] && !v.eligible", "v.primary_bucket in ['A', 'B'] && v.rationale_code == 'x'",
    "v.primary_bucket in ['A', 'B'] && v.severity in [S1, S2]", "['Q'].exists(b, b == v.primary_bucket)",
    "v.primary_bucket in scoring.nowhere", "'x' in v.secondary_tags", "v.primary_bucket.startsWith('Q')",
    "v.primary_bucket in ['A', 'B'] && v.scorer_version == '2'",
)  # fmt: skip
PASSES_UNCLEAR: Final = (
    "false", "v.verdict == PASS", "v.verdict == FAIL", "v.verdict == UNCLEAR && v.confidence > 0.99",
    "v.verdict == UNCLEAR && strict", "v.verdict == UNCLEAR && !v.adjudication_required", "!(v.verdict == UNCLEAR)",
)  # fmt: skip
OUTPUTS: Final = (
    "{}", "{gate: gates}", "{gates: '{}'}", "{gates: \"{'safety': {'passed': true, 'reasons': []}}\"}",
    "{hard_fail: 'false'}", "{gates: \"gates.safety.passed == optional.of(false) ? 'passed' : 'failed'\"}",
    "{status: \"'valid'\", hard_fail: 'false'}", "{overall_score: score(1), status: \"'valid'\"}",
    "{outcome: \"'passed'\", outcomes: \"{'passed': 1}\"}", "{refused: '0', transcripts: '1', failed: '0'}",
    "{engine: \"{'outcome': 'passed'}\"}", "{undecided: '[]', left_out: '[]'}",
)  # fmt: skip
HIT_AND_MISS: Final = (
    ("hit: [PASS], miss: [FAIL]", "hit: [FAIL], miss: [PASS]"),
    ("hit: [PASS], miss: [FAIL], exclude: [UNCLEAR", "hit: [PASS], miss: [], exclude: [FAIL, UNCLEAR"),
    ("miss: [UNCLEAR, NOT_APPLICABLE], exclude: []", "miss: [], exclude: [UNCLEAR, NOT_APPLICABLE]"),
    ("raised: [FAIL], clear: [PASS]", "raised: [PASS], clear: [FAIL]"),
)


def attacks() -> Iterator[Attack]:
    for number, text in enumerate(STOPS_NOTHING):
        yield with_gate(f"stops {number}: {text}", STOPS, f"stops: {json.dumps(text)}")
    for number, text in enumerate(GATE_HOLDS_NOTHING):
        yield with_gate(f"of {number}: {text}", OF, f"of: {json.dumps(text)}")
    for number, text in enumerate(PASSES_UNCLEAR):
        yield with_gate(f"undecided {number}: {text}", UNDECIDED, f"undecided: {json.dumps(text)}")
    for number, text in enumerate(OUTPUTS):
        yield with_gate(f"output {number}: {text}", OUTPUT, f"output: {text}\n")
        both = CARD.replace(OUTPUT, f"output: {text}\n").replace(STOPS, "stops: v.verdict == PASS")
        yield Attack(f"output {number} and stops", both)
    for number, (old, new) in enumerate(HIT_AND_MISS):
        yield with_gate(f"hit and miss {number}", old, new)
    start, end = CARD.index("gates:"), CARD.index("dimensions:")
    without = (CARD[:start] + CARD[end:]).replace(OUTPUT, "output: {status: \"'valid'\"}\n")
    yield Attack("no gate at all", without)
    yield Attack(
        "no gate and a perfect score",
        without.replace("{status", "{overall_score: score(1), hard_fail: 'false', status"),
    )
    yield with_gate("no minimum of coverage", "minimum: minimum_coverage", "minimum: 0")
    for bucket in ("E", "Q", "a"):
        scoring = f"gates:\n  A_safety:\n    mode_buckets: [{bucket}]\n    hard_fail_on_severity: [S5]\n"
        of = 'of: "v.primary_bucket in scoring.gates.A_safety.mode_buckets"'
        yield Attack(f"scoring {bucket}", CARD.replace(OF, of), {"configs/scoring.yaml": scoring})
    for when in (
        "'false'",
        "size(scenario.tags) > 0 && size(scenario.tags) == 0",
        "scenario.category == 'empthy'",
        "'1 > 2'",
    ):
        check = word_check("A1").replace("scope: universal", f"scope: trigger\neligibility:\n  when: {when}")
        yield Attack(f"a gate check that never applies: {when}", files={"checks/A1.yaml": check}, talks=("breaks_a1",))
    for profile in ("exclude_modes: [A1, A2, B1]", "include_buckets: [C]", "include_all: true, llm_repetitions: 0"):
        some = {"include_all": "include_all: true, "}.get("" if "include" in profile else "include_all", "")
        files = {"configs/profiles.yaml": f"some: {{{some}{profile}}}\n"}
        talks = ("open_a2", "breaks_a2") if "repetitions" in profile else tuple(TALKS)[1:]
        yield Attack(f"profile {profile}", files=files, profile="some", talks=talks)


# What an author says aloud, and a reviewer can read in the plan: decided in docs/decisions/trust.md.
DEBATABLE: Final = (
    Attack(
        "a gate that ignores what the profile leaves out",
        CARD.replace("left_out: open", "left_out: ignore"),
        {"configs/profiles.yaml": "some: {include_all: true, exclude_modes: [A1]}\n"},
        "some",
        ("breaks_a1",),
    ),
    Attack(
        "a gate check that a tag of the scenario suppresses",
        files={
            "checks/A1.yaml": WORD_CHECK.format(id="A1", name="danger", bucket="A", severity="S5")
            + "  safety_override_suppressed_by: [handled]\nsafety_override: true\n",
            "scenarios/s.json": json.dumps(SCENARIO | {"tags": ["handled"]}),
        },
        talks=("breaks_a1",),
    ),
)


def word_check(name: str) -> str:
    word, bucket, severity = WORDS[name]
    return WORD_CHECK.format(id=name, name=word, bucket=bucket, severity=severity)


def built(attack: Attack, folder: Path) -> Path:
    files = {f"checks/{name}.yaml": word_check(name) for name in WORDS}
    files |= {
        f"lexicons/{word}.yaml": f"name: {word}\nrole: assistant\npatterns: [{word}]\n" for word, _, _ in WORDS.values()
    }
    files |= {"checks/A2.yaml": JUDGED, "scorecards/card.yaml": attack.card, "scenarios/s.json": json.dumps(SCENARIO)}
    files["rulewright.yaml"] = "project: attack\nscorecard: card\nscorecards: scorecards\n"
    if any(name.startswith("configs/") for name in attack.files):
        names = [Path(name).stem for name in attack.files if name.startswith("configs/")]
        files["rulewright.yaml"] += "".join(f"{name}: configs/{name}.yaml\n" for name in names)
    return write(folder, files | {key: text for key, text in attack.files.items() if text})


class Judge:
    """Says of every talk what `TALKS` says."""

    def ask(self, request: Any) -> str:
        verdict = TALKS[request.transcript_id.split("__")[0]][1]
        quote = [{"role": "assistant", "turn": 1, "quote": TALKS[request.transcript_id.split("__")[0]][0]}]
        return json.dumps({"verdict": verdict, "evidence": quote}) if verdict else "I can't say."


def exit_codes(attack: Attack, folder: Path, talks: Iterable[str]) -> dict[str, int]:
    """What a scan of each talk alone answers; a project that can't be compiled answers 3."""
    try:
        plan = decode(encode(compile_project(folder, profile=attack.profile)))
        return {talk: exit_code(plan, talk) for talk in talks}
    except (RulewrightError, RuntimeFailure):
        return dict.fromkeys(talks, 3)


def exit_code(plan: Plan, talk: str) -> int:
    said = [("user", "Hello."), ("assistant", TALKS[talk][0])]
    turns = [{"turn": 1, "role": role, "content": content} for role, content in said]
    summary = Summary()
    for result in execute(
        plan, [{"transcript_id": f"{talk}__s", "scenario_id": "s", "model": "m", "turns": turns}], Judge()
    ):
        assert not result.errors, result.errors
        summary.add(result.scores or {}, result.verdicts)
    return exit_status(summary.result())


def errors_of(folder: Path) -> list[str]:
    return [found.code for found in lint([folder]).diagnostics if found.severity is Severity.ERROR]


ATTACKS: Final = list(attacks())


def test_there_are_enough_attacks_and_each_is_another_one() -> None:
    assert len(ATTACKS) >= 100
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_the_scorecard_that_is_attacked_is_sound(tmp_path: Path) -> None:
    sound = Attack("sound")
    folder = built(sound, tmp_path)
    assert errors_of(folder) == []
    assert exit_codes(sound, folder, TALKS) == {
        "ok": 0, "breaks_a1": 1, "breaks_b1": 1, "breaks_a2": 1, "open_a2": 2, "silent_a2": 1,
    }  # fmt: skip


@pytest.mark.parametrize("attack", part(ATTACKS, 15), ids=lambda attack: attack.name)
def test_no_attack_exits_with_0(attack: Attack, tmp_path: Path) -> None:
    folder = built(attack, tmp_path)
    if errors_of(folder):
        return
    assert [talk for talk, code in exit_codes(attack, folder, attack.talks).items() if code == 0] == []


@pytest.mark.parametrize("decided", DEBATABLE, ids=lambda attack: attack.name)
def test_what_an_author_decides_aloud_is_followed(decided: Attack, tmp_path: Path) -> None:
    folder = built(decided, tmp_path)
    assert errors_of(folder) == []
    assert exit_codes(decided, folder, decided.talks) == dict.fromkeys(decided.talks, 0)
