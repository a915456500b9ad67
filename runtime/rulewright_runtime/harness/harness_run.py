"""A harness run: every scenario of a run plan played, its transcript written turn by turn, resumable.

run_plan.json     what is said
header.json       plan, model and harness, so that another run can't be continued by mistake
transcripts/      `<model>__<scenario_id>.jsonl`; `.part` behind the name while the conversation goes on
harness.json      turns, errors and branches taken, scenario by scenario

A reply is on the disk before the next turn begins, and a transcript before it has its name. One process at a time
writes to the folder.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rulewright_runtime import strict_json
from rulewright_runtime.errors import PlanError
from rulewright_runtime.files import make_room, open_part, sync, sync_folder, write_whole
from rulewright_runtime.harness.adapters import transcript_id_of
from rulewright_runtime.harness.play import Line, play
from rulewright_runtime.locks import held_folder
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.transcripts.redaction import Redaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright_runtime.harness.adapters import Adapter
    from rulewright_runtime.harness.harness_plan import RunPlan, Script

FOLDER: Final = "transcripts"
HEADER: Final = "header.json"
SUMMARY: Final = "harness.json"
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a resumed run must have in common with the one it continues."""

    plan: str
    model: str
    harness: str
    replies: str = ""  # who answers under that name, where the adapter tells


def run(
    plan: RunPlan,
    adapter: Adapter,
    out: str | os.PathLike[str],
    *,
    parallel: int = 1,
    attempts: int = 3,
    resume: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Play every scenario, write the folder `out` and return what its `harness.json` holds.

    `parallel` scenarios are played at a time, their turns one after the other; the files are the same for every
    number. With `resume` a killed run is continued: no turn that was answered is asked again, and one that ended in an
    error is. Raises PlanError where `out` belongs to another run or was damaged, BusyError where another process
    writes to it, OSError where it can't be written; what was said until then can be resumed.
    """
    for script in plan.scripts:
        if not _FILE_NAME.fullmatch(script.id):
            raise PlanError(f"`{script.id}` can't name a file; a scenario's id may hold letters, digits, `.`, `_`, `-`")
    with held_folder(out):
        folder = _Folder(os.fspath(out), _header(plan, adapter), resume)
        write_whole(folder.at("run_plan.json"), encode(plan))
        return _played(plan, adapter, folder, parallel, attempts, progress)


def _header(plan: RunPlan, adapter: Adapter) -> _Header:
    return _Header(plan.hash, adapter.model, adapter.harness, getattr(adapter, "identity", ""))


def finished(plan: RunPlan, adapter: Adapter, out: str | os.PathLike[str]) -> int:
    """How many conversations of the run in `out` are finished. Raises PlanError where `run` would not resume it."""
    if not holds_run(out):
        raise PlanError(f"`{os.fspath(out)}` holds no run to resume")
    _check_header(os.fspath(out), _header(plan, adapter))
    with os.scandir(os.path.join(out, FOLDER)) as entries:
        return sum(entry.name.endswith(".jsonl") for entry in entries)


def _check_header(out: str, header: _Header) -> None:
    """Refuse the run in `out` when it is another one."""
    place = os.path.join(out, HEADER)
    try:
        with open(place, "rb") as stream:
            known = strict_json.decode(stream.read(), type=_Header)
    except msgspec.MsgspecError as error:
        raise PlanError(f"`{place}` is damaged ({error}); choose another folder") from None
    if known != header:
        raise PlanError(f"the run in `{out}` has another plan, model, harness or other replies; choose another folder")


def holds_run(out: str | os.PathLike[str]) -> bool:
    """Whether a run was begun in a folder."""
    return os.path.exists(os.path.join(out, HEADER))


def _played(
    plan: RunPlan, adapter: Adapter, folder: _Folder, parallel: int, attempts: int, progress: Callable[[int], None]
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    redaction = Redaction(plan.redact)
    with ThreadPoolExecutor(max(parallel, 1)) as pool:
        waiting = [pool.submit(_conversation, script, adapter, folder, attempts, redaction) for script in plan.scripts]
        try:
            for done in waiting:
                rows.append(done.result())
                progress(len(rows))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    about = {
        "plan": plan.hash,
        "model": adapter.model,
        "harness": adapter.harness,
        "experimental": getattr(adapter, "experimental", False),
    }
    by_scenario = {script.id: row for script, row in zip(plan.scripts, rows, strict=True)}
    return _write_summary(folder.at(SUMMARY), about, by_scenario)


class _Folder:
    """The files of one run."""

    def __init__(self, path: str, header: _Header, resume: bool) -> None:
        self._path = path
        self._model = header.model
        os.makedirs(os.path.join(path, FOLDER), exist_ok=True)
        before = self.at(HEADER)
        if resume and os.path.exists(before):
            _check_header(path, header)
        elif os.listdir(os.path.join(path, FOLDER)):
            raise PlanError(f"`{path}` holds transcripts already; continue with `--resume` or choose another folder")
        if os.path.exists(self.at(SUMMARY)):
            os.remove(self.at(SUMMARY))  # whoever finds it must be able to trust it
        write_whole(before, msgspec.json.encode(header))

    def at(self, name: str) -> str:
        """The path of a file of the run."""
        return os.path.join(self._path, name)

    def transcript(self, scenario_id: str) -> str:
        """The path of a scenario's transcript."""
        return os.path.join(self._path, FOLDER, f"{transcript_id_of(self._model, scenario_id)}.jsonl")


def forget_conversation(out: str | os.PathLike[str], transcript_id: str) -> list[str]:
    """Remove a transcript from the run in `out`; the paths that were removed or changed. Raises PlanError where the
    run's summary is damaged."""
    place, summary = os.path.join(out, FOLDER, f"{transcript_id}.jsonl"), os.path.join(out, SUMMARY)
    gone = [path for path in (place, f"{place}.part") if _FILE_NAME.fullmatch(transcript_id) and os.path.exists(path)]
    for path in gone:
        os.remove(path)
    if not gone or not os.path.exists(summary):
        return gone
    with open(summary, "rb") as stream:
        try:
            known = strict_json.decode(stream.read(), type=dict[str, Any])
            model, rows = known["model"], dict(known["by_scenario"])
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
            raise _damaged(summary, str(error)) from None
    kept = {name: row for name, row in rows.items() if transcript_id_of(model, name) != transcript_id}
    _write_summary(summary, known, kept)
    return [*gone, summary]


def _write_summary(path: str, about: dict[str, Any], rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    summary = {
        **about,
        "scenarios": len(rows),
        "turns": sum(row["turns"] for row in rows.values()),
        "errors": sum(row["error"] is not None for row in rows.values()),
        "by_scenario": rows,
    }
    write_whole(path, msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n")
    return summary


def _conversation(
    script: Script, adapter: Adapter, folder: _Folder, attempts: int, redaction: Redaction
) -> dict[str, Any]:
    """Hold one conversation to its end, or take the transcript that a run before has finished.

    One that ended in an error goes on from the turn that was not answered.
    """
    path = folder.transcript(script.id)
    part = f"{path}.part"
    if os.path.exists(path):
        finished = _about(_lines(path))
        if finished["error"] is None and finished["turns"] != len(script.turns):
            raise _damaged(path, f"it answers {finished['turns']} of {len(script.turns)} turns")
        if finished["error"] is None:
            return finished
        os.replace(path, part)
    before = [line for line in _lines(part) if line.error is None]
    answered = {line.turn: line for line in before if line.role == "assistant"}
    size = sum(len(msgspec.json.encode(line)) + 1 for line in before)
    lines: list[Line] = []
    with open_part(part, size) as stream:
        make_room(stream, size)
        for line in play(script, adapter, attempts, answered, redaction):
            lines.append(line)
            if len(lines) > len(before):  # what the killed run wrote stands there already
                size += stream.write(msgspec.json.encode(line) + b"\n")
                sync(stream)
                make_room(stream, size)
        stream.truncate(size)
        sync(stream)
    os.replace(part, path)
    sync_folder(os.path.dirname(path))
    return _about(lines)


def _lines(path: str) -> list[Line]:
    """The whole lines of a transcript; one that was cut off is not there."""
    try:
        with open(path, "rb") as stream:
            whole = stream.read().split(b"\n")[:-1]
        return [strict_json.decode(line, type=Line) for line in whole]
    except FileNotFoundError:
        return []
    except msgspec.MsgspecError as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: str, why: str) -> PlanError:
    return PlanError(f"`{path}` is damaged ({why}); remove it to have the scenario played again")


def _about(lines: list[Line]) -> dict[str, Any]:
    failed = next((line for line in lines if line.error is not None), None)
    return {
        "turns": sum(line.role == "assistant" and line.error is None for line in lines),
        "branches": {str(line.turn): line.branch_id for line in lines if line.branch_id is not None},
        "error": None if failed is None else {"turn": failed.turn, **(failed.error or {})},
    }
