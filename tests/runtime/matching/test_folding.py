"""Folding: what makes no difference in a text, and where a piece of the folded text stands in the original."""

import re
import sys
import unicodedata
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.rounds import every, rounds

from rulewright_runtime.functions import lookup
from rulewright_runtime.matching.folding import DIFFERENCES, TEXT, fold, fold_case, folded_text

AWKWARD = (
    "abiIsSkK\u0130\u0131\u017f\u212a\u00df\u1e9e\u03a3\u03c2\u03c3 \n\u00a0\u3000*_`~'\u2019\u201c\"-\u2014"
    "\u00ad\u200b\u200d\ufe0f\u202e\u0301\u0307\u0331\u0327\u00e9\u1e96\u1100\u1161\u11a8\uac00\u05d0\u05b8\U0001f642\U0001f3fd"
)
texts = st.text(st.sampled_from(AWKWARD), max_size=12)
differences = st.frozensets(st.sampled_from(DIFFERENCES))


@cache
def every_character() -> list[str]:
    """Every character that is assigned, and of the 960,000 that are not, or are private, those where invisible ones may
    be."""
    return [
        char
        for code, char in enumerate(map(chr, range(sys.maxunicode + 1)))
        if (name := unicodedata.category(char)) != "Cs"
        and (name not in ("Co", "Cn") or code < 0x10000 or 0xE0000 <= code < 0xE1000 or code % 97 == 0)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "you\nmust", "you  must", "you\u00a0must", "you\r\n\t must", "you **must**", "*you* __must__", "you ~~must~~",
        "`you` must", "you** **must", "yo\u00adu must", "you \u200bmust\u200b", "\ufeffyou must",
        "you\u2003\u200b\u2003must", "you \u202dmust\u202c", "y\u034fou must\ufe0f", "YOU MUST", "y\u200dou\u2028must",
    ],
)  # fmt: skip
def test_ordinary_variants_are_one_text(text: str) -> None:
    assert fold(text).text.strip() == "you must"


@given(texts, differences, st.booleans())
@settings(max_examples=rounds(60, 5_000))
def test_the_folded_text_alone_is_the_same(text: str, wanted: frozenset[str], case: bool) -> None:
    assert folded_text(text, wanted, case=case) == fold(text, wanted, case=case).text


def test_every_character_is_folded_the_same_with_and_without_places() -> None:
    assert [
        each
        for each in every_character()[::61] + every_character()[:0x3100]
        if folded_text(each, TEXT) != fold(each).text
    ] == []


def test_typography_is_plain() -> None:
    assert fold("\u201cI\u2019m here\u201d \u2013 it\u00b4s \u00abme\u00bb").text == '"i\'m here" - it\'s "me"'


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("\u05e6\u05d4\u05f4\u05dc \u05d2\u05f3", "\u05e6\u05d4\"\u05dc \u05d2'"),  # Hebrew, as keyboards write it
        ("\u05d0\u05d9\u05be\u05d0\u05e4\u05e9\u05e8", "\u05d0\u05d9-\u05d0\u05e4\u05e9\u05e8"),
        ("7\u65e5\u301c8\u65e5", "7\u65e5\uff5e8\u65e5"),  # the wave dash of macOS and that of Windows
        ("\u0646\u0636\u0645\u0640\u0640\u0640\u0646", "\u0646\u0636\u0645\u0646"),  # stretched by tatweel
        ("\u0661\u0664 \u06f1\u06f4 \u0967\u096a \u0e51\u0e54", "14 14 14 14"),
    ],
)
def test_the_typography_and_the_digits_of_other_scripts_are_plain(written: str, plain: str) -> None:
    assert fold(written).text == fold(plain).text
    assert fold(fold(written).text).text == fold(written).text


def test_every_dash_is_one_dash() -> None:
    dashes = [char for char in every_character() if "DASH" in (name := unicodedata.name(char, "")) or "HYPHEN" in name]
    kept = [char for char in dashes if unicodedata.category(char) == "Pd" and fold(char).text != "-"]
    assert kept == []


def test_a_backtick_between_letters_is_an_apostrophe_and_a_mark_elsewhere() -> None:
    assert fold("I`m in `code`").text == "i'm in code"


def test_diacritics_and_similar_letters_of_other_scripts_are_never_folded() -> None:
    assert fold("r\u00e9sum\u00e9 \u0440\u0430\u0443").text == "r\u00e9sum\u00e9 \u0440\u0430\u0443"


@cache
def styled() -> dict[str, list[str]]:
    """The forms of each Latin letter, by what Unicode says alone."""
    forms: dict[str, list[str]] = {}
    for each in every_character()[128:]:
        plain = unicodedata.normalize("NFKC", each).lower()
        if plain.isascii() and plain.isalpha() and (each.isalpha() or len(plain) == 1) and each not in "\u00aa\u00ba":
            forms.setdefault(plain, []).append(each)
    return forms


def test_every_form_of_a_latin_letter_is_the_letter() -> None:
    assert {plain: {fold(each).text for each in forms} for plain, forms in styled().items()} == {
        plain: {plain} for plain in styled()
    }


def test_every_letter_has_at_least_ten_forms() -> None:
    assert min(len(styled()[chr(letter)]) for letter in range(ord("a"), ord("z") + 1)) >= 10


@given(st.data(), st.text("you mst2'-", min_size=1, max_size=12))
@settings(max_examples=rounds(40, 3_000))
def test_styled_text_is_the_text_and_a_hit_is_quoted_as_it_was_written(data: st.DataObject, text: str) -> None:
    pieces = [data.draw(st.sampled_from([*styled().get(char, ()), char])) for char in text]
    folded = fold("".join(pieces), TEXT - {"white_space"})
    assert folded.text == text
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert folded.span(start, end) == (start, end)


def test_a_ligature_is_quoted_whole() -> None:
    assert fold("e\ufb03cient").span(2, 3) == (1, 2)


@pytest.mark.parametrize(
    "text", ["Word\u2122", "\u2116 5", "n\u00ba", "m\u00b2", "1\u00bd", "\u2474", "5\u338f", "a\u00b4 \u00a8"]
)
def test_a_sign_that_is_read_by_itself_makes_no_other_word(text: str) -> None:
    assert fold(text).text == text.lower().replace("\u00b4", "'")


def test_a_compatibility_form_is_folded_to_its_plain_form_or_not_at_all() -> None:
    changed = {char for char in every_character() if unicodedata.normalize("NFKC", char) != char}
    for char in changed - {"\u1fef"}:  # which is an apostrophe, and canonically a backtick
        forms = (unicodedata.normalize(form, char) for form in ("NFC", "NFKC"))
        assert fold(char).text in [fold(form).text for form in forms]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_canonically_equivalent_texts_are_one(form: str) -> None:
    for text in ("Caf\u00e9", "BEN\u0130 ARA", "\uac01", "\u1e69", "\u03ac", "H\u0331"):
        wanted = fold(text).text
        normal = unicodedata.normalize(form, text)  # type: ignore[arg-type]
        assert fold(normal).text == wanted
        assert fold("\u200d".join(normal)).text == wanted


def test_the_turkish_letters_are_one_and_a_sharp_s_is_its_capital() -> None:
    assert fold("BEN\u0130 ARA").text == fold("beni ara").text == fold("BENI ARA").text == fold("ben\u0131 ara").text
    assert fold("STRA\u1e9eE").text == fold("stra\u00dfe").text != fold("strasse").text


@pytest.mark.parametrize(
    ("text", "part"), [("BEN\u0130 ARA", "beni"), ("\u017fo", "SO"), ("\u1e9e", "\u00df"), ("ab", "c")]
)
def test_an_expression_folds_case_as_a_lexicon_does(text: str, part: str) -> None:
    assert lookup("substring_ci", 2, False)(text, part) == (fold_case(part) in fold_case(text)) == (part != "c")


def test_folding_case_is_what_ignorecase_does_for_every_character() -> None:
    groups: dict[str, list[str]] = {}
    for char in every_character():
        groups.setdefault(fold_case(char), []).append(char)
    assert all(len(folded) == 1 for folded in groups)
    several = {char for group in groups.values() if len(group) > 1 for char in group}
    cased = "".join(
        char for char in every_character() if char in several or len({char, char.lower(), char.upper()}) > 1
    )
    for char in cased:
        assert set(re.findall(re.escape(char), cased, re.IGNORECASE)) == set(groups[fold_case(char)])


def test_only_what_is_named_is_folded() -> None:
    text = "a \u00a0 \u2019 \u201c \u2014 ** \u200b"
    assert [fold(text, frozenset({name})).text for name in DIFFERENCES] == [
        "a \u2019 \u201c \u2014 ** \u200b",
        "a \u00a0 ' \u201c \u2014 ** \u200b",
        'a \u00a0 \u2019 " \u2014 ** \u200b',
        "a \u00a0 \u2019 \u201c - ** \u200b",
        "a \u00a0 \u2019 \u201c \u2014  \u200b",
        "a \u00a0 \u2019 \u201c \u2014 ** ",
    ]
    assert fold(text.upper(), frozenset()).text == text
    assert fold("A\u200bB", case=False).text == "AB"


def test_every_white_space_is_a_blank_and_nothing_invisible_stays() -> None:
    blanks = [char for char in every_character() if char.isspace()]
    assert fold("ab".join(["", *blanks, ""])).text == "ab" + " ab" * len(blanks)
    hidden = [char for char in every_character() if unicodedata.category(char) in ("Cc", "Cf") and not char.isspace()]
    visible = fold("".join(hidden)).text
    assert all(unicodedata.name(char).startswith(("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")) for char in visible)


def test_folding_every_character_twice_changes_nothing_more() -> None:
    folded = fold("x".join(every(3, every_character()))).text
    assert fold(folded).text == folded


@given(texts, differences)
@example("a*`b", TEXT)
@settings(max_examples=rounds(60, 5_000))
def test_folding_twice_changes_nothing_more(text: str, names: frozenset[str]) -> None:
    folded = fold(text, TEXT).text
    assert fold(folded, TEXT).text == folded
    assert fold(fold(text, names).text, names).text == fold(text, names).text


@given(texts, differences, st.booleans())
@settings(max_examples=rounds(60, 5_000))
def test_every_piece_of_a_folded_text_is_in_the_original(text: str, names: frozenset[str], case: bool) -> None:
    folded = fold(text, names, case=case)
    spans = [folded.span(place, place + 1) for place in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for one, other in pairwise(spans):
        assert one == other or one[1] <= other[0]  # what stands for several characters has their place
    for first in range(len(spans)):
        for last in range(first, len(spans)):
            assert folded.span(first, last + 1) == (spans[first][0], spans[last][1])


@given(texts, texts, texts)
@example("I`I", "'", "")
@settings(max_examples=rounds(60, 5_000))
def test_a_hit_is_a_piece_of_the_text_that_folds_to_what_was_looked_for(before: str, literal: str, after: str) -> None:
    wanted, text = fold(literal).text, f"{before} {literal} {after}"
    folded = fold(text)
    start = folded.text.find(wanted)
    if wanted.strip():
        assert start >= 0
        first, last = folded.span(start, start + len(wanted))
        assert wanted in fold(text[max(first - 1, 0) : last + 1]).text  # between letters ` is an apostrophe
