"""The store: a run as a folder of files, written so that a killed run can be resumed to the same bytes.

    plan.json       the plan that ran
    verdicts.jsonl  a line for each transcript and check
    scores.jsonl    a line for each transcript
    summary.json    what was judged, refused and found; summary.md says it to people

While a run is under way its lines grow in `*.part` files beside `progress.jsonl`, which says after each input how far
they are good. The final names appear at the end, each at once, `summary.json` last.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime.digests import blake2b
from rulewright_runtime.errors import InputError, PlanError
from rulewright_runtime.execution import TranscriptResult, execute
from rulewright_runtime.files import write_whole
from rulewright_runtime.plan_file import encode
from rulewright_runtime.transcripts import Reader
from rulewright_runtime.verdicts import VerdictResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import BinaryIO

    from rulewright_runtime.judge import Judge
    from rulewright_runtime.plan import Plan
    from rulewright_runtime.report.summary import Summary
    from rulewright_runtime.transcripts import Transcript

PROGRESS: Final = "progress.jsonl"
BUFFER: Final = 2**18  # bytes of lines that are written at once
KEPT: Final = 4096  # encoded records that may come again
# What cost no judge's answer may be lost together: so many inputs, or what took so many seconds.
LOST_INPUTS: Final = 200
LOST_SECONDS: Final = 0.5
ROWS: Final = ("verdicts.jsonl", "scores.jsonl")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a resumed run must have in common with the one it continues."""

    plan: str
    settings: str


class _Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One input that is done: its digest, the sizes of the two part files after it, the judge's calls for it."""

    digest: str
    verdicts: int
    scores: int
    calls: int
    refused: tuple[str, str, int] | None = None
    harness: str = ""


def run(
    plan: Plan,
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    judge: Judge | str | None = None,
    parameters: Mapping[str, Any] | None = None,
    resume: bool = False,
    max_calls: int | None = None,
    max_line: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Judge the transcripts in `paths`, write the folder `out`, and return what its `summary.json` holds.

    With `resume` a killed run in `out` is continued: its finished inputs are not judged again. No more than `max_calls`
    questions are put to the judge over all. `progress` is told the number of inputs that are done. Raises PlanError
    where the plan can't run or does not belong to the run in `out`, JudgeError where the judge can't be opened, OSError
    where `out` can't be written.
    """
    named = judge if isinstance(judge, str) else ""
    settings = msgspec.json.encode([parameters, named, max_calls, max_line], order="deterministic")
    folder = _Folder(os.fspath(out), _Header(plan.hash, settings.decode()), resume)
    reader = Reader(plan.scenarios) if max_line is None else Reader(plan.scenarios, max_line)
    fresh = folder.skip_done(reader.read(paths))
    if judge is not None:
        judge = _opened(judge, None if max_calls is None else max_calls - folder.calls)
    with folder:
        write_whole(folder.at("plan.json"), encode(plan))
        for result in execute(plan, fresh, judge, parameters=parameters):
            folder.add(result)
            progress(len(folder.steps))
    return folder.finish(_about(plan, parameters))


def _opened(judge: Judge | str, calls: int | None) -> Judge:
    from rulewright_runtime.judge import LimitedJudge, open_judge

    opened = open_judge(judge) if isinstance(judge, str) else judge
    return opened if calls is None else LimitedJudge(opened, calls)


def _about(plan: Plan, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    scorecard = plan.scorecard.name if plan.scorecard is not None else None
    about = {"profile": plan.profile, "scorecard": scorecard, "semantics": plan.semantics}
    given = {"parameters": dict(sorted(parameters.items()))} if parameters else {}
    return {**about, "language": plan.language, "plan": plan.hash, **given}


class _Folder:
    """The files of one run, and how far they are written."""

    def __init__(self, path: str, header: _Header, resume: bool) -> None:
        from rulewright_runtime.report.summary import Summary

        self._path = path
        self._unwritten: list[Transcript | InputError] = []  # inputs that progress.jsonl does not know of
        self._written = 0  # steps that it does
        self._sizes = [0, 0]  # bytes of verdicts and scores
        self._flushed = monotonic()
        self._encoded: dict[int, tuple[VerdictResult, bytes]] = {}
        self._files: dict[str, BinaryIO] = {}
        self._header = header
        self.steps: list[_Step] = []
        self.summary: Summary = Summary()
        os.makedirs(path, exist_ok=True)
        if resume and os.path.exists(self.at(PROGRESS)):
            self._take_up()
        elif os.path.exists(self.at("summary.json")):
            os.remove(self.at("summary.json"))  # whoever finds it must be able to trust it

    @property
    def calls(self) -> int:
        """How many questions the judge was asked."""
        return sum(step.calls for step in self.steps)

    def at(self, name: str) -> str:
        """The path of a file of the run."""
        return os.path.join(self._path, name)

    def _take_up(self) -> None:
        """Read how far a killed run came. A line that was cut off is not done."""
        with open(self.at(PROGRESS), "rb") as stream:
            header, *lines = stream.read().split(b"\n")[:-1] or [b"{}"]
        try:
            before = msgspec.json.decode(header, type=_Header)
            self.steps = [msgspec.json.decode(line, type=_Step) for line in lines]
            self._written = len(self.steps)
        except msgspec.MsgspecError as error:
            raise PlanError(f"`{self.at(PROGRESS)}` is damaged ({error}); run without `--resume`") from None
        if before != self._header:
            raise PlanError(f"the run in `{self._path}` has another plan or other settings; run without `--resume`")

    def skip_done(self, items: Iterator[Transcript | InputError]) -> Iterator[Transcript | InputError]:
        """The inputs that are not done yet; the done ones must come first and be unchanged."""
        done = [step.digest for step in self.steps]
        for index, item in enumerate(items):
            if index >= len(done):
                self._unwritten.append(item)
                yield item
            elif _digest(item) != done[index]:
                where = str(item) if isinstance(item, InputError) else f"transcript `{item.id}`"
                raise PlanError(f"{where} is not what the killed run had read; run without `--resume`")

    def __enter__(self) -> _Folder:
        self._open()
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if failure is not None:  # else `finish` ends the run, and nobody needs to know how far it came
            self._flush()
        for stream in self._files.values():
            stream.close()

    def _open(self) -> None:
        self._sizes = [self.steps[-1].verdicts, self.steps[-1].scores] if self.steps else [0, 0]
        for name, size in zip(ROWS, self._sizes, strict=True):
            self._files[name] = _continued(self.at(f"{name}.part"), size)
        lines = [self._header, *self.steps]
        write_whole(self.at(PROGRESS), b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        self._files[PROGRESS] = open(self.at(PROGRESS), "ab")  # noqa: SIM115  closed by __exit__
        self._recount()

    def _recount(self) -> None:
        """Take what the killed run had found into the summary."""
        if not self.steps:
            return
        verdicts, scores = (self._lines(name, size) for name, size in zip(ROWS, self._sizes, strict=True))
        found: dict[str, list[VerdictResult]] = {}
        for line in verdicts:
            key = msgspec.json.decode(line, type=_Key).transcript_id
            found.setdefault(key, []).append(msgspec.json.decode(line, type=VerdictResult))
        rows = iter(scores)
        for step in self.steps:
            if step.refused is not None:
                self.summary.refuse(_error(*step.refused))
            else:
                row = msgspec.json.decode(next(rows))
                self.summary.add(row, found.get(row["transcript_id"], []), step.harness)

    def _lines(self, name: str, size: int) -> list[bytes]:
        with open(self.at(f"{name}.part"), "rb") as stream:
            return stream.read(size).splitlines()

    def add(self, result: TranscriptResult) -> None:
        """Write down one result; it is done when its progress line stands."""
        refused = next((error for error in result.errors if isinstance(error, InputError)), None)
        if refused is not None:
            self.summary.refuse(refused)
        else:
            row = result.scores or _bare_row(result)
            self._sizes[0] += self._files[ROWS[0]].write(self._verdict_lines(result))
            self._sizes[1] += self._files[ROWS[1]].write(msgspec.json.encode(row) + b"\n")
            self.summary.add(row, result.verdicts, result.harness)
        place = None if refused is None else (refused.path, refused.reason, refused.line)
        step = _Step("", self._sizes[0], self._sizes[1], sum(result.judge_calls.values()), place, result.harness)
        self.steps.append(step)
        if step.calls or len(self._unwritten) >= LOST_INPUTS or monotonic() - self._flushed > LOST_SECONDS:
            self._flush()

    def _flush(self) -> None:
        """First the rows, then the lines that say how far they are good."""
        for name in ROWS:
            self._files[name].flush()
        for item, step in zip(self._unwritten, self.steps[self._written :], strict=False):  # one may be under way
            line = msgspec.structs.replace(step, digest=_digest(item))
            self._files[PROGRESS].write(msgspec.json.encode(line) + b"\n")
        self._files[PROGRESS].flush()
        del self._unwritten[: len(self.steps) - self._written]
        self._written = len(self.steps)
        self._flushed = monotonic()

    def _verdict_lines(self, result: TranscriptResult) -> bytes:
        """A line for each verdict: the transcript's id, then the fields of the record."""
        key = b'{"transcript_id":' + msgspec.json.encode(result.transcript_id) + b","
        return b"".join([key + self._record(verdict) for verdict in result.verdicts])

    def _record(self, verdict: VerdictResult) -> bytes:
        """The record's fields as the rest of a line; records without evidence are often one object, written once."""
        if verdict.evidence or verdict.extra:
            return msgspec.json.encode(verdict)[1:] + b"\n"
        known = self._encoded.get(id(verdict))
        if known is None or known[0] is not verdict:
            if len(self._encoded) > KEPT:
                self._encoded.clear()
            known = self._encoded[id(verdict)] = (verdict, msgspec.json.encode(verdict)[1:] + b"\n")
        return known[1]

    def finish(self, about: dict[str, Any]) -> dict[str, Any]:
        """Give the files their final names and write the summary."""
        from rulewright_runtime.report.markdown import markdown

        self.summary.about = {**about, "judge_calls": self.calls}
        summary = self.summary.result()
        for name in ROWS:
            os.replace(self.at(f"{name}.part"), self.at(name))
        data = msgspec.json.encode(summary)
        write_whole(self.at("summary.md"), markdown(summary).encode())
        write_whole(self.at("summary.json"), msgspec.json.format(data, indent=2) + b"\n")
        os.remove(self.at(PROGRESS))
        return summary


class _Key(msgspec.Struct):
    transcript_id: str


def _bare_row(result: TranscriptResult) -> dict[str, Any]:
    return {"transcript_id": result.transcript_id, "scenario_id": result.scenario_id, "model": result.model}


def _error(path: str, reason: str, line: int) -> InputError:
    return InputError(reason, path, line)


def _digest(item: Transcript | InputError) -> str:
    data = str(item).encode() if isinstance(item, InputError) else msgspec.json.encode(item)
    return blake2b(data, digest_size=16).hexdigest()


def _continued(path: str, size: int) -> BinaryIO:
    """The file at `path`, cut to `size` bytes and open for more. Raises PlanError where it is shorter."""
    stream = open(path, "r+b" if size else "wb", BUFFER)  # noqa: SIM115  the caller closes it
    if size and os.path.getsize(path) < size:
        stream.close()
        raise PlanError(f"`{path}` is shorter than the killed run left it; run without `--resume`")
    stream.truncate(size)
    stream.seek(size)
    return stream
