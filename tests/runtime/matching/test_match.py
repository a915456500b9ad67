"""The matcher: exact hits by named rules, and a prefilter that never rules out what is there."""

import json
import re
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.rounds import rounds
from tests.runtime.plans import lexicon
from tests.shared_data import folder

from rulewright_runtime.matching.folding import DIFFERENCES
from rulewright_runtime.matching.match import MANY_LITERALS, Matcher, MatchSpan, first, match
from rulewright_runtime.plan.scan import Lexicon, Pattern
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

AWKWARD = "aAiIsSkK\u0130\u0131\u017f\u212a\u03c3\u03c2\u03a3\u00b5\u03bc\u00df\u1e9e\u0307' \u2019\n."


def found(pattern: str, text: str, mode: Any = "substring_ci") -> tuple[int, int, str] | None:
    """Where one pattern hits a text."""
    span = first("x", lexicon(pattern, mode=mode), text)
    return None if span is None else (span.start, span.end, span.text)


def test_every_published_hit_is_found_and_no_other() -> None:
    data = folder("invisiblebench")
    lexicons = msgspec.json.decode((data / "lexicons.json").read_bytes(), type=dict[str, tuple[Pattern, ...]])
    published = json.loads((data / "expected" / "unit" / "lexicon_hits.json").read_text(encoding="utf-8"))
    wanted = {(row[0], row[1], row[3]): tuple(row[4:]) for row in published["rows"]}
    hits = {}
    for transcript in Reader().read([data / "transcripts"]):
        assert isinstance(transcript, Transcript)
        if transcript.id in published["transcripts"]:
            for index, turn in enumerate(transcript.turns):
                if turn.role == "assistant":
                    for span in match({name: Lexicon(patterns) for name, patterns in lexicons.items()}, turn.content):
                        hits[transcript.id, index, span.lexicon] = (span.pattern, span.text, span.start)
    assert hits == wanted


def test_patterns_are_tried_in_order_and_the_leftmost_place_of_the_first_counts() -> None:
    assert first("x", lexicon("late", "early"), "early, Late, late") == MatchSpan("x", "late", 7, 11, "Late")


@given(st.text(AWKWARD, min_size=1, max_size=4), st.text(AWKWARD, max_size=12))
@example("is", "\u0130\u017f")
@settings(max_examples=rounds(50, 4_000))
def test_substring_ci_is_a_literal_search_that_ignores_case(pattern: str, text: str) -> None:
    wanted = re.compile(re.escape(pattern), re.IGNORECASE).search(text)
    assert found(pattern, text) == (None if wanted is None else (*wanted.span(), wanted.group()))


def candidates(matcher: Matcher, text: str) -> set[str]:
    """The lexicons that may hit an assistant's turn."""
    return matcher.may_hit("assistant", text)


@given(st.text(AWKWARD, min_size=1, max_size=4), st.text(AWKWARD, max_size=12))
@settings(max_examples=rounds(50, 4_000))
def test_contains_ci_is_lower_and_in(pattern: str, text: str) -> None:
    hit = found(pattern, text, "contains_ci")
    assert (hit is not None) == (pattern.lower() in text.lower())
    if hit is not None:
        assert text[hit[0] : hit[1]] == hit[2]


@given(
    st.lists(st.text(AWKWARD, min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from(["substring_ci", "contains_ci"]),
    st.lists(st.text(AWKWARD, max_size=9), max_size=3),
)
@settings(max_examples=rounds(50, 4_000))
def test_the_prefilter_never_rules_out_a_hit(patterns: list[str], mode: str, texts: list[str]) -> None:
    wanted = lexicon(*patterns, mode=mode)
    matcher = Matcher({"assistant": {"x": wanted}})
    assert all(candidates(matcher, text) for text in texts if first("x", wanted, text)) or not matcher.covering("x")


@pytest.mark.parametrize(
    "pattern", [r"(?i)^\s*so", r"end$", r"\Aso", r"end\z", r"(?-i)So", r"\bso\b", r"a.c", r"o\s+o"]
)
def test_the_prefilter_respects_the_ends_of_every_text(pattern: str) -> None:
    wanted = lexicon(pattern, mode="regex")
    matcher = Matcher({"assistant": {"x": wanted}})
    for texts in (["none", "So the end", "a"], ["x so", "the end"], ["ends", "so"], ["a\nc", "abc"], ["o", "o o"]):
        assert all(candidates(matcher, text) for text in texts if first("x", wanted, text))


def test_the_prefilter_rules_most_texts_out() -> None:
    matcher = Matcher({"assistant": {"x": lexicon("i promise", "always")}})
    assert matcher.covers("assistant", "x")
    texts = ["hello", "i prom", "ise", "ALWAYS", "i", "promise", "I promise", ""]
    assert [text for text in texts if candidates(matcher, text)] == ["ALWAYS", "I promise"]


def test_the_prefilter_names_the_lexicons_that_may_hit() -> None:
    matcher = Matcher({"assistant": {"x": lexicon("promise", "so"), "y": lexicon("i promise"), "z": lexicon("so")}})
    assert candidates(matcher, "I promise") == {"x", "y"}
    assert candidates(matcher, "so") == {"x", "z"}
    assert matcher.may_hit("user", "so") == set()


def test_a_set_that_is_too_large_rules_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rulewright_runtime.matching.match.FUSED_MEMORY", 5_000)
    matcher = Matcher({"assistant": {"x": lexicon(*(f"phrase number {number}" for number in range(90)))}})
    assert not matcher.covers("assistant", "x")


def test_without_a_prefilter_nothing_is_covered() -> None:
    matcher = Matcher({"assistant": {"x": lexicon("always")}}, prefilter=False)
    assert not matcher.covers("assistant", "x")
    assert candidates(matcher, "always") == set()


def folding(*patterns: str, mode: Any = "substring_ci", regexes: bool = False) -> Lexicon:
    return msgspec.structs.replace(lexicon(*patterns, mode=mode), fold=DIFFERENCES, fold_regexes=regexes)


@pytest.mark.parametrize(
    ("text", "hit"),
    [
        ("So I\u2019m\u00a0here.", "I\u2019m\u00a0here"),
        ("So **I'm here** now", "I'm here"),
        ("So I'm **here** now", "I'm **here"),
        ("I'm\n\n  here", "I'm\n\n  here"),
        ("i'm he\u00adre", "i'm he\u00adre"),
        ("\ufeffI`m\u200b here\u200b", "I`m\u200b here"),
    ],
)
def test_a_lexicon_that_folds_hits_ordinary_variants_and_quotes_the_text(text: str, hit: str) -> None:
    span = first("x", folding("i'm here"), text)
    assert span is not None
    assert (span.text, text[span.start : span.end]) == (hit, hit)
    assert candidates(Matcher({"assistant": {"x": folding("i'm here")}}), text) == {"x"}


MARKED = AWKWARD + "**_`\u00a0\u200b\u00ad\u2019\u2014-\u0301e"


@given(
    st.lists(st.text(MARKED, min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from([DIFFERENCES, DIFFERENCES[:2], ("emphasis", "invisible")]),
    st.lists(st.text(MARKED, max_size=9), max_size=3),
)
@settings(max_examples=rounds(50, 4_000))
def test_the_prefilter_never_rules_out_a_hit_of_a_lexicon_that_folds(
    patterns: list[str], differences: tuple[str, ...], texts: list[str]
) -> None:
    folded = msgspec.structs.replace(lexicon(*patterns), fold=differences)
    regexes = msgspec.structs.replace(folding("(?i)s.?k", "^i", mode="regex", regexes=True), fold=differences)
    wanted = {"folded": folded, "regexes": regexes, "exact": lexicon(patterns[0])}
    matcher = Matcher({"assistant": wanted})
    covered = {name: each for name, each in wanted.items() if matcher.covers("assistant", name)}
    assert covered.keys() >= {"folded", "regexes"}
    assert all({span.lexicon for span in match(covered, text)} <= candidates(matcher, text) for text in texts)


def test_the_prefilter_rules_most_texts_out_where_lexicons_fold_and_where_one_lexicon_cannot_be_fused() -> None:
    wanted = {"x": folding("i'm here"), "y": lexicon("always"), "apart": lexicon("so", "di\u0307")}
    matcher = Matcher({"assistant": wanted})
    assert [name for name in wanted if matcher.covers("assistant", name)] == ["x", "y"]
    texts = ["so", "I**\u2019m**\nhere", "Always", "i am here"]
    assert [candidates(matcher, text) for text in texts] == [set(), {"x"}, {"y"}, set()]


def test_a_regular_expression_sees_the_text_as_it_is_unless_the_lexicon_asks_for_more() -> None:
    text = "I **really**\n do"
    assert first("x", folding("(?i)i really do", mode="regex"), text) is None
    span = first("x", folding("(?i)i really do", mode="regex", regexes=True), text)
    assert span is not None
    assert span.text == text
    assert first("x", folding("x*", mode="regex", regexes=True), "**a") == MatchSpan("x", "x*", 2, 2, "")
    assert first("x", folding(r"\bA\b", mode="regex", regexes=True), "*a* *A*") == MatchSpan("x", r"\bA\b", 5, 6, "A")


def test_a_pattern_of_marks_alone_is_looked_for_as_it_is_written() -> None:
    wanted = folding("***", "\u200b")
    assert first("x", wanted, "nothing **here**") is None
    assert first("x", wanted, "f***") == MatchSpan("x", "***", 1, 4, "***")


def test_offsets_count_characters_of_the_text_even_where_lowering_makes_it_longer() -> None:
    assert found("rain", "\u0130\u0130 RAIN", "contains_ci") == (3, 7, "RAIN")


@pytest.fixture
def hyperscan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of literals is worth a pass of Hyperscan's."""
    pytest.importorskip("hyperscan")
    monkeypatch.setattr("rulewright_runtime.matching.match.MANY_LITERALS", 1)


@given(
    st.lists(st.text(AWKWARD, min_size=1, max_size=3), min_size=1, max_size=4),
    st.sampled_from(["substring_ci", "contains_ci"]),
    st.lists(st.sampled_from(sorted(DIFFERENCES)), unique=True).map(tuple),
    st.lists(st.text(AWKWARD, max_size=9), max_size=4),
)
@example(["a\n"], "substring_ci", ("quotes",), ["a", "b"])
@settings(max_examples=rounds(50, 4_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hyperscan_rules_out_no_hit(
    hyperscan: None, patterns: list[str], mode: str, differences: tuple[str, ...], texts: list[str]
) -> None:
    wanted = msgspec.structs.replace(lexicon(*patterns, mode=mode), fold=differences)
    matcher = Matcher({"assistant": {"x": wanted}})
    assert all(candidates(matcher, text) for text in texts if first("x", wanted, text)) or not matcher.covering("x")


def test_many_literals_are_one_pass_of_hyperscan_which_names_the_texts(
    hyperscan: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rulewright_runtime.matching.match.compile_set", None)
    phrases = [f"phrase number {number}" for number in range(2000)]
    matcher = Matcher({"assistant": {"x": folding(*phrases)}})
    texts = ["nothing", "PHRASE  number\n1999!", "", "phrase number", "phrase number 7, phrase number 8"]
    assert [place for place, text in enumerate(texts) if candidates(matcher, text)] == [1, 4]


def test_without_hyperscan_re2_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    phrases = [f"phrase number {number}" for number in range(200)]
    matcher = Matcher({"assistant": {"x": folding(*phrases)}})
    assert candidates(matcher, "nothing") == set()
    assert candidates(matcher, "PHRASE  number 199!") == {"x"}


@given(
    st.lists(st.tuples(st.text(AWKWARD, min_size=1, max_size=12), st.sampled_from(["substring_ci", "contains_ci"]))),
    st.lists(st.sampled_from(sorted(DIFFERENCES)), unique=True).map(tuple),
    st.text(AWKWARD, max_size=20),
    st.data(),
)
@settings(deadline=None, max_examples=rounds(50, 300), suppress_health_check=[HealthCheck.large_base_example])
def test_a_pattern_of_many_hits_where_it_hits_alone(
    drawn: list[tuple[str, Any]], differences: Any, text: str, data: st.DataObject
) -> None:
    pieces = [text[start : start + length] for start in range(len(text)) for length in (1, 8, 9, 12)]
    said = data.draw(st.lists(st.sampled_from(pieces or ["x"]), max_size=3))
    patterns = [Pattern(*each) for each in (*drawn, *((piece, "substring_ci") for piece in said))]
    patterns += [Pattern(f"never said {number}") for number in range(MANY_LITERALS)]
    alone = (first("x", Lexicon((pattern,), fold=differences), text) for pattern in patterns)
    wanted = next((span for span in alone if span is not None), None)
    assert first("x", Lexicon(tuple(patterns), fold=differences), text) == wanted
