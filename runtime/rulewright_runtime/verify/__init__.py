"""Verifiers: each answers for one check on one transcript. The struct of a route stands in `plan.verifiers`, and the
module here that is called as its `type` verifies it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright_runtime.plan.verifiers import Route
    from rulewright_runtime.verify.asking import Verification


@cache
def verifier_of(route: type[Route]) -> Callable[..., Verification]:
    """The function that verifies what a part of a plan describes: `verify(check, part, context)`. It is loaded when a
    plan first uses it."""
    verify: Any = import_module(f"{__name__}.{route.__struct_config__.tag}").verify
    found: Callable[..., Verification] = verify
    return found
