"""A set of literals that Hyperscan searches for in one pass, with the extra `hyperscan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class LiteralSet:
    """Finds every occurrence of the literals in one pass, for any number of them."""

    def __init__(self, literals: Sequence[str]) -> None:
        """Raises ImportError without Hyperscan, and ValueError if it refuses the literals."""
        import hyperscan

        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        expressions = [literal.encode() for literal in literals]
        try:
            self._database.compile(
                expressions=expressions,
                ids=range(len(expressions)),  # with shared ids Hyperscan takes minutes to compile
                elements=len(expressions),
                flags=0,
                literal=True,
            )
        except hyperscan.error as error:
            raise ValueError(f"the literals are refused: {error}") from None

    def ends(self, data: bytes) -> list[int]:
        """The end offset of each occurrence in `data`, in order."""
        ends: list[int] = []
        self._database.scan(data, match_event_handler=lambda _id, _start, end, _flags, _context: ends.append(end))
        return ends
