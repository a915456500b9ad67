"""Independence: whether a judge may judge a model, by the model families inferred from their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.capabilities import bare_name, family_of
from rulewright_runtime.person_names import folded_name, is_readable

if TYPE_CHECKING:
    from rulewright_runtime.transcripts.messages import Transcript

_FILE_ENDING: Final = re.compile(r"\.gguf$")


class NotIndependentError(RuntimeFailure):
    """The judge is of the same family as the model it judges."""


class Independence(msgspec.Struct, frozen=True):
    """Which judges may judge which models. `families` are rows (pattern, family) that precede the shipped ones,
    `allowed` are patterns of models that a judge of their own family may judge, each with a reason."""

    families: tuple[tuple[str, str], ...] = ()
    allowed: tuple[tuple[str, str], ...] = ()

    def refusal(self, judge: str, subject: str) -> str | None:
        """Why `judge` may not judge the replies of `subject`; None if it may."""
        if self.allows(subject):
            return None
        for name in (judge, subject):
            if not is_readable(name) and not self.is_known(name):
                return f"the name `{name}` mixes alphabets, so its family is unknown; name it under `judge.families`"
        if self.family(judge) != self.family(subject):
            return None
        same = f"as the model `{subject}` is" if _plain(judge) != _plain(subject) else "and judges itself"
        return (
            f"the judge `{judge}` is of the family `{self.family(judge)}`, {same}; "
            "choose another judge, or allow it in the project file under `judge`: "
            f'`same_family: [{{subject: "{subject}", reason: WHY}}]`'
        )

    def refusal_among(self, judge: str, speakers: Iterable[str]) -> str | None:
        """Why `judge` may not judge a conversation of these models; None if it may."""
        return next(filter(None, (self.refusal(judge, speaker) for speaker in speakers)), None)

    def refuse(self, judges: Iterable[str], transcript: Transcript) -> None:
        """Raise NotIndependentError if one of the `judges`, which answer elsewhere, may not judge the transcript."""
        for judge in judges:
            if refusal := self.refusal_among(judge, transcript.authors):
                raise NotIndependentError(f"`{transcript.id}` can't be judged: {refusal}")

    def allows(self, subject: str) -> bool:
        """Whether a judge of its own family may judge the model."""
        return any(fnmatchcase(subject.lower(), pattern.lower()) for pattern, _ in self.allowed)

    def is_known(self, model: str) -> bool:
        """Whether a row gives the model's family."""
        return family_of(folded_name(model), self._rows) is not None

    def family(self, model: str) -> str:
        """The model's family; a model without a row is a family of its own."""
        return family_of(folded_name(model), self._rows) or _plain(model)

    @property
    def _rows(self) -> tuple[tuple[str, str], ...]:
        return tuple((folded_name(pattern), family) for pattern, family in self.families)


def spellings(model: str) -> frozenset[str]:
    """The name with and without its provider and its tag, each reduced to letters and digits."""
    name = folded_name(model)
    return frozenset(map(_letters, (name, re.split("[/:]", name)[-1], bare_name(name)))) - {""}


def _plain(model: str) -> str:
    """The bare name reduced to letters and digits: file names and routers spell the same model differently."""
    return _letters(bare_name(folded_name(model)))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", _FILE_ENDING.sub("", name))
