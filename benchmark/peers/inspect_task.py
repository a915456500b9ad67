"""The task for Inspect: the answers are at hand, one scorer holds them against the twenty assertions."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmark.peers.assertions import LITERALS, NAMES, PATTERNS
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def recorded() -> Solver:
    """The answer that was recorded."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("recorded", state.metadata["answer"])
        state.messages.append(state.output.message)
        return state

    return solve


@scorer(metrics={"*": [mean()]})
def assertions() -> Scorer:
    """1 for an assertion that holds, else 0."""
    patterns = [re.compile(pattern) for pattern in PATTERNS]

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        holds = [literal in text for literal in LITERALS] + [bool(pattern.search(text)) for pattern in patterns]
        return Score(value={name: float(held) for name, held in zip(NAMES, holds, strict=True)})

    return score


@task
def peers(chats: str) -> Task:
    """The chats of a JSON lines file."""
    records = [json.loads(line) for line in Path(chats).read_text(encoding="utf-8").splitlines()]
    samples = [
        Sample(id=record["id"], input="?", metadata={"answer": record["messages"][1]["content"]}) for record in records
    ]
    return Task(dataset=samples, solver=recorded(), scorer=assertions())
