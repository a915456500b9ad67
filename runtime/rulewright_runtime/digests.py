"""Digests from Python's own code: `hashlib` loads OpenSSL even if it isn't used, which takes as long as a small scan.

`blake2b` and `sha256` have the names and results of those in `hashlib`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash, blake2b, sha256
else:
    from importlib import import_module
    from sys import version_info

    try:
        blake2b = import_module("_blake2").blake2b
        sha256 = import_module("_sha2" if version_info >= (3, 12) else "_sha256").sha256
    except ImportError:  # a Python built with only OpenSSL's digests
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256", "sha256_of_much"]

PART = 2**20  # bytes at each end of a file


def sha256_of_much(data: bytes = b"") -> _Hash:
    """OpenSSL's `sha256`, five times as fast on files."""
    import hashlib

    return hashlib.sha256(data)


def file_digest(path: str) -> str:
    """Return the sha256 of the file's size, start and end; hashing a model of some gigabytes may take a minute."""
    size = os.path.getsize(path)
    with open(path, "rb") as stream:
        first = stream.read(PART)
        stream.seek(max(size - PART, 0))
        last = stream.read(PART)
    return f"sha256:{sha256(b'%d:' % size + first + last).hexdigest()}"
