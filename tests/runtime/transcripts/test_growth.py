"""The work of reading a file, counted in calls of functions, grows with its length and not with its square."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.folders import json_lines
from tests.growth import growth_of
from tests.runtime.transcripts.formats import conversations


def message(number: int) -> dict[str, str]:
    return {"role": ("user", "assistant")[number % 2], "content": f"This is message {number} of this long chat."}


def talk(size: int) -> list[dict[str, str]]:
    return [message(number) for number in range(size)]


def repeated_output(size: int) -> list[Any]:
    return [{"messages": talk(size), "output": talk(size)}]


def repeated_history(size: int) -> list[Any]:
    return [{"run_type": "llm", "inputs": {"messages": talk(size), "history": talk(size)}, "outputs": {}, "id": "r"}]


def results_of_sessions(size: int) -> list[Any]:
    return [
        event
        for number in range(0, size, 2)
        for event in (
            {"type": "user", "session_id": "s", "message": message(number)},
            {"type": "assistant", "session_id": "s", "message": message(number + 1)},
            {"type": "result", "session_id": "s", "result": message(number + 1)["content"]},
        )
    ]


def choices_of_samples(size: int) -> list[Any]:
    choices = [{"message": each} for each in talk(size) if each["role"] == "assistant"]
    sample = {"id": 1, "epoch": 1, "input": "q", "target": "", "messages": talk(size), "output": {"choices": choices}}
    return [{"eval": {}, "status": "success", "results": {"total_samples": 1}, "samples": [sample]}]


def chain_of_observations(size: int) -> list[Any]:
    """Calls of which each is below the one before it."""
    return [
        {
            "id": f"o{number}",
            "traceId": "t",
            "type": "GENERATION",
            "parentObservationId": f"o{number - 1}" if number else None,
            "startTime": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
            "input": [message(2 * number)],
            "output": message(2 * number + 1),
        }
        for number in range(size)
    ]


def cut_history(size: int) -> list[Any]:
    """A history of which each message is a passage of one after it."""
    cut = [{**each, "content": each["content"][:-1]} for each in talk(size)]
    return [{"run_type": "llm", "inputs": {"messages": talk(size), "history": cut}, "outputs": {}, "id": "r"}]


def retrievals_of_a_call(size: int) -> list[Any]:
    """Many retrieved passages before the answer of a long chat."""
    step = {"traceId": "t", "startTime": "2026-01-01T00:00:00Z"}
    found = [
        {**step, "id": f"r{number}", "type": "RETRIEVER", "input": "q", "output": [f"Passage {number} of a document."]}
        for number in range(size)
    ]
    return [*found, {**step, "id": "g", "type": "GENERATION", "input": talk(size), "output": message(1)}]


GROWING = (
    repeated_output, repeated_history, results_of_sessions, choices_of_samples, chain_of_observations, cut_history,
    retrievals_of_a_call,
)  # fmt: skip


@pytest.mark.parametrize("write", GROWING)
def test_the_work_of_reading_grows_with_what_is_read(tmp_path: Path, write: Callable[[int], list[Any]]) -> None:
    def prepared(size: int) -> Callable[[], object]:
        path = tmp_path / f"{size}.jsonl"
        path.write_text(json_lines(write(size)), encoding="utf-8")
        return partial(conversations, path)

    assert growth_of(prepared, 60) < 1.05
