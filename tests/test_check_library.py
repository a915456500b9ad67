"""The library of ready checks: each gets its own examples right, and can be used with other parameters."""

import shutil
from pathlib import Path

import pytest

from rulewright.check.project_check import compile_project
from rulewright.cli import main
from rulewright.documents.examples import example_mismatch, examples_of, verdict_on
from rulewright.documents.library import library
from rulewright.linting.lint_run import lint
from rulewright.project import Project, load_project
from rulewright_runtime.execution import execute
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.plan.verifiers import ExpressionVerifier
from rulewright_runtime.verdicts import VerdictResult

LIBRARY = Path(__file__).resolve().parents[1] / "checks" / "library"
NAMES = sorted(path.stem for path in LIBRARY.iterdir())


def write(folder: Path, text: str, **checks: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "rulewright.yaml").write_text(text, encoding="utf-8")
    for name, check in checks.items():
        (folder / "checks").mkdir(exist_ok=True)
        (folder / "checks" / f"{name}.yaml").write_text(check, encoding="utf-8")
    return folder


def findings(folder: Path) -> list[str]:
    found = lint([folder]).diagnostics
    return [f"{each.code} {each.span.line}:{each.span.column} {each.message}" for each in found]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Plan]:
    """The library as the checks of a project."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(LIBRARY, folder / "checks")
    (folder / "rulewright.yaml").write_text("project: library\n", encoding="utf-8")
    project = load_project(folder)
    assert findings(folder) == []
    return project, compile_project(project)


@pytest.mark.parametrize("name", NAMES)
def test_a_ready_check_gets_its_examples_right(own: tuple[Project, Plan], name: str) -> None:
    project, plan = own
    check = project.check(name)
    assert check is not None
    examples = list(examples_of(check))
    assert {"PASS", "FAIL"} <= {example.verdict for example in examples}
    assert [wrong for each in examples if (wrong := example_mismatch(each, verdict_on(each, plan)))] == []


def test_a_forbidden_call_is_quoted_with_its_arguments(own: tuple[Project, Plan]) -> None:
    (check,) = [each for each in own[0].checks if each.id == "no-forbidden-tool"]
    (failing,) = [each for each in examples_of(check) if each.verdict == "FAIL"]
    found = verdict_on(failing, own[1])
    assert isinstance(found, VerdictResult)
    assert [span.quote for span in found.evidence] == ["pay {}"]


def test_every_ready_check_can_be_used(tmp_path: Path, own: tuple[Project, Plan]) -> None:
    """Used with the file's own values, each is the very check that the file is."""
    values = {check.id: check.params for check in own[0].checks}
    used = "".join(f"  - {{use: {name}, params: {values[name.removeprefix('library/')]!r}}}\n" for name in library())
    folder = write(tmp_path / "shop", f"project: shop\nuse:\n{used.replace('True', 'true')}")
    plan = compile_project(folder)
    assert findings(folder) == []
    assert {check.id: check.hash for check in plan.checks} == {check.id: check.hash for check in own[1].checks}


def test_a_judged_ready_check_asks_with_its_own_parameters(tmp_path: Path) -> None:
    folder = write(tmp_path / "shop", "project: shop\nuse: [{use: library/goal-reached, params: {goal: a refund}}]\n")
    asked: list[str] = []

    class Judge:
        def ask(self, request: JudgeRequest) -> str:
            asked.append(request.prompt)
            return '{"verdict": "PASS", "rationale": "x", "evidence": []}'

    chat = {"messages": [{"role": "user", "content": "I want it back."}, {"role": "assistant", "content": "Done."}]}
    (result,) = execute(compile_project(folder), [chat], Judge())
    assert [each.verdict for each in result.verdicts] == ["PASS"]
    assert asked[0].startswith("The goal of this conversation: a refund\n")


def test_one_ready_check_serves_twice_with_parameters_that_change_its_hash(tmp_path: Path) -> None:
    used = "use: [{id: brief, use: library/replies-are-brief, params: {words: 9}}, library/replies-are-brief]"
    strict = "id: strict\nuse: library/no-repetition\nseverity: S5\nparams: {likeness: 1}\n"
    first = compile_project(write(tmp_path / "one", f"project: shop\n{used}\n", strict=strict))
    other = compile_project(write(tmp_path / "two", f"project: shop\n{used.replace('9', '8')}\n", strict=strict))
    assert [each.id for each in first.checks] == ["strict", "brief", "replies-are-brief"]
    values = [each.verifier.parameters for each in first.checks if isinstance(each.verifier, ExpressionVerifier)]
    assert values == [{"likeness": 1.0}, {"words": 9}, {"words": 200}]
    assert first.checks[0].severity == "S5"
    same = [mine.hash == yours.hash for mine, yours in zip(first.checks, other.checks, strict=True)]
    assert same == [True, False, True]


STEPS = "use: library/step-budget\nparams: "
MISTAKES = {
    "use: library/step-bugdet": "unknown-library-check 2:6 unknown ready check `library/step-bugdet`",
    "use: step-budget": "unknown-library-check 2:6 unknown ready check `step-budget`",
    "use: library/step-budget\nfail: 'true'": "unknown-key 3:1 `fail` is decided by `library/step-budget`",
    STEPS + "{call: 3}": "unknown-key 3:10 unknown key `call` in `params`",
    STEPS + "{calls: -1}": "out-of-range 3:17 `params.calls` must be at least 0, not -1",
    STEPS + "{calls: a few}": "wrong-type 3:17 `params.calls` must be a whole number, not the text `a few`",
    "use: library/no-forbidden-tool": "missing-key 1:1 `params` is missing, with a value for `tools`",
    "use: library/no-forbidden-tool\nparams: {tools: []}": "out-of-range 3:17 `params.tools` needs at least 1 item",
    "use: library/answer-is-json\nparams: {x: 1}": "unknown-key 3:10 `library/answer-is-json` takes no parameters",
    "pass: answer == 'a'\nparameters: {n: {type: integer, default: many}}": (
        "wrong-type 3:42 `parameters.n.default` must be a whole number, not the text `many`"
    ),
    "fail: size(answer) > params.n\nparameters: {n: {type: string, default: a}}": (
        "bad-expression 2:20 `>` does not take (int, string); expected (int, int), (int, uint), (int, double), "
        "(int, score)"
    ),
}


@pytest.mark.parametrize("check", MISTAKES)
def test_what_is_wrong_with_a_use_is_reported_at_its_place(tmp_path: Path, check: str) -> None:
    assert MISTAKES[check] in findings(write(tmp_path / "shop", "project: shop\n", mine=f"id: mine\n{check}\n"))


def test_a_file_of_the_library_is_found_by_its_pages(capsys: pytest.CaptureFixture[str]) -> None:
    for name in library():
        assert main(["explain", name]) == 0
        assert f"use: {name}" in capsys.readouterr().out
    assert main(["explain", "library/step-bugdet"]) == 3
    assert "did you mean `library/step-budget`?" in capsys.readouterr().err
