"""Word pieces: how a text is split before a model reads it."""

from __future__ import annotations

import pytest

from rulewright_runtime.embedding.wordpiece import WordPieces

MARKS = ["[UNK]", "[CLS]", "[SEP]"]
PIECES = [
    "fever",
    "fe",
    "##ver",
    "##ish",
    "i",
    "##n",
    "cafe",
    "don",
    "'",
    "t",
    "漢",
    "字",
    ".",
    "σας",
    "CAFE",
    "[",
    "]",
    "cls",
]
VOCABULARY = [*MARKS, *PIECES]


def split(text: str, *, lower: bool = True, most: int = 99) -> list[str]:
    pieces = WordPieces(VOCABULARY, lower=lower, most=most)
    return [VOCABULARY[number] for number in pieces.numbers(text)][1:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Fever", ["fever"]),
        ("feverish", ["fever", "##ish"]),
        ("fever.ish", ["fever", ".", "[UNK]"]),
        ("Café  \t CAFÉ", ["cafe", "cafe"]),
        ("Don't", ["don", "'", "t"]),
        ("漢字", ["漢", "字"]),
        ("İN", ["i", "##n"]),
        ("fe\u200bver\x00", ["fever"]),
        ("ΣΑΣ", ["[UNK]"]),
        ("a" * 101, ["[UNK]"]),
        ("[CLS]", ["[", "cls", "]"]),
        ("fevers fe", ["[UNK]", "fe"]),
    ],
)
def test_a_text_is_split_into_the_longest_pieces(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_model_that_minds_case_keeps_it() -> None:
    assert split("CAFE Fever", lower=False) == ["CAFE", "[UNK]"]


def test_no_more_pieces_are_kept_than_the_model_can_read() -> None:
    pieces = WordPieces(VOCABULARY, lower=True, most=4)
    assert pieces.numbers("feverish fever fever")[0] == VOCABULARY.index("[CLS]")
    assert pieces.numbers("feverish fever fever")[-1] == VOCABULARY.index("[SEP]")
    assert split("feverish fever fever", most=4) == ["fever", "##ish"]
