"""`workflow`: check, draw, run and trace workflows."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from logging import LogRecord
from time import sleep
from typing import Any, Final

import msgspec

from rulewright.arguments.shared_options import again
from rulewright.check.workflow_check import check, compile_workflow
from rulewright.commands.workflow_graph import draw
from rulewright.commands.workflow_settings import open_store, settings_of, state_of
from rulewright.commands.workflow_status import as_data, one_line, places, shown, standing
from rulewright.diagnostics import Severity
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.judges import open_waiting_judge
from rulewright.render.human import render
from rulewright.workflow import Workflow, load_workflow
from rulewright_runtime.errors import OutageError, RuntimeFailure
from rulewright_runtime.terminal import complain, fit, safe_stream, say, width_for
from rulewright_runtime.workflow import engine
from rulewright_runtime.workflow.engine import LOG, Result, carried_over, resumable
from rulewright_runtime.workflow.events import Event
from rulewright_runtime.workflow.narration import narrate, sentence
from rulewright_runtime.workflow.processes import here
from rulewright_runtime.workflow.run_context import utc_now
from rulewright_runtime.workflow.run_database import OVER, Store
from rulewright_runtime.workflow.run_settings import RunSettings
from rulewright_runtime.workflow.workflow_plan import TaskPlan, WorkflowPlan, decode

EXIT: Final = {"COMPLETED": 0, "FAILED": 1, "WAITING": 2, "PAUSED": 2}


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
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
    found = check(workflow)
    if found:
        print(render(found, width=width_for(sys.stdout)), end="")
    errors = sum(each.severity is Severity.ERROR for each in found)
    if not errors and workflow.document.tasks:
        for extra, why in _missing_extras(workflow):
            complain(f"warning: {why}: install `rulewright[{extra}]` before a run")
        say(f"{workflow.path}: {len(workflow.document.tasks)} tasks, nothing stands in the way of a run")
    return 1 if errors else 0


def _sources(task: TaskPlan) -> Iterator[tuple[str, ...]]:
    """The files that a task's metrics and the evidence of its gate are read from."""
    for metric in task.confidence.metrics if task.confidence else ():
        yield metric.sources
    yield from task.gate.sources.values() if task.gate else ()


def _missing_extras(workflow: Workflow) -> Iterator[tuple[str, str]]:
    """The extras that a run needs and that are not installed, each with what needs it."""
    plan = compile_workflow(workflow)
    sources = [path for task in plan.tasks for read in _sources(task) for path in read]
    reports = sorted({path for path in sources if path.endswith(".xml")})
    if reports and find_spec("defusedxml") is None:
        yield "workflow", f"`{reports[0]}` is XML, which defusedxml reads"
    if settings_of(workflow).signers and find_spec("cryptography") is None:
        yield "signing", "`hil.signers` sign their decisions, which cryptography verifies"


def _graph(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    plan, at = compile_workflow(workflow), {}
    if args.run is not None:
        with open_store(workflow) as store:
            at = dict(places(store, _run_id(store, None if args.run == "latest" else args.run)))
    print(draw(plan, form=args.format, task=_known(plan, args.task), at=at), end="")
    return 0


def _run_id(store: Store, given: str | None) -> str:
    """The run of that name, else the latest."""
    if given is None:
        runs = store.runs()
        if not runs:
            raise UsageError("nothing has run yet")
        return runs[-1].run_id
    return store.run(given).run_id


def _watch(args: argparse.Namespace) -> int:
    output = safe_stream(sys.stdout)
    with open_store(load_workflow(args.file)) as store:
        run_id = _run_id(store, args.run_id)
        before: list[str] = []
        while True:
            run = store.run(run_id)
            tasks = standing(store, run_id, decode(run.plan))
            if args.format == "json":
                print(json.dumps(as_data(tasks, run), ensure_ascii=False))
                return EXIT.get(run.status, 2)
            lines = shown(tasks, run, min(width_for(sys.stdout), 100))
            if sys.stdout.isatty() and not args.once:
                output.clear()
            if lines[2:] != before:
                say(*lines)
            before = [] if sys.stdout.isatty() else lines[2:]
            if args.once or not store.is_run_active():
                return EXIT.get(run.status, 2)
            sleep(0.5)


def _known(plan: WorkflowPlan, task: str | None) -> str | None:
    if task is not None and task not in [each.id for each in plan.tasks]:
        raise UsageError(f"the workflow has no task `{task}`; it has {', '.join(f'`{t.id}`' for t in plan.tasks[:10])}")
    return task


def _run(args: argparse.Namespace) -> int:
    _read_resume(args)
    workflow = load_workflow(args.file, off=("hil",) if args.no_hil else ())
    plan = compile_workflow(workflow)
    _known(plan, args.task)
    settings = settings_of(workflow)
    if args.dry_run:
        told = _carried(workflow, plan, settings, args.resume) if args.changed else None
        say(*(told or _which_run(args, workflow, plan, settings)), *_rehearse(plan, settings))
        return 0
    try:
        result = _execute(args, workflow, plan, settings)
    except OutageError as stopped:
        complain(f"stopped: {stopped}", f"help: continue with `{again()}`")
        return REFUSED
    if args.format == "json":
        print(msgspec.json.encode(result).decode())
    else:
        _show_result(result, _flags(args.file))
    return _exit_code(result, args.task)


def _read_resume(args: argparse.Namespace) -> None:
    """`--resume` takes a run or none; a file behind it is the workflow."""
    if isinstance(args.resume, str) and args.file is None and os.path.isfile(args.resume):
        args.file, args.resume = args.resume, True
    if args.run and not args.resume:
        raise UsageError("`--run` names the run that `--resume` goes on with")
    if args.changed and not args.resume:
        raise UsageError("`--changed` belongs to `--resume`: a new run has nothing to carry over")
    args.resume = args.run or args.resume


def _flags(file: str | None, option: str = "") -> str:
    """What a command needs to find the same workflow again."""
    return f"{option} {shlex.quote(file)}" if file else ""


def _exit_code(result: Result, task: str | None) -> int:
    """How the run ended, or the one task that was asked for: it has failed where what it depends on has."""
    if task is not None and result.tasks.get(task) == "COMPLETED":
        return 0
    if task is not None and result.status == "PAUSED" and "FAILED" in result.tasks.values():
        return 1
    return EXIT[result.status]


def _execute(args: argparse.Namespace, workflow: Workflow, plan: WorkflowPlan, settings: RunSettings) -> Result:
    if any(adapter.type == "python" for adapter in settings.adapters.values()):
        sys.path.insert(0, os.path.abspath(workflow.root))
    with ExitStack() as stack:
        store = stack.enter_context(open_store(workflow, settings, create=True))
        stack.callback(safe_stream(sys.stderr).show_progress, "")
        _announce(args, workflow, plan, settings, store)
        if args.format == "human":  # `_publisher` shows every event
            LOG.addFilter(_is_no_event)
            stack.callback(LOG.removeFilter, _is_no_event)
        return engine.run(
            plan,
            store,
            settings,
            resume=args.resume,
            changed=args.changed,
            only=args.task,
            one_step=args.step,
            patient=args.wait,
            judge=open_waiting_judge(args.judge, stack) if args.judge else None,
            publish=_publisher(args, store, plan),
        )


def _announce(
    args: argparse.Namespace, workflow: Workflow, plan: WorkflowPlan, settings: RunSettings, store: Store
) -> None:
    """Say what a changed workflow means for a run, or which runs a new one leaves unfinished."""
    if args.changed:
        complain(*_carried(workflow, plan, settings, args.resume, store))
    elif not args.resume:
        for run in store.runs(plan.name):
            if run.status not in OVER:
                command = f"rulewright workflow run{_flags(args.file)} --resume {run.run_id}"
                complain(
                    f"note: {run.run_id} is {run.status}: `{command}` goes on with it,"
                    f" `rulewright workflow cancel {run.run_id}{_flags(args.file, ' --file')}` gives it up"
                )


def _carried(
    workflow: Workflow, plan: WorkflowPlan, settings: RunSettings, resume: bool | str, store: Store | None = None
) -> list[str]:
    """What a run carries over, in lines."""
    if store is None:
        with open_store(workflow, settings) as opened:
            return _carried(workflow, plan, settings, resume, opened)
    run_id, carried = carried_over(plan, store, settings, resume)
    lines = [f"{run_id} goes on with the workflow as it is now"]
    lines += [f"  carried over  {name:<16} {status}" for name, status in carried.kept.items()]
    lines += [f"  anew          {name:<16} {why}" for name, why in carried.anew.items()]
    lines += [f"  removed       {name}" for name in carried.removed]
    return lines


def _is_no_event(record: LogRecord) -> bool:
    return not getattr(record, "is_event", False)


def _publisher(args: argparse.Namespace, store: Store, plan: WorkflowPlan) -> Callable[[Sequence[Event]], None]:
    """What hears the events: a line each on standard error, and the file of `--events`."""
    log = _EventLog(args.events, store) if args.events else None
    screen = safe_stream(sys.stderr)
    shows = args.format == "human" and screen.isatty()

    def publish(events: Sequence[Event]) -> None:
        if shows and events:
            screen.show_progress("")
        for event in events:
            if args.format == "human":
                complain(f"{event.task_id or '-':<16} {sentence(event)}")
        if log is not None and events:
            log.write(events)
        if shows and events:
            run_id = events[-1].run_id
            screen.show_progress(fit(one_line(standing(store, run_id, plan), store.run(run_id)), 79))

    return publish


class _EventLog:
    """The file of `--events`. Where it can't be written the events go to standard error, and the run goes on."""

    def __init__(self, path: str, store: Store) -> None:
        self._path, self._store = path, store
        self._begun = self._failed = False

    def write(self, events: Sequence[Event]) -> None:
        # The first time the whole run is written, so that the file of a resumed run has no gap.
        lines = events if self._begun else self._store.events(events[0].run_id)
        if not self._failed:
            try:
                with open(self._path, "a" if self._begun else "w", encoding="utf-8") as stream:
                    stream.writelines(f"{event.as_line()}\n" for event in lines)
            except OSError as error:
                self._failed = True
                why = (error.strerror or str(error)).lower()
                complain(f"warning: the event log `{self._path}` can't be written: {why}; events go to standard error")
        self._begun = True
        if self._failed:
            complain(*(event.as_line() for event in lines))


def _show_result(result: Result, file: str) -> None:
    for name, status in result.tasks.items():
        say(f"{name:<16} {status}" + (f": {result.reasons[name]}" if result.reasons.get(name) else ""))
    say(f"{result.run_id} is {result.status}")
    for item in result.waiting:
        say(f"waiting for a person: {item.id} ({item.trigger}): {item.reason}")
    if result.waiting:
        say("decide with `rulewright hil show|resolve|reject ITEM` or `rulewright hil serve`,")
        say(f"then go on with `rulewright workflow run{file} --resume {result.run_id}`")
    elif result.status == "PAUSED":
        say(f"go on with `rulewright workflow run{file} --resume {result.run_id}`")


def _which_run(args: argparse.Namespace, workflow: Workflow, plan: WorkflowPlan, settings: RunSettings) -> list[str]:
    """The unfinished run that would be gone on with, or that stands beside a new one."""
    if not args.resume and not state_of(workflow).is_file():
        return []
    with open_store(workflow, settings) as store:
        try:
            run = resumable(plan, store, args.resume or True)
        except RuntimeFailure:
            if args.resume:
                raise
            return []
        done = [status for status, _ in store.records(run.run_id).values()].count("COMPLETED")
    stands = f"{run.status} since {run.started_at}, {done} of {len(plan.tasks)} tasks COMPLETED"
    if args.resume:
        return [f"would go on with {run.run_id}: {stands}"]
    return [f"would begin a new run; {run.run_id} is unfinished and `--resume` goes on with it: {stands}"]


def _rehearse(plan: WorkflowPlan, settings: RunSettings) -> list[str]:
    """What a run would do, in order, and who would be asked; nothing is called."""
    lines = [f"{plan.name}: {len(plan.tasks)} tasks, at most {plan.limits.max_concurrent_tasks} side by side"]
    for number, group in enumerate(plan.groups, 1):
        lines.append(f"{number}. {', '.join(group)}")
        for name in group:
            task = plan.task(name)
            lines += [f"   {name}: {who}" for who in _asked(task, settings)]
            if task.overlays:
                lines.append(f"   {name}: around the work: {' > '.join(task.overlays)}")
            lines += [f"   {name}: warning: {warning}" for warning in task.warnings]
    return lines


def _asked(task: TaskPlan, settings: RunSettings) -> list[str]:
    lines = []
    for role, agent in task.roles:
        adapter = settings.adapter(agent)
        lines.append(f"{role} {agent} through {adapter.type if adapter else 'nothing: no adapter answers for it'}")
    return lines


def _runs(args: argparse.Namespace) -> int:
    workflow = load_workflow(args.file)
    with open_store(workflow, settings_of(workflow)) as store:
        found = [_about_run(store, run.run_id) for run in store.runs()]
    if args.format == "json":
        print(json.dumps(found, ensure_ascii=False))
        return 0
    for each in found:
        done = f"{each['completed']} of {each['tasks']} tasks COMPLETED"
        waiting = f", waiting: {', '.join(each['waiting'])}" if each["waiting"] else ""
        cost = f", {each['cost_usd']:.4f} USD" if each["cost_usd"] else ""
        say(f"{each['run_id']:<8} {each['status']:<9} {each['workflow']}  {each['started_at']}  {done}{cost}{waiting}")
    return 0


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
