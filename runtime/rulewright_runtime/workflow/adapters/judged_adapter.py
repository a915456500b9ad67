"""Models as judges of a workflow: questions of metrics go to a model, all other calls to the agents."""

from __future__ import annotations

import msgspec

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import Judge, JudgeRequest
from rulewright_runtime.models.call import CallFailure
from rulewright_runtime.workflow.adapters.agent_adapter import AgentAdapter, AgentError, AgentReply, Brief, read_reply
from rulewright_runtime.workflow.task_context import NO_USAGE, AgentUsage

MAX_REPLY_TOKENS = 2000  # a score and its reason


class JudgedAdapter:
    """Sends briefs with the purpose `judge` to a model, and all others to the agent's own adapter."""

    def __init__(self, own: AgentAdapter | None, judge: Judge) -> None:
        """`own` is None for an agent without an adapter."""
        self._own, self._judge = own, judge

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """Return the reply. Raises AgentError, and OutageError when the judge can't be reached: that is no score."""
        if brief.purpose != "judge":
            if self._own is None:
                raise AgentError(f"no adapter answers for agent `{brief.agent}`: name one in the project file")
            return self._own.call(brief, timeout)
        fields = (brief.task_run_id, brief.operation_id, brief.prompt, MAX_REPLY_TOKENS, 0.0, brief.call, brief.retry)
        usage = NO_USAGE
        try:
            answer, usage = self._ask(JudgeRequest(*fields, purpose="metric"))
        except (AgentError, OutageError):
            raise
        except CallFailure as failure:
            if failure.is_outage:
                raise OutageError(f"the judge did not answer: {failure}") from None
            raise AgentError(f"the judge did not answer: {failure}") from None
        except Exception as error:
            raise AgentError(f"the judge did not answer: {error}") from None
        if answer is None:
            raise AgentError("the judge's reply is incomplete")
        try:
            reply = read_reply(answer, "judge")
        except AgentError as error:
            raise AgentError(str(error), usage=usage) from None
        return msgspec.structs.replace(reply, usage=usage)

    def _ask(self, request: JudgeRequest) -> tuple[str | None, AgentUsage]:
        """The reply and what it cost: that of a model is in the budget of the run, whatever the reply says."""
        if not hasattr(self._judge, "answer"):  # replies that are recorded
            return self._judge.ask(request), NO_USAGE
        answer, spent = self._judge.answer(request)
        usage = AgentUsage(spent.tokens, float(spent.usd or 0))
        if not answer.is_whole:
            raise AgentError(f"the judge's reply is not whole: it ended with `{answer.finish}`", usage=usage)
        return answer.text, usage
