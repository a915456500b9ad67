"""`lsp`: run the language server."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from rulewright.errors import UsageError

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Serve until the editor closes the session; return the exit code."""
    if find_spec("pygls") is None:
        raise UsageError("the language server needs pygls: install it with `pip install 'rulewright[lsp]'`")
    from rulewright.lsp.language_server import serve

    return 0 if serve() else 1
