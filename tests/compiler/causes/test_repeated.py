"""Findings with one cause are one finding, in a document or in all of them; the most severe comes first."""

import itertools

import pytest

from rulewright.causes import repeated
from rulewright.causes.repeated import together, with_consequences, without_echoes
from rulewright.diagnostics import Diagnostic, Guess, Span, advice, error, replace, warning


def at(path: str, line: int, column: int = 1) -> Span:
    return Span(path, line, column, line, column + 4)


def unread(key: str, path: str, line: int) -> Diagnostic:
    return warning(at(path, line), f"nothing reads `{key}`", code="dead-key")


def places(found: Diagnostic) -> list[Span]:
    return [found.span, *(note.span for note in found.notes)]


def test_an_error_on_which_compile_stops_is_never_hidden_by_advice() -> None:
    refused = error(at("a.yaml", 3), "the detector is not routed", code="detector-is-not-routed")
    advised = advice(at("a.yaml", 3), "nothing is called `x`", code="detector-without-definition")
    assert without_echoes([advised, refused]) == [refused]
    assert without_echoes([advised]) == [advised]


def test_one_missing_line_of_the_profiles_is_reported_once_for_all_checks() -> None:
    found = [warning(at(f"{n}.yaml", n), "no profile uses it", code="dev-repetitions-nobody-uses") for n in range(3)]
    (told,) = together(found)
    assert told.message == "no profile uses it (and 2 more places in other documents)"
    assert places(told) == [each.span for each in found]


def test_every_unread_key_is_reported_once() -> None:
    found = [unread(key, path, 1) for path in ("a.yaml", "b.yaml") for key in ("weight", "policy")]
    assert [each.message for each in together(found)] == [
        "nothing reads `weight` (and 1 more place in other documents)",
        "nothing reads `policy` (and 1 more place in other documents)",
    ]


def test_an_unknown_dimension_is_reported_once_for_all_scenarios() -> None:
    found = [
        warning(at(path, line), f"unknown dimension: `{word}`", code="rubric-dimension-unknown")
        for path, line, word in (("a.json", 1, "belonging"), ("a.json", 9, "safty"), ("b.json", 2, "belonging"))
    ]
    first, other = together(found)
    assert first.message == "unknown dimension: `belonging` (and 1 more place in other documents)"
    assert other.message == "unknown dimension: `safty`"


def test_an_undeclared_word_is_reported_once_whatever_has_it() -> None:
    found = [
        error(at(path, 1), f"`night` is not allowed for `{key}`; expected `{word}`", code="unknown-value")
        for path, key, word in (("a.yaml", "tags[0]", "day"), ("b.yaml", "tags[1]", "day"), ("c.yaml", "fold", "none"))
    ]
    assert [len(places(each)) for each in together(found)] == [2, 1]


@pytest.mark.parametrize(
    ("cause", "follower"),
    [
        (error(at("a.yaml", 3), "`default` is 9", code="out-of-range"), "comparison-out-of-range"),
        (error(at("a.yaml", 3), "`default` is 9", code="out-of-range"), "condition-always-holds"),
        (error(at("a.yaml", 3), "unknown source `law`", code="unknown-source"), "declared-for-nothing"),
        (warning(at("a.yaml", 3), "`x` is in the list twice", code="both-sides-equal"), "check-without-part"),
        (warning(at("a.yaml", 3), "`n` is a whole number", code="units-differ"), "unused-definition"),
    ],
)
def test_what_follows_from_a_finding_is_its_note(cause: Diagnostic, follower: str) -> None:
    (told,) = with_consequences([cause, warning(at("a.yaml", 8), "no effect", code=follower)])
    assert (told.code, len(told.notes)) == (cause.code, 1)


def test_the_retired_dialect_is_reported_once_with_its_most_severe_finding_first() -> None:
    rubric = warning(at("a.json", 1), "nobody reads it", code="retired-rubric-dialect", help="write `rubric`")
    kind = error(at("a.json", 5), "the criterion has no `kind`", code="retired-rubric-dialect", help="its kinds")
    (told,) = together([rubric, kind])
    assert (told.severity, told.span, [note.message for note in told.notes]) == (
        kind.severity,
        kind.span,
        ["nobody reads it"],
    )


def test_two_guesses_of_one_document_are_two_findings() -> None:
    found = [
        warning(at("a.yaml", n), f"no scenario bears `{tag}`", code="tag-no-scenario-has", help=Guess(tag[:-1]))
        for n, tag in enumerate(("griefe", "painn"))
    ]
    assert together(found) == found


@pytest.mark.parametrize("code", ["tag-no-scenario-has", "probe-expects-an-unstated-name"])
def test_a_mistake_copied_to_other_documents_is_reported_in_the_first(code: str) -> None:
    found = [
        warning(at(path, n), f"nobody says `{word}`", code=code)
        for path, words in (("a.json", ["Maya", "Tom"]), ("b.json", ["Maya"]), ("c.json", ["Maya", "Ann"]))
        for n, word in enumerate(words)
    ]
    first, other = together(found)
    assert places(first) == [at("a.json", 0), at("a.json", 1), at("b.json", 0)]
    assert first.message == "nobody says `Maya` (and 2 more places in other documents)"
    assert places(other) == [at("c.json", 0), at("c.json", 1)]


def test_a_name_that_the_routing_lacks_too_is_reported_there() -> None:
    missing = error(at("a.yaml", 9), "unknown lexicon `x`", code="unknown-lexicon")
    named = (missing.span, "the routing names it as well")
    detector = advice(at("a.yaml", 3), "nothing is called `x`", code="detector-without-definition", notes=[named])
    (told,) = together([detector, missing])
    assert (told.code, told.severity, told.message) == (
        "unknown-lexicon",
        missing.severity,
        "unknown lexicon `x` (and 1 more place in this document)",
    )
    assert places(told) == [missing.span, detector.span]
    assert together([detector]) == [detector]


def test_tags_of_another_check_are_reported_next_to_a_universal_one() -> None:
    universal = warning(at("a.yaml", 2), "these tags restrict nothing", code="tags-on-universal-check")
    notes = [(universal.span, "the check is universal")]
    idle = advice(at("a.yaml", 3), "no scenario bears it", code="tag-no-scenario-has", notes=notes)
    other = warning(at("b.yaml", 3), "no scenario bears it", code="tag-no-scenario-has")
    assert [each.span for each in together([universal, idle, other])] == [universal.span, other.span]


@pytest.mark.parametrize("code", ["deprecated-spelling", "dead-key", "ascii-only-apostrophe"])
def test_a_finding_with_a_fix_is_never_merged(code: str) -> None:
    fix = replace(at("a.yaml", 4), "rubric", "write `rubric`", safe=True)
    retired = warning(at("a.yaml", 1), "nobody reads it", code="retired-rubric-dialect")
    found = [
        retired,
        *(warning(at("a.yaml", n), "former name", code=code, notes=[(retired.span, "")], fix=fix) for n in (4, 5)),
    ]
    assert together(found) == found


def test_a_word_misspelt_in_many_places_is_one_finding_whose_fix_respells_all() -> None:
    found = [
        error(
            place := at(path, 3),
            "unknown dimension: `belongin`",
            code="rubric-dimension-unknown",
            help=Guess("belonging"),
            fix=replace(place, "belonging", "write `belonging`", safe=False),
        )
        for path in ("a.yaml", "b.yaml")
    ]
    (told,) = together(found)
    assert places(told) == [each.span for each in found]
    assert told.fix is not None
    assert [edit.span for edit in told.fix.edits] == [each.span for each in found]


def test_no_order_of_findings_loses_a_place() -> None:
    leader = error(at("a.yaml", 9), "unknown lexicon `x`", code="unknown-lexicon")
    notes = [(leader.span, "")]
    found = [
        leader,
        advice(at("a.yaml", 3), "x", code="detector-without-definition", notes=notes),
        advice(at("a.yaml", 4), "y", code="detector-without-definition"),
        unread("weight", "a.yaml", 5),
        unread("weight", "b.yaml", 5),
    ]
    for order in itertools.permutations(found):
        told = together(order)
        assert {span for each in told for span in places(each)} == {each.span for each in found}
        assert len(told) == 3
        assert {each.code for each in told} == {
            "unknown-lexicon",
            "detector-without-definition",
            "dead-key",
        }


def test_findings_that_do_not_overlap_are_not_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Diagnostic] = []
    monkeypatch.setattr(repeated, "_is_about_a_value", lambda found, _: seen.append(found))
    apart = [warning(at("one-line.json", 1, 10 * number), "x", code="unlike-its-siblings") for number in range(1, 20)]
    assert repeated.with_second_views(apart, {}) == apart
    assert not seen
    both = [apart[0], warning(apart[0].span, "y", code="subsumed-pattern")]
    assert repeated.with_second_views(both, {}) == both
    assert seen == both
