"""Requests: a call with its position in a run, and the key of its answer in the ledger."""

from __future__ import annotations

import msgspec

from rulewright_runtime.digests import sha256
from rulewright_runtime.models.call import Identity, ModelCall


class CallRequest(msgspec.Struct, frozen=True):
    """One call for one position in a run: a check's window, a repetition of its vote, an attempt at a usable reply.

    `purpose` is `check`, `edge`, `turn` or another reason for the call. `repetition` and `attempt` count from 0 and are
    part of the key: a second vote is never answered by the first.
    """

    call: ModelCall
    transcript_id: str = ""
    check_id: str = ""
    purpose: str = "check"
    window: int = 0
    repetition: int = 0
    attempt: int = 0


class _KeyFields(msgspec.Struct, frozen=True):
    """Everything that determines an answer."""

    identity: Identity
    call: ModelCall
    repetition: int
    attempt: int


def request_key(identity: Identity, request: CallRequest) -> str:
    """Return the key (hex): equal for equal messages, model, parameters, schema, repetition and attempt.

    It does not depend on the transcript, the check, the run or the scorecard, so an answer is paid once for all.
    """
    fields = _KeyFields(identity, request.call, request.repetition, request.attempt)
    return sha256(msgspec.json.encode(fields, order="deterministic")).hexdigest()
