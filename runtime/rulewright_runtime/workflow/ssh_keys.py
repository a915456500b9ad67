"""Keys of `ssh-keygen -t ed25519` for signed decisions; only this module needs `cryptography`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

from rulewright_runtime.english import reason_of
from rulewright_runtime.workflow.hil import QueueError

MAX_KEY: Final = 16_384  # bytes of a key file


def public_key(text: str) -> Ed25519PublicKey:
    """Read a line such as `ssh-ed25519 AAAA... ana@example`. Raises QueueError for any other text."""
    try:
        key = load_ssh_public_key(text.strip().encode("ascii"))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise QueueError(f"expected a public key such as `ssh-ed25519 AAAA...`, found `{text[:40]}`")
    return key


def private_key(path: Path, passphrase: Callable[[], str]) -> Ed25519PrivateKey:
    """Read a file of `ssh-keygen`. Raises QueueError for a file without an ed25519 key."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_KEY)
        try:
            key = load_ssh_private_key(data, None)
        except TypeError:  # the key is protected
            key = load_ssh_private_key(data, passphrase().encode("utf-8"))
    except OSError as error:
        raise QueueError(f"the key `{path}` can't be read: {reason_of(error)}") from None
    except (ValueError, UnsupportedAlgorithm) as error:
        raise QueueError(f"`{path}` contains no private key of `ssh-keygen -t ed25519`: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise QueueError(f"`{path}` contains a key of another kind; expected one of `ssh-keygen -t ed25519`")
    return key


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key of a private key, in the form of `hil.signers`."""
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")


def is_signed(text: str, signature: str, data: bytes) -> bool:
    """Whether `signature` (base64) is valid for the public key in `text`. Raises QueueError for an invalid key."""
    try:
        public_key(text).verify(base64.b64decode(signature, validate=True), data)
    except (InvalidSignature, ValueError):
        return False
    return True
