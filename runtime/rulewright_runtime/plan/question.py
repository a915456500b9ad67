"""Questions of a plan to a judge: the prompt, the window of turns, and how the replies are counted."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta

from rulewright_runtime.ir import Program
from rulewright_runtime.plan.part import PlanPart

Count = Annotated[int, Meta(ge=0, le=1001)]
ExchangeTurns = Annotated[int, Meta(ge=4, le=1000)]  # at least two pairs, so that windows can overlap by one


class WholeWindow(PlanPart, frozen=True, tag_field="kind", tag="whole"):
    """The whole transcript (`scenario_level`, `session_state`, `extracted_claim`)."""


class AnchoredWindow(PlanPart, frozen=True, tag_field="kind", tag="anchored"):
    """The turns around a cue (`event_window`).

    It uses the scenario's anchors (`anchors`: the first that selects a turn, or all of them together); else, with
    `cue`, the turns of that lexicon's role with a hit, each with the next assistant turn; else the whole transcript,
    which is recorded as `extra.window: unbounded` if `record` is set. With `turns` the turns around cues are split at
    sessions and into windows of at most that many, as in an `ExchangeWindow`.
    """

    anchors: Literal["first", "all"] = "first"
    cue: str | None = None
    record: bool = False
    turns: ExchangeTurns | None = None


class LastPairWindow(PlanPart, frozen=True, tag_field="kind", tag="last_pair"):
    """The last user turn and the first assistant turn with the same or a greater number."""


class NearbyWindow(PlanPart, frozen=True, tag_field="kind", tag="nearby"):
    """Every turn whose number is within `radius` of the last assistant turn's."""

    radius: Count = 2


class EachReplyWindow(PlanPart, frozen=True, tag_field="kind", tag="each_reply"):
    """A window for every assistant turn; any FAIL is FAIL, else any UNCLEAR is UNCLEAR (`turn_level`)."""


class ExchangeWindow(PlanPart, frozen=True, tag_field="kind", tag="exchange"):
    """Contiguous exchanges: runs of turns without a gap in their numbers, inside one session (`local_exchange`).

    A run of more than `turns` turns is judged in windows of at most that many, each of which starts with the exchange
    that ends the previous one; any FAIL is FAIL, else any UNCLEAR is UNCLEAR.
    """

    turns: ExchangeTurns = 8


Window = WholeWindow | AnchoredWindow | LastPairWindow | NearbyWindow | EachReplyWindow | ExchangeWindow


def lexicons_of(window: Window) -> Iterator[str]:
    """The lexicon of an anchored window's cue, if it has one."""
    if isinstance(window, AnchoredWindow) and window.cue is not None:
        yield window.cue


# What a judge may see besides the turns: system and developer instructions, tool calls with their results, and the
# expected answer.
ShownContext = Literal["system", "tools", "expected"]

Filter = Literal["join", "length", "lower", "tojson", "trim", "upper"]
FILTERS: Final[tuple[Filter, ...]] = get_args(Filter)


class TextSegment(PlanPart, frozen=True, tag_field="part", tag="text"):
    """Literal text of a prompt."""

    text: str


class ValueSegment(PlanPart, frozen=True, tag_field="part", tag="value"):
    """A value of the context (`scenario`, `check`, loop variables), then filters from left to right."""

    value: Program
    filters: tuple[Filter, ...] = ()


class IfSegment(PlanPart, frozen=True, tag_field="part", tag="if"):
    """One of two parts of a prompt; an undecided condition is not met."""

    condition: Program
    then: tuple["Segment", ...] = ()
    otherwise: tuple["Segment", ...] = ()


class ForSegment(PlanPart, frozen=True, tag_field="part", tag="for"):
    """A part repeated for every item of a list, which is bound to `name`."""

    name: str
    items: Program
    body: tuple["Segment", ...] = ()


Segment = TextSegment | ValueSegment | IfSegment | ForSegment


class Vote(PlanPart, frozen=True):
    """How repetitions become one verdict: a strict majority of the `planned` or only of the `usable` ones.

    `rationale` takes the code of the first repetition that voted for the verdict (`winning`) or the first code of any
    (`first`). `record` adds `votes_for, votes_cast, planned` to `extra`. With `stop` `decided` no repetition is
    requested that can no longer change the verdict or prove it.
    """

    denominator: Literal["planned", "usable"] = "planned"
    rationale: Literal["winning", "first"] = "winning"
    record: bool = True
    stop: Literal["decided", "never"] = "decided"


class Unusable(PlanPart, frozen=True):
    """The verdict if no reply of a judge is usable. It always requires adjudication."""

    verdict: Literal["FAIL", "UNCLEAR"] = "UNCLEAR"
    code: str = "verifier_infrastructure_failure"
    record: bool = True  # record the votes, and `extra.fail_closed` for a FAIL; else `extra` is empty


class EvidencePolicy(PlanPart, frozen=True):
    """How a judge's quotes are verified.

    With `verify` a quote must occur in the turn and role it names and inside the judged window (`evidence.occurs`);
    any other is moved to `extra.unverified_evidence`. If evidence is `required`, a FAIL without any stays and requires
    adjudication (`keep`) or becomes UNCLEAR.
    `malformed` items end the verifier (`exception`) or count as unverified (`unverified`).
    """

    verify: bool = True
    required: bool = True
    unverified_fail: Literal["keep", "unclear"] = "unclear"
    malformed: Literal["exception", "unverified"] = "unverified"


class ReplyField(PlanPart, frozen=True):
    """A field that a judge's reply must have to be usable: its type, or its allowed words.

    A `level` is one of the words; a reply needs none if its verdict is UNCLEAR or NOT_APPLICABLE.
    """

    name: str
    type: Literal["string", "integer", "boolean", "words", "level"]
    words: tuple[str, ...] = ()


class Judging(PlanPart, frozen=True):
    """One question to a judge: the prompt, the window, K repetitions and how the replies are counted.

    `repetitions` 0 means that the profile disables the check. `budgets` are the token budgets of one repetition's
    attempts. An adaptive stop ends the repetitions after a usable first PASS or NOT_APPLICABLE. `precheck` names the
    lexicon whose hits in the window are recorded and given to the judge as candidates. `shows` is what the judge sees
    besides the turns, inside the same fence; it may be quoted. A `strict` reading takes a reply that is one JSON
    object, a `lenient` one the first object with a verdict. With `fields` a reply must have them, and its verdict must
    be FAIL exactly if `violates`, a condition over `reply` (undecided: met), is met; any other reply is not usable.
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
    shows: tuple[ShownContext, ...] = ()
    tags: tuple[str, ...] = ()  # the check's eligibility tags, shown to the judge
    fields: tuple[ReplyField, ...] = ()
    violates: Program | None = None

    def lexicons(self) -> Iterator[str]:
        """The lexicons that the plan must hold for it."""
        yield from lexicons_of(self.window)
        if self.precheck is not None:
            yield self.precheck
