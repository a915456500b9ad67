"""Checks in pytest: the fixture `rulewright_check`, and the examples of check files as test items.

Nothing of the compiler is imported before a test asks for it, so that pytest starts as fast as without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from rulewright.documents.examples import Example
    from rulewright.testing import TestBench
    from rulewright_runtime.verdicts import VerdictResult

SUFFIXES: Final = (".yaml", ".yml")
PROJECT: Final = "rulewright_project"
CHECKS: Final = "rulewright_checks"
JUDGE: Final = "--rulewright-judge"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and the settings."""
    parser.addini(PROJECT, "the project whose checks `rulewright_check` knows (default: the nearest one)")
    parser.addini(CHECKS, "folders of check files whose examples are tests", type="linelist", default=[])
    help = "who answers what checks ask: replay:FILE, plugin:NAME or a model; replaces the replies in examples"
    parser.getgroup("rulewright").addoption(JUDGE, metavar="JUDGE", help=help)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A check file that was named on the command line, or lies in a folder that the settings name."""
    if file_path.suffix not in SUFFIXES:
        return None
    config = parent.config
    named = {Path(config.invocation_params.dir, word.partition("::")[0]).resolve() for word in config.args}
    folders = [Path(config.rootpath, folder).resolve() for folder in config.getini(CHECKS)]
    if file_path.resolve() in named or any(folder in file_path.resolve().parents for folder in folders):
        file: CheckFile = CheckFile.from_parent(parent, path=file_path)
        return file
    return None


def _testing() -> Any:
    """The module that compiles and runs checks; it is imported for a test that uses it."""
    return import_module("rulewright.testing")


@pytest.fixture
def rulewright_check(request: pytest.FixtureRequest) -> Callable[..., VerdictResult]:
    """`rulewright_check(chat, "check-id")` holds a chat against a check of the project.

    `chat` is a record such as `{"messages": [...]}`, a `Transcript`, or the path of a file with one. The test fails
    unless the verdict is PASS, or what `expect` says; the verdict is given back. `project` is another project's path.
    """
    config = request.config

    def check(
        chat: Any, check_id: str, *, expect: str = "PASS", project: str | Path | None = None, judge: Any = None
    ) -> VerdictResult:
        testing = _testing()
        written = config.getini(PROJECT)
        place = Path(project) if project is not None else config.rootpath / written if written else config.rootpath
        try:
            found: VerdictResult = testing.bench_at(place).hold(
                chat, check_id, expect, judge or config.getoption(JUDGE)
            )
            return found
        except testing.CheckError as wrong:
            said = str(wrong)
        pytest.fail(said, pytrace=False)

    return check


class CheckFile(pytest.File):
    """A check file: a test for each of its examples."""

    def collect(self) -> Iterator[pytest.Item]:
        """The examples; a file that is no check, or a check without examples, has none."""
        testing = _testing()
        try:
            bench = testing.bench_at(self.path.parent)
            found = bench.examples_in(self.path)
        except testing.CheckError as wrong:
            raise self.CollectError(str(wrong)) from None
        names: dict[str, int] = {}
        for example in found:
            count = names[example.name] = names.get(example.name, 0) + 1
            name = example.name if count == 1 else f"{example.name} ({count})"
            yield ExampleItem.from_parent(self, name=f"{name}: {example.verdict}", bench=bench, example=example)


class ExampleItem(pytest.Item):
    """One example of a check."""

    def __init__(self, *, bench: TestBench, example: Example, **more: Any) -> None:
        """Keep what is tested."""
        super().__init__(**more)
        self.bench, self.example = bench, example

    def runtest(self) -> None:
        """Fail where the check says something else than the example expects."""
        try:
            self.bench.run(self.example, self.config.getoption(JUDGE))
        except _testing().NoJudgeError as none:
            pytest.skip(str(none))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the linter would say."""
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, _testing().CheckError)
            else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the example stands."""
        return self.path, self.example.node.span.line - 1, f"{self.example.check.id}: {self.name}"
