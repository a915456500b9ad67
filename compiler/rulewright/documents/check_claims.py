"""What the id and the texts of a check claim about its condition."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

from rulewright.documents.base import optional_text, scalar
from rulewright.documents.check import CheckDocument
from rulewright.documents.prose_limits import Limit
from rulewright.load import Scalar

WORDS: Final = ("note", "description", "pass_rule")  # say what is wanted
MISSING: Final = re.compile(r"-(?:missing|missed|omitted|absent)$")
# `not-verified`, `not-read`, `without-`, `unconfirmed`
PARTICIPLES: Final = (
    r"asked|done|found|given|kept|known|made|met|named|paid|read|run|said|sent|shown|taken|told|written"
)
LACK: Final = re.compile(rf"(?:^|-)(?:not-(?:\w+ed|{PARTICIPLES})$|without-|un\w+ed(?=-|$))")
LACKING: Final = re.compile(r"(?:-not-|-un|^un)(\w+)$")  # what a name says is not done
WANTED: Final = re.compile(r"(?:^|-)un(?:al|bias|block|chang|harm|modif|prompt|touch)")  # `unchanged`
BANNED: Final = re.compile("banned|forbidden|prohibited")
EXTREME: Final = {
    "too-(?:long|many|much|large|big|slow|late|dear|expensive|high|often)": ">",
    "too-(?:short|few|little|small|early|low|fast|seldom)": "<",
}
# A sentence of one clause.
FORBIDS: Final = re.compile(
    r"^(?:(?:Nobody|No|Nothing|Never|None)\b|[^,;:.\u2013\u2014]*\b(?:neither|never|(?:do|does|may|must) not)\b"
    r"(?! (?:delay|fail|forget|hide|ignore|leave|lose|miss|omit|refuse|skip|withhold)))"
    r"(?!.*\band\b)[^,;:.\u2013\u2014]*\.?$"
)
# `Every passage that is cited was given`
EVERY: Final = re.compile(
    r"^(?:All|Each|Every)(?: one)?(?: of (?:the|these|those))? (\w+)(?: (?:that|which) (?:are|is|was|were) (\w+))?"
)
AMONG: Final = re.compile(r"\b(?:among|from|given|in|known|listed)\b")
# A second negation or condition in a sentence may be what the condition tests.
DENIALS: Final = re.compile(
    r"\b(?:but|cannot|except|lacks?|missing|neither|never|no|nobody|none|not|nothing|unless|until|without)\b|n't | - ",
    re.IGNORECASE,
)
# `Only our own domains`, but not `Only replies that name a source pass` or `Only one link has to be ours`.
NONE_ELSE: Final = re.compile(
    r"^Only (?!(?:an?|one|two|the (?:first|last)|(?:the )?(?:answer|chat|conversation|message|reply|replie|turn)s?)\b)"
    r"(?!.*\b(?:at least|pass|passes|counts?)\b)"
)
ONLY: Final = re.compile(r"\b(?:only (?:after|if|when|once)|not until)\b")
BEFORE: Final = re.compile(r"^[^,;:.]* before [^,;:.]*\.?$")  # a sentence of one clause that says what comes first
# In a sentence with one of these, a limit may be what fails: `replies under 20 characters are too short`.
JUDGES: Final = re.compile(
    r"\b(?:bad|fail\w*|flag\w*|if|means?|missing|neither|never|no|nobody|none|not|nothing|only|reject\w*|suspicious|too|unless|when|without|wrong)\b",
    re.IGNORECASE,
)
# What follows a limit that is the subject of a sentence: `replies under 40 words count as stubs`.
SUBJECT: Final = re.compile(r"(?! (?:and|but|for|in|or|per)\b) \w")
VERB: Final = re.compile(
    r"\b(?:are|be|contains?|costs?|has|have|is|keeps?|lasts?|needs?|remains?|stays?|takes?|uses?|waits?) $"
)
CLAUSES: Final = re.compile(r"[.;:]\s|, (?:and|but) ")
JOINS: Final = re.compile(r"\b(and|or|both|either|unless)\b")
COMPARED: Final = re.compile(r"\bthan (?:either|both)\b")  # `worse than either` joins nothing


class Claims(Struct, frozen=True):
    """What a check says about itself: in its id, and in the `words` at `places`. A `rule` says what `pass` tests, or
    what `fail` does, never what the other one does."""

    id: str
    words: str
    places: tuple[Scalar, ...]
    rule: str
    name: str = ""

    @property
    def place(self) -> Scalar | None:
        """The first of the texts."""
        return self.place_of("")

    def place_of(self, part: str) -> Scalar | None:
        """The first of the texts that contains `part`."""
        return next((each for each in self.places if part in each.text), None)

    @property
    def denies(self) -> bool:
        """Whether the words negate something, or name an exception."""
        return DENIALS.search(self.words) is not None

    @property
    def forbids(self) -> bool:
        """Whether the words forbid something, in one sentence with one negation."""
        return FORBIDS.search(self.words) is not None and len(DENIALS.findall(self.words)) == 1

    @property
    def forbidden(self) -> str:
        """What follows `not`, if that is the only negation in the words."""
        return self.words.lower().partition(" not ")[2] if len(DENIALS.findall(self.words)) == 1 else ""

    @property
    def is_of_banned(self) -> bool:
        """Whether the id names what is forbidden."""
        return BANNED.search(self.id) is not None

    @property
    def missing(self) -> str:
        """The last word before `-missing` in the id, as its first letters; empty for another id."""
        return MISSING.sub("", self.id).split("-")[-1][:5] if MISSING.search(self.id) else ""

    @property
    def lacks(self) -> bool:
        """Whether the id says that something is not done, or without something."""
        return LACK.search(self.id) is not None

    @property
    def lacking(self) -> set[str]:
        """The first letters of what the id says is not done: `veri` of `price-not-verified`."""
        found = LACKING.search(self.id)
        return {found[1][:4]} if found is not None else set()

    def wants_lack(self, stems: set[str]) -> bool:
        """Whether the lack in the id is wanted: `unchanged`, and what has nothing of the `stems` before `-without-`,
        as in `replies-without-jargon`."""
        thing, without, _ = self.id.partition("-without-")
        return WANTED.search(self.id) is not None or (without != "" and not any(stem in thing for stem in stems))

    def names(self, stems: set[str]) -> bool:
        """Whether the words, or the id of what is banned, name one of the `stems`."""
        own = f"{self.id} {self.words}" if BANNED.search(self.id) else self.words
        return any(stem in own.lower() for stem in stems)

    @property
    def extremes(self) -> Iterator[tuple[str, str]]:
        """`>` for an id or a name that says that something is too much, `<` for too little."""
        dashed = {name.replace("_", "-"): name for name in (self.name, self.id)}
        return (
            (way, name) for named, way in EXTREME.items() for each, name in dashed.items() if re.search(named, each)
        )

    @property
    def every(self) -> re.Match[str] | None:
        """The quantifier at the start of the words, with what it is about."""
        return EVERY.match(self.words)

    @property
    def allows_no_others(self) -> bool:
        """Whether the words allow nothing but what they name."""
        return NONE_ELSE.match(self.words) is not None

    @property
    def is_among(self) -> bool:
        """Whether the first clause says that something is one of a list."""
        clause = re.split("[;,.]", self.words)[0]
        return AMONG.search(clause) is not None and DENIALS.search(clause) is None

    @property
    def permits_only(self) -> bool:
        """Whether the words allow something only under a condition."""
        return ONLY.search(self.words) is not None

    @property
    def orders(self) -> bool:
        """Whether a clause says what comes before what."""
        clauses = (each for each in CLAUSES.split(self.words) if BEFORE.search(each))
        return any(DENIALS.search(each) is None for each in clauses)

    @property
    def joins(self) -> set[str]:
        """The words that join parts of a sentence."""
        return set(JOINS.findall(COMPARED.sub("", self.words.lower())))

    def stand_together(self, sides: Sequence[set[str]]) -> bool:
        """Whether the words name stems of all sides on one side of `and` or `or`, which joins something else."""
        parts = [part.lower() for part in re.split(JOINS, self.words) if part]
        return any(all(any(stem in part for stem in stems) for stems in sides) for part in parts)

    def may_fail(self, limit: Limit) -> bool:
        """Whether what keeps to a limit may be what fails: its sentence judges, or is about it and not a `rule`."""
        sentence = next((each for each in CLAUSES.split(self.words) if limit.text in each), "")
        before, _, rest = sentence.partition(limit.text)
        is_subject = SUBJECT.match(rest) is not None or VERB.search(before) is None
        is_judged = JUDGES.search(sentence.replace(limit.text, "")) is not None
        return is_judged or (limit.operator in "<>" and is_subject and limit.text not in self.rule)


def claims_of(check: CheckDocument) -> Claims:
    """What the note, the description and `pass_rule` of a check say."""
    places = tuple(found for key in WORDS if (found := scalar(check.node, key)) is not None)
    words = " ".join(filter(None, (optional_text(check.node, key) for key in WORDS)))
    return Claims(check.id, words, places, optional_text(check.node, "pass_rule") or "", check.name)


_PAIRS: Final = """above below, accept refuse, accepts refuses, after before, afterwards beforehand, all none,
allowed forbidden, always never, decrease increase, earlier later, earliest latest, exclude include, excludes includes,
external internal, first last, hard soft, higher lower, highest lowest, inside outside, largest smallest, least most,
less more, fewer more, longer shorter, longest shortest, maximum minimum, over under, with without"""
_EACH: Final = [pair.split() for pair in _PAIRS.replace("\n", " ").split(", ")]
OPPOSITES: Final = {
    word: {other for pair in _EACH if word in pair for other in pair} - {word} for word in chain(*_EACH)
}


def opposed(one: Collection[str], other: Collection[str]) -> tuple[str, str] | None:
    """A word of the first that the second lacks, with its opposite, which the first lacks; None without such a pair."""
    own, others = (OPPOSITES.keys() & one) - {*other}, {*other} - {*one}
    return next(((word, two) for word in sorted(own) for two in sorted(OPPOSITES[word] & others)), None)
