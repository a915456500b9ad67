"""Digests from Python's own code: `hashlib` loads OpenSSL even if it isn't used, which takes as long as a small scan.

`blake2b` and `sha256` have the names and results of those in `hashlib`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    from importlib import import_module
    from sys import version_info

    try:
        blake2b = import_module("_blake2").blake2b
        sha256 = import_module("_sha2" if version_info >= (3, 12) else "_sha256").sha256
    except ImportError:  # a Python built with only OpenSSL's digests
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256"]
