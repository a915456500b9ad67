"""Check, draw, run and retell workflows.

    rulewright workflow check [FILE]          find mistakes before anything runs
    rulewright workflow graph [FILE]          the tasks as Mermaid or DOT; --task ID shows its state machine
    rulewright workflow run [FILE]            run it; --resume goes on with the latest unfinished run
    rulewright workflow trace [RUN]           what happened, as a story, JSON lines or the whole run as JSON

FILE defaults to the project's `workflow.file`, RUN to the latest run. Agents, folders and the database of runs come
from the project file `rulewright.yaml`.

exit codes of run: 0 completed, 1 failed, 2 waiting for a person or paused, 3 refused or bad usage; with --task they
speak of that task
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from rulewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.workflows.load import Workflow
    from rulewright_runtime.workflow.engine import Result
    from rulewright_runtime.workflow.events import Event
    from rulewright_runtime.workflow.plan import WorkflowPlan
    from rulewright_runtime.workflow.settings import Settings
    from rulewright_runtime.workflow.store import Store

BAD_USAGE = 3
EXIT: Final = {"COMPLETED": 0, "FAILED": 1, "WAITING": 2, "PAUSED": 2}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in (
        ("check", "find mistakes before anything runs"),
        ("graph", "draw the tasks, or the state machine of one"),
        ("run", "run the workflow, or go on with a run"),
        ("trace", "tell what happened in a run"),
    ):
        action = actions.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        if name == "trace":
            action.add_argument("run_id", nargs="?", metavar="RUN", help="a run such as run-1 (default: the latest)")
            action.add_argument("--file", metavar="FILE", help="the workflow (default: the project's)")
            action.add_argument("--format", choices=("story", "jsonl", "json"), default="story")
        else:
            action.add_argument("file", nargs="?", metavar="FILE", help="the workflow (default: the project's)")
        if name == "graph":
            action.add_argument("--format", choices=("mermaid", "dot"), default="mermaid")
            action.add_argument("--task", metavar="ID", help="the state machine of this task")
        if name == "run":
            _add_run_options(action)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--resume", action="store_true", help="go on with the latest unfinished run")
    parser.add_argument("--run", metavar="RUN", help="with --resume: go on with this run")
    parser.add_argument("--task", metavar="ID", help="bring only this task to its end, and what it depends on")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("--step", action="store_true", help="do one activity, then stop")
    parser.add_argument("--wait", action="store_true", help="wait for people instead of ending when all wait for them")
    parser.add_argument("--events", metavar="FILE", help="write every event to FILE as a line of JSON")
    parser.add_argument("--format", choices=("human", "json"), default="human", help="json prints how the run stands")


def run(args: argparse.Namespace) -> int:
    """Do what the action says."""
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "check": _check,
        "graph": _graph,
        "run": _run,
        "trace": _trace,
    }
    return actions[args.action](args)


def _check(args: argparse.Namespace) -> int:
    from rulewright.diagnostics import Severity
    from rulewright.render.human import render, width_for
    from rulewright.workflows.load import check, load_workflow

    workflow = load_workflow(args.file)
    found = check(workflow)
    if found:
        print(render(found, width=width_for(sys.stdout)), end="")
    errors = sum(each.severity is Severity.ERROR for each in found)
    if not errors:
        print(f"{workflow.path}: {len(workflow.document.tasks)} tasks, nothing stands in the way of a run")
    return 1 if errors else 0


def _graph(args: argparse.Namespace) -> int:
    from rulewright.workflows.graph import draw
    from rulewright.workflows.load import compile_workflow, load_workflow

    plan = compile_workflow(load_workflow(args.file))
    print(draw(plan, form=args.format, task=_known(plan, args.task)), end="")
    return 0


def _known(plan: WorkflowPlan, task: str | None) -> str | None:
    if task is not None and task not in [each.id for each in plan.tasks]:
        raise UsageError(f"the workflow has no task `{task}`; it has {', '.join(f'`{t.id}`' for t in plan.tasks[:10])}")
    return task


def _run(args: argparse.Namespace) -> int:
    from rulewright.workflows.load import compile_workflow, load_workflow
    from rulewright.workflows.settings import settings_of

    if args.run and not args.resume:
        raise UsageError("`--run` names the run that `--resume` goes on with")
    workflow = load_workflow(args.file)
    plan = compile_workflow(workflow)
    _known(plan, args.task)
    settings = settings_of(workflow)
    if args.dry_run:
        print("\n".join(_rehearse(plan, settings)))
        return 0
    result = _execute(args, workflow, plan, settings)
    if args.format == "json":
        import msgspec

        print(msgspec.json.encode(result).decode())
    else:
        _tell_result(result)
    return _exit_code(result, args.task)


def _exit_code(result: Result, task: str | None) -> int:
    """How the run ended, or the one task that was asked for: it has failed where what it depends on has."""
    if task is not None and result.tasks.get(task) == "COMPLETED":
        return 0
    if task is not None and result.status == "PAUSED" and "FAILED" in result.tasks.values():
        return 1
    return EXIT[result.status]


def _execute(args: argparse.Namespace, workflow: Workflow, plan: WorkflowPlan, settings: Settings) -> Result:
    from rulewright.workflows.settings import state_of
    from rulewright_runtime.workflow import engine
    from rulewright_runtime.workflow.store import Store

    if any(adapter.type == "python" for adapter in settings.adapters.values()):
        sys.path.insert(0, os.path.abspath(workflow.root))
    with Store(state_of(workflow), queue_path=settings.queue_path) as store:
        return engine.run(
            plan,
            store,
            settings,
            resume=args.run or args.resume,
            only=args.task,
            one_step=args.step,
            patient=args.wait,
            tell=_teller(args, store),
        )


def _teller(args: argparse.Namespace, store: Store) -> Callable[[Sequence[Event]], None]:
    """What hears the events: a line each on standard error, and the file of `--events`."""
    from rulewright_runtime.workflow.story import sentence

    started: set[str] = set()

    def tell(events: Sequence[Event]) -> None:
        for event in events:
            if args.format == "human":
                print(f"{event.task_id or '-':<16} {sentence(event)}", file=sys.stderr)
        if args.events and events:
            fresh = not started
            started.add(args.events)
            # The first time the whole run is written, so that the file of a resumed run has no gap.
            lines = store.events(events[0].run_id) if fresh else events
            with open(args.events, "w" if fresh else "a", encoding="utf-8") as stream:
                stream.writelines(f"{event.as_line()}\n" for event in lines)

    return tell


def _tell_result(result: Result) -> None:
    from rulewright_runtime.workflow.terminal import one_line

    for name, status in result.tasks.items():
        print(one_line(f"{name:<16} {status}" + (f": {result.reasons[name]}" if result.reasons.get(name) else "")))
    print(f"{result.run_id} is {result.status}")
    for item in result.waiting:
        print(f"waiting for a person: {item.id} ({item.trigger}): {item.reason}")
    if result.waiting:
        print("decide with `rulewright hil show|resolve|reject ITEM` or `rulewright hil serve`,")
        print("then go on with `rulewright workflow run --resume`")
    elif result.status == "PAUSED":
        print("go on with `rulewright workflow run --resume`")


def _rehearse(plan: WorkflowPlan, settings: Settings) -> list[str]:
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


def _asked(task: Any, settings: Settings) -> list[str]:
    roles = [("agent", task.agent)]
    if task.pair is not None:
        roles = [("driver", task.pair.driver_agent), ("challenger", task.pair.challenger_agent)]
    elif task.review is not None:
        roles = [("coder", task.review.coder_agent), ("reviewer", task.review.reviewer_agent)]
    if task.confidence is not None:
        roles += [("evaluator", m.evaluator_agent) for m in task.confidence.metrics if m.evaluator_agent]
    lines = []
    for role, agent in roles:
        adapter = settings.adapter(agent)
        lines.append(f"{role} {agent} through {adapter.type if adapter else 'nothing: no adapter answers for it'}")
    return lines


def _trace(args: argparse.Namespace) -> int:
    from rulewright.workflows.load import load_workflow
    from rulewright.workflows.settings import state_of
    from rulewright_runtime.workflow.store import Store
    from rulewright_runtime.workflow.story import story

    state = state_of(load_workflow(args.file))
    if not state.is_file():
        raise UsageError(f"there is no database of runs at `{state}`: nothing has run yet")
    with Store(state) as store:
        run_id = args.run_id
        if run_id is None:
            runs = store.runs()
            if not runs:
                raise UsageError("nothing has run yet")
            run_id = runs[-1].run_id
        store.run(run_id)
        if args.format == "json":
            print(json.dumps(store.export(run_id), ensure_ascii=False, indent=2))
        elif args.format == "jsonl":
            for event in store.events(run_id):
                print(event.as_line())
        else:
            for line in story(store.events(run_id)):
                print(line)
    return 0
