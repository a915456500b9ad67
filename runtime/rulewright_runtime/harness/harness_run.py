"""A resumable harness run: every scenario of a run plan is played, its transcript written turn by turn.

run_plan.json     the user's messages
header.json       plan, model and harness, so that a different run can't be resumed by mistake; the run's id
transcripts/      `<model>__<scenario_id>.jsonl`, with the suffix `.part` until the conversation ends
harness.json      turns, errors and branches taken, by scenario

A reply is on disk before the next turn begins, and a transcript before it is renamed. One process at a time writes to
the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_hex
from typing import Final

import msgspec
from msgspec.structs import replace

from rulewright_runtime import strict_json
from rulewright_runtime.english import plural
from rulewright_runtime.errors import PlanError
from rulewright_runtime.files.atomic import make_room, open_part, sync, sync_folder, write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.harness.adapters import Adapter, transcript_id_of
from rulewright_runtime.harness.harness_plan import RunPlan, Script
from rulewright_runtime.harness.play import TranscriptLine, play
from rulewright_runtime.harness.simulated_user import SimulatedUser
from rulewright_runtime.plan.envelope import encode
from rulewright_runtime.strict_json import JsonObject
from rulewright_runtime.transcripts.chat_files import MAX_LINE
from rulewright_runtime.transcripts.messages import CUT
from rulewright_runtime.transcripts.redaction import Redaction

FOLDER: Final = "transcripts"
HEADER: Final = "header.json"
SUMMARY: Final = "harness.json"
_Converse = Callable[..., Iterator[TranscriptLine]]  # `play` by the players of the run
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that must be equal when a run is resumed, except its id."""

    plan: str
    model: str
    harness: str
    replies: str = ""  # the adapter's `identity`, if it has one
    user: str = ""  # the identity of the model that plays the user, if any
    run: str = ""  # the id, random, for an adapter that keeps conversations


def run(
    plan: RunPlan,
    adapter: Adapter,
    out: str | os.PathLike[str],
    *,
    parallel: int = 1,
    attempts: int = 3,
    resume: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    user: SimulatedUser | None = None,
) -> JsonObject:
    """Play every scenario into the folder `out`. Returns the content of its `harness.json`.

    `parallel` scenarios are played at a time; the files do not depend on that number. A model may play the `user`.
    `resume` continues a killed run: answered turns are kept, and one that ended in an error is repeated. Raises
    PlanError when `out` belongs to another run or is damaged, BusyError when another process writes to it, OSError when
    it can't be written; the run can then be resumed.
    """
    _refuse_file_names(plan)
    with lock_folder(out):
        identities = getattr(adapter, "identity", ""), "" if user is None else user.speaker.identity
        run_id = token_hex(8) if getattr(adapter, "keeps_conversations", False) else ""
        header = _Header(plan.hash, adapter.model, adapter.harness, *identities, run=run_id)
        folder = _Folder(os.fspath(out), header, resume)
        write_whole(folder.at("run_plan.json"), encode(plan))
        converse = partial(
            play, adapter=adapter, attempts=attempts, redaction=Redaction(plan.redact), user=user, run=folder.header.run
        )
        about = {
            "plan": plan.hash,
            "model": adapter.model,
            "harness": adapter.harness,
            "user": None if user is None else user.model,
            "experimental": getattr(adapter, "experimental", False),
        }
        return _write_summary(folder.at(SUMMARY), about, _play_all(plan, converse, folder, parallel, progress))


def _refuse_file_names(plan: RunPlan) -> None:
    """Raise PlanError for a scenario that can't name a file, and for two whose transcripts may be one file."""
    names: dict[str, str] = {}
    for script in plan.scripts:
        if not _FILE_NAME.fullmatch(script.id):
            raise PlanError(
                f"`{script.id}` can't name a file; a scenario's id may contain letters, digits, `.`, `_`, `-`"
            )
        if (other := names.setdefault(script.id.lower(), script.id)) != script.id:
            raise PlanError(
                f"`{other}` and `{script.id}` differ only in case, and some systems would keep their transcripts in one"
                " file; rename one of the scenarios"
            )


def remaining_plan(plan: RunPlan, model: str, out: str | os.PathLike[str]) -> RunPlan:
    """Return the plan with only the scenarios that have no transcript in the folder `out`, not even a part."""
    paths = {script.id: _transcript(os.fspath(out), model, script.id) for script in plan.scripts}
    remaining = [script for script in plan.scripts if not any(map(os.path.exists, _files_of(paths[script.id])))]
    return replace(plan, scripts=tuple(remaining))


def _transcript(out: str, model: str, scenario_id: str) -> str:
    return os.path.join(out, FOLDER, f"{transcript_id_of(model, scenario_id)}.jsonl")


def _files_of(transcript: str) -> tuple[str, str]:
    """Return the paths of a finished transcript, and of one that is being played."""
    return transcript, f"{transcript}.part"


def holds_run(out: str | os.PathLike[str]) -> bool:
    return os.path.exists(os.path.join(out, HEADER))


def _play_all(
    plan: RunPlan, converse: _Converse, folder: _Folder, parallel: int, progress: Callable[[int], None]
) -> dict[str, JsonObject]:
    """Play every conversation. Returns the rows of the summary by scenario."""
    rows: dict[str, JsonObject] = {}
    with ThreadPoolExecutor(max(parallel, 1)) as pool:
        futures = [pool.submit(_conversation, script, converse, folder) for script in plan.scripts]
        try:
            for script, future in zip(plan.scripts, futures, strict=True):
                rows[script.id] = future.result()
                progress(len(rows))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return rows


class _Folder:
    """The files of one run."""

    def __init__(self, path: str, header: _Header, resume: bool) -> None:
        self.path, self.model = path, header.model
        os.makedirs(os.path.join(path, FOLDER), exist_ok=True)
        self.header = header
        if resume and holds_run(path):
            self.header = self._checked(header)
        elif os.listdir(os.path.join(path, FOLDER)):
            raise PlanError(f"`{path}` already contains transcripts; continue with `--resume` or choose another folder")
        if os.path.exists(self.at(SUMMARY)):
            os.remove(self.at(SUMMARY))  # an existing summary must be complete
        write_whole(self.at(HEADER), msgspec.json.encode(self.header))

    def _checked(self, header: _Header) -> _Header:
        """Return the header of the run to resume. Raises PlanError when it is another one or damaged."""
        try:
            with open(self.at(HEADER), "rb") as stream:
                stored = strict_json.decode(stream.read(), type=_Header)
        except strict_json.UNDECODED as error:
            raise PlanError(f"`{self.at(HEADER)}` is damaged ({error}); choose another folder") from None
        if replace(stored, run=header.run) != header:
            raise PlanError(
                f"the run in `{self.path}` has another plan, model, user, harness or other replies;"
                " choose another folder"
            )
        return stored

    def at(self, name: str) -> str:
        return os.path.join(self.path, name)


def forget_conversation(out: str | os.PathLike[str], transcript_id: str) -> list[str]:
    """Remove a transcript from the run in `out`. Returns the paths that were removed or changed. Raises PlanError when
    the run's summary is damaged."""
    transcript, summary = os.path.join(out, FOLDER, f"{transcript_id}.jsonl"), os.path.join(out, SUMMARY)
    files = [path for path in _files_of(transcript) if _FILE_NAME.fullmatch(transcript_id) and os.path.exists(path)]
    changed = [*files, *_without_row(summary, transcript_id)] if files else []
    for path in files:  # last: a killed command finds them again
        os.remove(path)
    return changed


def _without_row(summary: str, transcript_id: str) -> list[str]:
    if not os.path.exists(summary):
        return []
    with open(summary, "rb") as stream:
        try:
            about = strict_json.decode(stream.read(), type=JsonObject)
            model, rows = about["model"], dict(about["by_scenario"])
        except (*strict_json.UNDECODED, KeyError, TypeError, ValueError) as error:
            raise _damage_error(summary, str(error)) from None
    remaining = {name: row for name, row in rows.items() if transcript_id_of(model, name) != transcript_id}
    _write_summary(summary, about, remaining)
    return [summary]


def _write_summary(path: str, about: JsonObject, rows: dict[str, JsonObject]) -> dict[str, object]:
    summary = {
        **about,
        "scenarios": len(rows),
        "turns": sum(row["turns"] for row in rows.values()),
        "errors": sum(row["error"] is not None for row in rows.values()),
        "by_scenario": rows,
    }
    write_whole(path, strict_json.indented(summary))
    return summary


def _conversation(script: Script, converse: _Converse, folder: _Folder) -> JsonObject:
    """Play one conversation to its end, or reuse a finished transcript. Returns its row of the summary.

    A conversation that ended in an error continues with the turn that was not answered.
    """
    path = _transcript(folder.path, folder.model, script.id)
    _, part = _files_of(path)
    if os.path.exists(path):
        finished = _summary_row(_lines(path, script))
        if finished["error"] is None and finished["turns"] != len(script.turns):
            raise _damage_error(path, f"it answers {finished['turns']} of {plural(len(script.turns), 'turn')}")
        if finished["error"] is None:
            return finished
        os.replace(path, part)
    earlier = [line for line in _lines(part, script) if line.error is None]
    recorded = {(line.turn, line.role): line for line in earlier}
    size = sum(len(msgspec.json.encode(line)) + 1 for line in earlier)
    lines: list[TranscriptLine] = []
    with open_part(part, size) as stream:
        make_room(stream, size)
        for line in converse(script, recorded=recorded):
            lines.append(line)
            if len(lines) <= len(earlier):  # lines of the killed run are already in the file
                if line.harness is None and line.content != earlier[len(lines) - 1].content:
                    raise _damage_error(part, f"turn {line.turn} of the user is not that of the scenario")
            else:
                size += stream.write(msgspec.json.encode(line) + b"\n")
                sync(stream)
                make_room(stream, size)
        stream.truncate(size)
        sync(stream)
    os.replace(part, path)
    sync_folder(os.path.dirname(path))
    return _summary_row(lines)


def _lines(path: str, script: Script) -> list[TranscriptLine]:
    """Return the complete lines of a transcript, without a truncated last one. Raises PlanError for a file that is
    damaged or was changed."""
    try:
        with open(path, "rb") as stream:
            complete = stream.read().split(b"\n")[:-1]
        lines = [strict_json.decode(line, type=TranscriptLine) for line in complete]
    except FileNotFoundError:
        return []
    except strict_json.UNDECODED as error:
        raise _damage_error(path, str(error)) from None
    if [msgspec.json.encode(line) for line in lines] != complete:
        raise _damage_error(path, "another program has written it")
    places = [(turn.number, role) for turn in script.turns for role in ("user", "assistant")]
    failed = [number for number, line in enumerate(lines, 1) if line.error is not None]
    if [(line.turn, line.role) for line in lines] != places[: len(lines)] or failed not in ([], [len(lines)]):
        raise _damage_error(path, "its turns are not those of the scenario")
    return lines


def _damage_error(path: str, why: str) -> PlanError:
    return PlanError(f"`{path}` is damaged ({why}); remove it to have the scenario played again")


def _summary_row(lines: list[TranscriptLine]) -> JsonObject:
    failed = next((line for line in lines if line.error is not None), None)
    cut = {str(line.turn): line.finish for line in lines if line.role == "assistant" and line.finish in CUT}
    longest = max((len(msgspec.json.encode(line)) for line in lines), default=0)
    return {
        **({"cut": cut} if cut else {}),
        **({"longest_line": longest} if longest > MAX_LINE else {}),
        "turns": sum(line.role == "assistant" and line.error is None for line in lines),
        "branches": {str(line.turn): line.branch_id for line in lines if line.branch_id is not None},
        "error": None if failed is None else {"turn": failed.turn, "role": failed.role, **(failed.error or {})},
    }
