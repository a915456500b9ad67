"""The results of proofs: proved, refuted with a witness, or unknown with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rulewright.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An input that refutes or shows a claim; it was checked with the evaluator.

    `values` are the paths with their values as text, in a stable order; `bindings` are the evaluator's bindings.
    """

    values: tuple[tuple[str, str], ...]
    bindings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """`CR = 0.8, AH = 1`; irrelevant variables are left out."""
        return ", ".join(f"{path} {value}" if value == "absent" else f"{path} = {value}" for path, value in self.values)


@dataclass(frozen=True, slots=True)
class Proved:
    """The claim holds for every input. `remarks` are notes for the reader.

    That something is possible is shown by an example: `witness`, or a `conversation`, a record that a scan reads.
    """

    witness: Counterexample | None = None
    remarks: tuple[str, ...] = ()
    conversation: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Refuted:
    """The claim doesn't hold: `witness` is an input that shows it; None if no single input can, with the `reason`."""

    witness: Counterexample | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The claim is neither proved nor refuted; never to be treated as a proof."""

    reason: str


Result: TypeAlias = "Proved | Refuted | Unknown"


@dataclass(frozen=True, slots=True)
class Property:
    """A claim about a document in plain words, its result and its span.

    A claim that is not `required` is reported, but does not affect the exit status.
    """

    claim: str
    result: Result
    span: Span | None = None
    required: bool = True
