"""Exchanges: what a run has kept of its judge becomes a replay, and a line that can't be one is refused."""

import json
from pathlib import Path

import pytest

from rulewright_runtime.errors import InputError
from rulewright_runtime.judging.exchanges import answers_of, read_exchanges, replay_of
from rulewright_runtime.judging.judge import TooLongError, id_of_question
from rulewright_runtime.models.call import TOO_LONG
from rulewright_runtime.strict_json import JsonObject

LINE = '{"transcript_id": "t", "check_id": "c", "repetition": 0, "attempt": 0, "reply": "a"}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE.replace('"repetition": 0', '"repetition": -1'), "Expected `int` >= 0"),
        (LINE.replace('"repetition": 0', '"repetition": 1000000000'), "Expected `int`"),
        (LINE.replace('"attempt": 0', '"attempt": -1'), "Expected `int` >= 0"),
        (LINE.replace("}", ', "reply": "b"}'), "duplicate key `reply`"),
        (LINE[:-4], "truncated"),
        (LINE.replace(chr(34) + "a" + chr(34), "[" * 100_000), "not a recorded reply"),
    ],
)
def test_a_line_that_is_not_an_exchange_is_refused(line: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(f"{LINE}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="this is not a recorded reply") as refused:
        list(read_exchanges(path))
    assert (refused.value.line, reason in str(refused.value)) == (2, True)


def test_a_vote_that_was_not_asked_stays_empty_in_a_replay(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(LINE.replace('"repetition": 0', '"repetition": 2'), encoding="utf-8")
    assert json.loads(replay_of(read_exchanges(path))) == {"t": {"c": [[], [], ["a"]]}}


def test_a_vote_without_a_prompt_is_about_that_of_the_first_vote(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    second = LINE.replace('"repetition": 0', '"repetition": 1')
    path.write_text(LINE.replace("}", ', "prompt": "Well?"}') + f"\n{second}\n", encoding="utf-8")
    names = [json.loads(line)["custom_id"] for line in answers_of(read_exchanges(path)).splitlines()]
    assert names == [id_of_question("t", "c", "check", 0, vote, "Well?") for vote in (0, 1)]


@pytest.mark.parametrize(("error", "code"), [(TOO_LONG, {"code": TooLongError.code}), ("server", {})])
def test_a_vote_that_failed_raises_its_error_in_a_replay(error: str, code: JsonObject, tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(LINE.replace('"reply": "a"', f'"error": "{error}"'), encoding="utf-8")
    assert json.loads(replay_of(read_exchanges(path))) == {"t": {"c": [[{"raise": error, **code}]]}}
