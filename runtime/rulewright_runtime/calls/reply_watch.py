"""The watch over a judge's replies: a judge whose last replies are not verdicts is not asked to the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rulewright_runtime.english import plural

UNUSABLE: Final = 16  # replies before the first usable one, or chats in a row after it


class ReplyWatch:
    """The replies after the last usable one.

    A judge may refuse to talk about many chats, also the first ones, so a run is ended for its replies only once.
    """

    def __init__(self, *, stops_later: bool) -> None:
        """`stops_later`: the run is also ended for replies after a usable one."""
        self.has_usable = False
        self._may_stop, self._stops_later = True, stops_later
        self._reasons: dict[str, str] = {}  # by key
        self._chats: set[str] = set()  # that they are about

    def resume(self, used: int, asked_again: int) -> None:
        """Continue a run that uses so many replies, and was ended for those that are asked again if they are many."""
        self.has_usable = bool(used)
        self._may_stop = not used and asked_again < UNUSABLE

    def record(self, key: str, about: str, reason: str) -> None:
        """Record a reply about a chat, and why it is not usable; one that comes while the run ends changes nothing."""
        if reason:
            self._reasons[key] = reason
            self._chats.add(about)
        elif not self.why_stop:
            self.has_usable = True
            self._reasons.clear()
            self._chats.clear()

    @property
    def is_in_doubt(self) -> bool:
        """Whether the run may be ended for the last replies: until then, nothing is decided by them."""
        return bool(self._reasons) and self._may_stop and (self._stops_later or not self.has_usable)

    @property
    def why_stop(self) -> str:
        """Why the run is to be ended; empty if it is not."""
        if not self.is_in_doubt or not self._are_many:
            return ""
        if self.has_usable:
            return f"no reply of the judge about {UNUSABLE} chats in a row is a verdict: {self._last_reason}"
        return f"none of the first {UNUSABLE} replies of the judge is a verdict: {self._last_reason}"

    @property
    def asked_again(self) -> Iterable[str]:
        """The keys of the calls that the next run makes again: the judge does not seem to work."""
        return self._reasons.keys() if not self.has_usable or self._are_many else ()

    @property
    def why_asked_again(self) -> str:
        """Why the next run makes calls again; empty if it makes none."""
        if not self.asked_again:
            return ""
        which = f" about the last {plural(len(self._chats), 'chat')}" if self.has_usable else ""
        return f"no reply of the judge{which} is a verdict, so the next run asks again: {self._last_reason}"

    @property
    def _are_many(self) -> bool:
        return len(self._chats if self.has_usable else self._reasons) >= UNUSABLE

    @property
    def _last_reason(self) -> str:
        return next(reversed(self._reasons.values()))
