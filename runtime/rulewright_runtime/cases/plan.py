"""The plan of a scorecard over test cases: metrics, composite and label table, as programs."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from rulewright_runtime.errors import PlanError
from rulewright_runtime.ir import Program, validate
from rulewright_runtime.parameters import Parameter

FORMAT: Final = "rulewright-cases"
VERSION: Final = 1
MAX_SIZE: Final = 16 * 2**20  # bytes of JSON
Which = Literal["found", "missing"]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts have in common: they can't be changed, and an unknown key is refused."""


class Setting(Part, frozen=True):
    """A parameter and the places where it can be set: an environment variable, a key of the settings file, a flag."""

    parameter: Parameter
    environment: str | None = None
    file: str | None = None
    flag: str | None = None
    help: str = ""


class Requirement(Part, frozen=True):
    """What the settings together have to fulfil, and what is said when they don't."""

    that: Program
    otherwise: str


class Input(Part, frozen=True):
    """A part of a case: where it stands below `case` or `output`; what is missing or null there is empty."""

    name: str
    source: Literal["case", "output"]
    path: tuple[str, ...]
    type: Literal["string", "strings"]


class Text(Part, frozen=True):
    """A text that is searched."""

    name: str
    value: Program


class Share(Part, frozen=True):
    """Which part of a list of phrases is found. `empty` is its value, as decimal text, where `when` does not hold or
    the list is empty; `fold` names the parameter that folds typography and white space on both sides."""

    of: str
    found: Program
    when: Program | None
    empty: str
    fold: str | None = None


class Common(Part, frozen=True):
    """The phrases most often found or missing in a batch: the list's key, and the keys of an entry."""

    name: str
    of: Which
    item: str
    count: str
    title: str
    plural: str


class Question(Part, frozen=True):
    """What a judge is asked about an input of the case; the input follows the prompt, fenced.

    With `unclear` the verdict counts: FAIL makes the score 0, PASS leaves it as it is, and after anything else the
    metric is not passed and the case's label is `unclear` or a graver one. Without, it is a hint.
    """

    prompt: str
    of: str
    unclear: str | None = None


class Semantic(Part, frozen=True):
    """From which similarity on other words mean the same as a phrase that is not found, and whether it then counts as
    found."""

    threshold: float
    counts: bool = False


class Metric(Part, frozen=True):
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


class Label(Part, frozen=True):
    """A row of the label table."""

    label: str
    when: Program


class Chosen(Part, frozen=True):
    """A setting's value and where it came from."""

    value: bool | int | float | str
    source: str


class Choices(Part, frozen=True):
    """What parameters are set to: for all cases, for those of an archetype, for those of a clinical metric."""

    parameters: dict[str, Chosen] = {}
    archetypes: dict[str, dict[str, Chosen]] = {}
    metric_ids: dict[str, dict[str, Chosen]] = {}

    @property
    def number(self) -> int:
        """How many values there are."""
        return sum(map(len, (self.parameters, *self.archetypes.values(), *self.metric_ids.values())))


class CaseScorecardPlan(Part, frozen=True):
    """A scorecard over cases, ready to carry out. `exits` lists the labels from the gravest, each with the exit status
    of a batch that holds it; `accepted` is the label that counts as passed; `choices` are the settings it was compiled
    under."""

    name: str
    report_type: str
    title: str
    settings: tuple[Setting, ...]
    requires: tuple[Requirement, ...]
    inputs: tuple[Input, ...]
    texts: tuple[Text, ...]
    metrics: tuple[Metric, ...]
    composite: Program
    labels: tuple[Label, ...]
    exits: tuple[tuple[str, int], ...]
    accepted: str
    choices: Choices = Choices()
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""


def sealed(plan: CaseScorecardPlan) -> CaseScorecardPlan:
    """The plan with the hash of its content."""
    return replace(plan, hash=_hash(plan))


def encode(plan: CaseScorecardPlan) -> bytes:
    """The plan as canonical JSON; `sealed`, it can be decoded."""
    return msgspec.json.encode(plan, order="deterministic")


def _hash(plan: CaseScorecardPlan) -> str:
    return hashlib.sha256(msgspec.json.encode(replace(plan, hash=""), order="deterministic")).hexdigest()


def decode(data: bytes) -> CaseScorecardPlan:
    """The plan in `data`. PlanError for whatever an honest compiler never writes."""
    from rulewright_runtime.plan_guard import programs_of

    if len(data) > MAX_SIZE:
        raise PlanError(f"the plan has {len(data)} bytes; at most {MAX_SIZE} are accepted")
    try:
        plan = msgspec.json.decode(data, type=CaseScorecardPlan)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"this is no plan of a scorecard over cases: {error}") from None
    if (plan.format, plan.version) != (FORMAT, VERSION):
        raise PlanError(f"the plan is `{plan.format}` version {plan.version}; this runtime reads `{FORMAT}` {VERSION}")
    if plan.hash != _hash(plan):
        raise PlanError("the plan's hash does not match its content: it was changed or cut after it was compiled")
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
    for name, known in named:
        if name not in known:
            raise PlanError(f"the plan names `{name}`, which it does not hold")
