"""Files made to hurt: each ends in one diagnostic. How soon is measured by `benchmark/speed/hostile.py`."""

import pytest
from benchmark.speed.hostile import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rounds import rounds

from rulewright.linting.lint_run import lint_text
from rulewright.load import load_text, plain
from rulewright.render.output_formats import render

EXAMPLES = rounds(60, 20_000)
LONGEST = 20_000  # characters of a report


def test_a_flood_of_mistakes_is_cut_off() -> None:
    loaded = load_text("a: 1\n" * 10_000, "f.yaml")
    assert loaded.root is None
    assert len(loaded.diagnostics) == 100


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=60) | st.text(alphabet="ab:-?[]{}&*!|>'\"#%@`,<\n \t\\~", max_size=60), st.booleans())
def test_any_bytes_give_a_root_or_a_diagnostic(content: bytes | str, as_json: bool) -> None:
    loaded = load_text(content, "f.json" if as_json else "f.yaml")
    plain(loaded.root)
    for found in loaded.diagnostics:
        assert found.span.line >= 1
        assert found.span <= type(found.span)(found.span.path, found.span.end_line + 1, 1, 1, 1)
        assert "\n" not in found.message
        (found.message + (found.help or "")).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_not_read_and_gives_a_short_report(name: str) -> None:
    make, path, code = HOSTILE[name]
    report = lint_text(make(), path)
    assert {found.code for found in report.diagnostics} - {"duplicate-key"} == {code}  # nothing about what it says
    assert report.diagnostics[-1].code == code
    assert len(render("human", report.diagnostics, report.sources)) < LONGEST
