"""Files that tests compare with what the code gives, and that `make expected` writes."""

import os
from pathlib import Path


def holds(written: str, expected: Path) -> None:
    """Assert that a text is what the file holds, or write the file where that is asked for."""
    if os.environ.get("RULEWRIGHT_WRITE_EXPECTED"):
        expected.write_text(written, encoding="utf-8")
    assert written
    assert written == expected.read_text(encoding="utf-8")
