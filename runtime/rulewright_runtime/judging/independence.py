"""Independence: whether a judge may judge a model, by the families that their names tell."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec

from rulewright_runtime.errors import RuntimeFailure
from rulewright_runtime.models.capabilities import bare_name, family_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_FILE_ENDING: Final = re.compile(r"\.gguf$")


class NotIndependentError(RuntimeFailure):
    """A judge that turned out to be of the same family as the model it judges."""


class Independence(msgspec.Struct, frozen=True):
    """Who may judge whom. `families` are rows (pattern, family) that come before the shipped ones, `allowed` are
    patterns of models that a judge of their own family may judge, each with the reason."""

    families: tuple[tuple[str, str], ...] = ()
    allowed: tuple[tuple[str, str], ...] = ()

    def refusal(self, judge: str, subject: str) -> str | None:
        """Why `judge` may not judge what `subject` said; None where it may."""
        if self.family(judge) != self.family(subject) or self.allows(subject):
            return None
        same = f"as the model `{subject}` is" if _plain(judge) != _plain(subject) else "and judges itself"
        return (
            f"the judge `{judge}` is of the family `{self.family(judge)}`, {same}; "
            "choose another judge, or allow it under `judge.same_family` with a reason"
        )

    def refusal_among(self, judge: str, speakers: Iterable[str]) -> str | None:
        """Why `judge` may not judge a conversation of these models; None where it may."""
        return next(filter(None, (self.refusal(judge, speaker) for speaker in speakers)), None)

    def allows(self, subject: str) -> bool:
        """Whether a judge of its own family may judge the model."""
        return any(fnmatchcase(subject.lower(), pattern.lower()) for pattern, _ in self.allowed)

    def is_known(self, model: str) -> bool:
        """Whether a row tells the model's family."""
        return family_of(model, self._rows) is not None

    def family(self, model: str) -> str:
        """The model's family; a model that no row knows is a family of its own."""
        return family_of(model, self._rows) or _plain(model)

    @property
    def _rows(self) -> tuple[tuple[str, str], ...]:
        return tuple((pattern.lower(), family) for pattern, family in self.families)


def _plain(model: str) -> str:
    """The name in letters and digits: file names and routers write one model in several ways."""
    return re.sub(r"[^a-z0-9]+", "", _FILE_ENDING.sub("", bare_name(model)))
