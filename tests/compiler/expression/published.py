"""The published cases, for tests of expressions."""

import json
from typing import Any

from tests.shared_data import folder


def cel_cases(name: str) -> list[dict[str, Any]]:
    """The published conformance cases of the file `name`."""
    cases: list[dict[str, Any]] = json.loads((folder("cel") / name).read_text(encoding="utf-8"))
    return cases
