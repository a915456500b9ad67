"""Rate limits: requests and tokens per minute."""

from __future__ import annotations

from typing import Final

import anyio
from aiolimiter import AsyncLimiter

MINUTE: Final = 60.0


class Rate:
    """Requests and tokens per minute; None means no limit."""

    def __init__(self, requests: int | None, tokens: int | None) -> None:
        """Start with full buckets."""
        self._requests = None if requests is None else AsyncLimiter(max(requests, 1), MINUTE)
        self._tokens = None if tokens is None else AsyncLimiter(max(tokens, 1), MINUTE)
        self._held_until = 0.0

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds, as the server asked."""
        if seconds > 0:
            self._held_until = max(self._held_until, anyio.current_time() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a request of at most `tokens` may be sent; one above the limit waits for a full bucket."""
        while (remaining := self._held_until - anyio.current_time()) > 0:
            await anyio.sleep(remaining)
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            await self._tokens.acquire(min(float(tokens), self._tokens.max_rate))
