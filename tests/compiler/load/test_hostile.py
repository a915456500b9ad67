"""Files made to hurt: each ends in one diagnostic, and soon."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulewright.linting import lint_text
from rulewright.load import load_text, plain
from rulewright.render import render

EXAMPLES = 20_000 if os.environ.get("RULEWRIGHT_TORTURE") else 200
FULL = 8 * 1024 * 1024
LONGEST = 20_000  # characters of a report
SECONDS = 1.0  # of processor time

BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(20)
)
CHAIN = (
    "a0: &a0 "
    + "[" * 50
    + "]" * 50
    + "\n"
    + "".join(f"a{i}: &a{i} {'[' * 50}*a{i - 1}{']' * 50}\n" for i in range(1, 30))
)
HOSTILE: dict[str, tuple[Callable[[], str | bytes], str, str]] = {
    "brackets": (lambda: "[" * FULL, "f.yaml", "nested-too-deep"),
    "mappings": (lambda: "{a: " * 10_000, "f.yaml", "nested-too-deep"),
    "indentation": (lambda: "".join(" " * i + "a:\n" for i in range(2_000)), "f.yaml", "nested-too-deep"),
    "dashes": (lambda: "- " * 10_000, "f.yaml", "nested-too-deep"),
    "JSON brackets": (lambda: "[" * FULL, "f.json", "nested-too-deep"),
    "JSON objects": (lambda: '{"a":' * 10_000, "f.json", "nested-too-deep"),
    "alias bomb": (lambda: BOMB, "f.yaml", "alias-bomb"),
    "depth through aliases": (lambda: CHAIN, "f.yaml", "nested-too-deep"),
    "huge scalar": (lambda: b'a: "' + b"x" * 100_000_000 + b'"', "f.yaml", "file-too-large"),
    "open quotes": (lambda: 'a: "' + "x\n" * (FULL // 2 - 8), "f.yaml", "yaml-syntax"),
    "many items": (lambda: "- a\n" * (FULL // 4), "f.yaml", "file-too-large"),
    "many JSON items": (lambda: "[" + "1," * (FULL // 2 - 2), "f.json", "file-too-large"),
    "many anchors": (lambda: "".join(f"- &a{i} x\n" for i in range(500_000)), "f.yaml", "file-too-large"),
    "many directives": (lambda: "%TAG !a! x\n" * 500_000, "f.yaml", "yaml-syntax"),
    "NUL": (lambda: b"\0" * FULL, "f.yaml", "control-character"),
    "noise": (lambda: b"\xff" * FULL, "f.yaml", "not-utf-8"),
    "tabs": (lambda: "\t" * FULL, "f.yaml", "tab-indentation"),
    "mixed line breaks": (lambda: "a: 1\r\nb: 2\rc: 3\n" * 10 + "d: @\n", "f.yaml", "yaml-syntax"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_in_a_diagnostic_within_a_second(name: str) -> None:
    make, path, code = HOSTILE[name]
    text = make()
    start = time.process_time()
    loaded = load_text(text, path)
    spent = time.process_time() - start
    assert loaded.root is None
    assert loaded.diagnostics[-1].code == code
    assert spent < SECONDS


def test_a_flood_of_mistakes_is_cut_off() -> None:
    loaded = load_text("a: 1\n" * 10_000, "f.yaml")
    assert loaded.root is None
    assert len(loaded.diagnostics) == 100


@settings(max_examples=EXAMPLES, deadline=None)
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
def test_linting_a_hostile_file_ends_soon_too(name: str) -> None:
    make, path, code = HOSTILE[name]
    text = make()
    start = time.process_time()
    report = lint_text(text, path)
    rendered = render("human", report.diagnostics, report.sources)
    spent = time.process_time() - start
    assert code in {found.code for found in report.diagnostics}
    assert len(rendered) < LONGEST
    assert spent < SECONDS
