"""Models as judges of a workflow: questions of metrics go to a model, all other calls to the agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.models.call import CallFailure
from rulewright_runtime.workflow.adapters.agent_adapter import AgentAdapter, AgentError, AgentReply, Brief, read_reply

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge

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
        try:
            answer = self._judge.ask(JudgeRequest(*fields, purpose="metric"))
        except OutageError:
            raise
        except CallFailure as failure:
            if failure.is_outage:
                raise OutageError(f"the judge did not answer: {failure}") from None
            raise AgentError(f"the judge did not answer: {failure}") from None
        except Exception as error:
            raise AgentError(f"the judge did not answer: {error}") from None
        if answer is None:
            raise AgentError("the judge's reply is incomplete")
        return read_reply(answer, "judge")
