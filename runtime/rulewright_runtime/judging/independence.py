"""Independence: whether a judge may judge a model, by the model families inferred from their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.capabilities import bare_name, family_of
from rulewright_runtime.person_names import folded_name

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
        if self.family(judge) != self.family(subject) or self.allows(subject):
            return None
        same = f"as the model `{subject}` is" if _plain(judge) != _plain(subject) else "and judges itself"
        return (
            f"the judge `{judge}` is of the family `{self.family(judge)}`, {same}; "
            "choose another judge, or allow it under `judge.same_family` with a reason"
        )

    def refusal_among(self, judge: str, speakers: Iterable[str]) -> str | None:
        """Why `judge` may not judge a conversation of these models; None if it may."""
        return next(filter(None, (self.refusal(judge, speaker) for speaker in speakers)), None)

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


def _plain(model: str) -> str:
    """The name reduced to letters and digits: file names and routers spell the same model differently."""
    return re.sub(r"[\W_]+", "", _FILE_ENDING.sub("", bare_name(folded_name(model))))
