"""Batches: the test cases or outputs in a file, as the scorecard reads them that scores them; folders of test cases."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from csv import DictReader
from csv import Error as CsvError
from functools import cached_property
from io import StringIO
from pathlib import Path

from msgspec import Struct

from rulewright.diagnostics import Span
from rulewright.documents.base import items
from rulewright.documents.kinds import OUTPUT_KEYS, outputs_by_id
from rulewright.documents.layout import TABLES, folder_near, holds_outputs, searched_files, text_of, values_in
from rulewright.load import Mapping, Node, Sequence
from rulewright.once_a_run import once_a_run
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import LIST_KEYS, OUTPUT_FOLDER, id_of
from rulewright_runtime.cases.shape import FAILURES, OUTPUTS, read_names

OUTPUT_MARKS = frozenset({*OUTPUT_KEYS, *OUTPUTS, *FAILURES, "summary"})


class CaseRecord(Struct, frozen=True):
    """A record and the case inside it, which may be the record itself. `key` is its test id. Only cases have the keys
    that are `expected`."""

    node: Mapping
    case: Mapping
    key: str | None
    concern: str | None
    expected: frozenset[str]

    @property
    def source(self) -> bytes:
        """The record as it is written."""
        return source_of(self.node).encode()

    @property
    def is_case(self) -> bool:
        """Whether it is a test case: it has expectations, or no part of an output and is not in a folder of these."""
        expects = not self.expected.isdisjoint(self.node.index)
        if expects or holds_outputs(self.node.source.path):
            return expects
        return self.case is not self.node or OUTPUT_MARKS.isdisjoint(self.node.index)

    @property
    def expectations(self) -> tuple[Node, ...]:
        """The values under which the case holds what is expected."""
        return tuple(each.value for each in self.case.entries if each.name in self.expected)

    def place(self, key: str) -> Span:
        """The span of the value of a key, or of the record's first key."""
        found = self.case.get(key) or self.node.get(key)
        return found.span if found is not None else next((each.key.span for each in self.node.entries), self.node.span)


class CaseBatch(Struct, frozen=True, dict=True):
    """A file of cases or outputs: the nodes of its records, and those that are objects, read as by the scorecard of
    `plan`."""

    root: Node
    plan: CaseScorecardPlan
    nodes: tuple[Node, ...]
    records: tuple[CaseRecord, ...]

    @property
    def path(self) -> Path:
        """The file's path as the user gave it."""
        return Path(self.root.source.path)

    @cached_property
    def cases(self) -> tuple[CaseRecord, ...]:
        """The records that are test cases."""
        return tuple(each for each in self.records if each.is_case)


def read_batch(root: Node, plan: CaseScorecardPlan) -> CaseBatch:
    """Return a file of cases or outputs as the scorecard of a plan reads it."""
    keys = {id(entry.value): entry.name for entry in root.entries} if isinstance(root, Mapping) else {}
    if holds_outputs(root.source.path):  # an output without an id has that of its file, as for `score`
        keys[id(root)] = Path(root.source.path).stem
    nodes = records_in(root)
    expected = frozenset({"expectations", *(each.path[0] for each in plan.inputs if each.source == "case")})
    records = (_record(each, keys.get(id(each)), expected) for each in nodes if isinstance(each, Mapping))
    return CaseBatch(root, plan, nodes, tuple(records))


def records_in(root: Node) -> tuple[Node, ...]:
    """The records of a file: items of its list, of a list in its object, values of its object, or the object."""
    if isinstance(root, Mapping):
        if by_id := records_by_id(root):
            return by_id
        listed = next((found for key in LIST_KEYS if isinstance(found := root.get(key), Sequence)), None)
        return (root,) if listed is None else listed.items
    return items(root)


def records_by_id(root: Mapping) -> tuple[Mapping, ...]:
    """The outputs in an object whose keys are test ids; those in a folder of outputs may have any form."""
    below = tuple(entry.value for entry in root.entries if isinstance(entry.value, Mapping))
    is_named = not {"test_id", "id", *LIST_KEYS}.isdisjoint(root.index)
    if holds_outputs(root.source.path) and not is_named and len(below) == len(root.entries):
        return below
    return outputs_by_id(root)


def _record(node: Mapping, name: str | None, expected: frozenset[str]) -> CaseRecord:
    below = node.get("test_case")
    case = below if isinstance(below, Mapping) else node
    read = read_names(source_of(node).encode())
    if read is None:
        return CaseRecord(node, case, name, None, expected)
    envelope, inner = read
    names = (inner.test_id, envelope.test_id, envelope.id, inner.id)
    key = next((found for name in names if (found := id_of(name)) is not None), name)
    return CaseRecord(node, case, key, inner.concern_id or envelope.concern_id, expected)


def source_of(node: Node) -> str:
    """The text of a node as it is written."""
    return node.source.text[node.start : node.end]


class CaseFolder:
    """The files of a folder of cases or outputs, in order, and the values of keys in each."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self.files = files
        self._values: dict[str, list[tuple[str, ...]]] = {}
        self._counted: dict[str, Counter[str]] = {}
        self._numbers: dict[str, dict[str, list[int]]] = {}

    def values(self, key: str) -> list[tuple[str, ...]]:
        """The values of a key in each of the files, each as often as it is there."""
        if key not in self._values:
            self._values[key] = [_column(file, key) or values_in(file, key) for file in self.files]
        return self._values[key]

    def counted(self, key: str) -> Counter[str]:
        """The values of a key in all files, with their numbers."""
        if key not in self._counted:
            self._counted[key] = Counter(value for values in self.values(key) for value in values)
        return self._counted[key]

    def holding(self, key: str, values: frozenset[str]) -> Iterator[tuple[Path, frozenset[str]]]:
        """The files in which a key has one of the values, in order, each with its values of the key."""
        numbers = self._numbers.setdefault(key, {})
        if not numbers:
            for number, found in enumerate(self.values(key)):
                for value in dict.fromkeys(found):
                    numbers.setdefault(value, []).append(number)
        for number in sorted({each for value in values for each in numbers.get(value, ())}):
            yield self.files[number], frozenset(self.values(key)[number])


def _column(file: Path, key: str) -> tuple[str, ...]:
    """The values in a column of a table; none for another file."""
    if file.suffix.lower() not in TABLES:
        return ()
    rows = DictReader(StringIO(text_of(file)), delimiter="\t" if file.suffix.lower() == ".tsv" else ",")
    with suppress(CsvError):  # which is reported for the table itself
        return tuple(value for row in rows if (value := row.get(key)))
    return ()


def cases_near(path: Path) -> CaseFolder:
    """The folder of test cases near a file."""
    return _read(folder_near(path))


def outputs_near(path: Path) -> CaseFolder:
    """The folder of outputs near a file."""
    return _read(folder_near(path, OUTPUT_FOLDER))


@once_a_run
def _read(folder: Path | None) -> CaseFolder:
    return CaseFolder(tuple(searched_files(folder)))
