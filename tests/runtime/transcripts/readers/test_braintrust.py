"""Events of Braintrust: the calls of a trace, except those of scorers."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.plans import check, plan
from tests.runtime.transcripts.formats import (
    ANSWER,
    ASKED,
    BANK,
    SAID,
    WITH_TOOL,
    conversations,
    lines,
    refusals,
    written,
)
from tests.runtime.transcripts.readers.test_langsmith import langsmith_run

from rulewright_runtime.execution import execute


def event(name: str, kind: str, above: list[str], start: int, **held: Any) -> dict[str, Any]:
    """An event of Braintrust, with the keys that its interface documents."""
    about = {"name": name, "type": kind}
    metrics = {"start": start, "end": start + 2, "prompt_tokens": 20, "completion_tokens": 8, "tokens": 28}
    ids = {"id": f"row-{name}", "span_id": name, "root_span_id": "root", "span_parents": above, "is_root": not above}
    return {**ids, "span_attributes": about, "metrics": metrics, "_xact_id": "1", "created": "now", **held}


JUDGED = [{"message": {"role": "assistant", "content": "A"}}]


TRACE = [
    event("judge", "llm", ["scorer"], 9, input=SAID[:1], output=JUDGED),
    event("second", "llm", ["task"], 5, input=WITH_TOOL[:4], output=[{"message": SAID[1]}], metadata={"model": "m-1"}),
    event("first", "llm", ["task"], 1, input=WITH_TOOL[:2], output=[{"message": WITH_TOOL[2]}]),
    event("root", "eval", [], 0, input="7", output="10", expected="10 euros", scores={"exact": 0}, tags=["bank"]),
    event("task", "task", ["root"], 0, input="7", output="10"),
    event("scorer", "score", ["root"], 8, input={"output": "10"}, output={"score": 0}),
]


@pytest.mark.parametrize("wrapped", [False, True])
def test_calls_of_a_braintrust_trace_are_read_except_those_of_scorers(tmp_path: Path, wrapped: bool) -> None:
    (found,) = conversations(written(tmp_path, [{"events": TRACE}] if wrapped else TRACE))
    assert (found.source, found.id, found.model, lines(found)) == ("braintrust", "root", "m-1", BANK)
    assert (found.expected, found.metadata["scores"], found.metadata["tags"]) == ("10 euros", {"exact": 0}, ["bank"])
    of_both_calls = {"prompt_tokens": 40, "completion_tokens": 16, "total_tokens": 56, "duration_seconds": 4}
    assert found.usage == of_both_calls


def test_events_with_json_text_in_their_columns_are_read(tmp_path: Path) -> None:
    inner = ("span_attributes", "metrics", "metadata", "input", "output")
    rows = [{key: json.dumps(each[key]) if key in inner else each[key] for key in each} for each in TRACE]
    (found,) = conversations(written(tmp_path, rows))
    assert (found.model, lines(found)) == ("m-1", BANK)


@pytest.mark.parametrize(
    ("given", "answered", "said"),
    [
        (ASKED[6:], ANSWER[11:], [ASKED, ANSWER]),
        (SAID[:1], SAID[1], [ASKED, ANSWER]),
        ({"messages": SAID[:1]}, {"choices": [{"message": SAID[1]}]}, [ASKED, ANSWER]),
        ({"a": 1, "b": 2}, [1], ["user: {'a':1,'b':2}", "assistant: [1]"]),
    ],
)
def test_an_event_of_braintrust_is_read_whatever_it_holds(
    tmp_path: Path, given: Any, answered: Any, said: list[str]
) -> None:
    (found,) = conversations(written(tmp_path, [event("root", "eval", [], 0, input=given, output=answered)]))
    assert (found.source, lines(found)) == ("braintrust", said)


def test_a_trace_whose_steps_stand_below_each_other_is_reported(tmp_path: Path) -> None:
    looped = event("a", "task", ["a"], 0, input="x", output="y")
    assert refusals(tmp_path, [looped])[0].startswith("1: trace `root` has no outermost event")
    run = langsmith_run({"question": "x"}, {"answer": "y"}, parent_run_id="r1")
    assert refusals(tmp_path, [run])[0].startswith("1: trace `t1` has no outermost run")


def test_a_broken_or_failed_event_of_braintrust_passes_nothing(tmp_path: Path) -> None:
    broken = event("root", "eval", [], 0, input=[{"role": "wizard", "content": "x"}], output="y")
    (told,) = refusals(tmp_path, [broken])
    assert told.startswith("1: event 1.input[0].role is `wizard`; expected `system`")
    for failed in (None, "10"):
        error = {"error": "timeout"} if failed else {}
        (found,) = execute(plan(check()), [written(tmp_path, [{**TRACE[3], "output": failed, **error}])])
        assert [verdict.verdict for verdict in found.verdicts] == ["UNCLEAR"]
