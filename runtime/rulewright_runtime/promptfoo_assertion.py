"""An assertion for promptfoo: runs the checks of a compiled plan on a provider's output.

promptfoo calls `get_assert(output, context)` of a Python file; two lines make one:

    from rulewright_runtime.promptfoo_assertion import get_assert
    __all__ = ["get_assert"]

The assertion's `config` has the `plan`, and optionally `checks` (a list of ids) and a `judge` (`replay:FILE`). It
passes if no check is FAIL or UNCLEAR and at least one is PASS; each check is a component. The score is the share of
PASS among the checks that apply; 0 if none does.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from rulewright_runtime.english import plural
from rulewright_runtime.errors import PlanError
from rulewright_runtime.execution import Engine, results
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.judge_needs import chosen_checks, refuse_without_judge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.text import verdict_line
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.readers.shapes import role_at
from rulewright_runtime.transcripts.transcript_reader import from_record

PASSING: Final = ("PASS", "NOT_APPLICABLE")


def get_assert(output: object, context: Mapping[str, Any]) -> dict[str, object]:
    """The grading result of promptfoo. Raises if the plan can't be used: promptfoo then counts an error."""
    config = context.get("config") or {}
    if not config.get("plan"):
        raise PlanError("the assertion's `config` names no `plan`; `rulewright compile` writes one")
    judge, checks = config.get("judge"), config.get("checks") or ()
    plan, engine = _prepared(str(config["plan"]), judge is None)
    chosen = chosen_checks(plan, [checks] if isinstance(checks, str) else checks)
    chat = from_record(
        {"messages": [*_prompt_messages(context), *_output_messages(output)], "expected": _expected(context)}
    )
    result = next(results(engine, [chat], None if judge is None else open_judge(str(judge))))
    return _graded(result, chosen)


@cache
def _prepared(path: str, without_judge: bool) -> tuple[Plan, Engine]:
    plan = decode(Path(path).read_bytes())
    if without_judge:
        refuse_without_judge(plan)
    return plan, Engine(plan)


def _prompt_messages(context: Mapping[str, object]) -> list[object]:
    """The messages of a chat prompt, or else its text as a user's message."""
    prompt = context.get("prompt")
    text = prompt if isinstance(prompt, str) else json.dumps(prompt)
    try:
        messages = json.loads(text)
    except ValueError:
        messages = None
    if isinstance(messages, list) and messages and all(isinstance(each, dict) and "role" in each for each in messages):
        return messages
    return [{"role": "user", "content": text}]


def _output_messages(output: object) -> list[object]:
    """The output as a message: a text, or a message with tool calls; no output is an empty reply. Raises RuntimeError
    for a message of another role, with which an earlier reply would be graded."""
    if isinstance(output, dict) and "role" in output:
        if role_at(output["role"], "output") != "assistant":
            raise RuntimeError(f"the output is a message of the role `{output['role']}`; expected `assistant`")
        return [output]
    return [{"role": "assistant", "content": output if isinstance(output, str | None) else json.dumps(output)}]


def _expected(context: Mapping[str, object]) -> object:
    variables = context.get("vars")
    return variables.get("expected") if isinstance(variables, Mapping) else None


def _graded(result: TranscriptResult, chosen: Container[str]) -> dict[str, Any]:
    if result.errors:
        raise RuntimeError(f"the chat was refused: {result.errors[0]}")
    verdicts = [each for each in result.verdicts if each.check_id in chosen]
    parts = [
        {"pass": each.verdict in PASSING, "score": float(each.verdict in PASSING), "reason": verdict_line(each)}
        for each in verdicts
    ]
    applied = [each.verdict for each in verdicts if each.verdict != "NOT_APPLICABLE"]
    share = applied.count("PASS") / len(applied) if applied else 0.0
    passed = share == 1
    failures = [str(part["reason"]) for part in parts if not part["pass"]]
    return {
        "pass": passed,
        "score": share,
        "reason": "; ".join(failures) or (f"{plural(len(applied), 'check')} passed" if passed else "no check applies"),
        "componentResults": parts,
    }
