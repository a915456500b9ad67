"""`workflow`: check, draw, run and trace workflows."""

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from logging import LogRecord
from pathlib import Path
from time import sleep
from typing import Any, Final

import msgspec

from rulewright.arguments.shared_options import LEDGER, again, how_to_continue
from rulewright.check.workflow_check import check, compile_workflow
from rulewright.commands.output import answer
from rulewright.commands.workflow_graph import draw
from rulewright.commands.workflow_settings import open_store, settings_of, state_of
from rulewright.commands.workflow_status import as_data, one_line, places, status_table, task_progress
from rulewright.diagnostics import Severity, in_order
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.judges import open_waiting_judge
from rulewright.linting.lint_settings import DEFAULT
from rulewright.linting.projects import lint_workflow
from rulewright.planning.questions import exact_price
from rulewright.render.human import render, summary
from rulewright.workflow import Workflow, load_workflow
from rulewright_runtime.english import plural, reason_of, ticked
from rulewright_runtime.errors import OutageError
from rulewright_runtime.processes.ancestry import here
from rulewright_runtime.report.text import moment
from rulewright_runtime.runs.live import JudgeSettings
from rulewright_runtime.strict_json import JsonMapping
from rulewright_runtime.terminal import complain, fit, safe_stream, say, width_for
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.adapters.agent_adapter import NO_ADAPTER
from rulewright_runtime.workflow.continuation import contradictions
from rulewright_runtime.workflow.engine import LOG, Result, carried_over, resumable
from rulewright_runtime.workflow.events import Event, narrate, sentence
from rulewright_runtime.workflow.run_context import utc_now
from rulewright_runtime.workflow.run_database import Store
from rulewright_runtime.workflow.run_records import OVER, StoredWorkflow
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.task_scoring import parse_score
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan, decode

EXIT: Final = {"COMPLETED": 0, "FAILED": 1, "WAITING": 2, "PAUSED": 2}


def run(args: argparse.Namespace) -> int:
    """Run the action; return the exit code."""
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "check": _check,
        "graph": _graph,
        "run": _run,
        "runs": _runs,
        "cancel": _cancel,
        "trace": _trace,
        "watch": _watch,
    }
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    report = lint_workflow(Path(workflow.path), DEFAULT)
    allowed_errors = (each for each in report.allowed if each.severity is Severity.ERROR)  # still refuse a run
    if found := in_order((*report.diagnostics, *allowed_errors)):
        print(render(found, width=width_for(sys.stdout)))
        say(summary(found, len(report.sources)))
    errors = sum(each.severity is Severity.ERROR for each in check(workflow))
    if not errors and workflow.document.tasks:
        for extra, why in _missing_extras(compile_workflow(workflow), settings_of(workflow)):
            complain(f"warning: {why}: `pip install 'rulewright[{extra}]'` before a run")
        say(f"{workflow.path}: {plural(len(workflow.document.tasks), 'task')}, no errors")
    return 1 if errors else 0


def _sources(task: TaskPlan) -> Iterator[tuple[str, ...]]:
    """The files of a task's metrics and of its gate's evidence."""
    for metric in task.confidence.metrics if task.confidence else ():
        yield metric.sources
    yield from task.gate.sources.values() if task.gate else ()


def _missing_extras(plan: WorkflowPlan, settings: RunSettings) -> Iterator[tuple[str, str]]:
    """The missing extras that a run needs, each with the reason."""
    sources = [path for task in plan.tasks for read in _sources(task) for path in read]
    reports = sorted({path for path in sources if path.endswith(".xml")})
    if reports and find_spec("defusedxml") is None:
        yield "workflow", f"`{reports[0]}` is XML, which needs defusedxml"
    if settings.signers and find_spec("cryptography") is None:
        yield "signing", "`hil.signers` needs cryptography to verify signatures"


def _graph(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    plan, at = compile_workflow(workflow), {}
    if args.run is not None:
        with open_store(workflow) as store:
            at = dict(places(store, _run_id(store, None if args.run == "latest" else args.run)))
    print(draw(plan, form=args.format, task=_known(plan, args.task), at=at), end="")
    return 0


def _run_id(store: Store, given: str | None) -> str:
    """The id of the given run, or of the latest one."""
    if given is None:
        runs = store.runs()
        if not runs:
            raise UsageError("no runs yet; `rulewright workflow run` starts one")
        return runs[-1].run_id
    return store.run(given).run_id


def _watch(args: argparse.Namespace) -> int:
    output, workflow = safe_stream(sys.stdout), load_workflow(args.file)
    with open_store(workflow, settings_of(workflow)) as store:
        run_id = _run_id(store, args.run_id)
        before: list[str] = []
        while True:
            run = store.run(run_id)
            tasks = task_progress(store, run_id, decode(run.plan))
            if args.format == "json":
                print(json.dumps(as_data(tasks, run), ensure_ascii=False))
                return _exit_code_of(store, run)
            lines = status_table(tasks, run, width_for(sys.stdout))
            if sys.stdout.isatty() and not args.once:
                output.clear()
            if lines[2:] != before:
                say(*lines)
            before = [] if sys.stdout.isatty() else lines[2:]
            if args.once or not store.is_run_active():
                return _exit_code_of(store, run)
            sleep(0.5)


def _exit_code_of(store: Store, run: StoredWorkflow) -> int:
    """The exit code of a run as it is stored; 3 where the database contradicts itself about a COMPLETED one."""
    if run.status != "COMPLETED" or store.is_run_active():
        return EXIT.get(run.status, 2)
    found = contradictions(store, run)
    unfinished = [name for name, (status, _) in store.records(run.run_id).items() if status != "COMPLETED"]
    found |= dict.fromkeys(unfinished, "the run is COMPLETED and the task is not")
    complain(*(f"error: the database contradicts itself about task `{name}`: {why}" for name, why in found.items()))
    return REFUSED if found else EXIT[run.status]


def _known(plan: WorkflowPlan, task: str | None) -> str | None:
    if task is not None and task not in [each.id for each in plan.tasks]:
        raise UsageError(f"the workflow has no task `{task}`; it has {ticked(t.id for t in plan.tasks[:10])}")
    return task


def _run(args: argparse.Namespace) -> int:
    _read_resume(args)
    workflow = load_workflow(args.file, off=("hil",) if args.no_hil else ())
    plan = compile_workflow(workflow)
    _known(plan, args.task)
    settings = settings_of(workflow)
    if args.dry_run:
        lines = _standing(args, plan, settings, workflow) if args.resume or state_of(workflow).is_file() else []
        say(*lines, *_rehearse(plan, settings))
        return 0
    for extra, why in _missing_extras(plan, settings):
        raise UsageError(f"{why}: `pip install 'rulewright[{extra}]'`")
    try:
        result = _execute(args, workflow, plan, settings)
    except OutageError as stopped:
        judge = args.judge or ""
        restart = f"continue with `{again(judge)}`"
        complain(f"stopped: {stopped}", f"help: {how_to_continue(stopped.cause, restart, judge)}")
        return REFUSED
    if args.format == "json":
        print(msgspec.json.encode(result).decode())
    else:
        _show_result(result, _flags(args.file))
    return _exit_code(result, args.task)


def _read_resume(args: argparse.Namespace) -> None:
    """Interpret the argument of `--resume`: a run, or a workflow file."""
    if isinstance(args.resume, str) and args.file is None and os.path.isfile(args.resume):
        args.file, args.resume = args.resume, True
    if args.changed and not args.resume:
        raise UsageError("`--changed` needs `--resume`: a new run has no results to keep")


def _flags(file: str | None, option: str = "") -> str:
    """The option with which a command finds the same workflow."""
    return f"{option} {shlex.quote(file)}" if file else ""


def _exit_code(result: Result, task: str | None) -> int:
    """The exit code of the run, or of the task of `--task`, which has failed if one of its dependencies has."""
    if task is not None and result.tasks.get(task) == "COMPLETED":
        return 0
    if task is not None and result.status == "PAUSED" and "FAILED" in result.tasks.values():
        return 1
    return EXIT[result.status]


def _execute(args: argparse.Namespace, workflow: Workflow, plan: WorkflowPlan, settings: RunSettings) -> Result:
    if any(adapter.type == "python" for adapter in settings.adapters.values()):
        sys.path.insert(0, os.path.abspath(workflow.root))
    with ExitStack() as stack:
        store = stack.enter_context(open_store(workflow, settings, create=not args.resume))
        stack.callback(safe_stream(sys.stderr).show_progress, "")
        complain(*_unfinished(args, plan, settings, store))
        if args.format == "human":  # `_Publisher` shows every event
            LOG.addFilter(_is_not_an_event)
            stack.callback(LOG.removeFilter, _is_not_an_event)
        return engine.run(
            plan,
            store,
            settings,
            resume=args.resume,
            changed=args.changed,
            only=args.task,
            one_step=args.step,
            patient=args.wait,
            judge=open_waiting_judge(args.judge, stack, parse_score, _judged_with(workflow)) if args.judge else None,
            publish=_Publisher(args, store, plan),
        )


def _judged_with(workflow: Workflow) -> Callable[[str], JudgeSettings]:
    """How a model is called as judge; a note says if its cost is unknown to the run's budget."""

    def settings(model: str) -> JudgeSettings:
        price = workflow.pricing.get(model)
        if price is None:
            complain(f"note: `{model}` has no price in the project's `pricing`: the cost budget can't count its calls")
        return JudgeSettings(LEDGER, price=exact_price(price))

    return settings


def _standing(args: argparse.Namespace, plan: WorkflowPlan, settings: RunSettings, workflow: Workflow) -> list[str]:
    """Lines about the run that a dry run would continue, and about those that it would leave unfinished."""
    with open_store(workflow, settings) as store:
        if not args.resume or args.changed:
            return list(_unfinished(args, plan, settings, store))
        run = resumable(plan, store, args.resume)
        done = [status for status, _ in store.records(run.run_id).values()].count("COMPLETED")
        stands = f"{run.status} since {moment(run.started_at)}, {done} of {plural(len(plan.tasks), 'task')} COMPLETED"
        return [f"would continue {run.run_id}: {stands}"]


def _unfinished(args: argparse.Namespace, plan: WorkflowPlan, settings: RunSettings, store: Store) -> Iterator[str]:
    """Lines about the results that a changed workflow keeps, and about the runs that a new one leaves unfinished."""
    if args.changed:
        run_id, carried = carried_over(plan, store, settings, args.resume)
        yield f"{run_id} continues with the changed workflow"
        yield from (f"  kept          {name:<16} {status}" for name, status in carried.kept.items())
        yield from (f"  restarted     {name:<16} {why}" for name, why in carried.restarted.items())
        yield from (f"  removed       {name}" for name in carried.removed)
    for run in () if args.resume else store.runs(plan.name):
        if run.status not in OVER:
            yield (
                f"note: {run.run_id} is {run.status}:"
                f" `rulewright workflow run{_flags(args.file)} --resume {run.run_id}` continues it,"
                f" `rulewright workflow cancel {run.run_id}{_flags(args.file, ' --file')}` cancels it"
            )


def _is_not_an_event(record: LogRecord) -> bool:
    return not getattr(record, "is_event", False)


class _Publisher:
    """The receiver of events: a line each on standard error, and the file of `--events`. If the file can't be written,
    its lines go to standard error and the run continues."""

    def __init__(self, args: argparse.Namespace, store: Store, plan: WorkflowPlan) -> None:
        self._store, self._plan, self._path = store, plan, args.events
        self._talks, self._begun, self._failed = args.format == "human", False, False
        self._screen = safe_stream(sys.stderr)
        self._shows = self._talks and self._screen.isatty()

    def __call__(self, events: Sequence[Event]) -> None:
        if not events:
            return
        if self._shows:
            self._screen.show_progress("")
        if self._talks:
            complain(*(f"{event.task_id or '-':<16} {sentence(event)}" for event in events))
        if self._path:
            self._log(events)
        if self._shows:
            run_id = events[-1].run_id
            progress = one_line(task_progress(self._store, run_id, self._plan), self._store.run(run_id))
            self._screen.show_progress(fit(progress, 79))

    def _log(self, events: Sequence[Event]) -> None:
        # The first write contains the whole run, so that the file of a resumed run has no gap.
        lines = [event.as_line() for event in (events if self._begun else self._store.events(events[0].run_id))]
        mode, self._begun = "a" if self._begun else "w", True
        if not self._failed:
            try:
                with open(self._path, mode, encoding="utf-8") as stream:
                    stream.writelines(f"{line}\n" for line in lines)
                return
            except OSError as error:
                self._failed, why = True, reason_of(error)
                complain(f"warning: the event log `{self._path}` can't be written: {why}; events go to standard error")
        complain(*lines)


def _show_result(result: Result, file: str) -> None:
    for name, status in result.tasks.items():
        say(f"{name:<16} {status}" + (f": {result.reasons[name]}" if result.reasons.get(name) else ""))
    say(f"{result.run_id} is {result.status}")
    for item in result.waiting:
        say(f"waiting for a person: {item.id} ({item.trigger}): {item.reason}")
    if result.waiting:
        say("decide with `rulewright hil show|resolve|reject ITEM` or `rulewright hil serve`,")
        say(f"then continue with `rulewright workflow run{file} --resume {result.run_id}`")
    elif result.status == "PAUSED":
        say(f"continue with `rulewright workflow run{file} --resume {result.run_id}`")


def _rehearse(plan: WorkflowPlan, settings: RunSettings) -> list[str]:
    """Lines about what a run would do, in order, with the agents; nothing is called."""
    lines = [f"{plan.name}: {plural(len(plan.tasks), 'task')}, at most {plan.limits.max_concurrent_tasks} in parallel"]
    for number, group in enumerate(plan.groups, 1):
        lines.append(f"{number}. {', '.join(group)}")
        for name in group:
            task = plan.task(name)
            lines += [f"   {name}: {who}" for who in _asked(task, settings)]
            if task.overlays:
                lines.append(f"   {name}: overlays: {' > '.join(task.overlays)}")
            lines += [f"   {name}: warning: {warning}" for warning in task.warnings]
    return lines


def _asked(task: TaskPlan, settings: RunSettings) -> list[str]:
    lines = []
    for role, agent in task.roles:
        adapter = settings.adapter(agent)
        lines.append(f"{role} {agent}, {f'adapter {adapter.type}' if adapter else NO_ADAPTER}")
    return lines


def _runs(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    with open_store(workflow, settings_of(workflow)) as store:
        found = [_about_run(store, run.run_id) for run in store.runs()]
    answer(args.format, found, map(_run_line, found) if found else ["no runs yet"])
    return 0


def _run_line(run: JsonMapping) -> str:
    done = f"{run['completed']} of {plural(run['tasks'], 'task')} COMPLETED"
    waiting = f", waiting: {', '.join(run['waiting'])}" if run["waiting"] else ""
    cost = f", {run['cost_usd']:.4f} USD" if run["cost_usd"] else ""
    return (
        f"{run['run_id']:<8} {run['status']:<9} {run['workflow']}  {moment(run['started_at'])}  {done}{cost}{waiting}"
    )


def _about_run(store: Store, run_id: str) -> dict[str, Any]:
    run = store.run(run_id)
    states = [status for status, _ in store.records(run_id).values()]
    return {
        "run_id": run_id,
        "status": run.status,
        "workflow": run.workflow,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "tasks": len(states),
        "completed": states.count("COMPLETED"),
        "cost_usd": run.cost_usd,
        "tokens_used": run.tokens_used,
        "waiting": [item.id for item in store.items(run_id, waiting=True)],
    }


def _cancel(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    with open_store(workflow, settings_of(workflow)) as store, store.run_lock() as ours:
        if not ours:
            raise UsageError(f"a run is using `{store.path}`: stop it first")
        withdrawn = store.items(args.run_id, waiting=True)
        store.cancel(args.run_id, args.reason, here("command").user, utc_now())
    say(f"{args.run_id} is CANCELLED")
    for item in withdrawn:
        say(f"withdrawn: {item.id}")
    return 0


def _trace(args: argparse.Namespace) -> int:
    with open_store(load_workflow(args.file)) as store:
        run_id = _run_id(store, args.run_id)
        if args.format == "json":
            print(json.dumps(store.export(run_id), ensure_ascii=False, indent=2))
        elif args.format == "jsonl":
            for event in store.events(run_id):
                print(event.as_line())
        else:
            say(*narrate(store.events(run_id)))
    return 0
