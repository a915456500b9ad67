"""Score batches of test cases and label each case.

Cases are read from `--cases` (a folder with a file for each batch), the engine's outputs from the cases themselves or
from `--outputs`. Settings come from the command line, then the environment, then `safe.config.json`, then the
scorecard; `--show-config` prints each value with its source.

exit codes: 0 every case passes, 1 a case fails or the run is worse than its baseline, 2 a case needs review, 3 bad
usage, an error, or a case that could not be scored (`--allow-errors` tolerates only those); `--exit-zero` turns 1 and 2
into 0
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import sys
from contextlib import ExitStack, contextmanager
from datetime import datetime
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.scoring.batches import CaseScorecard
    from rulewright.scoring.settings import ScoreSettings
    from rulewright_runtime.cases.hooks import Sink
    from rulewright_runtime.cases.plan import CaseScorecardPlan
    from rulewright_runtime.cases.run import BatchRun
    from rulewright_runtime.cases.settings import Settings

BAD_USAGE = 3
REFUSED = 3
FORMATS = ("json", "console", "markdown", "html", "junit", "all")
FLAGS = ("--strict-ah", "--fold", "--cases", "--outputs", "--format", "--semantic")
_TICK = 0.2  # seconds between two lines of progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--concern", metavar="ID", help="score the cases of this concern")
    parser.add_argument("--batch", metavar="PATTERN", help="a batch, or a pattern such as 'I25_batch_*'")
    parser.add_argument("--cases", metavar="DIR", help="the folder that holds the batches")
    parser.add_argument("--outputs", metavar="PATH", help="the engine's outputs: a file, or a folder of files")
    parser.add_argument("--output", metavar="PATH", help="where the report is written; - is the standard output")
    parser.add_argument("--format", choices=FORMATS, help="the report's form (default: console)")
    parser.add_argument("--scorecard", metavar="NAME", default="safe-v0", help="a scorecard's name or file")
    parser.add_argument("--config", metavar="FILE", help="the settings file (default: safe.config.json)")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="set one parameter")
    parser.add_argument("--strict-ah", action="store_true", help="one forbidden word makes AH 0")
    parser.add_argument("--fold", action="store_true", help="fold typography and white space before matching")
    parser.add_argument("--show-config", action="store_true", help="print every setting with its source, and stop")
    parser.add_argument("--verbose", action="store_true", help="add spans of what was found, and near misses")
    parser.add_argument("--semantic", metavar="NAME", help="matches by meaning: minilm, a model's folder, word vectors")
    parser.add_argument("--judge", metavar="JUDGE", help="ask a judge as well: replay:FILE; its verdicts are hints")
    parser.add_argument("--exit-zero", action="store_true", help="exit 0 where cases fail or need review")
    parser.add_argument("--allow-errors", action="store_true", help="exit by the labels although cases are errored")
    parser.add_argument("--baseline", metavar="REPORT", help="compare with an earlier JSON report")
    parser.add_argument("--observe", metavar="TARGET", help="write an observation of each case to a file or address")
    parser.add_argument("--otlp", metavar="ADDRESS", help="send OpenTelemetry evaluation events to a collector's logs")
    parser.add_argument("--events", metavar="TARGET", help="send the result event to a file or address")


def run(args: argparse.Namespace) -> int:
    """Score, write the reports, answer with the exit code."""
    from rulewright.scoring.batches import load_scorecard
    from rulewright.scoring.settings import describe, environment_of_process, gather

    card = load_scorecard(args.scorecard)
    plan = card.plan
    flags = {flag: getattr(args, flag.lstrip("-").replace("-", "_")) for flag in FLAGS}
    settings = gather(plan, file=args.config, environment=environment_of_process(), flags=flags, assignments=args.set)
    for warning in settings.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    prepared = settings.prepared(plan)
    if args.show_config:
        if args.format == "json":
            print(json.dumps(settings.as_data(plan), indent=2))
        else:
            print("\n".join(describe(settings)))
        return 0
    return _score(args, card, settings, prepared)


def _prove(card: CaseScorecard, prepared: Settings) -> None:
    """Refuse a label table with a gap; say what else the proof found."""
    from rulewright.diagnostics import Severity
    from rulewright.errors import DocumentError
    from rulewright.render.human import render
    from rulewright.scoring.batches import check_labels

    found = check_labels(card, prepared)
    if any(each.severity is Severity.ERROR for each in found):
        raise DocumentError(found)
    if found:
        print(render(found), file=sys.stderr, end="")


def _score(args: argparse.Namespace, card: CaseScorecard, settings: ScoreSettings, prepared: Settings) -> int:
    from rulewright.errors import UsageError
    from rulewright.scoring.batches import find_batches
    from rulewright_runtime.cases.baseline import Baseline, compare
    from rulewright_runtime.cases.outputs import Outputs
    from rulewright_runtime.cases.reading import CaseReader
    from rulewright_runtime.cases.run import refusal, report_head, score_batches
    from rulewright_runtime.cases.writing import moment
    from rulewright_runtime.embedding.opening import open_embedding
    from rulewright_runtime.judge import open_judge

    if not args.concern or not args.batch:
        raise UsageError("both `--concern` and `--batch` are needed")
    plan = card.plan
    _prove(card, prepared)
    batches, found_outputs = find_batches(settings.place("cases"), args.concern, args.batch)
    place = settings.place("outputs") or found_outputs
    outputs = Outputs(place) if place else None
    baseline = Baseline(args.baseline) if args.baseline else None
    reader = CaseReader(plan, args.concern, outputs)
    now = moment()
    gc.freeze()  # what is loaded by now stays; cases come and go without cycles
    with ExitStack() as stack:
        observe = _observer(_sinks(stack, args.observe), _collectors(stack, args.otlp), plan, now)
        embedding = open_embedding(semantic) if (semantic := settings.place("semantic")) else None
        judge = open_judge(args.judge) if args.judge else None
        with _progress() as progress:
            run = score_batches(
                prepared,
                reader,
                batches,
                verbose=args.verbose,
                embedding=embedding,
                judge=judge,
                on_case=observe,
                progress=progress,
            )
        if outputs is not None:
            for refused in outputs.errors:
                run.note_error(refusal(refused))
        about: dict[str, Any] = {"configuration": settings.as_data(plan)}
        if baseline is not None:
            about["comparison"] = compare(
                plan, baseline, run.spool.results(), run.whole.means(), about["configuration"]["hash"]
            )
        head = report_head(run, batch_id=args.batch, concern_id=args.concern, generated_at=now, about=about)
        _complain(run, reader.others, args.concern)
        _write_reports(args, settings, prepared, run, head)
        _announce(stack, args, run, now)
    status = run.status(allow_errors=args.allow_errors)
    if baseline is not None and about["comparison"]["regression"] and status in (0, 2):
        status = 1
    return 0 if args.exit_zero and status in (1, 2) else status


@contextmanager
def _progress() -> Iterator[Callable[[int], None] | None]:
    """Say on a terminal how many cases were read, now and then; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    last = monotonic()

    def show(done: int) -> None:
        nonlocal last
        if monotonic() - last >= _TICK:
            last = monotonic()
            print(f"\r{done} cases", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _sinks(stack: ExitStack, target: str | None) -> list[Sink]:
    if target is None:
        return []
    from rulewright_runtime.cases.hooks import sink

    receiver = sink(target)
    stack.callback(_close, receiver, target)
    return [receiver]


def _close(receiver: Sink, target: str) -> None:
    receiver.close()
    if receiver.lost:
        print(f"warning: {receiver.lost} messages to `{target}` were lost", file=sys.stderr)


def _collectors(stack: ExitStack, address: str | None) -> list[Sink]:
    if address is None:
        return []
    from rulewright_runtime.cases.hooks import OtlpSink

    collector = OtlpSink(address)
    stack.callback(_close, collector, address)
    return [collector]


def _observer(observers: list[Sink], collectors: list[Sink], plan: CaseScorecardPlan, now: str) -> Any:
    if not observers and not collectors:
        return None
    from rulewright_runtime.cases.hooks import evaluation_events, observation

    metrics = [metric.name for metric in plan.metrics]
    prefix, nanoseconds = plan.report_type.replace("_", " "), int(datetime.fromisoformat(now).timestamp()) * 10**9

    def observe(result: dict[str, Any]) -> None:
        for receiver in observers:
            receiver.send(observation(result, metrics, now))
        for receiver in collectors:
            for event in evaluation_events(result, prefix, nanoseconds):
                receiver.send(event)

    return observe


def _announce(stack: ExitStack, args: argparse.Namespace, run: BatchRun, now: str) -> None:
    from rulewright_runtime.cases.hooks import mission_event

    for receiver in _sinks(stack, args.events):
        receiver.send(mission_event(args.concern, args.batch, run.summary(), now))


def _complain(run: BatchRun, others: int, concern: str) -> None:
    """Every error and warning on the standard error, each on a line with its place."""
    from rulewright_runtime.cases.writing import complaints

    for line in complaints(run):
        print(line, file=sys.stderr)
    if not run.whole.total and not run.errors:
        said = f"; {others} of other concerns were left out" if others else ""
        print(f"error: there is no case of the concern `{concern}`{said}", file=sys.stderr)


def _write_reports(
    args: argparse.Namespace, settings: ScoreSettings, prepared: Settings, run: BatchRun, head: dict[str, Any]
) -> None:
    from rulewright.errors import UsageError
    from rulewright.scoring.batches import report_path, wanted_formats
    from rulewright_runtime.cases.writing import write
    from rulewright_runtime.files import open_whole

    forms = wanted_formats(settings.formats, args.output, asked=args.format is not None)
    scorer = prepared.scorer(None, None)
    for form in forms:
        path = report_path(form, forms, args.output, str(settings.place("reportDir")), run.plan, head)
        if path is None:
            _write_out(form, run, head, scorer)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open_whole(path) as file:
                write(form, file, run, head, scorer)
        except OSError as error:
            raise UsageError(f"the report `{path}` can't be written: {error.strerror or error}") from None
        print(f"{form} report: {path}", file=sys.stderr)


def _write_out(form: str, run: BatchRun, head: dict[str, Any], scorer: Any) -> None:
    from rulewright_runtime.cases.writing import write

    stream: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    sys.stdout.flush()
    if stream is not None:
        try:
            write(form, stream, run, head, scorer)
            stream.flush()
        except BrokenPipeError:  # the reader has gone, as `| head` does; the other reports and the status stand
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return
    text = io.BytesIO()  # the standard output was replaced by something that takes text only
    write(form, text, run, head, scorer)
    sys.stdout.write(text.getvalue().decode())
