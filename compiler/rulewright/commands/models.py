"""`models`: check whether a model answers, with a verdict that a judge's reply would need."""

import argparse
import re
import time
from itertools import count

import anyio

from rulewright.commands.output import answer
from rulewright.errors import UsageError
from rulewright.exit_codes import MET, REFUSED
from rulewright_runtime.calls.scheduler import pause_after
from rulewright_runtime.errors import JudgeError
from rulewright_runtime.judging.judge import is_live
from rulewright_runtime.judging.replies import beginning, strict
from rulewright_runtime.models import open_model
from rulewright_runtime.models.call import CallFailure, ChatMessage, Model, ModelAnswer, ModelCall, ending
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.terminal import complain

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"verdict": {"enum": ["PASS", "FAIL"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
QUESTION = 'Is two plus two four? Answer with {"verdict": "PASS"} if it is, else {"verdict": "FAIL"}, and nothing else.'
ATTEMPTS = 3  # at an answer of a busy model
TOKENS = 4000  # of the reply, as a judge's first attempt has them by default
# What to do about a reply that is not a verdict, by how it ended.
_CURES = {
    "length": f"a judge has {TOKENS} tokens for its first attempt; a model that thinks longer needs less reasoning, "
    "which its server sets",
    "other": "the server must name `stop` as the `finish_reason` of a whole reply; where it names a call of a tool, "
    "although none was offered, turn its tools off",
    "refusal": "the model refused to answer such a simple question; name another model",
    "filter": "a filter of the provider held the reply back; the provider's settings for the model change it",
}
_SEPARATE = "let the server separate the reasoning (vLLM: `--reasoning-parser`)"
_THOUGHTS = re.compile(r"\s*([<\[◁]/?(?:think|thinking|thought|reasoning)[>\]▷])", re.IGNORECASE)


def run(args: argparse.Namespace) -> int:
    """Ask the model, and report its answers; return the exit code. Raises UsageError."""
    if not is_live(args.model):
        raise UsageError(f"`{args.model}` names recorded replies or a plug-in; name a model, such as `openai:NAME`")
    model = open_model(args.model)
    found: JsonObject = {"model": args.model, "answers": False}
    try:
        reply, seconds = anyio.run(_asked, model, args.timeout)
        found |= _usable(reply)
        found |= {"answers": True, "finish": reply.finish, "served_model": reply.model, "seconds": round(seconds, 2)}
        found |= {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
    except (CallFailure, TimeoutError) as failure:
        found["reason"] = str(failure) or f"no answer within {args.timeout:g} s"
    answer(args.format, found, [_line(found)])
    if args.format == "human" and "help" in found:
        complain(f"help: {found['help']}")
    return MET if found.get("gives_a_verdict") else REFUSED


def _line(found: dict[str, object]) -> str:
    if not found["answers"]:
        return f"{found['model']} does not answer: {found['reason']}"
    served = f" as {found['served_model']}" if found["served_model"] else ""
    answers = f"{found['model']} answers{served} in {found['seconds']:.2f} s"
    if not found["gives_a_verdict"]:
        return f"{answers}, but it can't judge: {found['reason']}"
    schema = "follows" if found["keeps_to_schema"] else "does not follow"
    return f"{answers}, {schema} a schema" + ("" if found["output_tokens"] is None else ", counts tokens")


async def _asked(model: Model, timeout: float) -> tuple[ModelAnswer, float]:
    """The answer and its seconds. A busy model is asked again when it says, unless that is after the time limit."""
    call, until = ModelCall((ChatMessage("user", QUESTION),), TOKENS, 0.0, SCHEMA), time.monotonic() + timeout
    try:
        for attempt in count(1):
            started = time.monotonic()
            try:
                with anyio.fail_after(timeout):
                    answer = await model.answer(call)
                return answer, time.monotonic() - started
            except CallFailure as failure:
                pause = pause_after(attempt, failure)
                may_wait = attempt < ATTEMPTS and time.monotonic() + pause < until
                if failure.kind not in ("limited", "server") or not may_wait:
                    waits = f"; it asks to wait {failure.retry_after:.0f} s" if failure.retry_after else ""
                    asked = f" (asked {attempt} times)" * (attempt > 1)
                    raise CallFailure(f"{failure}{waits}{asked}", failure.kind) from None
                complain(f"note: {failure}; asking again in {pause:.1f} s")
                await anyio.sleep(pause)
        raise AssertionError
    finally:
        await model.aclose()


def _usable(answer: ModelAnswer) -> JsonObject:
    """Whether the reply would count as a vote, and whether it keeps to the schema."""
    try:
        if not answer.is_whole:
            raise JudgeError(f"the reply is incomplete: {ending(answer.finish)}")
        verdict = strict(answer.text)
    except JudgeError as error:
        reason = f"{error}; {beginning(answer.text)}"
        cure = _CURES.get(answer.finish) or _cure_of_thoughts(answer.text)
        return {"gives_a_verdict": False, "keeps_to_schema": False, "reason": reason} | ({"help": cure} if cure else {})
    return {"gives_a_verdict": True, "keeps_to_schema": verdict in ({"verdict": "PASS"}, {"verdict": "FAIL"})}


def _cure_of_thoughts(text: str) -> str:
    """What to do about reasoning that is not read as such; empty for a reply without any."""
    opening = _THOUGHTS.match(text)
    if opening is not None and opening[1] != "<think>":
        return f"reasoning is only read in `<think>`, not in `{opening[1]}`; {_SEPARATE}"
    if opening is not None and "</think>" not in text:
        return f"the reply opens `<think>` and does not close it; {_SEPARATE}"
    is_only_closed = "</think>" in text and "<think>" not in text
    return f"the chat template opens `<think>`, which the reply then only closes; {_SEPARATE}" * is_only_closed
