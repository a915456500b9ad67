"""The plan of a scorecard over test cases: metrics, composite and label table, as programs."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import Kind
from rulewright_runtime.plan.parameters import Parameter
from rulewright_runtime.plan.part import PlanPart, programs_of

FORMAT: Final = "rulewright-cases"
VERSION: Final = 2
MAX_SIZE: Final = 16 * 2**20  # bytes of JSON
SEMANTICS: Final = ("seed", "reference")
_PATH: Final = re.compile(r"(case|output)(\.(?!__)[A-Za-z_][A-Za-z0-9_]*)+")
Which = Literal["found", "missing"]


class Setting(PlanPart, frozen=True):
    """A parameter and the places where it can be set: an environment variable, a key of the settings file, a flag."""

    parameter: Parameter
    environment: str | None = None
    file: str | None = None
    flag: str | None = None
    help: str = ""


class Requirement(PlanPart, frozen=True):
    """What the settings together have to fulfil, and what is said when they don't."""

    that: Program
    otherwise: str


class Input(PlanPart, frozen=True):
    """A part of a case: where it stands below `case` or `output`."""

    name: str
    source: Literal["case", "output"]
    path: tuple[str, ...]
    type: Literal["string", "strings"]


class Text(PlanPart, frozen=True):
    """A text that is searched."""

    name: str
    value: Program


class Share(PlanPart, frozen=True):
    """Which part of a list of phrases is found. `empty` is its value, as decimal text, where `when` does not hold or
    the list is empty; `fold` names the parameter that folds typography and white space on both sides."""

    of: str
    found: Program
    when: Program | None
    empty: str
    fold: str | None = None


class Common(PlanPart, frozen=True):
    """The phrases most often found or missing in a batch: the list's key, and the keys of an entry."""

    name: str
    of: Which
    item: str
    count: str
    title: str
    plural: str


class Question(PlanPart, frozen=True):
    """What a judge is asked about an input of the case; the input follows the prompt, fenced.

    With `unclear` the verdict counts: FAIL makes the score 0, PASS leaves it as it is, and after anything else the
    metric is not passed and the case's label is `unclear` or a graver one. Without, it is a hint.
    """

    prompt: str
    of: str
    unclear: str | None = None


class Semantic(PlanPart, frozen=True):
    """From which similarity on other words mean the same as a phrase that is not found, and whether it then counts as
    found."""

    threshold: float
    counts: bool = False


class CaseMetric(PlanPart, frozen=True):
    """One metric: its share, its score (over `share` and parameters) and what is reported about it. `passes`, `fails`
    and `flagged` are conditions over the metrics; `fails` only grades the mean of a batch."""

    name: str
    share: Share
    score: Program
    passes: Program
    fails: Program | None
    flagged: Program | None
    details: tuple[tuple[str, Which], ...]
    common: Common
    judge: Question | None = None
    semantic: Semantic | None = None


class Label(PlanPart, frozen=True):
    """A row of the label table."""

    label: str
    when: Program


class Chosen(PlanPart, frozen=True):
    """A setting's value and where it came from."""

    value: bool | int | float | str
    source: str


class Choices(PlanPart, frozen=True):
    """What parameters are set to: for all cases, for those of an archetype, for those of a clinical metric; and under
    which semantics records are read.

    Under `seed` a record that lacks an input, or holds a key that nobody knows, is refused; under `reference` what is
    missing or null is empty, and other keys are passed over.
    """

    parameters: dict[str, Chosen] = msgspec.field(default_factory=dict)
    archetypes: dict[str, dict[str, Chosen]] = msgspec.field(default_factory=dict)
    metric_ids: dict[str, dict[str, Chosen]] = msgspec.field(default_factory=dict)
    semantics: Chosen = Chosen("seed", "default")

    @property
    def number(self) -> int:
        """How many values there are."""
        return sum(map(len, (self.parameters, *self.archetypes.values(), *self.metric_ids.values())))


class CaseScorecardPlan(PlanPart, frozen=True):
    """A scorecard over cases, ready to carry out. `exits` lists the labels from the gravest, each with the exit status
    of a batch that holds it; `accepted` is the label that counts as passed; `metadata` are the paths, such as
    `case.description`, of what no metric reads; `choices` are the settings it was compiled under."""

    name: str
    report_type: str
    title: str
    settings: tuple[Setting, ...]
    requires: tuple[Requirement, ...]
    inputs: tuple[Input, ...]
    texts: tuple[Text, ...]
    metrics: tuple[CaseMetric, ...]
    composite: Program
    labels: tuple[Label, ...]
    exits: tuple[tuple[str, int], ...]
    accepted: str
    metadata: tuple[str, ...] = ()
    choices: Choices = Choices()
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""

    @property
    def semantics(self) -> str:
        """`seed` or `reference`."""
        return str(self.choices.semantics.value)


KIND: Final = Kind(CaseScorecardPlan, FORMAT, VERSION, "rulewright compile", MAX_SIZE)


def decode(data: bytes) -> CaseScorecardPlan:
    """The plan in `data`. PlanError for whatever an honest compiler never writes."""
    plan = envelope.decode(data, KIND)
    for program in programs_of(plan):
        validate(program)
    _check_references(plan)
    return plan


def _check_references(plan: CaseScorecardPlan) -> None:
    inputs = {each.name for each in plan.inputs}
    lists = {each.name for each in plan.inputs if each.type == "strings"}
    labels = {label for label, _ in plan.exits}
    named = [(metric.share.of, lists) for metric in plan.metrics]
    named += [(metric.judge.of, inputs) for metric in plan.metrics if metric.judge is not None]
    named += [(metric.judge.unclear, labels) for metric in plan.metrics if metric.judge and metric.judge.unclear]
    named += [(label, labels) for label in (plan.accepted, *(row.label for row in plan.labels))]
    if plan.semantics not in SEMANTICS:
        raise PlanError(f"the plan names the semantics `{plan.semantics}`; there are {' and '.join(SEMANTICS)}")
    for path in (*(f"{each.source}.{'.'.join(each.path)}" for each in plan.inputs), *plan.metadata):
        if _PATH.fullmatch(path) is None:
            raise PlanError(f"the plan reads `{path}`, which is not a path of a case or an output")
    for name, known in named:
        if name not in known:
            raise PlanError(f"the plan names `{name}`, which it does not hold")
