"""A judge's verdicts on metrics: recorded beside the score, and counted when the scorecard says so."""

from __future__ import annotations

from typing import Any, Final

from rulewright_runtime.cases.case_plan import CaseScorecardPlan, Question
from rulewright_runtime.errors import JudgeError, RuntimeFailure
from rulewright_runtime.judging.judge import Judge, JudgeRequest, UnansweredError
from rulewright_runtime.judging.replies import strict
from rulewright_runtime.strict_json import JsonMapping, JsonObject
from rulewright_runtime.transcripts.completeness import says_something

BUDGETS: Final = (4000, 8000, 16000)  # tokens of the reply, by attempt
SILENT: Final = "the text to judge says nothing"
_FENCE: Final = "~~~"


class CaseJudge:
    """Asks a judge the questions of a scorecard, one for each case and metric, but none about an empty list.

    An empty text is not sent, and counts as a question without an answer.
    """

    def __init__(self, plan: CaseScorecardPlan, judge: Judge) -> None:
        """`judge` answers the questions of `plan`."""
        self._questions = [(metric.name, metric.judge) for metric in plan.metrics if metric.judge is not None]
        self._judge = judge
        self.verdicts: dict[str, dict[str, int]] = {name: {} for name, _ in self._questions}
        self.unanswered: dict[str, dict[str, int]] = {}  # questions without a usable reply: by metric, by reason

    def judge_case(self, test_id: str, inputs: JsonMapping) -> dict[str, JsonObject]:
        """Return by metric `{verdict, rationale}`, with `counted` when it counts. Without a usable reply after three
        attempts the verdict is UNCLEAR, with `unanswered` and the reason as rationale."""
        answers: dict[str, JsonObject] = {}
        for name, question in self._questions:
            subject = inputs[question.of]
            if subject or isinstance(subject, str):  # an empty list holds nothing to object to
                silent = isinstance(subject, str) and not says_something(subject)
                answer = answers[name] = _unanswered(SILENT) if silent else self._ask(test_id, name, question, subject)
                if question.unclear is not None:
                    answer["counted"] = True
                counts = self.verdicts[name]
                counts[answer["verdict"]] = counts.get(answer["verdict"], 0) + 1
                if "unanswered" in answer:
                    reasons = self.unanswered.setdefault(name, {})
                    reasons[answer["rationale"]] = reasons.get(answer["rationale"], 0) + 1
        return answers

    def _ask(self, test_id: str, metric: str, question: Question, subject: Any) -> JsonObject:
        prompt = f"{question.prompt.rstrip()}\n\n{_fence(subject)}"
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
            except RuntimeFailure as error:  # the model's client has retried already
                problem = f"the judge failed: {error}"
                break
            except Exception as error:  # a judge may be third-party code: an error is not a usable reply
                problem = f"the judge failed: {type(error).__name__}"
        return _unanswered(problem)


def _unanswered(problem: str) -> JsonObject:
    return {"verdict": "UNCLEAR", "rationale": problem, "unanswered": True}


class QuestionCollector:
    """A judge that records requests and answers none."""

    def __init__(self) -> None:
        """Start without requests."""
        self.questions: list[JudgeRequest] = []

    def ask(self, request: JudgeRequest) -> str:
        """Record the request. Raises UnansweredError, so that it is not retried."""
        self.questions.append(request)
        raise UnansweredError("nobody is asked yet")


def _fence(subject: Any) -> str:
    """Return the subject as fenced text; a fence within it is defused."""
    lines = [subject] if isinstance(subject, str) else [f"- {text}" for text in subject]
    body = "\n".join(lines).replace(_FENCE, "~ ~ ~")
    return f"{_FENCE}\n{body}\n{_FENCE}"
