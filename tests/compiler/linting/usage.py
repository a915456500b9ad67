"""Uses a project in every way: a project that lints without errors has to pass all of them.

Errors about a run are accepted; a refusal of the documents is not, because lint should have reported it.
"""

import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from tests.folders import json_lines

from rulewright.arguments.write_rules import FORMATS
from rulewright.check.project_check import compile_project
from rulewright.check.workflow_check import compile_workflow
from rulewright.claims.documents import prove
from rulewright.cli import main
from rulewright.commands.workflow_graph import draw
from rulewright.commands.workflow_settings import settings_of
from rulewright.diagnostics import Severity
from rulewright.documents.kinds import CASE_SCORECARD, kind_of
from rulewright.documents.layout import (
    PROJECT_FILE_NAMES,
    USUAL_WORKFLOWS,
    has_workflow,
    looks_like_a_project,
    project_file_in,
)
from rulewright.errors import RulewrightError, UsageError
from rulewright.linting.lint_report import Report
from rulewright.linting.lint_run import fix, lint
from rulewright.load import load_file
from rulewright.manual import explain
from rulewright.planning.harness import compile_run_plan, run_cost
from rulewright.planning.profiles import compare_profiles
from rulewright.planning.scan import scan_plan
from rulewright.project import Project, load_project
from rulewright.proving.tables import check_labels
from rulewright.render.output_formats import render
from rulewright.reporting import cases as writing
from rulewright.scoring.case_scorecards import load_scorecard
from rulewright.scoring.score_settings import SUFFIXES
from rulewright.scoring.settings_file import settings_of_run
from rulewright.workflow import load_workflow
from rulewright_runtime.cases.case_reader import Batch, CaseReader
from rulewright_runtime.cases.case_run import report_head, score_batches
from rulewright_runtime.errors import PlanError, RuntimeFailure
from rulewright_runtime.harness.adapters import ScriptedAdapter
from rulewright_runtime.harness.harness_plan import decode as decode_run_plan
from rulewright_runtime.harness.harness_run import run as play
from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.plan.envelope import encode, seal
from rulewright_runtime.plan.envelope import encode as encode_run_plan
from rulewright_runtime.plan.envelope import encode as encode_workflow
from rulewright_runtime.plan.file import decode
from rulewright_runtime.report.summary import exit_status
from rulewright_runtime.runs import store
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.adapters import AgentError, AgentReply, Brief
from rulewright_runtime.workflow.adapters.agent_adapter import read_reply
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.workflow_plan import decode as decode_workflow

MOST_SCANS: Final = 2
PROVABLE: Final = ("check", "scorecard", CASE_SCORECARD, "workflow")
SAID: Final = (
    "Hello", "", "You must do this", "I am an AI", "é İ \u2028", "\x00", "a" * 3000, "you must " * 300, "no way",
    "<b>{{ x }}", "Are you human?", "I want to die", "call 988", "```json\n{}\n```", "\U0001f642" * 50,
)  # fmt: skip
LINES: Final = (
    '{"turn": 1}', "[]", "null", "{", '{"turn": "1", "role": "user", "content": "x"}', "\ufeff", "",
    '{"turn": 99, "role": "user", "content": "x"}', '{"turn": 1, "role": "user", "content": "\\ud800"}',
    '{"turn": 1e400, "role": "user", "content": "x"}', '{"turn": 1, "role": "nobody", "content": "x"}',
    '{"turn": 1, "role": "assistant", "content": null, "error": {"message": "x"}}',
)  # fmt: skip
VERDICTS: Final = (
    '{"verdict": "PASS", "rationale": "fine"}', '{"verdict": "NOT_APPLICABLE"}', "PASS", None, "", "[]", "\x00", "0.7",
    '{"verdict": "FAIL", "rationale": "bad", "evidence": [{"role": "assistant", "turn": 1, "quote": "You must"}]}',
    '{"verdict": "FAIL", "evidence": [{"turn": 1e400, "quote": 3}, null, "x"], "violation": true, "kind": "secrecy"}',
    '{"verdict": "PASS", "violation": false, "kind": "none", "items": [], "score": 1e999, "level": "2", "a": {}}',
    '{"verdict": "FAIL", "rationale": "\\ud800", "n": 123456789012345678901234567890}', '{"verdict": ["PASS"]}',
    '{"verdict": "UNCLEAR", "confidence": NaN}', '{"score": 0.9}', "{" * 5000, "no reply anybody can read",
)  # fmt: skip
ANSWERS: Final = (
    "done", "0.9", "[]", "{", "\x00\u2028", '{"score": 0.95}', '{"score": 2}', '{"summary": 1}', '{"approved": true}',
    '{"decision": "GO"}', '{"decision": "NO_GO", "feedback": "x"}', '{"approved": false, "critique": "y"}',
    '{"usage": {"tokens": 10, "cost_usd": 0.5}, "approved": true, "decision": "GO"}',
    '{"usage": {"tokens": 99999999999999999999, "cost_usd": 1e308}, "approved": true, "decision": "GO"}',
    '{"subtask_completed": true, "approved": true, "decision": "GO", "quality_checks": {"x": true}}',
)  # fmt: skip
WANTED: Final = {
    "signal_generation": {"must_find_signals": ["x", ""]},
    "event_summary": {"must_contain_phrases": ["s"]},
    "followup_questions": {"forbidden_terms": ["late"]},
}
CASES: Final[tuple[Any, ...]] = (
    {}, None, [], "x", {"test_id": "a"}, {"test_id": "b", "expectations": None, "output": {}},
    {"test_id": "c", "expectations": WANTED, "output": {"signals": ["x"], "summary": "s"}},
    {"test_id": "d", "output": {"signals": "x", "summary": 3}}, {"test_id": "f", "engine_error": "boom"},
    {"test_id": 4, "output": {"followup_questions": ["why is it late?"]}},
    {"test_id": "g", "output": {"signals": [None]}},
    {"test_id": "e", "archetype": "\u2028", "metric_id": "m", "output": {"summary": "a" * 5000, "signals": []}},
    {"test_id": "h", "expectations": WANTED,
     "output": {"signals": ["x"], "summary": "s", "followup_questions": ["late?"]}},
)  # fmt: skip


class Refused(Exception):  # noqa: N818  it says what happened
    """Documents in which lint found no error were refused."""


@dataclass(slots=True)
class HostileReplies:
    """A judge and agent that answers with random hostile replies."""

    replies: tuple[str | None, ...]
    chance: random.Random

    def ask(self, request: JudgeRequest) -> str | None:
        """A judge's reply."""
        return self.chance.choice(self.replies)

    def call(self, brief: Brief, timeout: float) -> AgentReply:
        """An agent's reply."""
        text = self.chance.choice(self.replies)
        if text is None or self.chance.random() < 0.1:
            raise AgentError("no answer")
        return read_reply(text, brief.purpose)


def errors_of(report: Report) -> list[str]:
    """Return the errors of a report as lines."""
    return [
        f"{f.span.path}:{f.span.line} {f.code}: {f.message}" for f in report.diagnostics if f.severity is Severity.ERROR
    ]


def use_everywhere(entry: Path, scratch: Path, chance: random.Random) -> bool:
    """Lint the documents at `entry`, use them in every way, and return whether lint found no error."""
    report = lint([entry])
    clean = not errors_of(report)
    render(chance.choice(FORMATS), report.diagnostics, report.sources, page_of=explain)
    fix(report, unsafe=True)
    _type(chance.choice(_commands(entry, scratch)))
    for use in _uses(entry, scratch, chance):
        try:
            use()
        except Refused:
            if clean:
                raise
        except (RulewrightError, RuntimeFailure) as failure:
            if clean:
                raise Refused(f"{type(failure).__name__}: {failure}") from failure
    return clean


def _commands(entry: Path, scratch: Path) -> list[list[str]]:
    """Return command lines for a project or a file."""
    at, out = str(entry), str(scratch / "typed")
    script = scratch.parent / "script.json"
    script.write_text('{"replies": {}}', encoding="utf-8")
    return [
        *(["lint", at, "--no-cache", "--format", form] for form in FORMATS),
        ["lint", at, "--no-cache", "--diff", "--unsafe-fixes"],
        ["compile", "--project", at, "--out", f"{out}.json"],
        ["plan", str(scratch.parent), "--project", at, "--out", out],
        ["scan", str(scratch.parent), "--project", at, "--out", out],
        ["harness", at, "--model", f"scripted:{script}", "--dry-run", "--out", out],
        ["score", "--scorecard", at, "--show-config"],
        ["prove", at, "--format", "json"],
        ["workflow", "check", at],
        ["workflow", "graph", at],
        ["workflow", "run", at, "--dry-run"],
    ]


def _type(words: list[str]) -> None:
    """Run a command, which must not crash."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        main(words)
    if "Traceback" in said.getvalue():
        raise AssertionError(f"{words}: {said.getvalue()}")


def _uses(entry: Path, scratch: Path, chance: random.Random) -> Iterator[Callable[[], object]]:
    if entry.is_file() and entry.name not in PROJECT_FILE_NAMES:
        yield from _lone(entry, scratch, chance)
        return
    folder = entry if entry.is_dir() else entry.parent
    if project_file_in(folder) or looks_like_a_project(folder):
        yield lambda: _project(entry, scratch, chance)
    if has_workflow(folder):
        workflow = next(folder / name for name in USUAL_WORKFLOWS if (folder / name).is_file())
        yield lambda: _workflow(workflow, scratch, chance)


def _lone(path: Path, scratch: Path, chance: random.Random) -> Iterator[Callable[[], object]]:
    kind = kind_of(load_file(path).root)
    if kind in PROVABLE:
        yield lambda: prove(path)
    if kind == "workflow":
        yield lambda: _workflow(path, scratch, chance)
    if kind == "scenario":
        yield lambda: _harness([path], None, scratch, chance)
    if kind == CASE_SCORECARD:
        yield lambda: _score(path, chance)


def _project(entry: Path, scratch: Path, chance: random.Random) -> None:
    project = load_project(entry)
    if not project.checks:
        return
    pairs = [(profile, card) for profile in (None, *project.profiles) for card in (None, *project.scorecards)]
    for number, (profile, card) in enumerate(chance.sample(pairs, min(len(pairs), MOST_SCANS))):
        _scan(project, profile, card, scratch / f"scan{number}", chance)
    if len(project.profiles) > 1:
        first, second = chance.sample(sorted(project.profiles), 2)
        with_ids = [t for t in Reader(project.scenarios).read([scratch / "scan0"]) if isinstance(t, Transcript)]
        compare_profiles(project, first, second, with_ids, scorecard=next(iter(project.scorecards), None))
    if project.scenarios:
        _harness([Path(s.path) for s in project.scenarios.values()], project, scratch, chance)
    for document in project.loaded:
        if kind_of(document.root) in PROVABLE:
            prove(Path(document.source.path))
        if kind_of(document.root) == CASE_SCORECARD:
            _score(Path(document.source.path), chance)


def _scan(project: Project, profile: str | None, card: str | None, scratch: Path, chance: random.Random) -> None:
    try:
        plan = compile_project(project, profile=profile, scorecard=card)
    except UsageError as failure:
        if None in (profile, card) and "name a " in str(failure):  # there are several, and the caller has to choose
            return
        raise
    assert decode(encode(plan)) == plan
    data = scratch / "in"
    data.mkdir(parents=True)
    for number, scenario in enumerate(plan.scenarios):
        name = scenario if "/" not in scenario and "\x00" not in scenario and len(scenario) < 100 else f"s{number}"
        (data / f"m{number}__{name}.jsonl").write_bytes(_conversation(chance).encode("utf-8", "surrogatepass"))
        record = {"transcript_id": f"t{number}", "scenario_id": scenario, "model": "m", "turns": _turns(chance)}
        (data / f"batch{number}.jsonl").write_text(
            json.dumps(record) + "\n" + chance.choice(LINES) + "\n", encoding="utf-8"
        )
    summary = store.run(plan, [data], scratch / "out", judge=HostileReplies(VERDICTS, chance))
    exit_status(summary)
    for line in (scratch / "out" / "verdicts.jsonl").read_text(encoding="utf-8").split("\n")[:-1]:
        code = json.loads(line)["rationale_code"]
        if "exception" in str(code) and plan.semantics == "seed":  # the reference engine crashes on odd quotes
            raise Refused(f"a verifier crashed: {line}")
    items = [item for item in Reader(plan.scenarios).read([data]) if isinstance(item, Transcript)]
    scan_plan(project, plan, [item for item in items if not plan.scenarios[item.scenario_id].refused])


def _turns(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {"turn": n // 2 + 1, "role": ("user", "assistant")[n % 2], "content": chance.choice(SAID)}
        for n in range(chance.choice([1, 2, 3, 4, 8, 13, 40]))
    ]


def _conversation(chance: random.Random) -> str:
    lines = [json.dumps(turn) for turn in _turns(chance)]
    if chance.random() < 0.3:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(LINES))
    return "\n".join(lines) + "\n"


def _harness(paths: list[Path], project: Project | None, scratch: Path, chance: random.Random) -> None:
    plan = compile_run_plan(paths, project)
    assert decode_run_plan(encode_run_plan(plan)) == plan
    run_cost(plan, None, None)
    replies = {script.id: [chance.choice([*SAID, {"error": "x"}]) for _ in range(20)] for script in plan.scripts}
    play(plan, ScriptedAdapter(replies), scratch / "harness", attempts=1)


def _workflow(path: Path, scratch: Path, chance: random.Random) -> None:
    workflow = load_workflow(path)
    plan = compile_workflow(workflow)
    assert decode_workflow(encode_workflow(plan)) == plan
    draw(plan)
    limits = replace(plan.limits, retry_backoff_seconds=0.0, max_retries=min(plan.limits.max_retries, 2))
    plan = seal(replace(plan, limits=limits))
    settings = replace(settings_of(workflow), folder=str(scratch / "work"), on_created=(), on_t2_gate=(), queue_path="")
    talker = HostileReplies(ANSWERS, chance)
    (scratch / "work").mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("junit.xml", "<testsuite><testcase name='x'/></testsuite>"),
        ("ruff.json", chance.choice(["[]", "{", "3"])),
    ):
        (scratch / "work" / name).write_text(text, encoding="utf-8")
    with Store(scratch / "workflow.db") as database:
        result = engine.run(plan, database, settings, adapter=lambda _: talker)
        database.export(result.run_id)


def _score(path: Path, chance: random.Random) -> None:
    card = load_scorecard(str(path))
    settings = settings_of_run(card.plan, file=None, environment={}, flags={}, assignments=[])
    prepared = settings.prepared(card.plan)
    found = [each for each in check_labels(card, prepared) if each.severity is Severity.ERROR]
    if found:
        raise Refused(str(found))
    batch = path.with_suffix(".cases.jsonl")
    rows = [chance.choice(CASES) for _ in range(6)]
    rows = [
        {**row, "test_id": f"{n}"} if isinstance(row, dict) and "test_id" in row else row for n, row in enumerate(rows)
    ]
    batch.write_text(json_lines(rows) + "{\n", encoding="utf-8")
    try:
        run = score_batches(
            prepared,
            CaseReader(card.plan),
            [Batch("b", str(batch))],
            verbose=True,
            judge=HostileReplies(VERDICTS, chance),
        )
    except PlanError as failure:
        if "--semantic" in str(failure):
            return
        raise
    head = report_head(
        run, batch_id="b", concern_id="c", generated_at="2026-01-01T00:00:00+00:00", about={"configuration": {}}
    )
    for form in SUFFIXES:
        with batch.with_suffix(".report").open("wb") as file:
            writing.write(form, file, run, head, prepared.scorer(None, None), run.status())
    batch.unlink()
