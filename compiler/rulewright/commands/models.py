"""Find out whether a model answers.

`check` puts two small questions to the model and says in one line whether it answers, how fast, and whether it keeps to
a schema. Keys are read from the environment.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from rulewright.exit_codes import MET, REFUSED
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.replies import only_object
from rulewright_runtime.models import open_model
from rulewright_runtime.models.call import CallFailure, ChatMessage, Model, ModelAnswer, ModelCall
from rulewright_runtime.terminal import say

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
QUESTION = 'Is two plus two four? Answer with the JSON object {"answer": "yes"} or {"answer": "no"} and nothing else.'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    check = commands.add_parser("check", help="say whether a model answers", allow_abbrev=False)
    check.add_argument("model", metavar="MODEL", help="for instance `openai:gpt-5` or `openai:qwen3@http://HOST/v1`")
    check.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="of each question (60)")
    check.add_argument("--format", choices=("human", "json"), default="human")


def run(args: argparse.Namespace) -> int:
    """Ask, and say what came of it."""
    import anyio

    model = open_model(args.model)
    found: dict[str, Any] = {"model": args.model, "answers": False}
    try:
        answer, seconds, schema = anyio.run(_asked, model, args.timeout)
        found |= {
            "answers": True,
            "served_model": answer.model,
            "seconds": round(seconds, 2),
            "keeps_to_schema": schema,
        }
        found |= {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens}
    except (CallFailure, TimeoutError) as failure:
        found["reason"] = str(failure) or f"no answer within {args.timeout:g} s"
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False))
    else:
        say(_line(found))
    return MET if found["answers"] else REFUSED


def _line(found: dict[str, Any]) -> str:
    if not found["answers"]:
        return f"{found['model']} does not answer: {found['reason']}"
    served = f" as {found['served_model']}" if found["served_model"] else ""
    schema = "keeps" if found["keeps_to_schema"] else "does not keep"
    counts = "" if found["output_tokens"] is None else ", counts tokens"
    return f"{found['model']} answers{served} in {found['seconds']:.2f} s, {schema} to a schema{counts}"


async def _asked(model: Model, timeout: float) -> tuple[ModelAnswer, float, bool]:
    import anyio

    try:
        started = time.monotonic()
        with anyio.fail_after(timeout):
            answer = await model.answer(ModelCall((ChatMessage("user", QUESTION),), 500, 0.0, SCHEMA))
        seconds = time.monotonic() - started
    finally:
        await model.aclose()
    try:
        keeps = only_object(answer.text) in ({"answer": "yes"}, {"answer": "no"})
    except JudgeError:
        keeps = False
    return answer, seconds, keeps
