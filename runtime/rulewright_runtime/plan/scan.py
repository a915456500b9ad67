"""The plan: everything a run needs, decided while compiling, as one versioned and content-hashed JSON document.

A plan is untrusted until `plan.file.decode` returns it. Whatever differs between the semantics under which rule files
can be compiled is a policy field here (a window, a vote, the verdict of an unusable judge); the runtime never branches
on the semantics. A plan names no judge, command, callable or file.

    Plan
    |-- lexicons    name -> Lexicon            the patterns of the text matcher (marker lists are lexicons too)
    |-- scenarios   id -> Scenario             the facts that eligibility and windows need
    |-- checks      Check, in result order
    |   `-- verifier   LexiconVerifier, ScenarioRule, JudgeVerifier ... (by the key `type`)
    |-- left_out    LeftOut: checks that the profile does not run and gates wait for
    |-- machines    name -> StateMachine,  corpora  name -> Corpus
    `-- scorecard   how verdicts become gates and scores, with its parameters and blindspot labels
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, field

from rulewright_runtime.english import plural
from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart, ProbeKind, Verdict
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.plan.verifiers import Corpus, StateMachine, Verifier

FORMAT: Final = "rulewright-plan"
VERSION: Final = 2

SEVERITIES: Final = ("S1", "S2", "S3", "S4", "S4_GATE", "S5")  # of the default vocabulary, in ascending order
Role = Literal["user", "assistant"]
LexiconRole = Literal["user", "assistant", "both"]
Difference = Literal["white_space", "apostrophes", "quotes", "dashes", "emphasis", "invisible"]


class Pattern(PlanPart, frozen=True):
    """One pattern of a lexicon.

    `substring_ci` uses simple case folding, `contains_ci` lower-cases pattern and text, `regex` is RE2. If the lexicon
    folds differences, both literal modes are literals of the folded text.
    """

    pattern: str
    mode: Literal["substring_ci", "contains_ci", "regex"] = "substring_ci"


class Lexicon(PlanPart, frozen=True, cache_hash=True):
    """Patterns in the order in which they are tried, and the role whose turns they search.

    `fold` names the differences (of `rulewright_runtime.matching.folding`) that its literals ignore, in the text and in
    themselves; with `fold_regexes` its regular expressions also search the folded text, else the original.
    """

    patterns: Annotated[tuple[Pattern, ...], Meta(min_length=1)]
    role: LexiconRole = "assistant"
    fold: tuple[Difference, ...] = ()
    fold_regexes: bool = False


class CueAnchor(PlanPart, frozen=True):
    """The position of a cue in a scenario, by turn number (0: not given), and the checks it is for (empty: all)."""

    from_turn: int | None = None  # the response window; an anchor without both ends is skipped
    to_turn: int | None = None
    modes: tuple[str, ...] = ()
    cue_turn: int | None = None
    label: str = ""


class Session(PlanPart, frozen=True):
    """One session of a scenario: the range of its turn numbers, which continue across sessions.

    `elapsed` is the author's text for the time since the previous session, `hours` the same in hours, if known.
    """

    number: int
    first_turn: int
    last_turn: int
    elapsed: str = ""
    hours: Annotated[float, Meta(ge=0)] | None = None


class Probe(PlanPart, frozen=True):
    """The items that the reply to a turn must contain, or avoid; `sessions` are the earlier ones it refers to."""

    turn: int
    kind: ProbeKind
    expected: tuple[str, ...]
    sessions: tuple[int, ...] = ()


class ScriptedTurn(PlanPart, frozen=True):
    """A user's turn that a transcript must contain, with a reply.

    `messages` maps the digest of each allowed message to the branches that it belongs to (empty: none).
    """

    number: int
    messages: dict[str, tuple[str, ...]]


class Scenario(PlanPart, frozen=True):
    """The facts of one scenario. Expressions read them as `scenario.*`, together with `fields`.

    `turns` are the user's; if empty, a transcript can't lack any.
    """

    tags: tuple[str, ...] = ()
    eligible_modes: tuple[str, ...] = ()
    category: str = ""
    title: str = ""
    cue_anchors: tuple[CueAnchor, ...] = ()
    sessions: tuple[Session, ...] = ()
    jurisdiction: str = ""
    probes: tuple[Probe, ...] = ()
    contrast_group: str = ""  # scenarios of one group differ only in `contrast_variable`
    contrast_variable: str = ""
    refused: str = ""  # the reason why its transcripts are refused
    turns: tuple[ScriptedTurn, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)


NO_SCENARIO: Final = Scenario()  # for a conversation that was not played from a scenario


class Check(PlanPart, frozen=True):
    """One check, ready to run.

    `suppressed` true: no record. `eligible` false: a NOT_APPLICABLE record. No program: never suppressed, always
    eligible. `applies` false, over the conversation: likewise NOT_APPLICABLE, and no judge is asked. `adjudicate` lists
    the verdicts that require adjudication; `unclear: fail` turns UNCLEAR into FAIL with adjudication. The check's own
    expressions read `fields` as `check.*`. `description` is for people: the `hash` leaves it out.
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
    is_gate: bool = False  # a gate check by bucket and severity
    suppressed: Program | None = None
    eligible: Program | None = None
    applies: Program | None = None
    adjudicate: tuple[Verdict, ...] = ("UNCLEAR",)
    unclear: Literal["keep", "fail"] = "keep"
    description: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    hash: str = ""


class LeftOut(PlanPart, frozen=True):
    """A check that the profile does not run, so that the gates it belongs to stay open if it applies.

    `why`: the profile does not select the check (`profile`), or gives its judge no vote (`votes`; then the check is
    also in the plan's `checks`). The conditions and `fields` are those of a `Check`.
    """

    id: str
    why: Literal["profile", "votes"] = "profile"
    suppressed: Program | None = None
    eligible: Program | None = None
    fields: dict[str, Any] = field(default_factory=dict)


class PlugInFunction(PlanPart, frozen=True):
    """A plug-in function that a plan calls: its distribution, version and signature."""

    distribution: str
    version: str
    signature: str


class Plan(PlanPart, frozen=True):
    """A compiled project under one profile and one scorecard. `semantics` is informative; nothing branches on it.

    `empty_reply`: a reply that says nothing is an error of its turn, or an ordinary reply. `redact` holds patterns and
    their replacements, applied to every transcript before anything is judged, sent or stored.
    """

    language: str
    semantics: str
    profile: str
    lexicons: dict[str, Lexicon]
    scenarios: dict[str, Scenario]
    checks: tuple[Check, ...]
    scorecard: ScorecardPlan | None = None
    left_out: tuple[LeftOut, ...] = ()  # only checks that may leave a gate open
    machines: dict[str, StateMachine] = field(default_factory=dict)
    corpora: dict[str, Corpus] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    empty_reply: Literal["error", "reply"] = "error"
    redact: tuple[tuple[str, str], ...] = ()
    plugins: dict[str, PlugInFunction] = field(default_factory=dict)  # the functions that its checks call, by name
    severities: tuple[str, ...] = SEVERITIES  # in ascending order; every check has one of them, or none
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""

    def __repr__(self) -> str:
        return f"<Plan {self.hash[:12]}: {plural(len(self.checks), 'check')}, profile {self.profile!r}>"

    def gravity(self, severity: str | None) -> int:
        """The place of a severity among those of the plan, from 1 for the least; 0 for none of them."""
        return self.severities.index(severity) + 1 if severity in self.severities else 0
