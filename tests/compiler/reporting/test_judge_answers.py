"""The judge's reasons, in whatever writing its replies are votes."""

import pytest

from rulewright.reporting.judge_answers import verdict_and_reason

VOTE = '{"rationale": "it asks", "verdict": "PASS", "evidence": []}'


@pytest.mark.parametrize(
    "reply",
    [
        VOTE,
        f"```json\n{VOTE}\n```",
        f"Sure! Here it is:\n```json\n{VOTE}\n```\nHope this helps.",
        f'<think>{{"rationale": "a draft", "verdict": "FAIL"}}</think>\n{VOTE}',
        '{"rationale": "it asks", "verdict": "PASS",}',
    ],
)
def test_the_reason_of_a_vote_is_found_in_every_writing(reply: str) -> None:
    assert verdict_and_reason(reply) == ("PASS", "it asks")


@pytest.mark.parametrize("reply", ["It passes.", "[1]", '{"verdict": 5}', '{"verdict": "PASS", "rationale'])
def test_a_reply_that_is_no_vote_has_neither_verdict_nor_reason(reply: str) -> None:
    assert verdict_and_reason(reply) == ("", "")
