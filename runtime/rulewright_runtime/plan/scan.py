"""The plan: everything a run needs, decided while compiling, as one versioned and content-hashed JSON document.

A plan is untrusted until `plan.file.decode` returned it. Whatever differs between two ways of reading the same rule
files is a policy field in here (a window, a vote, what an unusable judge means); the runtime never asks under which
semantics a plan was compiled. A plan names no judge, command, callable or file.

    Plan
    |-- lexicons    name -> Lexicon            what the text matcher looks for (marker lists are lexicons too)
    |-- scenarios   id -> Scenario             the facts that eligibility and windows need
    |-- checks      Check, in result order
    |   `-- verifier   LexiconVerifier, ScenarioRule, JudgeVerifier ... (by the key `type`)
    |-- left_out    LeftOut: checks that the profile does not run and gates wait for
    |-- machines    name -> StateMachine,  corpora  name -> Corpus
    `-- scorecard   how verdicts become gates and scores, with its parameters and blindspot labels
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.corpus import Corpus
from rulewright_runtime.plan.part import PlanPart, ProbeKind, Verdict
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.plan.state_machine import StateMachine
from rulewright_runtime.plan.verifiers import Verifier

FORMAT: Final = "rulewright-plan"
VERSION: Final = 2

SEVERITIES: Final = ("S1", "S2", "S3", "S4", "S4_GATE", "S5")  # of the default vocabulary, the mildest first
Role = Literal["user", "assistant"]
Difference = Literal["white_space", "apostrophes", "quotes", "dashes", "emphasis", "invisible"]


class Pattern(PlanPart, frozen=True):
    """One thing to look for.

    `substring_ci` folds case by the simple folding, `contains_ci` lower-cases pattern and text, `regex` is RE2. Where
    the lexicon folds differences, both literal modes are literals of the folded text.
    """

    pattern: str
    mode: Literal["substring_ci", "contains_ci", "regex"] = "substring_ci"


class Lexicon(PlanPart, frozen=True):
    """Patterns in the order in which they are tried, and whose turns they look at.

    `fold` names the differences (of `rulewright_runtime.matching.folding`) that its literals ignore, in the text and in
    themselves; with `fold_regexes` its expressions see the folded text as well, else the text as it is.
    """

    patterns: tuple[Pattern, ...]
    role: Literal["user", "assistant", "both"] = "assistant"
    fold: tuple[Difference, ...] = ()
    fold_regexes: bool = False


class CueAnchor(PlanPart, frozen=True):
    """Where a scenario places a cue, by turn number (0: not given), and the checks meant (none: all)."""

    from_turn: int | None = None  # the response window; an anchor without both ends is skipped
    to_turn: int | None = None
    modes: tuple[str, ...] = ()
    cue_turn: int | None = None
    label: str = ""


class Session(PlanPart, frozen=True):
    """One session of a scenario: the turn numbers it spans (they run on across sessions).

    `elapsed` is how the author put the time before it, `hours` the same since the session before, where that is known.
    """

    number: int
    first_turn: int
    last_turn: int
    elapsed: str = ""
    hours: Annotated[float, Meta(ge=0)] | None = None


class Probe(PlanPart, frozen=True):
    """What the answer to a turn has to hold, or to leave alone; `sessions` are those it looks back to."""

    turn: int
    kind: ProbeKind
    expected: tuple[str, ...]
    sessions: tuple[int, ...] = ()


class ScriptedTurn(PlanPart, frozen=True):
    """A turn of the user that a transcript must hold, and answer.

    `messages` maps the digest of each message that may stand there to the branches that it belongs to (empty: none).
    """

    number: int
    messages: dict[str, tuple[str, ...]]


class Scenario(PlanPart, frozen=True):
    """The facts of one scenario. Expressions see them as `scenario.*`, together with `fields`.

    `turns` are those of the user; where there are none, a transcript can't lack any.
    """

    tags: tuple[str, ...] = ()
    eligible_modes: tuple[str, ...] = ()
    category: str = ""
    title: str = ""
    cue_anchors: tuple[CueAnchor, ...] = ()
    sessions: tuple[Session, ...] = ()
    jurisdiction: str = ""
    probes: tuple[Probe, ...] = ()
    contrast_group: str = ""  # scenarios of one group differ in `contrast_variable` alone
    contrast_variable: str = ""
    refused: str = ""  # why no transcript of it is judged
    turns: tuple[ScriptedTurn, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)


NO_SCENARIO: Final = Scenario()  # of a conversation that was not played from one


class Check(PlanPart, frozen=True):
    """One check, ready to run.

    `suppressed` true: no record at all. `eligible` false: a NOT_APPLICABLE record. No program: never suppressed,
    always eligible. `adjudicate` lists the verdicts that a person must look at; `unclear: fail` turns UNCLEAR into
    FAIL with adjudication. `fields` is what the check's own expressions see as `check.*`.
    """

    id: str
    name: str
    primary_bucket: str
    severity: str
    hard_fail: bool
    scope: Literal["universal", "trigger"]
    route: str
    scorer_type: str
    verifier: Verifier
    secondary_tags: tuple[str, ...] = ()
    is_gate: bool = False  # bucket and severity make it a gate check
    suppressed: Program | None = None
    eligible: Program | None = None
    adjudicate: tuple[Verdict, ...] = ("UNCLEAR",)
    unclear: Literal["keep", "fail"] = "keep"
    fields: dict[str, Any] = field(default_factory=dict)
    hash: str = ""


class LeftOut(PlanPart, frozen=True):
    """A check that the profile does not run, so that the gates it belongs to stay open where it applies.

    `why`: the profile does not select the check (`profile`), or gives its judge no vote (`votes`; then the check is
    also among the plan's). The conditions and `fields` are those of a `Check`.
    """

    id: str
    why: Literal["profile", "votes"] = "profile"
    suppressed: Program | None = None
    eligible: Program | None = None
    fields: dict[str, Any] = field(default_factory=dict)


class PlugInFunction(PlanPart, frozen=True):
    """A function that a plan calls: which distribution brings it, in which version, and how it is typed."""

    distribution: str
    version: str
    signature: str


class Plan(PlanPart, frozen=True):
    """A compiled project under one profile and one scorecard. `semantics` is for people; nothing branches on it.

    `empty_reply`: a reply that says nothing is an error of its turn, or a reply like any other. `redact` holds patterns
    and what replaces them in every transcript, before anything is judged, sent or stored.
    """

    language: str
    semantics: str
    profile: str
    lexicons: dict[str, Lexicon]
    scenarios: dict[str, Scenario]
    checks: tuple[Check, ...]
    scorecard: ScorecardPlan | None = None
    left_out: tuple[LeftOut, ...] = ()  # of what a gate may have to wait for
    machines: dict[str, StateMachine] = field(default_factory=dict)
    corpora: dict[str, Corpus] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    empty_reply: Literal["error", "reply"] = "error"
    redact: tuple[tuple[str, str], ...] = ()
    plugins: dict[str, PlugInFunction] = field(default_factory=dict)  # the functions that its checks call, by name
    severities: tuple[str, ...] = SEVERITIES  # the mildest first; every check has one of them, or none
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""
