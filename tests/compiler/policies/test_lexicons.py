"""Lexicons compared: every text that is shown is found by one of them alone, and equal ones find the same texts."""

import ast
import random
from pathlib import Path
from typing import Literal

import pytest
from tests.rounds import rounds

from rulewright.cli import main
from rulewright.policies.lexicons import compare_lexicons
from rulewright.proving.re2_syntax import samples
from rulewright_runtime.matching.match import first
from rulewright_runtime.plan.scan import Lexicon, Pattern
from rulewright_runtime.regex import compile_regex

PAIRS = rounds(20, 500)
TEXT = ("white_space", "apostrophes", "quotes", "dashes", "emphasis", "invisible")
LITERALS = (
    "don't", "you must", "must", "DON'T", "do  not", "never - ever", "you must not", "stra\u00dfe", "STRASSE",
    "\u0130stanbul", "no", " ", "\u2019", "e",
)  # fmt: skip
REGEXES = (r"\bno+\b", r"(?i)you (?:must|have to)", r"[^a-z]{2}", r"\d+%", r"^must$", "do(?:n['\u2019]t| not)")
PIECES = (
    *LITERALS, "YOU MUST", "don\u2019t", "nooo", "you have to", "42%", "*you* must", "never \u2013 ever", "do\u200b",
    "STRA\u00dfE",
)  # fmt: skip


def lexicon(chance: random.Random) -> Lexicon:
    mode: Literal["substring_ci", "contains_ci"] = "contains_ci" if chance.random() < 0.5 else "substring_ci"
    patterns = [Pattern(each, mode) for each in chance.sample(LITERALS, chance.randint(0, 4))]
    patterns += [Pattern(each, "regex") for each in chance.sample(REGEXES, chance.randint(not patterns, 2))]
    chance.shuffle(patterns)
    fold = chance.choice([(), TEXT, ("apostrophes",)])
    return Lexicon(tuple(patterns), fold=fold, fold_regexes=chance.random() < 0.5)  # type: ignore[arg-type]


def hits(one: Lexicon, text: str) -> str:
    return "no hit" if first("", one, text) is None else "a hit"


def test_texts_are_found_as_two_random_lexicons_say() -> None:
    chance = random.Random(5)
    verdicts = {"equal": 0, "different": 0}
    for _ in range(PAIRS):
        one = lexicon(chance)
        two = (
            lexicon(chance)
            if chance.random() < 0.5
            else Lexicon(one.patterns[1:] + one.patterns[:1], fold=one.fold, fold_regexes=one.fold_regexes)
        )
        if chance.random() < 0.3:
            two = Lexicon((*two.patterns, Pattern("you must go")), fold=two.fold, fold_regexes=two.fold_regexes)
        found = compare_lexicons({"l": one}, {"l": two})
        for region in found["regions"]:
            text = ast.literal_eval(region["witness"]["text"])
            assert (hits(one, text), hits(two, text)) == (region["before"], region["after"])
        texts = [" ".join(chance.choices(PIECES, k=chance.randint(1, 3))) for _ in range(60)]
        if not any(found.values()):
            verdicts["equal"] += 1
            assert [hits(one, each) for each in texts] == [hits(two, each) for each in texts]
        elif found["regions"]:
            verdicts["different"] += 1
    assert min(verdicts.values()) > PAIRS // 10


def test_a_pattern_is_added_removed_or_changed() -> None:
    one = Lexicon((Pattern("safe investment"), Pattern("always goes up"), Pattern("guaranteed")))
    two = Lexicon((Pattern("guaranteed"), Pattern("always goes down"), Pattern(r"(?i)risk[- ]free", "regex")))
    found = compare_lexicons({"l": one}, {"l": two})
    assert [(each["change"], each["where"][0], each["before"]) for each in found["regions"]] == [
        ("removed", "the text contains `safe investment`", "a hit"),
        ("changed", "the text contains `always goes up`", "a hit"),
        ("changed", "the text contains `always goes down`", "no hit"),
        ("added", "the text matches `(?i)risk[- ]free`", "no hit"),
    ]
    assert found["settings"] == found["unknown"] == []


def test_a_pattern_that_another_one_holds_changes_nothing_and_one_that_nobody_can_show_is_open() -> None:
    short = Lexicon((Pattern("you must"),))
    assert not any(compare_lexicons({"l": short}, {"l": Lexicon((*short.patterns, Pattern("You must not")))}).values())
    (entry,) = compare_lexicons({"l": short}, {"l": Lexicon((*short.patterns, Pattern("you must.*", "regex")))})[
        "unknown"
    ]
    assert entry["why"] == "no text was found that only `you must.*` matches"


def test_what_a_lexicon_ignores_and_whose_turns_it_sees_is_reported() -> None:
    plain, folded = Lexicon((Pattern("don't"),)), Lexicon((Pattern("don't"),), role="both", fold=("apostrophes",))
    found = compare_lexicons({"l": plain}, {"l": folded})
    assert [each["place"] for each in found["settings"]] == ["lexicon l.role", "lexicon l.fold"]
    assert [(each["where"], each["witness"]["text"]) for each in found["regions"]] == [
        (["the text is in a turn of the user"], repr("don't")),
        (["the text contains `don't` but for apostrophes"], repr("don\u2019t")),
    ]
    gone = compare_lexicons({"l": plain}, {})["settings"]
    assert gone == [{"place": "lexicon l", "before": "declared", "after": None}]
    assert compare_lexicons({}, {"l": plain})["settings"] == [{**gone[0], "before": None, "after": "declared"}]


DOSE = r"(?i)\b(?:take|give (?:him|her))\b[^.?!]{0,25}\b[0-9]+ ?(?:mg|ml|drops)\b"


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (DOSE, DOSE.replace("25", "26"), ["no hit"]),
        (DOSE, DOSE.replace("25", "24"), ["a hit"]),
        (DOSE, DOSE.replace("0-9", "0-9_"), ["no hit"]),
        ("(?m)^sorry", "(?m)^sorry$", ["a hit"]),
        ("(?:a|b)c", "[ab]c", []),
        ("a{2,3}", "a{2,4}", []),
    ],
)
def test_two_expressions_are_shown_by_a_text_or_proved_equal(one: str, two: str, said: list[str]) -> None:
    pair = [Lexicon((Pattern(each, "regex"),)) for each in (one, two)]
    found = compare_lexicons(*({"l": each} for each in pair))
    assert [each["before"] for each in found["regions"]] == said
    for region in found["regions"]:
        text = ast.literal_eval(region["witness"]["text"])
        assert [hits(each, text) for each in pair] == [region["before"], region["after"]]
    assert found["unknown"] == [] or "(?m)" in one


def test_two_files_of_patterns_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("patterns: [we will refund, get your money back]\n", encoding="utf-8")
    two.write_text("patterns: [get your money back, refund]\n", encoding="utf-8")
    assert main(["policy-diff", str(one), str(two)]) == 1
    assert "lexicon patterns: no hit -> a hit (changed)" in capsys.readouterr().out
    assert main(["policy-diff", str(one), str(one)]) == 0


@pytest.mark.parametrize(
    "expression",
    [
        r"(?i)\b(?:will|shall) be refunded\b", r"[^a-z]{2,3}x+", r"\d{3}-\d{4}", r"(?P<n>a|b)c?", r"a{0,2}b*?",
        r"[\w.]+@[\w-]+\.com", "don['\u2019]t (you )?(dare|think)", r"x\x{41}\x42", r"[]a]b", r"a{999}",
    ],
)  # fmt: skip
def test_a_sample_of_an_expression_matches_it(expression: str) -> None:
    assert any(compile_regex(expression).search(text) for text in samples(expression))


@pytest.mark.parametrize("broken", ["(", "[", "a\\", "(?P<", "|", ")", "a{", "[[:alpha:]"])
def test_an_expression_that_is_not_well_formed_has_samples_or_none(broken: str) -> None:
    assert all(isinstance(text, str) for text in samples(broken))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("a" * 1200, "[ab]" * 1200), ("a{999}x", "a{999}[xy]"), ("(" * 90 + "a" + ")" * 90, "a"),
        ("(a{30}){10}c", "(a{30}){10}[cd]"),
    ],
)  # fmt: skip
def test_long_expressions_are_compared_without_an_error(tmp_path: Path, one: str, two: str) -> None:
    files = [tmp_path / "one.yaml", tmp_path / "two.yaml"]
    for file, regex in zip(files, (one, two), strict=True):
        file.write_text(f"patterns:\n  - regex: '{regex}'\n")
    assert main(["policy-diff", *map(str, files)]) in (0, 1, 2)
