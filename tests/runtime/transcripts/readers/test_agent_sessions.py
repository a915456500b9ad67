"""Sessions of coding agents: notes of the program are skipped, whatever says something is not."""

from pathlib import Path
from typing import Any, cast

import pytest
from tests.runtime.transcripts.formats import ATIF, BANK, CLAUDE, conversations, lines, refusals, written

STREAM: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init", "session_id": "s"},
    {"type": "user", "session_id": "s", "message": {"role": "user", "content": "hi"}},
    {
        "type": "assistant",
        "session_id": "s",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "yo"}]},
    },
]
END = {"type": "result", "subtype": "success", "session_id": "s", "is_error": False, "result": "yo"}


def test_notes_of_the_program_are_skipped(tmp_path: Path) -> None:
    notes = [
        {"type": "permission-mode", "permissionMode": "plan", "sessionId": "s1"},
        {"type": "worktree-state", "worktreeSession": {"path": "/x"}, "sessionId": "s1"},
    ]
    (found,) = conversations(written(tmp_path, [*notes, *CLAUDE]))
    assert lines(found) == BANK[1:]


@pytest.mark.parametrize("key", ["text", "message", "content", "response", "messages"])
def test_a_line_of_an_unknown_type_that_says_something_is_refused(key: str, tmp_path: Path) -> None:
    found = refusals(tmp_path, [*CLAUDE, {"type": "new", "sessionId": "s1", key: "bad"}])
    assert found[0].startswith(f"{len(CLAUDE) + 1}: unknown shape")
    assert f"may lack its line {len(CLAUDE) + 1}" in found[1]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({}, ["user: hi", "assistant: yo"]),
        ({"result": "bye"}, ["user: hi", "assistant: yo", "assistant: bye"]),
        ({"is_error": True, "result": None}, ["user: hi", "assistant: yo", "assistant: "]),
    ],
)
def test_the_end_of_a_streamed_session_is_read(end: dict[str, Any], said: list[str], tmp_path: Path) -> None:
    (found,) = conversations(written(tmp_path, [*STREAM, {**END, **end}]))
    assert (found.id, lines(found)) == ("s", said)
    error = {"error": "the session ended with an error"} if end.get("is_error") else {}
    assert found.messages[-1].metadata == error


def test_a_step_without_a_message_is_refused(tmp_path: Path) -> None:
    steps = [{"step_id": 1, "source": "user", "contents": "Hi"}, *cast("list[Any]", ATIF["steps"])[1:]]
    assert refusals(tmp_path, [{**ATIF, "steps": steps}]) == ["1: steps[0] has no `message` (read as atif)"]
