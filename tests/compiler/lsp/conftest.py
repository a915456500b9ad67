"""One server for all tests: it takes a second to start."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor

NUMBERS = count()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the editor has open."""
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def tmp_path(workspace: Path) -> Path:
    """A folder of the workspace; the server looks for projects next to it, and finds none of another test."""
    folder = workspace / str(next(NUMBERS)) / "work"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def editor(workspace: Path) -> Iterator[Editor]:
    """An editor whose folder holds the folders of all tests."""
    found = Editor(workspace)
    yield found
    assert found.quit() == 0, b"".join(found.errors).decode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without a finding."""
    return a_project.write(tmp_path)
