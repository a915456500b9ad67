"""Findings are sorted by place and can be created at anything with a span."""

from rulewright.diagnostics import Diagnostic, Edit, Fix, Note, Severity, Span, advice, error, replace, warning
from rulewright.load import Mapping, load_text

PLACE = Span("f.yaml", 1, 1, 1, 2)


def test_severities_rank_from_the_most_severe() -> None:
    assert [severity.rank for severity in (Severity.ERROR, Severity.WARNING, Severity.ADVICE)] == [0, 1, 2]


def test_findings_sort_by_place_then_gravity_then_code() -> None:
    later = Span("f.yaml", 2, 1, 2, 2)
    found = [
        error(later, "m", code="a"),
        warning(PLACE, "m", code="a"),
        error(PLACE, "m", code="b"),
        error(PLACE, "m", code="a"),
    ]
    ordered = sorted(found, key=lambda each: each.sort_key)
    assert [(each.span.line, each.severity.value, each.code) for each in ordered] == [
        (1, "error", "a"),
        (1, "error", "b"),
        (1, "warning", "a"),
        (2, "error", "a"),
    ]


def test_a_finding_is_placed_at_a_span_or_at_anything_with_one() -> None:
    root = load_text("a: 1\nb: 2\n", "f.yaml").root
    assert isinstance(root, Mapping)
    found = advice(root.index["b"].key, "m", code="c", notes=[(root.index["a"].key, "here")], help="h")
    assert found == Diagnostic("c", Severity.ADVICE, "m", Span("f.yaml", 2, 1, 2, 2), (Note(PLACE, "here"),), "h")


def test_a_replacement_is_a_fix_of_one_edit() -> None:
    assert replace(PLACE, "x", "write x", safe=True) == Fix("write x", (Edit(PLACE, "x"),), True)


def test_a_message_stays_on_its_line_whatever_its_author_wrote() -> None:
    found = error(PLACE, "`a\n  b\x07` is wrong", code="c", help="x\ty")
    assert (found.message, found.help) == ("`a b\ufffd` is wrong", "x y")
