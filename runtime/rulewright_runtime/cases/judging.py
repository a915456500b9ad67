"""Asking a judge about a metric: its verdict is recorded beside the score, and counts where the scorecard says so."""

from __future__ import annotations

from typing import Any, Final

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Question
from rulewright_runtime.errors import JudgeError, RuntimeFailure
from rulewright_runtime.judging.judge import Judge, JudgeRequest, UnansweredError
from rulewright_runtime.judging.replies import strict
from rulewright_runtime.strict_json import JsonMapping, JsonObject

BUDGETS: Final = (4000, 8000, 16000)
_FENCE: Final = "~~~"


class CaseJudge:
    """Puts the questions of a scorecard to a judge, one for each case and metric that has something to judge."""

    def __init__(self, plan: CaseScorecardPlan, judge: Judge) -> None:
        """Ask `judge`."""
        self._questions = [(metric.name, metric.judge) for metric in plan.metrics if metric.judge is not None]
        self._judge = judge
        self.verdicts: dict[str, dict[str, int]] = {name: {} for name, _ in self._questions}
        self.unanswered: dict[str, dict[str, int]] = {}  # questions without a usable reply: by metric, by reason

    def judged(self, test_id: str, inputs: JsonMapping) -> dict[str, JsonObject]:
        """By metric `{verdict, rationale}`, with `counted` where it is. No usable reply after three attempts is
        UNCLEAR, with `unanswered` and the reason."""
        judged: dict[str, JsonObject] = {}
        for name, question in self._questions:
            if inputs[question.of]:
                answer = judged[name] = self._ask(test_id, name, question, inputs[question.of])
                if question.unclear is not None:
                    answer["counted"] = True
                counts = self.verdicts[name]
                counts[answer["verdict"]] = counts.get(answer["verdict"], 0) + 1
                if "unanswered" in answer:
                    reasons = self.unanswered.setdefault(name, {})
                    reasons[answer["rationale"]] = reasons.get(answer["rationale"], 0) + 1
        return judged

    def _ask(self, test_id: str, metric: str, question: Question, subject: Any) -> JsonObject:
        prompt = f"{question.prompt.rstrip()}\n\n{_fenced(subject)}"
        problem = "no reply"
        for attempt, budget in enumerate(BUDGETS):
            try:
                raw = self._judge.ask(JudgeRequest(test_id, metric, prompt, budget, 0.0, 0, attempt))
                if raw is not None:
                    reply = strict(raw)
                    rationale = reply.get("rationale")
                    return {"verdict": reply["verdict"], "rationale": rationale if isinstance(rationale, str) else None}
            except UnansweredError as error:
                problem = str(error)
                break
            except JudgeError as error:
                problem = str(error)
            except RuntimeFailure as error:  # whoever calls a model has tried again already
                problem = f"the judge failed: {error}"
                break
            except Exception as error:  # a judge may raise anything; that is not a usable reply either
                problem = f"the judge failed: {type(error).__name__}"
        return {"verdict": "UNCLEAR", "rationale": problem, "unanswered": True}


class QuestionCollector:
    """A judge that answers nothing and keeps what it was asked."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.questions: list[JudgeRequest] = []

    def ask(self, request: JudgeRequest) -> str:
        """Raises UnansweredError, so that no question is put twice."""
        self.questions.append(request)
        raise UnansweredError("nobody is asked yet")


def _fenced(subject: Any) -> str:
    """The subject as text that can't end its own fence."""
    lines = [subject] if isinstance(subject, str) else [f"- {text}" for text in subject]
    body = "\n".join(lines).replace(_FENCE, "~ ~ ~")
    return f"{_FENCE}\n{body}\n{_FENCE}"
