"""Removes findings that are only a consequence of another finding.

A misspelt key is unknown, and the key that was meant is missing wherever it is read. So the documents are linted again
in memory with every proposed correction applied: a finding that then disappears was a consequence. Around any mistake
but a misspelt key, only structural findings of the mapping are shown.
"""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from pathlib import PurePath
from typing import Final, TypeAlias

from msgspec.structs import replace

from rulewright.causes.related_codes import DEPENDENT, MISSPELT, code_sets, codes_in
from rulewright.causes.repeated import once_a_place, with_consequences, with_second_views, without_echoes
from rulewright.diagnostics import Diagnostic, Guess, Severity, Span, is_within
from rulewright.documents.base import descend
from rulewright.documents.kinds import kind_of
from rulewright.documents.validation import STRUCTURE_CODES
from rulewright.fixes import Offsets, edited, edits_of, guessed
from rulewright.load import Loaded, Node, Scalar, walk
from rulewright.load import Mapping as MappingNode
from rulewright.load import Sequence as SequenceNode
from rulewright.load.nodes import Source
from rulewright.load.suppressions import SUPPRESSION_CODES

Again: TypeAlias = Callable[[Mapping[str, str]], Iterable[Diagnostic]]  # lints with these texts in place of the files
Doubt: TypeAlias = Callable[[Diagnostic], bool]  # whether a finding may be wrong because of others
NAMING: Final = codes_in("""
    agent-without-adapter defaults-switched-off duplicate-id id-differs-from-file-name misspelt-name
    tag-no-scenario-has unknown-lexicon unread-parameter words-without-vocabulary
""")
OF_ROUTING: Final = STRUCTURE_CODES | {"missing-phase"}
OF_ROUTES: Final = frozenset({"anchor-without-event-window", "detector-is-not-routed", "unused-lexicon"})
STAGES: Final = (NAMING, STRUCTURE_CODES, None)  # the order of corrections: each stage builds on the one before
SCORING: Final = DEPENDENT["scoring"] | {"gate-cannot-stop", "part-without-checks"}
# Findings about a document that is asked for by its name.
BY_NAME: Final = codes_in("""
    bad-expression detector-without-definition state-machine-without-definition unknown-agent unknown-corpus
    unknown-cue unknown-lexicon unknown-marker-set unknown-state-machine
""")
NAMED_BY: Final = {"gates": ("undecided",), "dimensions": ("weights",)}  # records with a field for each name of a key
# Findings about the names in a workflow where what declares them can't be read.
OF_WORKFLOWS: Final = code_sets(
    {
        "workflow.agents.directory": "agent-without-adapter script-for-no-agent unknown-agent",
        "workflow.contracts": "missing-contract-registry unknown-artifact-type",
    }
)
# Findings that something is missing or unused, which documents with refused values can't show.
ABSENT: Final = codes_in("""
    expectation-without-question missing-contract-registry probe-without-verifier turn-numbers-out-of-order
    unreachable-state unread-definitions unread-parameter unused-definition unused-suppression
""") | {code for codes in DEPENDENT.values() for code in codes if not code.startswith("unknown-")}
OF_THE_WHOLE: Final = frozenset({"wrong-output"})  # findings that need the whole document


def causes_of(
    found: Sequence[Diagnostic], files: Iterable[Loaded], again: Again, allowed: Sequence[Diagnostic] = ()
) -> list[Diagnostic]:
    """Return the findings that an author has to correct: consequences of others are left out or become their notes.
    `again` gives the findings of the documents with other texts."""
    files = [*files]
    roots = {each.source.path: each.root for each in files}
    single = once_a_place(without_echoes(found, allowed), roots)
    return with_second_views(with_consequences(_without_consequences(single, allowed, files, again)), roots)


def _without_consequences(
    found: Sequence[Diagnostic], allowed: Sequence[Diagnostic], files: Iterable[Loaded], again: Again
) -> list[Diagnostic]:
    """Return the findings that are not consequences of others. A finding that is `allowed` hides nothing: the compiler
    may refuse what is next to it."""
    by_path = {each.source.path: each for each in files}
    sources = {path: each.source for path, each in by_path.items()}
    kept, corrections = list(found), dict[Diagnostic, Diagnostic]()
    for stage in STAGES:
        own = {
            each: corrected
            for each in kept
            if (stage is None or each.code in stage) and (corrected := _corrected(each, sources)) is not None
        }
        corrections |= own
        below = [*_renamed(own, by_path)]
        if below or (own and len(kept) > len(corrections)):
            edits, _ = edits_of(corrections.values(), sources, unsafe=True)
            texts = {path: edited(sources[path].text, own_edits) for path, own_edits in edits.items()}
            after = {os.path.abspath(path): Source(path, text) for path, text in texts.items()}
            remaining = again({path: each.text for path, each in after.items()})
            offsets = {path: Offsets(own_edits) for path, own_edits in edits.items()}
            least = min(each.severity.rank for each in corrections)  # a finding may hide only those of its rank
            left = [_before(each, offsets, sources, after) for each in remaining]
            places, codes = set(map(_place, left)), {(each.code, os.path.abspath(each.span.path)) for each in left}
            stays = {
                each
                for each in kept
                if each in corrections or each.severity.rank < least or _is_copied(each, corrections)
            }
            kept = [each for each in kept if each in stays or _place(each) in places or _is_idle(each, codes)]
            known = {_place(each) for each in (*found, *allowed)}
            kept += [each for each in left if _place(each) not in known and _is_hidden(each, below)]
    kept = _without_unsure(kept, by_path)
    renamed = {each for each in corrections if each.code == "unknown-key"}  # the documents were linted without them
    return _without_shadowed(kept, [each for each in kept if each not in renamed], by_path)


def _without_unsure(found: list[Diagnostic], files: Mapping[str, Loaded]) -> list[Diagnostic]:
    """Return the findings without those that a finding of the same document, or a wrong reference, makes doubtful."""
    doubts = [doubt(found, files) for doubt in DOUBTS]
    return [each for each in found if not any(is_doubtful(each) for is_doubtful in doubts)]


def _beside_wrong_routing(found: Sequence[Diagnostic], files: Mapping[str, Loaded]) -> Doubt:
    is_wrong = any(each.code in OF_ROUTING and _is_of_routing(each, files) for each in found)
    return lambda each: is_wrong and each.code in OF_ROUTES


def _beside_refused_vocabulary(found: Sequence[Diagnostic], _: Mapping[str, Loaded]) -> Doubt:
    is_refused = any(
        (each.code == "unknown-key" and each.about.startswith("vocabulary."))
        or (each.code == "out-of-range" and each.subject.startswith("vocabulary."))
        for each in found
    )
    values = [key for each in found if each.code == "unknown-value" for key in each.quoted[1:2]]
    is_scope = any(key.startswith("vocabulary.scopes.") for key in values)
    return lambda each: (
        (is_refused and each.code == "unknown-value" and not each.about)
        or (is_scope and each.code in ("tags-on-universal-check", "trigger-without-condition"))
    )


def _absent_beside_refused(found: Sequence[Diagnostic], _: Mapping[str, Loaded]) -> Doubt:
    refusing = {each.span.path for each in found if each.code in ("wrong-type", "out-of-range")}
    return lambda each: each.code in ABSENT and each.span.path in refusing


def _of_unread_resources(found: Sequence[Diagnostic], _: Mapping[str, Loaded]) -> Doubt:
    unread = {code for each in found for code in OF_WORKFLOWS.get(each.about, ())}
    return lambda each: each.code in unread


def _beside_wrong_scoring(found: Sequence[Diagnostic], files: Mapping[str, Loaded]) -> Doubt:
    kind = cache(lambda path: kind_of(files[path].root) if path in files else None)
    is_wrong = any(
        (each.code in STRUCTURE_CODES and kind(each.span.path) == "scoring")
        or (each.code == "document-of-another-kind" and each.about == "scoring")
        for each in found
    )
    return lambda each: (
        is_wrong and (each.code in SCORING or (each.code == "bad-expression" and kind(each.span.path) == "scorecard"))
    )


def _of_unread_cases(found: Sequence[Diagnostic], files: Mapping[str, Loaded]) -> Doubt:
    """Entries that accept findings: those in cases are unknown where the scorecard over them has an error."""
    paths = {each.span.path for each in found if each.severity is Severity.ERROR} & files.keys()
    is_wrong = any(kind_of(files[path].root) == "case_scorecard" for path in paths)
    return lambda each: is_wrong and each.code == "unused-suppression"


def _of_refused_records(found: Sequence[Diagnostic], files: Mapping[str, Loaded]) -> Doubt:
    """Expressions that read a top-level key with a value of the wrong type, or that gives a name twice."""
    refused: dict[str, list[str]] = {}
    by_path: dict[str, list[Diagnostic]] = {}
    for each in found:
        if each.code in ("wrong-type", "duplicate-key") and each.span.path in files:
            by_path.setdefault(each.span.path, []).append(each)
    for path, own in by_path.items():
        root = files[path].root
        entries = root.entries if isinstance(root, MappingNode) else ()
        names = [entry.name for entry in entries if any(_refuses(each, entry.value.span) for each in own)]
        refused[path] = [record for name in names for record in (name, *NAMED_BY.get(name, ()))]
    return lambda each: each.code == "bad-expression" and each.about in refused.get(each.span.path, ())


def _of_wrong_names(found: Sequence[Diagnostic], files: Mapping[str, Loaded]) -> Doubt:
    """References to a document with a wrong name, or in which nothing could be read."""
    paths = {each.span.path for each in found} & files.keys()
    unread = {PurePath(path).stem for path in paths if not isinstance(files[path].root, MappingNode)}
    named = {_quoted(each, files) for each in found if each.code == "id-differs-from-file-name"} | unread
    return lambda each: each.code in BY_NAME and _quoted(each, files) in named


DOUBTS: Final = (
    _beside_wrong_routing,
    _beside_refused_vocabulary,
    _absent_beside_refused,
    _of_unread_resources,
    _beside_wrong_scoring,
    _of_unread_cases,
    _of_refused_records,
    _of_wrong_names,
)


def _refuses(found: Diagnostic, value: Span) -> bool:
    """Whether a finding leaves open which names a value declares."""
    if found.code == "duplicate-key":  # whose second entry is not part of the value
        return any(is_within(span, value) for span in _spans(found))
    return found.span == value


def _quoted(found: Diagnostic, files: Mapping[str, Loaded]) -> str:
    """The source text of a finding's span, without quotes."""
    loaded = files.get(found.span.path)
    return "" if loaded is None else loaded.source.between(found.span).strip("\"'")


def _is_copied(found: Diagnostic, corrections: Iterable[Diagnostic]) -> bool:
    """Whether a misspelt word is only written more often by corrections that guess it."""
    if found.code != MISSPELT:
        return False
    return any(isinstance(each.help, Guess) and found.subject in each.help.meant.lower() for each in corrections)


def _is_of_routing(found: Diagnostic, files: Mapping[str, Loaded]) -> bool:
    """Whether a finding is about the routing of a check."""
    if found.code == "missing-key" and "routing" in found.quoted:
        return True
    loaded = files.get(found.span.path)
    routing = descend(None if loaded is None else loaded.root, "routing")
    if found.severity is not Severity.ERROR or routing is None:
        return found.about.startswith("routing.")
    return is_within(found.span, routing.span)


def _corrected(found: Diagnostic, sources: Mapping[str, Source]) -> Diagnostic | None:
    """Return an error with the fix or guess that it proposes for its own place as a fix; None for any other finding."""
    source = sources.get(found.span.path)
    if source is None or (found.severity is not Severity.ERROR and found.code not in NAMING):
        return None
    if found.fix is not None:
        return found if found.fix.edits[0].span == found.span else None
    fix = guessed(found, source)
    return None if fix is None else replace(found, fix=fix)


def _renamed(corrected: Iterable[Diagnostic], files: Mapping[str, Loaded]) -> Iterator[Span]:
    """Yield the mappings below misspelt keys, from the line after the key: what is wrong in them shows when it is
    read."""
    misspelt = {each.span for each in corrected if each.code == "unknown-key"}
    roots = [files[path].root for path in {span.path for span in misspelt} & files.keys()]
    for each in (node for root in roots for node in walk(root) if isinstance(node, MappingNode)):
        for entry in each.entries:
            if (span := entry.key.span) in misspelt:
                misspelt.remove(span)
                if isinstance(entry.value, MappingNode) and entry.value.span.line != span.line:
                    yield entry.value.span


def _is_hidden(found: Diagnostic, below: Iterable[Span]) -> bool:
    """Whether a finding that only the corrected documents have is an error inside one of these mappings."""
    return found.severity is Severity.ERROR and any(is_within(found.span, span) for span in below)


def _before(
    found: Diagnostic,
    offsets: Mapping[str, Offsets],
    sources: Mapping[str, Source],
    after: Mapping[str, Source],
) -> Diagnostic:
    """A finding of the corrected documents, with its places in the documents as they are."""

    def before(span: Span) -> Span:
        corrected = after.get(os.path.abspath(span.path))
        if corrected is None:
            return span
        ends = corrected.offset(span.line, span.column), corrected.offset(span.end_line, span.end_column)
        start, end = map(offsets[corrected.path].before, ends)
        return sources[corrected.path].span(start, end)

    notes = tuple(replace(note, span=before(note.span)) for note in found.notes)
    fix = found.fix and replace(
        found.fix, edits=tuple(replace(edit, span=before(edit.span)) for edit in found.fix.edits)
    )
    return replace(found, span=before(found.span), notes=notes, fix=fix)


def _is_idle(found: Diagnostic, codes: Container[tuple[str, str]]) -> bool:
    """Whether a suppression became unused only because of a correction: lint no longer reports its code in the file."""
    return found.code in SUPPRESSION_CODES and (found.about, os.path.abspath(found.span.path)) not in codes


def _place(found: Diagnostic) -> tuple[str, str, int]:
    """The code and line of a finding, whatever its column."""
    return found.code, os.path.abspath(found.span.path), found.span.line


def _without_shadowed(
    found: list[Diagnostic], causes: Iterable[Diagnostic], files: Mapping[str, Loaded]
) -> list[Diagnostic]:
    """Return the findings without those inside a mapping or value that has a structural error among the `causes`."""
    broken: dict[str, list[Diagnostic]] = {}
    for each in causes:
        if each.code in STRUCTURE_CODES and each.severity is Severity.ERROR and each.span.path in files:
            broken.setdefault(each.span.path, []).append(each)
    spans = {path: [*(each.span for each in own), *_around(own, files[path])] for path, own in broken.items()}
    shadows = {path: _Shadows(own) for path, own in spans.items()}
    return [
        each
        for each in found
        if each.code in STRUCTURE_CODES
        or each.span.path not in shadows
        or not (each.code in OF_THE_WHOLE or any(map(shadows[each.span.path].cover, _spans(each))))
    ]


class _Shadows:
    """Spans of one file, of which any may contain another."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(((each.line, each.column), (each.end_line, each.end_column)) for each in spans)
        self._starts = [start for start, _ in ordered]
        self._furthest = list(accumulate((end for _, end in ordered), max))  # of the spans up to each

    def cover(self, span: Span) -> bool:
        """Whether one of the spans contains a span of the same file."""
        at = bisect_right(self._starts, (span.line, span.column))
        return at > 0 and self._furthest[at - 1] >= (span.end_line, span.end_column)


def _spans(found: Diagnostic) -> list[Span]:
    return [found.span, *(note.span for note in found.notes if note.span.path == found.span.path)]


def _around(found: Iterable[Diagnostic], loaded: Loaded) -> Iterator[Span]:
    """Yield the mappings around structural errors, and the mappings' keys: of each the innermost below the root that
    contains it, and that of an unknown key. A value that is missing begins where the mappings around it end."""
    offset = loaded.source.offset
    errors = sorted((offset(each.span.line, each.span.column), each.span) for each in found)
    offsets = [at for at, _ in errors]
    innermost: dict[int, tuple[Span, Span]] = {}  # by the number of the error
    pending, seen = [loaded.root], set[int]()  # an alias is a part of several
    while pending:
        for key, value in _parts(pending.pop()):
            first, end = bisect_left(offsets, value.start), bisect_right(offsets, value.end)
            if first < end and id(value) not in seen:
                seen.add(id(value))
                pending.append(value)
                if key is not None and isinstance(value, MappingNode):
                    mapping = value.span, key.span
                    innermost |= {at: mapping for at in range(first, end) if errors[at][1] != mapping[0]}
    yield from chain.from_iterable(innermost.values())
    yield from (span for each in found for span in _home(each, loaded))


def _parts(node: Node | None) -> list[tuple[Scalar | None, Node]]:
    """The values of a mapping with their keys, or the items of a sequence."""
    if isinstance(node, MappingNode):
        return [(each.key, each.value) for each in node.entries]
    return [(None, each) for each in node.items] if isinstance(node, SequenceNode) else []


def _home(found: Diagnostic, loaded: Loaded) -> list[Span]:
    """The mapping that an unknown key belongs to, and the mapping's key; nothing for the top level."""
    *around, name = found.about.split(".")[:-1] or [""]
    parent = descend(loaded.root, *around)
    entry = parent.index.get(name) if isinstance(parent, MappingNode) else None
    return [] if entry is None else [entry.value.span, entry.key.span]
