"""Opens the adapter that a command line names. `ADAPTERS` maps the name of each to the function that opens it.

A command line names a model as `PROVIDER:MODEL`. `scripted:FILE` answers with prepared replies; `product-http:URL`
sends turns to a product and is experimental.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rulewright_runtime.harness.adapters import Adapter, AdapterError, open_scripted


def open_adapter(specification: str) -> Adapter:
    """Open the model that a command line names. Raises AdapterError for an unknown adapter."""
    name, colon, rest = specification.partition(":")
    if not colon or name not in ADAPTERS:
        names = ", ".join(f"`{each}:...`" for each in sorted(ADAPTERS))
        raise AdapterError(f"unknown model `{specification}`; expected one of {names}")
    return ADAPTERS[name](rest)


def _open_product(url: str) -> Adapter:
    from rulewright_runtime.harness.product_adapter import ProductAdapter  # imports the client for HTTP

    return ProductAdapter(url)


ADAPTERS: Final[dict[str, Callable[[str], Adapter]]] = {"product-http": _open_product, "scripted": open_scripted}
