"""The plan of a scorecard over test cases: metrics, composite and label table, as programs."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.plan import envelope
from rulewright_runtime.plan.envelope import Kind
from rulewright_runtime.plan.part import PlanPart, programs_of
from rulewright_runtime.plan.scorecard import Parameter

FORMAT: Final = "rulewright-cases"
VERSION: Final = 2
MAX_SIZE: Final = 16 * 2**20  # bytes of JSON
SEMANTICS: Final = ("seed", "reference")
_PATH: Final = re.compile(r"(case|output)(\.(?!__)[A-Za-z_][A-Za-z0-9_]*)+")
Which = Literal["found", "missing"]


class Setting(PlanPart, frozen=True):
    """A parameter and where it can be set: an environment variable, a key of the settings file, a flag."""

    parameter: Parameter
    environment: str | None = None
    file: str | None = None
    flag: str | None = None
    help: str = ""


class Requirement(PlanPart, frozen=True):
    """A condition over the settings, and the message when it does not hold."""

    that: Program
    otherwise: str


class Input(PlanPart, frozen=True):
    """An input of a metric: its path below `case` or `output`."""

    name: str
    source: Literal["case", "output"]
    path: tuple[str, ...]
    type: Literal["string", "strings"]


class Text(PlanPart, frozen=True):
    """A text to search."""

    name: str
    value: Program


class Share(PlanPart, frozen=True):
    """The share of a list of phrases that is found. `empty` is its value, as decimal text, when `when` does not hold or
    the list is empty; `fold` names the parameter that folds typography and whitespace on both sides."""

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
    """A judge's question about an input of the case; the input follows the prompt, fenced.

    With `unclear` the verdict counts: FAIL makes the score 0, PASS keeps the score, and with any other verdict the
    metric is not passed and the case's label is `unclear` or a worse one. Without `unclear` the verdict is a hint.
    """

    prompt: str
    of: str
    unclear: str | None = None


class Semantic(PlanPart, frozen=True):
    """The similarity from which other words match a phrase that is not found, and whether the phrase then counts as
    found."""

    threshold: float
    counts: bool = False


class CaseMetric(PlanPart, frozen=True):
    """One metric: its share, its score (over `share` and parameters) and its reported details. `passes`, `fails` and
    `flagged` are conditions over the metrics; `fails` only grades the mean of a batch."""

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


class SettingValue(PlanPart, frozen=True):
    """The value of a setting and its source."""

    value: bool | int | float | str
    source: str


class Choices(PlanPart, frozen=True):
    """The values of parameters for all cases, for an archetype and for a clinical metric, and the semantics under which
    records are read.

    Under `seed` a record with a missing input or an unknown key is refused; under `reference` a missing or null input
    is empty, and unknown keys are ignored.
    """

    parameters: dict[str, SettingValue] = msgspec.field(default_factory=dict)
    archetypes: dict[str, dict[str, SettingValue]] = msgspec.field(default_factory=dict)
    metric_ids: dict[str, dict[str, SettingValue]] = msgspec.field(default_factory=dict)
    semantics: SettingValue = SettingValue("seed", "default")

    @property
    def number(self) -> int:
        return sum(map(len, (self.parameters, *self.archetypes.values(), *self.metric_ids.values())))


class CaseScorecardPlan(PlanPart, frozen=True):
    """A compiled scorecard over cases. `exits` lists the labels from the worst, each with its exit status; `accepted`
    is the label that counts as passed; `metadata` are paths, such as `case.description`, that no metric reads;
    `choices` are the settings it was compiled with."""

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
    """Decode a plan. Raises PlanError for anything that the compiler never writes."""
    plan = envelope.decode(data, KIND)
    for program in programs_of(plan):
        validate(program)
    _check_references(plan)
    return plan


def _check_references(plan: CaseScorecardPlan) -> None:
    inputs = {each.name for each in plan.inputs}
    lists = {each.name for each in plan.inputs if each.type == "strings"}
    labels = {label for label, _ in plan.exits}
    references = [(metric.share.of, lists) for metric in plan.metrics]
    references += [(metric.judge.of, inputs) for metric in plan.metrics if metric.judge is not None]
    references += [(metric.judge.unclear, labels) for metric in plan.metrics if metric.judge and metric.judge.unclear]
    references += [(label, labels) for label in (plan.accepted, *(row.label for row in plan.labels))]
    if plan.semantics not in SEMANTICS:
        raise PlanError(f"unknown semantics `{plan.semantics}` in the plan; expected {' or '.join(SEMANTICS)}")
    for path in (*(f"{each.source}.{'.'.join(each.path)}" for each in plan.inputs), *plan.metadata):
        if _PATH.fullmatch(path) is None:
            raise PlanError(f"the plan reads `{path}`, which is not a path of a case or an output")
    for name, declared in references:
        if name not in declared:
            raise PlanError(f"the plan refers to `{name}`, which it does not define")
