"""A live run that tests watch: its plan, transcripts and replies. Children import it, so it needs no pytest."""

import hashlib
import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.folders import write_turns
from tests.model_server import Response, Server, chat
from tests.runtime.plans import asked, plan

from rulewright_runtime.calls.scheduler import CallLimits
from rulewright_runtime.models.capabilities import Capabilities
from rulewright_runtime.models.http import HttpModel
from rulewright_runtime.plan.question import EachReplyWindow, TextSegment
from rulewright_runtime.runs.live import JudgeSettings, LiveJudge

SECONDS = CallLimits(concurrency=8, seconds=20.0)
PLAN = plan(
    asked(name="X1", repetitions=3, prompt=(TextSegment("One?"),)),
    asked(name="X2", repetitions=2, prompt=(TextSegment("Two?"),), window=EachReplyWindow()),
    asked(name="X3", repetitions=5, prompt=(TextSegment("Three?"),), adaptive_stop=True),
)


def transcripts(folder: Path, number: int = 6) -> Path:
    """Some conversations, each of its own."""
    folder.mkdir(exist_ok=True)
    for each in range(number):
        said = [f"question {each}", f"I always answer number {each}.", "and now?", f"I promise to stay {each}."]
        write_turns(folder / f"m{each}__s.jsonl", *said)
    return folder


def opinion(asked: dict[str, Any]) -> Response:
    """A verdict that depends on the question alone, now and then a reply that can't be read."""
    text = json.dumps(asked["messages"])
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16) + (asked.get("temperature") or 0) * 10
    verdict = ("PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE")[int(number) % 4]
    evidence = [{"role": "assistant", "turn": 1, "quote": "I always answer number"}]
    reply = json.dumps({"rationale": "so", "verdict": verdict, "evidence": evidence, "rationale_code": "c"})
    return chat("no object" if int(number) % 11 == 0 else reply, model=f"served-{int(number) % 2}")


def judge(server: Server, ledger: Path, capabilities: Capabilities | None = None, **settings: Any) -> LiveJudge:
    limits = settings.pop("limits", SECONDS)
    model = HttpModel("openai", "some-model", server.base, None, capabilities)
    return LiveJudge(model, JudgeSettings(str(ledger), limits, **settings))


def at_home(made: LiveJudge) -> LiveJudge:
    """The judge as if its server listened at one place: ports differ from run to run."""
    assert isinstance(made.model, HttpModel)
    made.model.identity = replace(made.model.identity, endpoint="http://127.0.0.1/v1")
    return made
