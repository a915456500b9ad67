"""`plan` and `questions`: show what a scan would do and cost, and write its questions for a judge."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rulewright.arguments.shared_options import LEDGER
from rulewright.check.project_check import compile_project
from rulewright.commands.chosen_project import compile_chosen, find_project
from rulewright.commands.output import answer, hand_over, writing_to
from rulewright.commands.running import reader_of, refusals
from rulewright.errors import UsageError
from rulewright.exit_codes import REFUSED
from rulewright.judges import answered_by_ledger, independence_of
from rulewright.planning.fusion import fusion_lines, fusion_of
from rulewright.planning.profiles import compare_profiles, comparison_text
from rulewright.planning.questions import as_batch, as_line, bound_of, questions
from rulewright.planning.scan import cost_report, scan_plan
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.plan.scan import NO_SCENARIO, Plan
from rulewright_runtime.report.text import percent
from rulewright_runtime.terminal import complain
from rulewright_runtime.transcripts.completeness import ScriptedScenario
from rulewright_runtime.transcripts.messages import Transcript

MOST_WARNINGS: Final = 10  # about incomplete transcripts


def run(args: argparse.Namespace) -> int:
    """Plan, show the figures and write the files if --out asks for them; return the exit code. Raises UsageError."""
    if not args.transcripts and not args.show_fusion:
        raise UsageError("name the transcripts, or use `--show-fusion`, which reads none")
    if args.compare is not None:
        return _compare(args)
    project, plan = compile_chosen(args)
    if args.show_fusion:
        found = fusion_of(plan)
        answer(args.format, found, fusion_lines(found))
        return 0
    transcripts, refused = read_transcripts(plan, args)
    model = args.price_of or project.judge_model(args.judge)
    planned = scan_plan(project, plan, transcripts, judge_model=model)
    planned["bound"] = bound_of(plan, transcripts, project.pricing.get(model) if model else None)
    ledger = Path(args.ledger or project.root / LEDGER)
    planned["ledger"] = answered_by_ledger(args.judge or project.judge_source or "", ledger, plan, transcripts)
    written = _write(args.out, {"scan_plan.json": planned, "cost_report.json": cost_report(planned)})
    answer(args.format, planned, [*_figures(planned), *written])
    return REFUSED if refused else 0


def _compare(args: argparse.Namespace) -> int:
    """Compare two profiles over the same transcripts; return the exit code."""
    project = find_project(args.project)
    first, second = args.compare
    transcripts, refused = read_transcripts(compile_project(project, profile=first, scorecard=args.scorecard), args)
    comparison = compare_profiles(
        project, first, second, transcripts, scorecard=args.scorecard, judge_model=args.price_of
    )
    written = _write(args.out, {"comparison.json": comparison})
    answer(args.format, comparison, [*comparison_text(comparison).split("\n"), *written])
    return REFUSED if refused else 0


def read_transcripts(plan: Plan, args: argparse.Namespace) -> tuple[list[Transcript], list[InputError]]:
    """The transcripts that a scan would judge, and the refused inputs, which are printed. So are incomplete
    transcripts, on which a judge would be asked in vain."""
    transcripts, refused = [], []
    reader = reader_of(args, plan)
    for item in reader.read(args.transcripts):
        if isinstance(item, InputError):
            refused.append(item)
        elif reason := plan.scenarios.get(item.scenario_id, NO_SCENARIO).refused:
            refused.append(InputError(reason, item.path, item.line))
        else:
            transcripts.append(item)
    complain(*refusals([str(error) for error in refused]), *reader.notes())
    complain(*_limited([*_incomplete(plan, transcripts)]))
    return transcripts, refused


def _incomplete(plan: Plan, transcripts: Iterable[Transcript]) -> Iterator[str]:
    for item in transcripts:
        gaps = ScriptedScenario(plan.scenarios.get(item.scenario_id), plan.empty_reply).of_conversation(item).gaps
        if gaps:
            yield f"warning: nothing can pass in `{item.id}`: {'; '.join(map(str, gaps))}"


def _limited(warnings: list[str]) -> list[str]:
    """The first warnings, and the number of the others."""
    if len(warnings) <= MOST_WARNINGS:
        return warnings
    more = len(warnings) - MOST_WARNINGS
    return [*warnings[:MOST_WARNINGS], f"warning: nothing can pass in {plural(more, 'further chat')}"]


def _write(out: str | None, contents: Mapping[str, Mapping[str, object]]) -> list[str]:
    """Write files that belong together into the folder `out`, if there is one; return the line that names them."""
    if out is None:
        return []
    with writing_to(out), lock_folder(folder := Path(out)):
        for name, content in contents.items():
            write_whole(folder / name, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return [f"written        {', '.join(str(folder / name) for name in contents)}"]


def _answered(first: int, answered: int) -> str:
    return f"answers {answered} of the {plural(first, 'question')} asked first"


_NO_PRICE: Final = "no price for the judge's model"
_NO_TOKENS: Final = "the profile has no `input_tokens_per_llm_call`"


def _figures(planned: Mapping[str, Any]) -> Sequence[str]:
    calls, cost = planned["llm_calls"], planned["estimated_cost_usd"]
    priced = planned["bound"]["cost_usd"] is not None
    unknown = f"unknown ({_NO_TOKENS if priced else _NO_PRICE})"
    between = f" (between {calls['lower']} and {calls['upper']})" if calls["lower"] < calls["upper"] else ""
    price = "nothing" if calls["upper"] == 0 else unknown if cost is None else f"about {cost:.4f} USD (estimate)"
    return (
        f"profile        {planned['profile']}",
        f"transcripts    {planned['transcript_count']}",
        f"check runs     {planned['eligible_checks']}",
        f"windows        {_windows(**planned['windows'])}",
        f"judge calls    {planned['planned_llm_calls']}{between}",
        *(f"ledger         {_answered(**found)}" for found in [planned["ledger"]] if found),
        f"judge model    {planned['judge_model'] or 'none'}",
        f"cost           {price}",
        *_bound(**planned["bound"]),
        *(f"left out       {check} (its gates are undecided where it applies)" for check in planned["left_out"]),
        *(f"eligible_modes {line}" for line in _overriding(planned["overridden"])),
    )


def _bound(calls: int, attempts: int, tokens: int, cost_usd: float | None) -> Sequence[str]:
    """The upper bound of a scan's cost, counting every attempt of every call."""
    if not calls:
        return ()
    usd = "" if cost_usd is None else f", {cost_usd:.4f} USD"
    return (
        f"bound          cannot exceed {calls:,} calls{usd}",
        f"               ({tokens:,} tokens, if each call takes {attempts} attempts and all are charged in full)",
    )


def _overriding(overridden: Mapping[str, Mapping[str, Sequence[str]]]) -> list[str]:
    """The effect of scenarios' `eligible_modes` compared with tags, in one line; the JSON names every check."""
    if not overridden:
        return []
    left_out, added = (sum(len(each[key]) for each in overridden.values()) for key in ("left_out", "added"))
    where = plural(len(overridden), "scenario")
    return [f"overrides tags in {where}: {plural(left_out, 'check')} left out, {added} added"]


def _windows(asked: int, unbounded: int) -> str:
    """The number of judged windows, and how many of them are whole transcripts for want of a cue."""
    if not unbounded:
        return str(asked)
    return f"{asked}, {unbounded} of them the whole transcript without a cue ({percent(unbounded / asked)})"


def write_questions(args: argparse.Namespace) -> int:
    """Compile and write the questions; return the exit code. Raises UsageError."""
    if args.batch == args.out:
        raise UsageError(f"`{args.out}` can't be both the questions and the batch; name another file with `--batch`")
    project, plan = compile_chosen(args)
    model = args.model or project.judge_model() or ""
    if args.batch and not model:
        raise UsageError("a batch needs a model: name it with `--model`")
    transcripts, refused = read_transcripts(plan, args)
    for transcript in transcripts if args.batch else ():
        independence_of(project).refuse([model], transcript)
    asked = list(questions(plan, transcripts, model))
    fitting = [question for question in asked if question.call is not None]
    about = f"{plural(len(asked), 'question')} about {plural(len(transcripts), 'transcript')}"
    hand_over(_lines(map(as_line, asked)), args.out, f"wrote {about} to {args.out}")
    if args.batch:
        about = f"wrote a batch of {plural(len(fitting), 'request')} for `{model}` to {args.batch}"
        hand_over(_lines(as_batch(question, model) for question in fitting), args.batch, about)
    if len(fitting) < len(asked):
        complain(f"warning: {plural(len(asked) - len(fitting), 'question')} longer than the window of `{model}`")
    return REFUSED if refused else 0


def _lines(lines: Iterable[dict[str, object]]) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogatepass")
