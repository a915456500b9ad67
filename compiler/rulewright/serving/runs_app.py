"""The part of the local site for runs: the list, pages of runs and transcripts, decisions, labels, comparisons."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from msgspec import Struct

from rulewright.calibration.gold import REPORT, TUNE, GoldLabel, folded_fingerprint, plain_name, read_gold, to_csv
from rulewright.comparing.diff import diff
from rulewright.comparing.render import diff_page
from rulewright.errors import UsageError
from rulewright.reporting.adjudication import Adjudication, adjudicate, check_person, fingerprint, original
from rulewright.reporting.chat_page import unmarked_messages
from rulewright.reporting.formats import conditions, question_of
from rulewright.reporting.report_files import run_page
from rulewright.serving.open_runs import LoadedRun, OpenRun, OpenRuns
from rulewright.web.rendering import LOCAL, PageFrame
from rulewright.web.server import RefusedError, Request, Response, local_page, sender
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import BusyError, RuntimeFailure
from rulewright_runtime.files.atomic import write_whole
from rulewright_runtime.files.locks import lock_folder
from rulewright_runtime.plan.part import ANSWERS
from rulewright_runtime.plan.scan import Check
from rulewright_runtime.runs.folder import DECIDED
from rulewright_runtime.workflow.hil import QueueError

HOME: Final = Markup('<a href="/">Runs</a>')
FRAME: Final = PageFrame(True, HOME, LOCAL)
_ROUTES: Final = (
    (re.compile(r"/"), "_list"),
    (re.compile(r"/run/([0-9]{1,4})"), "_run"),
    (re.compile(r"/run/([0-9]{1,4})/t/([0-9]{1,9})"), "_transcript"),
    (re.compile(r"/run/([0-9]{1,4})/label"), "_checks"),
    (re.compile(r"/run/([0-9]{1,4})/label/([0-9]{1,5})"), "_label"),
    (re.compile(r"/diff/([0-9]{1,4})/([0-9]{1,4})"), "_diff"),
)
_FORMS: Final = {"_list": "_compare", "_transcript": "_decide", "_label": "_take_label"}


@dataclass(slots=True)
class RunsApp:
    """Shows runs and takes decisions and labels; `queue` is the path of the workflow queue, or empty."""

    runs: OpenRuns
    reviewer: str
    queue: str = ""

    def get(self, request: Request) -> Response:
        """Return a page."""
        name, numbers = _route(request.path)
        answer: Callable[..., Response] = getattr(self, name)
        return answer(request, *numbers)

    def post(self, request: Request) -> Response:
        """Take a decision or a label. Raises RefusedError."""
        name, numbers = _route(request.path)
        if name not in _FORMS:
            raise RefusedError(HTTPStatus.NOT_FOUND, "nothing waits for a decision here")
        answer: Callable[..., Response] = getattr(self, _FORMS[name])
        return answer(request, *numbers)

    def _run_at(self, run: int) -> OpenRun:
        if (opened := self.runs.at(run)) is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "run not found")
        return opened

    def _list(self, request: Request) -> Response:
        runs = [listed(number, run) for number, run in enumerate(self.runs.present(), 1)]
        return Response(local_page("runs.html", FRAME, runs=runs, queue=self.queue, token=request.token))

    def _compare(self, request: Request) -> Response:
        """Redirect to the comparison of two chosen runs."""
        numbers = [request.form.get(name, "") for name in ("before", "after")]
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "run not found")
        return Response(location="/diff/" + "/".join(numbers))

    def _run(self, request: Request, run: int) -> Response:
        loaded = self._run_at(run).load()

        def link(number: int, check_id: str | None = None) -> str:
            anchor = "" if check_id is None else f"#{loaded.chats.anchor(number, check_id)}"
            return f"/run/{run}/t/{number}{anchor}"

        home = HOME + Markup(' <a href="/run/{}/label">Label</a>').format(run)
        frame = PageFrame(True, home, LOCAL)
        return Response(
            "".join(run_page(loaded.report, loaded.about, link=link, rationale=loaded.answers.rationale, frame=frame))
        )

    def _transcript(self, request: Request, run: int, number: int, problem: str = "") -> Response:
        opened = self._run_at(run)
        loaded = opened.load()
        _check_number(loaded, number)
        checks = {loaded.chats.anchor(number, check.id): check for check in loaded.index.run.plan.checks}
        page = local_page(
            "chat.html",
            FRAME,
            chat=opened.chat(loaded, number),
            problem=problem,
            links=_neighbours(f"/run/{run}", number, loaded),
            decide={
                "action": f"/run/{run}/t/{number}",
                "token": request.token,
                "seen": {anchor: _seen(loaded, number, check) for anchor, check in checks.items()},
                "asked": {anchor: (check.description, question_of(check)) for anchor, check in checks.items()},
                "form": {"check": "", "verdict": "", "why": "", "by": self.reviewer, **request.form},
            },
        )
        return Response(page, HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK)

    def _decide(self, request: Request, run: int, number: int) -> Response:
        opened = self._run_at(run)
        loaded, form = opened.load(), request.form
        _check_number(loaded, number)
        verdict = form.get("verdict", "")
        if verdict not in ANSWERS:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "a decision is `PASS`, `FAIL` or `NOT_APPLICABLE`")
        try:
            check = _check_of(loaded, number, form.get("check", ""))
            _refuse_stale(loaded, number, check, form)
            decision = Adjudication(
                loaded.index.name(number),
                check.id,
                verdict,  # type: ignore[arg-type]
                form.get("by", "").strip(),
                form.get("why", "").strip(),
                datetime.now(UTC).isoformat(timespec="seconds"),
                sender(request.connection).describe(),
                form["seen"],
            )
            adjudicate(opened.folder, opened.folder / DECIDED, [decision], again=False)
        except (UsageError, QueueError, BusyError) as error:
            return self._transcript(request, run, number, str(error))
        return Response(location=f"/run/{run}/t/{number}")

    def _checks(self, request: Request, run: int) -> Response:
        loaded = self._run_at(run).load()
        checks = [
            (index, check, len(loaded.index.applied.get(check.id, ())), self._labels(run, check.id).own())
            for index, check in enumerate(loaded.index.run.plan.checks)
        ]
        checks = [each for each in checks if each[2]]
        return Response(local_page("labels.html", FRAME, run=run, checks=checks, by=request.form.get("by", "")))

    def _labels(self, run: int, check: str) -> Labels:
        return Labels(self._run_at(run).folder, check)

    def _label(self, request: Request, run: int, place: int, problem: str = "") -> Response:
        opened = self._run_at(run)
        loaded = opened.load()
        check = _check_at(loaded, place)
        by = request.form.get("by", "").strip() or self.reviewer
        names = _applied(loaded, check.id)
        labels = self._labels(run, check.id)
        name = labels.next(names, by)
        shown = None
        if name is not None:
            number = names[name]
            shown = number, unmarked_messages(number, opened.conversation(loaded.index.judged(number)))
        page = local_page(
            "label.html",
            FRAME,
            run=run,
            place=place,
            check=check,
            question=question_of(check),
            conditions=tuple(conditions(check)),
            folder=labels.run,
            path=labels.path,
            shown=shown,
            seen=shown and _seen(loaded, shown[0], check),
            by=by,
            done=len(labels.done(by)),
            total=len(names),
            token=request.token,
            targets=ANSWERS,
            problem=problem,
        )
        return Response(page, HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK)

    def _take_label(self, request: Request, run: int, place: int) -> Response:
        opened, form = self._run_at(run), request.form
        loaded = opened.load()
        check = _check_at(loaded, place)
        by, target = form.get("by", "").strip(), form.get("target", "")
        transcripts = {str(number): (name, number) for name, number in _applied(loaded, check.id).items()}
        if target not in ANSWERS or form.get("number") not in transcripts:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "a label is `PASS`, `FAIL` or `NOT_APPLICABLE` of a transcript")
        try:
            check_person(original(opened.folder), by, "the label")
            sender(request.connection)
            name, number = transcripts[form["number"]]
            _refuse_stale(loaded, number, check, form)
            judged = loaded.index.judged(number)
            if (conversation := opened.conversation(judged)) is None:
                raise UsageError("a conversation that is not shown can't be labelled")
            self._labels(run, check.id).add(name, target, by, judged.conversation, folded_fingerprint(conversation))
        except (UsageError, QueueError, BusyError) as error:
            return self._label(request, run, place, str(error))
        return Response(location=f"/run/{run}/label/{place}?by={quote(by)}")

    def _diff(self, request: Request, before: int, after: int) -> Response:
        opened = self._run_at(after)
        folders = [each.load().index.run.folder for each in (self._run_at(before), opened)]
        comparison = diff(*folders, transcripts=opened.transcripts, replies=opened.replies)
        loaded = opened.load()

        def link(name: str, check_id: str | None = None) -> str:
            number = loaded.index.number(name)
            anchor = "" if check_id is None else f"#{loaded.chats.anchor(number, check_id)}"
            return f"/run/{after}/t/{number}{anchor}"

        return Response("".join(diff_page(comparison, FRAME, link)))


class ListedRun(NamedTuple):
    """A run in the list; `problem` says why it can't be read."""

    number: int
    name: str
    loaded: LoadedRun | None
    problem: str = ""


def listed(number: int, run: OpenRun) -> ListedRun:
    """Return the run as it is listed, also where it can't be read."""
    try:
        return ListedRun(number, str(run.folder), run.load())
    except (RuntimeFailure, UsageError, OSError) as failure:
        return ListedRun(number, str(run.folder), None, str(failure))


def _route(path: str) -> tuple[str, list[int]]:
    for pattern, name in _ROUTES:
        if match := pattern.fullmatch(path):
            return name, [int(part) for part in match.groups()]
    raise RefusedError(HTTPStatus.NOT_FOUND, "page not found")


def _check_number(loaded: LoadedRun, number: int) -> None:
    if not 1 <= number <= len(loaded.index):
        raise RefusedError(HTTPStatus.NOT_FOUND, "transcript not found")


def _check_at(loaded: LoadedRun, index: int) -> Check:
    checks = loaded.index.run.plan.checks
    if not 0 <= index < len(checks):
        raise RefusedError(HTTPStatus.NOT_FOUND, "check not found")
    return checks[index]


def _refuse_stale(loaded: LoadedRun, number: int, check: Check, form: Mapping[str, str]) -> None:
    """Raise UsageError where the run has another conversation or check now than the page of the form showed."""
    if form.get("seen") != _seen(loaded, number, check):
        raise UsageError("the run has changed since this page was shown; look at it as it is now")


def _seen(loaded: LoadedRun, number: int, check: Check) -> str:
    """The fingerprint of what a form is about."""
    return fingerprint(loaded.index.name(number), loaded.index.judged(number).conversation, check)


def _check_of(loaded: LoadedRun, number: int, anchor: str) -> Check:
    """Return the check whose verdict has the anchor."""
    for check in loaded.index.run.plan.checks:
        if loaded.chats.anchor(number, check.id) == anchor:
            return check
    raise RefusedError(HTTPStatus.BAD_REQUEST, "verdict not found")


def _applied(loaded: LoadedRun, check: str) -> dict[str, int]:
    """The transcripts to which a check applied, with their numbers."""
    return {loaded.index.name(number): number for number in loaded.index.applied.get(check, ())}


def _neighbours(run: str, number: int, loaded: LoadedRun) -> list[tuple[str, str]]:
    links = [(run, "The run")]
    links += [(f"{run}/t/{number - 1}", "Previous")] if number > 1 else []
    links += [(f"{run}/t/{number + 1}", "Next")] if number < len(loaded.index) else []
    return links + [(f"{run}/t/{target}", "Next waiting") for target in _next_waiting(number, loaded)]


def _next_waiting(number: int, loaded: LoadedRun) -> Iterator[str]:
    """The path of the next transcript that waits for a person, the worst first; nothing without another one."""
    waiting: dict[int, str] = {}
    for each in loaded.report["waiting"]["shown"]:
        waiting.setdefault(each["number"], each["check_id"])
    numbers = list(waiting)
    start = numbers.index(number) + 1 if number in waiting else 0
    for other in (*numbers[start:], *numbers[:start]):
        if other != number:
            yield f"{other}#{loaded.chats.anchor(other, waiting[other])}"
            return


FOLDER: Final = "labels"


class Labels(Struct, frozen=True):
    """The labels of one check in the folder of a run. Its file may hold those of another check whose id differs only in
    case, where the file system ignores case."""

    run: Path
    check: str

    @property
    def path(self) -> Path:
        return self.run / FOLDER / f"{quote(self.check, safe='')}.csv"

    def read(self) -> list[GoldLabel]:
        """Return the labels in the file. Raises UsageError where it is invalid."""
        return read_gold(self.path) if self.path.is_file() else []

    def own(self) -> list[GoldLabel]:
        """Return the check's labels so far. Raises UsageError where the file is invalid."""
        return [each for each in self.read() if each.item[1] == self.check]

    def add(self, transcript: str, target: str, annotator: str, conversation: str, text: str = "") -> None:
        """Store a label of the conversation with this fingerprint; it replaces an earlier one by the same person. All
        labels of one `text`, the folded fingerprint, are in one split.

        Raises BusyError, OSError, UsageError.
        """
        item = (transcript, self.check)
        split = (TUNE, REPORT)[_chance(self.check, text or conversation or transcript) % 2]
        person = plain_name(annotator)
        self.path.parent.mkdir(exist_ok=True)
        with lock_folder(self.path.parent):
            labels = self.read()
            name = next((each.annotator for each in labels if each.person == person), annotator)
            others = [each for each in labels if (each.item, each.person) != (item, person)]
            split = next((each.split for each in labels if each.item == item), split)
            new = GoldLabel(item, target, name, split, conversation)
            write_whole(self.path, to_csv([*others, new]).encode())

    def done(self, annotator: str) -> list[str]:
        """Return the transcripts that this annotator has labelled."""
        return [each.item[0] for each in self.own() if each.person == plain_name(annotator)]

    def next(self, transcripts: Iterable[str], annotator: str) -> str | None:
        """Return the transcript that this annotator should label next, or None when all are labelled."""
        done = set(self.done(annotator))
        remaining = [name for name in transcripts if name not in done]
        return min(remaining, key=lambda name: _chance(self.check, name), default=None)


def _chance(check: str, transcript: str) -> int:
    return int.from_bytes(sha256(f"{check}\0{transcript}".encode("utf-8", "surrogatepass")).digest())
