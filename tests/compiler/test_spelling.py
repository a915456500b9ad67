"""Slips of the hand, and the words that they lead back to."""

import pytest

from rulewright.spelling import slips_of


@pytest.mark.parametrize("slip", ["inevst", "ivest", "imvest", "invvest", "inbvest", "invets"])
def test_a_slip_of_the_hand_leads_back_to_its_word(slip: str) -> None:
    assert "invest" in slips_of(slip)


@pytest.mark.parametrize("other", ["invest", "inlest", "nvest", "investor"])
def test_another_letter_is_no_slip_of_the_hand(other: str) -> None:
    assert "invest" not in slips_of(other)
