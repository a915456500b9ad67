"""Labels of people: items drawn from a run, and the CSV `id,target,annotator,split` in which they come and go.

An `id` is `TRANSCRIPT/CHECK`. Labels of an annotator that begins with `model:` are counted separately and are never
gold. A fifth column, `conversation`, is optional: the fingerprint of the messages that were labelled.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rulewright.errors import UsageError

if TYPE_CHECKING:
    from rulewright.reporting.stored_run import StoredRun

HEADS: Final = ("id", "target", "annotator", "split")
FINGERPRINT: Final = "conversation"
TARGETS: Final = ("PASS", "FAIL", "NOT_APPLICABLE")
TUNE, REPORT = "tune", "report"  # splits: to choose a threshold on, and to report on
SYNTHETIC: Final = "model:"
Item = tuple[str, str]  # transcript, check


@dataclass(frozen=True, slots=True)
class GoldLabel:
    """What one annotator said of one item; without a `target` it waits to be labelled.

    `conversation` is the fingerprint of the messages that were labelled, empty where it was not written down.
    """

    item: Item
    target: str
    annotator: str
    split: str
    conversation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether a model gave it."""
        return self.annotator.startswith(SYNTHETIC)


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels that people agreed on by majority, and what became of the others."""

    labels: Mapping[Item, str]
    units: Mapping[Item, Mapping[str, str]]  # what each person said
    synthetic: Mapping[Item, Mapping[str, str]]
    tied: tuple[Item, ...]

    @property
    def people(self) -> list[str]:
        """Who labelled."""
        return sorted({name for said in self.units.values() for name in said})


def id_of(item: Item) -> str:
    """The `id` of an item."""
    return "/".join(item)


def read_gold(path: Path) -> list[GoldLabel]:
    """The rows of a CSV. Raises UsageError, with the line, for what is no label."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read `{path}`: {error}") from None
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise UsageError(f"{path}: this is no CSV: {error}") from None
    heads = tuple(rows[0]) if rows else ()
    if heads not in (HEADS, (*HEADS, FINGERPRINT)):
        raise UsageError(f"{path}:1: expected the columns `{','.join(HEADS)}`, and optionally `{FINGERPRINT}`")
    found = [_label(f"{path}:{number}", row, len(heads)) for number, row in enumerate(rows[1:], 2) if row]
    twice = [
        key for key, count in Counter((each.item, each.annotator) for each in found if each.target).items() if count > 1
    ]
    if twice:
        raise UsageError(f"{path}: `{twice[0][1]}` labels `{id_of(twice[0][0])}` twice")
    split_of: dict[Item, str] = {}
    for each in found:
        if split_of.setdefault(each.item, each.split) != each.split:
            raise UsageError(
                f"{path}: `{id_of(each.item)}` is in the splits `{split_of[each.item]}` and `{each.split}`"
            )
    return found


def _label(place: str, row: Sequence[str], columns: int) -> GoldLabel:
    if len(row) != columns:
        raise UsageError(f"{place}: expected {columns} fields, found {len(row)}")
    name, target, annotator, split, *conversation = (field.strip() for field in row)
    transcript, _, check = name.rpartition("/")
    if not transcript or not check:
        raise UsageError(f"{place}: expected an `id` like `TRANSCRIPT/CHECK`, found `{name}`")
    if target and target not in TARGETS:
        raise UsageError(f"{place}: unknown target `{target}`; expected one of {', '.join(TARGETS)}")
    if target and not annotator:
        raise UsageError(f"{place}: a label needs an `annotator`; those of models begin with `{SYNTHETIC}`")
    if not split:
        raise UsageError(f"{place}: a label needs a `split`")
    return GoldLabel((transcript, check), target, annotator, split, *conversation)


def written(labels: Iterable[GoldLabel]) -> str:
    """The CSV of labels, with the column `conversation` where one of them has a fingerprint."""
    listed = list(labels)
    heads = (*HEADS, FINGERPRINT) if any(each.conversation for each in listed) else HEADS
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(heads)
    for each in listed:
        fields = (id_of(each.item), each.target, each.annotator, each.split, each.conversation)
        rows.writerow(fields[: len(heads)])
    return out.getvalue()


def fingerprinted(run: StoredRun, labels: Iterable[GoldLabel]) -> list[GoldLabel]:
    """The labels with the fingerprints of the run's conversations."""
    return [replace(each, conversation=run.fingerprint(each.item[0])) for each in labels]


def refuse_other_conversations(run: StoredRun, labels: Iterable[GoldLabel]) -> None:
    """Raise UsageError for a label of a conversation that says something else in the run."""
    for each in labels:
        now = run.fingerprint(each.item[0])
        if each.target and each.conversation and now and each.conversation != now:
            what = f"`{each.annotator}` labelled `{id_of(each.item)}` on another text than `{run.folder}` holds"
            raise UsageError(f"{what}; label it again, or remove that row")


def gold_of(labels: Iterable[GoldLabel], split: str | None = None) -> Gold:
    """The gold of one split, or of all: what more than half of the people who labelled an item said."""
    units: dict[Item, dict[str, str]] = {}
    synthetic: dict[Item, dict[str, str]] = {}
    for each in labels:
        if each.target and split in (None, each.split):
            (synthetic if each.synthetic else units).setdefault(each.item, {})[each.annotator] = each.target
    agreed: dict[Item, str] = {}
    tied = []
    for item, said in units.items():
        target, count = Counter(said.values()).most_common(1)[0]
        if 2 * count > len(said):
            agreed[item] = target
        else:
            tied.append(item)
    return Gold(agreed, units, synthetic, tuple(tied))


def draw(
    run: StoredRun, count: int, seed: int, splits: Sequence[str], checks: Sequence[str], known: Iterable[Item] = ()
) -> list[GoldLabel]:
    """Items to label: from every check and verdict as many as from any other, in the order that the seed gives; the
    splits take turns within each. What is `known` already is left out. The verdicts are not told."""
    left_out = set(known)
    strata: dict[tuple[str, str], list[Item]] = {}
    for transcript, verdicts in run.verdicts.items():
        for check, verdict in verdicts.items():
            item = (transcript, check)
            if verdict.eligible is not False and item not in left_out and (not checks or check in checks):
                strata.setdefault((check, verdict.verdict), []).append(item)
    for items in strata.values():
        items.sort(key=lambda item: _shuffled(seed, id_of(item)))
    queues = [list(reversed(items)) for _, items in sorted(strata.items())]
    drawn: list[GoldLabel] = []
    turn = 0
    while len(drawn) < count and any(queues):
        for queue in queues:
            if queue and len(drawn) < count:
                drawn.append(GoldLabel(queue.pop(), "", "", splits[turn % len(splits)]))
        turn += 1
    return sorted(drawn, key=lambda each: _shuffled(seed, id_of(each.item)))


def _shuffled(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{text}".encode()).digest()
