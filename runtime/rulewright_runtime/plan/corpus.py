"""The reference corpora of a plan: programmes and the facts about them.

`rulewright_runtime.verify.corpus` checks claims against them.
"""

from typing import Final, Literal

from msgspec import field

from rulewright_runtime.plan.part import PlanPart

Outcome = Literal["unsupported", "hallucinated", "wrong_jurisdiction", "eligibility_overclaim", "no_verification_path"]
OUTCOMES: Final[tuple[Outcome, ...]] = (
    "unsupported", "hallucinated", "wrong_jurisdiction", "eligibility_overclaim", "no_verification_path",
)  # fmt: skip


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
