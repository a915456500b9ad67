"""One server for all tests: it takes a second to start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compiler.lsp import a_project
from tests.compiler.lsp.client import Editor


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor whose folder holds the folders of all tests."""
    found = Editor(tmp_path_factory.getbasetemp())
    yield found
    assert found.quit() == 0, b"".join(found.errors).decode()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project without a finding."""
    return a_project.write(tmp_path)
