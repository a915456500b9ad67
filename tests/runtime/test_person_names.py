"""Names: look-alikes are equal, whatever letters they are written with."""

import pytest

from rulewright_runtime.person_names import folded_name


@pytest.mark.parametrize(
    "other",
    [
        "j\u0903u\u20ddd\u3164g\u2800e\x01",
        "JUDGE",
        " judge\u200b",
        "ｊｕｄｇｅ",
        "јudge",
        "judgе",
        "jսdge",
        "Ꭻudge",
        "jud\u0261e",
        "júdge",
        "𝗃𝗎𝖽𝗀𝖾",
    ],
)
def test_a_look_alike_is_the_same_name(other: str) -> None:
    assert folded_name(other) == "judge"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Пιкos", "nikos"), ("Ρеtеr", "peter"), ("сара", "capa"), ("ТОМ", "tom"), ("МОДЕЛЬ", folded_name("модель"))],
)
def test_letters_of_any_case_are_equal(one: str, other: str) -> None:
    assert folded_name(one) == other


@pytest.mark.parametrize(("one", "other"), [("राम", "रम"), ("กำ", "กา")])
def test_vowel_signs_make_other_names(one: str, other: str) -> None:
    assert folded_name(one) != folded_name(other)


@pytest.mark.parametrize("name", ["anna", "дмитрий", "小林", "judges"])
def test_other_names_are_others(name: str) -> None:
    assert folded_name(name) != "judge"
