"""The findings about files of test cases and outputs, JSON or CSV: each record is decoded as by `score`."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from rulewright.check.phrase_numbers import other_numbers
from rulewright.diagnostics import Diagnostic, Findings, Span, advice, error, warning
from rulewright.documents.base import descend, entries, fraction, items, number, texts
from rulewright.documents.kinds import BATCH, CASE_SETTINGS, OUTPUT_KEYS, kind_of, misspelt_list, outputs_by_id
from rulewright.documents.layout import files_near, holds_outputs, text_of, values_in
from rulewright.errors import DocumentError
from rulewright.load import Loaded, Mapping, Node, Scalar, Sequence, Source, load_file, walk
from rulewright.load.json_reader import read_lines
from rulewright.proving.case_values import opposed_lists
from rulewright.rules.listed_twice import repeated_in
from rulewright.rules.weights_far_apart import far_apart
from rulewright.scoring.batches import SHIPPED, case_scorecards_of_project, lacks_scorecards, load_scorecard
from rulewright.scoring.score_settings import settings_findings
from rulewright.spelling import Guess, SimilarWords, did_you_mean, is_slip_of, is_spelt_like
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import LIST_KEYS, id_of, records_of
from rulewright_runtime.cases.shape import FAILURES, OUTPUTS, CaseShape, Mistake, read_names
from rulewright_runtime.english import plural
from rulewright_runtime.errors import InputError

MARKS: Final = re.compile(r"\W{2,}")
MARK_AT_AN_END: Final = re.compile(r"\A\W|\W\Z")
LONG: Final = 6  # letters of a word that is no other word but for a letter
LEAST: Final = re.compile(r"min_\w*count")
OUTPUT_MARKS: Final = frozenset({*OUTPUT_KEYS, *OUTPUTS, *FAILURES, "summary"})


class _Record(Struct, frozen=True):
    """A record and the case inside it, which may be the record itself. `key` is its test id. Only cases have the keys
    that are `expected`."""

    node: Mapping
    case: Mapping
    key: str | None
    concern: str | None
    expected: frozenset[str]

    @property
    def is_case(self) -> bool:
        """Whether it is a test case: it has expectations, or no part of an output and is not in a folder of these."""
        expects = not self.expected.isdisjoint(self.node.index)
        if expects or holds_outputs(self.node.source.path):
            return expects
        return self.case is not self.node or OUTPUT_MARKS.isdisjoint(self.node.index)

    def place(self, key: str) -> Span:
        """The span of the value of a key, or of the record's first key."""
        found = self.case.get(key) or self.node.get(key)
        return found.span if found is not None else next((each.key.span for each in self.node.entries), self.node.span)


def case_document_findings(root: Node) -> list[Diagnostic]:
    """The findings of a file of cases or outputs, or of a settings file of `rulewright score`.

    A file is read as by the scorecards over cases of its project, or by the shipped one if there are none.
    Of several, the one that refuses the fewest records counts. If one of them is invalid, no record is refused.
    """
    try:
        own = [load_scorecard(str(path)).plan for path in case_scorecards_of_project(Path(root.source.path).parent)]
    except DocumentError:
        return []
    if not own and lacks_scorecards(Path(root.source.path).parent):  # what they read is unknown
        return []
    plans = own or [load_scorecard(SHIPPED).plan]
    if kind_of(root) == CASE_SETTINGS and isinstance(root, Mapping):
        found = min((settings_findings(root, plan) for plan in plans), key=len)
        written = [each.value for each in entries(root, "weights") if isinstance(each.value, Scalar)]
        weights = [(value, each) for each in written if (value := fraction(each)) is not None]
        return [*found, *far_apart(weights), *strange_groups(root)]
    return [*min((batch_findings(root, plan) for plan in plans), key=_refused), *_of_outputs(root, plans)]


def table_findings(path: Path) -> tuple[Loaded, list[Diagnostic]]:
    """A table of cases or outputs, and its findings, each at the lines of its row."""
    loaded = load_file(path)
    if loaded.diagnostics:
        return loaded, list(loaded.diagnostics)
    table, rows, found = loaded.source, dict[int, str](), list[Diagnostic]()
    for each in records_of(str(path))[1]:
        if isinstance(each, InputError):
            found.append(error(_line(table, each.line or 1), each.reason, code="bad-case"))
        else:
            rows[each.line] = each.data.decode()
    # As JSON lines whose numbers are those of the table's lines.
    lines = "\n".join(rows.get(number, "") for number in range(1, max(rows, default=0) + 1))
    root, _ = read_lines(Source(str(path), lines))
    for finding in case_document_findings(root) if rows and root is not None else ():
        notes = tuple(replace(note, span=_line(table, note.span.line)) for note in finding.notes)
        found.append(replace(finding, span=_line(table, finding.span.line), notes=notes, fix=None))
    return loaded, found


def _line(table: Source, number: int) -> Span:
    start = table.offset(number, 1)
    return table.span(start, start + len(table.line_text(number)))


def _of_outputs(root: Node, plans: list[CaseScorecardPlan]) -> Findings:
    """The findings for outputs without a case."""
    expected = frozenset().union(*map(_expected_keys, plans))
    records = [_record(each, None, expected) for each in records_in(root) if isinstance(each, Mapping)]
    if records and not any(each.is_case for each in records):
        ids = {str(name.value): name for each in records if isinstance(name := each.node.get("test_id"), Scalar)}
        if isinstance(root, Mapping) and _by_id(root):
            ids |= {entry.name: entry.key for entry in root.entries}
        yield from strange_outputs(root.source.path, ids)


def _refused(found: list[Diagnostic]) -> tuple[int, int]:
    return sum(each.code == "bad-case" for each in found), len(found)


def batch_findings(root: Node, plan: CaseScorecardPlan) -> list[Diagnostic]:
    """The findings of a file of cases or outputs: a list of records, an object with a list, or one record."""
    nodes = records_in(root)
    if isinstance(root, Mapping) and (wrong := misspelt_list(root)) is not None:
        key, meant = wrong
        return [error(key, f"unknown key `{key.value}`", code="unknown-key", help=Guess(meant))]
    if not nodes or (nodes == (root,) and isinstance(root, Mapping) and BATCH in root):
        place = root.key_span(BATCH) if isinstance(root, Mapping) else root.span
        return [error(place, "the batch contains no case", code="bad-case", help="add a case, or remove the file")]
    found = [
        error(each, "a case must be an object with `test_id`", code="bad-case")
        for each in nodes
        if not isinstance(each, Mapping)
    ]
    keys = {id(entry.value): entry.name for entry in root.entries} if isinstance(root, Mapping) else {}
    if holds_outputs(root.source.path):  # an output without an id has that of its file, as for `score`
        keys[id(root)] = Path(root.source.path).stem
    expected = _expected_keys(plan)
    records = [_record(each, keys.get(id(each)), expected) for each in nodes if isinstance(each, Mapping)]
    cases = [each for each in records if each.is_case]
    found += _unreadable(records, plan)
    found += _duplicates(cases or records)
    found += _in_an_earlier_batch(cases, Path(root.source.path))
    found += _of_other_concerns(cases, root)
    found += _misspelt_groups(cases, root)
    numbers = [number for each in cases for number in _other_numbers(each, plan)]
    reported = {each.span for each in numbers}
    found += [*numbers, *(each for each in _misspelt_expectations(cases) if each.span not in reported)]
    found += _of_another_batch(root)
    found += _of_plans(root, len(nodes))
    opposed = opposed_lists(plan) if cases else []
    for each in cases:
        found += _expectations(each, plan)
        found += _wanted_and_unwanted(each, plan, opposed)
    return found


def records_in(root: Node) -> tuple[Node, ...]:
    """The records of a file: items of its list, of a list in its object, values of its object, or the object."""
    if isinstance(root, Mapping):
        if by_id := _by_id(root):
            return by_id
        listed = next((found for key in LIST_KEYS if isinstance(found := root.get(key), Sequence)), None)
        return (root,) if listed is None else listed.items
    return items(root)


def _by_id(root: Mapping) -> tuple[Mapping, ...]:
    """The outputs in an object whose keys are test ids; those in a folder of outputs may have any form."""
    below = tuple(entry.value for entry in root.entries if isinstance(entry.value, Mapping))
    is_named = not {"test_id", "id", *LIST_KEYS}.isdisjoint(root.index)
    if holds_outputs(root.source.path) and not is_named and len(below) == len(root.entries):
        return below
    return outputs_by_id(root)


def _expected_keys(plan: CaseScorecardPlan) -> frozenset[str]:
    """The keys of a case under which the scorecard reads what is expected."""
    return frozenset({"expectations", *(each.path[0] for each in plan.inputs if each.source == "case")})


def _record(node: Mapping, name: str | None, expected: frozenset[str]) -> _Record:
    below = node.get("test_case")
    case = below if isinstance(below, Mapping) else node
    read = read_names(_bytes(node))
    if read is None:
        return _Record(node, case, name, None, expected)
    envelope, inner = read
    names = (inner.test_id, envelope.test_id, envelope.id, inner.id)
    key = next((found for name in names if (found := id_of(name)) is not None), name)
    return _Record(node, case, key, inner.concern_id or envelope.concern_id, expected)


def _bytes(node: Node) -> bytes:
    return node.source.text[node.start : node.end].encode()


def _unreadable(records: list[_Record], plan: CaseScorecardPlan) -> Findings:
    """The findings for records that the scorecard's reader refuses, each at the key that the error names."""
    shape = CaseShape(plan)
    for each in records:
        if each.key is None:
            record = "case" if each.is_case else "output"
            yield error(each.place("id"), f"the {record} has no `test_id`", code="bad-case")
            continue
        read = shape.decode(_bytes(each.node), is_case=each.is_case)
        if isinstance(read, Mistake):
            yield error(_at(each, read.path), str(read), code="bad-case")
        elif not each.is_case and isinstance(output := shape.inline_output(read[0]), Mistake):
            yield error(_at(each, output.path), str(output), code="bad-case")


def _at(record: _Record, place: tuple[str, ...]) -> Span:
    """The span of the last existing key on the way to a path, or of the record's test id."""
    node, span = record.node, None
    for name in place:
        if name not in node:
            break
        span, below = node.key_span(name), node.get(name)
        if not isinstance(below, Mapping):
            break
        node = below
    return span or record.place("test_id")


def _duplicates(records: list[_Record]) -> Findings:
    first: dict[str, _Record] = {}
    for each in records:
        if each.key is not None and (before := first.setdefault(each.key, each)) is not each:
            notes = [(before.place("test_id"), "first used here")]
            message = f"duplicate test id in this batch: `{each.key}`"
            yield error(each.place("test_id"), message, code="duplicate-test-id", notes=notes)


def _in_an_earlier_batch(cases: list[_Record], path: Path) -> Findings:
    """The first case that an earlier batch holds as well: the only one with its id, or with the same text."""
    ids = {each.key: each for each in reversed(cases) if each.key is not None}
    own = os.path.abspath(path)
    earlier = (file for file in (files_near(path) if ids else ()) if os.path.abspath(file) < own)
    for file in islice(earlier, MOST_BATCHES):
        known = {*values_in(file, "(?:test_)?id")}
        twice = [each for each in ids if each in known]
        first = ids[twice[0]] if twice else cases[0]
        written = first.node.source.text[first.node.start : first.node.end]
        if twice and (len(twice) == 1 < len(ids) or written in text_of(file)):
            more = f", like {plural(len(twice) - 1, 'other case')}" if twice[1:] else ""
            message = f"the test id `{twice[0]}` is in the batch `{file.stem}` before{more}, and both cases count"
            yield warning(first.place("test_id"), message, code="duplicate-test-id")
            return


def _of_other_concerns(cases: list[_Record], root: Node) -> Findings:
    """The cases with another concern than the batch names, or than most of its cases have."""
    around = descend(root, "concern_id") if isinstance(root, Mapping) and len(records_in(root)) > 1 else None
    counts = Counter(each.concern for each in cases if each.concern)
    (usual, often), *_ = [*counts.most_common(1), (None, 0)]
    most = usual if often > len(cases) / 2 and often > 1 else _named_by(root, counts)
    expected = str(around.value) if isinstance(around, Scalar) and around.value else most
    if isinstance(around, Scalar) and expected and usual and often == len(cases) > 1 and not _same(usual, expected):
        message = f"the batch has the concern `{expected}`, but all its cases have `{usual}`"
        yield error(around, message, code="unknown-concern", help=did_you_mean(expected, [usual]))
        return
    for each in cases:
        if expected and each.concern and not _same(each.concern, expected):
            message = f"the case has the concern `{each.concern}`, but its batch has `{expected}`"
            help = did_you_mean(each.concern, [expected])
            yield error(each.place("concern_id"), message, code="unknown-concern", help=help)


def _named_by(root: Node, counts: Counter[str]) -> str | None:
    """The concern of half of the cases, if the name of the file begins with it."""
    stem = Path(root.source.path).stem.lower()
    is_half = (each for each, count in counts.items() if 2 * count == counts.total())
    return next((each for each in is_half if stem.startswith((f"{each.lower()}_", f"{each.lower()}-"))), None)


def _misspelt_groups(cases: list[_Record], root: Node) -> Findings:
    """The only case of an archetype or a metric whose name is almost that of several others."""
    for name in GROUPS.values():
        known = _named(Path(root.source.path), name)
        for written in (each.case.get(name) for each in cases):
            group = str(written.value) if isinstance(written, Scalar) else ""
            near = next((each for each, count in known.items() if count > 1 and _is_slip(group, each)), None)
            if written is not None and known[group] == 1 and near is not None:
                yield warning(written, f"no other case has the {name} `{group}`", code="bad-case", help=Guess(near))


def _of_another_batch(root: Node) -> Findings:
    """The finding for a batch with the number of another one."""
    written, stem = descend(root, "batch_id"), Path(root.source.path).stem
    if isinstance(written, Scalar) and (name := str(written.value)) != stem and _bare(name) == _bare(stem):
        message = f"`batch_id` is `{name}`, but the file is called `{stem}`"
        yield error(written, message, code="id-differs-from-file-name", help=Guess(stem))


def _of_plans(root: Node, count: int) -> Findings:
    """The findings for a list of scenarios with another length than the list of cases, which it is matched with."""
    for plan in ("batch_plan", "batch_strategy"):
        listed = descend(root, plan, "scenarios") if isinstance(root, Mapping) else None
        if isinstance(listed, Sequence) and listed.items and len(listed) != count:
            message = f"`{plan}` has {plural(len(listed), 'scenario')} for {plural(count, 'case')}, matched by position"
            yield warning(listed, message, code="bad-case")


def _bare(name: str) -> str:
    """A name without its digits."""
    return re.sub(r"\d+", "", name)


def _other_numbers(record: _Record, plan: CaseScorecardPlan) -> Findings:
    """The findings for phrases that the case has with another number."""
    inputs = [each for each in plan.inputs if each.source == "case"]
    positive = {each.share.of for each in plan.metrics if each.share.empty == "1"}
    phrases = [item for each in inputs if each.name in positive for item in items(record.case, *each.path)]
    excluded = {*(each.path[0] for each in inputs), *OUTPUTS}
    return other_numbers(phrases, [each.value for each in record.case.entries if each.name not in excluded])


def _misspelt_expectations(cases: list[_Record]) -> Findings:
    """The expected texts with one word that the rest of the case does not have, which has one spelt like it."""
    for case in cases:
        expected = [entry.value for entry in case.case.entries if entry.name in case.expected]
        inside = [range(each.start, each.end) for each in expected]
        scalars = (each for each in walk(case.node) if isinstance(each, Scalar))
        others = [each for each in scalars if not any(each.start in part for part in inside)]
        known = dict.fromkeys(word for each in others for word in _words(each))
        similar: SimilarWords | None = None
        for item in (each for part in expected for each in walk(part)):
            words = _words(item) if isinstance(item, Scalar) and isinstance(item.value, str) else []
            strange = [word for word in words if word not in known]
            if len(strange) != 1 or len(words) == 1:
                continue
            similar = similar or SimilarWords(known, _is_slip_in)
            near = similar.first(strange[0])
            if near is not None:
                message = f"the case contains `{near}`, not `{strange[0]}`"
                yield warning(item, message, code="bad-case", help=Guess(near))


def _is_slip_in(word: str, other: str) -> bool:
    """Whether a word misspells another one. Another ending is another form, and numbers or short words that differ by a
    letter are others."""
    is_sure = sorted(word) == sorted(other) or (len(word) >= LONG and re.search(r"\d", word) is None)
    return is_sure and is_spelt_like(word, other) and not (word.startswith(other) or other.startswith(word))


def _words(node: Scalar) -> list[str]:
    """The words between blanks, each without the marks around it; `user-id` is one, and `one...two` ends with `two`."""
    parts = ([part for part in MARKS.split(each) if part] for each in str(node.value).lower().split())
    return [word for each in parts if each and (word := MARK_AT_AN_END.sub("", each[-1]))]


def _is_slip(name: str, other: str) -> bool:
    """Whether a name is another one but for a letter, for a word of which it has a part, or for the order of digits;
    other digits tell names apart."""
    if _bare(name) == _bare(other):
        return sorted(name) == sorted(other)
    differing = [pair for pair in zip(name.split("_"), other.split("_"), strict=False) if pair[0] != pair[1]]
    is_part = name.count("_") == other.count("_") and len(differing) == 1 and differing[0][0] in differing[0][1]
    return is_spelt_like(name, other) or is_part


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _expectations(record: _Record, plan: CaseScorecardPlan) -> Findings:
    """The findings for expectations that are empty, contradictory or not read."""
    inputs = [each for each in plan.inputs if each.source == "case"]
    lists = {each.name: [text for text in texts(record.case, *each.path) if text.strip()] for each in inputs}
    if all(isinstance(descend(record.case, *each.path), Sequence) for each in inputs) and not any(lists.values()):
        yield warning(record.place("expectations"), "the case expects nothing", code="case-expects-nothing")
    for empty in (item for each in inputs for item in items(record.case, *each.path) if _is_blank(item)):
        yield warning(empty, "an empty text is found in every output", code="case-expects-nothing")
    yield from _contradictions(record)
    for name in dict.fromkeys(each.path[0] for each in inputs):
        written = record.case.get(name)
        repeated = () if written is None else repeated_in(written, fold=True)
        yield from (replace(found, code="listed-twice") for found in repeated)
    yield from _terms_inside_others(record)
    payload = descend(record.case, "patient_payload")
    wanted = [text for name in ("must_find", "must_contain") for text in lists.get(name, ())]
    absent = [text for text in wanted if _plain(text) not in _plain(_text(payload))] if payload is not None else []
    if payload is not None and absent:
        more = f" (and {len(absent) - 1} more)" if len(absent) > 1 else ""
        message = f"not in the payload: `{absent[0]}`{more}"
        yield advice(payload, message, code="phrase-not-in-payload")
    for path in plan.metadata:
        source, *steps = path.split(".")
        unread = descend(record.case, *steps) if source == "case" and steps[0] == "expectations" else None
        if unread is not None and not (isinstance(unread, Sequence) and not unread.items):
            message = f"`{plan.name}` does not read `{'.'.join(steps)}`"
            yield advice(unread, message, code="unread-expectation")


COUNTED: Final = (
    ("followup_questions", "forbidden_terms", "a question"),
    ("signal_generation", "must_find_signals", "an output"),
)


def _terms_inside_others(record: _Record) -> Findings:
    """The findings for terms with which another one is found, so that one violation or one signal counts as two."""
    for *steps, what in COUNTED:
        terms = items(record.case, "expectations", *steps)
        for long in terms:
            short = next((each for each in terms if _plain(_text(each)) and _is_inside(_text(each), _text(long))), None)
            if short is not None:
                message = f"{what} with `{_text(long)}` is counted twice: it contains `{_text(short)}`"
                yield advice(long, message, code="subsumed-pattern", notes=[(short, "the shorter term")])


def _is_inside(short: str, long: str) -> bool:
    return _plain(short) != _plain(long) and _plain(short) in _plain(long)


def _contradictions(record: _Record) -> Findings:
    """The findings for required themes that contain a forbidden word."""
    questions = descend(record.case, "expectations", "followup_questions")
    forbidden = texts(questions, "forbidden_terms")
    for theme in items(questions, "required_themes") if isinstance(questions, Mapping) else ():
        term = next((each for each in forbidden if each.strip() and _plain(each) in _plain(_text(theme))), None)
        if term is not None:
            message = f"`{_text(theme)}` is required, and `{term}` is forbidden"
            yield error(theme, message, code="contradictory-expectations")
    for node in walk(record.case.get("expectations")):
        yield from _unreachable_counts(node) if isinstance(node, Mapping) else ()


def _wanted_and_unwanted(record: _Record, plan: CaseScorecardPlan, opposed: list[tuple[str, str]]) -> Findings:
    """The findings for texts that one metric wants and another one does not want in the same place."""
    paths = {each.name: each.path for each in plan.inputs if each.source == "case"}
    for good, bad in opposed:
        if paths.get(good) == paths.get(bad):  # reported in the scorecard
            continue
        unwanted = {_plain(_text(each)): each for each in items(record.case, *paths.get(bad, ("",)))}
        wanted = [each for each in items(record.case, *paths.get(good, ("",))) if _text(each).strip()]
        both = [each for each in wanted if _plain(_text(each)) in unwanted]
        if both:
            more = f", like {plural(len(both) - 1, 'other text')}" if both[1:] else ""
            message = f"`{_text(both[0])}` is in `{good}` and in `{bad}`{more}"
            notes = [(unwanted[_plain(_text(both[0]))], "here as well")]
            yield error(both[0], message, code="contradictory-expectations", notes=notes)


def _unreachable_counts(node: Mapping) -> Findings:
    """The finding for a least number of items that is larger than the only list beside it."""
    lists = [entry for entry in node.entries if isinstance(entry.value, Sequence)]
    for entry in node.entries:
        if LEAST.fullmatch(entry.name) and (number(entry.value) or 0) < 0:
            yield error(entry.value, f"`{entry.name}` must not be negative", code="bad-case")
    for entry in node.entries if len(lists) == 1 else ():
        least, count = number(entry.value), len(items(lists[0].value))
        if LEAST.fullmatch(entry.name) and least is not None and count and least > count:
            message = f"`{entry.name}` is {least}, but `{lists[0].name}` has {plural(count, 'item')}"
            notes = [(lists[0].key, "the list")]
            yield error(entry.value, message, code="contradictory-expectations", notes=notes)


def _text(node: Any) -> str:
    return str(node.value) if isinstance(node, Scalar) else ""


def _is_blank(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, str) and not node.value.strip()


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


MOST_BATCHES: Final = 100  # in which the ids of a batch are looked for
GROUPS: Final = {"archetypes": "archetype", "metricIds": "metric_id"}  # keys of settings, and of cases


def strange_groups(settings: Mapping) -> Findings:
    """Findings for groups in a settings file that match no case but almost the group of some."""
    for key, name in GROUPS.items():
        groups = descend(settings, key)
        known = _named(Path(settings.source.path), name) if isinstance(groups, Mapping) else Counter()
        for entry in entries(groups):
            near = next((each for each in sorted(known) if is_spelt_like(entry.name, each)), None)
            if near is not None and entry.name not in known:
                message = f"no case has the {name} `{entry.name}`"
                yield warning(entry.key, message, code="bad-setting", help=Guess(near))


def strange_outputs(path: str, ids: dict[str, Scalar]) -> Findings:
    """Findings for outputs without a case whose test id is almost that of a case without an output; none if a file of
    cases names no test id, because the case may be meant to be there."""
    files = [values_in(file, "test_id") for file in files_near(Path(path))] if ids else []
    known = Counter(each for file in files for each in file) if all(files) else Counter()
    for name, place in ids.items():
        near = [each for each in sorted(known) if is_slip_of(name, each) and (each not in ids or known[each] > 1)]
        if name not in known and near and not any(known[each] > 1 for each in near):  # else `duplicate-test-id`
            yield warning(place, f"no case has the test id `{name}`", code="bad-case", help=Guess(near[0]))


def _named(path: Path, key: str) -> Counter[str]:
    """The values of a key, with their numbers, in the files of the folder `cases` near a file."""
    return Counter(value for file in files_near(path) for value in values_in(file, key))
