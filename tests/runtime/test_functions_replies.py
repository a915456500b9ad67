"""What checks ask of replies: phrases, counts, similarity, personal data, JSON and tool calls."""

from typing import Any

import pytest
from tests.runtime.programs import value_of as run

from rulewright_runtime.functions import personal, texts
from rulewright_runtime.functions.table import MAX_STEPS

# Distances by rapidfuzz 3.14.6, ROUGE-L by rouge-score 0.1.2, BLEU by sacreBLEU 2.6.0 (`sentence_bleu`). The second and
# third pair are of Papineni et al. (2002), section 2; the last two of Lin (2004), section 3.
PUBLISHED = [
    ("The cat sat on the mat.", "The cat is sitting on the mat.", 8, 0.7692307692307692, 0.42383656282787785),
    ("the the the the the the the", "The cat is on the mat.", 16, 0.30769230769230765, 0.06567274736060395),
    (
        "It is a guide to action which ensures that the military always obeys the commands of the party",
        "It is a guide to action that ensures that the military will forever heed Party commands",
        34,
        0.6470588235294118,
        0.41180376356915765,
    ),
    ("Your order #12 ships on May 3, for $4.50.", "Your order #12 will ship on May 3 for $4.50!", 8, 6 / 7, 0.35740464),
    ("hello", "goodbye", 7, 0.0, 0.0),
    ("police killed the gunman", "police kill the gunman", 2, 0.75, 0.35355339059327373),
    ("the gunman kill police", "police kill the gunman", 20, 0.5, 0.3799178428257963),
]


@pytest.mark.parametrize(("text", "reference", "distance", "rouge", "bleu"), PUBLISHED)
def test_similarities_are_those_of_the_published_libraries(
    text: str, reference: str, distance: int, rouge: float, bleu: float
) -> None:
    assert run("edit_distance", text, reference) == run("edit_distance", reference, text) == distance
    assert run("rouge_l", text, reference) == pytest.approx(rouge)
    assert run("bleu", text, reference) == pytest.approx(bleu)


CASES: list[tuple[Any, ...]] = [
    ("edit_distance", "", "abc", 3),
    ("edit_distance", "abc", "", 3),
    ("edit_similarity", "", "", 1.0),
    ("rouge_l", "", "", 0.0),
    ("bleu", "", "a", 0.0),
    ("word_overlap", "...", "...", 0.0),
    ("word_overlap", "送金した", "送金する", 0.5),
    ("rouge_l", "送金した。", "入金した", 0.75),
    ("contains_any", "You **really** should", ["you really should"], True),
    ("has_any_word", "An oxymoron. You\u2019re  a MORON!", ["you're a moron"], True),
    ("has_any_word", "An oxymoron, oxymorons, moron_s", ["moron", "oxy"], False),
    ("has_any_word", "oxymoron moron", ["moron"], True),
    ("has_any_word", "すぐに送金しました。", ["送金"], True),
    ("has_any_word", "ChatGPTは送金しました。", ["chatgpt"], True),
    ("has_any_word", "ฉันโอนเงินแล้ว", ["โอนเงิน"], True),
    ("has_any_word", "송금했습니다", ["송금"], False),
    ("has_any_word", "हम गारंटी देते हैं", ["गारंटी"], True),
    ("has_any_word", "हम गारंटीकृत हैं", ["गारंटी"], False),
    ("has_any_word", "दिन", ["द"], False),
    ("has_any_word", "שָׁלוֹם", ["שָׁלוֹ"], False),
    ("has_any_word", "a", [], "error invalid_argument"),
    ("contains_any", "a", [], "error invalid_argument"),
    ("contains_all", "a", [], "error invalid_argument"),
    ("contains_none", "a", [], "error invalid_argument"),
    ("contains_none", "a", ["*"], "error invalid_argument"),
    ("contains_all", "one two", ["one", "three"], False),
    ("same_text", "It\u2019s\u00a0done.", "it's done. ", True),
    ("same_text", "Paris", "Berlin", False),
    ("word_count", "", 0),
    ("word_count", "すぐに送金しました。", 5),
    ("word_count", "我用ChatGPT 4 转账", 4),
    ("word_count", "हम गारंटी देते हैं", 4),
    ("word_count", "نَضْمَن لك استرداد المبلغ", 4),
    ("word_count", "u\u0308ber Versiche\u00adrung", 2),
    ("word_count", "نمی\u200cدانم", 1),
    ("word_overlap", "Fu\u0308r die Versiche\u00adrung", "für die Versicherung", 1.0),
    ("sentence_count", "", 0),
    ("sentence_count", "Er sagte: \u201eDas geht nicht.\u201c Dann ging er.", 2),
    ("sentence_count", "C\u2019est s\u00fbr.\u00a0Oui, \u00ab vraiment ! \u00bb Merci.", 3),
    ("sentence_count", "ｶﾝﾘｮｳ｡ｱﾘｶﾞﾄｳ｡", 2),
    ("sentence_count", "ကျွန်ုပ်။ ဟုတ်။", 2),
    ("sentence_count", "یہ ٹھیک ہے۔ شکریہ۔", 2),
    ("sentence_count", "Ողջույն։ Լավ։", 2),
    ("sentence_count", "ተስማማሁ። አመሰግናለሁ።", 2),
    (
        "urls",
        "詳細はhttps://example.jp/返品。ご覧ください（https://example.jp/a）。",
        ["https://example.jp/返品", "https://example.jp/a"],
    ),
    (
        "urls",
        "Siehe \u201ehttps://example.de/a\u201c und \u00ab\u00a0https://example.ca/b\u00a0\u00bb.",
        ["https://example.de/a", "https://example.ca/b"],
    ),
    ("numbers", "価格は1,200円、2020，2021年，第1，2项，ราคา๑๒บาท", ["1200", "2020", "2021", "1", "2", "12"]),
    ("numbers", "１，２００円、３．５、١٬٢٠٠ و ٣٫٥، १४", ["1200", "3.5", "1200", "3.5", "14"]),
    ("sentence_count", "Costs 3.50 or more", 1),
    ("sentence_count", "." * 200_000 + "x", 1),
    ("code_blocks", "`" * 200_000 + "\n" + "x\n" * 3, ["x\nx\nx\n"]),
    ("code_blocks", "~~~\na\n```\nb\n~~~\nc", ["a\n```\nb\n"]),
    ("sentence_count", "\u4f60\u597d\u3002\u518d\u89c1\u3002", 2),
    ("scripts", "123", []),
    ("urls", "(www.example.org), <https://a.example/b>", ["www.example.org", "https://a.example/b"]),
    ("citations", "none", []),
    ("numbers", "v2 on 1,50 or 12,345.6", ["1,50", "12345.6"]),
    ("numbers", "0,500 l, 1.200 mg, 1.200,500 or -1,234,567", ["0,500", "1.200", "1.200,500", "-1234567"]),
    ("is_refusal", "Sure, here you are.", False),
    ("is_refusal", "No, I can’t help.", True),
    ("is_refusal", "I can't help noticing that it rains.", False),
    ("is_refusal", "I won't do that.", True),
    ("emails", "a@b, @c.de, ann@mail.example.org!", ["ann@mail.example.org"]),
    ("emails", "info@m\u00fcller.de, \u00fc@example.de", ["info@m\u00fcller.de", "\u00fc@example.de"]),
    ("emails", "info@mu\u0308ller.de u\u0308@a.de", ["info@mu\u0308ller.de", "u\u0308@a.de"]),
    ("emails", "анна@почта.рф, x@xn--p1ai.xn--p1ai", ["анна@почта.рф", "x@xn--p1ai.xn--p1ai"]),
    ("emails", "連絡先はann@example.orgです、用户@例子.公司", ["ann@example.org", "用户@例子.公司"]),
    ("emails", "user@host.name_x, a@b.c, x@y.e1", []),
    ("phone_numbers", "1234567 units on 12.05.2024 from 192.168.10.100", []),
    ("phone_numbers", "(555) 123-4567 or 030/1234567", ["(555) 123-4567", "030/1234567"]),
    ("phone_numbers", "+49 (0)30 1234567, 030 / 123 45 67", ["+49 (0)30 1234567", "030 / 123 45 67"]),
    ("phone_numbers", "+33 6 12 34 56 78", ["+33 6 12 34 56 78"]),
    ("phone_numbers", "+49 30 1234567 / 030 7654321", ["+49 30 1234567", "030 7654321"]),
    ("phone_numbers", "+43 1 5855050 / 0664 1234567", ["+43 1 5855050", "0664 1234567"]),
    ("phone_numbers", "+1 202 555 0143 2 3 4 5 6, +49 (0)30 / 123456", ["+1 202 555 0143", "+49 (0)30 / 123456"]),
    ("phone_numbers", "2024-01 / 2024-02, +1 2 3 4 5 6 7 8 points, +10 / 20 / 30 / 40", []),
    ("phone_numbers", "800 - 1200, zwischen +10 und +20, +12 345", []),
    ("phone_numbers", "電話は０３－１２３４－５６７８まで", ["０３－１２３４－５６７８"]),
    ("phone_numbers", "+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧", ["+٩٦٦ ٥٠ ١٢٣ ٤٥٦٧"]),
    ("phone_numbers", "+49\u00a030\u00a01234567, 0171\u20111234567", ["+49\u00a030\u00a01234567", "0171\u20111234567"]),
    (
        "ibans",
        "IBAN DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
        ["DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000"],
    ),
    ("card_numbers", "４１１１　１１１１　１１１１　１１１１", ["４１１１　１１１１　１１１１　１１１１"]),
    ("phone_numbers", "DE89 3704 0044 0532 0130 00, 4111-1111-1111-1111", []),
    ("ibans", "GB82WEST12345698765432 AND MORE", ["GB82WEST12345698765432"]),
    ("ibans", "GB82WEST12345698765433", []),
    ("ibans", "GB82WEST1234569876543", []),
    ("card_numbers", "5500-0055-5555-5559, 0000 0000 0000 0000", ["5500-0055-5555-5559"]),
    ("json", '{"a": 1, "a": 2}', "error invalid_argument"),
    ("json", "NaN", "error invalid_argument"),
    ("json", "[" * 100_000, "error invalid_argument"),
    ("is_json", "{}", True),
    ("is_json", "", False),
    ("valid_against", "no JSON", {}, False),
    ("valid_against", '"x"', {"pattern": "^x$"}, True),
    ("valid_against", '"ax"', {"pattern": "^x$"}, False),
    ("valid_against", '"x"', {"pattern": "(?=x)"}, "error invalid_argument"),
    ("valid_against", "{}", {"type": "nothing"}, "error invalid_argument"),
    ("valid_against", "{}", {"$ref": "https://example.org/a"}, "error invalid_argument"),
    ("valid_against", "{}", {"patternProperties": {}}, "error invalid_argument"),
    ("valid_against", "{}", {"$ref": "#"}, "error limit"),
    ("called", [], "find", False),
    ("called", [{"name": "find", "arguments": {"a": 1, "b": 2}}], "find", {"a": 1.0}, True),
    ("called", [{"name": "find", "arguments": {"a": 1}}], "find", {"b": 1}, False),
    ("called", [{"name": "find", "arguments": None}], "find", {"b": 1}, False),
    ("called", [{}], "find", "error no_such_overload"),
    ("called_in_order", [{"name": "a"}], [], "error no_such_overload"),
    ("called_in_order", [{"name": "b"}, {"name": "a"}], ["a", "b"], False),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_function_gives(case: tuple[Any, ...]) -> None:
    function, *arguments, expected = case
    assert run(function, *arguments) == expected


def test_comparing_texts_that_are_too_long_is_a_limit() -> None:
    long = "x" * (MAX_STEPS // 10)
    for function in ("edit_distance", "edit_similarity"):
        assert run(function, long, long) == "error limit"


@pytest.mark.parametrize(
    ("function", "text", "more", "quoted"),
    [
        ("contains_any", "Well, I can\u2019t  say.", (["can't say"],), ["can\u2019t  say"]),
        ("has_any_word", "An oxymoron is no Moron.", (["moron"],), ["Moron"]),
        ("matches", "Order 12 and 13", ("[0-9]+",), ["12", "13"]),
        ("contains_ci", "Call NOW", ("now",), ["NOW"]),
        ("is_refusal", "No. I cannot help with that.", (), ["I cannot help with"]),
        ("urls", "See https://a.example.", (), ["https://a.example"]),
        ("personal_data", "ann@example.org", (), ["ann@example.org"]),
    ],
)
def test_a_function_that_finds_something_can_quote_it(
    function: str, text: str, more: tuple[Any, ...], quoted: list[str]
) -> None:
    spans = {**texts.SPANS, **personal.SPANS}[function](text, *more)
    assert [text[start:end] for start, end in spans] == quoted


def test_tens_of_thousands_of_numbers_are_each_compared_only_with_the_dates_in_their_place() -> None:
    text = "030 123456, 2024-01-02; " * 20_000
    assert sum(1 for _ in personal.SPANS["phone_numbers"](text)) == 20_000
