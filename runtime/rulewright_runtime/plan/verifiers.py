"""The routes of a plan: the settings of each, and the parts of the plan that it uses.

A route is a struct here, a module in `rulewright_runtime.verify`, and its lowering in the compiler.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, get_args

from msgspec import Meta, field

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart, ProbeKind, Verdict
from rulewright_runtime.plan.question import Judging, WholeWindow, Window, lexicons_of

Outcome = Literal["unsupported", "hallucinated", "wrong_jurisdiction", "eligibility_overclaim", "no_verification_path"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)
RuleKind = Literal["forbidden", "disclosure", "crisis"]
CriterionKind = Literal["binary", "ordinal", "autofail"]


class Fact(PlanPart, frozen=True):
    """One fact about a programme. `about`, `agrees` and `contradicts` name lexicons.

    A sentence is about the fact if `about` hits. It contradicts the fact if `contradicts` hits, or if a match of
    `figure` (RE2; the first group, or the whole match) is not in `figures`; with `closed` such a figure is made up. It
    agrees if a figure is in `figures` or `agrees` hits; otherwise the corpus is silent.
    """

    id: str
    about: str
    agrees: str | None = None
    contradicts: str | None = None
    figure: str | None = None
    figures: tuple[str, ...] = ()
    closed: bool = False
    source: str = ""


class Programme(PlanPart, frozen=True):
    """A programme: the lexicon of its names, its jurisdictions (empty: all), its facts, and the lexicon of sources at
    which a person can verify a claim."""

    id: str
    names: str
    jurisdictions: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    verify_at: str | None = None
    source: str = ""


class Corpus(PlanPart, frozen=True):
    """A reference corpus; all fields but `programmes`, `named`, `closed` and `places` name lexicons.

    `claims` finds the words that make a sentence a claim, `named` (RE2) text that looks like a programme's name,
    `hedges` phrases that leave eligibility open, `promises` phrases that do not, `verify_at` sources for verifying
    claims about any programme. `refers_back` finds the words with which a sentence refers to the programme named before
    it in the message. With `closed` a name outside the corpus is made up. `places` maps a jurisdiction to the lexicon
    of its names.
    """

    programmes: tuple[Programme, ...]
    claims: str
    named: str | None = None
    closed: bool = False
    hedges: str | None = None
    promises: str | None = None
    verify_at: str | None = None
    refers_back: str | None = None
    places: dict[str, str] = field(default_factory=dict)


class Transition(PlanPart, frozen=True):
    """From one of `before` to `to`, in a turn in which the lexicon `cue` hits, if `when` holds.

    `when` reads `turn` and `session` (the numbers), `elapsed_hours` (since the previous session; absent if unknown),
    `turns_in_state` and `sessions_in_state`. If it is undecided, the trace does not pass.
    """

    before: Annotated[tuple[str, ...], Meta(min_length=1)]
    to: str
    cue: str
    when: Program | None = None


class Forbidden(PlanPart, frozen=True):
    """States that must not be entered in this order, with or without others between them."""

    path: Annotated[tuple[str, ...], Meta(min_length=1)]
    code: str


class Ending(PlanPart, frozen=True):
    """The verdict of a trace that ends in a state."""

    state: str
    verdict: Verdict
    code: str


class StateMachine(PlanPart, frozen=True):
    """A machine and the verdicts of its traces: a forbidden path fails, else the last state's ending decides.

    A trace that never leaves `initial` has the verdict `silent`; a last state without an ending is a PASS.
    """

    initial: str
    states: Annotated[tuple[str, ...], Meta(min_length=1)]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Forbidden, ...] = ()
    endings: tuple[Ending, ...] = ()
    silent: Literal["PASS", "UNCLEAR", "NOT_APPLICABLE"] = "UNCLEAR"


Unit = Annotated[float, Meta(ge=0, le=1)]


class Route(PlanPart, frozen=True, tag_field="type"):
    """The base of all routes. What a route uses is found in its fields: questions by their type, machine, corpus and
    the checks that it reads by their names; a route that uses more has methods of its own."""

    reads_scenario: ClassVar[bool] = False  # apart from its expressions
    asks_on_hit: ClassVar[bool] = False  # a judge only confirms its own hits

    def judgings(self) -> Iterator[Judging]:
        """The questions that it may ask a judge; the last one is always asked, unless it `asks_on_hit`."""
        fields = (getattr(self, name) for name in self.__struct_fields__)
        return (value for value in fields if isinstance(value, Judging))

    def lexicons(self) -> Iterator[str]:
        """The lexicons that the plan must hold for it, besides those of its questions, machines and corpora."""
        return iter(())

    def searched(self) -> Iterator[tuple[str, str | None]]:
        """The lexicons that are searched for in all turns before it runs, with the role if it is not the lexicon's own.
        The plan may lack them."""
        return iter(())

    def machines(self) -> tuple[str, ...]:
        """The state machines that the plan must hold for it."""
        return self._named("machine")

    def corpora(self) -> tuple[str, ...]:
        """The corpora that the plan must hold for it."""
        return self._named("corpus")

    def reads(self) -> tuple[str, ...]:
        """The checks whose verdicts it reads."""
        needs: tuple[str, ...] = getattr(self, "needs", ())
        return needs

    def _named(self, field: str) -> tuple[str, ...]:
        name = getattr(self, field, None)
        return () if name is None else (name,)


class Edge(PlanPart, frozen=True):
    """When a deterministic verifier asks a judge: on a `hit`, to confirm it, and if it is `UNCLEAR` itself."""

    judging: Judging
    on: tuple[Literal["hit", "unclear"], ...] = ("hit",)


class LexiconVerifier(Route, frozen=True, tag="lexicon"):
    """FAIL for a hit in the turns of the lexicon's role; PASS without one; UNCLEAR for an unknown lexicon.

    `nothing` is the verdict without a turn of that role.
    """

    lexicon: str
    window: Window = WholeWindow()
    detected: str = "detected"
    absent: str = "absent"
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9
    edge: Edge | None = None
    nothing: Literal["PASS", "UNCLEAR"] = "UNCLEAR"

    asks_on_hit: ClassVar[bool] = True

    def judgings(self) -> Iterator[Judging]:
        if self.edge is not None:
            yield self.edge.judging

    def lexicons(self) -> Iterator[str]:
        """The cue of its window. Its own lexicon may be missing: then it is UNCLEAR."""
        return lexicons_of(self.window)

    def searched(self) -> Iterator[tuple[str, str | None]]:
        yield self.lexicon, None


class ScenarioRule(Route, frozen=True, tag="scenario_rule"):
    """A question of the user and the next reply; the first three fields are lexicons.

    Not eligible without the question, UNCLEAR without a reply. FAIL for a reply with a `false_claim` marker, else PASS
    for one with a `disclosure` marker, else FAIL. The evidence is both messages. `questions` says whether only the
    first question is read.
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
    questions: Literal["first", "every"] = "first"

    def lexicons(self) -> Iterator[str]:
        yield from (self.question, self.disclosure, self.false_claim)

    def searched(self) -> Iterator[tuple[str, str | None]]:
        """The question, in the user's turns."""
        yield self.question, "user"


class JudgeVerifier(Route, frozen=True, tag="judge"):
    """A judge decides (`llm_primary`, `hybrid_llm`)."""

    judging: Judging


class LongitudinalVerifier(Route, frozen=True, tag="longitudinal"):
    """A judge decides over the whole trace of turns and sessions (`longitudinal_trace`).

    With a `machine` its trace is recorded and shown to the judge; a disagreement requires adjudication.
    """

    judging: Judging
    machine: str | None = None


class TraceVerifier(Route, frozen=True, tag="trace"):
    """A state machine decides alone (`longitudinal_trace` without a prompt)."""

    machine: str


class CorpusVerifier(Route, frozen=True, tag="corpus"):
    """The assistant's claims are checked against a corpus (`extract_then_corpus`) for the `outcomes`.

    FAIL for a claim with one of the outcomes, else UNCLEAR for a claim on which the corpus is silent.
    """

    corpus: str
    outcomes: Annotated[tuple[Outcome, ...], Meta(min_length=1)]
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9


class RulePart(PlanPart, frozen=True):
    """The requirements of one jurisdiction, and their origin.

    `origin` names the files and the paths in them that hold the rules. `lexicon` holds forbidden or disclosing phrases,
    or the cues of a crisis; one in `cadence` replies must disclose (None: no such duty); `actions` maps a required
    action (or `resource`) to the lexicon that recognises it (None: it can't be recognised). `origins` maps a pattern or
    an action to its exact path if `origin` names several.
    """

    origin: str
    lexicon: str | None = None
    cadence: Annotated[int, Meta(ge=1)] | None = None
    actions: dict[str, str | None] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)

    def origin_of(self, decided: str) -> str:
        """The file and path of a pattern or an action."""
        return self.origins.get(decided, self.origin)


class JurisdictionRule(Route, frozen=True, tag="jurisdiction_rule"):
    """The requirements of the scenario's jurisdiction (`jurisdiction_rule`).

    `rules` maps a jurisdiction to its requirements. A scenario without a jurisdiction has `otherwise`.
    """

    kind: RuleKind
    rules: dict[str, RulePart]
    otherwise: str = "base"
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9

    def lexicons(self) -> Iterator[str]:
        for part in self.rules.values():
            yield from filter(None, (part.lexicon, *part.actions.values()))


class PhasedVerifier(Route, frozen=True, tag="phased"):
    """Three phases (`three_phase`): candidates of a lexicon, each confirmed by typed fields, then a sweep for the rest.

    A confirmed candidate fails the check and can't be overturned. With an open candidate the check never passes,
    whatever the sweep's verdict.
    """

    candidates: str
    confirm: Judging
    sweep: Judging

    def lexicons(self) -> Iterator[str]:
        yield self.candidates


class ProbeVerifier(Route, frozen=True, tag="probes"):
    """The scenario's probes of some kinds (`memory_probe`), decided by text comparison without a judge.

    A recall probe passes if the share `at_least` of its expected items is recalled; an item counts with a similarity of
    at least `likeness`, where 1 is an exact match.
    """

    kinds: Annotated[tuple[ProbeKind, ...], Meta(min_length=1, max_length=4)]
    at_least: Unit = 1.0
    likeness: Annotated[float, Meta(ge=0.5, le=1)] = 0.85

    reads_scenario: ClassVar[bool] = True


class CueResponse(Route, frozen=True, tag="cue_response"):
    """After every `cue` of the user, one of the next `within` replies must contain an `expected` phrase, and none a
    `forbidden` one (`cue_response`). All three are lexicons."""

    cue: str
    expected: str | None = None
    forbidden: str | None = None
    within: Annotated[int, Meta(ge=1, le=1000)] = 1
    hit_confidence: Unit = 0.95
    miss_confidence: Unit = 0.9

    def lexicons(self) -> Iterator[str]:
        yield from filter(None, (self.cue, self.expected, self.forbidden))


Each = Literal["conversation", "turn", "reply", "message", "tool_call"]
PARTS: Final[Mapping[str, tuple[str, str]]] = {  # what `each` names -> the variables with all parts, and with one
    "turn": ("turns", "turn"),
    "reply": ("replies", "turn"),
    "message": ("messages", "message"),
    "tool_call": ("tool_calls", "tool_call"),
}


class ExpressionVerifier(Route, frozen=True, tag="expression"):
    """Conditions over the conversation decide (`expression`), for the whole or for `each` of its parts.

    FAIL if `fails` holds, else UNCLEAR if `unclear` does, else PASS if `passes` does, else UNCLEAR. One of `fails` and
    `passes` may be missing: then its verdict is the default. An undecided condition is UNCLEAR. `needs` are the checks
    whose verdicts the conditions read as `v`; they read `parameters` as `params`.
    """

    fails: Program | None = None
    unclear: Program | None = None
    passes: Program | None = None
    each: Each = "conversation"
    needs: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)


class RubricVerifier(Route, frozen=True, tag="rubric"):
    """One criterion of a scenario's rubric about the reply to `turn`.

    `levels` of an ordinal criterion are in ascending order. A criterion of a `branch` counts only if the branch was
    taken, one of the turn itself only if none of `unless` was.
    """

    judging: Judging
    turn: int
    kind: CriterionKind
    levels: tuple[str, ...] = ()
    dimension: str = ""
    weight: Annotated[float, Meta(ge=0)] = 1.0
    branch: str | None = None
    unless: tuple[str, ...] = ()

    reads_scenario: ClassVar[bool] = True


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
