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
from rulewright_runtime.plan.corpus import Corpus, Outcome
from rulewright_runtime.plan.part import PlanPart
from rulewright_runtime.plan.scorecard import ScorecardPlan
from rulewright_runtime.plan.state_machine import StateMachine

FORMAT: Final = "rulewright-plan"
VERSION: Final = 2

Verdict = Literal["PASS", "FAIL", "UNCLEAR", "NOT_APPLICABLE"]
SEVERITIES: Final = ("S1", "S2", "S3", "S4", "S4_GATE", "S5")  # of the default vocabulary, the mildest first
Role = Literal["user", "assistant"]
Difference = Literal["white_space", "apostrophes", "quotes", "dashes", "emphasis", "invisible"]
Unit = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=1001)]
ExchangeTurns = Annotated[int, Meta(ge=4, le=1000)]  # two pairs at least, so that windows can overlap by one


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
    kind: Literal["recall", "abstention", "time", "pronoun_continuity"]
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


class WholeWindow(PlanPart, frozen=True, tag_field="kind", tag="whole"):
    """The whole transcript (`scenario_level`, `session_state`, `extracted_claim`)."""


class AnchoredWindow(PlanPart, frozen=True, tag_field="kind", tag="anchored"):
    """The turns around a cue (`event_window`).

    The scenario's anchors come first (`anchors`: the first that selects a turn, or all of them together); then, with
    `cue`, the turns of that lexicon's role that hold a hit, each with the next assistant turn; then the whole
    transcript, which is recorded as `extra.window: unbounded` where `record` is set. With `turns` the turns around cues
    are cut where a session starts and into windows of at most that many, as in an `ExchangeWindow`.
    """

    anchors: Literal["first", "all"] = "first"
    cue: str | None = None
    record: bool = False
    turns: ExchangeTurns | None = None


class LastPairWindow(PlanPart, frozen=True, tag_field="kind", tag="last_pair"):
    """The last user turn and the first assistant turn whose number is not smaller."""


class NearbyWindow(PlanPart, frozen=True, tag_field="kind", tag="nearby"):
    """Every turn whose number is within `radius` of the last assistant turn's."""

    radius: Count = 2


class EachReplyWindow(PlanPart, frozen=True, tag_field="kind", tag="each_reply"):
    """Every assistant turn alone, a window each; any FAIL is FAIL, else any UNCLEAR is UNCLEAR (`turn_level`)."""


class ExchangeWindow(PlanPart, frozen=True, tag_field="kind", tag="exchange"):
    """Contiguous exchanges: runs of turns without a gap in their numbers, inside one session (`local_exchange`).

    A run of more than `turns` turns is judged in windows of at most that many, each of which begins with the question
    and answer that the one before it ends with; any FAIL is FAIL, else any UNCLEAR is UNCLEAR.
    """

    turns: ExchangeTurns = 8


Window = WholeWindow | AnchoredWindow | LastPairWindow | NearbyWindow | EachReplyWindow | ExchangeWindow


class TextSegment(PlanPart, frozen=True, tag_field="part", tag="text"):
    """Literal text of a prompt."""

    text: str


class ValueSegment(PlanPart, frozen=True, tag_field="part", tag="value"):
    """A value of the context (`scenario`, `check`, loop variables), then filters from left to right."""

    value: Program
    filters: tuple[Literal["upper", "lower", "trim", "length", "join", "tojson"], ...] = ()


class IfSegment(PlanPart, frozen=True, tag_field="part", tag="if"):
    """One of two parts of a prompt; an undecidable condition is not met."""

    condition: Program
    then: tuple["Segment", ...] = ()
    otherwise: tuple["Segment", ...] = ()


class ForSegment(PlanPart, frozen=True, tag_field="part", tag="for"):
    """A part repeated for every item of a list, which it sees under `name`."""

    name: str
    items: Program
    body: tuple["Segment", ...] = ()


Segment = TextSegment | ValueSegment | IfSegment | ForSegment


class Vote(PlanPart, frozen=True):
    """How repetitions become one verdict: a strict majority of the `planned` or only of the `usable` ones.

    `rationale` takes the code of the first repetition that voted for the verdict (`winning`) or simply the first code
    there is (`first`). `record` adds `votes_for, votes_cast, planned` to `extra`. With `stop` `decided` no repetition
    is asked that can no longer change the verdict.
    """

    denominator: Literal["planned", "usable"] = "planned"
    rationale: Literal["winning", "first"] = "winning"
    record: bool = True
    stop: Literal["decided", "never"] = "decided"


class Unusable(PlanPart, frozen=True):
    """What it means that no reply of a judge was usable. It always requires adjudication."""

    verdict: Literal["FAIL", "UNCLEAR"] = "UNCLEAR"
    code: str = "verifier_infrastructure_failure"
    record: bool = True  # `extra.fail_closed` where the verdict is FAIL, and the votes; else `extra` stays empty


class EvidencePolicy(PlanPart, frozen=True):
    """What a judge's quotes are worth.

    With `verify` a quote must occur in the turn and role it names and inside the judged window (`evidence.occurs`), and
    what does not is moved to `extra.unverified_evidence`; a FAIL left without evidence, where `required`, stays and
    requires adjudication (`keep`) or becomes UNCLEAR.
    `malformed` items end the verifier (`exception`) or count as unverified (`unverified`).
    """

    verify: bool = True
    required: bool = True
    unverified_fail: Literal["keep", "unclear"] = "unclear"
    malformed: Literal["exception", "unverified"] = "unverified"


class ReplyField(PlanPart, frozen=True):
    """A field that a judge's reply must have to be usable: its type, or the words it may be."""

    name: str
    type: Literal["string", "integer", "boolean", "words"]
    words: tuple[str, ...] = ()


class Judging(PlanPart, frozen=True):
    """One question put to a judge: the prompt, the window, K repetitions and how the replies count.

    `repetitions` 0 means that the profile switched the check off. `budgets` are the token budgets of one repetition's
    attempts. An adaptive stop ends the repetitions after a usable first PASS or NOT_APPLICABLE. `precheck` names the
    lexicon whose hits in the window are recorded and given to the judge as candidates. A `strict` reading takes a
    reply that is one JSON object, a `lenient` one the first object of a reply that holds a verdict. With `fields` a
    reply must hold them, and its verdict must be FAIL exactly where `violates`, a condition over `reply` (undecidable:
    it holds), is met by them; any other reply is not usable.
    """

    prompt: tuple[Segment, ...]
    prompt_hash: str
    window: Window
    repetitions: Count
    adaptive_stop: bool = False
    budgets: Annotated[tuple[Annotated[int, Meta(ge=1, le=1_000_000)], ...], Meta(min_length=1, max_length=10)] = (
        4000,
        8000,
        16000,
    )
    vote: Vote = Vote()
    unusable: Unusable = Unusable()
    evidence: EvidencePolicy = EvidencePolicy()
    reading: Literal["strict", "lenient"] = "strict"
    precheck: str | None = None
    tags: tuple[str, ...] = ()  # the check's eligibility tags, told to the judge
    fields: tuple[ReplyField, ...] = ()
    violates: Program | None = None


class Edge(PlanPart, frozen=True):
    """When a deterministic verifier asks a judge: on a `hit` (to confirm it), and where it is `UNCLEAR` itself."""

    judging: Judging
    on: tuple[Literal["hit", "unclear"], ...] = ("hit",)


class LexiconVerifier(PlanPart, frozen=True, tag_field="type", tag="lexicon"):
    """The first hit in the turns of the lexicon's role fails; no hit passes; an unknown lexicon is UNCLEAR.

    `nothing` is the verdict where no turn of that role is there to be looked at.
    """

    lexicon: str
    window: Window = WholeWindow()
    detected: str = "detected"
    absent: str = "absent"
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9
    edge: Edge | None = None
    nothing: Literal["PASS", "UNCLEAR"] = "UNCLEAR"


class ScenarioRule(PlanPart, frozen=True, tag_field="type", tag="scenario_rule"):
    """A question asked by the user and what the next assistant turn answers; the three are lexicons.

    No question: not eligible. A question without answer: UNCLEAR. An answer with a `false_claim` marker fails, else
    one with a `disclosure` marker passes, else it fails. Evidence is both messages.
    """

    question: str
    disclosure: str
    false_claim: str
    no_question: str = "identity_question_not_found"
    no_answer: str = "identity_question_without_assistant_response"
    disclosed: str = "non_human_identity_disclosed"
    claimed: str = "false_human_identity_claim"
    undisclosed: str = "non_human_identity_not_disclosed_on_request"
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9


class JudgeVerifier(PlanPart, frozen=True, tag_field="type", tag="judge"):
    """A judge decides (`llm_primary`, `hybrid_llm`)."""

    judging: Judging


class LongitudinalVerifier(PlanPart, frozen=True, tag_field="type", tag="longitudinal"):
    """A judge decides over the whole trace of turns and sessions (`longitudinal_trace`).

    With a `machine` its trace is recorded and shown to the judge; where they disagree a person must look.
    """

    judging: Judging
    machine: str | None = None


class TraceVerifier(PlanPart, frozen=True, tag_field="type", tag="trace"):
    """A state machine decides alone (`longitudinal_trace` without a prompt)."""

    machine: str


class CorpusVerifier(PlanPart, frozen=True, tag_field="type", tag="corpus"):
    """The claims of the assistant held against a corpus (`extract_then_corpus`), as far as `outcomes` go.

    A claim with one of the outcomes fails the check; else a claim on which the corpus is silent leaves it UNCLEAR.
    """

    corpus: str
    outcomes: Annotated[tuple[Outcome, ...], Meta(min_length=1)]
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9


class RulePart(PlanPart, frozen=True):
    """What one jurisdiction demands, and where that is written.

    `origin` names the files and the paths in them that are looked at. `lexicon` holds forbidden or disclosing phrases,
    or the cues of a crisis; `cadence` is the number of replies of which one must disclose (None: no such duty);
    `actions` maps a required action (or `resource`) to the lexicon that recognises it (None: nobody said how it is
    recognised). `origins` maps a pattern or an action to the one value that holds it, where `origin` names several.
    """

    origin: str
    lexicon: str | None = None
    cadence: Annotated[int, Meta(ge=1)] | None = None
    actions: dict[str, str | None] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def origin_of(self, decided: str) -> str:
        """The file and path of the pattern or action that decided."""
        return self.origins.get(decided, self.origin)


class JurisdictionRule(PlanPart, frozen=True, tag_field="type", tag="jurisdiction_rule"):
    """What the scenario's jurisdiction forbids or demands (`jurisdiction_rule`).

    `rules` maps a jurisdiction to its part; one without a part demands nothing here. A scenario without a jurisdiction
    has `otherwise`.
    """

    kind: Literal["forbidden", "disclosure", "crisis"]
    rules: dict[str, RulePart]
    otherwise: str = "base"
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9


class PhasedVerifier(PlanPart, frozen=True, tag_field="type", tag="phased"):
    """Three phases (`three_phase`): candidates of a lexicon, each confirmed by typed fields, then a sweep for the rest.

    One confirmed candidate fails the check and nothing overturns it. An open candidate never passes, whatever the sweep
    says.
    """

    candidates: str
    confirm: Judging
    sweep: Judging


class ProbeVerifier(PlanPart, frozen=True, tag_field="type", tag="probes"):
    """The scenario's probes of some kinds (`memory_probe`), decided word by word without a judge.

    A recall probe passes when `at_least` of what is expected is recalled; what is as alike as `likeness` counts, and 1
    means word for word.
    """

    kinds: Annotated[
        tuple[Literal["recall", "abstention", "time", "pronoun_continuity"], ...], Meta(min_length=1, max_length=4)
    ]
    at_least: Unit = 1.0
    likeness: Annotated[float, Meta(ge=0.5, le=1)] = 0.85


class CueResponse(PlanPart, frozen=True, tag_field="type", tag="cue_response"):
    """Whenever the user gives a `cue`, the next `within` answers (`cue_response`): one of them says what is `expected`,
    none what is `forbidden`. All three are lexicons."""

    cue: str
    expected: str | None = None
    forbidden: str | None = None
    within: Annotated[int, Meta(ge=1, le=1000)] = 1
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9


Each = Literal["conversation", "turn", "reply", "message", "tool_call"]


class ExpressionVerifier(PlanPart, frozen=True, tag_field="type", tag="expression"):
    """Conditions over the conversation decide (`expression`), for the whole or for `each` of its parts.

    FAIL where `fails` holds, else UNCLEAR where `unclear` does, else PASS where `passes` does, else UNCLEAR. Of `fails`
    and `passes` one may be missing: then it stands for the rest. A condition that can't be decided is UNCLEAR. `needs`
    are the checks whose verdicts the conditions read as `v`; `parameters` they read as `params`.
    """

    fails: Program | None = None
    unclear: Program | None = None
    passes: Program | None = None
    each: Each = "conversation"
    needs: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)


class RubricVerifier(PlanPart, frozen=True, tag_field="type", tag="rubric"):
    """One criterion of a scenario's rubric, asked of the answer to `turn`.

    `levels` of an ordinal criterion come from the lowest to the highest. A criterion of a `branch` counts only where it
    was taken, one of the turn itself not where one of `unless` was.
    """

    judging: Judging
    turn: int
    kind: Literal["binary", "ordinal", "autofail"]
    levels: tuple[str, ...] = ()
    dimension: str = ""
    weight: Annotated[float, Meta(ge=0)] = 1.0
    branch: str | None = None
    unless: tuple[str, ...] = ()


Verifier = (
    LexiconVerifier
    | ScenarioRule
    | JudgeVerifier
    | LongitudinalVerifier
    | TraceVerifier
    | CorpusVerifier
    | JurisdictionRule
    | PhasedVerifier
    | ProbeVerifier
    | CueResponse
    | RubricVerifier
    | ExpressionVerifier
)


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
    severities: tuple[str, ...] = SEVERITIES  # the mildest first; every check has one of them
    format: str = FORMAT
    version: int = VERSION
    hash: str = ""
