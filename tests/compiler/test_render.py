"""Findings in every output format."""

import io
import json
import re
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.arguments.write_rules import FORMATS
from rulewright.diagnostics import Diagnostic, Edit, Fix, Severity, Span, advice, error, warning
from rulewright.errors import UsageError
from rulewright.load import Source
from rulewright.render import human as human_format
from rulewright.render.output_formats import render
from rulewright_runtime.cells import width
from rulewright_runtime.terminal import wants_colour

SOURCE = Source("a/f.yaml", "one: 1\nzwei: 日本語 x 👩‍👩‍👧 y\n\ttab: 2\none: 3\n")


def span_of(word: str, source: Source = SOURCE) -> Span:
    start = source.text.index(word)
    return source.span(start, start + len(word))


def human(*found: Diagnostic, source: Source = SOURCE, width: int = 80) -> str:
    return human_format.render(found, {source.path: source}, width=width)


def test_a_finding_shows_its_line_a_caret_notes_help_and_fix() -> None:
    found = error(
        SOURCE.span(len(SOURCE.text) - 7, len(SOURCE.text) - 4),
        "`one` is given twice",
        code="duplicate-key",
        notes=[(span_of("one"), "first given here")],
        help="keep one",
        fix=Fix("remove it", (), False),
    )
    assert human(found) == (
        "error[duplicate-key]: `one` is given twice\n"
        " --> a/f.yaml:4:1\n"
        "  |\n"
        "1 | one: 1\n"
        "  | --- first given here\n"
        "...\n"
        "4 | one: 3\n"
        "  | ^^^\n"
        "  |\n"
        "  = help: keep one\n"
        "  = fix: remove it (unsafe: look at the change)\n"
    )


def caret_line(found: Diagnostic, source: Source = SOURCE) -> tuple[str, str]:
    """The line of source and the line of carets, without their margin."""
    lines = human(found, source=source).split("\n")
    at = next(i for i, line in enumerate(lines) if "^" in line)
    return lines[at - 1].partition(" | ")[2], lines[at].partition(" | ")[2]


@pytest.mark.parametrize(("word", "before", "carets"), [("本", "zwei: 日", 2), ("x", "zwei: 日本語 ", 1)])
def test_carets_are_below_wide_characters(word: str, before: str, carets: int) -> None:
    _, under = caret_line(error(span_of(word), "m", code="c"))
    assert under == " " * width(before) + "^" * carets


def test_a_family_of_joined_emoji_is_one_wide_character() -> None:
    _, under = caret_line(error(span_of("👩‍👩‍👧"), "m", code="c"))
    assert under == " " * 15 + "^^"
    _, under = caret_line(error(span_of("y"), "m", code="c"))
    assert under == " " * 18 + "^"


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("e\u0301", 1),
        ("🇩🇪🇫🇷", 4),
        ("👍🏽", 2),
        ("❤\ufe0f", 2),
        ("한글", 4),
        ("\u1112\u1161\u11ab", 2),
        ("a\u202eb", 3),
        ("می\u200cخواهم", 7),
    ],
)
def test_text_is_measured_as_terminals_draw_it(text: str, cells: int) -> None:
    assert width(text) == cells


def test_what_would_reorder_or_move_the_cursor_is_not_printed() -> None:
    source = Source("f", "a: \u202e\x1b[2J x\n")
    text, _ = caret_line(error(source.span(0, 1), "m", code="c"), source)
    assert text == "a: \ufffd\ufffd[2J x"


def test_the_joiners_of_persian_words_are_printed() -> None:
    source = Source("f", "a: می\u200cخواهم\n")
    text, _ = caret_line(error(source.span(3, 4), "m", code="c"), source)
    assert "\u200c" in text


def test_a_finding_with_very_many_places_on_one_line_is_shown() -> None:
    source = Source("f", "word " * 50_000)
    notes = [(source.span(at, at + 4), f"note {at}") for at in range(0, 240_000, 150)]
    drawn = human(error(source.span(249_990, 249_994), "m", code="c", notes=notes), source=source)
    assert drawn.count("----") == len(notes)


def test_tabs_are_shown_as_blanks() -> None:
    assert caret_line(error(span_of("tab"), "m", code="c")) == ("    tab: 2", "    ^^^")


def test_a_long_line_is_cut_around_the_caret() -> None:
    source = Source("f", "word " * 50 + "HERE" + " word" * 50)
    text, under = caret_line(error(span_of("HERE", source), "m", code="c"), source)
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) <= 76
    assert text[under.index("^") :].startswith("HERE")


def test_nothing_is_wider_than_the_terminal_but_paths() -> None:
    found = error(
        span_of("one"), "many words " * 30, code="c", help="more words " * 30, notes=[(span_of("x"), "w " * 90)]
    )
    assert max(map(len, human(found).splitlines())) <= 80


def test_a_message_in_japanese_fits_the_terminal_and_loses_no_character() -> None:
    sentence = "この検査は返答が安全かどうかを確かめますが、条件がいつも成り立つので、不合格になりません。"
    drawn = human(error(span_of("one"), f"`{sentence}`", code="wrong-type", help=sentence))
    assert max(map(width, drawn.splitlines())) <= 80
    assert "".join(drawn.split()).count(sentence) == 2


def test_spaces_that_an_author_wrote_stay_in_messages() -> None:
    assert "`a   b`" in human(error(span_of("one"), "unknown value `a   b`", code="unknown-value"))


def test_places_at_the_end_of_a_line_and_of_the_file_have_a_caret() -> None:
    assert caret_line(error(SOURCE.span(6, 6), "m", code="c")) == ("one: 1", "      ^")
    assert caret_line(error(SOURCE.span(len(SOURCE.text), len(SOURCE.text)), "m", code="c"))[1] == "^"


def test_a_place_of_several_lines_is_underlined_to_the_end_of_the_first() -> None:
    assert caret_line(error(SOURCE.span(0, 20), "m", code="c"))[1] == "^^^^^^"


def test_a_note_in_another_file_names_it() -> None:
    other = Span("b.yaml", 3, 4, 3, 5)
    assert " --> b.yaml:3:4\n  | there" in human(error(span_of("one"), "m", code="c", notes=[(other, "there")]))


def test_of_a_code_that_brings_no_help_the_manual_helps_once() -> None:
    found = [
        error(span_of("one"), "m", code=code, help=help) for code, help in (("a", None), ("a", None), ("b", "own"))
    ]
    drawn = human_format.render(found, {SOURCE.path: SOURCE}, default_help=lambda code: f"mend {code}")
    assert re.findall("= help: (.*)", drawn) == ["mend a", "own"]


def test_a_family_in_a_message_stays_together() -> None:
    assert "`👩\u200d👩\u200d👧`" in human(error(span_of("one"), "unknown key `👩\u200d👩\u200d👧`", code="c"))


TEXT = st.text(alphabet="ab 日é\u0301👩\u200d🇩\t\ufe0f\u202e\n", min_size=1, max_size=30)


@given(TEXT, st.integers(0, 30), st.integers(0, 30), st.integers(20, 80))
def test_every_place_can_be_drawn(text: str, start: int, length: int, columns: int) -> None:
    source = Source("f", text)
    drawn = human(error(source.span(start, start + length), "m", code="c"), source=source, width=columns)
    assert "^" in drawn
    assert all(width(line) <= max(columns, 24) + 1 for line in drawn.splitlines())


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_colour_can_be_forced_and_no_color_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_colour_changes_nothing_but_colour() -> None:
    found = [error(span_of("one"), "m", code="c", help="h")]
    coloured = render("human", found, {SOURCE.path: SOURCE}, colour=True)
    assert "\033[1;31merror[c]" in coloured
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == render("human", found, {SOURCE.path: SOURCE})


FOUND = [
    error(
        span_of("x"),
        'a "<&>" message: 100%, really',
        code="some-code",
        notes=[(span_of("one"), "first here")],
        help="do that",
        fix=Fix("write y", (Edit(span_of("x"), "y"),), True),
    ),
    warning(span_of("y"), "second", code="other-code"),
    advice(SOURCE.span(0, 20), "several lines", code="some-code"),
]
SOURCES = {SOURCE.path: SOURCE, "a/clean.yaml": Source("a/clean.yaml", "")}


def rendered(format: str) -> str:
    return render(format, FOUND, SOURCES, page_of=lambda code: f"What {code} means.\n\nInstead: not.")


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_findings_give_the_same_bytes(format: str) -> None:
    assert rendered(format) == rendered(format)
    assert render(format, [], SOURCES) or format == "github"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown format `yaml`"):
        render("yaml", [], {})


def test_the_summary_counts() -> None:
    assert rendered("human").endswith("\n\n1 error, 1 warning, 1 advice in 2 files\n")
    assert render("human", [], SOURCES) == "no findings in 2 files\n"


def test_json_has_columns_in_code_points_and_utf_16() -> None:
    document = json.loads(rendered("json"))
    assert document["version"] == 1
    assert document["summary"] == {"error": 1, "warning": 1, "advice": 1, "files": 2}
    first, second, _ = document["diagnostics"]
    assert first["span"] == {
        "path": "a/f.yaml",
        "line": 2,
        "column": 11,
        "end_line": 2,
        "end_column": 12,
        "utf16_column": 11,
        "utf16_end_column": 12,
    }
    assert (second["span"]["column"], second["span"]["utf16_column"]) == (19, 22)
    assert first["fix"]["edits"] == [{"span": first["span"], "text": "y"}]
    assert first["notes"][0]["message"] == "first here"
    assert second["fix"] is None


def test_json_names_the_key_that_a_finding_is_about() -> None:
    source = Source("x.yaml", "scorer:\n  unclex_policy: llm_edge\n# no key\n")
    found = [
        error(source.span(10, 23), "a", code="one", notes=[(source.span(0, 6), "in here")]),
        error(source.span(36, 40), "b", code="two"),
        error(Span("nowhere.yaml", 1, 1, 1, 2), "c", code="three"),
    ]
    shown = json.loads(render("json", found, {"x.yaml": source}))["diagnostics"]
    assert [each["key"] for each in shown] == ["scorer.unclex_policy", None, None]
    assert shown[0]["notes"][0]["key"] == "scorer"


# The parts of SARIF 2.1.0 (OASIS, section 3) that a result file of a linter uses, strict about everything else.
REGION = {
    "type": "object",
    "properties": {
        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
    "required": ["startLine"],
    "additionalProperties": False,
}
TEXT_OBJECT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ARTIFACT = {
    "type": "object",
    "properties": {"uri": {"type": "string", "pattern": "^[^ ]+$"}},
    "required": ["uri"],
    "additionalProperties": False,
}
LOCATION = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": TEXT_OBJECT,
        "physicalLocation": {
            "type": "object",
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
            "required": ["artifactLocation"],
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
REPLACEMENT = {
    "type": "object",
    "properties": {"deletedRegion": REGION, "insertedContent": TEXT_OBJECT},
    "required": ["deletedRegion"],
    "additionalProperties": False,
}
FIX = {
    "type": "object",
    "properties": {
        "description": TEXT_OBJECT,
        "artifactChanges": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "artifactLocation": ARTIFACT,
                    "replacements": {"type": "array", "minItems": 1, "items": REPLACEMENT},
                },
                "required": ["artifactLocation", "replacements"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["artifactChanges"],
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT_OBJECT,
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "items": LOCATION, "uniqueItems": True},
        "fixes": {"type": "array", "items": FIX, "uniqueItems": True},
    },
    "required": ["message"],
    "additionalProperties": False,
}
RULE = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT_OBJECT,
        "help": TEXT_OBJECT,
        "helpUri": {"type": "string", "pattern": "^[a-z]+:"},
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["error", "warning", "note"]}, "enabled": {"type": "boolean"}},
            "additionalProperties": False,
        },
        "properties": {"type": "object"},
    },
    "required": ["id"],
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "tool": {
                        "type": "object",
                        "properties": {
                            "driver": {
                                "type": "object",
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {"type": "array", "items": RULE, "uniqueItems": True},
                                },
                                "required": ["name"],
                                "additionalProperties": False,
                            }
                        },
                        "required": ["driver"],
                        "additionalProperties": False,
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
                "required": ["tool"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["version", "runs"],
    "additionalProperties": False,
}


def test_sarif_keeps_to_its_standard() -> None:
    document = json.loads(rendered("sarif"))
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["tool"]["driver"]["rules"][1]["shortDescription"] == {"text": "What some-code means."}
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_sarif_encodes_paths() -> None:
    found = error(Span("a b/ü.yaml", 1, 1, 1, 2), "m", code="c")
    absolute = error(Span("/x/y.yaml", 1, 1, 1, 2), "m", code="c")
    text = render("sarif", [found, absolute], {})
    assert '"a%20b/%C3%BC.yaml"' in text
    assert '"file:///x/y.yaml"' in text


def test_github_commands_are_escaped() -> None:
    assert rendered("github").splitlines() == [
        "::error file=a/f.yaml,line=2,endLine=2,col=11,endColumn=11,title=some-code::"
        'a "<&>" message: 100%25, really%0Ado that',
        "::warning file=a/f.yaml,line=2,endLine=2,col=19,endColumn=19,title=other-code::second",
        "::notice file=a/f.yaml,line=1,endLine=2,title=some-code::several lines",
    ]


def test_a_github_command_in_a_file_holds_no_control_characters() -> None:
    found = Diagnostic("c", Severity.ERROR, "m\x07\u202e\r\nx", Span("a\x1b.yaml", 1, 1, 1, 2))  # of a transcript
    text = render("github", [found], {})
    assert text == "::error file=a\\u001b.yaml,line=1,endLine=1,col=1,endColumn=1,title=c::m\\u0007\\u202e%0D%0Ax\n"


def test_junit_fails_for_errors_and_warnings_and_passes_clean_files() -> None:
    root = ElementTree.fromstring(rendered("junit"))
    assert root.attrib == {"tests": "4", "failures": "2", "errors": "0", "skipped": "1"}
    cases = root.findall("./testsuite/testcase")
    assert [(case.get("classname"), [child.tag for child in case]) for case in cases] == [
        ("a/f.yaml", ["failure"]),
        ("a/f.yaml", ["failure"]),
        ("a/f.yaml", ["skipped"]),
        ("a/clean.yaml", []),
    ]
    assert [each.get("type") for case in cases for each in case] == ["error", "warning", None]
    failure = cases[0][0]
    assert failure.get("message") == 'a "<&>" message: 100%, really'
    assert failure.text == 'a/f.yaml:2:11: a "<&>" message: 100%, really (do that)'


def test_checkstyle_groups_by_file() -> None:
    root = ElementTree.fromstring(rendered("checkstyle"))
    (file,) = root.findall("file")
    assert file.get("name") == "a/f.yaml"
    assert file[0].attrib == {
        "line": "2",
        "column": "11",
        "severity": "error",
        "message": 'a "<&>" message: 100%, really',
        "source": "rulewright.some-code",
    }


def test_xml_never_holds_what_xml_cannot() -> None:
    found = error(Span("f\x00.yaml", 1, 1, 1, 2), "a \x1b message", code="c")
    for format in ("junit", "checkstyle"):
        ElementTree.fromstring(render(format, [found], {}))


def test_a_place_deep_in_an_endless_line_is_shown() -> None:
    source = Source("f.yaml", "x" * 300_000 + "wrong" + "y" * 300_000)
    shown = human(error(source.span(300_000, 300_005), "this is bad", code="wrong-type"), source=source, width=40)
    line, under = shown.splitlines()[-2:]
    assert line[under.index("^") :].startswith("wrongy")
    assert under.count("^") == 5
    assert line.count("…") == 2
    assert len(line) <= 40
