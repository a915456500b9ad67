"""Checks as tests: a project made ready once, a chat held against one check, an example against its own.

A failure reads like the linter's: the check's place, what it says, and the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rulewright.check.project_check import compile_project
from rulewright.diagnostics import Diagnostic, error
from rulewright.documents.check import CheckDocument
from rulewright.documents.examples import Example, examples_of, missed, verdict_of, verdict_on
from rulewright.documents.layout import looks_like_a_project, project_file_above
from rulewright.errors import DocumentError, RulewrightError
from rulewright.project import Project, load_project
from rulewright.render.human import render
from rulewright.spelling import did_you_mean
from rulewright_runtime.errors import InputError, RuntimeFailure
from rulewright_runtime.execution import needs_judge
from rulewright_runtime.judging.judge import PLUGIN, REPLAY, open_judge
from rulewright_runtime.plan.scan import Plan
from rulewright_runtime.runs.live import open_live_judge
from rulewright_runtime.runs.waiting_judge import WaitingJudge
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader, from_record
from rulewright_runtime.verdicts import VerdictResult


class CheckError(AssertionError):
    """A check that says something else than expected, or that can't be asked; the text is ready to be shown."""


class NoJudgeError(CheckError):
    """A check that needs a judge, and there is none."""


@dataclass(frozen=True, slots=True)
class TestBench:
    """A project and its plan."""

    __test__ = False  # pytest collects what is called so

    project: Project
    plan: Plan

    def hold(self, chat: Any, name: str, expect: str, judge: Any = None) -> VerdictResult:
        """What the check called `name` says of a chat. Raises CheckError where that is not what is expected."""
        check = self.project.check(name)
        if check is None or name not in {each.id for each in self.plan.checks}:
            if check is not None:
                raise CheckError(f"the profile leaves out `{name}`")
            hint = did_you_mean(name, [each.id for each in self.project.checks]) or f"it is not in {self.project.root}"
            raise CheckError(f"unknown check `{name}`; {hint}")
        try:
            found = verdict_of(name, self.plan, _transcript(chat), opened(judge))
        except RuntimeFailure as why:
            raise CheckError(str(why)) from None
        if found.verdict != expect:
            raise CheckError(_shown([_differs(check, found, expect)]))
        return found

    def examples_in(self, path: Path) -> list[Example]:
        """The examples of the check in a file; empty for a file that is none of the project's checks."""
        own = [each for each in self.project.checks if Path(each.path).resolve() == path.resolve()]
        return [example for check in own for example in examples_of(check)]

    def run(self, example: Example, judge: Any = None) -> None:
        """Raises CheckError where the check gets its example wrong, NoJudgeError where nobody answers what it asks."""
        name = example.check.id
        if judge is None and example.judge is None and name in needs_judge(self.plan):
            raise NoJudgeError(f"`{name}` asks a judge: give one with `--rulewright-judge`, or replies under `judge`")
        if name not in {each.id for each in self.plan.checks}:
            raise CheckError(f"the profile leaves out `{name}`")
        try:
            wrong = missed(example, verdict_on(example, self.plan, opened(judge)))
        except RuntimeFailure as why:
            raise CheckError(str(why)) from None
        if wrong is not None:
            raise CheckError(_shown([wrong]))


@cache
def bench_at(place: Path) -> TestBench:
    """The project at a path, of a folder the nearest one upwards. Raises CheckError where there is none, and for one
    with mistakes."""
    file = place if place.is_file() else project_file_above(place)
    if file is None and not looks_like_a_project(place):
        raise CheckError(f"there is no project at `{place}` nor above it")
    try:
        project = load_project(file or place)
        return TestBench(project, compile_project(project))
    except DocumentError as wrong:
        raise CheckError(_shown(wrong.diagnostics)) from None
    except (RulewrightError, RuntimeFailure) as wrong:
        raise CheckError(str(wrong)) from None


@cache
def _named_judge(specification: str) -> object:
    """The judge that an option names; one for all tests, since a model's ledger is opened once."""
    if specification.startswith((REPLAY, PLUGIN)):
        return open_judge(specification)
    return WaitingJudge(open_live_judge(specification))


def opened(judge: Any) -> Any:
    """A judge that was given as an object, or by its name."""
    return _named_judge(judge) if isinstance(judge, str) else judge


def _transcript(chat: Any) -> Transcript:
    if isinstance(chat, Transcript):
        return chat
    if isinstance(chat, dict):
        return from_record(chat)
    found = list(Reader().read([chat]))
    if len(found) != 1:
        raise InputError(f"holds {len(found)} conversations; expected one", str(chat))
    if isinstance(found[0], InputError):
        raise found[0]
    return found[0]


def _differs(check: CheckDocument, found: VerdictResult, expect: str) -> Diagnostic:
    evidence = "; ".join(f"turn {span.turn}, {span.role}: `{span.quote}`" for span in found.evidence)
    undecided = found.extra.get("undecided")
    why = f"because `{found.rationale_code}`" + (f": {undecided}" if undecided else "")
    message = f"the verdict is {found.verdict}, expected {expect}, {why}"
    place = next(iter(check.verdict_conditions), None) or check.prompt or check.node
    return error(place, message, code=check.id, help=evidence or None)


def _shown(found: Sequence[Diagnostic]) -> str:
    return render(found).rstrip("\n")
