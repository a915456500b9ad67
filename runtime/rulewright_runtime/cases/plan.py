"""The plan of a scorecard over test cases: metrics, composite and label table, as programs."""

from __future__ import annotations

from typing import Literal

import msgspec

from rulewright_runtime.ir import Program
from rulewright_runtime.parameters import Parameter

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


class CaseScorecardPlan(Part, frozen=True):
    """A scorecard over cases, ready to carry out. `exits` lists the labels from the gravest, each with the exit status
    of a batch that holds it; `accepted` is the label that counts as passed."""

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
