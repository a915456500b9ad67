"""The findings about files of test cases and outputs, JSON or CSV: each record is decoded as by `score`."""

import re
from pathlib import Path

from msgspec.structs import replace

from rulewright.diagnostics import Diagnostic, Findings, Guess, Span, error, warning
from rulewright.documents.base import descend, entries, fraction
from rulewright.documents.case_batch import CaseBatch, cases_near, read_batch
from rulewright.documents.kinds import BATCH, CASE_SETTINGS, kind_of, misspelt_list
from rulewright.errors import DocumentError
from rulewright.load import Loaded, Mapping, Node, Scalar, Source, load_file
from rulewright.load.json_reader import read_lines
from rulewright.rules import findings
from rulewright.rules.of_cases import CASES
from rulewright.rules.suspicious.weights_far_apart import far_apart
from rulewright.scoring.case_scorecards import SHIPPED, case_scorecards_of_project, lacks_scorecards, load_scorecard
from rulewright.scoring.settings_file import settings_findings
from rulewright.spelling import is_spelt_like
from rulewright_runtime.cases.case_plan import CaseScorecardPlan
from rulewright_runtime.cases.records import records_of
from rulewright_runtime.errors import InputError

GROUPS = {"archetypes": "archetype", "metricIds": "metric_id"}  # keys of settings, and of cases


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
        found = settings_findings(root, plans)
        written = [each.value for each in entries(root, "weights") if isinstance(each.value, Scalar)]
        weights = [(value, each) for each in written if (value := fraction(each)) is not None]
        return [*found, *far_apart(weights), *_strange_groups(root)]
    return min((_batch_findings(root, plan) for plan in plans), key=_refused)


def _refused(found: list[Diagnostic]) -> tuple[int, int]:
    return sum(each.code == "bad-case" for each in found), len(found)


def _batch_findings(root: Node, plan: CaseScorecardPlan) -> list[Diagnostic]:
    """The findings of a file of cases or outputs: a list of records, an object with a list, or one record."""
    if isinstance(root, Mapping) and (wrong := misspelt_list(root)) is not None:
        key, meant = wrong
        return [error(key, f"unknown key `{key.value}`", code="unknown-key", help=Guess(meant))]
    batch = read_batch(root, plan)
    if not batch.nodes or (batch.nodes == (root,) and isinstance(root, Mapping) and BATCH in root):
        place = root.key_span(BATCH) if isinstance(root, Mapping) else root.span
        return [error(place, "the batch contains no case", code="bad-case", help="add a case, or remove the file")]
    return [*findings(CASES, [batch]), *_of_another_batch(batch)]


def _of_another_batch(batch: CaseBatch) -> Findings:
    """The finding for a batch with the number of another one."""
    written, stem = descend(batch.root, "batch_id"), batch.path.stem
    if isinstance(written, Scalar) and (name := written.text) != stem and _bare(name) == _bare(stem):
        message = f"`batch_id` is `{name}`, but the file is called `{stem}`"
        yield error(written, message, code="id-differs-from-file-name", help=Guess(stem))


def _bare(name: str) -> str:
    """A name without its digits."""
    return re.sub(r"\d+", "", name)


def _strange_groups(settings: Mapping) -> Findings:
    """Findings for groups in a settings file that match no case, where cases beside it have other groups."""
    for key, name in GROUPS.items():
        groups = descend(settings, key)
        known = cases_near(Path(settings.source.path)).counted(name) if isinstance(groups, Mapping) else {}
        for entry in entries(groups) if known else ():
            if entry.name not in known:
                near = next((Guess(each) for each in sorted(known) if is_spelt_like(entry.name, each)), None)
                yield warning(entry.key, f"no case has the {name} `{entry.name}`", code="bad-setting", help=near)


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
