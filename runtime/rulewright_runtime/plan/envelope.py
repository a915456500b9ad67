"""The envelope of a plan: its format, its version and the hash of its content, and functions to encode and decode it.

Plans of all kinds (for scans, test cases, workflows and harness runs) are one JSON document with the keys `format`,
`version` and `hash` besides their own. A plan is untrusted until it is decoded: then it has the expected format and
version, is unchanged since it was sealed, and has no unknown key, no repeated key and no value of a wrong type.
"""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from rulewright_runtime import strict_json
from rulewright_runtime.digests import sha256
from rulewright_runtime.errors import PlanError
from rulewright_runtime.strict_json import UNDECODED

MAX_SIZE: Final = 64 * 2**20  # bytes of JSON


P = TypeVar("P", bound=msgspec.Struct)


class Kind(msgspec.Struct, Generic[P], frozen=True):
    """One kind of plan: its struct, its format and version, and the command that writes it."""

    type: type[P]
    format: str
    version: int
    written_by: str
    max_size: int = MAX_SIZE  # bytes of JSON


def seal(plan: P) -> P:
    """The same plan with the hash of its content."""
    return replace(plan, hash=content_hash(plan))


def encode(plan: msgspec.Struct) -> bytes:
    """The plan as canonical JSON: fields in declared order, maps in key order, one line, UTF-8."""
    return msgspec.json.encode(plan, order="deterministic")


def content_hash(plan: msgspec.Struct) -> str:
    """The sha256 (hex) of the plan's canonical JSON with an empty hash."""
    return digest(replace(plan, hash=""))


def digest(part: Any) -> str:
    """The sha256 (hex) of the canonical JSON of a part of a plan, or of the document it was read from."""
    return sha256(msgspec.json.encode(part, order="deterministic")).hexdigest()


def decode(data: bytes, kind: Kind[P]) -> P:
    """The plan in `data`; only its envelope and its types are validated. Raises PlanError."""
    return decode_with_document(data, kind)[0]


def decode_with_document(data: bytes, kind: Kind[P]) -> tuple[P, dict[str, Any]]:
    """The same, with the JSON document it was read from. Raises PlanError.

    The hash is that of the document as written, so that a plan stays readable if a later version of its format has more
    keys with defaults.
    """
    if len(data) > kind.max_size:
        raise PlanError(f"the plan has {len(data)} bytes; at most {kind.max_size} are accepted")
    try:
        document = msgspec.json.decode(data, type=dict[str, Any])
        if msgspec.json.encode(document) != data.rstrip(b"\n"):  # output of `encode` has no repeated key
            strict_json.refuse_doubled_keys(data)
        _check_kind(document.get("format"), document.get("version"), kind)
        if document.get("hash") != sha256(msgspec.json.encode({**document, "hash": ""})).hexdigest():
            raise PlanError(
                "the plan's hash does not match its content: it was changed or truncated after it was compiled"
            )
        return msgspec.json.decode(data, type=kind.type), document
    except UNDECODED as error:
        raise PlanError(f"the plan can't be decoded: {error}; `{kind.written_by}` writes plans") from None


def _check_kind(format: object, version: object, kind: Kind[P]) -> None:
    if format != kind.format:
        shown = f"the format `{format}`" if isinstance(format, str) else "no format"
        raise PlanError(f"the plan has {shown}; expected `{kind.format}`, which `{kind.written_by}` writes")
    if version == kind.version:
        return
    if isinstance(version, int) and version > kind.version:
        raise PlanError(f"the plan has version {version}; this runtime is older and reads version {kind.version}")
    raise PlanError(f"the plan has version {version}; `{kind.written_by}` writes it again, in version {kind.version}")
