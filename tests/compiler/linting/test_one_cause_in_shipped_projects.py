"""One slip in a shipped project gives one finding."""

from pathlib import Path

import pytest
from tests.compiler.linting.mutations import PROJECTS, copied, documents
from tests.rounds import part

from rulewright.fixes import fixed_texts
from rulewright.linting.lint_run import lint

DESK = "rulewright.yaml"
RELEASE = "scorecards/release.yaml"
WORDS = "vocabulary:\n  buckets: [security, honesty, service]\n  severities: [minor, major, blocking]\n"
FORBIDDEN = "forbidden:\n  - {path: [told, played_down], code: danger_played_down}\n"
SLIPS = [
    (
        "service_desk", RELEASE, "  service:\n    rate:", "  service:\n  rate:", "wrong-type",
        "indent it below `service`",
    ),
    ("service_desk", RELEASE, "scorecard: release", "name: release", "unknown-key", "did you mean `scorecard`?"),
    ("service_desk", RELEASE, "rates:\n  service:", "rates:\n  quality:", "bad-expression", "it has `quality`"),
    ("service_desk", DESK, WORDS, WORDS.replace("  ", ""), "unknown-key", "indent it below `vocabulary`"),
    ("service_desk", DESK, WORDS, "", "words-without-vocabulary", None),
    (
        "service_desk", "checks/refund-promised.yaml", "routing:\n  route: lexicon_only\n  deterministic",
        "route: lexicon_only\ndeterministic", "unknown-key", "`route` belongs under `routing`",
    ),
    (
        "rag", "scorecards/answers.yaml", "  passed:\n    rate: ", "  passed: ", "unknown-key",
        "`of` belongs under `rates.passed.rate`",
    ),
    ("care", f"benchmark/{DESK}", "root: ..\n", "", "missing-path", None),
    (
        "care", f"benchmark/{DESK}", "rules: benchmark/configs/rules\n", "", "unknown-jurisdiction",
        "the project has no rule sets; put them into `configs/rules`",
    ),
    (
        "care",
        f"benchmark/{DESK}",
        "scoring: benchmark/configs/scoring.yaml",
        "scoring: benchmark/configs/profiles.yaml",
        "document-of-another-kind",
        "move the file to the folder of its kind, or correct the path in the project file",
    ),
    (
        "service_desk", RELEASE, "    left_out: open\n", "  left_out: open\n", "unknown-key",
        "`left_out` belongs under `gates.NAME`",
    ),
    (
        "service_desk", RELEASE, "headline: service\nlabel: decision", "  headline: service\nlabel: [decision]",
        "wrong-type", None,
    ),
    ("service_desk", DESK, "severities: [minor, major, blocking]", "severities: 3", "wrong-type", None),
    (
        "care", "checks/state_machines/danger_followed_up.yaml", "initial: calm\ncues:\n", "cues:\n  initial: calm\n",
        "unknown-key", "`initial` belongs at the top level",
    ),
    (
        "service_desk", DESK, WORDS, "vocabulary: {buckets: security, honesty, severities: [minor, major]}\n",
        "wrong-type", None,
    ),
    ("care", "benchmark/configs/pricing.yaml", "[2.5, 10.0]", "[2.5 10.0]", "wrong-type", None),
    (
        "care", "benchmark/configs/scorecards/two-tier.yaml", "  compliance:\n    of", "  safety:\n    of",
        "duplicate-key", None,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("project", "file", "old", "new", "code", "cure"), SLIPS)
def test_a_slip_in_a_shipped_project_is_reported_once(
    project: str, file: str, old: str, new: str, code: str, cure: str | None, tmp_path: Path
) -> None:
    root, entry = copied(project, tmp_path / project)
    text = (root / file).read_text(encoding="utf-8")
    assert old in text
    (root / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    (found,) = lint([entry]).grouped().diagnostics
    assert found.code == code
    assert cure is None or found.help == cure


def test_keys_of_one_home_are_one_finding_whose_fix_moves_them_all(tmp_path: Path) -> None:
    root, entry = copied("service_desk", tmp_path / "desk")
    text = (root / DESK).read_text(encoding="utf-8")
    (root / DESK).write_text(text.replace(WORDS, WORDS.replace("  ", "")), encoding="utf-8")
    report = lint([entry])
    texts, _ = fixed_texts(report.diagnostics, report.sources, unsafe=True)
    assert texts == {str(root / DESK): text}


def test_the_words_of_the_checks_are_declared_by_a_fix(tmp_path: Path) -> None:
    root, entry = copied("service_desk", tmp_path / "desk")
    text = (root / DESK).read_text(encoding="utf-8")
    (root / DESK).write_text(text.replace(WORDS, ""), encoding="utf-8")
    report = lint([entry])
    texts, _ = fixed_texts(report.diagnostics, report.sources, unsafe=True)
    (root / DESK).write_text(texts[str(root / DESK)], encoding="utf-8")
    assert "  severities: [minor, major, blocking]\n" in texts[str(root / DESK)]
    assert lint([entry]).diagnostics == ()


def test_a_lexicon_that_a_check_no_longer_names_is_one_finding(tmp_path: Path) -> None:
    project, _ = copied("service_desk", tmp_path / "desk")
    path = project / "checks" / "investment-advice.yaml"
    text = path.read_text()
    assert "check: investment_advice" in text
    path.write_text(text.replace("check: investment_advice", "check: refund_promise", 1))
    (found,) = lint([project]).grouped().diagnostics
    assert found.code == "unused-lexicon"


# What the author writes in a copy of a shipped project, and the only findings that this gives, one for each slip.
ALONE: dict[str, list[tuple[str, str, str | None, str]]] = {
    "care": [
        ("checks/RW-F1.yaml", "routing:\n", None, "missing-key"),
        ("checks/RW-C1.yaml", "severity: S3", "severity: S5", "gate-severity-outside-gate-bucket"),
        ("checks/lexicons/scope_claim.yaml", "i will delete", "i", "short-word-hits-inside-others"),
        ("checks/markers/human_check.yaml", "flesh and blood like you", "a real person", "opposites-agree"),
        ("checks/state_machines/danger_followed_up.yaml", FORBIDDEN, "forbidden: []\n", "out-of-range"),
        ("checks/RW-A1.yaml", "dev_repetitions: 3", "dev_repetitions: 6", "more-votes-in-development"),
        ("benchmark/rulewright.yaml", "accept:", "acept:", "unknown-key"),
    ],
    "service_desk": [
        ("checks/refund-promised.yaml", "routing:\n", None, "missing-key"),
        ("checks/tool-arguments-invalid.yaml", "amount, currency]", "amount, amount]", "bad-schema"),
        ("checks/identity-not-verified.yaml", "[get_account, transfer_money", "[] # [", "empty-list-searched"),
        ("checks/instructions-leaked.yaml", "> params.share", "> params.words", "parameter-does-not-fit"),
    ],
    "scorers": [
        ("scorers/scenarios/two_evenings_with_river.json", '"kind": "time"', '"kind": "tyme"', "probe-without-verifier")
    ],
}


@pytest.mark.parametrize("project", ALONE)
def test_a_mistake_of_meaning_is_one_finding(project: str, tmp_path: Path) -> None:
    root, entry = copied(project, tmp_path / "project")
    for name, old, new, _ in ALONE[project]:
        text = (root / name).read_text(encoding="utf-8")
        assert old in text
        changed = text[: text.index(old)] if new is None else text.replace(old, new, 1)
        (root / name).write_text(changed, encoding="utf-8")
    found = [(Path(each.span.path), each.code) for each in lint([entry]).grouped().diagnostics]
    assert sorted(found) == sorted((root / name, code) for name, _, _, code in ALONE[project])


# What is in the place of a document that can't be read: broken YAML or JSON, nothing, or a document of no kind.
UNREADABLE = {"broken": '"', "empty": "", "list": "[1]\n"}
BROKEN = [(project, each.path, how) for project in PROJECTS for each in documents(project) for how in UNREADABLE]
ALWAYS = [
    ("scorers", "scorers/checks/RW-M4.yaml", "broken"),
    ("care", "checks/RW-A4.yaml", "broken"),
    ("care", "checks/RW-B2.yaml", "broken"),
    ("safe", "cases/I25/I25_batch_2.json", "empty"),
    ("safe", "cases/I25/I25_batch_3.jsonl", "empty"),
    ("safe", "cases/I25/I25_batch_3.jsonl", "list"),
]


@pytest.mark.parametrize(("project", "path", "how"), dict.fromkeys([*ALWAYS, *part(BROKEN, 3)]))
def test_a_document_that_cannot_be_read_is_the_only_finding(project: str, path: str, how: str, tmp_path: Path) -> None:
    root, entry = copied(project, tmp_path / "project")
    (root / path).write_text(UNREADABLE[how], encoding="utf-8")
    found = [str(Path(each.span.path)) for each in lint([entry]).diagnostics]
    assert found == [str(root / path)]


@pytest.mark.parametrize(
    ("project", "path", "old", "new"),
    [
        (
            "scorers",
            "scorers/checks/RW-M4.yaml",
            "{route: memory_probe, probes: [pronoun_continuity]}",
            "memory_probe",
        ),
        ("care", "benchmark/configs/scorecards/memory.yaml", "hit: [PASS]", "hit: {word: PASS}"),
        ("care", "benchmark/rulewright.yaml", "scoring: benchmark/configs/scoring.yaml", "scoring: 3"),
        ("service_desk", "scorecards/release.yaml", "decision: ", "decision: 3 #"),
        ("care", "checks/RW-C1.yaml", "llm_on_ambiguous: ", "llm_on_ambiguous: yess  # "),
        ("care", "checks/RW-C2.yaml", "safety_override: ", "safety_override: 1  # "),
    ],
)
def test_a_value_of_another_type_is_the_only_finding(
    project: str, path: str, old: str, new: str, tmp_path: Path
) -> None:
    root, entry = copied(project, tmp_path / "project")
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert [each.code for each in lint([entry]).diagnostics] == ["wrong-type"]
