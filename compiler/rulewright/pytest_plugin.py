"""The pytest plugin: the fixture `rulewright_check`, and the examples of check files as test items.

The compiler is imported only when a test needs it, so that pytest starts as fast as without the plugin.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
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
    help = "the judge: replay:FILE, plugin:NAME or a model; replaces the replies in examples"
    parser.getgroup("rulewright").addoption(JUDGE, metavar="JUDGE", help=help)


def pytest_configure(config: pytest.Config) -> None:
    """Collect folders of check files next to `testpaths`. Raises UsageError for one that is not there: none of its
    examples would be a test."""
    for folder in config.getini(CHECKS):
        path = Path(config.rootpath, folder)
        if not path.is_dir():
            raise pytest.UsageError(f"`{CHECKS}` names `{folder}`, which is not a folder")
        if config.args_source is pytest.Config.ArgsSource.TESTPATHS and not _is_within(path, config.args):
            config.args.append(str(path))


def pytest_unconfigure() -> None:
    """Close the judge: questions without a usable reply are asked again by the next tests."""
    if "rulewright.testing" in sys.modules:
        _testing().close_judges()


def _is_within(path: Path, folders: Iterable[str]) -> bool:
    return any(path.resolve().is_relative_to(Path(folder).resolve()) for folder in folders)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a check file named on the command line, or in a folder named in the settings."""
    if file_path.suffix.lower() not in SUFFIXES:
        return None
    config = parent.config
    command_line_paths = {Path(config.invocation_params.dir, word.partition("::")[0]).resolve() for word in config.args}
    folders = [Path(config.rootpath, folder).resolve() for folder in config.getini(CHECKS)]
    if file_path.resolve() in command_line_paths or any(folder in file_path.resolve().parents for folder in folders):
        file: CheckFile = CheckFile.from_parent(parent, path=file_path)
        return file
    return None


def _testing() -> Any:
    """Import the module that compiles and runs checks."""
    return import_module("rulewright.testing")


@pytest.fixture
def rulewright_check(request: pytest.FixtureRequest) -> Callable[..., VerdictResult]:
    """`rulewright_check(chat, "check-id")` tests a chat with a check of the project.

    `chat` is a record such as `{"messages": [...]}`, a list of messages, a `Transcript`, or the path of a file with
    one. The test fails unless the verdict is PASS, or `expect`; the verdict is returned. `project` is the path of
    another project.
    """
    config = request.config

    def check(
        chat: Any, check_id: str, *, expect: str = "PASS", project: str | Path | None = None, judge: Any = None
    ) -> VerdictResult:
        testing = _testing()
        written = config.getini(PROJECT) if project is None else Path(project).absolute()
        location = config.rootpath / written if written else config.rootpath
        try:
            result: VerdictResult = testing.load_bench(location).hold(
                chat, check_id, expect, judge or config.getoption(JUDGE)
            )
            return result
        except testing.CheckError as failure:
            message = str(failure)
        pytest.fail(message, pytrace=False)

    return check


class CheckFile(pytest.File):
    """A check file: a test for each of its examples."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the examples; none for a file that is not a check or has no examples. Raises CollectError."""
        testing = _testing()
        try:
            bench = testing.load_bench(self.path.parent)
            examples = bench.examples_in(self.path)
        except testing.CheckError as wrong:
            raise self.CollectError(str(wrong)) from None
        names: dict[str, int] = {}
        for example in examples:
            count = names[example.name] = names.get(example.name, 0) + 1
            name = example.name if count == 1 else f"{example.name} ({count})"
            yield ExampleItem.from_parent(self, name=f"{name}: {example.verdict}", bench=bench, example=example)


class ExampleItem(pytest.Item):
    """One example of a check."""

    def __init__(self, *, bench: TestBench, example: Example, **more: Any) -> None:
        super().__init__(**more)
        self.bench, self.example = bench, example

    def runtest(self) -> None:
        """Fail where the check's verdict is not the one that the example expects."""
        try:
            self.bench.run(self.example, self.config.getoption(JUDGE))
        except _testing().NoJudgeError as none:
            pytest.skip(str(none))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message of a failed check as the linter formats it."""
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, _testing().CheckError)
            else super().repr_failure(excinfo, style)
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the example."""
        return self.path, self.example.node.span.line - 1, f"{self.example.check.id}: {self.name}"
