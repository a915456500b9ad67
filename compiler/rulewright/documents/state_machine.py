"""A state machine: states, cues and transitions over the turns and sessions of a conversation, and forbidden paths."""

from typing import Annotated

from rulewright.documents.base import Document, one_or_more
from rulewright.documents.lexicon import PatternEntry, fold_of, read_patterns
from rulewright.documents.typed_reader import At, Key
from rulewright.load import Scalar


class Cue(Document, frozen=True, eq=False):
    """What is searched in turns: a lexicon of the project, or patterns with their own role."""

    name: Key
    lexicon: str | None
    role: str | None
    fold: Annotated[str | tuple[str, ...] | None, At(by=fold_of)]
    patterns: Annotated[tuple[PatternEntry, ...], At(by=read_patterns)]


class TransitionDocument(Document, frozen=True, eq=False):
    """A transition from one of `before` to `to` on a cue, if `when` holds."""

    before: Annotated[tuple[str, ...], At("from", by=one_or_more)]
    cue: Annotated[str, At("on")]
    to: str
    when: Scalar | None


class ForbiddenDocument(Document, frozen=True, eq=False):
    """States that must not be entered in this order."""

    states: Annotated[tuple[str, ...], At("path")]
    code: str


class EndingDocument(Document, frozen=True, eq=False):
    """The verdict for ending in a state."""

    state: str
    verdict: str
    code: str


class StateMachineDocument(Document, frozen=True, eq=False):
    """A state machine file; `silent` is the verdict on a conversation without any transition."""

    name: Key
    states: tuple[str, ...]
    initial: str
    cues: dict[str, Cue]
    transitions: tuple[TransitionDocument, ...]
    forbidden: tuple[ForbiddenDocument, ...]
    endings: tuple[EndingDocument, ...]
    silent: Annotated[str, At(usual="UNCLEAR")]
