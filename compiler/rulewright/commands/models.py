"""`models`: check whether a model answers."""

from __future__ import annotations

import argparse
import time

import anyio

from rulewright.commands.output import answer
from rulewright.exit_codes import MET, REFUSED
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.replies import only_object
from rulewright_runtime.models import open_model
from rulewright_runtime.models.call import WHOLE, CallFailure, ChatMessage, Model, ModelAnswer, ModelCall
from rulewright_runtime.strict_json import JsonObject

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
QUESTION = 'Is two plus two four? Answer with the JSON object {"answer": "yes"} or {"answer": "no"} and nothing else.'


def run(args: argparse.Namespace) -> int:
    """Ask the model, and report its answers; return the exit code."""
    model = open_model(args.model)
    found: JsonObject = {"model": args.model, "answers": False}
    try:
        reply, seconds, schema = anyio.run(_asked, model, args.timeout)
        found |= {
            "answers": True,
            "finish": reply.finish,
            "served_model": reply.model,
            "seconds": round(seconds, 2),
            "keeps_to_schema": schema,
        }
        found |= {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
    except (CallFailure, TimeoutError) as failure:
        found["reason"] = str(failure) or f"no answer within {args.timeout:g} s"
    answer(args.format, found, [_line(found)])
    return MET if found["answers"] else REFUSED


def _line(found: dict[str, object]) -> str:
    if not found["answers"]:
        return f"{found['model']} does not answer: {found['reason']}"
    served = f" as {found['served_model']}" if found["served_model"] else ""
    schema = "follows" if found["keeps_to_schema"] else "does not follow"
    counts = "" if found["output_tokens"] is None else ", counts tokens"
    answers = f"{found['model']} answers{served} in {found['seconds']:.2f} s"
    if found["finish"] != WHOLE:
        return f"{answers}, but the reply is not whole: it ended with `{found['finish']}`"
    return f"{answers}, {schema} a schema{counts}"


async def _asked(model: Model, timeout: float) -> tuple[ModelAnswer, float, bool]:
    try:
        started = time.monotonic()
        with anyio.fail_after(timeout):
            answer = await model.answer(ModelCall((ChatMessage("user", QUESTION),), 500, 0.0, SCHEMA))
        seconds = time.monotonic() - started
    finally:
        await model.aclose()
    try:
        keeps = answer.is_whole and only_object(answer.text)[0] in ({"answer": "yes"}, {"answer": "no"})
    except JudgeError:
        keeps = False
    return answer, seconds, keeps
