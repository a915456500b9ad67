"""A scorer for Inspect: runs the checks of a compiled plan on the conversation of every sample.

    from rulewright_runtime.inspect_scorer import checks

    @task
    def support():
        return Task(dataset=..., solver=generate(), scorer=checks("shop.plan.json"))

The score of a sample has a value for each check: 1 for PASS, 0 for FAIL and UNCLEAR, and NaN, which Inspect excludes
from its means, if the check does not apply. Needs `inspect-ai`, the extra `[inspect]`.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from rulewright_runtime.execution import Engine, results
from rulewright_runtime.judging.judge import open_judge
from rulewright_runtime.plan.file import decode
from rulewright_runtime.plan.judge_needs import chosen_checks, refuse_without_judge
from rulewright_runtime.report.text import verdict_line
from rulewright_runtime.transcript_execution import TranscriptResult
from rulewright_runtime.transcripts.transcript_reader import from_record

WORTH: Final = {"PASS": 1.0, "FAIL": 0.0, "UNCLEAR": 0.0, "NOT_APPLICABLE": math.nan}


@scorer(metrics={"*": [mean(), stderr()]})
def checks(plan: str, judge: str | None = None, only: Sequence[str] = ()) -> Scorer:
    """A scorer of the checks in a plan file, all or `only` some; `judge` is a judge such as `replay:FILE`.

    Raises PlanError if the plan can't be used, lacks one of these checks, or needs a judge and there is none.
    """
    decoded = decode(Path(plan).read_bytes())
    chosen = chosen_checks(decoded, only)
    if judge is None:
        refuse_without_judge(decoded)
    engine, opened = Engine(decoded), None if judge is None else open_judge(judge)

    lock = anyio.Lock()

    async def score(state: TaskState, target: Target) -> Score:
        chat = from_record({"eval": {}, "samples": [_sample(state, target)]})
        async with lock:  # an engine runs one transcript at a time
            result = await anyio.to_thread.run_sync(lambda: next(results(engine, [chat], opened)))
        return _score(result, chosen)

    return score


def _sample(state: TaskState, target: Target) -> dict[str, object]:
    targets = list(target)
    return {
        "id": str(state.sample_id),
        "epoch": state.epoch,
        "input": state.input_text,
        "target": targets[0] if len(targets) == 1 else targets,
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in state.messages],
        "output": state.output.model_dump(mode="json", exclude_none=True),
        "metadata": dict(state.metadata),
    }


def _score(result: TranscriptResult, chosen: Container[str]) -> Score:
    """The value of each check, with reasons and quotes as the explanation."""
    if result.errors:
        raise RuntimeError(f"the sample was refused: {result.errors[0]}")
    verdicts = [each for each in result.verdicts if each.check_id in chosen]
    return Score(
        value={each.check_id: WORTH[each.verdict] for each in verdicts},
        answer=result.transcript_id,
        explanation="\n".join(map(verdict_line, verdicts)),
        metadata={"verdicts": {each.check_id: each.verdict for each in verdicts}},
    )
