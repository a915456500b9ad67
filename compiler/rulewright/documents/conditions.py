"""Which documents hold conditions of their author, said without loading what understands them."""

from __future__ import annotations

from typing import Any


def holds_conditions(document: Any) -> bool:
    """Whether there can be conditions in a document; a check has its `when`, those of its verdict and of its phases."""
    return (
        getattr(document, "when", True) is not None
        or bool(getattr(document, "verdict_conditions", ()))
        or document.phases.violates is not None
    )
