import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from msgspec import Struct

from rulewright.diagnostics import Findings, Guess, warning
from rulewright.documents.base import descend, items, text
from rulewright.documents.workflow import TaskDocument
from rulewright.load import Node, Scalar, is_text
from rulewright.spelling import suggest

# What is read in a report: the suffixes of such reports, and the evidence and metrics that they are read for.
REPORTS: Final[dict[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    "test results (JUnit)": (frozenset({".xml"}), ("acceptance",)),
    "findings (JSON or SARIF)": (frozenset({".json", ".sarif"}), ("lint", "security", "lint_score", "security_score")),
    "coverage (coverage.py, Cobertura or lcov)": (frozenset({".json", ".xml", ".info", ".lcov"}), ("test_coverage",)),
    "a checklist": (frozenset({".md", ".markdown", ".txt"}), ("readiness", "checklist_completion")),
}
CONTENTS: Final = {purpose: content for content, (_, purposes) in REPORTS.items() for purpose in purposes}
# Suffixes of what no collector reads.
UNREAD: Final = frozenset({".csv", ".doc", ".docx", ".htm", ".html", ".pdf", ".png", ".svg", ".xls", ".xlsx", ".zip"})
KNOWN: Final = UNREAD.union(*(suffixes for suffixes, _ in REPORTS.values()))

# Words in the name of a report that say what it is about, among them the names of tools.
SUBJECTS: Final = {
    "lint": frozenset({"lint", "ruff", "eslint", "pylint", "flake8"}),
    "security": frozenset({"security", "bandit", "gitleaks", "trivy"}),
    "coverage": frozenset({"coverage", "cobertura", "lcov"}),
    "acceptance": frozenset({"acceptance", "junit"}),
}


class ReadReport(Struct, frozen=True):
    """A report's path, the evidence or metric that it is for, and what is read in it."""

    path: Scalar
    purpose: str
    content: str

    @property
    def misnamed(self) -> str:
        """What the report is about by its name, where this is not what it is read for; "" for all other reports."""
        words = {*re.findall(r"[a-z0-9]+", PurePosixPath(self.path.text).name.lower())}
        about = [subject for subject, named in SUBJECTS.items() if words & named]
        return about[0] if about and not any(each in self.purpose for each in about) else ""

    @property
    def suffix(self) -> str:
        """The suffix of the path, in lower case."""
        return PurePosixPath(self.path.text).suffix.lower()

    @property
    def near(self) -> Guess | None:
        """The path with the suffix that was probably meant by one that no report has."""
        meant = None if self.suffix in KNOWN else suggest(self.suffix, REPORTS[self.content][0])
        path = self.path.text
        return None if meant is None else Guess(path[: path.rindex(".")] + meant)

    def fits(self, content: str) -> bool:
        """Whether reports with this content have the suffix."""
        return self.suffix in REPORTS[content][0]


def report_of_another_kind(task: TaskDocument) -> Findings:
    """A report has the suffix or the name of another evidence or metric, or is read as two different kinds of report.

    Why it matters: the reader of test results can't read a lint report. The run then has no evidence, or the metric no
    value, after the work has been paid for. Usually two paths are swapped, or one was copied.
    Instead: name the report of the tool that the evidence or metric is about.
    """
    reports = list(reports_of(task))
    unfit = [each for each in reports if (each.suffix in KNOWN or each.near) and not each.fits(each.content)]
    for at, each in enumerate(unfit):
        others = [other for other in unfit if each.fits(other.content) and other.fits(each.content)]
        if not any(other in unfit[:at] for other in others):  # else the two paths are reported together
            message = f"`{each.purpose}` is read from {each.content}, but `{each.path.value}` has another suffix"
            notes = [(other.path, f"read for `{other.purpose}`") for other in others]
            yield warning(each.path, message, notes=notes, help="swap the two paths" if others else each.near)
    for each in (each for each in reports if each not in unfit):
        if each.misnamed:
            message = f"`{each.path.value}` is read for `{each.purpose}`, but is named after {each.misnamed}"
            yield warning(each.path, message)
        elif (
            (others := _read_otherwise(each, reports))
            and not _is_named(each)
            and _is_outnumbered(each, others, reports)
        ):
            message = f"`{each.path.value}` is read as {each.content} here, but as {others[0].content} elsewhere"
            yield warning(each.path, message, notes=[(others[0].path, f"read for `{others[0].purpose}`")])


def reports_of(task: TaskDocument) -> Iterator[ReadReport]:
    """The reports that the gate and the metrics of a task read."""
    evidence = descend(task.node, "overlays", "policy_gate", "evidence")
    for kind, content in CONTENTS.items():
        for path in _paths(descend(evidence, kind)) if kind in task.evidence_read else ():
            yield ReadReport(path, kind, content)
    for metric in items(task.node, "overlays", "confidence_loop", "metrics"):
        kind = text(metric, "type")
        for path in _paths(descend(metric, "source")) if kind in CONTENTS else ():
            yield ReadReport(path, kind, CONTENTS[kind])


def _paths(node: Node | None) -> Iterator[Scalar]:
    return filter(is_text, (node, *items(node)))


def _read_otherwise(report: ReadReport, reports: Iterable[ReadReport]) -> list[ReadReport]:
    return [each for each in reports if each.path.value == report.path.value and each.content != report.content]


def _is_outnumbered(report: ReadReport, others: list[ReadReport], reports: Iterable[ReadReport]) -> bool:
    """Whether more uses read the report as something else, or one that its path names, or as many: then it is not a
    report of coverage, since the path would say so."""
    if any(map(_is_named, others)):
        return True
    alike = sum(each.path.value == report.path.value and each.content == report.content for each in reports)
    return len(others) > alike or (len(others) == alike and report.purpose == "test_coverage")


def _is_named(report: ReadReport) -> bool:
    """Whether the path contains a word of its purpose: `reports/coverage.json` for `test_coverage`."""
    return any(word[:5] in report.path.text for word in report.purpose.split("_") if word != "test")
