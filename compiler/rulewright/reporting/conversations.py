"""The conversations that a run has read, found again where they were read or where they are said to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rulewright.errors import UsageError
from rulewright_runtime.errors import InputError
from rulewright_runtime.runs.log import said
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.transcript_reader import Reader

if TYPE_CHECKING:
    from rulewright.reporting.judged import Judged
    from rulewright.reporting.stored_run import StoredRun


def conversations(run: StoredRun, paths: Sequence[str] = ()) -> dict[str, Transcript]:
    """The conversations of the run by their ids: those in `paths`, else those where the run has read them.

    One that was changed since is left out, as is one that is gone. Raises UsageError for a transcript in `paths` that
    is refused.
    """
    places = dict.fromkeys(step.path for step in run.steps.values() if step.path)
    found: dict[str, Transcript] = {}
    for item in (*given(paths), *_read(places)):
        if isinstance(item, Transcript) and item.id not in found and _is_unchanged(run, item):
            found[item.id] = item
    return found


def given(paths: Sequence[str]) -> Iterator[Transcript]:
    """The conversations in `paths`. Raises UsageError for one that is refused."""
    for path in paths:
        for item in Reader().read([path]):
            if isinstance(item, InputError):
                raise UsageError(str(item))
            yield item


def _read(places: Sequence[str] | dict[str, None]) -> Iterator[Transcript | InputError]:
    """What stands at the places; a reader each, since two of them may hold a transcript of one id."""
    for place in places:
        yield from Reader().read([place])


def _is_unchanged(run: StoredRun, item: Transcript) -> bool:
    step = run.steps.get(item.id)
    return step is not None and bool(step.said) and step.said == said(item)


class Conversations:
    """The conversations of a run one after the other, in the order of its files; one file is open at a time."""

    def __init__(self, paths: Sequence[str] = ()) -> None:
        """`paths` hold those that are no longer where the run has read them; they are kept in memory. Raises UsageError
        for one that is refused."""
        self._given = {item.id: item for item in given(paths)}
        self._path = ""
        self._items: Iterator[Transcript | InputError] = iter(())

    def of(self, judged: Judged) -> Transcript | None:
        """What was said in a transcript; None where it is gone or was changed since."""
        found = self._given.get(judged.id) or self._next(judged)
        return found if found is not None and judged.said and said(found) == judged.said else None

    def _next(self, judged: Judged) -> Transcript | None:
        if not judged.path:
            return None
        if judged.path != self._path:
            self._path, self._items = judged.path, Reader().read([judged.path])
        for item in self._items:
            if isinstance(item, Transcript) and item.id == judged.id:
                return item
        self._path = ""  # read it again for the next one
        return None
