"""A project: its documents, and the findings that prevent compiling it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from rulewright.diagnostics import Diagnostic, Severity
from rulewright.documents.check import CheckDocument
from rulewright.documents.corpus import CorpusDocument
from rulewright.documents.kinds import kind_of
from rulewright.documents.layout import path_fits, resolve
from rulewright.documents.lexicon import LexiconDocument, MarkerSet
from rulewright.documents.profile import Profile
from rulewright.documents.project_file import Accept, JudgeSection, ModelPrice, ProjectFile, Scoring, Semantics
from rulewright.documents.scenario import ScenarioDocument
from rulewright.documents.scorecard import ScorecardDocument
from rulewright.documents.state_machine import StateMachineDocument
from rulewright.documents.vocabulary import Vocabulary, invisiblebench
from rulewright.load import Loaded, Mapping, Node
from rulewright.load.suppressions import suppress
from rulewright_runtime.english import plural
from rulewright_runtime.judging.judge import is_live

TOLERATED_UNDER_REFERENCE: Final = frozenset(
    {
        "unknown-key",
        "corpus-required-contradicts-routing",
        "detector-is-not-routed",
        "llm-required-contradicts-routing",
        "retired-rubric-dialect",
        "safety-override-contradicts-routing",
        "scorer-repetitions-contradict-routing",
        "scorer-type-contradicts-routing",
        "turn-that-does-not-exist",
        "unclear-policy-forbids-the-judge",
    }
)
TOLERABLE: Final = TOLERATED_UNDER_REFERENCE | {"gate-ignores-unclear", "id-differs-from-file-name", "unknown-lexicon"}


class Project(Struct, frozen=True, eq=False):
    """The documents of a project and their findings.

    Checks and scenarios are ordered by file name; of a duplicate name the first file counts and the second is a
    finding. `diagnostics` are the findings of loading and structure, not those of lint rules. `roots` holds the nodes
    of `blindspots`, `pricing` and `meta` (the `_meta` file in the folder of checks). `unreadable` are the kinds with a
    document that can't be read or found.
    """

    name: str
    folder: Path
    root: Path
    path: Path | None
    file: ProjectFile | None
    semantics: Semantics
    exchange_turns: int
    checks: tuple[CheckDocument, ...]
    lexicons: dict[str, LexiconDocument]
    markers: tuple[MarkerSet, ...]
    scenarios: dict[str, ScenarioDocument]
    profiles: dict[str, Profile]
    blindspots: dict[str, str]
    scoring: Scoring | None
    pricing: dict[str, ModelPrice]
    scorecards: dict[str, ScorecardDocument]
    rule_sets: dict[str, dict[str, Any]]
    rule_origins: dict[str, dict[tuple[str, ...], Node]]
    state_machines: dict[str, StateMachineDocument]
    corpora: dict[str, CorpusDocument]
    roots: dict[str, Mapping]
    loaded: tuple[Loaded, ...]
    diagnostics: tuple[Diagnostic, ...]
    unreadable: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        counts = f"{plural(len(self.checks), 'check')}, {plural(len(self.diagnostics), 'finding')}"
        return f"<Project {self.name!r} in {str(self.folder)!r}: {counts}>"

    @property
    def vocabulary(self) -> Vocabulary:
        """Its vocabulary: buckets, severities, tags and other declared words."""
        return self.file.vocabulary if self.file else invisiblebench()

    @property
    def accept(self) -> tuple[Accept, ...]:
        """The findings that the project accepts."""
        return self.file.accept if self.file else ()

    @property
    def models(self) -> dict[str, str]:
        """Display names of models."""
        return self.file.models if self.file else {}

    @property
    def judge(self) -> JudgeSection:
        """The judge and the settings of its model."""
        return self.file.judge if self.file else JudgeSection()

    @property
    def redact(self) -> tuple[tuple[str, str], ...]:
        """The patterns to redact in transcripts, with their replacements."""
        return self.file.redact if self.file else ()

    @property
    def judge_source(self) -> str | None:
        """The judge as `--judge` takes it, its path relative to the project file resolved."""
        written = self.judge.source
        if written is None or self.path is None or not written.startswith("replay:"):
            return written
        return f"replay:{resolve(written.removeprefix('replay:'), self.path, self.root)}"

    def judge_model(self, judge: str | None = None) -> str | None:
        """The judge's model for prices: that of `judge`, else the project's `judge.model`, else that of its source."""
        asked = judge or self.judge_source or ""
        live = asked.partition(":")[2].partition("#")[0].partition("@http")[0] if is_live(asked) else ""
        return (live or self.judge.model if judge else self.judge.model or live) or None

    @property
    def exempt(self) -> tuple[str, ...]:
        """Capability-aware checks whose claim is true of the system under evaluation."""
        return self.file.exempt if self.file else ()

    @property
    def rule_files(self) -> dict[str, Mapping]:
        """The files of the rule sets by name, without the rules that they inherit by `extends`."""
        roots = [loaded.root for loaded in self.loaded if Path(loaded.source.path).stem in self.rule_sets]
        return {
            Path(root.source.path).stem: root
            for root in roots
            if isinstance(root, Mapping) and root.index and kind_of(root) is None
        }

    def check(self, name: str) -> CheckDocument | None:
        """Return the check called `name`, or None."""
        return next((check for check in self.checks if check.id == name), None)

    def precheck_of(self, check: CheckDocument) -> LexiconDocument | None:
        """Return the lexicon that the check's route searches first, or None."""
        return self.lexicons.get(check.routing.deterministic_precheck or "")

    def marker_set(self, name: str) -> MarkerSet | None:
        """Return the marker set called `name`, else the unnamed one for every name, else None."""
        named = (each for each in self.markers if each.name == name)
        return next(named, next((each for each in self.markers if each.name is None), None))


def stopping(project: Project, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the findings that prevent compiling, sorted: errors, except tolerable ones that a comment allows or the
    project accepts, and except unknown keys and contradicting expectations under `semantics: reference`.

    Tolerable findings leave every document usable. A check without a prompt or an unreadable scenario would be missing
    from the plan, so that is never acceptable: fewer checks would look like fewer failures.
    """
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]
    tolerable = [diagnostic for diagnostic in errors if diagnostic.code in TOLERABLE]
    allowed = set(suppress(tolerable, project.loaded, TOLERABLE)[1]) if tolerable else set()
    return tuple(
        diagnostic
        for diagnostic in sorted(errors, key=lambda diagnostic: diagnostic.sort_key)
        if diagnostic not in allowed
        and not (diagnostic.code in TOLERABLE and accepted(project, diagnostic))
        and not (project.semantics == "reference" and diagnostic.code in TOLERATED_UNDER_REFERENCE)
    )


def accepted(project: Project, diagnostic: Diagnostic) -> bool:
    """Whether an `accept` entry of the project covers the finding: same code, and its pattern matches the path."""
    return any(
        entry.rule == diagnostic.code and path_fits(entry.path, diagnostic.span.path, project.root)
        for entry in project.accept
    )
