"""Human labels: draws items from a run, and reads and writes the CSV `id,target,annotator,split`.

An `id` is `TRANSCRIPT/CHECK`. Labels of an annotator that begins with `model:` are counted separately and are never
gold. A fifth column, `conversation`, is optional: the fingerprint of the labelled messages.
"""

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from rulewright.errors import UsageError
from rulewright.reporting.forget import LABELS
from rulewright.reporting.stored_run import StoredRun, conversations
from rulewright.spelling import question
from rulewright_runtime.digests import sha256
from rulewright_runtime.english import plural, reason_of
from rulewright_runtime.files.input_files import read_expanded
from rulewright_runtime.judging.evidence import fold
from rulewright_runtime.person_names import folded_name
from rulewright_runtime.plan.judge_needs import needs_judge
from rulewright_runtime.plan.part import ANSWERS, answer_named
from rulewright_runtime.report.text import csv_cell, text_of_cell
from rulewright_runtime.transcripts.containers import delimiter_of
from rulewright_runtime.transcripts.messages import Transcript
from rulewright_runtime.transcripts.redaction import Redaction

FINGERPRINT: Final = "conversation"
TUNE, REPORT = "tune", "report"  # splits: to choose a threshold on, and to report on
SYNTHETIC: Final = "model:"
Item = tuple[str, str]  # transcript, check


class GoldLabel(Struct, frozen=True):
    """One annotator's label of one item; without a `target` it is not labelled yet.

    `conversation` is the fingerprint of the labelled messages, empty where it was not recorded.
    """

    item: Item
    target: str
    annotator: str
    split: str
    conversation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether the annotator is a model."""
        return self.person.startswith(SYNTHETIC)

    @property
    def person(self) -> str:
        """The annotator's name as it is compared."""
        return plain_name(self.annotator)


class Gold(Struct, frozen=True):
    """The labels of a majority of people, all labels by item, the items without a majority, and those drawn that
    nobody has labelled."""

    labels: Mapping[Item, str]
    units: Mapping[Item, Mapping[str, str]]  # each person's label
    synthetic: Mapping[Item, Mapping[str, str]]
    tied: tuple[Item, ...]
    unlabelled: frozenset[Item]

    @property
    def people(self) -> list[str]:
        """The names of the annotators, sorted."""
        return sorted({name for by_person in self.units.values() for name in by_person})


def plain_name(annotator: str) -> str:
    """Return a name without spaces, and as a reader sees it: one person has one."""
    return folded_name(annotator).replace(" ", "")


def id_of(item: Item) -> str:
    return "/".join(item)


def read_gold(path: Path) -> list[GoldLabel]:
    """Return the labels of a CSV file. Raises UsageError with every invalid row and its line."""
    try:
        text = read_expanded(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"can't read `{path}`: {reason_of(error)}") from None
    try:
        separator = delimiter_of(text.partition("\n")[0])
        lines = io.StringIO(text, newline="")
        reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise UsageError(f"{path}: this is not CSV: {error}") from None
    columns = tuple(rows[0][1]) if rows else ()
    if columns not in (LABELS, (*LABELS, FINGERPRINT)):
        found = f"`{','.join(columns)}`" if columns else "none"
        expected = f"`{','.join(LABELS)}`, and optionally `{FINGERPRINT}`"
        raise UsageError(f"{path}:1: expected the columns {expected}; found {found}")
    labels: list[GoldLabel] = []
    mistakes: list[str] = []
    seen = _LabelsSeen()
    for number, row in rows[1:]:
        try:
            if row:
                labels.append(_label(row, len(columns)))
                seen.refuse_contradiction(labels[-1])
        except UsageError as error:
            mistakes += (f"{path}:{number}: {message}" for message in error.messages)
    if mistakes:
        raise UsageError(*mistakes)
    return labels


class _LabelsSeen(Struct, frozen=True):
    """What the labels before one say of its annotator and its item."""

    name_of: dict[str, str] = field(default_factory=dict)
    split_of: dict[Item, str] = field(default_factory=dict)
    labelled: set[tuple[Item, str]] = field(default_factory=set)

    def refuse_contradiction(self, each: GoldLabel) -> None:
        """Raise UsageError for a label that contradicts an earlier one."""
        name, split = (
            self.name_of.setdefault(each.person, each.annotator),
            self.split_of.setdefault(each.item, each.split),
        )
        if name != each.annotator:
            raise UsageError(f"`{name}` and `{each.annotator}` are one name; write it one way")
        if each.target and (each.item, each.annotator) in self.labelled:
            raise UsageError(f"`{each.annotator}` labels `{id_of(each.item)}` twice")
        if each.target:
            self.labelled.add((each.item, each.annotator))
        if split != each.split:
            raise UsageError(f"`{id_of(each.item)}` is in the splits `{split}` and `{each.split}`")


def _label(row: Sequence[str], count: int) -> GoldLabel:
    if len(row) != count:
        raise UsageError(f"expected {plural(count, 'field')}, found {len(row)}")
    name, target, annotator, split, *conversation = (text_of_cell(field.strip()) for field in row)
    transcript, _, check = name.rpartition("/")
    if not transcript or not check:
        raise UsageError(f"expected an `id` like `TRANSCRIPT/CHECK`, found `{name}`")
    answer = answer_named(target) if target else ""
    if answer is None:
        raise UsageError(f"unknown target `{target}`; expected {', '.join(ANSWERS)}{question(target, ANSWERS)}")
    if target and not plain_name(annotator):
        raise UsageError(f"a label needs an `annotator`; those of models begin with `{SYNTHETIC}`")
    if not split:
        raise UsageError("a label needs a `split`")
    return GoldLabel((transcript, check), answer, annotator, split, *conversation)


def to_csv(labels: Iterable[GoldLabel]) -> str:
    """Return labels as CSV, with the column `conversation` if one of them has a fingerprint."""
    listed = list(labels)
    columns = (*LABELS, FINGERPRINT) if any(each.conversation for each in listed) else LABELS
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(columns)
    for each in listed:
        fields = (id_of(each.item), each.target, each.annotator, each.split, each.conversation)
        rows.writerow(map(csv_cell, fields[: len(columns)]))
    return out.getvalue()


def with_fingerprints(run: StoredRun, labels: Iterable[GoldLabel]) -> list[GoldLabel]:
    """Return the labels with the fingerprints of the run's conversations."""
    return [replace(each, conversation=run.fingerprint(each.item[0])) for each in labels]


def refuse_other_conversations(run: StoredRun, labels: Iterable[GoldLabel]) -> None:
    """Raise UsageError for labels of a conversation that has other messages in the run."""
    others = [
        f"`{each.annotator}` labelled `{id_of(each.item)}` on a different text than in `{run.folder}`; label it again,"
        " or remove that row"
        for each in labels
        if each.target and each.conversation and run.fingerprint(each.item[0]) not in ("", each.conversation)
    ]
    if others:
        raise UsageError(*others)


def refuse_shared_conversations(run: StoredRun, labels: Iterable[GoldLabel], splits: Collection[str | None]) -> None:
    """Raise UsageError where a check has labels of one conversation in two of the splits, under two ids."""
    first: dict[tuple[str, str], GoldLabel] = {}
    conversations = texts_of(run)
    for each in labels:
        conversation = conversations[each.item[0]]
        if each.target and conversation and each.split in splits:
            other = first.setdefault((each.item[1], conversation), each)
            if other.split != each.split:
                both = f"`{id_of(other.item)}` in `{other.split}` and `{id_of(each.item)}` in `{each.split}`"
                raise UsageError(f"{both} say the same; a conversation belongs to one split")


def texts_of(run: StoredRun) -> dict[str, str]:
    """Return a fingerprint of what each conversation says, equal where only spaces, case or marks differ; where its
    file is gone, the one of its messages, which is empty if the run did not record it."""
    redaction = Redaction(run.plan.redact)
    folded = {name: folded_fingerprint(redaction.transcript(each)) for name, each in conversations(run).items()}
    return {name: folded.get(name) or run.fingerprint(name) for name in run.rows}


def folded_fingerprint(conversation: Transcript) -> str:
    """Return a fingerprint of what a conversation says, equal where only spaces, case or marks differ."""
    turns = repr([(turn.role, fold(turn.content)) for turn in conversation.turns])
    return sha256(turns.encode("utf-8", "surrogatepass")).hexdigest()


def gold_of(labels: Iterable[GoldLabel], split: str | None) -> Gold:
    """Return the gold of one split or of all: the labels that more than half of an item's annotators gave."""
    units: dict[Item, dict[str, str]] = {}
    synthetic: dict[Item, dict[str, str]] = {}
    drawn = set()
    for each in labels:
        if split not in (None, each.split):
            continue
        drawn.add(each.item)
        if each.target:
            (synthetic if each.synthetic else units).setdefault(each.item, {})[each.annotator] = each.target
    agreed: dict[Item, str] = {}
    tied = []
    for item, by_person in units.items():
        target, count = Counter(by_person.values()).most_common(1)[0]
        if 2 * count > len(by_person):
            agreed[item] = target
        else:
            tied.append(item)
    return Gold(agreed, units, synthetic, tuple(tied), frozenset(drawn - units.keys() - synthetic.keys()))


def worth_labelling(run: StoredRun) -> list[str]:
    """Return the checks of a run whose verdicts are in doubt: those that a judge decides or a gate contains; all checks
    if there are none."""
    judged, card = needs_judge(run.plan), run.scorecard
    example = {verdict.check_id: verdict for verdicts in run.verdicts.values() for verdict in verdicts.values()}
    gated = {name for name, each in example.items() if card is not None and any(card.stops(each))}
    return [check.id for check in run.plan.checks if check.id in gated.union(judged)] or [*run.checks]


def draw(
    run: StoredRun, count: int, seed: int, splits: Sequence[str], checks: Sequence[str], known: Iterable[GoldLabel] = ()
) -> list[GoldLabel]:
    """Draw items to label: equally many of every check and verdict, in an order given by the seed, with alternating
    splits; a conversation that several transcripts hold is in one split. Items that are `known` already are skipped.
    The rows do not show verdicts."""
    skipped, split_of, conversations = set(), {}, texts_of(run)
    for each in known:
        skipped.add(each.item)
        split_of[each.item[1], conversations.get(each.item[0], "")] = each.split
    strata: dict[tuple[str, str], list[Item]] = {}
    for transcript, verdicts in run.verdicts.items():
        for check, verdict in verdicts.items():
            item = (transcript, check)
            if verdict.eligible is not False and item not in skipped and (not checks or check in checks):
                strata.setdefault((check, verdict.verdict), []).append(item)
    for items in strata.values():
        items.sort(key=lambda item: _shuffle_key(seed, id_of(item)))
    queues = [list(reversed(items)) for _, items in sorted(strata.items())]
    drawn: list[GoldLabel] = []
    turn = 0
    while len(drawn) < count and any(queues):
        for queue in queues:
            if queue and len(drawn) < count:
                item = queue.pop()
                key = item[1], conversations[item[0]] or item[0]
                drawn.append(GoldLabel(item, "", "", split_of.setdefault(key, splits[turn % len(splits)])))
        turn += 1
    # Another order than the one drawn by, in which those of a rare verdict, all drawn, would come last.
    return sorted(drawn, key=lambda each: _shuffle_key(seed, f"order\n{id_of(each.item)}"))


def _shuffle_key(seed: int, text: str) -> bytes:
    return sha256(f"{seed}\n{text}".encode()).digest()
