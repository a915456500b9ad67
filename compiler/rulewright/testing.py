"""Checks as tests: compiles a project once, and tests chats and examples against its checks.

A failure is formatted like a lint finding: the check's location, its verdict, and the evidence.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import CheckDocument
from rulewright.documents.examples import (
    Example,
    example_mismatch,
    examples_of,
    verdict_of,
    verdict_on,
    with_dependencies,
)
from rulewright.documents.layout import looks_like_a_project, project_file_above
from rulewright.errors import DocumentError, RulewrightError
from rulewright.judges import ObservedJudge, refuse_without_ask
from rulewright.project import Project, load_project
from rulewright.render.human import render
from rulewright.reporting.judge_answers import verdict_and_reason
from rulewright.spelling import did_you_mean, question
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.judging.judge import PLUGIN, REPLAY, open_judge
from rulewright_runtime.models import open_model
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.part import VERDICTS
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.report.text import because
from rulewright_runtime.runs.live import Exchange, LiveJudge, WaitingJudge
from rulewright_runtime.transcripts.containers import as_record
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record
from rulewright_runtime.verdicts import VerdictResult

CHAT: Final = '[{"role": "user", "content": QUESTION}, {"role": "assistant", "content": REPLY}]'
_OPEN: Final = ExitStack()  # judges


class CheckError(AssertionError):
    """A check with another verdict than expected, or that can't run; the message is ready to print."""


class NoJudgeError(CheckError):
    """A check that needs a judge, without one."""


class TestBench(Struct, frozen=True):
    """A project and its plan."""

    __test__ = False  # the name would make pytest collect it

    project: Project
    plan: Plan

    def hold(self, chat: Any, name: str, expect: str, judge: Any = None) -> VerdictResult:
        """Return the verdict of the check `name` on a chat. Raises CheckError where it is not the expected one."""
        if expect not in VERDICTS:
            raise CheckError(f"unknown verdict `{expect}` in `expect`{question(str(expect), VERDICTS)}")
        if not isinstance(name, str):
            raise CheckError(f"expected the id of one check, got `{name}`; test several with `pytest.mark.parametrize`")
        check = self.project.check(name)
        if check is None or name not in {each.id for each in self.plan.checks}:
            if check is not None:
                raise CheckError(f"the profile leaves out `{name}`")
            hint = did_you_mean(name, [each.id for each in self.project.checks]) or f"it is not in {self.project.root}"
            raise CheckError(f"unknown check `{name}`; {hint}")
        asking = with_dependencies(self.plan, [name]).intersection(needs_judge(self.plan))
        if judge is None and asking:
            source = self.project.judge_source
            own = f"; tests do not ask the project's judge `{source}` by themselves" if source else ""
            raise NoJudgeError(f"`{min(asking)}` asks a judge: give one with `--rulewright-judge`, or as `judge=`{own}")
        try:
            opened = resolve_judge(judge)
            observed = None if opened is None else ObservedJudge(opened)
            result = verdict_of(name, self.plan, _transcript(chat), observed)
        except (RulewrightError, RuntimeFailure) as failure:
            raise CheckError(str(failure)) from None
        if result.verdict != expect:
            exchanges = [] if observed is None else [each for each in observed.exchanges if each.check_id == name]
            raise CheckError(_render([_mismatch(check, result, expect, exchanges)]))
        return result

    def examples_in(self, path: Path) -> list[Example]:
        """Return the examples of the check in a file; empty for a file that is not a check of the project."""
        checks = [each for each in self.project.checks if Path(each.path).resolve() == path.resolve()]
        return [example for check in checks for example in examples_of(check)]

    def run(self, example: Example, judge: Any = None) -> None:
        """Run an example. Raises CheckError where its check gives another verdict, NoJudgeError without a judge."""
        name = example.check.id
        if judge is None and example.judge is None and name in needs_judge(self.plan):
            raise NoJudgeError(f"`{name}` asks a judge: give one with `--rulewright-judge`, or replies under `judge`")
        if name not in {each.id for each in self.plan.checks}:
            raise CheckError(f"the profile leaves out `{name}`")
        try:
            miss = example_mismatch(example, verdict_on(example, self.plan, resolve_judge(judge)), self.plan.redact)
        except (RulewrightError, RuntimeFailure) as failure:
            raise CheckError(str(failure)) from None
        if miss is not None:
            raise CheckError(_render([miss]))


@cache
def load_bench(location: Path) -> TestBench:
    """Load the project of a file, or the nearest one at or above a folder. Raises CheckError without a project, and for
    one with mistakes."""
    if not location.exists():
        raise CheckError(f"no such file or folder: `{location}`")
    file = location if location.is_file() else project_file_above(location)
    if file is None and not looks_like_a_project(location):
        raise CheckError(
            f"no project at `{location}` or above it; name it with `project=`, or as `rulewright_project` in the "
            "settings of pytest"
        )
    try:
        project = load_project(file or location)
        return TestBench(project, compile_project(project))
    except DocumentError as failure:
        raise CheckError(_render(failure.diagnostics)) from None
    except (RulewrightError, RuntimeFailure) as failure:
        raise CheckError(str(failure)) from None


@cache
def _named_judge(specification: str) -> object:
    """The judge that an option names; shared by all tests, so that a model's ledger is opened once."""
    if specification.startswith((REPLAY, PLUGIN)):
        return open_judge(specification)
    return _OPEN.enter_context(closing(WaitingJudge(LiveJudge(open_model(specification)))))


def close_judges() -> None:
    """Close the judges that options named."""
    _named_judge.cache_clear()
    _OPEN.close()


def resolve_judge(judge: Any) -> Any:
    """Return a judge that is given as an object or by its name. Raises UsageError for an object that is not a judge."""
    if isinstance(judge, str):
        return _named_judge(judge)
    if judge is not None:
        refuse_without_ask(judge)
    return judge


def _transcript(chat: Any) -> Transcript:
    if isinstance(chat, Transcript):
        return chat
    record = as_record(chat, "chat", 0, "the chat")
    if isinstance(record, dict):
        return from_record(record)
    if not isinstance(chat, str | os.PathLike):
        raise InputError("expected a record, a list of messages, a `Transcript` or the path of a file", "chat")
    if isinstance(chat, str) and not os.path.lexists(chat):
        raise InputError(f"`{chat:.80}` is not a file; a reply is checked in its chat: {CHAT}", "chat")
    transcripts = list(Reader().read([chat]))
    if len(transcripts) != 1:
        raise InputError(f"contains {len(transcripts)} conversations; expected one", str(chat))
    if isinstance(transcripts[0], InputError):
        raise transcripts[0]
    return transcripts[0]


def _mismatch(check: CheckDocument, result: VerdictResult, expect: str, exchanges: Sequence[Exchange]) -> Diagnostic:
    replies = [verdict_and_reason(each.reply) for each in exchanges if each.reply]
    reasons = [reason for verdict, reason in replies if verdict == result.verdict and reason]
    if not replies:
        reasons = [f"the judge failed: {each.error}" for each in exchanges if each.error]
    quotes = [f"turn {span.turn}, {span.role}: `{span.quote}`" for span in result.evidence]
    evidence = "; ".join([*reasons[:1], *quotes])
    undecided = result.extra.get("undecided")
    why = because(result.rationale_code) + (f": {undecided}" if undecided else "")
    message = ", ".join(filter(None, (f"the verdict is {result.verdict}", f"expected {expect}", why)))
    place = next(iter(check.verdict_conditions), None) or check.prompt or check.node
    return error(place, message, code=check.id, help=evidence or None)


def _render(diagnostics: Sequence[Diagnostic]) -> str:
    return render(diagnostics).rstrip("\n")
