"""The functions that find the expressions of documents."""

from importlib import import_module

import pytest

from rulewright.lower.scopes import EXPRESSION_READERS


@pytest.mark.parametrize(("module", "name"), EXPRESSION_READERS.values())
def test_every_kind_of_document_has_a_function_that_finds_its_expressions(module: str, name: str) -> None:
    assert callable(getattr(import_module(f"rulewright.lower.{module}"), name))
