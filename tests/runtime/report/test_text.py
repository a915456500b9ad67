"""Numbers in reports: no share is shown as all or none unless it is."""

import pytest

from rulewright_runtime.report.accumulators import gate_line
from rulewright_runtime.report.text import moment, number, percent, reason_words


@pytest.mark.parametrize("key", ["fail", "unclear", "pass"])
def test_a_condition_that_holds_is_said_in_words(key: str) -> None:
    assert reason_words(f"{key}_condition_holds") == f"its condition `{key}` holds"


@pytest.mark.parametrize(
    ("value", "share", "score"),
    [
        (None, "–", "–"),
        (0.0, "0%", "0.00"),
        (1 / 1000, "<1%", "0.01"),
        (2 / 3, "67%", "0.67"),
        (0.01, "1%", "0.01"),
        (0.99, "99%", "0.99"),
        (399 / 400, ">99%", "0.99"),
        (1.0, "100%", "1.00"),
    ],
)
def test_a_share_is_shown_as_all_or_none_only_if_it_is(value: float | None, share: str, score: str) -> None:
    assert (percent(value), number(value)) == (share, score)


@pytest.mark.parametrize(
    ("value", "share", "score"),
    [
        (True, "100%", "1.00"),
        (5 / 40, "13%", "0.13"),
        (29 / 200, "15%", "0.15"),
        (0.135, "14%", "0.14"),
        (0.1249, "12%", "0.12"),
    ],
)
def test_a_half_is_rounded_up(value: float, share: str, score: str) -> None:
    assert (percent(value), number(value)) == (share, score)


@pytest.mark.parametrize(
    ("value", "share", "score"),
    [
        (1e30, "1e+32%", "1e+30"),
        (-1e30, "-1e+32%", "-1e+30"),
        (float("inf"), "inf%", "inf"),
        (float("nan"), "nan%", "nan"),
        (123456.789, "12345679%", "123456.79"),
    ],
)
def test_a_number_without_end_is_shown(value: float, share: str, score: str) -> None:
    assert (percent(value), number(value)) == (share, score)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-30T09:34:12.123Z", "2026-11-30 09:34 UTC"),
        ("2026-11-30T01:04:12+02:00", "2026-11-29 23:04 UTC"),
        ("2026-11-30T09:34", "2026-11-30 09:34"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("yesterday", "yesterday"),
        (None, ""),
    ],
)
def test_a_time_is_shown_to_the_minute_in_utc(written: str | None, read: str) -> None:
    assert moment(written) == read


def test_a_pass_rate_is_shown_apart_from_the_required_one_that_it_misses() -> None:
    counts = {"passed": 34_998, "failed": 15_002, "open": 0, "required": 0.7, "states": ["failed"], "models": {}}
    line = gate_line("held", {"pass_rate": counts, "states": ["failed"], "answers": []})
    assert line == "gate held: failed, 34998 of 50000 (0.69996) pass, 0.7 required"
