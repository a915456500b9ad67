"""Writes the report of a run: one file, or one file and a folder of linked pages next to it."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from msgspec import Struct

from rulewright.reporting.chat_page import Chat, ChatViews
from rulewright.reporting.judge_answers import JudgeAnswers
from rulewright.reporting.overview import Overview, overview
from rulewright.reporting.page_data import page_data
from rulewright.reporting.stored_run import Conversations, FinishedRun
from rulewright.web.rendering import PageFrame, rendered
from rulewright_runtime.files.atomic import open_whole

IN_ONE_FILE: Final = 200  # transcripts
A_PAGE: Final = 25  # transcripts of a page in the folder
SHOWN: Final = '<ol class="said">'  # of a conversation, in `parts.html`
NOT_SHOWN: Final = "<p>The conversation is not shown"
LIST: Final = "transcripts.html"


class WrittenReport(Struct, frozen=True):
    """The paths of a report, and how many conversations it does not show because their files are gone or changed."""

    paths: list[str]
    missing: int


class RunReport(Struct, frozen=True):
    """The report of a finished run, under its `result` in words. `transcripts` and `replies` are the current paths of
    the run's inputs."""

    run: FinishedRun
    result: str
    transcripts: Sequence[str] = ()
    replies: Sequence[Path] = ()
    with_conversations: bool = True

    def write(self, out: Path, *, one_file: bool = False) -> WrittenReport:
        """Write the page to `out` and, beyond `IN_ONE_FILE` transcripts, conversations into a folder next to it.

        Raises OSError, UsageError.
        """
        report, answers = page_data(self.run), JudgeAnswers(self.run, self.replies)
        stored = Conversations(self.run, self.transcripts)
        folder = _folder_of(out)
        split = self.with_conversations and not one_file and len(report["transcripts"]) > IN_ONE_FILE
        if split:
            _replace_folder(folder, self._pages(report, self.chats(answers, stored), out.name))
        elif (folder / LIST).is_file():
            shutil.rmtree(folder)  # the pages of an earlier report
        with open_whole(out) as stream:
            for piece in self._first(report, answers, stored, folder.name if split else ""):
                stream.write(piece.encode("utf-8", "replace"))
        return WrittenReport([str(out), *([f"{folder}{os.sep}"] if split else [])], stored.missing)

    def hides_shown(self, out: Path) -> bool:
        """Whether the page at `out` shows a conversation that this report can't show. Raises OSError, UsageError."""
        before = _shown_in(out) if self.with_conversations and out.exists() else []
        if not any(before):
            return False
        stored = Conversations(self.run, self.transcripts)
        now = [stored.of(each.id, each.path, each.conversation) is not None for each in self.run.judged()]
        return any(shown and not can_be for shown, can_be in zip(before, now, strict=False))

    def text(self) -> str:
        """Return the whole report as one page."""
        stored = Conversations(self.run, self.transcripts)
        return "".join(self._first(page_data(self.run), JudgeAnswers(self.run, self.replies), stored, ""))

    def chats(self, answers: JudgeAnswers, stored: Conversations) -> Iterator[Chat]:
        """Yield the transcripts in order."""
        view = ChatViews(self.run, answers)
        for number, judged in enumerate(self.run.judged(), 1):
            yield view.view(number, judged, stored.of(judged.id, judged.path, judged.conversation))

    def _first(
        self, report: dict[str, object], answers: JudgeAnswers, stored: Conversations, folder: str
    ) -> Iterator[str]:
        about, view = overview(report, self.result, answers), ChatViews(self.run, answers)

        def link(number: int, check_id: str | None = None) -> str:
            if not self.with_conversations:
                return "#transcripts"
            anchor = f"t{number}" if check_id is None else view.anchor(number, check_id)
            return f"{folder}/{_page_of(number)}#{anchor}" if folder else f"#{anchor}"

        chats = self.chats(answers, stored) if self.with_conversations and not folder else None
        list_link = f"{folder}/{LIST}" if folder else ""
        return run_page(report, about, link=link, rationale=answers.rationale, chats=chats, list_link=list_link)

    def _pages(self, report: dict[str, Any], chats: Iterator[Chat], home: str) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the pages of the folder by name."""
        frame = PageFrame(home=Markup('<a href="../{}">Rulewright</a>').format(home))
        count = len(report["transcripts"])
        for first in range(1, count + 1, A_PAGE):
            last = min(first + A_PAGE - 1, count)
            links = [(f"../{home}", "The run"), (LIST, "All transcripts")]
            links += [(_page_of(first - 1), "Previous")] if first > 1 else []
            links += [(_page_of(last + 1), "Next")] if last < count else []
            title = f"Transcripts {first} to {last} of {count}"
            shown = islice(chats, A_PAGE)
            yield _page_of(first), rendered("chats.html", frame, title=title, chats=shown, links=links)
        context = {"rows": report["transcripts"], "summary": report["summary"], "run": report["run"]}

        def link(number: int) -> str:
            return f"{_page_of(number)}#t{number}"

        yield LIST, rendered("list.html", frame, **context, link=link, home=f"../{home}")


def _folder_of(out: Path) -> Path:
    """Return the folder next to a page for its conversations."""
    return out.with_name(f"{out.stem}-pages")


def _shown_in(out: Path) -> list[bool]:
    """Return for each transcript of a page and its folder whether its conversation is shown. Raises OSError."""
    found: list[bool] = []
    for path in (out, *sorted(_folder_of(out).glob("chats-*.html"))):
        with path.open(encoding="utf-8", errors="replace") as lines:
            found += (SHOWN in line for line in lines if SHOWN in line or NOT_SHOWN in line)
    return found


def _page_of(number: int) -> str:
    """Return the page of the folder that contains the transcript with this number."""
    return f"chats-{(number - 1) // A_PAGE + 1:04}.html"


def _replace_folder(folder: Path, pages: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Write pages into a folder that appears only when it is complete."""
    part = folder.with_name(f".{folder.name}.rulewright")
    if part.exists():
        shutil.rmtree(part)
    part.mkdir()
    for name, pieces in pages:
        with (part / name).open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
            stream.writelines(pieces)
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)


MOST: Final = 200  # rows of a list in an overview
Link = Callable[..., str]


def run_page(
    report: Mapping[str, Any],
    about: Overview,
    *,
    link: Link,
    rationale: Callable[[str, str, str], str],
    chats: Iterable[Chat] | None = None,
    list_link: str = "",
    frame: PageFrame | None = None,
) -> Iterator[str]:
    """Yield the page of a run. `link` returns the address of a transcript by its number, and of a verdict on it,
    `rationale` the judge's reason for a verdict on a transcript by a check;
    `chats` are at the end; with `list_link` only failed and pending transcripts are listed."""
    rows = sorted(report["transcripts"], key=attention)
    if list_link:
        rows = [row for row in rows if row["waiting"] or row["outcome"] not in ("passed", "nothing_applied")][:MOST]
    checks = {check["check_id"]: place for place, check in enumerate(report["checks"])}
    undecided = [item for item in report["summary"]["adjudication"]["items"] if item["verdict"] is None]
    return rendered(
        "run.html",
        frame,
        report=report,
        about=about,
        link=link,
        rationale=rationale,
        chats=chats,
        list_link=list_link,
        listed=rows,
        most=MOST,
        undecided=undecided,
        anchors=checks,
    )


def attention(row: Mapping[str, Any]) -> tuple[bool, bool]:
    """Undecided ones come first, then failed ones."""
    return not (row["waiting"] or row["outcome"] == "undecided"), row["outcome"] != "failed"
