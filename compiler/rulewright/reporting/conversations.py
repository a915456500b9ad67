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
    from rulewright.reporting.stored_run import StoredRun


def conversations(run: StoredRun, paths: Sequence[str] = ()) -> dict[str, Transcript]:
    """The conversations of the run by their ids: those in `paths`, else those where the run has read them.

    One that was changed since is left out, as is one that is gone. Raises UsageError for a transcript in `paths` that
    is refused.
    """
    given = [item for path in paths for item in Reader().read([path])]
    for item in given:
        if isinstance(item, InputError):
            raise UsageError(str(item))
    places = dict.fromkeys(step.path for step in run.steps.values() if step.path)
    found: dict[str, Transcript] = {}
    for item in (*given, *_read(places)):
        if isinstance(item, Transcript) and item.id not in found and _is_unchanged(run, item):
            found[item.id] = item
    return found


def _read(places: Sequence[str] | dict[str, None]) -> Iterator[Transcript | InputError]:
    """What stands at the places; a reader each, since two of them may hold a transcript of one id."""
    for place in places:
        yield from Reader().read([place])


def _is_unchanged(run: StoredRun, item: Transcript) -> bool:
    step = run.steps.get(item.id)
    return step is not None and bool(step.said) and step.said == said(item)
