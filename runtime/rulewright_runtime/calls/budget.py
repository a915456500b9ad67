"""Budgets: how many calls, tokens and dollars a run may spend, and what a call costs at most."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import anyio
import msgspec

from rulewright_runtime.errors import RuntimeFailure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright_runtime.models.call import ModelCall, Usage

MESSAGE_TOKENS: Final = 32  # that a chat template adds to a message, and more than any known one does
LONGEST_TOKEN: Final = 128  # bytes; no tokenizer in use has a longer one
MILLION: Final = 1_000_000


class BudgetError(RuntimeFailure):
    """A call that the budget does not allow. The run stops; it can be resumed under a larger one."""


class Price(msgspec.Struct, frozen=True):
    """USD for a million tokens that are sent and a million that come back."""

    input: Decimal
    output: Decimal


class Spending(msgspec.Struct, frozen=True):
    """Calls, tokens and USD; `usd` is None where a price is unknown."""

    calls: int = 0
    tokens: int = 0
    usd: Decimal | None = Decimal(0)

    def __add__(self, other: Spending) -> Spending:
        """Both together; an unknown price makes the sum unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Spending(self.calls + other.calls, self.tokens + other.tokens, usd)

    def __sub__(self, other: Spending) -> Spending:
        """What is left of a reservation."""
        usd = None if self.usd is None or other.usd is None else self.usd - other.usd
        return Spending(self.calls - other.calls, self.tokens - other.tokens, usd)


def most(call: ModelCall, price: Price | None) -> Spending:
    """What one attempt at a call can cost: a token is at least a byte, and the reply has at most `max_tokens`."""
    sent = sum(len(message.content.encode()) + MESSAGE_TOKENS for message in call.messages)
    return Spending(1, sent + call.max_tokens, cost(price, sent, call.max_tokens))


def least(call: ModelCall, price: Price | None) -> Spending:
    """What a call costs at least that is answered: as few tokens as its prompt can have, and one of a reply."""
    sent = sum(-(-len(message.content.encode()) // LONGEST_TOKEN) for message in call.messages)
    return Spending(1, sent + 1, cost(price, sent, 1))


def floor(calls: Iterable[tuple[ModelCall, Price | None]]) -> Spending:
    """The smallest budget under which all calls, each with its price, may be answered, in whatever order.

    Before a call is sent the most that it can cost must be left, and the others cost the least that they can: so the
    one for which most and least differ least comes last, and the one that can cost most fits by itself.
    """
    bounds = [(least(call, price), most(call, price)) for call, price in calls]
    if not bounds:
        return Spending()
    total = sum((low for low, _ in bounds), Spending())
    spare = [high - low for low, high in bounds]
    tokens = max(total.tokens + min(each.tokens for each in spare), max(high.tokens for _, high in bounds))
    left, highest = [each.usd for each in spare if each.usd is not None], [high.usd for _, high in bounds if high.usd]
    usd = None if total.usd is None else max([total.usd + min(left, default=Decimal()), *highest])
    return Spending(len(bounds), tokens, usd)


def spent(call: ModelCall, usage: Usage, price: Price | None) -> Spending:
    """What an answered call cost, as the endpoint counts; where it does not count, what it can have cost."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return most(call, price)
    tokens = usage.input_tokens + usage.output_tokens
    return Spending(1, tokens, cost(price, usage.input_tokens, usage.output_tokens))


def cost(price: Price | None, sent: int, received: int) -> Decimal | None:
    """USD for tokens, or None without a price."""
    return None if price is None else (price.input * sent + price.output * received) / MILLION


class Budget:
    """The limits of a run, and what is spent and reserved of them. None means without limit."""

    def __init__(self, calls: int | None = None, tokens: int | None = None, usd: Decimal | None = None) -> None:
        """Start with nothing spent. Raises BudgetError for a negative limit."""
        for name, limit in (("calls", calls), ("tokens", tokens), ("usd", usd)):
            if limit is not None and limit < 0:
                raise BudgetError(f"the limit of `{name}` must not be negative, not {limit}")
        self._calls, self._tokens, self._usd = calls, tokens, usd
        self.spent = Spending()
        self._reserved = Spending()
        self._settled = anyio.Event()

    async def reserve(self, spending: Spending) -> None:
        """Keep what a call may cost, as soon as the calls in flight leave enough of the budget.

        Raises BudgetError where nothing is in flight and spent and reserved together would exceed a limit.
        """
        while True:
            try:
                self.check(self.spent + self._reserved + spending)
            except BudgetError:
                if self._reserved.calls == 0:
                    raise
                await self._settled.wait()
            else:
                self._reserved += spending
                return

    def refuse(self, needed: Spending) -> None:
        """Raise BudgetError where what is needed at least exceeds a limit."""
        for name, unit, limit, least in (
            ("max_calls", "calls", self._calls, needed.calls),
            ("max_tokens", "tokens", self._tokens, needed.tokens),
            ("max_usd", "USD", self._usd, needed.usd),
        ):
            if limit is not None and least is not None and least > limit:
                basis = "" if unit == "calls" else f" (of at most {LONGEST_TOKEN} bytes a token)"
                shown = f"{least.normalize():f}" if isinstance(least, Decimal) else least
                raise BudgetError(
                    f"at least {shown} {unit} are needed{basis}, and no more than {limit} are allowed (`{name}`)"
                )

    def check(self, total: Spending) -> None:
        """Raise BudgetError where `total` exceeds a limit, or can't be compared with it."""
        if self._calls is not None and total.calls > self._calls:
            raise BudgetError(f"the budget of {self._calls} calls is used up")
        if self._tokens is not None and total.tokens > self._tokens:
            raise BudgetError(f"the budget of {self._tokens} tokens does not allow another call")
        if self._usd is not None and total.usd is None:
            raise BudgetError("a budget in USD needs the model's price; add it to the project's `pricing`")
        if self._usd is not None and total.usd is not None and total.usd > self._usd:
            raise BudgetError(f"the budget of ${self._usd} does not allow another call")

    def settle(self, reserved: Spending, actual: Spending) -> None:
        """Replace a reservation by what was spent."""
        self._reserved -= reserved
        self.spent += actual
        self._settled.set()
        self._settled = anyio.Event()
