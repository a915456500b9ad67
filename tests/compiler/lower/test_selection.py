"""A profile selects checks while compiling and sets how often judges vote."""

import pytest
from tests.shared_data import folder

from rulewright.diagnostics import Diagnostic
from rulewright.documents.check import CheckDocument, read_check
from rulewright.documents.profile import Profile, every_check, read_profile
from rulewright.load import Mapping, load_text
from rulewright.lower.selection import repetitions, select, selected
from rulewright.project import load_project


def profile(text: str) -> Profile:
    root = load_text(text, "p.yaml").root
    assert isinstance(root, Mapping)
    return read_profile(root, "p")


def check(name: str, bucket: str, route: str, more: str = "") -> CheckDocument:
    text = f"id: {name}\nname: {name}\nprimary_bucket: {bucket}\nscope: universal\n{more}routing:\n  route: {route}\n"
    root = load_text(text, "c.yaml").root
    assert isinstance(root, Mapping)
    return read_check(root)


CHECKS = (
    check("A1", "A", "llm_primary", "hard_fail: true\n"),
    check("B1", "B", "lexicon_only"),
    check("C1", "C", "lexicon_only", "hard_fail: true\n"),
    check("F1", "F", "regex_with_llm_edge", "hard_fail: false\n"),
)


@pytest.mark.parametrize(
    ("written", "chosen"),
    [
        ("include_all: true", "A1 B1 C1 F1"),
        ("{include_all: true, exclude_modes: [B1]}", "A1 C1 F1"),
        ("{include_modes: [B1, F1]}", "B1 F1"),
        ("{include_modes: [B1, F1], exclude_modes: [B1]}", "F1"),
        ("{include_routes: [lexicon_only]}", "B1 C1"),
        ("{include_buckets: [A, F]}", "A1 F1"),
        ("{include_routes: [lexicon_only], include_buckets: [A]}", "A1 B1 C1"),
        ("{hard_fail_only: true}", "A1 C1"),
        ("{hard_fail_only: true, include_routes: [lexicon_only]}", "C1"),
        ("{hard_fail_only: true, include_modes: [F1], include_buckets: [A, B]}", "A1 F1"),
        ("{hard_fail_only: true, include_all: true}", "A1 B1 C1 F1"),
        ("{include_all: true, select: 'check.primary_bucket != C'}", "A1 B1 F1"),
        ("{include_all: true, select: \"check.id.startsWith('A') // remark\"}", "A1"),
        ("{include_all: true, select: 'check.routing.repetitions > 1'}", "A1 B1 C1 F1"),
    ],
)
def test_what_a_profile_selects(written: str, chosen: str) -> None:
    found: list[Diagnostic] = []
    assert " ".join(one.id for one in select(profile(written), CHECKS, found)) == chosen
    assert found == []


def test_a_profile_that_selects_nothing_is_a_finding() -> None:
    for written in ("description: x", "{include_buckets: [D]}", "{include_modes: [Z]}"):
        found: list[Diagnostic] = []
        assert select(profile(written), CHECKS, found) == ()
        assert [one.code for one in found] == ["empty-profile"]


def test_a_misspelt_selection_is_shown_at_its_place() -> None:
    found: list[Diagnostic] = []
    select(profile("{include_all: true, select: 'check.primary_bucket == Z'}"), CHECKS, found)
    assert [(one.code, one.span.line) for one in found] == [("bad-expression", 1)]


def test_the_selection_is_one_expression() -> None:
    program = selected(profile("{include_buckets: [A, B], exclude_modes: [B1]}"))
    assert program.source == "!(check.id in ['B1']) && check.primary_bucket in ['A', 'B']"


@pytest.mark.parametrize(
    ("written", "votes"),
    [("include_all: true", 3), ("llm_repetitions: 1", 1), ("llm_repetitions: 0", 0), ("use_dev_repetitions: true", 5)],
)
def test_how_often_a_judge_votes(written: str, votes: int) -> None:
    root = load_text("routing: {route: llm_primary, repetitions: 3, dev_repetitions: 5}", "c.yaml").root
    assert isinstance(root, Mapping)
    assert repetitions(read_check(root), profile(written)) == votes


def test_a_number_of_the_profile_wins_over_dev_repetitions() -> None:
    root = load_text("routing: {route: llm_primary, dev_repetitions: 5}", "c.yaml").root
    assert isinstance(root, Mapping)
    assert repetitions(read_check(root), profile("{llm_repetitions: 2, use_dev_repetitions: true}")) == 2
    assert repetitions(read_check(root), profile("include_all: true")) == 3


def test_a_project_without_profiles_runs_every_check() -> None:
    assert [one.id for one in select(every_check(), CHECKS, [])] == ["A1", "B1", "C1", "F1"]


def test_the_published_profiles_select_as_many_checks_as_published() -> None:
    project = load_project(folder("invisiblebench"))
    sizes = {name: len(select(profile, project.checks, [])) for name, profile in project.profiles.items()}
    assert sizes == {"smoke": 15, "dev": 26, "full": 53, "publish": 53}
