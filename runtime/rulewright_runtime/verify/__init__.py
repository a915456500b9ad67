"""Verifiers: each decides one check on one transcript. The struct of a route is in `plan.verifiers`; the module here
with the name of its `type` verifies it."""

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
    """The function `verify(check, verifier, context)` of a route. Its module is imported when a plan first uses it."""
    imported: Any = import_module(f"{__name__}.{route.__struct_config__.tag}").verify
    verify: Callable[..., Verification] = imported
    return verify
