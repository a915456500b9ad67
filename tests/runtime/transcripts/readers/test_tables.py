"""Tables: the rows that are conversations, and headers that say too little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runtime.transcripts.formats import conversations, lines, refusals, written

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.transcripts.transcript_reader import Reader


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        ("question,answer,gold\nhi,hello,good day\n", {}, ["user: hi", "assistant: hello"]),
        ("q,a\nhi,hello\n", {"columns": {"user": "q", "assistant": "a"}}, ["user: hi", "assistant: hello"]),
        ("chat_id,role,content\n1,user,hi\n1,assistant,hello\n", {}, ["user: hi", "assistant: hello"]),
        ('system,user,assistant\nBe brief,"hi,\nyou",hello\n', {}, ["system: Be brief", "user: hi,\nyou"]),
    ],
)
def test_the_rows_of_a_table_are_conversations(
    tmp_path: Path, text: str, settings: dict[str, Any], said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, text, "chat.csv"), **settings)
    assert lines(found)[:2] == said


@pytest.mark.parametrize("contexts", [["Two years.", "No returns."], "Two years.\n\nNo returns."])
def test_retrieved_passages_are_what_a_tool_gave_before_the_answer(tmp_path: Path, contexts: Any) -> None:
    row = {"id": "w", "question": "How long?", "answer": "Two years.", "contexts": contexts, "ground_truth": "2"}
    (found,) = conversations(written(tmp_path, [row]))
    assert lines(found) == ["user: How long?", "tool retrieval: Two years.\n\nNo returns.", "assistant: Two years."]
    assert (found.source, found.expected) == ("table", "2")
    assert refusals(tmp_path, [{**row, "contexts": [{"text": "a"}]}])[0].startswith("1: unknown shape")


def test_a_column_mapping_names_fields_that_there_are() -> None:
    with pytest.raises(RuntimeFailure, match="unknown field `usr` in a column mapping; expected `conversation`"):
        Reader(columns={"usr": "q"})


def test_a_table_without_a_column_that_is_known_says_which_would_be(tmp_path: Path) -> None:
    (found,) = refusals(tmp_path, "a,b\n1,2\n3,4\n", "chat.csv")
    assert found.startswith("1: unknown shape: a table with the columns `a` and `b`; expected `user` and `assistant`")


def test_a_table_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, "user,assistant,assistant\nhi,hello,good day\n", "chat.csv")
    assert found == ["1: the header names the column `assistant` twice"]


def test_a_row_with_more_fields_than_the_header_is_refused(tmp_path: Path) -> None:
    found = refusals(tmp_path, "user,assistant\nhi,hello\nhi,hello,you\nhi,hello\n", "chat.csv")
    assert found == ["chat:2", "3: the row has 3 fields; the header names 2", "chat:4"]
