"""Models as the judges of a workflow: the question of a metric goes to a model, all other calls to the agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright_runtime.errors import OutageError
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.models.call import CallFailure
from rulewright_runtime.workflow.adapters.agent_adapter import AgentAdapter, AgentError, AgentReply, Brief, read_reply

if TYPE_CHECKING:
    from rulewright_runtime.judging.judge import Judge

LONGEST_REPLY = 2000  # tokens of a score and its reason


class JudgedAdapter:
    """An agent whose judging a model does; `own` carries everything else, None where nobody answers for the agent."""

    def __init__(self, own: AgentAdapter | None, judge: Judge) -> None:
        """Keep both."""
        self._own, self._judge = own, judge

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """The reply. Raises AgentError, and OutageError where the judge can't be reached: that is no score."""
        if brief.purpose != "judge":
            if self._own is None:
                raise AgentError(f"no adapter answers for agent `{brief.agent}`: name one in the project file")
            return self._own.call(brief, timeout)
        place = (brief.task_run_id, brief.operation_id, brief.prompt, LONGEST_REPLY, 0.0, brief.call, brief.retry)
        try:
            answer = self._judge.ask(JudgeRequest(*place, purpose="metric"))
        except OutageError:
            raise
        except CallFailure as failure:
            if failure.is_outage:
                raise OutageError(f"the judge did not answer: {failure}") from None
            raise AgentError(f"the judge did not answer: {failure}") from None
        except Exception as error:
            raise AgentError(f"the judge did not answer: {error}") from None
        if answer is None:
            raise AgentError("the judge's reply is not whole")
        return read_reply(answer, "judge")
